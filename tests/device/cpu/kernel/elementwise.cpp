// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/kernel/elementwise.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "support/half_formats.hpp"
#include "support/naive.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using tg::test::distance, tg::test::naive_map, tg::test::scattered;

constexpr tg::extent count = 29;  // whole packs and a rest

TEMPLATE_TEST_CASE("elementary functions", "", float, double) {
  using T = TestType;
  const auto x = tg::placeholder<"x", T, count>();
  const auto p = tg::placeholder<"p", T, count>();  // positive
  const auto all = [=] {
    return tg::outputs(tg::exp(x), tg::log(p), tg::log1p(p), tg::expm1(x), tg::sqrt(p), tg::rsqrt(p), tg::tanh(x), tg::sigmoid(x),
                       tg::softplus(x), tg::erf(x), tg::sin(x), tg::cos(x), tg::power(p, x), tg::relu(x));
  };
  tg::session session(tg::compile(all));
  const auto in = scattered<T>({count}, -6, 6), positive = scattered<T>({count}, 0.01, 20, 2);
  const double close = sizeof(T) == 4 ? 2e-6 : 1e-13;
  const auto handles = all().handles;
  const auto check = [&](const auto& handle, auto f) {
    const auto one = [f](T a, T b) { return f(static_cast<double>(a), static_cast<double>(b)); };
    CHECK(distance(session.run(handle, x = in, p = positive), naive_map<T>({count}, one, in, positive)) < close);
  };
  check(std::get<0>(handles), [](double a, double) { return std::exp(a); });
  check(std::get<1>(handles), [](double, double b) { return std::log(b); });
  check(std::get<2>(handles), [](double, double b) { return std::log1p(b); });
  check(std::get<3>(handles), [](double a, double) { return std::expm1(a); });
  check(std::get<4>(handles), [](double, double b) { return std::sqrt(b); });
  check(std::get<5>(handles), [](double, double b) { return 1 / std::sqrt(b); });
  check(std::get<6>(handles), [](double a, double) { return std::tanh(a); });
  check(std::get<7>(handles), [](double a, double) { return 1 / (1 + std::exp(-a)); });
  check(std::get<8>(handles), [](double a, double) { return std::log1p(std::exp(a)); });
  check(std::get<9>(handles), [](double a, double) { return std::erf(a); });
  check(std::get<10>(handles), [](double a, double) { return std::sin(a); });
  check(std::get<11>(handles), [](double a, double) { return std::cos(a); });
  check(std::get<13>(handles), [](double a, double) { return a > 0 ? a : 0; });
  const auto power = [](T a, T b) { return std::pow(static_cast<double>(b), static_cast<double>(a)); };
  CHECK(distance(session.run(std::get<12>(handles), x = in, p = positive), naive_map<T>({count}, power, in, positive)) < 20 * close);
}

TEMPLATE_TEST_CASE("a cast to 16 bits rounds once, alone and in a loop", "", tg::float16, tg::bfloat16) {
  const auto x = tg::placeholder<"x", double, tg::dyn>();
  const auto alone = tg::cast<TestType>(x);
  const auto in_a_loop = tg::cast<TestType>(-tg::cast<TestType>(-x));
  tg::session session(tg::compile([=] { return tg::outputs(alone, in_a_loop); }));
  const std::vector<double> in = tg::test::doubles_around<TestType>();
  const tg::tensor<double> all({static_cast<tg::extent>(in.size())}, in);
  const auto& format = tg::test::format_of<TestType>;
  for (const auto& out : {session.run(alone, x = all), session.run(in_a_loop, x = all)}) {
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const double expected = format.nearest(in[i]);
      // Kernels flush what is too small for a float.
      if (std::abs(in[i]) < 0x1p-126) continue;
      wrong += !tg::test::same(format.value(out.data()[i].bits), expected);
    }
    CHECK(wrong == 0);
  }
}

