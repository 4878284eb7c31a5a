// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// One node of an expression as the compiler sees it: a constexpr value that points at the records of its operands.

#include "tagma/ir/op.hpp"
#include "tagma/place/device_function.hpp"

namespace tagma::ir {

struct record;

/// How a scope answers where a node shall run.
enum class scope_kind : std::uint8_t {
  request,   ///< fills what the scopes inside leave open
  function,  ///< replaces what the scopes inside ask for
  clear,     ///< scopes outside are not asked
  colocate,  ///< the same, for this node alone
};

/// One device scope. The scope of a record is the outermost; `inner` leads inwards.
struct scope {
  scope_kind kind = scope_kind::request;
  device_spec spec;
  device_function function = nullptr;
  array_view<const record* const> outside;  ///< operands at which the scope ends
  const scope* inner = nullptr;
};

/// What an expression type stands for. Records have static storage, so that a graph of them is walked by an ordinary
/// constexpr function instead of by recursive templates.
struct record {
  const op_rules* op = nullptr;
  std::uint64_t hash = 0;  ///< structural; equal in every process
  tensor_spec spec;
  array_view<const record* const> inputs;
  array_view<const record* const> controls;  ///< control dependencies: run before this node
  attribute_list attributes;
  std::string_view name;                        ///< of a placeholder or variable
  const void* key = nullptr;                    ///< names a run-time value that the program carries
  const scope* scopes = nullptr;                ///< device scopes that begin at this node, the outermost
  const record* bare = nullptr;                 ///< the same node without them
  array_view<const record* const> colocated{};  ///< runs on the devices of these nodes
};

}  // namespace tagma::ir
