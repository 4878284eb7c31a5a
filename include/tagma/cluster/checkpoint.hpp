// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Checkpoints of the variables of a cluster: what a session says, and is told, about them. Servers write and read the
/// files, in directories that they were given.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "tagma/base/config.hpp"
#include "tagma/runtime/container.hpp"

namespace tagma {

/// How a checkpoint is made.
struct save_options {
  std::uint32_t keep = 0;  ///< of the checkpoints "name-1", "name-2", ..., the newest ones; 0: all
  bool full = false;       ///< also writes what has not changed since the last one, instead of naming its file
  /// How long runs that have not begun may wait for those that have, in nanoseconds; 0: not at all. If that is not
  /// enough, each variable is as it was at one moment, but not all at the same one.
  std::int64_t pause_ns = 2'000'000'000;
  std::map<std::string, std::string, std::less<>> texts{};  ///< go along; "container", "cut" and "saved" are taken
};

/// A checkpoint that was made.
struct saved_checkpoint {
  std::string name;
  isolation cut = isolation::variables;  ///< runs: no run was half done; variables: each variable is whole
  std::size_t variables = 0;
  std::uint64_t bytes = 0;    ///< of all of them
  std::uint64_t written = 0;  ///< bytes of those that had changed
};

/// A checkpoint that was read.
struct restored_checkpoint {
  std::string name;
  isolation cut = isolation::variables;                     ///< likewise: whether a run could see some of it
  std::size_t variables = 0;                                ///< that have their values from it
  std::map<std::string, std::string, std::less<>> texts{};  ///< of its index: "saved" is when, in UTC
};

}  // namespace tagma
