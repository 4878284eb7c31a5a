// SPDX-License-Identifier: BSL-1.0
// Gradients, updates and outputs of 36 variables, one by one: functions of many handles, whose symbols must not grow.
#include "tagma/tagma.hpp"

#include <utility>

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 16>();

template <int I>
constexpr auto part =
    tg::variable<tg::fixed_string<4>({'w', static_cast<char>('a' + I / 6), static_cast<char>('a' + I % 6), 0}), float,
                 16>(tg::zeros);

template <int... I>
int train(std::integer_sequence<int, I...>) {
  auto loss = tg::mean(tg::square((x + ... + part<I>)));
  auto update = tg::apply_gradients(tg::adam{}, tg::compute_gradients(loss, part<I>...));
  auto shrink = tg::group(tg::assign(part<I>, part<I> * 0.5f)...);
  auto program = tg::compile([=] { return tg::outputs(loss, update, shrink, tg::gradient(loss, part<I>)...); });
  tg::session session(program);
  session.run(update, x = tg::tensor<float>({2, 16}));
  return 0;
}

int main() { return train(std::make_integer_sequence<int, 36>{}); }
