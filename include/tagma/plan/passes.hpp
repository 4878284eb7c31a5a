// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Programs whose graphs are rewritten: an option of `compile`.

#include "tagma/base/config.hpp"
#include "tagma/graph/pass/emit.hpp"
#include "tagma/plan/kept.hpp"
#include "tagma/plan/program.hpp"

namespace tagma {

/// What a pass is given; see ir::rewriter.
using rewriter = ir::rewriter;

namespace diagnose {
/// A pass is a type with `static constexpr void visit(tagma::rewriter&)`.
template <class Pass>
inline constexpr bool is_pass = requires(void (*visit)(rewriter&)) {
  visit = &Pass::visit;
};
template <ir::build_problem Problem, class Pass, class Operation, class Before, class After>
inline constexpr bool pass_keeps_types = ir::differ(Problem, ir::build_problem::other_spec);
template <ir::build_problem Problem, class Pass, class Operation, class Replaced>
inline constexpr bool pass_adds_what_fits = ir::differ(Problem, ir::build_problem::misfit);
template <ir::build_problem Problem, class Pass, class Operation>
inline constexpr bool pass_stays_in_bodies = ir::differ(Problem, ir::build_problem::out_of_body);
}  // namespace diagnose

/// Passes of a program, in the order in which they go over its graph.
template <class... Pass>
struct passes_option {};

/// `compile([=] { return outputs(y); }, passes<fold_batch_norm>)`: what rewrites the graph of a program, after
/// gradients and optimizers are nodes of it and before it is pruned, placed and fused. A type that stands twice goes
/// over it twice.
template <class... Pass>
inline constexpr passes_option<Pass...> passes{};

namespace detail {

/// A closure whose graph is rewritten.
template <class Closure, class... Pass>
struct rewritten {
  Closure closure;
  [[nodiscard]] constexpr auto operator()() const { return closure(); }
};
template <class Closure, class... Pass>
inline constexpr bool is_placed_softly<rewritten<Closure, Pass...>> = is_placed_softly<Closure>;

template <class Pass>
inline constexpr bool pass_keeps = requires {
  Pass::keeps;
};
template <class Closure, class... Pass>
inline constexpr bool keeps_values<rewritten<Closure, Pass...>> = (false || ... || pass_keeps<Pass>);

/// What a process rewrites a graph by, and last a copy without nodes that nobody reads.
template <class... Pass>
inline constexpr void (*visits_of[])(ir::rewriter&) = {&Pass::visit..., nullptr};

/// The graph `First` behind `Pass`, with as much room as that takes; void lets nobody look at it.
template <class First, class Pass>
struct graph_behind {
  static constexpr auto visit = [] {
    if constexpr (std::is_void_v<Pass>)
      return static_cast<void (*)(ir::rewriter&)>(nullptr);
    else
      return static_cast<void (*)(ir::rewriter&)>(&Pass::visit);
  }();
  static constexpr std::size_t expected = [] {
    std::size_t room = 64;
    while (room < static_cast<std::size_t>(First::built.nodes) + static_cast<std::size_t>(First::built.nodes) / 4)
      room *= 2;
    return room;
  }();

  template <std::size_t Room>
  static constexpr auto built_at = ir::rewrite<Room>(First::built, visit);
  template <std::size_t Room,
            bool Full = Room<TAGMA_MAX_NODES && First::built.status.good() &&
                             built_at<Room>.status.problem == ir::build_problem::too_large> struct with_room {
    static constexpr const auto& built = built_at<Room>;
  };
  template <std::size_t Room>
  struct with_room<Room, true> : with_room<2 * Room> {};
  static constexpr const auto& built = with_room<expected>::built;
  static constexpr bool is_sound = First::built.status.good() && built.status.good();
};

/// The graph behind some passes, and the first of them that made a fault.
template <class First, class... Pass>
struct graph_behind_all : graph_behind<First, void> {
  using at_fault = void;
};
template <class First, class Next, class... Rest>
struct graph_behind_all<First, Next, Rest...> : graph_behind_all<graph_behind<First, Next>, Rest...> {};
template <class First, class Next, class... Rest>
  requires(!graph_behind<First, Next>::is_sound)
struct graph_behind_all<First, Next, Rest...> {
  static constexpr const auto& built = graph_behind<First, Next>::built;
  using at_fault = Next;
};

template <class Closure, class First, class... Pass>
struct last_graph<rewritten<Closure, Pass...>, First> : graph_behind_all<First, Pass...> {};

}  // namespace detail

/// Programs whose graphs the C++ compiler builds. A file with TAGMA_LATE has others (plan/late_program.hpp).
namespace early {

/// Compiles a graph that passes rewrite. Tensors that are computed cannot be fed to such a program.
/// Raises TAGMA-E210 if a pass replaces a node by one of another type or shape, TAGMA-E211 if it adds an operation over
/// operands that it does not take, TAGMA-E212 for what is no pass, and TAGMA-E271 if it uses a value of the body of a
/// loop behind that loop.
template <class Closure, class... Pass>
[[nodiscard]] auto compile(const Closure& closure, passes_option<Pass...>) {
  static_assert((true && ... && diagnose::is_pass<Pass>),
                "TAGMA-E212 passes: a pass is a type with static constexpr void visit(tagma::rewriter&)");
  if constexpr (!detail::closure_of_outputs<Closure>) {
    return compile(closure);
  } else if constexpr ((true && ... && diagnose::is_pass<Pass>)) {
    using graph = detail::compiled_graph<detail::rewritten<Closure, Pass...>>;
    using at_fault = typename graph::last::at_fault;
    static_assert(diagnose::pass_keeps_types<graph::problem, at_fault, typename graph::operation_type,
                                             typename graph::first_type, typename graph::second_type>,
                  "TAGMA-E210 passes: a pass replaces a node by one of another type or shape");
    static_assert(diagnose::pass_adds_what_fits<graph::problem, at_fault, typename graph::operation_type,
                                                typename graph::first_type>,
                  "TAGMA-E211 passes: a pass adds an operation over operands that it does not take");
    static_assert(diagnose::pass_stays_in_bodies<graph::problem, at_fault, typename graph::operation_type>,
                  "TAGMA-E271 passes: a pass uses a value of the body of a loop where that loop has ended");
    if constexpr (graph::problem != ir::build_problem::other_spec && graph::problem != ir::build_problem::misfit &&
                  graph::problem != ir::build_problem::out_of_body)
      return compile(detail::rewritten<Closure, Pass...>{closure});
  }
}
/// The same, placed softly.
template <class Closure, class... Pass>
[[nodiscard]] auto compile(const Closure& closure, soft_placement_option, passes_option<Pass...> what) {
  return compile(detail::placed_softly<Closure>{closure}, what);
}

}  // namespace early

#if !defined(TAGMA_LATE)
using early::compile;
#endif

}  // namespace tagma
