// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/kernel/random.hpp"

#include <catch2/catch.hpp>

#include "support/kernel_call.hpp"

namespace tg = tagma;

namespace {

template <class Op, class T>
tg::tensor<T> draw(tg::extent n, const tg::test::call_options& options) {
  tg::tensor<T> out(tg::shape{n});
  tg::test::call_with<Op>(options, out, {static_cast<tg::ir::attribute>(tg::dtype_of<T>), n});
  return out;
}

}  // namespace

TEST_CASE("random elements are words of the counter-based generator, the run counting from 1") {
  const auto u = draw<tg::op::random_uniform, float>(11, {.seed = 5, .step = 3, .source = 9});
  for (tg::extent i = 0; i < 11; ++i) {
    const auto block = tg::random_block({5, 9, 4}, static_cast<std::uint64_t>(i / 4));
    CHECK(u[i] == tg::uniform01(block[static_cast<std::size_t>(i % 4)]));
  }
}

TEST_CASE("the bytes of random tensors do not depend on threads or on what else is drawn") {
  const auto alone = draw<tg::op::random_normal, float>(50001, {.threads = 1, .seed = 1});
  CHECK(draw<tg::op::random_normal, float>(50001, {.threads = 4, .seed = 1}) == alone);
  const auto shorter = draw<tg::op::random_normal, float>(20003, {.seed = 1});
  CHECK(tg::view<const float>(shorter) == alone.rows(0, 20003));
  CHECK(!(draw<tg::op::random_normal, float>(50001, {.seed = 2}) == alone));
  CHECK(!(draw<tg::op::random_normal, float>(50001, {.seed = 1, .step = 1}) == alone));
  CHECK(!(draw<tg::op::random_normal, float>(50001, {.seed = 1, .source = 1}) == alone));
}

TEST_CASE("uniform numbers of every floating type lie in [0, 1), truncated normal ones in (-2, 2)") {
  const auto inside = [](const auto& t, double low, double high) {
    bool good = true;
    for (const auto v : t) good = good && static_cast<double>(v) >= low && static_cast<double>(v) < high;
    return good;
  };
  CHECK(inside(draw<tg::op::random_uniform, double>(10000, {}), 0, 1));
  CHECK(inside(draw<tg::op::random_uniform, tg::float16>(10000, {}), 0, 1));
  CHECK(inside(draw<tg::op::random_uniform, tg::bfloat16>(10000, {}), 0, 1));
  CHECK(inside(draw<tg::op::truncated_normal, double>(10000, {}), -2, 2));
  CHECK(inside(draw<tg::op::truncated_normal, float>(10000, {}), -2, 2));
  CHECK(draw<tg::op::random_uniform, float>(0, {}).size() == 0);
}
