// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of verify.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/graph/verify.hpp"

namespace tagma::ir::detail {

TAGMA_COLD TAGMA_DECL graph_verifier::graph_verifier(const graph_view& g, operation_faces faces, std::size_t values)
    : g_(g), faces_(faces), values_(values) {}

TAGMA_COLD TAGMA_DECL void graph_verifier::run() {
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
  check_loops();
}

TAGMA_COLD TAGMA_DECL void graph_verifier::refuse(std::initializer_list<text_part> parts) const {
  std::string text = sentence({"node ", at_, ": "});
  append_parts(text, parts);
  fail(status_code::invalid_argument, text);
}

TAGMA_COLD TAGMA_DECL const operation_face& graph_verifier::face_of(const node& n) const {
  for (const operation_face* const f : faces_)
    if (f->rules == n.op) return *f;
  refuse({"has no operation that a graph may have"});
}

TAGMA_COLD TAGMA_DECL void graph_verifier::check_list(array_view<const node_id> list, const char* what) const {
  for (const node_id i : list)
    if (i < 0 || i >= at_) refuse({what, " is node ", i, ", and is one in front of it"});
}

TAGMA_COLD TAGMA_DECL void graph_verifier::check_node(const node& n) {
  if (n.inputs < 0 || n.controls < 0 || n.colocated < 0 || n.first_edge < 0 ||
      std::int64_t{n.first_edge} + n.inputs + n.controls + n.colocated > static_cast<std::int64_t>(g_.edges.size()))
    refuse({"its edges are outside of the list of ", g_.edges.size()});
  if (n.attribute_count < 0 || n.first_attribute < 0 ||
      std::int64_t{n.first_attribute} + n.attribute_count > static_cast<std::int64_t>(g_.attribute_pool.size()))
    refuse({"its attributes are outside of the list of ", g_.attribute_pool.size()});
  if (n.request < 0 || (n.request > 0 && static_cast<std::size_t>(n.request) >= g_.requests.size()))
    refuse({"asks for device ", n.request, " of ", g_.requests.size()});
  if (n.value < -1 || n.value >= static_cast<std::int64_t>(values_)) refuse({"takes value ", n.value, " of ", values_});
  check_list(g_.inputs(at_), "an input");
  check_list(g_.controls(at_), "what it waits for");
  check_list(g_.colocated(at_), "what it is placed with");

  const operation_face& face = face_of(n);
  heap_array<tensor_spec> in(static_cast<std::size_t>(n.inputs));
  for (int i = 0; i < n.inputs; ++i) in[static_cast<std::size_t>(i)] = g_[g_.inputs(at_)[i]].spec;
  infer_args args{{in.data(), in.size()}, g_.attributes(at_), n.spec};
  input_roles roles;
  const bool several = face.info().outputs > 0;
  for (int k = 0; k < (several ? face.info().outputs : 1); ++k) {
    args.output = k;
    if (const refusal r = check_arguments(face, args, &roles)) refuse({to_string(r, face.info(), args)});
  }
  const tensor_spec found = several ? tensor_spec{} : face.info().is(op_kind::output) ? result_of(n) : args.out;
  if (!(found == n.spec))
    refuse({face.info().name, ": the result is said to be ", to_string(n.spec), ", and is ", to_string(found)});
  check_roles(face.info(), roles);
  const bool named = face.info().is(op_kind::placeholder) || face.info().is(op_kind::variable);
  if (named && !is_name(n.name)) refuse({face.info().name, ": '", n.name, "' is no name"});
}

TAGMA_COLD TAGMA_DECL tensor_spec graph_verifier::result_of(const node& n) const {
  const node_id of = g_.inputs(at_)[0];
  const attribute which = g_.attributes(at_)[0];
  if (which >= g_.info(of).outputs) refuse({"is result ", which, " of ", g_.info(of).name, ", which has fewer"});
  heap_array<tensor_spec> in(static_cast<std::size_t>(g_[of].inputs));
  for (int i = 0; i < g_[of].inputs; ++i) in[static_cast<std::size_t>(i)] = g_[g_.inputs(of)[i]].spec;
  infer_args args{{in.data(), in.size()}, g_.attributes(of), {}, static_cast<int>(which)};
  (void)g_.info(of).infer(args);  // it was asked before
  if (args.out.type == dtype::none) refuse({"is a result that ", g_.info(of).name, " does not have"});
  (void)n;
  return args.out;
}

TAGMA_COLD TAGMA_DECL void graph_verifier::check_roles(const op_info& op, const input_roles& roles) const {
  const array_view<const node_id> in = g_.inputs(at_);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const op_info& of = g_.info(in[i]);
    const bool writes = i < 64 && ((roles.variables >> i) & 1) != 0, goes = i < 64 && ((roles.heads >> i) & 1) != 0;
    if (writes && !of.is(op_kind::variable)) refuse({"TAGMA-E065 ", op.name, ": input ", i, " is no variable"});
    for (std::size_t k = 0; writes && k < in.size(); ++k)
      if (k != i && k < 64 && ((roles.variables >> k) & 1) != 0 && in[k] == in[i])
        refuse({op.name, ": writes over input ", k});
    if (goes && !of.is(op_kind::loop)) refuse({op.name, ": input ", i, " is no head of a loop"});
    if (!goes && of.is(op_kind::loop) && !op.is(op_kind::loop)) refuse({op.name, ": input ", i, " is a head"});
    if (of.outputs > 0 && !op.is(op_kind::output)) refuse({op.name, ": input ", i, " has several results"});
  }
}

