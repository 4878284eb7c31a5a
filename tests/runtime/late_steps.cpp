// SPDX-License-Identifier: BSL-1.0
// Extents that kernels find.
#include "tagma/runtime/late_steps.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <iterator>
#include <random>
#include <thread>
#include <vector>

#include "support/errors.hpp"
#include "support/late.hpp"
#include "tagma/explain.hpp"
#include "tagma/filter.hpp"
#include "tagma/observe/trace.hpp"

namespace {

namespace tg = tagma;
using tg::test::late;

constexpr auto x = tg::placeholder<"x", float, tg::dyn>();
constexpr auto y = tg::placeholder<"y", float, tg::dyn>();

tg::tensor<float> vector(const std::vector<float>& from) {
  tg::tensor<float> t({static_cast<tg::extent>(from.size())});
  for (std::size_t i = 0; i < from.size(); ++i) t[static_cast<tg::extent>(i)] = from[i];
  return t;
}
std::vector<float> list(const tg::tensor<float>& t) { return {t.data(), t.data() + t.dims().elements()}; }

TEST_CASE("what follows a late extent is bound when it is known") {
  const auto kept = late<tg::test::positive>(x);
  const auto twice = kept * 2.0f + 1.0f;
  const auto sum = tg::sum(twice);
  const auto mean = tg::mean(kept);
  const auto zeros = tg::zeros_like(kept);
  const auto program = tg::compile([=] { return tg::outputs(kept, twice, sum, mean, zeros); });
  CHECK_THAT(tg::explain(program, 10), Catch::Contains("test.positive"));
  for (const int threads : {1, 3}) {
    tg::session session(program, {.intra_op_threads = threads, .inter_op_threads = threads});
    for (const auto& v : std::vector<std::vector<float>>{{1, -2, 3}, {1, 2, 3}, {-1, -1, -1}, {4, -4, 4}, {}, {5}}) {
      std::vector<float> expected;
      float total = 0;
      for (const float f : v)
        if (f > 0) expected.push_back(f), total += f;
      const auto [k, t, s, z] = session.run(tg::fetch(kept, twice, sum, zeros), x = vector(v));
      CHECK(list(k) == expected);
      CHECK(k.dims() == tg::shape{static_cast<tg::extent>(expected.size())});
      CHECK(t.dims() == k.dims());
      for (std::size_t i = 0; i < expected.size(); ++i) CHECK(t[static_cast<tg::extent>(i)] == 2 * expected[i] + 1);
      CHECK(s == 2 * total + static_cast<float>(expected.size()));
      CHECK(z == tg::tensor<float>(k.dims()));
      CHECK(session.run(zeros, x = vector(v)).dims() == k.dims());
      CHECK(session.run(sum, x = vector(v)) == s);
      if (!expected.empty())
        CHECK(session.run(mean, x = vector(v)) == Approx(total / static_cast<float>(expected.size())));
    }
  }
}

std::vector<float> above(const std::vector<float>& from, float limit = 0) {
  std::vector<float> kept;
  std::copy_if(from.begin(), from.end(), std::back_inserter(kept), [=](float f) { return f > limit; });
  return kept;
}
std::vector<float> mapped(std::vector<float> from, float factor, float more) {
  for (float& f : from) f = f * factor + more;
  return from;
}

TEST_CASE("one late operation behind another, and side by side") {
  const auto once = late<tg::test::positive>(x);
  const auto twice = late<tg::test::positive>(once - 2.0f);
  const auto beside = late<tg::test::positive>(y);
  const auto joined = tg::concat<0>(twice, beside * 2.0f);
  const auto pairs = tg::matmul(tg::expand_dims<1>(twice), tg::expand_dims<0>(beside));
  const auto total = tg::sum(joined) + tg::sum(tg::ones_like(once));
  const auto program = tg::compile([=] { return tg::outputs(once, twice, joined, pairs, total); });
  for (const int threads : {1, 4}) {
    tg::session session(program, {.intra_op_threads = threads, .inter_op_threads = threads, .cpu_devices = 2});
    std::mt19937 random(3);
    for (int run = 0; run < 30; ++run) {
      std::vector<float> a(random() % 7), b(random() % 5);
      for (float& f : a) f = static_cast<float>(random() % 9) - 3;
      for (float& f : b) f = static_cast<float>(random() % 9) - 4;
      const auto first = above(a), second = above(mapped(first, 1, -2)), other = above(b);
      auto both = second;
      for (const float f : other) both.push_back(2 * f);
      const auto [o, t, j, p, s] = session.run(tg::fetch(once, twice, joined, pairs, total), x = a, y = b);
      CHECK(list(o) == first);
      CHECK(list(t) == second);
      CHECK(list(j) == both);
      REQUIRE(p.dims() == tg::shape{static_cast<tg::extent>(second.size()), static_cast<tg::extent>(other.size())});
      for (std::size_t i = 0; i < second.size(); ++i)
        for (std::size_t k = 0; k < other.size(); ++k) CHECK(p.data()[i * other.size() + k] == second[i] * other[k]);
      float sum = static_cast<float>(first.size());
      for (const float f : both) sum += f;
      CHECK(s == Approx(sum));
    }
  }
}

TEST_CASE("results without a bound get memory when they are there, which counts") {
  const auto kept = late<tg::test::unbounded_positive>(x);
  const auto out = tg::exp(kept) + 1.0f;
  const auto wide = tg::concat<0>(out, kept);
  const auto program = tg::compile([=] { return tg::outputs(out, wide, kept); });
  CHECK(decltype(program)::peak_bytes(16) > 0);
  CHECK_THAT(tg::explain(program, 16), Catch::Contains("test.unbounded_positive"));
  tg::session session(program, {.inter_op_threads = 1});
  std::size_t most = 0;
  for (const std::size_t n : {4u, 0u, 1000u, 3u, 1000u}) {
    const auto [o, w, k] = session.run(tg::fetch(out, wide, kept), x = std::vector<float>(n, 1.0f));
    CHECK(o.dims() == tg::shape{static_cast<tg::extent>(n)});
    CHECK(w.dims() == tg::shape{static_cast<tg::extent>(2 * n)});
    CHECK(list(k) == std::vector<float>(n, 1.0f));
    most = std::max(most, session.core().arena_bytes());
  }
  CHECK(most >= 4 * 4 * 1000);
}

TEST_CASE("a result of known extents lies over a tensor whose extents are found") {
  const auto mean = tg::mean(x);
  const auto kept = late<tg::test::unbounded_positive>(x);
  const auto above = tg::relu(kept - y);  // as many as y has, which is fed
  const auto sum = tg::sum(above);
  const auto program = tg::compile([=] { return tg::outputs(above, sum, mean); });
  const tg::tensor<float> ones({4}, {1.0f, 1.0f, 1.0f, 1.0f});
  for (const int threads : {1, 3}) {
    tg::session session(program, {.intra_op_threads = threads, .inter_op_threads = threads});
    for (const std::size_t extra : {0u, 3u, 1000u, 4u}) {
      std::vector<float> in(4 + extra, -1.0f);
      for (std::size_t i = 0; i < 4; ++i) in[i * (extra > 0 ? 2 : 1)] = static_cast<float>(i) + 1.5f;
      const auto [a, s, m] = session.run(tg::fetch(above, sum, mean), x = vector(in), y = ones);
      CHECK(list(a) == std::vector<float>{0.5f, 1.5f, 2.5f, 3.5f});
      CHECK(s == 8);
      const float n = static_cast<float>(extra);
      CHECK(m == Approx((12 - n) / (4 + n)));
      CHECK(session.run(sum, x = vector(in), y = ones) == 8);
    }
  }
}

TEST_CASE("an operation with several results finds extents of some") {
  const auto [up, down, count] = late<tg::test::parted>(x);
  const auto both = tg::concat<0>(up, down * -1.0f);
  const auto difference = tg::sum(up) - tg::sum(down);
  const auto program =
      tg::compile([u = up, d = down, c = count, both, difference] { return tg::outputs(u, d, c, both, difference); });
  for (const int threads : {1, 3}) {
    tg::session session(program, {.intra_op_threads = threads, .inter_op_threads = threads});
    const std::vector<std::vector<float>> all{{1, -1, 2}, {1, 2, 3}, {-1}, {}, {1, -1, 2}};
    for (const auto& from : all) {
      const auto [u, d, c, b] = session.run(tg::fetch(up, down, count, both), x = from);
      CHECK(list(u) == above(from));
      CHECK(u.size() + d.size() == from.size());
      CHECK(c == static_cast<std::int64_t>(from.size()));
      CHECK(b.size() == from.size());
      CHECK(session.run(down, x = from) == d);
      CHECK(session.run(both, up = std::vector<float>{7, 8, 9, 10}, down = std::vector<float>{1}).size() == 5);
      CHECK(session.run(both, x = from, up = std::vector<float>{7}).size() == d.size() + 1);
    }
  }
}

TEST_CASE("operations with several results behind late extents") {
  constexpr auto rows = tg::placeholder<"rows", float, tg::dyn, 6>();
  constexpr auto keep = tg::placeholder<"keep", bool, tg::dyn>();
  const auto results_of = [](const auto& in) {
    const auto [values, places] = tg::top_k<2>(in);
    const auto [mean, variance] = tg::moments<1>(in);
    const auto parts = tg::split<1, 2>(in);
    const auto joined = tg::concat<1>(std::get<1>(parts), std::get<0>(parts), values);
    const auto loss = tg::sum(tg::square(joined)) + tg::sum(mean * variance);
    return std::make_tuple(values * 1.0f, places, mean + variance, joined, tg::gradient(loss, in));
  };
  const auto behind = results_of(tg::boolean_mask(rows, keep));
  const auto plain = results_of(rows);
  const auto with = [](const auto& results) {
    return std::apply([](const auto&... r) { return tg::compile([=] { return tg::outputs(r...); }); }, results);
  };
  tg::session expected(with(plain));
  for (const int threads : {1, 3}) {
    tg::session session(with(behind), {.intra_op_threads = threads, .inter_op_threads = threads});
    for (const tg::extent n : {4, 9, 1, 4, 30}) {
      tg::tensor<float> all({n, 6}), kept({(n + 1) / 2, 6});
      tg::tensor<bool> mask({n});
      for (tg::extent i = 0; i < n; ++i) {
        mask[i] = i % 2 == 0;
        for (int k = 0; k < 6; ++k) all(i, k) = static_cast<float>((i * 5 + k * 7) % 11);
        for (int k = 0; k < 6 && mask[i]; ++k) kept(i / 2, k) = all(i, k);
      }
      const auto fetch = [](const auto& results) {
        return std::apply([](const auto&... r) { return tg::fetch(r...); }, results);
      };
      CHECK(session.run(fetch(behind), rows = all, keep = mask) == expected.run(fetch(plain), rows = kept));
    }
  }
}

TEST_CASE("operations with several results whose extents nobody bounds") {
  const auto kept = late<tg::test::unbounded_positive>(x);
  const auto [values, places] = tg::top_k<1>(tg::expand_dims<1>(kept));
  const auto doubled = values * 2.0f;
  const auto numbers = places;
  tg::session session(tg::compile([=] { return tg::outputs(doubled, numbers); }));
  for (const std::size_t n : {3u, 500u, 0u, 7u, 500u}) {
    std::vector<float> v(n);
    for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<float>(i + 1);
    const auto [d, p] = session.run(tg::fetch(doubled, numbers), x = v);
    REQUIRE(d.dims() == tg::shape{static_cast<tg::extent>(n), 1});
    REQUIRE(p.dims() == d.dims());
    for (tg::extent i = 0; i < d.dims()[0]; ++i) CHECK((d(i, 0) == static_cast<float>(2 * i + 2) && p(i, 0) == 0));
  }
}

TEST_CASE("extents that do not fit are told with the operation and what it was given") {
  const auto kept = late<tg::test::positive>(x);
  const auto sum = kept + y;
  const auto product = tg::sum(kept * tg::placeholder<"three", float, 3>());
  const auto rows = tg::reshape<tg::dyn, 2>(kept);
  const auto program = tg::compile([=] { return tg::outputs(sum, product, rows); });
  constexpr auto three = tg::placeholder<"three", float, 3>();
  for (const int threads : {1, 3}) {
    tg::session session(program, {.intra_op_threads = threads, .inter_op_threads = threads});
    for (int i = 0; i < 3; ++i) {
      CHECK(session.run(sum, x = vector({1, -1, 2}), y = vector({3, 4})).size() == 2);
      CHECK_THROWS_WITH(session.run(sum, x = vector({1, 1, 2}), y = vector({3, 4})),
                        Catch::StartsWith("InvalidArgument: add #") &&
                            Catch::Contains("on /device:CPU:0 of float32 [3] and float32 [2]") &&
                            Catch::Contains("its inputs are float32 [3] and float32 [2] (run at"));
      CHECK(session.run(product, x = vector({1, -1, 2, 3}), three = vector({1, 1, 1})) == 6);
      CHECK_THROWS_WITH(session.run(product, x = vector({1, 1}), three = vector({1, 1, 1})),
                        Catch::Contains("multiply #") && Catch::Contains("float32 [2]"));
      CHECK(session.run(rows, x = vector({1, -1, 2, 3, 4})).dims() == tg::shape{2, 2});
      CHECK_THROWS_WITH(session.run(rows, x = vector({1, -1, 2, 3})),
                        Catch::Contains("the elements do not divide into the new shape"));
    }
  }
}

/// Says that it found as many elements as its attribute tells.
struct told {
  static constexpr std::string_view name = "test.told";
  static constexpr tg::ir::op_kind kind = tg::ir::op_kind::compute;
  static constexpr bool late = true;
  static constexpr const char* infer(tg::ir::infer_args& a) { return tg::test::positive::infer(a); }
  static constexpr const char* bound(tg::ir::infer_args& a) { return tg::test::positive::bound(a); }
};

}  // namespace

