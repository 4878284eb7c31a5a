// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/windows.hpp"

#include <catch2/catch.hpp>

namespace {

namespace op = tagma::op;
using namespace tagma::device;
using tagma::extent, tagma::shape;

/// An axis with its windows as an operation places them.
conv_axis axis_of(extent in, extent size, int stride, int dilation, tagma::window_padding padding) {
  const std::int64_t attributes[] = {op::window_plane::pack_steps(stride, dilation),
                                     op::window_plane::pack_padding(padding)};
  const op::window_plane plane(attributes, size, size);
  return {plane.rows, in, plane.rows.positions(in)};
}

/// Compares what is worked out with what is seen one by one.
void check_axis(const conv_axis& a) {
  INFO(a.in << " by " << a.size << ", stride " << a.stride << ", dilation " << a.dilation << ", before " << a.before);
  const auto inside = [&](std::int64_t o, std::int64_t w) { return a.seen(o, w) >= 0 && a.seen(o, w) < a.in; };
  std::int64_t wrong = 0;
  for (std::int64_t o = 0; o < a.out; ++o) {
    std::int64_t first = -1, last = -1;
    a.visible(o, first, last);
    for (std::int64_t w = 0; w < a.size; ++w) wrong += inside(o, w) != (first <= w && w < last);
  }
  for (std::int64_t i = 0; i < a.in; ++i) {
    std::int64_t first = -1, last = -1;
    a.covering(i, first, last);
    for (std::int64_t w = 0; w < a.size; ++w) wrong += a.seeing(i, w) >= a.out || a.seeing(i, w) < -1;
    wrong += first < 0 || last > a.out || first > last;
    for (std::int64_t o = 0; o < a.out; ++o) {
      bool sees = false;
      for (std::int64_t w = 0; w < a.size; ++w) {
        sees = sees || a.seen(o, w) == i;
        wrong += (a.seeing(i, w) == o) != (a.seen(o, w) == i);
      }
      if (a.dilation == 1) wrong += sees != (first <= o && o < last);
    }
  }
  wrong += a.out > 0 && a.seen(a.out - 1, a.size - 1) >= a.in + a.after;
  CHECK(wrong == 0);
}

TEST_CASE("what windows see, and which windows see an element") {
  for (const extent in : {1, 2, 5, 8})
    for (const extent size : {1, 2, 3, 5})
      for (const int stride : {1, 2, 3, 7})
        for (const int dilation : {1, 2, 3}) {
          check_axis(axis_of(in, size, stride, dilation, tagma::same_padding));
          check_axis(axis_of(in, size, stride, dilation, tagma::window_padding(2, 1)));
          if ((size - 1) * dilation < in) check_axis(axis_of(in, size, stride, dilation, tagma::valid_padding));
        }
}

TEST_CASE("a convolution in numbers, from the operands of each role") {
  const std::int64_t attributes[] = {op::window_plane::pack_steps(1, 1),
                                     op::window_plane::pack_padding(tagma::valid_padding), 2};
  const shape x{3, 5, 6, 4}, filter{2, 3, 2, 8}, y{3, 4, 4, 8};
  for (const conv_problem& p : {conv_problem(conv_role::forward, x, filter, y, attributes),
                                conv_problem(conv_role::input_gradient, y, filter, x, attributes),
                                conv_problem(conv_role::filter_gradient, x, y, filter, attributes)}) {
    CHECK(p.input_elements() == x.elements());
    CHECK(p.output_elements() == y.elements());
    CHECK(p.filter_elements() == filter.elements());
    CHECK(p.patch() == 2 * 3 * 2);
    CHECK(p.own_channels() == 2);
    CHECK(p.own_filters() == 4);
  }
}

TEST_CASE("the part of an image that a pooling window sees") {
  const std::int64_t attributes[] = {op::window_plane::pack_steps(2, 1),
                                     op::window_plane::pack_padding(tagma::same_padding), 3, 3};
  const pool_problem p({1, 5, 4, 2}, {1, 3, 2, 2}, attributes);
  CHECK(p.input_elements() == 40);
  CHECK(p.output_elements() == 12);
  const pool_window corner(p, 0, 0), last(p, 2, 1);
  CHECK((corner.top == 0 && corner.bottom == 2 && corner.left == 0 && corner.right == 3));
  CHECK((last.top == 3 && last.bottom == 5 && last.left == 2 && last.right == 4));
  CHECK(last.count() == 4);
  const image_position at(((7 * 5 + 3) * 4 + 1) * 2 + 1, 5, 4, 2);
  CHECK((at.image == 7 && at.row == 3 && at.column == 1 && at.channel == 1));
}

}  // namespace
