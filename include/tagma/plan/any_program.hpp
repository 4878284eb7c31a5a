// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A program whatever its type is: its graph is data, and so are the numbers that were written into it.

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/counted.hpp"
#include "tagma/graph/heap_graph.hpp"
#include "tagma/plan/heap_site.hpp"
#include "tagma/plan/program.hpp"

namespace tagma {

namespace detail {

/// What copies of a program share.
struct shared_program final : counted_object {
  ir::heap_graph graph;
  carried values;
  std::vector<std::string> outputs;           ///< their names
  std::map<std::string_view, int> positions;  ///< of the outputs, by their names
  bool soft = false;                          ///< compiled with `soft_placement`
};

/// What an output is called that nobody gave a name: as its placeholder or variable, else by its number.
[[nodiscard]] std::string name_of_output(const ir::graph_view& g, std::size_t i);

}  // namespace detail

/// A program as data: what it computes, and the names of its outputs. Copies share it. A session runs it by kernels
/// that are found by name (<tagma/registry.hpp>), so that a process can run graphs it was not compiled with.
class any_program {
 public:
  /// The graph of a compiled program.
  /// @param names of its outputs, all or none; without, a placeholder or variable has its own name, and any other
  /// output number i is "output_i"
  /// Throws InvalidArgument if there are names for some outputs only, or one name twice.
  template <class Closure>
  explicit any_program(const program<Closure>& of, std::initializer_list<std::string_view> names = {})
      : any_program(program<Closure>::graph::view, of.values(), program<Closure>::graph::soft,
                    {names.begin(), names.size()}) {}
  /// @param soft as `soft_placement`
  any_program(const ir::graph_view& graph, const carried& values, bool soft,
              array_view<const std::string_view> names = {});

  /// The graph.
  [[nodiscard]] ir::graph_view graph() const { return shared_->graph.view(); }
  /// The run-time values written into the graph.
  [[nodiscard]] const carried& values() const { return shared_->values; }
  /// True if devices were asked for by `soft_placement`.
  [[nodiscard]] bool soft() const { return shared_->soft; }
  /// Names of the outputs, in their order.
  [[nodiscard]] const std::vector<std::string>& outputs() const { return shared_->outputs; }
  /// The position of an output, or -1.
  [[nodiscard]] int find_output(std::string_view name) const;

  /// As of a compiled program.
  /// @{
  [[nodiscard]] std::size_t node_count() const { return graph().nodes.size(); }
  [[nodiscard]] std::uint64_t fingerprint() const { return ir::fingerprint(graph()); }
  [[nodiscard]] std::int64_t peak_bytes(extent batch = 1) const;
  /// @}

 private:
  void name_outputs(array_view<const std::string_view> names);

  counted<detail::shared_program> shared_;
};

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/plan/any_program.ipp"
#endif
