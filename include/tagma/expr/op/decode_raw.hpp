// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Texts that are the bytes of elements.

#include "tagma/base/config.hpp"
#include "tagma/expr/expression.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {
namespace op {

/// The bytes of each text of input 0 as elements, along a new last axis. Attributes: their type, how many there are,
/// and whether the least significant byte comes first.
struct decode_raw {
  static constexpr const char* name = "decode_raw";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr bool stops_gradient = true;
  static constexpr void takes(auto& t) { takes_bytes(t, 0, INT64_MAX); }
  static constexpr void takes_bytes(auto& t, extent least, extent most) {
    t.inputs(1), t.rule("TAGMA-E255"), t.needs(t.in(0).type == dtype::string, "takes texts");
    t.axes(0, 0, max_rank - 1), t.element_type("type"), t.attribute("elements", least, most), t.flag("little_endian");
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {static_cast<dtype>(a.attributes[0]), a.in[0].dims};
    a.out.dims.push_back(a.attributes[1]);
    return nullptr;
  }
};
/// As many elements as the first text has.
struct decode_raw_open : decode_raw {
  static constexpr const char* name = "decode_raw_open";
  static constexpr void takes(auto& t) { takes_bytes(t, dyn, dyn); }
  static constexpr bool late = true;
};

}  // namespace op

namespace diagnose {
/// Texts that have room for one more axis, and elements that are bytes.
template <class Texts, class T, extent Count>
inline constexpr bool are_raw = Texts::value.type == dtype::string&& Texts::value.dims.rank < max_rank&& dtype_of<T> !=
                                    dtype::none&& dtype_of<T> != dtype::string &&
                                (Count >= 0 || Count == dyn);
}  // namespace diagnose

/// The bytes of each text as elements: of texts [...] a tensor [..., Count].
/// @tparam T of the elements: one of tensors, a number or bool; of unsigned integers that is `std::uint8_t` alone
/// @tparam Count how many each text has; `dyn`: as many as the first, all others as many
/// @tparam LittleEndian whether the least significant byte of an element comes first
/// Throws InvalidArgument for a text of another size. Raises TAGMA-E255.
template <class T, extent Count = dyn, bool LittleEndian = true, expression E>
[[nodiscard]] constexpr auto decode_raw(const E& texts) {
  static_assert(diagnose::are_raw<typename E::spec_type, T, Count>,
                "TAGMA-E255 decode_raw: makes floats, signed integers, std::uint8_t or bool of texts that have five "
                "axes at most");
  if constexpr (diagnose::are_raw<typename E::spec_type, T, Count>) {
    using tag = std::conditional_t<Count == dyn, op::decode_raw_open, op::decode_raw>;
    return make_operation<tag, ir::pack_attributes(static_cast<ir::attribute>(dtype_of<T>), Count, LittleEndian)>(
        texts);
  }
}

}  // namespace tagma
