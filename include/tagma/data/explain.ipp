// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of explain.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/data/explain.hpp"

namespace tagma::datasets::detail {

TAGMA_DECL std::string name_of(const any_stage& of) {
  std::string name, input;
  of.describe(name);
  if (const any_stage* const read = of.input_stage(0)) read->describe(input);
  if (name.starts_with(input)) name.erase(0, input.size());
  if (name.starts_with('.')) name.erase(0, 1);
  if (const std::size_t inner = name.find('('); inner != name.npos) name.resize(inner);
  const std::string without_end = " " + std::to_string(endless);
  if (name.ends_with(without_end)) name.resize(name.size() - without_end.size());
  constexpr std::size_t most = 36;
  if (name.size() > most) name.replace(most - 3, name.npos, "...");
  return name;
}

TAGMA_DECL std::string seconds(std::int64_t ns) {
  const std::int64_t ms = ns < 0 ? 0 : (ns + 500'000) / 1'000'000;
  const std::string rest = std::to_string(ms % 1000);
  return sentence({ms / 1000, ".", std::string(3 - rest.size(), '0'), rest});
}

TAGMA_DECL std::int64_t rate(std::int64_t n, std::int64_t ns) {
  return ns <= 0 ? 0 : static_cast<std::int64_t>(static_cast<double>(n) * 1e9 / static_cast<double>(ns) + 0.5);
}

TAGMA_DECL std::string text_table::text() const {
  std::vector<std::size_t> widths(rows_[0].size());
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i)
      if (row[i].size() > widths[i]) widths[i] = row[i].size();
  std::string all;
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string gap(widths[i] - row[i].size(), ' ');
      all += i == 0 ? row[i] + gap : "  " + gap + row[i];
    }
    all += '\n';
  }
  return all;
}

TAGMA_DECL lanes::lanes(const meter& of, const std::vector<outlined_stage>& stages) : meter_(of), lane_(stages.size()) {
  outside_ns_ = of.elapsed_ns() - of.asked_ns();
  loads_.push_back(outside_ns_);
  // The lane of what stands at a depth; a stage with threads is one of its own, and what it reads another.
  std::vector<std::size_t> below{0};
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const auto depth = static_cast<std::size_t>(stages[i].depth);
    below.resize(depth + 2);
    lane_[i] = below[depth];
    if (threads(i) > 0) {
      lane_[i] = loads_.size();
      loads_.resize(lane_[i] + 2);
    }
    below[depth + 1] = threads(i) > 0 ? lane_[i] + 1 : lane_[i];
    loads_[lane_[i]] += work(i);
  }
}

TAGMA_DECL std::string lanes::verdict(const std::vector<outlined_stage>& stages) const {
  if (meter_.elapsed_ns() <= 0) return "Nothing was asked for yet.\n";
  std::size_t lane = 0;
  for (std::size_t i = 1; i < loads_.size(); ++i)
    if (loads_[i] > loads_[lane]) lane = i;
  const std::string of_all = sentence({" s of ", seconds(meter_.elapsed_ns()), " s"});
  std::size_t worst = stages.size();
  for (std::size_t i = 0; i < stages.size(); ++i)
    if (lane_[i] == lane && (worst == stages.size() || work(i) > work(worst))) worst = i;
  if (worst == stages.size() || (lane == 0 && outside_ns_ >= work(worst)))
    return sentence({"The bottleneck is whoever asks: it did other things for ", seconds(outside_ns_), of_all,
                     ", and waited for elements for ", seconds(meter_.asked_ns()), " s.\n"});
  const stage_counters& c = meter_.counters(worst);
  std::string text = sentence(
      {"The bottleneck is ", name_of(*stages[worst].of), ": its own work took ", seconds(c.own_ns.load()), of_all});
  if (threads(worst) > 0)
    append_parts(text, {", shared by ", threads(worst), threads(worst) == 1 ? " thread" : " threads",
                        ", and it was waited for ", seconds(c.empty_ns.load()), " s. More threads may do it sooner"});
  else if (lane == 0)
    text += ", in the thread that asks. A prefetch behind it would do it meanwhile";
  else
    text += ", in one thread. Threads of its own, or another prefetch before it, would share it out";
  return text + ".\n";
}

TAGMA_DECL std::int64_t lanes::work(std::size_t i) const {
  const std::int64_t own = meter_.counters(i).own_ns.load(), n = threads(i);
  return n > 1 ? own / n : own;
}

TAGMA_COLD TAGMA_DECL std::string explain_stages(const any_stage& root) {
  std::vector<outlined_stage> stages;
  detail::outline(root, 0, stages);
  text_table table;
  table.add({"stage", "elements", "by number"});
  for (const outlined_stage& s : stages) {
    const extent n = s.of->size();
    table.add({std::string(static_cast<std::size_t>(s.depth) * 2, ' ') + name_of(*s.of),
               n == unknown_size ? "unknown"
               : n == endless    ? "endless"
                                 : std::to_string(n),
               s.of->indexed() ? "yes" : "no"});
  }
  return table.text();
}

TAGMA_COLD TAGMA_DECL std::string explain_pass(const any_stage& root, const meter* measured) {
  if (measured == nullptr)
    fail(status_code::failed_precondition,
         "explain: this pass is not measured: begin it by datasets::iterate(data, {.measure = true})");
  std::vector<outlined_stage> stages;
  detail::outline(root, 0, stages);
  const std::int64_t all = measured->elapsed_ns();
  text_table table;
  table.add({"stage", "threads", "elements", "elements/s", "bytes/s", "works s", "empty s", "full s", "bytes kept",
             "most bytes"});
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const stage_counters& c = measured->counters(i);
    table.add({std::string(static_cast<std::size_t>(stages[i].depth) * 2, ' ') + name_of(*stages[i].of),
               std::to_string(c.threads.load()), std::to_string(c.elements.load()),
               std::to_string(rate(c.elements.load(), all)), std::to_string(rate(c.bytes.load(), all)),
               seconds(c.own_ns.load()), seconds(c.empty_ns.load()), seconds(c.full_ns.load()),
               std::to_string(c.held_bytes.load()), std::to_string(c.most_bytes.load())});
  }
  return table.text() + lanes(*measured, stages).verdict(stages);
}

}  // namespace tagma::datasets::detail

namespace tagma {

TAGMA_COLD TAGMA_DECL std::string explain(const datasets::pass_watch& pass) {
  return datasets::detail::explain_pass(*pass.stage, pass.measured.get());
}

}  // namespace tagma
