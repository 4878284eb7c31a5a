// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/kernel/fused.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "support/naive.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using tg::test::distance, tg::test::naive_map, tg::test::scattered;

const auto plus = [](auto a, auto b) { return a + b; };

/// a + b for two static shapes, against loops over indices.
template <class A, class B>
void check_sum(const A& a, const B& b) {
  const auto sum = a + b;
  tg::session session(tg::compile([=] { return tg::outputs(sum); }), {.intra_op_threads = 2});
  const auto p = scattered<float>(A::spec.dims, -4, 4, 1), q = scattered<float>(B::spec.dims, -4, 4, 2);
  const auto dims = decltype(sum)::spec.dims;
  CHECK(distance(session.run(sum, a = p, b = q), naive_map<float>(dims, plus, p, q)) == 0);
}

template <tg::extent... Extents>
constexpr auto left = tg::placeholder<"left", float, Extents...>();
template <tg::extent... Extents>
constexpr auto right = tg::placeholder<"right", float, Extents...>();

TEST_CASE("every kind of broadcast") {
  check_sum(left<13>, right<13>);
  check_sum(left<5, 1>, right<1, 7>);
  check_sum(left<9>, right<6, 9>);
  check_sum(left<2, 1, 11>, right<2, 4, 11>);
  check_sum(left<3, 4, 1>, right<3, 4, 5>);
  check_sum(left<2, 1, 3, 1, 2, 1>, right<1, 2, 1, 3, 2, 9>);
  check_sum(left<1, 1>, right<3, 3>);
  check_sum(left<4, 0, 3>, right<4, 1, 3>);
  check_sum(left<70, 1000>, right<1000>);      // more than one task of rows
  check_sum(left<200, 400>, right<200, 400>);  // more than one task of elements
}

TEST_CASE("dynamic extents and scalars") {
  const auto a = tg::placeholder<"a", double, tg::dyn, 3>();
  const auto b = tg::placeholder<"b", double, 3>();
  const auto c = tg::placeholder<"c", double, tg::dyn, 1>();
  const auto s = tg::placeholder<"s", double>();
  const auto value = tg::select(a > s, a * b, c) - 1.5 * s;
  tg::session session(tg::compile([=] { return tg::outputs(value); }));
  for (const tg::extent n : {0, 1, 2, 3, 7, 8, 9, 100}) {
    const auto p = scattered<double>({n, 3}, -2, 2, 3), r = scattered<double>({n, 1}, -2, 2, 4);
    const auto q = scattered<double>({3}, -2, 2, 5);
    const auto naive = [](double x, double y, double z, double t) { return (x > t ? x * y : z) - 1.5 * t; };
    CHECK(distance(session.run(value, a = p, b = q, c = r, s = 0.25),
                   naive_map<double>({n, 3}, naive, p, q, r, tg::tensor<double>(0.25))) < 1e-15);
  }
}

/// Loops over short rows of every length and over longer ones, next to a row for all, an element for each row and one
/// for all.
TEMPLATE_TEST_CASE("short and longer rows", "", float, double, tg::float16, std::int8_t, std::int64_t) {
  using T = TestType;
  const auto a = tg::placeholder<"a", T, tg::dyn, tg::dyn>();
  const auto row = tg::placeholder<"row", T, tg::dyn>();
  const auto column = tg::placeholder<"column", T, tg::dyn, 1>();
  const auto s = tg::placeholder<"s", T>();
  const auto with_row = a * s + row;
  const auto with_column = column - a;
  const auto with_both = (a + row) * column;
  tg::session session(tg::compile([=] { return tg::outputs(with_row, with_column, with_both); }),
                      {.intra_op_threads = 2});
  for (tg::extent n = 1; n <= 99; n += n < 34 ? 1 : 13)
    for (const tg::extent rows : {1, 3, 4, 33, 500}) {
      const auto p = scattered<T>({rows, n}, -5, 5, 1), q = scattered<T>({n}, -5, 5, 2);
      const auto c = scattered<T>({rows, 1}, -5, 5, 3);
      const tg::tensor<T> one(static_cast<T>(3.0f));
      const auto product = [](T x, T y, T z) { return static_cast<T>(static_cast<T>(x * y) + z); };
      const auto sum = [](T x, T y, T z) { return static_cast<T>(static_cast<T>(x + y) * z); };
      const auto difference = [](T x, T y) { return static_cast<T>(y - x); };
      CAPTURE(n, rows);
      CHECK(distance(session.run(with_row, a = p, row = q, s = one), naive_map<T>({rows, n}, product, p, one, q)) <
            1e-2);
      CHECK(distance(session.run(with_column, a = p, column = c), naive_map<T>({rows, n}, difference, p, c)) < 1e-2);
      CHECK(distance(session.run(with_both, a = p, row = q, column = c), naive_map<T>({rows, n}, sum, p, q, c)) < 1e-2);
    }
}

