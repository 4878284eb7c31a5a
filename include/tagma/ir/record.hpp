// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// One node of an expression as the compiler sees it: a constexpr value that points at the records of its operands.

#include "tagma/ir/op.hpp"

namespace tagma::ir {

/// What an expression type stands for. Records have static storage, so that a graph of them is walked by an ordinary
/// constexpr function instead of by recursive templates.
struct record {
  const op_rules* op = nullptr;
  std::uint64_t hash = 0;  ///< structural; equal in every process
  tensor_spec spec;
  array_view<const record* const> inputs;
  array_view<const record* const> controls;  ///< control dependencies: run before this node
  attribute_list attributes;
  std::string_view name;      ///< of a placeholder or variable
  const void* key = nullptr;  ///< names a run-time value that the program carries
  std::string_view device;    ///< the device request, empty if there is none
};

}  // namespace tagma::ir
