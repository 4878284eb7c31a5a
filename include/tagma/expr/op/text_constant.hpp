// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Texts that the compiler knows.

#include <array>
#include <bit>

#include "tagma/base/config.hpp"
#include "tagma/base/fixed_string.hpp"
#include "tagma/expr/expression.hpp"

namespace tagma {
namespace op {

/// A text. Attribute 0 is how long it is, behind it are its characters, eight a word, as they are in memory.
struct text_constant {
  static constexpr const char* name = "text_constant";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr bool stops_gradient = true;
  static constexpr void takes(auto& t) {
    constexpr extent word = sizeof(ir::attribute);
    t.inputs(0);
    const extent size = t.attribute("length", 0, word * (t.rest() > 1 ? t.rest() - 1 : 0));
    for (extent i = 0; i < size; i += word) t.attribute("characters", INT64_MIN, INT64_MAX);
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {dtype::string, {}};
    return nullptr;
  }
};

}  // namespace op

namespace detail {

template <fixed_string Text>
inline constexpr auto text_attributes = [] {
  constexpr std::size_t size = Text.view().size(), word = sizeof(ir::attribute);
  ir::attributes<1 + (size + word - 1) / word> a;
  a.values[0] = static_cast<ir::attribute>(size);
  for (std::size_t i = 0; i < size; i += word) {
    std::array<char, word> part{};
    for (std::size_t c = 0; c < word && i + c < size; ++c) part[c] = Text.text[i + c];
    a.values[1 + i / word] = std::bit_cast<ir::attribute>(part);
  }
  return a;
}();

}  // namespace detail

/// A scalar text that is part of the program, as an expression: the value of a field that is missing, or what is
/// enqueued.
///
///     auto [age, name] = tg::decode_csv(line, 0.0f, tg::text_constant<"nobody">);
template <fixed_string Text>
inline constexpr auto text_constant = make_operation<op::text_constant, detail::text_attributes<Text>>();

}  // namespace tagma
