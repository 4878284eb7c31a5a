// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Progress on long work: a line that is drawn again and again on a terminal, and a few lines anywhere else.

#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

namespace tagma {

namespace detail {

/// "59s", "2:05", "1:00:00".
inline std::string clock_text(double seconds) {
  const auto total = static_cast<long long>(seconds + 0.5);
  char text[48];
  if (total < 60)
    std::snprintf(text, sizeof(text), "%llds", total);
  else if (total < 3600)
    std::snprintf(text, sizeof(text), "%lld:%02lld", total / 60, total % 60);
  else
    std::snprintf(text, sizeof(text), "%lld:%02lld:%02lld", total / 3600, total / 60 % 60, total % 60);
  return text;
}

inline double monotonic_seconds() {
  timespec now{};
  (void)::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace detail

/// What a progress bar says: "epoch 3  40% [########            ] 24000/60000, 12000 images/s, 3s left, loss 0.41".
/// @param title   in front of everything
/// @param unit    what is counted, for the rate; without one no rate is given
/// @param done, total  how much; a total of 0 counts as done
/// @param seconds since the start; no rate and no time left is given for 0 seconds or nothing done
/// @param text    after everything, such as the loss
[[nodiscard]] inline std::string progress_line(std::string_view title, std::string_view unit, std::int64_t done,
                                               std::int64_t total, double seconds, std::string_view text) {
  constexpr int width = 20;
  const double part = total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 1.0;
  const double bounded = part < 0 ? 0 : part > 1 ? 1 : part;
  const auto filled = static_cast<std::size_t>(bounded * width);
  char number[64];
  std::snprintf(number, sizeof(number), "%3d%% [", static_cast<int>(bounded * 100));
  std::string line(title);
  if (!line.empty()) line += ' ';
  line.append(number).append(filled, '#').append(width - filled, ' ');
  line += "] " + std::to_string(done) + "/" + std::to_string(total);
  if (seconds > 0 && done > 0) {
    const double rate = static_cast<double>(done) / seconds;
    if (!unit.empty()) {
      std::snprintf(number, sizeof(number), rate < 10 ? ", %.2f " : ", %.0f ", rate);
      line.append(number).append(unit).append("/s");
    }
    if (done < total)
      line += ", " + detail::clock_text(static_cast<double>(total - done) / rate) + " left";
    else
      line += ", " + detail::clock_text(seconds);
  }
  if (!text.empty()) line.append(", ").append(text);
  return line;
}

/// Shows how far some work is. On a terminal one line is drawn again at most ten times a second; elsewhere a line is
/// written when another tenth is done, and at the end.
class progress_bar {
 public:
  /// @param title in front of the line
  /// @param unit  what is counted, for the rate
  /// @param out   where to draw
  explicit progress_bar(std::string title, std::string unit = "images", std::FILE* out = stderr)
      : title_(std::move(title)),
        unit_(std::move(unit)),
        out_(out),
        terminal_(::isatty(::fileno(out)) == 1),
        start_(detail::monotonic_seconds()) {}
  progress_bar(const progress_bar&) = delete;
  progress_bar& operator=(const progress_bar&) = delete;
  /// Ends a line that is still open on a terminal.
  ~progress_bar() {
    if (open_) end_line();
  }

  /// `done` of `total` is done; `text` goes to the end of the line. Reaching the total ends the line; the next call
  /// begins a new count.
  void update(std::int64_t done, std::int64_t total, std::string_view text = {}) {
    const double now = detail::monotonic_seconds();
    const bool last = done >= total;
    const int tenth = last ? 10 : static_cast<int>(static_cast<double>(done) * 10 / static_cast<double>(total));
    const bool due = terminal_ ? now - drawn_ >= 0.1 : tenth > tenth_;
    if (!last && !due) return;
    draw(progress_line(title_, unit_, done, total, now - start_, text));
    drawn_ = now;
    tenth_ = tenth;
    if (!last) return;
    if (open_) end_line();
    start_ = now;
    drawn_ = 0;
    tenth_ = 0;
  }

 private:
  void draw(std::string line) {
    if (terminal_) {
      winsize size{};
      if (::ioctl(::fileno(out_), TIOCGWINSZ, &size) == 0 && size.ws_col > 1 && line.size() >= size.ws_col) {
        std::size_t end = size.ws_col - 1u;
        while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0u) == 0x80u) --end;
        line.resize(end);
      }
      line = "\r" + line + "\x1b[K";
      open_ = true;
    } else {
      line += '\n';
    }
    (void)std::fwrite(line.data(), 1, line.size(), out_);
    (void)std::fflush(out_);
  }
  void end_line() {
    (void)std::fputc('\n', out_);
    (void)std::fflush(out_);
    open_ = false;
  }

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
    iterator& operator++() {
      ++at_;
      owner_->bar_.update(at_, owner_->count_);
      return *this;
    }
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
