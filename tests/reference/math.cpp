// SPDX-License-Identifier: BSL-1.0
// Examples of docs/reference/math.md.
#include <catch2/catch.hpp>

#include <tagma/tagma.hpp>

#include "support/texts.hpp"

namespace tg = tagma;
using tagma::test::text;

TEST_CASE("reference: arithmetic") {
  // example: add, subtract, multiply, divide, operator+, operator-, operator*, operator/, negate
  constexpr auto a = tg::placeholder<"a", float, 2, 3>();   // [[1, 2, 3], [4, 5, 6]]
  constexpr auto row = tg::placeholder<"row", float, 3>();  // [10, 20, 30]
  auto sum = a + row;                                       // [[11, 22, 33], [14, 25, 36]], as tg::add(a, row)
  auto difference = row - a;                                // [[9, 18, 27], [6, 15, 24]], as tg::subtract(row, a)
  auto doubled = 2.0f * a;                                  // [[2, 4, 6], [8, 10, 12]], as tg::multiply(2.0f, a)
  auto shares = a / row;  // [[0.1, 0.1, 0.1], [0.4, 0.25, 0.2]], as tg::divide(a, row)
  auto negative = -row;   // [-10, -20, -30], as tg::negate(row)
  // end
  // example: maximum, minimum, abs, sign, square, relu
  constexpr auto v = tg::placeholder<"v", float, 4>();  // [-2, -0.5, 0, 3]
  auto positive = tg::relu(v);                          // [0, 0, 0, 3], as tg::maximum(v, 0.0f)
  auto at_most_one = tg::minimum(v, 1.0f);              // [-2, -0.5, 0, 1]
  auto size = tg::abs(v);                               // [2, 0.5, 0, 3]
  auto direction = tg::sign(v);                         // [-1, -1, 0, 1]
  auto squared = tg::square(v);                         // [4, 0.25, 0, 9]
  // end
  // example: floor, ceil, round
  constexpr auto u = tg::placeholder<"u", float, 4>();  // [-1.5, 0.5, 1.5, 2.7]
  auto down = tg::floor(u);                             // [-2, 0, 1, 2]
  auto up = tg::ceil(u);                                // [-1, 1, 2, 3]
  auto nearest = tg::round(u);                          // [-2, 0, 2, 3]: halves go to the even number
  // end
  tg::session session(tg::compile([=] {
    return tg::outputs(sum, difference, doubled, shares, negative, positive, at_most_one, size, direction, squared,
                       down, up, nearest);
  }));
  const tg::tensor<float> as({2, 3}, {1, 2, 3, 4, 5, 6}), rows({3}, {10, 20, 30}), vs({4}, {-2, -0.5f, 0, 3}),
      us({4}, {-1.5f, 0.5f, 1.5f, 2.7f});
  CHECK(text(as) == "[[1, 2, 3], [4, 5, 6]]");
  CHECK(text(rows) == "[10, 20, 30]");
  CHECK(text(vs) == "[-2, -0.5, 0, 3]");
  CHECK(text(us) == "[-1.5, 0.5, 1.5, 2.7]");
  CHECK(text(session.run(sum, a = as, row = rows)) == "[[11, 22, 33], [14, 25, 36]]");
  CHECK(text(session.run(difference, a = as, row = rows)) == "[[9, 18, 27], [6, 15, 24]]");
  CHECK(text(session.run(doubled, a = as)) == "[[2, 4, 6], [8, 10, 12]]");
  CHECK(text(session.run(shares, a = as, row = rows)) == "[[0.1, 0.1, 0.1], [0.4, 0.25, 0.2]]");
  CHECK(text(session.run(negative, row = rows)) == "[-10, -20, -30]");
  CHECK(text(session.run(positive, v = vs)) == "[0, 0, 0, 3]");
  CHECK(text(session.run(at_most_one, v = vs)) == "[-2, -0.5, 0, 1]");
  CHECK(text(session.run(size, v = vs)) == "[2, 0.5, 0, 3]");
  CHECK(text(session.run(direction, v = vs)) == "[-1, -1, 0, 1]");
  CHECK(text(session.run(squared, v = vs)) == "[4, 0.25, 0, 9]");
  CHECK(text(session.run(down, u = us)) == "[-2, 0, 1, 2]");
  CHECK(text(session.run(up, u = us)) == "[-1, 1, 2, 3]");
  CHECK(text(session.run(nearest, u = us)) == "[-2, 0, 2, 3]");
}

