// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/matmul_integer.hpp"

#include <catch2/catch.hpp>
#include <cstdint>

#include "tagma/fake_gpu.hpp"
#include "tagma/quantized.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using std::int8_t, std::uint8_t, std::int32_t;

constexpr auto a = tg::placeholder<"a", int8_t, 2, 3>();
constexpr auto b = tg::placeholder<"b", int8_t, 3, 4>();
constexpr auto x = tg::placeholder<"x", uint8_t, tg::dyn, 3>();
constexpr auto batch = tg::placeholder<"batch", uint8_t, 5, 1, 3, 2>();

template <bool TA, bool TB, class A, class B>
constexpr tg::tensor_spec product(const A& left, const B& right) {
  return decltype(tg::matmul_integer<TA, TB>(left, right))::spec;
}
static_assert(product<false, false>(a, b) == tg::tensor_spec{tg::dtype::int32, {2, 4}});
static_assert(product<true, true>(b, a) == tg::tensor_spec{tg::dtype::int32, {4, 2}});
static_assert(product<false, false>(x, b) == tg::tensor_spec{tg::dtype::int32, {tg::dyn, 4}});
static_assert(product<false, false>(batch, a) == tg::tensor_spec{tg::dtype::int32, {5, 1, 3, 3}});
static_assert(!tg::diagnose::are_bytes<tg::spec<int8_t, 2, 2>, tg::spec<std::int16_t, 2, 2>>);
static_assert(tg::diagnose::are_bytes<tg::spec<int8_t, 2, 2>, tg::spec<uint8_t, 2, 2>>);

const tg::tensor<int8_t> as({2, 3}, {-128, 127, 1, 2, -3, 4});
const tg::tensor<int8_t> bs({3, 4}, {-128, 1, 0, 127, 127, -1, 0, 127, 5, 6, 7, 8});
const tg::tensor<uint8_t> xs({1, 3}, {255, 0, 2});

TEST_CASE("products of 8-bit integers of both signs, in int32") {
  const auto ab = tg::matmul_integer(a, b);
  const auto turned = tg::matmul_integer<true, true>(b, a);
  const auto xb = tg::matmul_integer(x, b);
  tg::session session(tg::compile([=] { return tg::outputs(ab, turned, xb); }));
  CHECK(session.run(ab, a = as, b = bs) == tg::tensor<int32_t>({2, 4}, {32518, -249, 7, -119, -617, 29, 28, -95}));
  CHECK(session.run(turned, a = as, b = bs) == tg::tensor<int32_t>({4, 2}, {32518, -617, -249, 29, 7, 28, -119, -95}));
  CHECK(session.run(xb, x = xs, b = bs) == tg::tensor<int32_t>({1, 4}, {-32630, 267, 14, 32401}));
  CHECK(session.run(xb, x = tg::tensor<uint8_t>({0, 3}), b = bs).dims() == tg::shape{0, 4});
}

TEST_CASE("zero points by composition") {
  constexpr int32_t zx = 7, zb = -3;
  const auto wide = [](const auto& e) { return tg::cast<int32_t>(e); };
  const auto sums =
      tg::matmul_integer(x, b) - tg::expand_dims<1>(tg::sum<1>(wide(x))) * zb - tg::sum<0>(wide(b)) * zx + 3 * zx * zb;
  const auto plain = tg::matmul(tg::cast<float>(wide(x) - zx), tg::cast<float>(wide(b) - zb));
  tg::session session(tg::compile([=] { return tg::outputs(sums, plain); }));
  const auto [found, expected] = session.run(tg::fetch(sums, plain), x = xs, b = bs);
  for (tg::extent i = 0; i < 4; ++i) CHECK(static_cast<float>(found[i]) == expected[i]);
}

TEST_CASE("a loop over matrices times one that stays gives their products") {
  constexpr auto many = tg::placeholder<"many", int8_t, tg::dyn, 2, 3>();
  constexpr auto matrix = tg::placeholder<"matrix", uint8_t, 4, 3>();
  const auto [looped] = tg::scan(tg::carry(), tg::over<0>(many), [&](auto one) {
    return tg::next().emit(tg::matmul_integer<false, true>(one, matrix));
  });
  const auto at_once = tg::matmul_integer<false, true>(many, matrix);
  tg::session session(tg::compile([=] { return tg::outputs(looped, at_once); }));
  tg::tensor<int8_t> m({5, 2, 3});
  tg::tensor<uint8_t> w({4, 3});
  for (tg::extent i = 0; i < 30; ++i) m[i] = static_cast<int8_t>(i * 37);
  for (tg::extent i = 0; i < 12; ++i) w[i] = static_cast<uint8_t>(i * 91);
  const auto [found, expected] = session.run(tg::fetch(looped, at_once), many = m, matrix = w);
  CHECK(found == expected);
}

TEST_CASE("products of 8-bit integers on a fake GPU") {
  const auto ab = tg::on<tg::gpu<0>>([](const auto& p, const auto& q) { return tg::matmul_integer(p, q); })(a, b);
  tg::session session(tg::compile([=] { return tg::outputs(ab); }));
  CHECK(session.run(ab, a = as, b = bs) == tg::tensor<int32_t>({2, 4}, {32518, -249, 7, -119, -617, 29, 28, -95}));
}

}  // namespace
