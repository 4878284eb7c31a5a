// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a pass spent its time on, stage by stage, and which of them holds the others up.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/data/iterate.hpp"
#include "tagma/data/meter.hpp"

namespace tagma {

namespace datasets::detail {

/// "batch 32": what a stage appends to the description of what it reads.
[[nodiscard]] std::string name_of(const any_stage& of);

/// Nanoseconds as seconds: "1.250".
[[nodiscard]] std::string seconds(std::int64_t ns);
/// How many there are in a second.
[[nodiscard]] std::int64_t rate(std::int64_t n, std::int64_t ns);

/// Rows of texts below each other: the first column to the left, the others to the right.
class text_table {
 public:
  void add(std::initializer_list<std::string> row) { rows_.emplace_back(row); }
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// Work that goes on beside other work: that of a thread, or of those that call one function. Whichever takes longest
/// holds the others up.
class lanes {
 public:
  lanes(const meter& of, const std::vector<outlined_stage>& stages);

  /// The stage to blame, in one sentence and why.
  [[nodiscard]] std::string verdict(const std::vector<outlined_stage>& stages) const;

 private:
  [[nodiscard]] std::int64_t threads(std::size_t i) const { return meter_.counters(i).threads.load(); }
  [[nodiscard]] std::int64_t work(std::size_t i) const;

  const meter& meter_;
  std::vector<std::size_t> lane_;
  std::vector<std::int64_t> loads_;
  std::int64_t outside_ns_ = 0;
};

[[nodiscard]] std::string explain_stages(const any_stage& root);

[[nodiscard]] std::string explain_pass(const any_stage& root, const meter* measured);

}  // namespace datasets::detail

/// What a measured pass did so far: of each stage, from the last one to the sources, how many threads it has (0: it
/// works in the thread that asks), how many elements and bytes it gave, in all and in a second, how long it worked
/// (all threads together), how long somebody waited for its elements and its threads for room, and how many bytes it
/// keeps and kept at most; then a sentence that names the bottleneck. Whatever the datasets of an interleave do counts
/// as its own work. Throws `failed_precondition` for a pass that is not measured. May be called by any thread.
template <class T>
[[nodiscard]] std::string explain(const dataset_iterator<T>& pass) {
  return datasets::detail::explain_pass(pass.stage(), pass.measured());
}
/// The same of a pass that somebody else goes through, such as an iterator of a graph.
[[nodiscard]] std::string explain(const datasets::pass_watch& pass);
/// The stages of a dataset, from the last one to the sources: how many elements they have, and whether these can be
/// had by their numbers.
template <class T>
[[nodiscard]] std::string explain(const dataset<T>& of) {
  return datasets::detail::explain_stages(*of.stage());
}

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/data/explain.ipp"
#endif