TAGMA_COLD TAGMA_DECL void graph_verifier::check_names() {
  for (at_ = 0; at_ < g_.size(); ++at_) {
    const node& n = g_[at_];
    if (!g_.info(at_).is(op_kind::placeholder) && !g_.info(at_).is(op_kind::variable)) continue;
    for (node_id i = 0; i < at_; ++i)
      if (g_.info(i).kind == g_.info(at_).kind && g_[i].name == n.name && g_[i].suffix == n.suffix)
        refuse({"TAGMA-E060 ", g_.info(at_).name, " '", n.name, n.suffix, "' is node ", i, " as well"});
  }
}

TAGMA_COLD TAGMA_DECL void graph_verifier::check_loops() {
  std::size_t heads = 0, carried = 0;
  for (node_id i = 0; i < g_.size(); ++i) {
    heads += g_.info(i).is(op_kind::loop) ? 1u : 0u;
    carried += is_carried(i) ? 1u : 0u;
  }
  if (heads != g_.loops.size() || heads > static_cast<std::size_t>(most_loops) || carried != g_.back_edges.size() ||
      g_.loop_of.size() != (heads == 0 ? 0 : g_.nodes.size()))
    fail(status_code::invalid_argument, {"a graph of ", heads, " loops that carry ", carried, " values has tables of ",
                                         g_.loops.size(), " and ", g_.back_edges.size()});
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
  for (at_ = 0; at_ < g_.size(); ++at_) {
    const node& one = g_[at_];
    if (g_.info(at_).is(op_kind::loop) && (g_.loops[loops.count()].head != at_ || g_.loops[loops.count()].rank < 0 ||
                                           g_.loops[loops.count()].rank >= most_loops))
      refuse({"is no head in the table of loops"});
    const node_id made =
        again.emit_as(*one.op, one.spec, g_.inputs(at_), g_.attributes(at_),
                      {g_.controls(at_), one.name, one.suffix, one.value, one.request, g_.colocated(at_)});
    if (made != at_) refuse({"is node ", made, " once more"});
    if (g_.info(at_).is(op_kind::loop)) loops.set_rank(g_.loops[loops.count() - 1].rank);
  }
  for (const back_edge& e : g_.back_edges) {
    at_ = e.carried >= 0 && e.carried < g_.size() ? e.carried : 0;
    if (at_ != e.carried || !is_carried(at_) || loops.next_of(at_) != no_node) refuse({"is carried by no loop"});
    if (e.next < 0 || e.next >= g_.size() || !(g_[e.next].spec == g_[at_].spec))
      refuse({"has no next value of its type and shape"});
    loops.add_edge(e);
  }
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
}

TAGMA_COLD TAGMA_DECL void graph_verifier::check_body(const graph& g, const loop_table& loops) const {
  const op_info& op = g_.info(at_);
  const bool inside = loops.loop_of(at_) >= 0;
  if (inside && op.is(op_kind::update)) refuse({"TAGMA-E206 ", op.name, ": is in the body of a loop"});
  if (inside && op.late) refuse({"TAGMA-E207 ", op.name, ": is in the body of a loop"});
  const array_view<const node_id> in = g_.inputs(at_);
  if (is_carried(at_) && !loops.is_written(g, loops.of_head(in[0]), loops.next_of(at_)))
    refuse({op.name, ": no step of the body makes the next value, node ", loops.next_of(at_)});
  if (g_[at_].op == &rules<loop_stack> && !has_memory(g_.info(in[0])))
    refuse({op.name, ": no step makes node ", in[0]});
  if (g_[at_].op != &rules<loop_last>) return;
  if (!is_carried(in[0]) || g_.inputs(in[0])[0] != in[1] || loops.next_of(in[0]) != in[2])
    refuse({op.name, ": node ", in[0], " is not what the loop carries to node ", in[2]});
}

TAGMA_DECL bool graph_verifier::has_memory(const op_info& of) {
  return of.is(op_kind::compute) || of.is(op_kind::elementwise) || of.is(op_kind::output) || of.is(op_kind::iterated) ||
         of.is(op_kind::iterations);
}

TAGMA_DECL bool graph_verifier::is_carried(node_id i) const {
  return g_[i].op == &rules<loop_carried> || g_[i].op == &rules<loop_result>;
}

}  // namespace tagma::ir::detail

namespace tagma::ir {

TAGMA_COLD TAGMA_DECL void verify(const graph_view& g, operation_faces faces, std::size_t values) {
  detail::graph_verifier(g, faces, values).run();
}

}  // namespace tagma::ir
