// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What elements decide, beside plain numbers: for every device on which programs run.

#include <catch2/catch.hpp>
#include <cmath>
#include <tuple>

#include "conformance/random_functions.hpp"
#include "support/gradient_check.hpp"
#include "tagma/control_flow.hpp"
#include "tagma/tagma.hpp"

namespace {

constexpr auto decides = tg::placeholder<"decides", bool>();
constexpr auto also = tg::placeholder<"also", bool>();
constexpr auto x = tg::placeholder<"x", double, tg::dyn>();

template <class F>
void check_each(const values& found, const values& of, const F& expected) {
  REQUIRE(found.dims() == of.dims());
  for (tg::extent i = 0; i < of.dims().elements(); ++i) {
    INFO("element " << i);
    CHECK(found[i] == Approx(expected(of[i])).margin(1e-12));
  }
}

TEST_CASE("of two functions one is computed, with its gradients") {
  const auto y = tg::cond(
      decides, [](auto e) { return tg::sin(e) * w; }, [](auto e) { return e * e; }, x);
  const auto loss = tg::sum(y * y);
  const auto by_x = tg::gradient(loss, x);
  const auto by_w = tg::gradient(loss, w);
  const auto program = tg::compile([=] { return tg::outputs(y, loss, by_x, by_w); });
  tg::session s(program);
  for (const tg::extent n : {3, 1, 0, 7, 3})
    for (const bool first : {true, false, true}) {
      const values v = numbers({n}, 1);
      check_each(s.run(y, x = v, decides = first, w = 1.5), v,
                 [&](double e) { return first ? std::sin(e) * 1.5 : e * e; });
      tg::test::check_gradient(
          [&](const values& at) { return s.run(tg::fetch(loss, by_x), x = at, decides = first, w = 1.5); }, v);
      double sum = 0;
      for (tg::extent i = 0; i < n; ++i) sum += 2 * std::sin(v[i]) * std::sin(v[i]) * 1.5;
      CHECK(s.run(by_w, x = v, decides = first, w = 1.5) == Approx(first ? sum : 0.0).margin(1e-12));
    }
}

TEST_CASE("branches return several results, what they are given, or something from outside") {
  const auto outer = tg::exp(x);
  const auto [a, b, c] = tg::cond(
      decides, [&](auto e, auto o) { return std::tuple(e, o + e, outer); },
      [&](auto e, auto o) { return std::tuple(o, e, x); }, x, outer);
  const auto a_ = a;
  const auto b_ = b;
  const auto c_ = c;
  const auto by_x = tg::gradient(tg::sum(a_) + 2.0 * tg::sum(b_) + 3.0 * tg::sum(c_), x);
  const auto program = tg::compile([=] { return tg::outputs(a_, b_, c_, by_x); });
  tg::session s(program);
  const values v = numbers({4}, 2);
  for (const bool first : {false, true, false}) {
    const auto [fa, fb, fc, g] = s.run(tg::fetch(a_, b_, c_, by_x), x = v, decides = first);
    check_each(fa, v, [&](double e) { return first ? e : std::exp(e); });
    check_each(fb, v, [&](double e) { return first ? e + std::exp(e) : e; });
    check_each(fc, v, [&](double e) { return first ? std::exp(e) : e; });
    check_each(g, v,
               [&](double e) { return first ? 1 + 2 * (1 + std::exp(e)) + 3 * std::exp(e) : std::exp(e) + 2 + 3; });
  }
}

TEST_CASE("branches stand in branches, with gradients of any order") {
  const auto y = tg::cond(
      decides,
      [](auto e) {
        return tg::cond(
            also, [](auto d) { return d * d * d; }, [](auto d) { return tg::sin(d) * w; }, e * 2.0);
      },
      [](auto e) { return tg::exp(e * w); }, x);
  const auto first = tg::gradient(0.01 * tg::sum(y * y), x);
  const auto loss = tg::sum(tg::sin(first));
  const auto by_x = tg::gradient(loss, x);
  const auto by_w = tg::gradient(loss, w);
  const auto program = tg::compile([=] { return tg::outputs(y, first, loss, by_x, by_w); });
  tg::session s(program);
  const values v = numbers({3}, 3);
  for (const bool outer : {true, false})
    for (const bool inner : {true, false}) {
      check_each(s.run(y, x = v, w = 0.8, decides = outer, also = inner), v, [&](double e) {
        return !outer ? std::exp(e * 0.8) : inner ? 8 * e * e * e : std::sin(2 * e) * 0.8;
      });
      tg::test::check_gradient(
          [&](const values& at) {
            return s.run(tg::fetch(loss, by_x), x = at, w = 0.8, decides = outer, also = inner);
          },
          v);
      values one(tg::shape{});
      one[0] = 0.8;
      tg::test::check_gradient(
          [&](const values& at) {
            const auto [l, g] = s.run(tg::fetch(loss, by_w), x = v, w = at[0], decides = outer, also = inner);
            values gradient(tg::shape{});
            gradient[0] = g;
            return std::tuple(l, gradient);
          },
          one);
    }
}

TEST_CASE("a loop goes on as long as a test of what it carries is true") {
  const auto [n, z] = tg::while_loop<20>(
      tg::carry(tg::cast<double>(tg::sum(x) * 0.0), x), [](auto k, auto e) { return k + 0.0 * tg::sum(e) < w; },
      [](auto k, auto e) { return tg::next(k + 1.0, e * 1.5 + 0.1); });
  const auto count = n;
  const auto last = z;
  const auto loss = tg::sum(last * last);
  const auto by_x = tg::gradient(loss, x);
  const auto program = tg::compile([=] { return tg::outputs(count, last, loss, by_x); });
  tg::session s(program);
  for (const double limit : {3.0, 0.0, 1.0, 7.5, 100.0, 2.0}) {
    const double times = std::min(std::ceil(limit), 20.0);
    const values v = numbers({3}, 4);
    CHECK(s.run(count, x = v, w = limit) == times);
    check_each(s.run(last, x = v, w = limit), v, [&](double e) {
      for (int i = 0; i < static_cast<int>(times); ++i) e = e * 1.5 + 0.1;
      return e;
    });
    if (times > 10) continue;
    tg::test::check_gradient([&](const values& at) { return s.run(tg::fetch(loss, by_x), x = at, w = limit); }, v);
  }
}

TEST_CASE("a loop without a limit ends when its test does") {
  const auto start = tg::reshape<1>(w);
  const auto [n, root] = tg::while_loop(
      tg::carry(tg::cast<std::int64_t>(start * 0.0), start),
      [](auto, auto r) { return tg::reshape<>(tg::abs(r * r - tg::reshape<1>(w))) > 1e-9; },
      [](auto k, auto r) { return tg::next(k + 1, (r + tg::reshape<1>(w) / r) * 0.5); });
  const auto steps = n;
  const auto found = root;
  const auto program = tg::compile([=] { return tg::outputs(steps, found); });
  tg::session s(program);
  for (const double of : {2.0, 1.0, 1e6, 9.0}) {
    const auto [count, r] = s.run(tg::fetch(steps, found), w = of);
    CHECK(r[0] == Approx(std::sqrt(of)));
    CHECK((count[0] > 0) == (of != 1.0));
  }
}

constexpr auto rows = tg::placeholder<"rows", double, tg::dyn, 2>();

TEST_CASE("a scan has branches and loops that end by themselves, another way in each iteration, with gradients") {
  const auto start = tg::placeholder<"start", double, 2>();
  const auto [last, all] = tg::scan(tg::carry(start), tg::over(rows), [](auto h, auto e) {
    const auto up = tg::sum(e) > 0.0;
    const auto mixed = tg::cond(
        up, [](auto c, auto d) { return tg::sin(c) * d * w; }, [](auto c, auto d) { return c * 0.5 - d; }, h, e);
    const auto [n, grown] = tg::while_loop<6>(
        tg::carry(tg::sum(mixed * 0.0), mixed), [](auto k, auto m) { return k < 4.0 * tg::sum(m * m) + 1.0; },
        [](auto k, auto m) { return tg::next(k + 1.0, m * 0.9 + 0.05); });
    return tg::next(tg::tanh(grown)).emit(grown * e);
  });
  const auto end = last;
  const auto gathered = all;
  const auto loss = tg::sum(end * end) + tg::sum(gathered);
  const auto by_rows = tg::gradient(loss, rows);
  const auto by_start = tg::gradient(loss, start);
  const auto by_w = tg::gradient(loss, w);
  const auto program = tg::compile([=] { return tg::outputs(end, gathered, loss, by_rows, by_start, by_w); });
  tg::session s(program);
  for (const tg::extent n : {5, 1, 0, 3}) {
    const values in = numbers({n, 2}, 5), begin = numbers({2}, 6);
    double h[2] = {begin[0], begin[1]};
    values each({n, 2});
    for (tg::extent t = 0; t < n; ++t) {
      const double* const e = in.data() + 2 * t;
      const bool up = e[0] + e[1] > 0;
      double m[2];
      for (int i = 0; i < 2; ++i) m[i] = up ? std::sin(h[i]) * e[i] * 1.3 : h[i] * 0.5 - e[i];
      for (int k = 0; k < 6 && k < 4 * (m[0] * m[0] + m[1] * m[1]) + 1; ++k)
        for (double& v : m) v = v * 0.9 + 0.05;
      for (int i = 0; i < 2; ++i) h[i] = std::tanh(m[i]), each(t, i) = m[i] * e[i];
    }
    const auto [l, a] = s.run(tg::fetch(end, gathered), rows = in, start = begin, w = 1.3);
    for (int i = 0; i < 2; ++i) CHECK(l[i] == Approx(h[i]));
    for (tg::extent i = 0; i < 2 * n; ++i) CHECK(a[i] == Approx(each[i]));
    tg::test::check_gradient(
        [&](const values& at) { return s.run(tg::fetch(loss, by_rows), rows = at, start = begin, w = 1.3); }, in);
    tg::test::check_gradient(
        [&](const values& at) { return s.run(tg::fetch(loss, by_start), rows = in, start = at, w = 1.3); }, begin);
  }
}

TEST_CASE("a branch has a scan, and a loop that ends by itself a branch") {
  const auto y = tg::cond(
      decides,
      [](auto r) {
        const auto [sum] = tg::scan(tg::carry(tg::sum<0>(r) * 0.0), tg::over(r),
                                    [](auto c, auto e) { return tg::next(tg::sin(c) + e * w); });
        return sum;
      },
      [](auto r) {
        const auto [n, grown] = tg::while_loop<5>(
            tg::carry(tg::sum(r * 0.0), tg::sum<0>(r)), [](auto k, auto) { return k < 3.0; },
            [](auto k, auto m) {
              return tg::next(k + 1.0, tg::cond(
                                           k < 1.5, [](auto d) { return d * d; }, [](auto d) { return d + w; }, m));
            });
        return grown;
      },
      rows);
  const auto loss = tg::sum(y * y);
  const auto by_rows = tg::gradient(loss, rows);
  const auto program = tg::compile([=] { return tg::outputs(y, loss, by_rows); });
  tg::session s(program);
  const values in = numbers({3, 2}, 7);
  for (const bool first : {true, false, true}) {
    double expected[2] = {0, 0};
    if (first) {
      for (tg::extent t = 0; t < 3; ++t)
        for (int i = 0; i < 2; ++i) expected[i] = std::sin(expected[i]) + in(t, i) * 0.7;
    } else {
      for (int i = 0; i < 2; ++i) {
        double m = in(0, i) + in(1, i) + in(2, i);
        for (int k = 0; k < 3; ++k) m = k < 1.5 ? m * m : m + 0.7;
        expected[i] = m;
      }
    }
    const auto found = s.run(y, rows = in, decides = first, w = 0.7);
    for (int i = 0; i < 2; ++i) CHECK(found[i] == Approx(expected[i]));
    tg::test::check_gradient(
        [&](const values& at) { return s.run(tg::fetch(loss, by_rows), rows = at, decides = first, w = 0.7); }, in);
  }
}

template <int Seed>
void check_random_function() {
  constexpr auto p = tg::placeholder<"p", double, 3>();
  constexpr auto q = tg::placeholder<"q", double, 3>();
  const auto all = random_function<Seed, 2, 0, true>(p, q);
  const auto written = random_function<Seed, 2, 0, false>(p, q);
  const auto difference = tg::sum(tg::square(all - written));
  const auto everything = tg::sum(p) + tg::sum(q) + w;
  const auto f = tg::sum(tg::sin(all)) + everything;
  const auto g = tg::sum(tg::sin(written)) + everything;
  const auto apart = [&](const auto& by) { return tg::sum(tg::square(tg::gradient(f, by) - tg::gradient(g, by))); };
  const auto slopes = apart(p) + apart(q) + apart(w);
  const auto program = tg::compile([=] { return tg::outputs(difference, slopes, f); });
  tg::session s(program);
  for (int run = 0; run < 6; ++run) {
    const auto [d, sl, value] = s.run(tg::fetch(difference, slopes, f), p = numbers({3}, Seed + 3.1 * run),
                                      q = numbers({3}, Seed + 1 + 7.3 * run), w = 0.4 * run - 1);
    INFO("seed " << Seed << ", run " << run);
    CHECK(d == Approx(0).margin(1e-16));
    CHECK(sl == Approx(0).margin(1e-14));
    CHECK(std::isfinite(value));
  }
}

}  // namespace
