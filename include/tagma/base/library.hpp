// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What keeps a program from being linked of files that do not agree: all of them define TAGMA_COMPILED or none, and
/// the library is of the version of the headers. What is compiled otherwise has other functions of the same names, and
/// the linker would take either.

#include "tagma/base/config.hpp"
#include "tagma/base/version.hpp"

// clang-format off
#define TAGMA_VERSION_NAME_OF(major, minor, patch) version_##major##_##minor##_##patch
#define TAGMA_VERSION_NAME(major, minor, patch) TAGMA_VERSION_NAME_OF(major, minor, patch)
TAGMA_NEEDS_LIBRARY(TAGMA_VERSION_NAME(TAGMA_VERSION_MAJOR, TAGMA_VERSION_MINOR, TAGMA_VERSION_PATCH))
#undef TAGMA_VERSION_NAME
#undef TAGMA_VERSION_NAME_OF
// clang-format on

#ifdef TAGMA_COMPILED
TAGMA_NEEDS_LIBRARY(all_files_of_a_program_define_TAGMA_COMPILED_or_none_does)
#else
namespace tagma::library {
/// A variable of each thread where nothing is linked, and a plain one in the library: linkers refuse to take one for
/// the other, and name it.
[[gnu::used]] inline constinit thread_local const char all_files_of_a_program_define_TAGMA_COMPILED_or_none_does = 0;
}  // namespace tagma::library
#endif
