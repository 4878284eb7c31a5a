// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A program that is data as text: the table and the drawing of print.hpp, of plans that are made for it.

#include <string>
#include <string_view>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/plan/any_program.hpp"
#include "tagma/plan/print.hpp"

namespace tagma {

namespace detail {

/// What the passes find out for some outputs of a program that is data. A plan does not keep that, so they run again.
class any_passes {
 public:
  /// @param program outlives it
  /// @param others devices besides CPUs; nullptr: there are none
  any_passes(const any_program& program, array_view<const int> outputs, const plan::site_kind* others)
      : graph_(program.graph()), planned_(graph_), site_(graph_, program.soft(), others), wanted_(outputs.size()) {
    for (std::size_t i = 0; i < outputs.size(); ++i) wanted_[i] = graph_.roots[outputs[i]];
    needs_ = ir::prune<heap_room>(planned_.view(), wanted());
    fusion_ = plan::heap_order(planned_.view(), needs_, wanted(), site_.view()).fusion;
  }

  [[nodiscard]] const ir::graph_view& graph() const { return graph_; }
  [[nodiscard]] const plan::planned_heap_graph& planned() const { return planned_; }
  [[nodiscard]] array_view<const ir::node_id> wanted() const { return {wanted_.data(), wanted_.size()}; }
  [[nodiscard]] plan::plan_site site() const { return site_.view(); }
  [[nodiscard]] ir::pass_results results() const {
    return {needs_.data(), fusion_.group.data(), fusion_.reason.data()};
  }

 private:
  ir::graph_view graph_;
  plan::planned_heap_graph planned_;
  plan::heap_site site_;
  std::vector<ir::node_id> wanted_;
  fixed_array<ir::need, heap_room> needs_;
  ir::fusion<heap_room> fusion_;
};

[[nodiscard]] TAGMA_COLD inline std::vector<int> all_outputs(const any_program& program) {
  std::vector<int> all;
  for (std::size_t i = 0; i < program.outputs().size(); ++i) all.push_back(static_cast<int>(i));
  return all;
}

[[nodiscard]] TAGMA_COLD inline std::string explain_outputs(const any_program& program, array_view<const int> outputs,
                                                            extent batch, const plan::site_kind* others) {
  const any_passes passes(program, outputs, others);
  const plan::heap_plan made(passes.planned(), passes.wanted(), passes.site());
  if (made.contradictory())
    fail(status_code::invalid_argument,
         "TAGMA-E067 explain: reads and updates of variables wait for one another; order them with tagma::after");
  const plan::plan_view view = made.view();
  const ir::pass_results results = passes.results();
  return plan::plan_printer(passes.graph(), view, results, batch).text();
}

}  // namespace detail

/// As `explain` of a compiled program.
/// @param batch the value of every dynamic extent, for sizes in bytes
/// @param others devices besides CPUs, as of the session: `&tagma::fake_gpus()`
/// Throws InvalidArgument if that value fits no run of the program, or the program cannot be placed.
[[nodiscard]] TAGMA_COLD inline std::string explain(const any_program& program, extent batch = 1,
                                                    const plan::site_kind* others = nullptr) {
  return detail::explain_outputs(program, detail::all_outputs(program), batch, others);
}
/// The same for a run that fetches some outputs only: `explain(data, {"loss"}, 32)`.
/// Throws InvalidArgument, with TAGMA-E144, for a name that is no output of the program.
[[nodiscard]] TAGMA_COLD inline std::string explain(const any_program& program, const std::vector<std::string>& outputs,
                                                    extent batch = 1, const plan::site_kind* others = nullptr) {
  std::vector<int> chosen;
  for (const std::string& name : outputs) {
    chosen.push_back(program.find_output(name));
    if (chosen.back() < 0)
      fail(status_code::invalid_argument,
           {"TAGMA-E144 explain: what is asked for is no output of this program: ", name});
  }
  return detail::explain_outputs(program, chosen, batch, others);
}

/// As `to_dot` of a compiled program.
[[nodiscard]] TAGMA_COLD inline std::string to_dot(const any_program& program,
                                                   const plan::site_kind* others = nullptr) {
  const detail::any_passes passes(program, detail::all_outputs(program), others);
  return ir::to_dot(passes.graph(), passes.results());
}

}  // namespace tagma
