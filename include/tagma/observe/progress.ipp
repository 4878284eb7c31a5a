// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of progress.hpp: in the compiled half, or else in each file that includes it.

#include <sys/ioctl.h>
#include <unistd.h>

#include "tagma/base/config.hpp"
#include "tagma/observe/progress.hpp"

namespace tagma::detail {

TAGMA_DECL std::string clock_text(double seconds) {
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

TAGMA_DECL double monotonic_seconds() {
  timespec now{};
  (void)::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace tagma::detail

namespace tagma {

TAGMA_DECL std::string progress_line(std::string_view title, std::string_view unit, std::int64_t done,
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

TAGMA_DECL progress_bar::progress_bar(std::string title, std::string unit, std::FILE* out)
    : title_(std::move(title)),
      unit_(std::move(unit)),
      out_(out),
      terminal_(::isatty(::fileno(out)) == 1),
      start_(detail::monotonic_seconds()) {}

TAGMA_DECL progress_bar::~progress_bar() {
  if (open_) end_line();
}

TAGMA_DECL void progress_bar::update(std::int64_t done, std::int64_t total, std::string_view text) {
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

TAGMA_DECL void progress_bar::draw(std::string line) {
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

TAGMA_DECL void progress_bar::end_line() {
  (void)std::fputc('\n', out_);
  (void)std::fflush(out_);
  open_ = false;
}

TAGMA_DECL progress::iterator& progress::iterator::operator++() {
  ++at_;
  owner_->bar_.update(at_, owner_->count_);
  return *this;
}

}  // namespace tagma
