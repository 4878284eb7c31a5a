// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What Slurm's `srun` tells a process: hosts, how many processes each has, and the rank of this one.
///
///     hosts    = item { "," item }
///     item     = text { "[" range { "," range } "]" text }, such as r[1-2]n[08-10]
///     range    = number [ "-" number ], all of the width of the first, where that has leading zeros
///     per node = group { "," group }
///     group    = number [ "(x" number ")" ], such as 2(x3),1 for 2, 2, 2 and 1

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/cluster/environment.hpp"
#include "tagma/cluster/sources/finding.hpp"

namespace tagma::sources {

namespace detail {

/// Where a text is read, one character after the other.
class list_cursor {
 public:
  list_cursor(std::string_view text, std::string_view where) : text_(text), where_(where) {}

  [[nodiscard]] bool ended() const { return at_ == text_.size(); }
  [[nodiscard]] bool peek(char c) const { return !ended() && text_[at_] == c; }
  [[nodiscard]] char front() const { return text_[at_]; }
  [[nodiscard]] char take() { return text_[at_++]; }
  bool accept(std::string_view what);
  [[nodiscard]] std::string_view digits();
  /// A number of 1 to 18 digits.
  [[nodiscard]] std::int64_t number(std::string_view& written);
  [[noreturn]] void refuse(std::string_view why) const;

 private:
  std::string_view text_, where_;
  std::size_t at_ = 0;
};

/// Numbers from `first` to `last`, printed with at least `width` digits.
struct number_range {
  std::int64_t first = 0, last = 0;
  std::size_t width = 0;
};

/// A piece of an item: text alone, or the numbers that stand between brackets.
struct host_piece {
  std::string text;
  std::vector<number_range> ranges;

  /// How many texts it stands for, at most one more than a cluster has tasks.
  [[nodiscard]] std::int64_t count() const;
};

}  // namespace detail

/// The hosts that a compressed list stands for, in order; of an item with several brackets the leftmost counts slowest.
/// How many there are is known before room is taken for them. Throws `invalid_argument`, which names `where` and the
/// byte, for a text that is no list and for more hosts than a cluster has tasks.
[[nodiscard]] std::vector<std::string> expand_host_list(std::string_view text, std::string_view where = "host list");

/// How many processes each node has, one number for each node. Throws `invalid_argument`, which names `where` and the
/// byte, for a text that is no list, and for more processes than a cluster has tasks.
[[nodiscard]] std::vector<int> expand_tasks_per_node(std::string_view text, std::string_view where = "tasks per node");

/// A port for the first process of each node: 15000 and the last four digits of the job's number, so that jobs may
/// share a node.
[[nodiscard]] std::uint16_t base_port_of_job(std::int64_t job);

/// The hosts of an allocation, as `srun` and `mpirun` find them. Empty if there is none.
[[nodiscard]] std::vector<std::string> slurm_hosts(const environment& variables);

/// True in a process that `srun` started. In a shell within an allocation, and in a batch script, there is a job and no
/// step.
[[nodiscard]] bool has_slurm(const environment& variables);

/// The ranks of a step whose processes are distributed in blocks, which is what `srun` does unless told otherwise: the
/// first node has the first ranks. SLURM_NODEID, SLURM_LOCALID and SLURMD_NODENAME must say the same of this process.
/// Throws `invalid_argument`, which names the variable.
[[nodiscard]] finding slurm(const environment& variables);

}  // namespace tagma::sources

#ifndef TAGMA_COMPILED
#include "tagma/cluster/sources/slurm.ipp"
#endif