TEST_CASE("reference: operators have names") {
  constexpr auto a = tg::placeholder<"a", float, 2>();
  constexpr auto b = tg::placeholder<"b", float, 2>();
  constexpr auto p = tg::placeholder<"p", bool, 2>();
  const auto same = []<class E>(const E&, const E&) { return true; };  // equal types are one node
  CHECK(same(tg::add(a, b), a + b));
  CHECK(same(tg::subtract(a, b), a - b));
  CHECK(same(tg::multiply(a, b), a * b));
  CHECK(same(tg::divide(a, b), a / b));
  CHECK(same(tg::negate(a), -a));
  CHECK(same(tg::less(a, b), a < b));
  CHECK(same(tg::less_equal(a, b), a <= b));
  CHECK(same(tg::greater(a, b), a > b));
  CHECK(same(tg::greater_equal(a, b), a >= b));
  CHECK(same(tg::logical_and(p, p), p && p));
  CHECK(same(tg::logical_or(p, p), p || p));
  CHECK(same(tg::logical_not(p), !p));
  tg::session session(tg::compile([=] { return tg::outputs(tg::maximum(a, b), tg::add(a, 1.0f)); }));
}

TEST_CASE("reference: functions") {
  // example: exp, log, expm1, log1p, sqrt, rsqrt, power
  constexpr auto x = tg::placeholder<"x", float, 3>();  // [0, 1, 4]
  auto growth = tg::exp(x);                             // [1, 2.718, 54.6]
  auto logarithm = tg::log(x);                          // [-inf, 0, 1.386]
  auto near_zero = tg::log1p(tg::expm1(x));             // [0, 1, 4]: log(1 + y) and exp(y) - 1, exact for small y
  auto root = tg::sqrt(x);                              // [0, 1, 2]
  auto inverse = tg::rsqrt(x);                          // [inf, 1, 0.5]
  auto cube = tg::power(x, 3.0f);                       // [0, 1, 64]
  // end
  // example: tanh, sigmoid, softplus, erf, sin, cos
  constexpr auto y = tg::placeholder<"y", float, 3>();  // [-1, 0, 1]
  auto bent = tg::tanh(y);                              // [-0.7616, 0, 0.7616]
  auto share = tg::sigmoid(y);                          // [0.2689, 0.5, 0.7311]
  auto soft = tg::softplus(y);                          // [0.3133, 0.6931, 1.313]
  auto error = tg::erf(y);                              // [-0.8427, 0, 0.8427]
  auto sine = tg::sin(y);                               // [-0.8415, 0, 0.8415], of radians
  auto cosine = tg::cos(y);                             // [0.5403, 1, 0.5403]
  // end
  tg::session session(tg::compile([=] {
    return tg::outputs(growth, logarithm, near_zero, root, inverse, cube, bent, share, soft, error, sine, cosine);
  }));
  const tg::tensor<float> xs({3}, {0, 1, 4}), ys({3}, {-1, 0, 1});
  CHECK(text(xs) == "[0, 1, 4]");
  CHECK(text(ys) == "[-1, 0, 1]");
  CHECK(text(session.run(growth, x = xs)) == "[1, 2.718, 54.6]");
  CHECK(text(session.run(logarithm, x = xs)) == "[-inf, 0, 1.386]");
  CHECK(text(session.run(near_zero, x = xs)) == "[0, 1, 4]");
  CHECK(text(session.run(root, x = xs)) == "[0, 1, 2]");
  CHECK(text(session.run(inverse, x = xs)) == "[inf, 1, 0.5]");
  CHECK(text(session.run(cube, x = xs)) == "[0, 1, 64]");
  CHECK(text(session.run(bent, y = ys)) == "[-0.7616, 0, 0.7616]");
  CHECK(text(session.run(share, y = ys)) == "[0.2689, 0.5, 0.7311]");
  CHECK(text(session.run(soft, y = ys)) == "[0.3133, 0.6931, 1.313]");
  CHECK(text(session.run(error, y = ys)) == "[-0.8427, 0, 0.8427]");
  CHECK(text(session.run(sine, y = ys)) == "[-0.8415, 0, 0.8415]");
  CHECK(text(session.run(cosine, y = ys)) == "[0.5403, 1, 0.5403]");
}

