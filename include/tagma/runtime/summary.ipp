// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of summary.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/runtime/summary.hpp"

namespace tagma::detail {

/// The layer of a variable.
TAGMA_COLD TAGMA_DECL std::string_view layer_of(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  return name.substr(0, slash == std::string_view::npos ? 0 : slash);
}

TAGMA_COLD TAGMA_DECL void add_to(summary_totals& totals, const variable_info& v) {
  if (v.slot) {
    totals.slot_bytes += static_cast<std::int64_t>(v.bytes);
    return;
  }
  totals.parameters += v.dims.elements();
  totals.trainable += v.trainable ? v.dims.elements() : 0;
  totals.bytes += static_cast<std::int64_t>(v.bytes);
}

/// @param owner the name without the suffix of a slot
TAGMA_COLD TAGMA_DECL void add_to(model_summary& summary, std::string_view owner, variable_info&& v) {
  const std::string_view layer = layer_of(owner);
  auto at = std::find_if(summary.layers.begin(), summary.layers.end(),
                         [&](const layer_summary& l) { return l.name == layer; });
  if (at == summary.layers.end()) at = summary.layers.insert(at, {std::string(layer), {}, {}});
  add_to(at->totals, v);
  add_to(summary.totals, v);
  if (!v.slot) at->variables.push_back(std::move(v));
}

TAGMA_COLD TAGMA_DECL model_summary summarize(array_view<const plan::plan_variable> variables) {
  model_summary made;
  for (const plan::plan_variable& v : variables)
    if (v.initializer != preloaded_kind)
      add_to(made, v.name,
             {sentence({v.name, v.suffix}), v.spec.type, v.spec.dims, static_cast<std::size_t>(bytes_of(v.spec)),
              std::string(), v.trainable, !v.suffix.empty(), false, false});
  return made;
}

TAGMA_COLD TAGMA_DECL model_summary summarize(const ir::graph_view& graph) {
  std::vector<plan::plan_variable> all;
  for (ir::node_id i = 0; i < graph.size(); ++i) {
    const ir::node& n = graph[i];
    if (!graph.info(i).is(ir::op_kind::variable)) continue;
    all.push_back({n.name, n.suffix, n.spec, graph.attributes(i)[0], graph.attributes(i)[1] != 0});
  }
  return summarize(array_view<const plan::plan_variable>(all));
}

TAGMA_COLD TAGMA_DECL model_summary summarize(runtime::session_core& session) {
  model_summary made;
  std::vector<variable_info> all = list_variables(session);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string name = all[i].name;
    const std::string_view owner = std::string_view(name).substr(0, name.size() - session.variables()[i].suffix.size());
    if (!all[i].preloaded) add_to(made, owner, std::move(all[i]));
  }
  return made;
}

/// "1,234,567".
TAGMA_COLD TAGMA_DECL std::string grouped_digits(std::int64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

}  // namespace tagma::detail

namespace tagma {

TAGMA_COLD TAGMA_DECL std::string to_string(const model_summary& summary) {
  std::vector<std::vector<std::string>> rows{{"layer", "type", "shape", "parameters", "bytes", "trainable"}};
  const auto part = [](std::int64_t some, std::int64_t all) {
    return std::string(all == 0 ? "" : some == 0 ? "no" : some == all ? "yes" : "in part");
  };
  rows.push_back({});  // a line
  for (const layer_summary& l : summary.layers) {
    if (l.variables.empty()) continue;
    rows.push_back({l.name.empty() ? "(no layer)" : l.name, "", "", detail::grouped_digits(l.totals.parameters),
                    detail::grouped_digits(l.totals.bytes), part(l.totals.trainable, l.totals.parameters)});
    for (const variable_info& v : l.variables)
      rows.push_back({"  " + v.name.substr(l.name.empty() ? 0 : l.name.size() + 1), std::string(to_string(v.type)),
                      to_string(v.dims), detail::grouped_digits(v.dims.elements()),
                      detail::grouped_digits(static_cast<std::int64_t>(v.bytes)), v.trainable ? "yes" : "no"});
  }
  rows.push_back({});
  std::vector<std::size_t> widths(rows[0].size());
  for (const std::vector<std::string>& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < widths.size(); ++c) {
      const std::string cell = row.empty() ? std::string(widths[c], '-') : row[c];
      const std::string space(widths[c] - cell.size(), ' ');
      const bool is_number = c == 3 || c == 4;
      line += (c == 0 ? "" : row.empty() ? "--" : "  ") + (is_number ? space + cell : cell + space);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  const summary_totals& all = summary.totals;
  const auto total = [&](std::string_view of, std::int64_t number) {
    append_parts(text, {of, ": ", detail::grouped_digits(number), "\n"});
  };
  total("parameters", all.parameters);
  total("trainable", all.trainable);
  total("not trainable", all.parameters - all.trainable);
  total("bytes", all.bytes);
  if (all.slot_bytes != 0) total("bytes of optimizers", all.slot_bytes);
  return text;
}

}  // namespace tagma
