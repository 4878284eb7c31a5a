// SPDX-License-Identifier: BSL-1.0
// Arithmetic, comparison, broadcasting and conversion, for floats and integers.
#include "operation.hpp"

namespace ops {

namespace {

template <class To, class From>
void add_cast() {
  add(std::string("cast_") + type_name<To> + "." + type_name<From>, tg::cast<To>(matrix_a<From>), matrix_a<From>);
}

template <class T>
void add_all() {
  const std::string of = std::string(".") + type_name<T>;
  constexpr auto& a = matrix_a<T>;
  constexpr auto& b = matrix_b<T>;
  constexpr auto& row = vector_of<T>;
  add("add" + of, a + b, a, b);
  add("multiply" + of, a * b, a, b);
  add("maximum" + of, tg::maximum(a, b), a, b);
  add("add_row" + of, a + row, a, row);
  constexpr auto column = tg::placeholder<"column", T, any, 1>();
  add("add_column" + of, a + column, a, column);
  add("abs" + of, tg::abs(a), a);
  add("square" + of, tg::square(a), a);
  add("less" + of, a < b, a, b);
  add("select" + of, tg::select(a < b, a, b), a, b);
  if constexpr (!std::is_same_v<T, float>) add_cast<float, T>(), add_cast<T, float>();
  if constexpr (std::is_floating_point_v<tg::device::compute_t<T>>) {
    add("divide" + of, a / b, a, positive(b));
    add("power" + of, tg::power(a, b), positive(a), b);
  }
}

}  // namespace

void add_mixed() {
  add_all<float>();
  add_all<double>();
  add_all<tg::float16>();
  add_all<tg::bfloat16>();
  add_all<std::int64_t>();
  add_all<std::int32_t>();
  add_all<std::int8_t>();
}

}  // namespace ops
