// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/turn.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "tagma/with_macros.hpp"

namespace {

namespace tg = tagma;
namespace cpu = tg::device::cpu;

template <class C>
struct turned_elements {
  const C* from;
  TAGMA_INLINE cpu::pack<C, 8> operator()(std::int64_t k) const { return cpu::load<8>(from + 8 * k); }
};

/// There and back.
template <class T>
struct both_ways {
  using C = tg::device::compute_t<T>;
  TAGMA_INLINE static void run(const T* x, std::int64_t n, C* turned, T* y) {
    cpu::turn_rows(x, n, turned, 8);
    cpu::turn_back<T>(turned_elements<C>{turned}, n, y);
  }
};

TEMPLATE_TEST_CASE("eight rows are turned, and back", "", float, double, tg::float16, tg::bfloat16, std::int8_t,
                   std::uint16_t, std::int32_t, std::int64_t) {
  using T = TestType;
  using C = tg::device::compute_t<T>;
  for (std::int64_t n = 1; n <= cpu::longest_turned; ++n) {
    const auto size = static_cast<std::size_t>(8 * n);
    std::vector<T> x(size), y(size);  // of just this size, for what looks at addresses
    std::vector<C> turned(size);
    for (std::size_t i = 0; i < size; ++i) x[i] = static_cast<T>(static_cast<float>(i % 101));
    cpu::dispatch<both_ways<T>>(static_cast<const T*>(x.data()), n, turned.data(), y.data());
    bool right = true;
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t row = i / static_cast<std::size_t>(n), k = i % static_cast<std::size_t>(n);
      right = right && turned[8 * k + row] == static_cast<C>(x[i]) && static_cast<C>(y[i]) == static_cast<C>(x[i]);
    }
    CAPTURE(n);
    CHECK(right);
  }
}

TEST_CASE("rows become columns, whatever their number") {
  for (const std::int64_t rows : {0, 1, 7, 8, 31, 32, 33, 70})
    for (const std::int64_t n : {1, 3, 4, 10, 32}) {
      std::vector<float> x(static_cast<std::size_t>(rows * n));
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
      std::int64_t seen = 0;
      bool right = true;
      cpu::over_turned_rows(x.data(), rows, n, [&](const float* columns, std::int64_t first, std::int64_t count) {
        right = right && first == seen;
        seen += count;
        for (std::int64_t r = 0; r < count; ++r)
          for (std::int64_t k = 0; k < n; ++k)
            right = right && columns[k * cpu::rows_turned + r] == static_cast<float>((first + r) * n + k);
      });
      CHECK(right);
      CHECK(seen == rows);
    }
}

}  // namespace
