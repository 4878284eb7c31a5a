// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/initial_value.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using tg::initializer_kind;
using tg::runtime::fans_of;

constexpr tg::random_key key{7, 11, 0};

tg::shape plane(tg::extent rows, tg::extent columns) { return {rows, columns}; }

template <class T, std::size_t N>
void write(T (&to)[N], initializer_kind kind, const tg::shape& dims, double number = 0) {
  tg::runtime::write_initial_value(reinterpret_cast<std::byte*>(to), {tg::dtype_of<T>, dims},
                                   static_cast<tg::ir::attribute>(kind), nullptr, number, key, nullptr);
}

TEST_CASE("fans of a matrix and of a filter") {
  CHECK(fans_of(plane(3, 4)).in == 3);
  CHECK(fans_of(plane(3, 4)).out == 4);
  CHECK(fans_of({5, 5, 3, 4}).in == 75);
  CHECK(fans_of({5, 5, 3, 4}).out == 100);
  CHECK(fans_of({}).in == 1);
}

TEST_CASE("numbers that are known, in every element") {
  float x[4] = {9, 9, 9, 9};
  write(x, initializer_kind::zeros, {4});
  CHECK(x[3] == 0);
  write(x, initializer_kind::ones, {4});
  CHECK(x[0] == 1);
  write(x, initializer_kind::derived, {4}, 0.25);
  CHECK(x[2] == 0.25f);
}

TEST_CASE("a denormal number is what all elements are, however many threads write them") {
  constexpr float number = 1e-40F;
  for (const tg::extent count : {1, 3, (1 << 20) + 5, (3 << 20) + 1}) {  // one task, and several
    std::vector<float> x(static_cast<std::size_t>(count));
    const auto threads = tg::runtime::make_cpu_executor(2);
    tg::runtime::write_initial_value(reinterpret_cast<std::byte*>(x.data()), {tg::dtype::float32, {count}},
                                     static_cast<tg::ir::attribute>(initializer_kind::derived), nullptr,
                                     static_cast<double>(number), key, threads.get());
    CHECK(std::count(x.begin(), x.end(), number) == count);
  }
  std::vector<std::uint8_t> bytes(5 << 20);
  tg::runtime::write_initial_value(reinterpret_cast<std::byte*>(bytes.data()), {tg::dtype::uint8, {5 << 20}},
                                   static_cast<tg::ir::attribute>(initializer_kind::derived), nullptr, 7, key,
                                   tg::runtime::make_cpu_executor(2).get());
  CHECK(std::count(bytes.begin(), bytes.end(), 7) == 5 << 20);
}

TEST_CASE("random numbers depend on the key alone, and keep their bounds") {
  double x[12], y[12];
  write(x, initializer_kind::glorot_uniform, plane(3, 4));
  write(y, initializer_kind::glorot_uniform, plane(3, 4));
  bool differ = false;
  for (int i = 0; i < 12; ++i) {
    CHECK(x[i] == y[i]);
    CHECK(std::abs(x[i]) <= std::sqrt(6.0 / 7));
    differ = differ || x[i] != x[0];
  }
  CHECK(differ);
}

TEST_CASE("truncated normal numbers lie within two deviations, and have the variance that is asked for") {
  constexpr tg::extent in = 100, out = 200;
  static double x[in * out];
  for (const auto& [kind, variance] :
       {std::pair{initializer_kind::glorot_normal, 2.0 / (in + out)}, {initializer_kind::he_normal, 2.0 / in}}) {
    write(x, kind, plane(in, out));
    const double deviation = std::sqrt(variance) / 0.87962566103423978;  // before it is truncated
    double sum = 0, squares = 0, largest = 0;
    for (const double v : x) sum += v, squares += v * v, largest = std::max(largest, std::abs(v));
    CHECK(largest < 2 * deviation);
    CHECK(largest > 1.99 * deviation);
    CHECK(std::abs(sum / (in * out)) < 0.03 * deviation);
    CHECK(squares / (in * out) == Approx(variance).epsilon(0.03));
  }
}

TEST_CASE("large variables have the same bytes for any number of threads, to the last element") {
  constexpr tg::extent rows = 201, columns = 333;  // several tasks and a rest
  using tg::dtype;
  for (const dtype type : {dtype::float32, dtype::float64, dtype::float16, dtype::int32})
    for (const auto kind : {initializer_kind::glorot_uniform, initializer_kind::he_normal, initializer_kind::ones}) {
      const std::size_t bytes = static_cast<std::size_t>(rows * columns) * tg::size_of(type);
      std::vector<std::byte> alone(bytes + 1, std::byte{0x5a}), shared = alone;
      const auto made = [&](std::byte* to, tg::runtime::executor* threads) {
        tg::runtime::write_initial_value(to, {type, plane(rows, columns)}, static_cast<tg::ir::attribute>(kind),
                                         nullptr, 0, key, threads);
      };
      made(alone.data(), nullptr);
      CHECK(alone[bytes] == std::byte{0x5a});
      for (const int count : {1, 3}) {
        made(shared.data(), tg::runtime::make_cpu_executor(count).get());
        CHECK(shared == alone);
      }
      double first = 0, last = 0;
      if (type == dtype::float64 && kind == initializer_kind::he_normal) {
        std::memcpy(&first, alone.data(), sizeof first);
        std::memcpy(&last, alone.data() + bytes - sizeof last, sizeof last);
        const double deviation = std::sqrt(2.0 / rows) / 0.87962566103423978;
        CHECK(first == tg::runtime::initial_number(kind, key, 0, 0, deviation));
        CHECK(last == tg::runtime::initial_number(kind, key, rows * columns - 1, 0, deviation));
      }
    }
}

TEST_CASE("elements of uniform initial values are those of their number, however many are made at once") {
  for (const tg::extent columns : {1, 3, 4, 2731}) {  // the last one: three tasks and a rest
    const tg::shape dims = plane(7, columns);
    std::vector<float> x(static_cast<std::size_t>(dims.elements()));
    tg::runtime::write_initial_value(reinterpret_cast<std::byte*>(x.data()), {tg::dtype::float32, dims},
                                     static_cast<tg::ir::attribute>(initializer_kind::he_uniform), nullptr, 0, key,
                                     nullptr);
    const double bound = std::sqrt(6.0 / 7);
    for (std::size_t i = 0; i < x.size(); ++i)
      REQUIRE(x[i] ==
              static_cast<float>(tg::runtime::initial_number(initializer_kind::he_uniform, key, i, -bound, bound)));
  }
}

TEST_CASE("a variable without elements is not written") {
  std::byte none{0x5a};
  const auto threads = tg::runtime::make_cpu_executor(2);
  for (const auto kind : {initializer_kind::zeros, initializer_kind::glorot_uniform})
    tg::runtime::write_initial_value(&none, {tg::dtype::float32, plane(0, 3)}, static_cast<tg::ir::attribute>(kind),
                                     nullptr, 0, key, threads.get());
  CHECK(none == std::byte{0x5a});
}

TEST_CASE("a carried initial value that is lost is an error") {
  float x[1];
  CHECK_THROWS_AS(tg::runtime::write_initial_value(reinterpret_cast<std::byte*>(x), {tg::dtype::float32, {1}},
                                                   tg::detail::carried_kind, nullptr, 0, key, nullptr),
                  tg::error);
}

}  // namespace
