// SPDX-License-Identifier: BSL-1.0
// Models in a header, as the files of a program share them: at namespace scope, in a function, in a class, in templates.
#pragma once

#include <tagma/tagma.hpp>

namespace shared {

namespace tg = tagma;

// At namespace scope. Each part is initialised by whichever file comes first.
inline constexpr auto x = tg::placeholder<"x", float, tg::dyn, 3>();
inline constexpr auto y = tg::placeholder<"y", float, tg::dyn, 2>();
inline constexpr auto hidden = tg::dense<"hidden", 4>(x, tg::tanh);
inline const auto guess = 2.0f * tg::dense<"guess", 2>(hidden) + 0.25f;
inline const auto start = tg::variable<"start", float, 2>(1.5f);
inline const auto loss = tg::mean(tg::square(guess * start - y)) + 3.0f * tg::l2_loss(start);
inline const auto train = tg::minimize(loss, tg::momentum{.learning_rate = 0.125, .momentum = 0.75});
inline const auto program = tg::compile([] { return tg::outputs(loss, guess, train); });
using program_type = std::remove_const_t<decltype(program)>;
using session = tg::session<program_type>;

// In a function.
inline float from_function(float at) {
  static const auto v = tg::placeholder<"v", float>();
  static const auto scaled = 2.0f * v + 1.0f;
  static tg::session s(tg::compile([] { return tg::outputs(scaled); }));
  return s.run(scaled, v = at);
}

// In a class.
struct line {
  static inline const auto v = tg::placeholder<"v", float>();
  static inline const auto value = 4.0f * v - 2.0f;
  static inline const auto program = tg::compile([] { return tg::outputs(value); });
};

// In a function template and in a class template.
template <int Factor>
float from_template(float at) {
  const auto v = tg::placeholder<"v", float>();
  const auto scaled = static_cast<float>(Factor) * v + 0.5f;
  tg::session s(tg::compile([=] { return tg::outputs(scaled); }));
  return s.run(scaled, v = at);
}
template <class T>
struct power {
  static constexpr auto v = tg::placeholder<"v", T>();
  static inline const auto value = T{3} * v * v;
  static auto make() {
    return tg::compile([] { return tg::outputs(value); });
  }
};

}  // namespace shared

/// Each of the files checks all models by itself, then trains the session that all share.
#define TAGMA_EVERY_PART(DO) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8)
#define TAGMA_DECLARE_PART(N) void part##N(shared::session& s);
TAGMA_EVERY_PART(TAGMA_DECLARE_PART)
