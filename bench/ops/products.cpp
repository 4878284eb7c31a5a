// SPDX-License-Identifier: BSL-1.0
// Matrix products, one and batches of them, with their gradients.
#include "operation.hpp"
#include "tagma/quantized.hpp"

namespace ops {

namespace {

template <class T>
void add_all() {
  const std::string of = std::string(".") + type_name<T>;
  constexpr auto& a = matrix_a<T>;
  constexpr auto& b = matrix_b<T>;
  add_with_gradient("matmul" + of, tg::matmul(a, b), a, b);
  add("matmul_nt" + of, tg::matmul<false, true>(a, b), a, b);
  add("matmul_tn" + of, tg::matmul<true, false>(a, b), a, b);
  add_with_gradient("matmul_batch" + of, tg::matmul(cube_a<T>, cube_b<T>), cube_a<T>, cube_b<T>);
}

}  // namespace

void add_products() {
  add_all<float>();
  add_all<double>();
  add_all<tg::float16>();
  add_all<tg::bfloat16>();
  add("matmul_integer.int8", tg::matmul_integer(matrix_a<std::int8_t>, matrix_b<std::int8_t>), matrix_a<std::int8_t>,
      matrix_b<std::int8_t>);
}

}  // namespace ops