TEST_CASE("reference: comparisons and logic") {
  // example: equal, not_equal, less, less_equal, greater, greater_equal, operator<, operator<=, operator>, operator>=
  constexpr auto n = tg::placeholder<"n", std::int32_t, 3>();  // [1, 2, 3]
  auto is_two = tg::equal(n, 2);                               // [false, true, false]; == of handles is no operation
  auto no_two = tg::not_equal(n, 2);                           // [true, false, true]
  auto below = n < 2;                                          // [true, false, false], as tg::less(n, 2)
  auto at_most = n <= 2;                                       // [true, true, false], as tg::less_equal(n, 2)
  auto above = n > 2;                                          // [false, false, true], as tg::greater(n, 2)
  auto at_least = n >= 2;                                      // [false, true, true], as tg::greater_equal(n, 2)
  // end
  // example: logical_and, logical_or, logical_not, operator&&, operator||, operator!
  constexpr auto p = tg::placeholder<"p", bool, 2>();  // [true, false]
  constexpr auto q = tg::placeholder<"q", bool, 2>();  // [true, true]
  auto both = p && q;                                  // [true, false], as tg::logical_and(p, q)
  auto either = p || q;                                // [true, true], as tg::logical_or(p, q)
  auto neither = !(p || q);                            // [false, false], as tg::logical_not(p || q)
  // end
  // example: select, cast
  constexpr auto x = tg::placeholder<"x", float, 3>();     // [-4, 0.5, 9]
  auto root = tg::select(x > 0.0f, tg::sqrt(x), 0.0f);     // [0, 0.7071, 3]: an element of one or of the other
  auto whole = tg::cast<std::int64_t>(x);                  // [-4, 0, 9]: towards zero
  auto count = tg::sum(tg::cast<std::int32_t>(x > 0.0f));  // 2: true is 1
  // end
  // example: zeros_like, ones_like
  auto nothing = tg::zeros_like(x);  // [0, 0, 0], of the element type and shape of x
  auto ones = tg::ones_like(x);      // [1, 1, 1]
  // end
  tg::session session(tg::compile([=] {
    return tg::outputs(is_two, no_two, below, at_most, above, at_least, both, either, neither, root, whole, count,
                       nothing, ones);
  }));
  const tg::tensor<std::int32_t> ns({3}, {1, 2, 3});
  const tg::tensor<bool> ps({2}, {true, false}), qs({2}, {true, true});
  const tg::tensor<float> xs({3}, {-4, 0.5f, 9});
  CHECK(text(ns) == "[1, 2, 3]");
  CHECK(text(qs) == "[true, true]");
  CHECK(text(xs) == "[-4, 0.5, 9]");
  CHECK(text(session.run(is_two, n = ns)) == "[false, true, false]");
  CHECK(text(session.run(no_two, n = ns)) == "[true, false, true]");
  CHECK(text(session.run(below, n = ns)) == "[true, false, false]");
  CHECK(text(session.run(at_most, n = ns)) == "[true, true, false]");
  CHECK(text(session.run(above, n = ns)) == "[false, false, true]");
  CHECK(text(session.run(at_least, n = ns)) == "[false, true, true]");
  CHECK(text(session.run(both, p = ps, q = qs)) == "[true, false]");
  CHECK(text(session.run(either, p = ps, q = qs)) == "[true, true]");
  CHECK(text(session.run(neither, p = ps, q = qs)) == "[false, false]");
  CHECK(text(session.run(root, x = xs)) == "[0, 0.7071, 3]");
  CHECK(text(session.run(whole, x = xs)) == "[-4, 0, 9]");
  CHECK(session.run(count, x = xs) == 2);
  CHECK(text(session.run(nothing, x = xs)) == "[0, 0, 0]");
  CHECK(text(session.run(ones, x = xs)) == "[1, 1, 1]");
}
