// SPDX-License-Identifier: BSL-1.0
// Convolutions and pooling, with their gradients. Images are NHWC, filters height, width, channels, results.
#include "operation.hpp"

namespace ops {

namespace {

template <class T>
constexpr auto filter = tg::placeholder<"filter", T, any, any, any, any>();

template <tg::extent Height, class T>
constexpr auto filter_of = tg::placeholder<"filter", T, Height, Height, any, any>();

template <class T>
void add_all() {
  const std::string of = std::string(".") + type_name<T>;
  constexpr auto& x = images<T>;
  add_with_gradient("conv_3" + of, tg::conv2d<tg::conv_options{.padding = tg::same_padding}>(x, filter_of<3, T>), x,
                    filter_of<3, T>);
  add_with_gradient("conv_1" + of, tg::conv2d(x, filter_of<1, T>), x, filter_of<1, T>);
  add_with_gradient("max_pool" + of, tg::max_pool<2>(x), x);
  add_with_gradient("average_pool" + of, tg::average_pool<2>(x), x);
}

}  // namespace

void add_windows() {
  add_all<float>();
  add_all<double>();
  add_all<tg::bfloat16>();
  constexpr auto& x = images<float>;
  constexpr auto five = filter_of<5, float>;
  add_with_gradient("conv_5.float32", tg::conv2d(x, five), x, five);
  constexpr auto three = filter_of<3, float>;
  add_with_gradient("conv_stride.float32",
                    tg::conv2d<tg::conv_options{.stride = 2, .padding = tg::same_padding}>(x, three), x, three);
  constexpr auto many = tg::placeholder<"many", float, any, any, any, 64>();
  constexpr auto each = tg::placeholder<"each", float, 3, 3, 1, 64>();
  add_with_gradient("conv_depthwise.float32",
                    tg::conv2d<tg::conv_options{.padding = tg::same_padding, .groups = 64}>(many, each), many, each);
  add_with_gradient("max_pool_3.float32", tg::max_pool<3, tg::pool_options{.stride = 2}>(x), x);
}

}  // namespace ops
