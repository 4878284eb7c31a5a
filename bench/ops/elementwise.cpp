// SPDX-License-Identifier: BSL-1.0
// Functions of single elements, for each floating type, with their gradients.
#include "operation.hpp"

namespace ops {

namespace {

template <class T>
void add_all() {
  const std::string of = std::string(".") + type_name<T>;
  constexpr auto& a = matrix_a<T>;
  add_with_gradient("exp" + of, tg::exp(a), a);
  add_with_gradient("log" + of, tg::log(a), positive(a));
  add_with_gradient("log1p" + of, tg::log1p(a), positive(a));
  add_with_gradient("expm1" + of, tg::expm1(a), a);
  add_with_gradient("sqrt" + of, tg::sqrt(a), positive(a));
  add_with_gradient("rsqrt" + of, tg::rsqrt(a), positive(a));
  add_with_gradient("tanh" + of, tg::tanh(a), a);
  add_with_gradient("sigmoid" + of, tg::sigmoid(a), a);
  add_with_gradient("softplus" + of, tg::softplus(a), a);
  add_with_gradient("erf" + of, tg::erf(a), a);
  add_with_gradient("sin" + of, tg::sin(a), a);
  add_with_gradient("cos" + of, tg::cos(a), a);
  add_with_gradient("relu" + of, tg::relu(a), a);
  add_with_gradient("gelu" + of, tg::gelu(a), a);
  add_with_gradient("silu" + of, tg::silu(a), a);
  add_with_gradient("elu" + of, tg::elu(a), a);
  add("floor" + of, tg::floor(a), a);
  add("round" + of, tg::round(a), a);
}

}  // namespace

void add_elementwise() {
  add_all<float>();
  add_all<double>();
  add_all<tg::float16>();
  add_all<tg::bfloat16>();
}

}  // namespace ops
