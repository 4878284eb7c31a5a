// SPDX-License-Identifier: BSL-1.0
// What looks at whole rows: softmax, normalisation, losses, attention, with their gradients.
#include "operation.hpp"

namespace ops {

namespace {

template <class T>
void add_all() {
  const std::string of = std::string(".") + type_name<T>;
  constexpr auto& a = matrix_a<T>;
  add_with_gradient("softmax" + of, tg::softmax(a), a);
  add_with_gradient("log_softmax" + of, tg::log_softmax(a), a);
  constexpr auto wide = tg::placeholder<"wide", T, any, 768>();
  constexpr auto scale = tg::placeholder<"scale", T, 768>();
  constexpr auto shift = tg::placeholder<"shift", T, 768>();
  add_with_gradient("layer_norm" + of, tg::layer_norm(wide, scale, shift, 1e-5), wide, scale, shift);
  constexpr auto channels = tg::placeholder<"channels", T, any, 256>();
  constexpr auto channel_scale = tg::placeholder<"channel_scale", T, 256>();
  constexpr auto channel_shift = tg::placeholder<"channel_shift", T, 256>();
  add_with_gradient("batch_norm" + of, tg::batch_norm(channels, channel_scale, channel_shift, 1e-5).output, channels,
                    channel_scale, channel_shift);
}

}  // namespace

void add_rows() {
  add_all<float>();
  add_all<double>();
  add_all<tg::float16>();
  add_all<tg::bfloat16>();
  constexpr auto& a = matrix_a<float>;
  add_with_gradient("cross_entropy.float32", tg::sparse_softmax_cross_entropy(a, indices), a, columns(indices));
  constexpr auto q = tg::placeholder<"q", float, any, any, 128>();
  constexpr auto k = tg::placeholder<"k", float, any, any, 128>();
  constexpr auto v = tg::placeholder<"v", float, any, any, 128>();
  add_with_gradient("attention.float32", tg::scaled_dot_product_attention<4>(q, k, v), q, k, v);
}

}  // namespace ops
