// SPDX-License-Identifier: BSL-1.0
// Sorting, the largest elements, what is not zero, and random numbers.
#include "operation.hpp"
#include "tagma/filter.hpp"

namespace ops {

namespace {

template <class T>
void add_all() {
  const std::string of = std::string(".") + type_name<T>;
  constexpr auto& a = matrix_a<T>;
  add("sort" + of, tg::sort(a), a);
  add("argsort" + of, tg::argsort(a), a);
  add("top_8" + of, tg::top_k_values<8>(a), a);
}

}  // namespace

void add_order() {
  add_all<float>();
  add_all<double>();
  add_all<tg::float16>();
  add_all<std::int64_t>();
  add_all<std::int32_t>();
  constexpr auto& a = matrix_a<float>;
  add("nonzero.float32", tg::nonzero(a > 0.5f), a);
  add("unique.int64", std::get<0>(tg::unique(indices)), rows(indices));
  add("random_uniform.float32", tg::random_uniform_like(a), a);
  add("random_normal.float32", tg::random_normal_like(a), a);
  add("dropout.float32", tg::dropout(a, 0.5f), a);
  add("random_permutation.float32", tg::random_permutation(vector_of<float>), vector_of<float>);
}

}  // namespace ops
