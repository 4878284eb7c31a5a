// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Programs that the suite builds by names, and what it notes of them for the table of operations.

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/devices.hpp"
#include "tagma/graph_builder.hpp"
#include "tagma/programs.hpp"

namespace tagma::conformance {

/// The operation of a name that programs cannot be built of, and why.
struct unbuildable {
  std::string_view name;
  std::string_view why;
};
/// All of them; a test sees that none of them can be built.
[[nodiscard]] array_view<const unbuildable> unbuildable_operations();

/// Notes that operations ran, for the table of operations: those of a program, or a composition that it was built of.
void note_operations(const any_program& program);
void note_operation(std::string_view name);

/// Writes both lists: lines of the device, the operation, and "ran", or "unbuildable" and why.
void write_notes(std::ostream& to);

/// The sessions in which all programs of the suite run: one thread and two.
[[nodiscard]] session_options options_with(int threads, std::uint64_t seed = 1);

/// Runs a program in sessions of one thread and of two, whose bytes must be the same.
[[nodiscard]] std::vector<any_tensor> run_with_both(const any_program& program, const std::vector<output_name>& outputs,
                                                    const std::vector<named_feed>& feeds);

/// Elements as a kernel sees them, from an array of the suite.
[[nodiscard]] std::vector<std::byte> elements_of(const tensor_spec& spec, const array& a);
[[nodiscard]] array array_of(const raw_view& elements);

}  // namespace tagma::conformance