TEST_CASE("rows in the place of what is read, shared by threads") {
  const auto a = tg::placeholder<"a", float, tg::dyn, tg::dyn>();
  const auto row = tg::placeholder<"row", float, tg::dyn>();
  const auto column = tg::placeholder<"column", float, tg::dyn, 1>();
  const auto between = tg::cumsum<1>(a);
  const auto scaled = between * column + row;
  const auto long_formula = tg::tanh(between - column);
  tg::session session(tg::compile([=] { return tg::outputs(between, scaled, long_formula); }), {.intra_op_threads = 3});
  for (const tg::extent n : {3, 10, 16, 17, 31, 67, 333}) {
    const tg::extent rows = 100000 / n;
    const auto p = scattered<float>({rows, n}, -1, 1, 1), q = scattered<float>({n}, -5, 5, 2);
    const auto c = scattered<float>({rows, 1}, -5, 5, 3);
    const auto sums = session.run(between, a = p);
    const auto first = [](float x, float y, float z) { return x * y + z; };
    const auto second = [](float x, float y) { return std::tanh(static_cast<double>(x - y)); };
    CAPTURE(n);
    CHECK(distance(session.run(scaled, a = p, row = q, column = c), naive_map<float>({rows, n}, first, sums, c, q)) <
          1e-6);
    CHECK(distance(session.run(long_formula, a = p, column = c), naive_map<float>({rows, n}, second, sums, c)) < 1e-6);
  }
}

TEST_CASE("rows that are repeated in part, or not one after the other, are computed one by one") {
  check_sum(left<6, 5, 3>, right<6, 1, 3>);
  check_sum(left<6, 5, 3>, right<5, 1>);
  check_sum(left<2, 3, 4, 5>, right<2, 1, 4, 1>);
}

TEST_CASE("a loop of many operations is split and computes the same") {
  const auto a = tg::placeholder<"a", float, 37>();
  const auto step = [](const auto& e) { return tg::sin(tg::tanh(tg::square(tg::sigmoid(tg::cos(e))))); };
  const auto value = step(step(step(step(a))));
  tg::session session(tg::compile([=] { return tg::outputs(value); }));
  const auto naive = [](float v) {
    double x = static_cast<double>(v);
    for (int i = 0; i < 4; ++i) {
      const double s = 1 / (1 + std::exp(-std::cos(x)));
      x = std::sin(std::tanh(s * s));
    }
    return x;
  };
  const auto p = scattered<float>({37}, -3, 3);
  CHECK(distance(session.run(value, a = p), naive_map<float>({37}, naive, p)) < 1e-5);
}

/// A run that fetches the end alone has one loop, one that fetches more stores what is between.
TEMPLATE_TEST_CASE("where loops are cut changes no bytes", "", float, double) {
  const auto a = tg::placeholder<"a", TestType, 4001>();
  const auto b = tg::placeholder<"b", TestType, 4001>();
  const auto first = a * b;
  const auto second = tg::tanh(tg::square(first + a) - b);
  const auto third = tg::sigmoid(second * a + b) * b;
  const auto last = tg::exp(third - a) * b + a;
  tg::session session(tg::compile([=] { return tg::outputs(first, second, third, last); }));
  const auto p = scattered<TestType>({4001}, -2, 2, 7), q = scattered<TestType>({4001}, -2, 2, 8);
  const auto whole = session.run(last, a = p, b = q);
  const auto [x, y, z, cut] = session.run(tg::fetch(first, second, third, last), a = p, b = q);
  CHECK(std::memcmp(whole.data(), cut.data(), sizeof(TestType) * cut.size()) == 0);
}

