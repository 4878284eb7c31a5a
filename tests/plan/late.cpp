// SPDX-License-Identifier: BSL-1.0
#include "tagma/plan/late.hpp"

#include <catch2/catch.hpp>

#include "support/late.hpp"
#include "tagma/filter.hpp"

namespace {

namespace tg = tagma;
using tg::test::late;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 16>();
constexpr auto m = tg::placeholder<"m", bool, tg::dyn>();
constexpr auto v = tg::placeholder<"v", float, tg::dyn>();

TEST_CASE("what a kernel finds is known behind it as far as it can be, and bounded") {
  const tg::plan::late_spec in{{tg::dtype::float32, {7}}, {tg::dtype::float32, {7}}};
  tg::plan::late_spec found, behind;
  const tg::tensor_spec declared{tg::dtype::float32, {tg::dyn}};
  CHECK(tg::plan::infer_late(
            tg::ir::info<tg::test::positive>, 1, [&](int) { return in; }, {}, 0, declared, found) == nullptr);
  CHECK(found.known.dims == tg::shape{tg::dyn});
  CHECK(found.most.dims == tg::shape{7});
  CHECK(found.bounded);
  const tg::plan::late_spec three{{tg::dtype::float32, {3}}, {tg::dtype::float32, {3}}};
  CHECK(tg::plan::infer_late(
            tg::ir::info<tg::op::add>, 2, [&](int k) { return k == 0 ? found : three; }, {}, 0, declared, behind) ==
        nullptr);
  CHECK(behind.known.dims == tg::shape{3});
  CHECK(tg::plan::infer_late(
            tg::ir::info<tg::test::unbounded_positive>, 1, [&](int) { return in; }, {}, 0, declared, behind) ==
        nullptr);
  CHECK_FALSE(behind.bounded);
  CHECK(behind.most.dims == tg::shape{0});
}

TEST_CASE("peak_bytes bounds the memory of runs with late extents") {
  const auto kept = tg::boolean_mask(x, m);
  const auto far = tg::matmul<false, true>(kept, kept);
  const auto out = tg::sum(tg::tanh(far)) + tg::sum(kept);
  const auto program = tg::compile([=] { return tg::outputs(out); });
  constexpr auto bound = static_cast<std::size_t>(decltype(program)::peak_bytes(20));
  CHECK(bound >= 20 * 8 + 20 * 16 * 4 + 20 * 20 * 4);
  tg::session session(program, {.inter_op_threads = 1});
  for (const bool all : {false, true, false}) {
    tg::tensor<bool> mask({20});
    for (tg::extent i = 0; i < 20; ++i) mask.data()[i] = all;
    session.run(out, x = tg::tensor<float>({20, 16}), m = mask);
    CHECK(session.core().arena_bytes() <= bound);
    CHECK(session.core().arena_bytes() + 64 > bound);
  }
}

TEST_CASE("bounds that do not fit each other are none, and memory comes when extents are known") {
  const auto kept = late<tg::test::positive>(v);
  const auto sum = kept + tg::boolean_mask(tg::concat<0>(v, v), tg::concat<0>(v, v) > 1.0f);
  const auto program = tg::compile([=] { return tg::outputs(sum); });
  CHECK(decltype(program)::peak_bytes(20) > 0);
  tg::session session(program);
  CHECK(session.run(sum, v = std::vector<float>{2, 1, 0})[1] == 3);
  CHECK_THROWS_WITH(session.run(sum, v = std::vector<float>{2, 2, 0}), Catch::Contains("float32 [2] and float32 [4]"));
}

}  // namespace
