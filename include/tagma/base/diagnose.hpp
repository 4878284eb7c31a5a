// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// How a static rule is written. A rule is a named `bool` variable template over exactly the types at fault, and one
/// sentence beside its number:
///
///     static_assert(diagnose::inner_extents_agree<A, B>, "TAGMA-E012 matmul: ...");
///
/// Compilers print the name and the types with the sentence, so both shapes are on screen within five lines: if the
/// function that the user calls states the rule itself, since g++ prints a line for every function in between. Where
/// several functions share rules, a macro TAGMA_NEEDS_... holds their assertions, so that each sentence stands once.
/// Rules stand in namespace `tagma::diagnose`, next to the operation they guard; docs/diagnostics.md explains each
/// number.

namespace tagma::diagnose {}
