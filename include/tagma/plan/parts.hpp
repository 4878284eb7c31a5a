// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The parts of a program that was cut: each is a program of its own, and a run of the whole is a run of some outputs
/// of each.

#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/graph/cut.hpp"
#include "tagma/plan/any_program.hpp"

namespace tagma {

/// A part of a program as a program, with the numbers that its nodes take. Its outputs are called "output_3" for output
/// 3 of the whole, and "edge_5" for what it hands over as edge 5.
[[nodiscard]] any_program program_of_part(const any_program& whole, const ir::graph_part& part);

/// What a run of some outputs of the whole asks of each part: outputs by their positions there, in their order. What
/// another part reads is among them, and nothing that nobody reads.
/// @param outputs of the whole, by their positions
/// @param fed of each part, nodes that are fed instead of computed; empty: none
[[nodiscard]] std::vector<std::vector<int>> outputs_of_parts(const ir::cut_graph& cut, array_view<const int> outputs,
                                                             array_view<const std::vector<ir::node_id>> fed = {});

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/plan/parts.ipp"
#endif
