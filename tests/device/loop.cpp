// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/loop.hpp"

#include <catch2/catch.hpp>
#include <type_traits>
#include <vector>

namespace {

namespace tg = tagma;
using namespace tagma::device;
using tg::dtype, tg::shape;

static_assert(std::is_same_v<load_of<dtype::float16, false>::stored_type, tg::float16>);
static_assert(!load_of<dtype::float16, false>::contiguous && load_of<dtype::int8, true>::contiguous);
static_assert(std::is_same_v<tagma::device::detail::last_of<char, int, double>, double>);

/// The extents of a loop over float that reads tensors of these shapes, by these declared ones.
loop_extents extents_of(const shape& out, const std::vector<shape>& in, const shape& declared_out,
                        const std::vector<shape>& declared) {
  std::vector<operand> operands;
  for (const shape& dims : in) operands.push_back({nullptr, dtype::float32, dims});
  kernel_args args;
  args.in = operands;
  args.out = {nullptr, dtype::float32, out};
  args.declared = declared;
  args.declared_out = declared_out;
  return loop_extents(args);
}

TEST_CASE("tensors of one shape are one row") {
  const auto e = extents_of({2, 3, 5}, {{2, 3, 5}, {2, 3, 5}}, {2, 3, 5}, {{2, 3, 5}, {2, 3, 5}});
  CHECK(e.axes == 0);
  CHECK(e.rows == 1);
  CHECK(e.inner == 30);
}

TEST_CASE("a bias is run along again and again, a column stands still along rows") {
  const auto bias = extents_of({4, 5}, {{4, 5}, {5}}, {tg::dyn, 5}, {{tg::dyn, 5}, {5}});
  CHECK(bias.axes == 1);
  CHECK(bias.rows == 4);
  CHECK(bias.inner == 5);
  CHECK(bias.extents[0] == 4);
  CHECK(bias.strides[0][0] == 20);
  CHECK(bias.strides[1][0] == 0);
  const auto column = extents_of({4, 5}, {{4, 5}, {4, 1}}, {4, 5}, {{4, 5}, {4, 1}});
  CHECK(column.axes == 1);
  CHECK(column.strides[0][0] == 20);
  CHECK(column.strides[1][0] == 4);
}

TEST_CASE("declared shapes decide, not those of the run: plans were made by them") {
  const auto e = extents_of({1, 5}, {{1, 5}, {5}}, {tg::dyn, 5}, {{tg::dyn, 5}, {5}});
  CHECK(e.axes == 1);
  CHECK(e.rows == 1);
  CHECK(e.strides[0][0] == 20);
  CHECK(e.strides[1][0] == 0);
}

TEST_CASE("axes inside and outside of a stretched one") {
  const auto e = extents_of({2, 3, 4}, {{2, 3, 4}, {2, 1, 4}}, {2, 3, 4}, {{2, 3, 4}, {2, 1, 4}});
  CHECK(e.axes == 2);
  CHECK(e.rows == 6);
  CHECK(e.inner == 4);
  CHECK(e.strides[0][0] == 48);
  CHECK(e.strides[0][1] == 16);
  CHECK(e.strides[1][0] == 16);
  CHECK(e.strides[1][1] == 0);
}

}  // namespace
