// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Passes that are measured, or have budgets.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/data/iterator.hpp"
#include "tagma/data/meter.hpp"
#include "tagma/runtime/wait_word.hpp"

namespace tagma {

template <class T>
class dataset;

namespace datasets {

/// How a pass is gone through.
struct pass_options {
  /// Whether each stage counts what it does, for `explain`: some 100 ns for each element and stage.
  bool measure = false;
  /// Budgets of all stages with `autotune` together. Threads: that they begin at most, beside whoever asks; 0: as many
  /// as processors. Bytes: of the elements that they keep; 0: `default_bytes`.
  int threads = 0;
  std::int64_t bytes = 0;
  /// The nanoseconds that are measured by.
  meter::clock clock = runtime::now_ns;
};

namespace detail {

/// A stage, and how many stand between it and whoever asks.
struct outlined_stage {
  const any_stage* of;
  int depth;
};

/// All stages that lead to one, this first, each before those that it reads. One that is read twice is there once.
void outline(const any_stage& of, int depth, std::vector<outlined_stage>& to);

[[nodiscard]] pass_services services_for(const any_stage& of, const pass_options& how);

}  // namespace detail

/// A pass through a dataset, as `dataset::iterator` gives one, and one that goes on at a position, as
/// `dataset::resume`. Throws `invalid_argument` for a budget below 0.
///
///     auto pass = tg::datasets::iterate(examples, {.measure = true, .threads = 4});
///     while (pass.next(batch)) train(batch);
///     std::cout << tg::explain(pass);
/// @{
template <class T>
[[nodiscard]] dataset_iterator<T> iterate(const dataset<T>& of, const pass_options& how) {
  return dataset_iterator<T>(of.stage(), detail::services_for(*of.stage(), how));
}
template <class T>
[[nodiscard]] dataset_iterator<T> iterate(const dataset<T>& of, const pass_options& how, const position& at) {
  return dataset_iterator<T>(of.stage(), at, detail::services_for(*of.stage(), how));
}
/// @}

}  // namespace datasets
}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/data/iterate.ipp"
#endif