TEST_CASE("element types meet in one loop") {
  const auto bytes = tg::placeholder<"bytes", std::uint8_t, 21>();
  const auto halves = tg::placeholder<"halves", tg::float16, 21>();
  const auto flags = tg::placeholder<"flags", bool, 21>();
  const auto value = tg::select(flags, tg::cast<float>(bytes) / 255.0f, tg::cast<float>(halves));
  tg::session session(tg::compile([=] { return tg::outputs(value); }));
  const auto p = scattered<std::uint8_t>({21}, 0, 255.9);
  tg::tensor<tg::float16> q(tg::shape{21});
  tg::tensor<bool> f(tg::shape{21});
  for (tg::extent i = 0; i < 21; ++i) q[i] = tg::float16(static_cast<float>(i) / 8), f[i] = i % 3 == 0;
  const auto naive = [](bool c, std::uint8_t a, tg::float16 b) {
    return c ? static_cast<float>(a) / 255.0f : static_cast<float>(b);
  };
  CHECK(distance(session.run(value, bytes = p, halves = q, flags = f), naive_map<float>({21}, naive, f, p, q)) < 1e-7);
}

/// A loop over neighbours with one operation of one operand.
template <class Op, tg::dtype Type>
using loop_of =
    tg::device::fused_loop<tg::device::on_cpu,
                           tg::device::types<tg::device::load_of<Type, true>, tg::device::load_of<Type, false>>,
                           tg::device::types<tg::device::operation_of<tg::ir::key<Op>, Type, 0, 0, 0>,
                                             tg::device::operation_of<tg::ir::key<tg::op::multiply>, Type, 2, 1, 0>>>;

/// The first `n` elements of the loop, in a tensor with more elements.
template <class Loop, class T>
tg::tensor<T> first_of_loop(const tg::tensor<T>& x, std::int64_t n, bool in_place) {
  T scale = T(2);
  tg::tensor<T> y(x.dims());
  for (std::int64_t i = 0; i < y.dims()[0]; ++i) y[i] = in_place ? x[i] : T(9);
  tg::runtime::operand in[] = {
      {reinterpret_cast<std::byte*>(const_cast<T*>(in_place ? y.data() : x.data())), tg::dtype_of<T>, tg::shape{n}},
      {reinterpret_cast<std::byte*>(&scale), tg::dtype_of<T>, tg::shape{}}};
  const tg::shape declared[] = {tg::shape{n}, tg::shape{}};
  tg::runtime::kernel_args args;
  args.in = in, args.out = {reinterpret_cast<std::byte*>(y.data()), tg::dtype_of<T>, tg::shape{n}};
  args.declared = declared, args.declared_out = tg::shape{n};
  const auto threads = tg::runtime::make_cpu_executor(1);
  const tg::runtime::run_context context{threads.get()};
  const auto state = Loop::entry.prepare(args, context);
  args.state = state.get();
  Loop::entry.run(args, context);
  return y;
}

TEMPLATE_TEST_CASE("what remains of the last pack is computed, and nothing behind it", "", float, double, tg::float16,
                   tg::bfloat16, std::int64_t, std::int32_t, std::int8_t) {
  using T = TestType;
  using loop = loop_of<tg::op::negate, tg::dtype_of<T>>;
  tg::tensor<T> x({80});
  for (std::int64_t i = 0; i < 80; ++i) x[i] = T(static_cast<float>(i % 31 + 1));
  for (std::int64_t n = 0; n <= 70; ++n)
    for (const bool in_place : {false, true}) {
      CAPTURE(n, in_place);
      const auto y = first_of_loop<loop>(x, n, in_place);
      std::int64_t wrong = 0;
      for (std::int64_t i = 0; i < 80; ++i) {
        const float before = in_place ? static_cast<float>(x[i]) : 9.0f;
        wrong += static_cast<float>(y[i]) != (i < n ? -2 * static_cast<float>(x[i]) : before);
      }
      CHECK(wrong == 0);
    }
}

#if defined(__x86_64__) && !(defined(__AVX2__) && defined(__FMA__))