TEMPLATE_TEST_CASE("arithmetic and comparison", "", float, std::int32_t, std::uint8_t, std::int64_t) {
  using T = TestType;
  const auto a = tg::placeholder<"a", T, count>();
  const auto c = tg::placeholder<"c", T, count>();
  const auto all = [=] {
    return tg::outputs(a + c, a - c, a * c, a / c, tg::maximum(a, c), tg::minimum(a, c), tg::abs(a), tg::sign(a), tg::square(a),
                       tg::equal(a, c), tg::not_equal(a, c), a < c, a <= c, a > c, a >= c);
  };
  tg::session session(tg::compile(all));
  const bool with_sign = std::is_signed_v<T>;
  const auto p = scattered<T>({count}, with_sign ? -9 : 0, 10), q = scattered<T>({count}, 1, 6, 2);
  const auto handles = all().handles;
  const auto check = [&](const auto& handle, auto f) {
    using out = typename std::remove_cvref_t<decltype(handle)>::element_type;
    CHECK(distance(session.run(handle, a = p, c = q), naive_map<out>({count}, f, p, q)) == 0);
  };
  check(std::get<0>(handles), [](T x, T y) { return static_cast<T>(x + y); });
  check(std::get<1>(handles), [](T x, T y) { return static_cast<T>(x - y); });
  check(std::get<2>(handles), [](T x, T y) { return static_cast<T>(x * y); });
  check(std::get<3>(handles), [](T x, T y) { return static_cast<T>(x / y); });
  check(std::get<4>(handles), [](T x, T y) { return x > y ? x : y; });
  check(std::get<5>(handles), [](T x, T y) { return x < y ? x : y; });
  check(std::get<6>(handles), [](T x, T) { return x < T(0) ? static_cast<T>(-x) : x; });
  check(std::get<7>(handles), [](T x, T) { return static_cast<T>((x > T(0)) - (x < T(0))); });
  check(std::get<8>(handles), [](T x, T) { return static_cast<T>(x * x); });
  check(std::get<9>(handles), [](T x, T y) { return x == y; });
  check(std::get<10>(handles), [](T x, T y) { return x != y; });
  check(std::get<11>(handles), [](T x, T y) { return x < y; });
  check(std::get<12>(handles), [](T x, T y) { return x <= y; });
  check(std::get<13>(handles), [](T x, T y) { return x > y; });
  check(std::get<14>(handles), [](T x, T y) { return x >= y; });
}

TEST_CASE("integers divide towards zero, and by zero to zero") {
  const auto a = tg::placeholder<"a", std::int32_t, 3>();
  const auto c = tg::placeholder<"c", std::int32_t, 3>();
  const auto quotient = a / c;
  const auto opposite = -a;
  tg::session session(tg::compile([=] { return tg::outputs(quotient, opposite); }));
  const tg::tensor<std::int32_t> p(tg::shape{3}, {7, -7, 1}), q(tg::shape{3}, {2, 2, -1}), zero(tg::shape{3}, {1, 0, 1});
  const auto r = session.run(quotient, a = p, c = q);
  CHECK((r[0] == 3 && r[1] == -3 && r[2] == -1));
  CHECK(session.run(opposite, a = p)[1] == 7);
  CHECK(session.run(quotient, a = p, c = zero)[1] == 0);
}

TEST_CASE("rounding, logic and conversions") {
  const auto x = tg::placeholder<"x", float, 9>();
  const auto f = tg::placeholder<"f", bool, 4>();
  const auto g = tg::placeholder<"g", bool, 4>();
  const auto all = [=] {
    return tg::outputs(tg::floor(x), tg::ceil(x), tg::round(x), tg::cast<std::int32_t>(x), tg::cast<bool>(x), tg::cast<double>(x),
                       f && g, f || g, !f, tg::cast<float>(f), tg::cast<tg::bfloat16>(x));
  };
  tg::session session(tg::compile(all));
  const tg::tensor<float> in(tg::shape{9}, {-2.5f, -1.5f, -0.5f, 0, 0.5f, 1.5f, 2.5f, 2.75f, -2.75f});
  const tg::tensor<bool> p(tg::shape{4}, {false, false, true, true}), q(tg::shape{4}, {false, true, false, true});
  const auto h = all().handles;
  for (tg::extent i = 0; i < 9; ++i) {
    CHECK(session.run(std::get<0>(h), x = in)[i] == std::floor(in[i]));
    CHECK(session.run(std::get<1>(h), x = in)[i] == std::ceil(in[i]));
    CHECK(session.run(std::get<2>(h), x = in)[i] == std::nearbyint(in[i]));
    CHECK(session.run(std::get<3>(h), x = in)[i] == static_cast<std::int32_t>(in[i]));
    CHECK(session.run(std::get<4>(h), x = in)[i] == (in[i] != 0));
    CHECK(session.run(std::get<5>(h), x = in)[i] == static_cast<double>(in[i]));
    CHECK(static_cast<float>(session.run(std::get<10>(h), x = in)[i]) == in[i]);
  }
  for (tg::extent i = 0; i < 4; ++i) {
    CHECK(session.run(std::get<6>(h), f = p, g = q)[i] == (p[i] && q[i]));
    CHECK(session.run(std::get<7>(h), f = p, g = q)[i] == (p[i] || q[i]));
    CHECK(session.run(std::get<8>(h), f = p)[i] == !p[i]);
    CHECK(session.run(std::get<9>(h), f = p)[i] == (p[i] ? 1.0f : 0.0f));
  }
}

