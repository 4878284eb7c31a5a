// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of verify.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>

#include "tagma/base/config.hpp"
#include "tagma/base/hash.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/base/heap_room.hpp"
#include "tagma/base/scratch_array.hpp"
#include "tagma/expr/name.hpp"
#include "tagma/expr/op/row.hpp"
#include "tagma/graph/pass/branches.hpp"
#include "tagma/graph/pass/prune.hpp"
#include "tagma/graph/verify.hpp"

namespace tagma::ir {

namespace detail {

/// Reads a graph node by node. Every sentence begins with the number of the node.
class graph_verifier {
 public:
  /// @param values how many numbers are written in place
  TAGMA_COLD graph_verifier(const graph_view& g, operation_faces faces, std::size_t values)
      : g_(g), faces_(faces.size()), values_(values) {
    std::size_t count = 0;
    for (const operation_face* const f : faces) faces_[count++] = f;
    std::sort(faces_.begin(), faces_.end(),
              [](const operation_face* a, const operation_face* b) { return std::less<>()(a->rules, b->rules); });
  }

  TAGMA_COLD void run() {
    if (g_.nodes.size() > static_cast<std::size_t>(INT32_MAX) / 8)
      fail(status_code::invalid_argument, {"a graph cannot have ", g_.nodes.size(), " nodes"});
    for (at_ = 0; at_ < g_.size(); ++at_) check_node(g_[at_]);
    for (const node_id root : g_.roots) {
      if (root < 0 || root >= g_.size())
        fail(status_code::invalid_argument, {"output is node ", root, " of ", g_.size()});
      at_ = root;
      const op_info& op = g_.info(root);
      if (op.is(op_kind::loop) || op.is(op_kind::iterated) || op.is(op_kind::resource) || op.outputs > 0)
        refuse({"is no output"});
    }
    check_names();
    check_results();
    check_loops();
  }

 private:
  [[noreturn]] TAGMA_COLD void refuse(std::initializer_list<text_part> parts) const {
    std::string text = sentence({"node ", at_, ": "});
    append_parts(text, parts);
    fail(status_code::invalid_argument, text);
  }
  [[nodiscard]] TAGMA_COLD const operation_face& face_of(const node& n) const {
    const operation_face* const* const found =
        std::lower_bound(faces_.begin(), faces_.end(), n.op,
                         [](const operation_face* f, const op_rules* op) { return std::less<>()(f->rules, op); });
    if (found == faces_.end() || (*found)->rules != n.op) refuse({"has no operation that a graph may have"});
    return **found;
  }
  /// A list of nodes in front of this one.
  TAGMA_COLD void check_list(array_view<const node_id> list, const char* what) const {
    for (const node_id i : list)
      if (i < 0 || i >= at_) refuse({what, " is node ", i, ", and is one in front of it"});
  }