/// Compares the bytes of both bodies of a loop.
template <class Loop, class T>
void check_wide_body(const std::byte* const* in) {
  using body = typename Loop::body;
  for (const std::int64_t n : {0, 16, 32, 304}) {  // whole packs
    tg::tensor<T> eight({320}), sixteen({320});
    for (tg::tensor<T>* t : {&eight, &sixteen})
      for (T& v : t->span()) v = T(9);
    using tg::device::cpu::run_v3, tg::device::cpu::run_v4;
    run_v3<body, std::byte*, const std::byte* const*, std::int64_t>(reinterpret_cast<std::byte*>(eight.data()), in, n);
    run_v4<typename body::wide, std::byte*, const std::byte* const*, std::int64_t>(
        reinterpret_cast<std::byte*>(sixteen.data()), in, n);
    CAPTURE(n);
    CHECK(std::memcmp(eight.data(), sixteen.data(), 320 * sizeof(T)) == 0);
    CHECK(eight[n] == T(9));
  }
}
template <class Op, class T>
void check_wide_loop() {
  const auto x = scattered<T>({320}, -3, 3, 11);
  const T scale = T(0.7f);
  const std::byte* const in[] = {reinterpret_cast<const std::byte*>(x.data()),
                                 reinterpret_cast<const std::byte*>(&scale)};
  check_wide_body<loop_of<Op, tg::dtype_of<T>>, T>(in);
}
/// Powers of positive and negative numbers, by numbers that are integers here and there.
template <class T>
void check_wide_powers() {
  auto x = scattered<T>({320}, -3, 3, 11), y = scattered<T>({320}, -4, 4, 12);
  for (int i = 0; i < 320; i += 3) y[i] = T(static_cast<float>(i % 7 - 3));
  const std::byte* const in[] = {reinterpret_cast<const std::byte*>(x.data()),
                                 reinterpret_cast<const std::byte*>(y.data())};
  using namespace tg::device;
  constexpr tg::dtype type = tg::dtype_of<T>;
  check_wide_body<fused_loop<on_cpu, types<load_of<type, true>, load_of<type, true>>,
                             types<operation_of<tg::ir::key<tg::op::power>, type, 0, 1, 0>>>,
                  T>(in);
}

TEST_CASE("wide loops give the bytes of the others") {
  if (tg::device::cpu::best_level() != tg::device::cpu::level::v4) {
    WARN("skipped: loops for AVX-512, which this machine lacks or the environment forbids");
    return;
  }
  check_wide_loop<tg::op::exp, float>();
  check_wide_loop<tg::op::expm1, float>();
  check_wide_loop<tg::op::tanh, float>();
  check_wide_loop<tg::op::sigmoid, float>();
  check_wide_loop<tg::op::softplus, float>();
  check_wide_loop<tg::op::erf, float>();
  check_wide_loop<tg::op::sin, float>();
  check_wide_loop<tg::op::cos, float>();
  check_wide_loop<tg::op::sqrt, float>();
  check_wide_loop<tg::op::rsqrt, float>();
  check_wide_loop<tg::op::exp, double>();
  check_wide_loop<tg::op::log, double>();
  check_wide_loop<tg::op::log1p, double>();
  check_wide_loop<tg::op::expm1, double>();
  check_wide_loop<tg::op::tanh, double>();
  check_wide_loop<tg::op::sigmoid, double>();
  check_wide_loop<tg::op::softplus, double>();
  check_wide_loop<tg::op::erf, double>();
  check_wide_loop<tg::op::sin, double>();
  check_wide_loop<tg::op::cos, double>();
  check_wide_loop<tg::op::sqrt, double>();
  check_wide_loop<tg::op::rsqrt, double>();
  check_wide_loop<tg::op::tanh, tg::float16>();
  check_wide_loop<tg::op::rsqrt, tg::float16>();
  check_wide_loop<tg::op::exp, tg::bfloat16>();
  check_wide_powers<float>();
  check_wide_powers<double>();
  check_wide_powers<tg::float16>();
  check_wide_powers<tg::bfloat16>();
}
TEST_CASE("loops that compute little have no wide body") {
  using tg::device::cpu::has_wide_body;
  STATIC_REQUIRE(has_wide_body<loop_of<tg::op::tanh, tg::dtype::float32>::body>);
  STATIC_REQUIRE(has_wide_body<loop_of<tg::op::tanh, tg::dtype::float64>::body>);
  STATIC_REQUIRE(has_wide_body<loop_of<tg::op::sqrt, tg::dtype::float32>::body>);
  STATIC_REQUIRE(!has_wide_body<loop_of<tg::op::square, tg::dtype::float32>::body>);
  STATIC_REQUIRE(!has_wide_body<loop_of<tg::op::square, tg::dtype::int64>::body>);
  STATIC_REQUIRE(!has_wide_body<loop_of<tg::op::square, tg::dtype::int8>::body>);
}
#endif

}  // namespace