TEMPLATE_TEST_CASE("integers of 64 bits become floats, rounded once", "", float, double) {
  using T = TestType;
  const auto x = tg::placeholder<"x", std::int64_t, tg::dyn, tg::dyn>();
  const auto all = tg::cast<T>(x);
  tg::session session(tg::compile([=] { return tg::outputs(all); }), {.intra_op_threads = 2});
  for (const tg::extent n : {0, 1, 7, 8, 9, 63, 10007}) {
    tg::tensor<std::int64_t> in({3, n});
    std::uint64_t bits = 1;
    for (auto& v : in.span()) {
      bits = bits * 6364136223846793005u + 1442695040888963407u;
      v = static_cast<std::int64_t>(bits) >> (bits >> 33) % 64;  // of every length
    }
    if (n > 6) {
      const std::int64_t ends[] = {0, -1, INT64_MIN, INT64_MAX, (1 << 24) + 1, (std::int64_t{1} << 53) + 1, -16777219};
      std::copy(std::begin(ends), std::end(ends), in.span().begin());
    }
    const auto out = session.run(all, x = in);
    std::int64_t wrong = 0;
    for (tg::extent i = 0; i < 3 * n; ++i) wrong += out.data()[i] != static_cast<T>(in.data()[i]);
    CAPTURE(n);
    CHECK(wrong == 0);
  }
}

TEMPLATE_TEST_CASE("loops over elements of one byte", "", std::int8_t, std::uint8_t) {
  using T = TestType;
  const auto x = tg::placeholder<"x", T, tg::dyn, tg::dyn>();
  const auto y = tg::placeholder<"y", T, tg::dyn, tg::dyn>();
  const auto less = x < y;
  const auto all = [=] {
    return tg::outputs(less, tg::select(less, x * y, tg::maximum(x, y) - tg::minimum(x, y)), x / y, !less || tg::equal(x, y),
                       tg::cast<T>(less) + x);
  };
  tg::session session(tg::compile(all), {.intra_op_threads = 3});
  const auto h = all().handles;
  for (const tg::extent n : {0, 1, 7, 8, 15, 16, 17, 33, 50021}) {
    const auto number = [](std::int64_t i) { return static_cast<T>(i * 2654435761 >> 7); };
    tg::tensor<T> p({n, 2}), q({n, 2});
    for (std::int64_t i = 0; i < 2 * n; ++i) p.data()[i] = number(i), q.data()[i] = i % 5 == 0 ? p.data()[i] : number(i + 99991);
    const auto is_less = session.run(std::get<0>(h), x = p, y = q);
    const auto chosen = session.run(std::get<1>(h), x = p, y = q);
    const auto quotients = session.run(std::get<2>(h), x = p, y = q);
    const auto logic = session.run(std::get<3>(h), x = p, y = q);
    const auto counted = session.run(std::get<4>(h), x = p, y = q);
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < 2 * n; ++i) {
      const T a = p.data()[i], b = q.data()[i];
      wrong += is_less.data()[i] != (a < b);
      wrong += chosen.data()[i] != static_cast<T>(a < b ? a * b : (a > b ? a - b : b - a));
      wrong += quotients.data()[i] != static_cast<T>(b == 0 ? 0 : a / b);
      wrong += logic.data()[i] != (!(a < b) || a == b);
      wrong += counted.data()[i] != static_cast<T>((a < b) + a);
    }
    CAPTURE(n);
    CHECK(wrong == 0);
  }
}

TEMPLATE_TEST_CASE("16-bit floats round once", "", tg::float16, tg::bfloat16) {
  using T = TestType;
  const auto a = tg::placeholder<"a", T, count>();
  const auto c = tg::placeholder<"c", T, count>();
  const auto sum = a + c;
  const auto grown = tg::exp(a * c);
  tg::session session(tg::compile([=] { return tg::outputs(sum, grown); }));
  tg::tensor<T> p(tg::shape{count}), q(tg::shape{count});
  for (tg::extent i = 0; i < count; ++i) p[i] = T(static_cast<float>(i) / 9), q[i] = T(0.3f - static_cast<float>(i) / 13);
  const auto s = session.run(sum, a = p, c = q);
  for (tg::extent i = 0; i < count; ++i)
    CHECK(static_cast<float>(s[i]) == static_cast<float>(T(static_cast<float>(p[i]) + static_cast<float>(q[i]))));
  const auto e = session.run(grown, a = p, c = q);
  for (tg::extent i = 0; i < count; ++i) {
    const double expected = std::exp(static_cast<double>(static_cast<float>(p[i])) * static_cast<double>(static_cast<float>(q[i])));
    CHECK(static_cast<double>(static_cast<float>(e[i])) == Approx(expected).epsilon(0.05).margin(0.01));
  }
}

}  // namespace
