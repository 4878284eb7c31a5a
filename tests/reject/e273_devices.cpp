// expect: TAGMA-E273
// mentions: 62 devices
// SPDX-License-Identifier: BSL-1.0
#include <utility>

#include "tagma/tagma.hpp"

constexpr auto x = tagma::placeholder<"x", float, 3>();

template <int... I>
auto on_each(std::integer_sequence<int, I...>) {
  return tagma::outputs(tagma::on<tagma::cpu<I>>(tagma::exp(x))...);
}

#ifdef REJECT
constexpr auto devices = std::make_integer_sequence<int, 63>{};
#else
constexpr auto devices = std::make_integer_sequence<int, 3>{};
#endif

int main() { (void)tagma::compile([] { return on_each(devices); }); }
