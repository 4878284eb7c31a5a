// SPDX-License-Identifier: BSL-1.0
// Reductions and running sums, along the first, a middle, the last and all axes.
#include "operation.hpp"

namespace ops {

namespace {

template <class T>
void add_all() {
  const std::string of = std::string(".") + type_name<T>;
  constexpr auto& a = matrix_a<T>;
  constexpr auto& c = cube_a<T>;
  add("sum_all" + of, tg::sum(a), a);
  add("sum_0" + of, tg::sum<0>(a), a);
  add("sum_1" + of, tg::sum<1>(a), a);
  add("sum_middle" + of, tg::sum<1>(c), c);
  add("max_all" + of, tg::reduce_max(a), a);
  add("max_0" + of, tg::reduce_max<0>(a), a);
  add("max_1" + of, tg::reduce_max<1>(a), a);
  add("max_middle" + of, tg::reduce_max<1>(c), c);
  add("argmax_0" + of, tg::argmax<0>(a), a);
  add("argmax_1" + of, tg::argmax<1>(a), a);
  add("cumsum_0" + of, tg::cumsum<0>(a), a);
  add("cumsum_1" + of, tg::cumsum<1>(a), a);
  if constexpr (std::is_floating_point_v<tg::device::compute_t<T>>) {
    add("mean_0" + of, tg::mean<0>(a), a);
    add("mean_1" + of, tg::mean<1>(a), a);
    add("variance_1" + of, std::get<1>(tg::moments<1>(a)), a);
  }
}

}  // namespace

void add_reductions() {
  add_all<float>();
  add_all<double>();
  add_all<tg::float16>();
  add_all<tg::bfloat16>();
  add_all<std::int64_t>();
  add_all<std::int32_t>();
  add_with_gradient("max_1.float32", tg::reduce_max<1>(matrix_a<float>), matrix_a<float>);
  add_with_gradient("cumsum_1.float32", tg::cumsum<1>(matrix_a<float>), matrix_a<float>);
  add("product_1.float32", tg::product<1>(matrix_a<float>), matrix_a<float>);
  add("all.float32", tg::all<1>(matrix_a<float> < 2.0f), matrix_a<float>);
  add("any.float32", tg::any<1>(matrix_a<float> > 2.0f), matrix_a<float>);
}

}  // namespace ops