  TAGMA_COLD void check_node(const node& n) {
    if (n.inputs < 0 || n.controls < 0 || n.colocated < 0 || n.first_edge < 0 ||
        std::int64_t{n.first_edge} + n.inputs + n.controls + n.colocated > static_cast<std::int64_t>(g_.edges.size()))
      refuse({"its edges are outside of the list of ", g_.edges.size()});
    if (n.attribute_count < 0 || n.first_attribute < 0 ||
        std::int64_t{n.first_attribute} + n.attribute_count > static_cast<std::int64_t>(g_.attribute_pool.size()))
      refuse({"its attributes are outside of the list of ", g_.attribute_pool.size()});
    if (n.request < 0 || (n.request > 0 && static_cast<std::size_t>(n.request) >= g_.requests.size()))
      refuse({"asks for device ", n.request, " of ", g_.requests.size()});
    if (n.value < -1 || n.value >= static_cast<std::int64_t>(values_))
      refuse({"takes value ", n.value, " of ", values_});
    check_list(g_.inputs(at_), "an input");
    check_list(g_.controls(at_), "what it waits for");
    check_list(g_.colocated(at_), "what it is placed with");

    const operation_face& face = face_of(n);
    scratch_array<tensor_spec, 8> in(n.inputs);
    for (int i = 0; i < n.inputs; ++i) in[i] = g_[g_.inputs(at_)[i]].spec;
    infer_args args{in.view(), g_.attributes(at_), n.spec};
    const heap_array<resource_input> things(uses_resource() ? static_cast<std::size_t>(n.inputs) : 0);
    for (std::size_t i = 0; i < things.size(); ++i)
      if (const node_id of = g_.inputs(at_)[i]; g_.info(of).is(op_kind::resource))
        things[i] = {g_.info(of).name, g_.attributes(of)};
    input_roles roles;
    const bool several = face.info().outputs > 0;
    for (int k = 0; k < (several ? face.info().outputs : 1); ++k) {
      args.output = k;
      if (const refusal r = check_arguments(face, args, &roles, things)) refuse({to_string(r, face.info(), args)});
    }
    const tensor_spec found = several ? tensor_spec{} : face.info().is(op_kind::output) ? result_of(n) : args.out;
    if (!(found == n.spec))
      refuse({face.info().name, ": the result is said to be ", to_string(n.spec), ", and is ", to_string(found)});
    check_roles(face.info(), roles);
    if (n.op == &rules<op::row> && g_[g_.inputs(at_)[0]].op != &rules<loop_stack>)
      refuse({face.info().name, ": node ", g_.inputs(at_)[0], " is not what a loop gathers; use slice"});
    const bool named = has_name(face.info());
    if (named && !is_name(n.name)) refuse({face.info().name, ": '", n.name, "' is no name"});
  }
  [[nodiscard]] static bool has_name(const op_info& op) {
    return op.is(op_kind::placeholder) || op.is(op_kind::variable) || op.is(op_kind::resource);
  }
  [[nodiscard]] bool uses_resource() const {
    for (const node_id i : g_.inputs(at_))
      if (g_.info(i).is(op_kind::resource)) return true;
    return false;
  }
  /// What the operation that a result is of makes of it.
  [[nodiscard]] TAGMA_COLD tensor_spec result_of(const node& n) const {
    const node_id of = g_.inputs(at_)[0];
    const attribute which = g_.attributes(at_)[0];
    if (which >= g_.info(of).outputs) refuse({"is result ", which, " of ", g_.info(of).name, ", which has fewer"});
    scratch_array<tensor_spec, 8> in(g_[of].inputs);
    for (int i = 0; i < g_[of].inputs; ++i) in[i] = g_[g_.inputs(of)[i]].spec;
    infer_args args{in.view(), g_.attributes(of), {}, static_cast<int>(which)};
    (void)g_.info(of).infer(args);  // it was asked before
    if (args.out.type == dtype::none) refuse({"is a result that ", g_.info(of).name, " does not have"});
    (void)n;
    return args.out;
  }
  /// What inputs are beside their types.
  TAGMA_COLD void check_roles(const op_info& op, const input_roles& roles) const {
    const array_view<const node_id> in = g_.inputs(at_);
    if (op.is(op_kind::update) && (roles.variables & 1) == 0)
      refuse({op.name, ": its function `takes` does not ask for a variable as input 0"});
    for (std::size_t i = 0; i < in.size(); ++i) {
      const op_info& of = g_.info(in[i]);
      const bool writes = i < 64 && ((roles.variables >> i) & 1) != 0;
      if (const char* const broken = broken_role(op, roles, i, of))
        refuse({writes ? "TAGMA-E065 " : "", op.name, ": input ", i, " ", broken});
      for (std::size_t k = 0; writes && k < in.size(); ++k)
        if (k != i && k < 64 && ((roles.variables >> k) & 1) != 0 && in[k] == in[i])
          refuse({op.name, ": writes over input ", k});
    }
  }
  /// What has a name, and the hash of that.
  struct named_node {
    std::uint64_t hash = 0;
    node_id id = no_node;
  };
  [[nodiscard]] TAGMA_COLD bool share_name(node_id a, node_id b) const {
    return g_.info(a).id == g_.info(b).id && g_[a].name == g_[b].name && g_[a].suffix == g_[b].suffix;
  }
  /// A name is of one thing. Names are sorted, and not looked up by their hash alone, which whoever wrote them knows.
  TAGMA_COLD void check_names() {
    heap_array<named_node> named(g_.nodes.size());
    std::size_t count = 0;
    for (node_id i = 0; i < g_.size(); ++i)
      if (has_name(g_.info(i))) named[count++] = {hash_combine(hash_text(g_[i].name), hash_text(g_[i].suffix)), i};
    const auto comes_before = [this](const named_node& a, const named_node& b) {
      if (a.hash != b.hash) return a.hash < b.hash;
      const node &one = g_[a.id], &other = g_[b.id];
      if (g_.info(a.id).id != g_.info(b.id).id) return g_.info(a.id).id < g_.info(b.id).id;
      if (const int order = one.name.compare(other.name); order != 0) return order < 0;
      if (const int order = one.suffix.compare(other.suffix); order != 0) return order < 0;
      return a.id < b.id;
    };
    std::sort(named.begin(), named.begin() + count, comes_before);
    // Of several faults, the first in the order of the graph.
    std::size_t first = 0;
    for (std::size_t i = 1; i < count; ++i)
      if (share_name(named[i - 1].id, named[i].id) && (first == 0 || named[i].id < named[first].id)) first = i;
    if (first == 0) return;
    at_ = named[first].id;
    refuse({"TAGMA-E060 ", g_.info(at_).name, " '", g_[at_].name, g_[at_].suffix, "' is node ", named[first - 1].id,
            " as well"});
  }

