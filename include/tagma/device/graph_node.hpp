// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Nodes of graphs that a process builds.

#include <string_view>

#include "tagma/base/config.hpp"
#include "tagma/ir/record.hpp"

namespace tagma {

/// A node of the graph of a `graph_builder`: a tensor, an update, or something that only orders others. Valid while the
/// builder is.
class graph_node {
 public:
  graph_node() = default;

  /// The type and shape of its value, `dyn` where an extent is open; no type where there is no value.
  [[nodiscard]] const tensor_spec& spec() const { return record_->spec; }
  /// The element type.
  [[nodiscard]] dtype type() const { return spec().type; }
  /// The shape; `dyn` where an extent is not known.
  [[nodiscard]] const shape& dims() const { return spec().dims; }
  /// The name of its operation.
  [[nodiscard]] std::string_view operation() const { return record_->op->info->name; }

 private:
  friend class graph_builder;
  graph_node(const ir::record* record, const void* owner) : record_(record), owner_(owner) {}

  const ir::record* record_ = nullptr;
  const void* owner_ = nullptr;
};

/// An output of a program, by name.
struct named_output {
  std::string_view name;
  graph_node node;
};

}  // namespace tagma
