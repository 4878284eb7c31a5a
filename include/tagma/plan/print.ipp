// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of print.hpp: in the compiled half, or else in each file that includes it.

#include <cstdio>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/plan/print.hpp"

namespace tagma::plan {

TAGMA_DECL plan_printer::plan_printer(const ir::graph_view& g, const plan_view& p, const ir::pass_results& passes,
                                      extent batch)
    : graph_(g),
      plan_(p),
      passes_(passes),
      batch_(batch),
      nodes_(static_cast<node_id>(p.nodes.size())),
      specs_(nodes_),
      step_of_(nodes_),
      last_use_(nodes_),
      loop_(g.size()),
      offsets_(p.blocks.size()),
      arena_(p.devices.size()) {
  infer_extents();
  follow_steps();
  place_blocks();
}

TAGMA_DECL std::string plan_printer::text() const {
  std::vector<row> rows{{"node", "step", "operation", "name", "type", "device", "loop", "storage", "alive"}};
  // Copies stand before what reads them first: at the place of their step.
  int s = 0;
  const auto copies_before = [&](int step) {
    for (; s < step; ++s)
      if (is_transfer(plan_.steps[s].node)) rows.push_back(describe(plan_.steps[s].node));
  };
  for (node_id i = 0; i < nodes_; ++i) {
    if (is_transfer(i)) continue;
    copies_before(step_of_[i]);
    rows.push_back(describe(i));
  }
  copies_before(steps());
  std::size_t width[columns]{};
  for (const row& r : rows)
    for (std::size_t c = 0; c < columns; ++c)
      if (r.cell[c].size() > width[c]) width[c] = r.cell[c].size();
  std::string text;
  for (const row& r : rows) {
    for (std::size_t c = 0; c < columns; ++c)
      text += r.cell[c] + (c + 1 < columns ? std::string(width[c] - r.cell[c].size() + 2, ' ') : std::string("\n"));
  }
  return text + totals();
}

TAGMA_DECL std::string plan_printer::number(node_id i) const {
  return sentence({is_transfer(i) ? "copy of #" : "#", plan_.nodes[i].source});
}

TAGMA_DECL std::string plan_printer::device_name(const plan_node& n) const {
  const device_spec& name = plan_.devices[n.device].name;
  return to_string(device_spec{{}, -1, -1, name.type, name.id});
}

TAGMA_DECL node_id plan_printer::owner(node_id i) const {
  while (shares_bytes(i)) i = input(plan_.nodes[i], 0);
  return i;
}

TAGMA_DECL std::int64_t plan_printer::block_bytes(const plan_block& b) const {
  return bytes_of_block(
      b, [this](node_id i) { return specs_[i].dims; }, [this](node_id i) { return bytes_of(i); });
}

TAGMA_DECL void plan_printer::infer_extents() {
  std::vector<tensor_spec> in;
  const bool late = finds_extents(plan_.nodes);
  const heap_array<late_spec> found(late ? nodes_ : 0);
  for (node_id i = 0; i < nodes_; ++i) {
    const plan_node& n = plan_.nodes[i];
    if (late) {
      if (const char* problem = assume_late(plan_, i, found.data(), batch_))
        fail(status_code::invalid_argument,
             {"explain: ", n.op->name, " #", n.source, " with dynamic extents of ", batch_, ": ", problem});
      check_size(specs_[i] = found[i].most);
      continue;
    }
    tensor_spec out{n.spec.type, n.spec.dims.with_dyn(batch_)};
    if (n.inputs > 0 && !n.spec.dims.is_static() && !n.op->is(ir::op_kind::update)) {
      in.clear();
      const plan_node& of = inferring(plan_.nodes, plan_.inputs, n);
      for (int k = 0; k < of.inputs; ++k) in.push_back(specs_[input(of, k)]);
      ir::infer_args args{in,
                          plan_.attributes.subspan(of.first_attribute, of.attribute_count),
                          {},
                          inferred_output(plan_.attributes, n)};
      if (const char* problem = of.op->infer(args))
        fail(status_code::invalid_argument, "explain: " + std::string(n.op->name) + " #" + std::to_string(n.source) +
                                                " with dynamic extents of " + std::to_string(batch_) + ": " + problem);
      out = args.out;
    }
    check_size(out);
    specs_[i] = out;
  }
}

TAGMA_DECL void plan_printer::follow_steps() {
  for (node_id i = 0; i < nodes_; ++i) step_of_[i] = last_use_[i] = -1;
  for (int s = 0; s < steps(); ++s) {
    const plan_step& step = plan_.steps[s];
    step_of_[step.node] = s;
    for (int k = 0; k < step.outputs; ++k)
      if (const node_id out = plan_.operands[step.first_operand + step.operands + k]; out != ir::no_node)
        step_of_[out] = s;
    if (step.fused) loop_[plan_.nodes[step.node].source] = loops_++;
    for (int k = 0; k < step.operands; ++k) last_use_[owner(plan_.operands[step.first_operand + k])] = s;
  }
  for (const node_id f : plan_.fetches) last_use_[owner(f)] = steps();
}

TAGMA_DECL void plan_printer::place_blocks() {
  const std::size_t count = plan_.blocks.size();
  const heap_array<std::int64_t> bytes(count);
  const heap_array<std::int32_t> live(count);
  for (std::size_t b = 0; b < count; ++b) bytes[b] = block_bytes(plan_.blocks[b]);
  for (std::size_t d = 0; d < plan_.devices.size(); ++d) {
    arena_[d] = plan_memory(plan_.blocks, bytes, offsets_, live, static_cast<std::int16_t>(d));
    if (arena_[d] == too_many)
      fail(status_code::resource_exhausted,
           {"explain: with dynamic extents of ", batch_, " the tensors have more bytes than a process can address"});
  }
}

TAGMA_DECL bool plan_printer::in_loop(node_id i) const {
  return !is_transfer(i) && passes_.is_loop_member(graph_, plan_.nodes[i].source);
}

TAGMA_DECL plan_printer::row plan_printer::describe(node_id i) const {
  const plan_node& n = plan_.nodes[i];
  row r;
  r.cell[0] = number(i);
  r.cell[1] = step_of_[i] < 0 ? "-" : std::to_string(step_of_[i]);
  r.cell[2] = n.op->name;
  r.cell[3] = n.name.empty() ? "-" : std::string(n.name) + std::string(n.suffix);
  r.cell[4] = n.spec.type == dtype::none ? "-" : to_string(n.spec);
  r.cell[5] = device_text(i);
  r.cell[6] = loop_text(i);
  r.cell[7] = storage_text(i);
  r.cell[8] = lifetime(i);
  return r;
}

TAGMA_DECL std::string plan_printer::device_text(node_id i) const {
  const plan_node& n = plan_.nodes[i];
  if (is_transfer(i)) return device_name(n) + ", from " + device_name(plan_.nodes[input(n, 0)]);
  if (n.op->is(ir::op_kind::placeholder)) return device_name(n) + ", fed there";
  const ir::place_reason why = plan_.reason(n);
  std::string text = device_name(n).append(", ").append(to_string(why));
  if (why == ir::place_reason::asked) text.append(" as '" + to_string(graph_.request(n.source)) + "'");
  return text;
}

TAGMA_DECL std::string plan_printer::loop_text(node_id i) const {
  if (!in_loop(i)) return "-";
  const node_id source = plan_.nodes[i].source, result = passes_.group[source];
  const std::string name = "loop " + std::to_string(loop_[result]);
  const std::string_view reason = to_string(passes_.reason[source]);
  if (source != result) return name + ": " + std::string(reason);
  return reason.empty() ? name : name + ", its result: " + std::string(reason);
}

TAGMA_DECL std::string plan_printer::storage_text(node_id i) const {
  const plan_node& n = plan_.nodes[i];
  if (n.is_in(storage_kind::none)) {
    if (n.spec.type == dtype::none) return "none";
    if (!in_loop(i)) return "extents only";
    return n.op->is(ir::op_kind::elementwise) ? "registers" : "its loop's result";
  }
  if (n.op->is(ir::op_kind::update)) return "variable " + number(owner(i)) + ", in place";
  if (shares_bytes(i)) return "view of " + number(input(n, 0));
  switch (n.storage) {
    case storage_kind::feed:
      return "feed";
    case storage_kind::variable:
      return "variable, " + std::to_string(bytes_of(i)) + " bytes";
    case storage_kind::resource:
      return std::string("resource '").append(n.name).append("'");
    case storage_kind::literal:
      return "literal";
    case storage_kind::constant: {
      char digits[32];
      std::snprintf(digits, sizeof digits, "constant %.9g", ir::as_double(plan_.attributes[n.first_attribute]));
      return digits;
    }
    case storage_kind::row: {
      const plan_row& of = plan_.rows[n.slot];
      if (of.rule == row_rule::listed) {
        std::string text = "by turns";
        plan_.each_member(i, [&](node_id one) { append_parts(text, {" ", number(one)}); });
        return text;
      }
      return of.base == ir::no_node ? "a row of arena " + std::to_string(offsets_[of.slot]) + ", " +
                                          std::to_string(block_bytes(plan_.blocks[of.slot])) + " bytes"
                                    : "a row of " + number(of.base);
    }
    default:
      break;
  }
  std::string text = "arena " + std::to_string(offsets_[n.slot]) + ", " + std::to_string(bytes_of(i)) + " bytes";
  const plan_block& block = plan_.blocks[n.slot];
  if (block.rows != ir::no_node)
    text += n.op->is(ir::op_kind::iterations) ? ", all rows" : ", the first row";
  else if (block.node != i)
    text += ", over a tensor that ends";
  return text;
}

TAGMA_DECL std::string plan_printer::lifetime(node_id i) const {
  const storage_kind storage = plan_.nodes[i].storage;
  if (storage == storage_kind::none || shares_bytes(i)) return "-";
  if (storage == storage_kind::row) return "in each iteration";
  if (storage != storage_kind::arena) return "always";
  const int first = step_of_[i] < 0 ? plan_.blocks[plan_.nodes[i].slot].first : step_of_[i], last = last_use_[i];
  if (last == steps()) return "from step " + std::to_string(first) + ", fetched";
  return last <= first ? "step " + std::to_string(first)
                       : "steps " + std::to_string(first) + " to " + std::to_string(last);
}

TAGMA_DECL std::string plan_printer::totals() const {
  std::int64_t separate = 0, variables = 0, copied = 0;
  int fused = 0, copies = 0;
  for (node_id i = 0; i < nodes_; ++i) {
    if (is_transfer(i)) ++copies, copied = bounded_sum(copied, bytes_of(i));
    if (step_of_[i] >= 0 && !shares_bytes(i)) separate = bounded_sum(separate, bytes_of(i));
    if (in_loop(i)) {
      ++fused;
      if (step_of_[i] < 0) separate = bounded_sum(separate, bytes_of(i));
    }
    if (plan_.nodes[i].op->is(ir::op_kind::variable)) variables = bounded_sum(variables, bytes_of(i));
  }
  return "\nsteps: " + std::to_string(plan_.steps.size()) + ", of which loops: " + std::to_string(loops_) + ", of " +
         std::to_string(fused) + " operations\narena: " + arenas() + " with dynamic extents of " +
         std::to_string(batch_) + "; every tensor by itself: " + std::to_string(separate) +
         " bytes\nvariables: " + std::to_string(variables) + " bytes\n" + scans() +
         (copies == 0
              ? std::string()
              : "copies between devices: " + std::to_string(copies) + ", " + std::to_string(copied) + " bytes\n");
}

TAGMA_DECL std::string plan_printer::scans() const {
  std::string text;
  for (const plan_loop& l : plan_.loops) {
    const extent most = specs_[l.head].dims[0];
    const bool branch = l.ends == loop_end::by_number && most == 1;
    append_parts(text, {branch                        ? "branch "
                        : l.ends == loop_end::counted ? "scan "
                                                      : "while ",
                        number(l.head), ": step", l.end - l.first == 1 ? " " : "s ", l.first});
    if (l.end - l.first > 1) append_parts(text, {" to ", l.end - 1});
    if (l.ends == loop_end::counted)
      append_parts(text, {", ", most, " times"});
    else
      append_parts(text, {branch                          ? ", if "
                          : l.ends == loop_end::by_number ? ", as often as "
                                                          : ", as long as ",
                          number(l.condition)});
    if (l.ends != loop_end::counted && most > 1) append_parts(text, {", at most ", most, " times"});
    text += l.reversed && !branch ? ", from the last\n" : "\n";
  }
  return text;
}

TAGMA_DECL std::string plan_printer::arenas() const {
  std::string text;
  for (std::size_t d = 0; d < arena_.size(); ++d) {
    if (d > 0 && arena_[d] == 0) continue;
    append_parts(text, {d == 0 ? "" : ", ", arena_[d], " bytes"});
    const device_spec& name = plan_.devices[d].name;
    if (arena_.size() > 1) text += " on " + to_string(device_spec{{}, -1, -1, name.type, name.id});
  }
  return text;
}

}  // namespace tagma::plan