  /// A result has one place, that of one node.
  TAGMA_COLD void check_results() {
    static_assert(most_outputs <= 8);
    heap_array<std::uint8_t> taken(g_.nodes.size());
    for (at_ = 0; at_ < g_.size(); ++at_) {
      if (!g_.info(at_).is(op_kind::output)) continue;
      const node_id of = g_.inputs(at_)[0];
      const auto which = static_cast<unsigned>(1) << g_.attributes(at_)[0];
      if ((taken[of] & which) != 0) refuse({"is result ", g_.attributes(at_)[0], " of node ", of, " once more"});
      taken[of] = static_cast<std::uint8_t>(taken[of] | which);
    }
  }

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
  TAGMA_COLD void check_loops() {
    std::size_t heads = 0, carried = 0;
    for (node_id i = 0; i < g_.size(); ++i) {
      heads += g_.info(i).is(op_kind::loop) ? 1u : 0u;
      carried += is_carried(i) ? 1u : 0u;
    }
    if (heads != g_.loops.size() || heads > static_cast<std::size_t>(most_loops) || carried != g_.back_edges.size() ||
        g_.loop_of.size() != (heads == 0 ? 0 : g_.nodes.size()))
      fail(status_code::invalid_argument,
           {"a graph of ", heads, " loops that carry ", carried, " values has tables of ", g_.loops.size(), " and ",
            g_.back_edges.size(), ": a loop is closed once, with the next value of all that it carries"});
    if (heads == 0) return;
    const std::size_t n = g_.nodes.size();
    std::size_t room = 64;
    while (room < 4 * n) room *= 2;
    heap_array<node> nodes(n);
    heap_array<node_id> edges(g_.edges.size() + 1), buckets(room);
    heap_array<attribute> attributes(g_.attribute_pool.size() + 1);
    graph again({nodes.data(), n}, {edges.data(), edges.size()}, {attributes.data(), attributes.size()},
                {buckets.data(), room});
    loop_table loops;
    again.observe(&loops);
    std::uint64_t ranks = 0;
    for (at_ = 0; at_ < g_.size(); ++at_) {
      const node& one = g_[at_];
      if (g_.info(at_).is(op_kind::loop) && (g_.loops[loops.count()].head != at_ || g_.loops[loops.count()].rank < 0 ||
                                             g_.loops[loops.count()].rank >= most_loops))
        refuse({"is no head in the table of loops"});
      const node_id made =
          again.emit_as(*one.op, one.spec, g_.inputs(at_), g_.attributes(at_),
                        {g_.controls(at_), one.name, one.suffix, one.value, one.request, g_.colocated(at_)});
      if (made != at_) refuse({"is node ", made, " once more"});
      if (!g_.info(at_).is(op_kind::loop)) continue;
      const int rank = g_.loops[loops.count() - 1].rank;
      if (((ranks >> rank) & 1) != 0) refuse({"has the rank of another loop, ", rank});
      ranks |= std::uint64_t{1} << rank;
      loops.set_rank(rank);
    }
    next_of_ = heap_array<node_id>(n);
    std::fill(next_of_.begin(), next_of_.end(), no_node);
    heap_array<bool> is_next(n);
    for (const back_edge& e : g_.back_edges) {
      at_ = e.carried >= 0 && e.carried < g_.size() ? e.carried : 0;
      if (at_ != e.carried || !is_carried(at_) || next_of_[at_] != no_node) refuse({"is carried by no loop"});
      if (e.next < 0 || e.next >= g_.size() || !(g_[e.next].spec == g_[at_].spec))
        refuse({"has no next value of its type and shape"});
      if (is_next[e.next]) refuse({"has a next value, node ", e.next, ", that is another's as well"});
      is_next[e.next] = true;
      next_of_[at_] = e.next;
      loops.add_edge(e);
    }
    check_starts();
    check_tests();
    for (at_ = 0; at_ < g_.size(); ++at_) check_body(again, loops);
    found_loops found;
    found.back_edges = heap_array<back_edge>(carried + 1);
    heap_array<std::int16_t> loop_of(n);
    found.loop_of = loop_of.data();
    found.roots = g_.roots;
    write_loops(again, loops, found);
    for (int l = 0; l < found.loop_count; ++l)
      if (found.loops[l].parent != g_.loops[l].parent || found.loops[l].head != g_.loops[l].head)
        fail(status_code::invalid_argument,
             {"loop ", l, " is said to be in loop ", g_.loops[l].parent, ", and is in ", found.loops[l].parent});
    for (at_ = 0; at_ < g_.size(); ++at_)
      if (found.loop_of[at_] != g_.loop_of[at_])
        refuse({"is said to be in loop ", g_.loop_of[at_], ", and is in ", found.loop_of[at_]});
    for (at_ = 0; at_ < g_.size(); ++at_) check_reach(loops);
    for (const node_id root : g_.roots)
      if (g_.loop_of[root] >= 0)
        fail(status_code::invalid_argument,
             {"output is node ", root, ", which is in the body of loop ", g_.loop_of[root]});
  }
  /// What a node reads is in its loop, or in one around it. Only what a loop hands out is read behind it.
  TAGMA_COLD void check_reach(const loop_table& loops) const {
    const array_view<const node_id> in = g_.inputs(at_);
    const bool leaves = g_.info(at_).is(op_kind::iterations);
    const int from = leaves ? loops.of_head(in[1]) : g_.loop_of[at_];
    if (leaves && (g_.loop_of[in[0]] != from || g_.loop_of[at_] != g_.loops[from].parent))
      refuse({"is of loop ", from, ", and node ", in[0], " is not"});
    for (const array_view<const node_id> list : {in, g_.controls(at_)})
      for (const node_id i : list) {
        if (g_.info(at_).is(op_kind::loop) && g_.info(i).is(op_kind::loop)) continue;  // only the number of iterations
        int l = from;
        while (l >= 0 && l != g_.loop_of[i]) l = g_.loops[l].parent;
        if (l != g_.loop_of[i]) refuse({"reads node ", i, ", which is in the body of loop ", g_.loop_of[i]});
      }
  }
  /// A carried value begins with a copy of its own, over which iterations write.
  TAGMA_COLD void check_starts() {
    heap_array<node_id> owner(g_.nodes.size());
    std::fill(owner.begin(), owner.end(), no_node);
    for (at_ = 0; at_ < g_.size(); ++at_) {
      if (g_[at_].op != &rules<loop_carried>) continue;
      const node_id start = g_.inputs(at_)[1];
      if (g_[start].op != &rules<loop_copy> || g_[start].inputs != 1 || owner[start] != no_node)
        refuse({"begins with node ", start, ", which is no copy for it alone"});
      owner[start] = at_;
    }
    const auto needs = prune<heap_room>(g_, g_.roots);
    for (at_ = 0; at_ < g_.size(); ++at_)
      for (int k = 0; k < g_[at_].inputs; ++k)
        if (const node_id in = g_.inputs(at_)[k];
            owner[in] != no_node && owner[in] != at_ && wants_value(needs[at_]) && !g_.info(at_).ignores_elements(k))
          refuse({"reads node ", in, ", with which node ", owner[in], " begins"});
    for (const node_id root : g_.roots)
      if (owner[root] != no_node)
        fail(status_code::invalid_argument, {"output is node ", root, ", with which node ", owner[root], " begins"});
  }
  /// A loop that goes on while a value is true carries that value, as the first.
  TAGMA_COLD void check_tests() {
    heap_array<bool> tested(g_.nodes.size());
    for (node_id i = 0; i < g_.size(); ++i)
      if (g_[i].op == &rules<loop_carried> && g_.attributes(i)[0] == 0 && g_[i].spec == tensor_spec{dtype::boolean, {}})
        tested[g_.inputs(i)[0]] = true;
    for (at_ = 0; at_ < g_.size(); ++at_)
      if (g_[at_].op == &rules<while_head> && !tested[at_])
        refuse({g_.info(at_).name, ": the first value that the loop carries is no scalar bool"});
  }
  /// What a body must not do, and what it hands on, which its steps have written.
  TAGMA_COLD void check_body(const graph& g, const loop_table& loops) const {
    const op_info& op = g_.info(at_);
    const bool inside = loops.loop_of(at_) >= 0;
    if (inside && op.is(op_kind::update)) refuse({"TAGMA-E206 ", op.name, ": is in the body of a loop"});
    if (inside && op.late) refuse({"TAGMA-E207 ", op.name, ": is in the body of a loop"});
    const array_view<const node_id> in = g_.inputs(at_);
    if (is_carried(at_) && !loops.is_written(g, loops.of_head(in[0]), next_of_[at_]))
      refuse({op.name, ": no step of the body makes the next value, node ", next_of_[at_]});
    if (g_[at_].op == &rules<loop_stack> && !has_memory(g_.info(in[0])))
      refuse({op.name, ": no step makes node ", in[0]});
    if (g_[at_].op != &rules<loop_last>) return;
    if (!is_carried(in[0]) || g_.inputs(in[0])[0] != in[1] || next_of_[in[0]] != in[2])
      refuse({op.name, ": node ", in[0], " is not what the loop carries to node ", in[2]});
  }
  /// True for what is gathered: steps write it, or it is what a loop, or one inside of it, carries or makes.
  [[nodiscard]] static bool has_memory(const op_info& of) {
    return of.is(op_kind::compute) || of.is(op_kind::elementwise) || of.is(op_kind::output) ||
           of.is(op_kind::iterated) || of.is(op_kind::iterations);
  }
  [[nodiscard]] bool is_carried(node_id i) const {
    return g_[i].op == &rules<loop_carried> || g_[i].op == &rules<loop_result>;
  }

  const graph_view& g_;
  heap_array<const operation_face*> faces_;  // by the address of their rules
  heap_array<node_id> next_of_;              // of each node that a loop carries, while loops are checked
  std::size_t values_;
  node_id at_ = 0;
};

}  // namespace detail

TAGMA_COLD TAGMA_DECL void verify(const graph_view& g, operation_faces faces, std::size_t values) {
  detail::graph_verifier(g, faces, values).run();
}

}  // namespace tagma::ir
