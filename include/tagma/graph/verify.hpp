// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Whether tables that somebody else made are a finished graph: nothing is believed that can be worked out.

#include <string>

#include "tagma/base/config.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/expr/name.hpp"
#include "tagma/graph/flat_graph.hpp"
#include "tagma/graph/pass/branches.hpp"
#include "tagma/ir/arguments.hpp"

namespace tagma::ir {

/// The operations of whoever verifies.
using operation_faces = array_view<const operation_face* const>;

namespace detail {

/// Reads a graph node by node. Every sentence begins with the number of the node.
class graph_verifier {
 public:
  /// @param values how many numbers are written in place
  graph_verifier(const graph_view& g, operation_faces faces, std::size_t values);

  void run();

 private:
  [[noreturn]] void refuse(std::initializer_list<text_part> parts) const;
  [[nodiscard]] const operation_face& face_of(const node& n) const;
  /// A list of nodes in front of this one.
  void check_list(array_view<const node_id> list, const char* what) const;

  void check_node(const node& n);
  /// What the operation that a result is of makes of it.
  [[nodiscard]] tensor_spec result_of(const node& n) const;
  /// What inputs are beside their types.
  void check_roles(const op_info& op, const input_roles& roles) const;
  /// A name is of one thing.
  void check_names();

  /// What `write_loops` writes.
  struct found_loops {
    loop_info loops[most_loops];
    int loop_count = 0;
    heap_array<back_edge> back_edges;
    int back_edge_count = 0;
    std::int16_t* loop_of = nullptr;
    array_view<const node_id> roots;
  };
  /// Builds the graph once more, which tells which nodes are in which loop, and compares.
  void check_loops();
  /// What a body must not do, and what it hands on, which its steps have written.
  void check_body(const graph& g, const loop_table& loops) const;
  /// True for what is gathered: steps write it, or it is what a loop, or one inside of it, carries or makes.
  [[nodiscard]] static bool has_memory(const op_info& of);
  [[nodiscard]] bool is_carried(node_id i) const;

  const graph_view& g_;
  operation_faces faces_;
  std::size_t values_;
  node_id at_ = 0;
};

}  // namespace detail

/// Checks the tables of a finished graph. Afterwards every position in them is one of a table, nodes stand behind what
/// they read, and every operation takes what it is given and makes what is said.
/// @param values how many numbers the program has beside it
/// Throws InvalidArgument with the number of the node.
void verify(const graph_view& g, operation_faces faces, std::size_t values);

}  // namespace tagma::ir

#ifndef TAGMA_COMPILED
#include "tagma/graph/verify.ipp"
#endif
