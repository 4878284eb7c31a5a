// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Loops, beside the same computations written out step by step: for every device on which programs run.

#include <catch2/catch.hpp>
#include <cmath>
#include <tuple>

#include "support/gradient_check.hpp"
#include "tagma/tagma.hpp"
#include "tagma/with_macros.hpp"

namespace {

namespace tg = tagma;

constexpr int steps = 4, batch = 2, in = 3, units = 2;
constexpr auto x = tg::placeholder<"x", double, tg::dyn, batch, in>();
constexpr auto h0 = tg::placeholder<"h0", double, batch, units>();
constexpr auto w = tg::placeholder<"w", double, in, units>();
constexpr auto u = tg::placeholder<"u", double, units, units>();
constexpr auto b = tg::placeholder<"b", double, units>();

tg::tensor<double> numbers(const tg::shape& dims, double seed) {
  tg::tensor<double> t(dims);
  for (tg::extent i = 0; i < dims.elements(); ++i) t[i] = 0.7 * std::sin(seed + 1.7 * static_cast<double>(i));
  return t;
}
void check_equal(const tg::tensor<double>& a, const tg::tensor<double>& c) {
  REQUIRE(a.dims() == c.dims());
  for (tg::extent i = 0; i < a.dims().elements(); ++i) {
    INFO("element " << i);
    CHECK(a[i] == Approx(c[i]).margin(1e-12));
  }
}

auto cell(const auto& h, const auto& e) { return tg::tanh(tg::matmul(e, w) + tg::matmul(h, u) + b); }

/// h and the sum of squares of all h * x[0], by plain numbers.
struct plain_result {
  tg::tensor<double> last, all;
};
plain_result plain(const tg::tensor<double>& xs, const tg::tensor<double>& h_first, const tg::tensor<double>& wm,
                   const tg::tensor<double>& um, const tg::tensor<double>& bm, bool reversed = false) {
  const tg::extent n = xs.dims()[0];
  plain_result r{h_first, tg::tensor<double>({n, batch, units})};
  for (tg::extent k = 0; k < n; ++k) {
    const tg::extent t = reversed ? n - 1 - k : k;
    tg::tensor<double> next({batch, units});
    for (tg::extent i = 0; i < batch; ++i)
      for (tg::extent j = 0; j < units; ++j) {
        double sum = bm[j];
        for (tg::extent f = 0; f < in; ++f) sum += xs(t, i, f) * wm(f, j);
        for (tg::extent f = 0; f < units; ++f) sum += r.last(i, f) * um(f, j);
        next(i, j) = std::tanh(sum);
      }
    for (tg::extent i = 0; i < batch * units; ++i) r.all[t * batch * units + i] = next[i];
    r.last = next;
  }
  return r;
}

TEST_CASE("a loop carries values and gathers others, for any number of iterations") {
  const auto [last, all] = tg::scan(tg::carry(h0), tg::over(x), [](auto h, auto e) {
    const auto n = cell(h, e);
    return tg::next(n).emit(n);
  });
  const auto program = tg::compile([last_ = last, all_ = all] { return tg::outputs(last_, all_); });
  tg::session s(program);
  const auto wm = numbers({in, units}, 1), um = numbers({units, units}, 2), bm = numbers({units}, 3),
             hm = numbers({batch, units}, 4);
  for (const tg::extent n : {4, 1, 0, 7, 4}) {
    const auto xs = numbers({n, batch, in}, 5);
    const auto [l, a] = s.run(tg::fetch(last, all), x = xs, h0 = hm, w = wm, u = um, b = bm);
    const plain_result r = plain(xs, hm, wm, um, bm);
    check_equal(l, r.last);
    check_equal(a, r.all);
  }
}

TEST_CASE("a loop goes from the last element to the first") {
  const auto [last, all] = tg::scan<tg::dyn, true>(tg::carry(h0), tg::over(x), [](auto h, auto e) {
    const auto n = cell(h, e);
    return tg::next(n).emit(n);
  });
  const auto program = tg::compile([last_ = last, all_ = all] { return tg::outputs(last_, all_); });
  tg::session s(program);
  const auto wm = numbers({in, units}, 1), um = numbers({units, units}, 2), bm = numbers({units}, 3),
             hm = numbers({batch, units}, 4);
  for (const tg::extent n : {4, 1, 0, 5}) {
    const auto xs = numbers({n, batch, in}, 5);
    const auto [l, a] = s.run(tg::fetch(last, all), x = xs, h0 = hm, w = wm, u = um, b = bm);
    const plain_result r = plain(xs, hm, wm, um, bm, true);
    check_equal(l, r.last);
    check_equal(a, r.all);
  }
}

TEST_CASE("what one loop hands out can be what it carries, twice, or from outside") {
  const auto [last, other, before, same, outer, element] =
      tg::scan(tg::carry(h0, h0), tg::over(x), [](auto h, auto g, auto e) {
        const auto n = cell(h, e);
        return tg::next(n, n).emit(g, n, b, e);
      });
  const auto program =
      tg::compile([last_ = last, other_ = other, before_ = before, same_ = same, outer_ = outer, element_ = element] {
        return tg::outputs(last_, other_, before_, same_, outer_, element_);
      });
  tg::session s(program);
  const auto wm = numbers({in, units}, 1), um = numbers({units, units}, 2), bm = numbers({units}, 3),
             hm = numbers({batch, units}, 4), xs = numbers({steps, batch, in}, 5);
  const auto [l, o, be, sa, ou, el] =
      s.run(tg::fetch(last, other, before, same, outer, element), x = xs, h0 = hm, w = wm, u = um, b = bm);
  const plain_result r = plain(xs, hm, wm, um, bm);
  check_equal(l, r.last);
  check_equal(o, r.last);
  check_equal(sa, r.all);
  check_equal(el, xs);
  for (tg::extent t = 0; t < steps; ++t)
    for (tg::extent i = 0; i < batch * units; ++i) {
      CHECK(be[t * batch * units + i] == Approx(t == 0 ? hm[i] : r.all[(t - 1) * batch * units + i]));
      if (i < units) CHECK(ou[t * units + i] == bm[i]);
    }
}

TEST_CASE("gradients flow through loops into everything") {
  const auto [last, all] = tg::scan(tg::carry(h0), tg::over(x), [](auto h, auto e) {
    const auto n = cell(h, e);
    return tg::next(n).emit(n * n);
  });
  const auto loss = tg::sum(last * h0) + tg::sum(all * all);
  const auto by_x = tg::gradient(loss, x);
  const auto by_h = tg::gradient(loss, h0);
  const auto by_w = tg::gradient(loss, w);
  const auto by_u = tg::gradient(loss, u);
  const auto by_b = tg::gradient(loss, b);
  const auto program = tg::compile([=] { return tg::outputs(loss, by_x, by_h, by_w, by_u, by_b); });
  tg::session s(program);
  const auto wm = numbers({in, units}, 1), um = numbers({units, units}, 2), bm = numbers({units}, 3),
             hm = numbers({batch, units}, 4), xs = numbers({steps, batch, in}, 5);
  using values = tg::tensor<double>;
  tg::test::check_gradient(
      [&](const values& v) { return s.run(tg::fetch(loss, by_x), x = v, h0 = hm, w = wm, u = um, b = bm); }, xs);
  tg::test::check_gradient(
      [&](const values& v) { return s.run(tg::fetch(loss, by_h), x = xs, h0 = v, w = wm, u = um, b = bm); }, hm);
  tg::test::check_gradient(
      [&](const values& v) { return s.run(tg::fetch(loss, by_w), x = xs, h0 = hm, w = v, u = um, b = bm); }, wm);
  tg::test::check_gradient(
      [&](const values& v) { return s.run(tg::fetch(loss, by_u), x = xs, h0 = hm, w = wm, u = v, b = bm); }, um);
  tg::test::check_gradient(
      [&](const values& v) { return s.run(tg::fetch(loss, by_b), x = xs, h0 = hm, w = wm, u = um, b = v); }, bm);
}

TEST_CASE("gradients of gradients flow through loops") {
  const auto [last] =
      tg::scan<tg::dyn, true>(tg::carry(h0), tg::over(x), [](auto h, auto e) { return tg::next(cell(h, e)); });
  const auto first = tg::sum(last * last * last);
  const auto inner = tg::gradient(first, u);
  const auto loss = tg::sum(inner * inner);
  const auto by_u = tg::gradient(loss, u);
  const auto by_x = tg::gradient(loss, x);
  const auto program = tg::compile([=] { return tg::outputs(loss, by_u, by_x); });
  tg::session s(program);
  const auto wm = numbers({in, units}, 1), um = numbers({units, units}, 2), bm = numbers({units}, 3),
             hm = numbers({batch, units}, 4), xs = numbers({steps, batch, in}, 5);
  using values = tg::tensor<double>;
  tg::test::check_gradient(
      [&](const values& v) { return s.run(tg::fetch(loss, by_u), x = xs, h0 = hm, w = wm, u = v, b = bm); }, um);
  tg::test::check_gradient(
      [&](const values& v) { return s.run(tg::fetch(loss, by_x), x = v, h0 = hm, w = wm, u = um, b = bm); }, xs);
}

constexpr auto y = tg::placeholder<"y", double, 3, 2, 2>();
constexpr auto c0 = tg::placeholder<"c0", double, 2>();
constexpr auto scale = tg::placeholder<"scale", double, 2>();

TEST_CASE("loops stand in loops, with gradients") {
  // For each row of y: a loop over its rows, which reads what the outer loop carries.
  const auto [last, gathered] = tg::scan(tg::carry(c0), tg::over(y), [](auto c, auto rows) {
    const auto [deep, all] = tg::scan(tg::carry(c), tg::over(rows), [&](auto d, auto e) {
      const auto n = tg::sin(d * scale + e) + c * e;
      return tg::next(n).emit(n * d);
    });
    return tg::next(deep * 0.5).emit(tg::sum(all) * c);
  });
  const auto loss = tg::sum(last * last) + tg::sum(gathered);
  const auto by_c = tg::gradient(loss, c0);
  const auto by_y = tg::gradient(loss, y);
  const auto by_s = tg::gradient(loss, scale);
  const auto program = tg::compile(
      [=, last_ = last, gathered_ = gathered] { return tg::outputs(loss, by_c, by_y, by_s, last_, gathered_); });
  tg::session s(program);
  const auto ys = numbers({3, 2, 2}, 1), cs = numbers({2}, 2), ss = numbers({2}, 3);
  using values = tg::tensor<double>;

  // By plain numbers.
  double c[2] = {cs[0], cs[1]};
  values rows({3, 2});
  for (int t = 0; t < 3; ++t) {
    double d[2] = {c[0], c[1]}, sum = 0;
    for (int k = 0; k < 2; ++k)
      for (int j = 0; j < 2; ++j) {
        const double e = ys(t, k, j), n = std::sin(d[j] * ss[j] + e) + c[j] * e;
        sum += n * d[j];
        d[j] = n;
      }
    for (int j = 0; j < 2; ++j) rows(t, j) = sum * c[j];
    for (int j = 0; j < 2; ++j) c[j] = 0.5 * d[j];
  }
  const auto [l, g] = s.run(tg::fetch(last, gathered), y = ys, c0 = cs, scale = ss);
  check_equal(g, rows);
  for (int j = 0; j < 2; ++j) CHECK(l[j] == Approx(c[j]));

  tg::test::check_gradient([&](const values& v) { return s.run(tg::fetch(loss, by_c), y = ys, c0 = v, scale = ss); },
                           cs);
  tg::test::check_gradient([&](const values& v) { return s.run(tg::fetch(loss, by_y), y = v, c0 = cs, scale = ss); },
                           ys);
  tg::test::check_gradient([&](const values& v) { return s.run(tg::fetch(loss, by_s), y = ys, c0 = cs, scale = v); },
                           ss);
}

TEST_CASE("a loop without sequences runs as often as its type says, one without values maps") {
  const auto [power] = tg::scan<10>(tg::carry(c0), tg::over(), [](auto c) { return tg::next(c * scale); });
  const auto [mapped] =
      tg::scan(tg::carry(), tg::over<1>(y), [](auto e) { return tg::next().emit(tg::sum<0>(e) * scale); });
  const auto by_scale = tg::gradient(power, scale);
  const auto by_y = tg::gradient(tg::sum(mapped * mapped), y);
  const auto program = tg::compile([=, power_ = power, mapped_ = mapped] {
    return tg::outputs(power_, mapped_, by_scale, by_y, tg::sum(mapped_ * mapped_));
  });
  tg::session s(program);
  const auto ys = numbers({3, 2, 2}, 1), cs = numbers({2}, 2), ss = numbers({2}, 3);
  const auto [p, m, g] = s.run(tg::fetch(power, mapped, by_scale), y = ys, c0 = cs, scale = ss);
  for (int j = 0; j < 2; ++j) {
    CHECK(p[j] == Approx(cs[j] * std::pow(ss[j], 10)));
    CHECK(g[j] == Approx(10 * cs[j] * std::pow(ss[j], 9)));
  }
  REQUIRE(m.dims() == tg::shape{2, 2});
  for (int k = 0; k < 2; ++k)
    for (int j = 0; j < 2; ++j)
      CHECK(m(j, k) == Approx((ys(0, k, j) + ys(1, k, j) + ys(2, k, j)) * ss[j]).margin(1e-9));
}

// Bodies made of operations that a seed chooses, beside the same bodies written out.

constexpr auto sequence = tg::placeholder<"sequence", double, 3, 2, 2>();
constexpr auto first_state = tg::placeholder<"first_state", double, 2, 2>();
constexpr auto second_state = tg::placeholder<"second_state", double, 2, 2>();
constexpr auto matrix = tg::placeholder<"matrix", double, 2, 2>();

constexpr unsigned mixed(unsigned seed) {
  seed = (seed ^ 61u) ^ (seed >> 16);
  seed *= 9u;
  seed ^= seed >> 4;
  seed *= 0x27d4eb2du;
  return seed ^ (seed >> 15);
}
template <unsigned Seed, int Depth>
auto random_expression(const auto& a, const auto& c, const auto& e) {
  constexpr unsigned bits = mixed(Seed);
  if constexpr (Depth == 0) {
    if constexpr (bits % 7 < 2)
      return a;
    else if constexpr (bits % 7 < 4)
      return c;
    else if constexpr (bits % 7 < 6)
      return e;
    else
      return matrix;
  } else {
    const auto left = random_expression<2 * Seed + 1, Depth - 1>(a, c, e);
    if constexpr (bits % 8 == 0) {
      return tg::tanh(left);
    } else if constexpr (bits % 8 == 1) {
      return tg::matmul(left, matrix);
    } else if constexpr (bits % 8 == 2) {
      return tg::sin(left) * 0.5;
    } else if constexpr (bits % 8 == 3) {
      return tg::transpose(left);
    } else {
      const auto right = random_expression<2 * Seed + 2, Depth - 1>(a, c, e);
      if constexpr (bits % 8 == 4)
        return left + right;
      else if constexpr (bits % 8 == 5)
        return left * tg::sigmoid(right);
      else if constexpr (bits % 8 == 6)
        return tg::matmul(left, right) * 0.3;
      else
        return left - right * tg::sum<0>(left);
    }
  }
}
template <unsigned Seed>
auto random_body(const auto& a, const auto& c, const auto& e) {
  return tg::next(random_expression<Seed, 3>(a, c, e), tg::tanh(random_expression<Seed + 1000, 2>(a, c, e)))
      .emit(random_expression<Seed + 2000, 3>(a, c, e));
}

/// What a program of a loop finds, and what the same body finds that is written out.
template <unsigned Seed>
void check_random_body() {
  const auto [a, c, found] = tg::scan(tg::carry(first_state, second_state), tg::over(sequence),
                                      [](auto one, auto other, auto e) { return random_body<Seed>(one, other, e); });
  const auto all = tg::sum(tg::sin(a)) + tg::sum(c * matrix) + tg::sum(found * found);
  const auto element = [](auto t) {
    return tg::squeeze<0>(tg::slice<tg::range{decltype(t)::value, decltype(t)::value + 1}>(sequence));
  };
  const auto one = random_body<Seed>(first_state, second_state, element(std::integral_constant<int, 0>{}));
  const auto two =
      random_body<Seed>(std::get<0>(one.next), std::get<1>(one.next), element(std::integral_constant<int, 1>{}));
  const auto three =
      random_body<Seed>(std::get<0>(two.next), std::get<1>(two.next), element(std::integral_constant<int, 2>{}));
  const auto ys = tg::stack<0>(std::get<0>(one.out), std::get<0>(two.out), std::get<0>(three.out));
  const auto written =
      tg::sum(tg::sin(std::get<0>(three.next))) + tg::sum(std::get<1>(three.next) * matrix) + tg::sum(ys * ys);
  const auto differences =
      tg::square(all - written) + tg::sum(tg::square(found - ys)) + tg::sum(tg::square(a - std::get<0>(three.next)));
  // A sum of everything flows into everything; what depends on nothing has no gradient.
  const auto everything = tg::sum(sequence) + tg::sum(first_state) + tg::sum(second_state) + tg::sum(matrix);
  const auto apart = [](const auto& f, const auto& g, const auto& by) {
    return tg::sum(tg::square(tg::gradient(f, by) - tg::gradient(g, by)));
  };
  const auto f = all + everything;
  const auto g = written + everything;
  const auto slopes =
      apart(f, g, sequence) + apart(f, g, first_state) + apart(f, g, second_state) + apart(f, g, matrix);
  const auto program = tg::compile([=] { return tg::outputs(differences, slopes, all); });
  tg::session s(program);
  const auto [d, sl, value] = s.run(tg::fetch(differences, slopes, all), sequence = numbers({3, 2, 2}, Seed),
                                    first_state = numbers({2, 2}, Seed + 1), second_state = numbers({2, 2}, Seed + 2),
                                    matrix = numbers({2, 2}, Seed + 3));
  INFO("seed " << Seed);
  CHECK(d == Approx(0).margin(1e-16));
  CHECK(sl == Approx(0).margin(1e-14));
  CHECK(std::isfinite(value));
}

}  // namespace
