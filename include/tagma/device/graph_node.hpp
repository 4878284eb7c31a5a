// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Nodes of graphs that a process builds.

#include <string>
#include <string_view>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/ir/record.hpp"
#include "tagma/ir/training.hpp"

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

namespace detail {

/// A variable that an optimizer may train. Throws InvalidArgument with TAGMA-E302 for anything else.
[[nodiscard]] TAGMA_COLD inline const ir::record& check_trainable(const ir::record& v) {
  if (v.op->info->is(ir::op_kind::variable) && v.attributes[1] != 0) return v;
  fail(status_code::invalid_argument,
       {"TAGMA-E302 minimize: what is to be trained must be a trainable variable, and is ", v.op->info->name, " '",
        v.name, "'"});
}
/// What belongs to the choice of some variables is called like the first of them, relative to the scopes `prefix`; of
/// several, a number stands for all.
[[nodiscard]] TAGMA_COLD inline std::string name_of_choice(array_view<const ir::record* const> variables,
                                                           std::string_view prefix, std::string_view name) {
  std::vector<std::string_view> names;
  for (const ir::record* const v : variables)
    names.push_back(v->name.starts_with(prefix) ? v->name.substr(prefix.size()) : v->name);
  if (names.size() == 1) return sentence({names[0], "/", name});
  const ir::hash_digits digits = ir::digits_of_names({names.data(), names.size()});
  return sentence({names[0], ".", digits.view(), "/", name});
}

}  // namespace detail

}  // namespace tagma
