// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Inputs of a graph.

#include "tagma/expr/expression.hpp"
#include "tagma/expr/name.hpp"
#include "tagma/expr/rules.hpp"
#include "tagma/tensor/size.hpp"

namespace tagma {

namespace diagnose {
/// A tensor can hold this element type.
template <class T>
inline constexpr bool is_element_type = dtype_of<T> != dtype::none;
/// Every extent is a number of elements or `dyn`, and there are at most six.
template <extent... Extents>
inline constexpr bool extents_are_valid = sizeof...(Extents) <= max_rank &&
                                          (true && ... && (Extents >= 0 || Extents == dyn));
/// The tensor has no more bytes than can be addressed, whatever its dynamic extents will be.
template <class T, extent... Extents>
inline constexpr bool is_addressable = [] {
  if constexpr (is_element_type<T> && extents_are_valid<Extents...>)
    return tagma::is_addressable({dtype_of<T>, shape{Extents...}});
  else
    return true;
}();
}  // namespace diagnose

namespace op {
/// A tensor that is fed in every run.
struct placeholder {
  static constexpr const char* name = "placeholder";
  static constexpr ir::op_kind kind = ir::op_kind::placeholder;
  static constexpr void takes(auto& t) { t.inputs(0), t.given(), t.needs(t.out().type != dtype::none, "has elements"); }
  static constexpr const char* infer(ir::infer_args&) { return "placeholder: its type is given, not inferred"; }
};
}  // namespace op

namespace detail {

constexpr std::uint64_t hash_of(std::string_view kind, std::string_view name, const tensor_spec& spec) {
  std::uint64_t h = hash_combine(hash_combine(hash_text(kind), hash_text(name)), static_cast<std::uint64_t>(spec.type));
  for (const extent e : spec.dims.span()) h = hash_combine(h, static_cast<std::uint64_t>(e));
  return h;
}

template <fixed_string Name, class Spec>
struct placeholder_definition {
  static constexpr std::uint64_t hash = hash_of("placeholder", Name.view(), Spec::value);
  static constexpr ir::record value{ir::rules_for<op::placeholder, Spec>, hash, Spec::value, {}, {}, {}, Name.view()};
};

}  // namespace detail

/// An input with a name. Equal name and type are the same node.
/// @tparam Name what errors and feeds call it (TAGMA-E160)
/// @tparam T its element type
/// @tparam Extents its shape; `dyn` where it varies from run to run
template <fixed_string Name, class T, extent... Extents>
[[nodiscard]] constexpr auto placeholder() {
  TAGMA_NEEDS_NAME("placeholder", Name);
  TAGMA_NEEDS_TENSOR("placeholder", T, Extents...);
  if constexpr (diagnose::is_element_type<T> && diagnose::extents_are_valid<Extents...> &&
                diagnose::is_addressable<T, Extents...>) {
    using definition = detail::placeholder_definition<Name, spec<T, Extents...>>;
    using id = typename detail::binding<structural_id<definition::hash>, definition>::id;
    return expr<spec<T, Extents...>, id, false>{};
  }
}

/// With a name that is no template argument: TAGMA-E181.
template <class T = void, extent... Extents>
auto placeholder(detail::meant_as_name) {
  TAGMA_NEEDS_SIZES("placeholder", "<\"name\", float, tagma::dyn, 10>()", T);
}

}  // namespace tagma
