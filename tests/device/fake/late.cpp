// SPDX-License-Identifier: BSL-1.0
// Extents that kernels of devices with streams find.
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "support/errors.hpp"
#include "support/late.hpp"
#include "tagma/device/fake/provide.hpp"
#include "tagma/filter.hpp"
#include "tagma/observe/trace.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using tg::test::late;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 3>();
constexpr auto m = tg::placeholder<"m", bool, tg::dyn>();
constexpr auto v = tg::placeholder<"v", float, tg::dyn>();

tg::tensor<float> numbers(const tg::shape& dims, float first) {
  tg::tensor<float> all(dims);
  for (std::size_t i = 0; i < all.size(); ++i) all.data()[i] = first + 0.25f * static_cast<float>(i % 13);
  return all;
}
tg::tensor<bool> mask(tg::extent n, unsigned bits) {
  tg::tensor<bool> all({n});
  for (tg::extent i = 0; i < n; ++i) all.data()[i] = ((bits >> i) & 1) != 0;
  return all;
}

tg::session_options options(int streams, bool graphs) {
  return {.seed = 3, .gpu = {.memory_fraction = 1, .allow_growth = true, .streams = streams, .graphs = graphs}};
}

TEST_CASE("what follows extents that a device finds is bound when they are there, replayed or not") {
  const auto w = tg::variable<"w", float, 3, 2>(tg::glorot_uniform);
  const auto kept = tg::boolean_mask(x, m);
  const auto guess = tg::tanh(tg::matmul(kept, w));
  const auto loss = tg::mean(tg::square(guess));
  const auto by_x = tg::gradient(loss, x);
  const auto again = tg::boolean_mask(guess, tg::sum<-1>(guess) > 0.0f);
  const auto rest = tg::sum(again) + tg::sum(tg::zeros_like(again));
  const auto on_host = tg::on<tg::cpu<0>>(kept * 2.0f);
  const auto other = tg::on<tg::gpu<1>>(tg::boolean_mask(on_host, tg::sum<-1>(on_host) > 1.0f) + 1.0f);
  const auto train = tg::minimize(loss, tg::momentum{.learning_rate = 0.05});
  const auto all = [=] {
    return tg::on<tg::gpu<0>>(tg::outputs(kept, guess, loss, by_x, again, rest, on_host, other, train, w));
  };
  const auto program = tg::compile(all);
  const auto plain = tg::compile(
      [=] { return tg::on<tg::cpu<0>>(tg::outputs(kept, guess, loss, by_x, again, rest, on_host, other, train, w)); });
  const auto everything = tg::fetch(kept, guess, loss, by_x, again, rest, on_host, other);
  for (const int streams : {1, 4})
    for (const bool graphs : {false, true}) {
      tg::session session(program, options(streams, graphs));
      tg::session expected(plain, options(streams, graphs));
      CHECK(session.run(w) == expected.run(w));
      for (const unsigned bits : {0b1011u, 0b1011u, 0b1011u, 0b0000u, 0b1111u, 0b1011u, 0b1011u, 0b0100u, 0b0000u}) {
        const auto at = numbers({4, 3}, -1.25f);
        const auto chosen = mask(4, bits);
        const auto got = session.run(everything, x = at, m = chosen);
        const auto want = expected.run(everything, x = at, m = chosen);
        CHECK(std::get<0>(got) == std::get<0>(want));
        CHECK(std::get<1>(got) == std::get<1>(want));
        if (bits != 0) CHECK(std::get<2>(got) == std::get<2>(want));
        if (bits != 0) CHECK(std::get<3>(got) == std::get<3>(want));
        CHECK(std::get<4>(got) == std::get<4>(want));
        CHECK(std::get<5>(got) == std::get<5>(want));
        CHECK(std::get<6>(got) == std::get<6>(want));
        CHECK(std::get<7>(got) == std::get<7>(want));
        if (bits == 0) continue;
        session.run(train, x = at, m = chosen);
        expected.run(train, x = at, m = chosen);
        CHECK(session.run(w) == expected.run(w));
      }
      tg::trace times;
      CHECK(session.run(kept, x = numbers({4, 3}, 0), m = mask(4, 0b0110), tg::trace_to(times)).dims() ==
            tg::shape{2, 3});
    }
}

TEST_CASE("an error behind extents that a device finds names the operation, and the session goes on") {
  const auto kept = tg::boolean_mask(x, m);
  const auto sum = kept + tg::placeholder<"y", float, tg::dyn, 3>();
  const auto program = tg::compile([=] { return tg::on<tg::gpu<0>>(tg::outputs(sum)); });
  constexpr auto y = tg::placeholder<"y", float, tg::dyn, 3>();
  for (const bool graphs : {false, true}) {
    tg::session session(program, options(2, graphs));
    for (int i = 0; i < 3; ++i) {
      CHECK(session.run(sum, x = numbers({4, 3}, 0), m = mask(4, 0b0110), y = numbers({2, 3}, 0)).dims() ==
            tg::shape{2, 3});
      CHECK_THROWS_WITH(session.run(sum, x = numbers({4, 3}, 0), m = mask(4, 0b0111), y = numbers({2, 3}, 0)),
                        Catch::Contains("add #") && Catch::Contains("float32 [3, 3] and float32 [2, 3]"));
    }
  }
}

TEST_CASE("an operation that knows no bound runs on the host, and a device goes on") {
  const auto kept = tg::on<tg::cpu<0>>(late<tg::test::unbounded_positive>(v));
  const auto twice = tg::on<tg::gpu<0>>(kept * 2.0f);
  const auto last = tg::on<tg::gpu<0>>(tg::concat<0>(twice, twice));
  const auto program = tg::compile([=] { return tg::outputs(twice, last); });
  for (const bool graphs : {false, true}) {
    tg::session session(program, options(2, graphs));
    for (const tg::extent n : {3, 3, 3, 40, 1, 0, 3, 3}) {
      std::vector<float> from;
      for (tg::extent i = 0; i < n; ++i) from.insert(from.end(), {static_cast<float>(i + 1), -1.0f});
      const auto [t, l] = session.run(tg::fetch(twice, last), v = from);
      CHECK(t.dims() == tg::shape{n});
      CHECK(l.dims() == tg::shape{2 * n});
      for (tg::extent i = 0; i < n; ++i) CHECK((t[i] == 2 * static_cast<float>(i + 1) && l[n + i] == t[i]));
    }
    CHECK(session.core().arena_bytes() >= 40 * 4 * 4);
  }
}

}  // namespace