template <>
struct tagma::device::kernel<tagma::device::on_cpu, tagma::ir::key<told>> {
  template <tagma::dtype, tagma::dtype...>
  static constexpr kernel_entry entry{[](const kernel_args& args, const run_context&) {
    const auto n = static_cast<tg::extent>(args.in[0].as<float>()[0]);
    if (n != -2) args.late->set(0, n);
  }};
};

namespace {

TEST_CASE("a kernel that says what cannot be is named") {
  const auto out = tg::sum(tg::make_operation<told>(x));
  const auto program = tg::compile([=] { return tg::outputs(out); });
  tg::session session(program);
  CHECK_THROWS_WITH(session.run(out, x = vector({7, 1, 1})),
                    Catch::Contains("test.told #") && Catch::Contains("extent 0 of result 0 is 7, above its bound 3"));
  CHECK_THROWS_WITH(session.run(out, x = vector({-2, 1, 1})),
                    Catch::Contains("test.told #") && Catch::Contains("does not say extent 0 of result 0"));
  CHECK_NOTHROW(session.run(out, x = vector({2, 1, 1})));
}

TEST_CASE("what is late may be fed, and is waited for") {
  const auto kept = late<tg::test::positive>(x);
  const auto count = tg::variable<"count", float>(tg::zeros);
  const auto up = tg::assign_add(count, tg::sum(tg::ones_like(kept)));
  const auto after = tg::after(up)(kept * 2.0f);
  const auto table = tg::variable<"table", float, 4>(tg::zeros);
  const auto marked = tg::scatter_add(table, tg::cast<std::int32_t>(kept), tg::ones_like(kept));
  const auto program = tg::compile([=] { return tg::outputs(kept, up, after, count, marked, table); });
  for (const int threads : {1, 3}) {
    tg::session session(program, {.intra_op_threads = threads, .inter_op_threads = threads});
    CHECK(list(session.run(after, x = vector({1, -1, 2}))) == std::vector<float>{2, 4});
    CHECK(session.run(count) == 2);
    CHECK(list(session.run(after, kept = vector({5, 6, 7}))) == std::vector<float>{10, 12, 14});
    CHECK(session.run(count) == 5);
    session.run(marked, x = vector({3, -1, 2, 3}));
    CHECK(list(session.run(table)) == std::vector<float>{0, 0, 1, 2});
    CHECK(list(session.run(marked, x = vector({1}))) == std::vector<float>{0, 1, 1, 2});
    CHECK(list(session.run(marked, x = vector({-1}))) == std::vector<float>{0, 1, 1, 2});
  }
}

TEST_CASE("several runs of one session at once, each with its own extents") {
  const auto kept = late<tg::test::positive>(x);
  const auto out = tg::sum(kept * 2.0f + 1.0f);
  const auto program = tg::compile([=] { return tg::outputs(out, kept); });
  tg::session session(program, {.intra_op_threads = 2, .inter_op_threads = 2});
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (unsigned t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int run = 0; run < 100; ++run) {
        std::vector<float> from(6);
        for (float& f : from) f = static_cast<float>(random() % 5) - 2;
        const auto expected = above(from);
        float sum = 0;
        for (const float f : expected) sum += f * 2 + 1;
        const auto [o, k] = session.run(tg::fetch(out, kept), x = from);
        if (list(k) != expected || o != sum) ++wrong;
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
}

TEST_CASE("an operation that waits finds extents when it ends") {
  const auto taken = tg::test::take();
  const auto count = tg::variable<"count", float>(tg::zeros);
  const auto sum = tg::sum(tg::boolean_mask(taken, taken > 1.0f) * 2.0f);
  const auto add = tg::assign_add(count, sum);
  const auto program = tg::compile([=] { return tg::outputs(taken, sum, add, count); });
  for (const int threads : {1, 3}) {
    tg::session session(program, {.intra_op_threads = threads, .inter_op_threads = threads});
    const std::vector<std::vector<float>> all{{1, 2, 3}, {}, {1}, {5, 5, 5, 5}, {1, 2, 3}};
    float expected = 0;
    for (const auto& v : all) {
      tg::test::vectors.put(v);
      const auto [got, s] = session.run(tg::fetch(taken, sum));
      CHECK(list(got) == v);
      float total = 0;
      for (const float f : v) total += f > 1 ? 2 * f : 0;
      CHECK(s == total);
      std::thread late_client([&] {
        while (tg::test::vectors.waiting() == 0) std::this_thread::yield();
        tg::test::vectors.put(v);
      });
      tg::trace timeline;
      session.run(add, tg::trace_to(timeline));
      late_client.join();
      expected += total;
      CHECK(session.run(count) == expected);
    }
    CHECK(tg::test::code_of([&] { session.run(sum, tg::timeout(std::chrono::milliseconds(20))); }) ==
          tg::status_code::deadline_exceeded);
    tg::test::vectors.put({2});
    CHECK(session.run(sum) == 4);
  }
}

TEST_CASE("late extents that another CPU device reads") {
  const auto kept = tg::on<tg::cpu<0>>(late<tg::test::positive>(x));
  const auto there = tg::on<tg::cpu<1>>(kept * 2.0f + tg::sum(tg::ones_like(kept)));
  const auto back = tg::on<tg::cpu<0>>(late<tg::test::unbounded_positive>(there - 6.0f));
  const auto program = tg::compile([=] { return tg::outputs(kept, there, back); });
  for (const int threads : {1, 3}) {
    tg::session session(program, {.intra_op_threads = threads, .inter_op_threads = threads, .cpu_devices = 2});
    const std::vector<std::vector<float>> all{{1, -1, 2}, {}, {5}, {1, 2, 3, 4}, {-1}, {1, -1, 2}};
    for (const auto& from : all) {
      const auto expected = above(from);
      const auto [k, t, b] = session.run(tg::fetch(kept, there, back), x = from);
      CHECK(list(k) == expected);
      const auto more = mapped(expected, 2, static_cast<float>(expected.size()));
      CHECK(list(t) == more);
      CHECK(list(b) == above(mapped(more, 1, -6)));
    }
  }
}

TEST_CASE("in a container that keeps only variables apart") {
  const tg::container shared(tg::isolation::variables);
  const auto table = tg::variable<"table", float, 4>(tg::zeros);
  const auto kept = late<tg::test::positive>(x);
  const auto up = tg::scatter_add(table, tg::cast<std::int32_t>(kept), tg::ones_like(kept));
  const auto program = tg::compile([=] { return tg::outputs(up, table); });
  tg::session one(program, {.state = shared}), two(program, {.state = shared});
  one.run(up, x = vector({1, -1, 2}));
  two.run(up, x = vector({3, 3, 1, -2}));
  CHECK(list(one.run(table)) == std::vector<float>{0, 2, 1, 2});
}

TEST_CASE("branches behind late extents on several threads") {
  const auto branch = [](const auto& e) {
    const auto kept = tg::boolean_mask(e, e > 1.0f);
    const auto bent = tg::tanh(tg::exp(kept * 0.01f) - 1.0f);
    return tg::sum(late<tg::test::unbounded_positive>(bent - tg::mean(bent))) + tg::sum(std::get<0>(tg::unique(kept)));
  };
  const auto a = branch(x);
  const auto b = branch(x - 2.0f);
  const auto c = branch(x * 2.0f);
  const auto d = branch(x * x);
  const auto total = a + b + c + d;
  const auto program = tg::compile([=] { return tg::outputs(a, b, c, d, total); });
  tg::session one(program, {.intra_op_threads = 1, .inter_op_threads = 1});
  tg::session many(program, {.intra_op_threads = 4, .inter_op_threads = 4});
  tg::session pool(program, {.inter_op_pools = {{.threads = 3}}});
  std::mt19937 random(1);
  for (const std::size_t n : {100'000u, 100'000u, 60'001u, 5u, 0u, 100'000u}) {
    std::vector<float> from(n);
    for (float& f : from) f = static_cast<float>(random() % 1000) / 50 - 10;
    if (n == 0) from.assign(3, 100);
    const auto expected = one.run(tg::fetch(a, b, c, d, total), x = from);
    for (int i = 0; i < 3; ++i) {
      CHECK(many.run(tg::fetch(a, b, c, d, total), x = from) == expected);
      CHECK(pool.run(tg::fetch(a, b, c, d, total), x = from) == expected);
    }
  }
}

// Random programs over vectors, against the same written with vectors of the standard library.

using numbers = std::vector<float>;

constexpr std::uint32_t next(std::uint32_t seed) { return seed * 1664525u + 1013904223u; }
constexpr std::uint32_t pick(std::uint32_t seed, std::uint32_t count) { return (seed >> 16) % count; }

numbers joined(numbers a, const numbers& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
numbers distinct(const numbers& from) {
  numbers found;
  for (const float f : from)
    if (std::find(found.begin(), found.end(), f) == found.end()) found.push_back(f);
  return found;
}
numbers centred(numbers from) {
  float sum = 0;
  for (const float f : from) sum += f;
  for (float& f : from) f -= sum * 0.125f;
  return from;
}
numbers sorted_places(const numbers& from) {
  numbers at;
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i] > 0) at.push_back(static_cast<float>(i));
  return at;
}

/// One more operation over `a` and `b`; what it gives is the next `a`.
template <std::uint32_t Seed, class A, class B>
constexpr auto grown(const A& a, const B& b) {
  constexpr std::uint32_t kind = pick(Seed, 8);
  if constexpr (kind == 0)
    return late<tg::test::positive>(a);
  else if constexpr (kind == 1)
    return late<tg::test::unbounded_positive>(a * 2.0f + 1.0f);
  else if constexpr (kind == 2)
    return tg::boolean_mask(a, a > 1.0f);
  else if constexpr (kind == 3)
    return std::get<0>(tg::unique(a));
  else if constexpr (kind == 4)
    return tg::concat<0>(a, b);
  else if constexpr (kind == 5)
    return a - tg::sum(a) * 0.125f;
  else if constexpr (kind == 6)
    return tg::cast<float>(tg::reshape<tg::dyn>(tg::nonzero(a > 0.0f)));
  else
    return a * 0.5f + tg::sum(tg::ones_like(b));
}
template <std::uint32_t Seed>
numbers grown_numbers(const numbers& a, const numbers& b) {
  switch (pick(Seed, 8)) {
    case 0:
      return above(a);
    case 1:
      return above(mapped(a, 2, 1));
    case 2:
      return above(a, 1);
    case 3:
      return distinct(a);
    case 4:
      return joined(a, b);
    case 5:
      return centred(a);
    case 6:
      return sorted_places(a);
    default:
      return mapped(a, 0.5f, static_cast<float>(b.size()));
  }
}

/// `Depth` operations, which go on with the last two results by turns.
template <std::uint32_t Seed, int Depth, class A, class B>
constexpr auto tangled(const A& a, const B& b) {
  if constexpr (Depth == 0)
    return tg::concat<0>(a, b);
  else if constexpr (pick(next(Seed), 2) == 0)
    return tangled<next(next(Seed)), Depth - 1>(b, grown<Seed>(a, b));
  else
    return tangled<next(next(Seed)), Depth - 1>(grown<Seed>(a, b), b);
}
template <std::uint32_t Seed, int Depth>
numbers tangled_numbers(const numbers& a, const numbers& b) {
  if constexpr (Depth == 0)
    return joined(a, b);
  else if constexpr (pick(next(Seed), 2) == 0)
    return tangled_numbers<next(next(Seed)), Depth - 1>(b, grown_numbers<Seed>(a, b));
  else
    return tangled_numbers<next(next(Seed)), Depth - 1>(grown_numbers<Seed>(a, b), b);
}

template <std::uint32_t Seed>
void check_tangled() {
  const auto out = tangled<Seed, 8>(x, y);
  const auto count = tg::sum(tg::ones_like(out));
  const auto program = tg::compile([=] { return tg::outputs(out, count); });
  for (const int threads : {1, 4}) {
    tg::session session(program, {.intra_op_threads = threads, .inter_op_threads = threads});
    std::mt19937 random(Seed);
    for (int run = 0; run < 12; ++run) {
      numbers a(random() % (run == 11 ? 20000 : 9)), b(random() % 6);
      for (float& f : a) f = static_cast<float>(random() % 9) - 4;
      for (float& f : b) f = static_cast<float>(random() % 9) - 4;
      const auto expected = tangled_numbers<Seed, 8>(a, b);
      const auto [got, n] = session.run(tg::fetch(out, count), x = a, y = b);
      INFO("seed " << Seed << ", run " << run);
      REQUIRE(got.size() == expected.size());
      CHECK(n == static_cast<float>(expected.size()));
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < expected.size(); ++i)
        wrong += std::abs(got.data()[i] - expected[i]) > 1e-3f * std::abs(expected[i]) + 1e-5f;
      CHECK(wrong == 0);
      CHECK(session.run(count, x = a, y = b) == n);
    }
  }
}

TEST_CASE("random programs give what loops give") {
  [&]<std::uint32_t... Seed>(std::integer_sequence<std::uint32_t, Seed...>) {
    (check_tangled<next(next(Seed * 7919u + 1u))>(), ...);
  }
  (std::make_integer_sequence<std::uint32_t, 12>());
}

}  // namespace
