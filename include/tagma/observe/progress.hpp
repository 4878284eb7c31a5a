// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Progress on long work: a line that is drawn again and again on a terminal, and a few lines anywhere else.

#include <time.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

namespace tagma {

namespace detail {

/// "59s", "2:05", "1:00:00".
std::string clock_text(double seconds);

double monotonic_seconds();

}  // namespace detail

/// What a progress bar says: "epoch 3  40% [########            ] 24000/60000, 12000 images/s, 3s left, loss 0.41".
/// @param title   in front of everything
/// @param unit    what is counted, for the rate; without one no rate is given
/// @param done, total  how much; a total of 0 counts as done
/// @param seconds since the start; no rate and no time left is given for 0 seconds or nothing done
/// @param text    after everything, such as the loss
[[nodiscard]] std::string progress_line(std::string_view title, std::string_view unit, std::int64_t done,
                                        std::int64_t total, double seconds, std::string_view text);

/// Shows how far some work is. On a terminal one line is drawn again at most ten times a second; elsewhere a line is
/// written when another tenth is done, and at the end.
class progress_bar {
 public:
  /// @param title in front of the line
  /// @param unit  what is counted, for the rate
  /// @param out   where to draw
  explicit progress_bar(std::string title, std::string unit = "images", std::FILE* out = stderr);
  progress_bar(const progress_bar&) = delete;
  progress_bar& operator=(const progress_bar&) = delete;
  /// Ends a line that is still open on a terminal.
  ~progress_bar();

  /// `done` of `total` is done; `text` goes to the end of the line. Reaching the total ends the line; the next call
  /// begins a new count.
  void update(std::int64_t done, std::int64_t total, std::string_view text = {});

 private:
  void draw(std::string line);
  void end_line();

  std::string title_, unit_;
  std::FILE* out_;
  bool terminal_;
  bool open_ = false;
  double start_;
  double drawn_ = 0;
  int tenth_ = 0;
};

/// The numbers 0 to `count`, exclusive, as a range that shows how many are done:
/// `for (int epoch : progress(10, "epoch"))`.
class progress {
 public:
  explicit progress(int count, std::string title = {}, std::FILE* out = stderr)
      : count_(count > 0 ? count : 0), bar_(std::move(title), "", out) {}

  class iterator {
   public:
    using value_type = int;
    using difference_type = std::ptrdiff_t;

    iterator(progress* owner, int at) : owner_(owner), at_(at) {}
    [[nodiscard]] int operator*() const { return at_; }
    iterator& operator++();
    void operator++(int) { ++*this; }
    [[nodiscard]] friend bool operator==(const iterator& a, const iterator& b) { return a.at_ == b.at_; }

   private:
    progress* owner_;
    int at_;
  };

  [[nodiscard]] iterator begin() { return {this, 0}; }
  [[nodiscard]] iterator end() { return {this, count_}; }

 private:
  int count_;
  progress_bar bar_;
};

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/observe/progress.ipp"
#endif
