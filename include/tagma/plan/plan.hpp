// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The finished plan of one set of fetches: plain tables that a session walks.

#include "tagma/base/config.hpp"
#include "tagma/ir/op.hpp"
#include "tagma/place/device_entry.hpp"
#include "tagma/place/reason.hpp"
#include "tagma/tensor/size.hpp"

namespace tagma::plan {

using ir::attribute;
using ir::node_id;

/// Where the bytes of a node live.
enum class storage_kind : std::uint8_t { none, arena, feed, variable, literal, constant, resource, row };

/// One node that a run needs; a node of which only the extents are needed has no storage.
struct plan_node {
  const ir::op_info* op = nullptr;
  tensor_spec spec;
  std::int32_t first_input = 0;
  std::int32_t first_attribute = 0;
  std::int32_t source = 0;  ///< its position in the graph of the program
  std::int16_t inputs = 0;
  std::int16_t attribute_count = 0;
  storage_kind storage = storage_kind::none;
  std::int32_t slot = 0;  ///< which arena block, variable, resource, literal, feed or row; of a constant, its node
  std::string_view name;
  std::string_view suffix;
  std::int32_t value = -1;    ///< the number of the run-time value that it takes, if it takes one
  std::int16_t controls = 0;  ///< nodes it waits for, listed behind its inputs
  std::int32_t step = -1;     ///< the step that computes it, if any does
  std::int16_t device = 0;    ///< where its bytes are: a position in the devices of the program

  [[nodiscard]] constexpr bool is_in(storage_kind s) const { return storage == s; }
  // By a function, since clang takes as long to read an assignment of an enumeration as ten calls.
  constexpr void put(storage_kind s, std::int32_t at) {
    storage = s;
    slot = at;
  }
};

/// One kernel call. Its operands are the inputs of `node`, or of a fused loop, the tensors that the loop reads. Where a
/// kernel goes on with a loop over its result, they are the inputs of `before` and what else the loop reads.
struct plan_step {
  node_id node = 0;
  std::int32_t first_operand = 0;
  std::int16_t operands = 0;
  bool fused = false;
  node_id before = ir::no_node;  ///< the node whose kernel the loop goes on from
  std::int16_t outputs = 0;  ///< of a node with several: they stand behind the operands, `no_node` where nobody reads

