// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Things of a container that have no elements, such as queues, as operands of operations.

#include "tagma/base/config.hpp"
#include "tagma/expr/expression.hpp"
#include "tagma/expr/placeholder.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {
namespace op {

/// Base of the tags of resources. The name of an operation is the kind of what it stands for; `runtime::resource_of`
/// makes it.
struct resource {
  static constexpr ir::op_kind kind = ir::op_kind::resource;
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {};
    return nullptr;
  }
};

}  // namespace op

namespace detail {

template <class Op, fixed_string Name, auto Attributes>
struct resource_definition {
  static constexpr std::uint64_t hash = [] {
    std::uint64_t h = hash_of(Op::name, Name.view(), {});
    for (const ir::attribute a : Attributes.list()) h = hash_combine(h, static_cast<std::uint64_t>(a));
    return h;
  }();
  static constexpr auto attributes = Attributes;
  static constexpr ir::record value{ir::rules_for<Op, void>, hash, {}, {}, {}, attributes.list(), Name.view()};
};

}  // namespace detail

/// A resource by its name. Equal operation, name and attributes are the same node; what the container has under this
/// kind and name must have been made with the same attributes, or the session is refused.
/// @tparam Op the tag of the resource, derived from `op::resource`
/// @tparam Name what containers and errors call it (TAGMA-E160)
template <class Op, fixed_string Name, auto Attributes = ir::attributes<0>{}>
[[nodiscard]] constexpr auto make_resource() {
  TAGMA_NEEDS_NAME("resource", Name);
  using definition = detail::resource_definition<Op, Name, Attributes>;
  using id = typename detail::binding<structural_id<definition::hash>, definition>::id;
  return expr<spec<no_value>, id, false>{};
}

}  // namespace tagma
