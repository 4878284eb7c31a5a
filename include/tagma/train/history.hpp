// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What training has come to, epoch by epoch, and a picture of it.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "tagma/base/config.hpp"

namespace tagma {

namespace detail {

/// A number as people write it: four digits.
std::string short_number(double value);

}  // namespace detail

/// One pass over the training data.
struct training_epoch {
  std::int64_t number = 0;           ///< from 0
  std::int64_t steps = 0;            ///< of this epoch
  std::int64_t rows = 0;             ///< examples, of this epoch
  double seconds = 0;                ///< with validation
  std::vector<double> training{};    ///< means over the examples of the epoch, in the order of the reports
  std::vector<double> validation{};  ///< behind it; empty if there is none
};

/// All epochs of a training.
struct training_history {
  std::vector<std::string> names{};  ///< of the reports
  std::vector<training_epoch> epochs{};
  std::int64_t best = -1;  ///< the position in `epochs` of the best one; -1 if there is none here
  bool stopped_early = false;

  /// The curves as a picture in SVG, one panel for each report: training in blue, validation in orange, a dot at the
  /// best epoch. Values that are not finite are left out.
  [[nodiscard]] std::string svg() const;
};

namespace detail {

/// One panel of a picture, 480 pixels wide and 240 high, with the curves of one report.
class svg_panel {
 public:
  /// @param of outlives it
  svg_panel(const training_history& of, std::size_t report, double top);
  [[nodiscard]] std::string text() const;

 private:
  /// NaN where there is none.
  [[nodiscard]] double value(std::size_t epoch, bool validation) const;
  [[nodiscard]] double x_of(std::size_t epoch) const;
  [[nodiscard]] double y_of(double v) const;
  [[nodiscard]] std::string epoch_text(std::size_t e) const;
  [[nodiscard]] std::string curve(bool validation, const char* colour) const;
  [[nodiscard]] std::string best() const;

  const training_history& of_;
  std::size_t report_;
  double top_, least_ = std::numeric_limits<double>::infinity(), most_ = -least_;
};

}  // namespace detail
}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/train/history.ipp"
#endif