  /// The node that has the attributes of the call, and most of its work.
  [[nodiscard]] constexpr node_id main_node() const { return before == ir::no_node ? node : before; }
};

/// The node whose operation infers the extents of node `n`: of an output, the one that has it.
template <class Nodes, class Inputs>
[[nodiscard]] constexpr const plan_node& inferring(const Nodes& nodes, const Inputs& inputs, const plan_node& n) {
  return n.op->is(ir::op_kind::output) ? nodes[inputs[n.first_input]] : n;
}
/// Which of the results of that operation node `n` is.
template <class Attributes>
[[nodiscard]] constexpr int inferred_output(const Attributes& attributes, const plan_node& n) {
  return n.op->is(ir::op_kind::output) ? static_cast<int>(attributes[n.first_attribute]) : 0;
}

/// A block of the arena of a device: as large as the node that defines it, alive from the step that writes it to the
/// last that reads.
struct plan_block {
  node_id node = 0;
  std::int32_t first = 0;
  std::int32_t last = 0;
  std::int16_t device = 0;
  /// Of a block of rows: the node itself, there are two; the head of a loop, there is one more than iterations.
  node_id rows = ir::no_node;
};

/// Bytes of a block.
/// @param dims the extents of a node
/// @param bytes the bytes of a node
template <class Dims, class Bytes>
[[nodiscard]] constexpr std::int64_t bytes_of_block(const plan_block& b, const Dims& dims, const Bytes& bytes) {
  const std::int64_t one = bytes(b.node);
  if (b.rows == ir::no_node) return one;
  const extent count = b.rows == b.node ? 2 : dims(b.rows)[0] + 1;
  return one > 0 && count > max_bytes / one ? max_bytes : one * count;
}

/// What tells how often a loop is done.
enum class loop_end : std::uint8_t {
  counted,    ///< extents
  by_number,  ///< an element, before the first iteration: an integer, or a bool for once or never
  by_test,    ///< a carried bool, before each iteration; an extent of 0 sets no limit
};
/// A loop of a plan: its steps are done once in each iteration.
struct plan_loop {
  std::int32_t first = 0;
  std::int32_t end = 0;      ///< behind the last
  std::int16_t parent = -1;  ///< the loop around it
  node_id head = 0;          ///< the first extent of this node counts the iterations, or is the most that there may be
  bool reversed = false;     ///< from the last element to the first
  loop_end ends = loop_end::counted;
  node_id condition = ir::no_node;  ///< the node whose elements tell how often it is done
};

/// Which row of a block a node has in iteration n of T, counted from 0 in the order in which they are done.
enum class row_rule : std::uint8_t {
  element,      ///< that of the element: n, or T - 1 - n where the loop is reversed
  carried,      ///< one of two
  next,         ///< the other one
  all_carried,  ///< of T + 1: n, or T - n
  all_next,     ///< n + 1, or T - 1 - n
  second,       ///< always the second
  number,       ///< always the first: how often the loop is done
  behind_all,   ///< always row T
  fixed,        ///< always row `at`
  listed,       ///< that of the node whose turn it is: the bases of the next T places are those nodes
  in_list,      ///< such a place
  start,        ///< what is copied to where a carried value begins
};
/// A node that has another address in each iteration of a loop. Behind it, carried values are those of iteration T.
struct plan_row {
  node_id node = 0;
  node_id base = ir::no_node;  ///< the node that has the rows, or
  std::int32_t slot = -1;      ///< the block
  std::int16_t loop = 0;
  row_rule rule = row_rule::element;
  std::int32_t at = 0;
};

/// A variable as the session keeps it.
struct plan_variable {
  std::string_view name;
  std::string_view suffix;
  tensor_spec spec;
  attribute initializer = 0;
  bool trainable = false;
  std::int16_t device = 0;  ///< a position in the devices of the program
  double number = 0;        ///< of a derived initializer
  std::int32_t value = -1;  ///< the number of a carried initializer
  std::int32_t source = 0;
};

/// A resource that a program names.
struct plan_resource {
  const char* key = nullptr;  ///< of its operation
  std::string_view kind;
  std::string_view name;
  ir::attribute_list attributes;
  std::int32_t source = 0;
};

/// A device of a program, and the node that it is there for.
struct plan_device {
  device_spec name;  ///< complete; the first one is the client's
  memory_kind memory = memory_kind::host;
  std::string_view op{};    ///< the first node that is asked for there, empty if none is
  std::string_view node{};  ///< its name
  std::string_view suffix{};
  std::int32_t source = 0;  ///< its position in the graph of the program
};

/// A view of all tables of a plan.
struct plan_view {
  array_view<const plan_node> nodes;
  array_view<const node_id> inputs;
  array_view<const attribute> attributes;
  array_view<const plan_step> steps;
  array_view<const node_id> operands;
  array_view<const plan_block> blocks;
  array_view<const node_id> fetches;
  array_view<const std::int32_t> fetch_steps;  ///< the step before which each fetch is taken: an update overwrites it
  int feeds = 0;
  bool writes_variables = false;
  array_view<const plan_device> devices;
  array_view<const ir::place_reason> reasons;  ///< of the nodes of the program; empty if there is one device
  array_view<const plan_loop> loops{};         ///< in the order of their first steps, a loop before those in its body
  array_view<const plan_row> rows{};
  array_view<const std::int32_t> numbers{};  ///< as of a graph: of a part, the positions of nodes in the whole graph

  /// Calls `use(i)` for node `i`, or for each of the nodes that it is by turns.
  template <class Use>
  TAGMA_COLD constexpr void each_member(node_id i, const Use& use) const {
    const plan_node& n = nodes[i];
    if (!n.is_in(storage_kind::row) || rows[n.slot].rule != row_rule::listed) return use(i);
    for (std::int32_t k = 0; k < rows[n.slot].at; ++k) each_member(rows[n.slot + 1 + k].base, use);
  }
  /// The loop that no other is around and that step `s` is in, or -1.
  template <class Index>
  [[nodiscard]] TAGMA_COLD constexpr std::int32_t outermost_loop(Index s) const {
    for (std::size_t l = 0; l < loops.size(); ++l)
      if (loops[l].parent < 0 && static_cast<Index>(loops[l].first) <= s && s < static_cast<Index>(loops[l].end))
        return static_cast<std::int32_t>(l);
    return -1;
  }
  /// Why a node is where it is. A view is with its bytes, whatever it is asked for.
  [[nodiscard]] constexpr ir::place_reason reason(const plan_node& n) const {
    if (reasons.empty()) return ir::place_reason::only_choice;
    const ir::place_reason r = reasons[n.source];
    return n.op->is(ir::op_kind::view) && r == ir::place_reason::asked ? ir::place_reason::with_input : r;
  }
};

}  // namespace tagma::plan
