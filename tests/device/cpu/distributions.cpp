// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/distributions.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <vector>

#include "tagma/device/cpu/dispatch.hpp"
#include "tagma/with_macros.hpp"

namespace cpu = tagma::device::cpu;
using tagma::random_key;

namespace {

enum class kind { uniform, normal, truncated };

template <kind K, int W>
struct fill_of {
  template <class T>
  TAGMA_INLINE static void run(T* out, const random_key* key, std::int64_t n) {
    for (std::int64_t i = 0; i < n; i += cpu::most_drawn) {
      const auto first = static_cast<std::uint64_t>(i);
      const std::int64_t count = n - i < cpu::most_drawn ? n - i : cpu::most_drawn;
      if constexpr (K == kind::uniform)
        cpu::random_uniform<W>(*key, first, 0, out + i, count);
      else if constexpr (K == kind::normal)
        cpu::random_normal<W>(*key, first, 0, out + i, count);
      else
        cpu::random_truncated_normal<W>(*key, first, out + i, count);
    }
  }
};

template <int Bytes>
struct eight_blocks_of {
  TAGMA_INLINE static void run(std::uint32_t* to, const random_key* key, std::uint64_t first, std::uint16_t attempt) {
    std::uint32_t words[32];
    tagma::random_blocks<8, Bytes>(*key, first, attempt, words);
    std::memcpy(to, words, sizeof words);
  }
};

/// Numbers from one on.
struct some_truncated {
  template <class T>
  TAGMA_INLINE static void run(T* out, const random_key* key, std::uint64_t first, std::int64_t n) {
    cpu::random_truncated_normal<8>(*key, first, out, n);
  }
};

template <kind K>
using fill = cpu::with_wide<fill_of<K, 8>, fill_of<K, 16>>;

template <kind K, class T>
std::vector<T> numbers(const random_key& key, std::int64_t n) {
  std::vector<T> x(static_cast<std::size_t>(n));
  cpu::dispatch<fill_of<K, 8>>(x.data(), &key, n);
  if constexpr (sizeof(T) == 4) {
    std::vector<T> wide(x.size());  // the same bytes, whatever the vectors
    cpu::dispatch<fill<K>>(wide.data(), &key, n);
    CHECK(std::memcmp(x.data(), wide.data(), sizeof(T) * x.size()) == 0);
  }
  return x;
}

template <class T>
double moment(const std::vector<T>& x, int power) {
  double sum = 0;
  for (const T v : x) sum += std::pow(static_cast<double>(v), power);
  return sum / static_cast<double>(x.size());
}

constexpr std::int64_t many = 80000;

}  // namespace

TEMPLATE_TEST_CASE("uniform packs are those of the generator", "[distributions]", float, double) {
  using T = TestType;
  const random_key key{11, 22, 33};
  const auto x = numbers<kind::uniform, T>(key, 64);
  for (std::uint64_t i = 0; i < 64; ++i) {
    if constexpr (sizeof(T) == 4) {
      CHECK(x[i] == tagma::uniform01(tagma::random_block(key, i / 4)[i % 4]));
    } else {
      const auto block = tagma::random_block(key, i / 2);
      CHECK(x[i] == tagma::uniform01(block[2 * (i % 2)], block[2 * (i % 2) + 1]));
    }
  }
}

TEMPLATE_TEST_CASE("normal packs have the moments of a normal distribution", "[distributions]", float, double) {
  const auto x = numbers<kind::normal, TestType>({1, 2, 3}, many);
  CHECK(moment(x, 1) == Approx(0).margin(0.02));
  CHECK(moment(x, 2) == Approx(1).margin(0.03));
  CHECK(moment(x, 3) == Approx(0).margin(0.06));
  CHECK(moment(x, 4) == Approx(3).margin(0.15));
  double neighbours = 0;
  for (std::size_t i = 0; i + 1 < x.size(); i += 2) neighbours += static_cast<double>(x[i] * x[i + 1]);
  CHECK(neighbours / (static_cast<double>(many) / 2) == Approx(0).margin(0.02));
}

TEMPLATE_TEST_CASE("truncated packs stay within two deviations", "[distributions]", float, double) {
  const random_key key{5, 6, 7};
  const auto x = numbers<kind::truncated, TestType>(key, many);
  for (const TestType v : x) {
    if (!(std::fabs(v) < 2)) FAIL("drew " << v);
  }
  CHECK(moment(x, 1) == Approx(0).margin(0.02));
  CHECK(std::sqrt(moment(x, 2)) == Approx(0.8796).margin(0.01));
  const auto plain = numbers<kind::normal, TestType>(key, many);
  int kept = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::fabs(plain[i]) < 2) {
      CHECK(x[i] == plain[i]);
      if (++kept == 100) break;
    }
  }
  CHECK(kept == 100);
}

TEMPLATE_TEST_CASE("an element does not depend on those drawn with it", "[distributions]", float, double) {
  using T = TestType;
  const random_key key{9, 9, 9};
  constexpr int n = cpu::drawn_at_once<T>;
  const auto whole = numbers<kind::truncated, T>(key, 8 * n);
  for (int part = 4; part < 8; ++part) {
    T some[static_cast<unsigned>(n)];
    cpu::dispatch<some_truncated>(static_cast<T*>(some), &key, static_cast<std::uint64_t>(part * n), std::int64_t{n});
    for (int i = 0; i < n; ++i) CHECK(some[i] == Approx(whole[static_cast<std::size_t>(part * n + i)]).epsilon(1e-5));
  }
}

TEST_CASE("blocks by the vectors of this machine are those of the generator") {
  using body = cpu::with_wide<eight_blocks_of<cpu::bytes_of_blocks>, eight_blocks_of<64>>;
  for (const random_key key : {random_key{}, random_key{0xdeadbeefcafef00d, 0xffffffff, 0x80000001}})
    for (const std::uint64_t first : {0ull, 4ull, 0xfffffffcull, 0x123456789abcull, 0xfffffffffff8ull})
      for (const int number : {0, 1, 65535})
        for (const bool wide : {false, true}) {
          const auto attempt = static_cast<std::uint16_t>(number);
          std::uint32_t words[32];
          if (wide)
            cpu::dispatch<body>(words + 0, &key, first, attempt);
          else
            cpu::dispatch<eight_blocks_of<cpu::bytes_of_blocks>>(words + 0, &key, first, attempt);
          for (unsigned b = 0; b < 8; ++b)
            for (unsigned i = 0; i < 4; ++i) CHECK(words[4 * b + i] == tagma::random_block(key, first + b, attempt)[i]);
        }
}
