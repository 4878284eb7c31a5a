// SPDX-License-Identifier: BSL-1.0
// One of three files with programs that are compiled late, and one early; PART tells which. They have numbers in the
// same places of the same functions, and other expressions around them: for some compilers what tells their places
// apart has one name.
#include "part.hpp"

namespace {

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, 2>();
[[maybe_unused]] constexpr auto mask = tg::placeholder<"mask", float, 2>();

/// What a template gets that all files share, early and late. It comes first: the numbers before it are as many in each
/// file.
float in_template(const tg::tensor<float>& in, auto... when) {
#if PART == 0
  return sum_of(2.0f * x + x, x, in, when...);
#elif PART == 1
  return sum_of(3.0f * x - x, x, in, when...);
#else
  return sum_of(x - 5.0f * x, x, in, when...);
#endif
}

// At namespace scope.
#if PART == 0
const auto value = 2.0f * x + 3.0f;
#elif PART == 1
const auto value = tg::square(5.0f - x);
#else
const auto value = (x - 7.0f) * mask * 0.5f;
#endif
const auto program = tg::compile([] { return tg::outputs(tg::sum(value)); }, tg::late);

float in_function(const tg::tensor<float>& in) {
#if PART == 0
  const auto y = tg::sum(x * 10.0f) - 1.0f;
#elif PART == 1
  const auto y = tg::mean(tg::maximum(x, 2.5f)) * 4.0f;
#else
  const auto y = 100.0f + tg::sum(x) * 3.0f;
#endif
  tg::session session(tg::compile([=] { return tg::outputs(y); }, tg::late));
  return session.run(y, x = in);
}

/// A step of a training whose loss has a number in it.
float trained(const tg::tensor<float>& in) {
  const auto w = tg::variable<"w", float, 2>(1.0f);
#if PART == 0
  const auto loss = tg::sum(w * x) * 2.0f;
#elif PART == 1
  const auto loss = 3.0f * tg::sum(tg::square(w) * x);
#else
  const auto loss = tg::sum(x - w * 5.0f) + 0.0f;
#endif
  const auto train = tg::minimize(loss, tg::sgd{.learning_rate = 0.25});
  tg::session session(tg::compile([=] { return tg::outputs(w, train); }, tg::late));
  session.run(train, x = in);
  return session.run(w)[1];
}

}  // namespace

#define NAME_OF_PART(N) part##N
#define PART_NAMED(N) NAME_OF_PART(N)

answers PART_NAMED(PART)() {
  const tg::tensor<float> in({2}, {1.0f, 4.0f});
  tg::session session(program);
#if PART == 2
  const tg::tensor<float> ones({2}, {2.0f, 6.0f});
  const float at_scope = session.run(tg::sum(value), x = in, mask = ones);
#else
  const float at_scope = session.run(tg::sum(value), x = in);
#endif
  return {at_scope, in_function(in), trained(in), in_template(in), in_template(in, tg::late)};
}
