// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Passes over programs that are data, whoever made them: they are those of `compile(closure, passes<...>)`.

#include "tagma/base/config.hpp"
#include "tagma/plan/any_program.hpp"
#include "tagma/plan/heap_program.hpp"
#include "tagma/plan/passes.hpp"

namespace tagma {

namespace detail {

/// @param passes in their order, and last nullptr, which copies the graph without nodes that nobody reads
[[nodiscard]] TAGMA_COLD inline any_program rewrite_program(const any_program& program,
                                                            array_view<void (*const)(ir::rewriter&)> passes) {
  const ir::graph_view g = program.graph();
  if (!g.numbers.empty()) fail(status_code::invalid_argument, "passes: the program is a part of another one");
  ir::heap_tables built(g);
  for (void (*const pass)(ir::rewriter&) : passes)
    if (built.status().good()) built.rewrite(pass);
  check_sound(built);
  const std::vector<std::string_view> names(program.outputs().begin(), program.outputs().end());
  return {built.view(), program.values(), program.soft(), names};
}

}  // namespace detail

/// The program with another graph, for one that was read, built or made of a compiled one:
/// `behind_passes(read_program("net.tagma"), passes<fold_batch_norm, fold_frozen>)`. The passes come with
/// <tagma/program_passes.hpp>. An output that is fed is fed to those who read it in that graph.
/// Throws InvalidArgument with TAGMA-E210, E211 or E271 for what a pass does wrong, and ResourceExhausted for a graph
/// that gets too large. Raises TAGMA-E212, when compiled, for what is no pass.
template <class... Pass>
[[nodiscard]] any_program behind_passes(const any_program& program, passes_option<Pass...>) {
  static_assert((true && ... && diagnose::is_pass<Pass>),
                "TAGMA-E212 passes: a pass is a type with static constexpr void visit(tagma::rewriter&)");
  if constexpr ((true && ... && diagnose::is_pass<Pass>))
    return detail::rewrite_program(program, detail::visits_of<Pass...>);
  else
    return program;
}

}  // namespace tagma
