// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of compression.hpp: in the compiled half, or else in each file that includes it.

#include <cstring>

#include "tagma/base/config.hpp"
#include "tagma/io/compression.hpp"

namespace tagma::io {

TAGMA_DECL compression compression_from(std::string_view name) {
  if (name.empty() || name == "NONE") return compression::none;
  if (name == "GZIP") return compression::gzip;
  if (name == "ZLIB") return compression::zlib;
  fail(status_code::invalid_argument, {"'", name, "' is no compression, expected '', 'NONE', 'GZIP' or 'ZLIB'"});
}

TAGMA_DECL std::size_t inflated_source::read(std::span<std::byte> to) {
  if (format_ == compression::detect) detect();
  if (format_ == compression::none) return pass(to);
  if (state_ == nullptr) state_ = std::make_unique<detail::inflation>(format_);
  std::span<std::byte> left = to;
  while (left.size() == to.size() && !(ended_ && !next_member())) {
    if (in_.empty() && !refill() && !pending_)
      fail(status_code::data_loss, {name(), ": corrupted ", detail::name_of(format_), " data: it ends too early"});
    ended_ = state_->step(in_, left, name());
    pending_ = left.empty();  // there may be more, which needs no more to be read
  }
  return to.size() - left.size();
}

TAGMA_DECL std::uint64_t inflated_source::at_most() const {
  const std::uint64_t more = packed_.at_most(), here = in_.size();
  if (format_ == compression::none) return more > unknown_length - here ? unknown_length : more + here;
  return more > unknown_length / 2048 ? unknown_length : (more + here) * 1032 + slack;
}

TAGMA_DECL bool inflated_source::refill() {
  const std::size_t n = packed_.read({buffer_.get(), block});
  in_ = {buffer_.get(), n};
  return n > 0;
}

TAGMA_DECL void inflated_source::detect() {
  std::size_t n = 0;
  while (n < 2) {
    const std::size_t more = packed_.read({buffer_.get() + n, block - n});
    if (more == 0) break;
    n += more;
  }
  in_ = {buffer_.get(), n};
  const bool is_gzip = n >= 2 && in_[0] == std::byte{0x1f} && in_[1] == std::byte{0x8b};
  format_ = is_gzip ? compression::gzip : compression::none;
}

TAGMA_DECL std::size_t inflated_source::pass(std::span<std::byte> to) {
  if (in_.empty()) return packed_.read(to);
  const std::size_t n = std::min(in_.size(), to.size());
  std::memcpy(to.data(), in_.data(), n);
  in_ = in_.subspan(n);
  return n;
}

TAGMA_DECL bool inflated_source::next_member() {
  if (in_.empty() && !refill()) return false;
  if (format_ == compression::deflate) return false;
  if (format_ == compression::gzip && in_[0] == std::byte{0x1f}) {
    state_->restart();
    ended_ = pending_ = false;
    return true;
  }
  do {
    for (const std::byte b : in_)
      if (b != std::byte{0} || format_ != compression::gzip)
        fail(status_code::data_loss, {name(), ": has more bytes behind the compressed ones"});
  } while (refill());
  in_ = {};
  return false;
}

TAGMA_DECL void deflated_sink::finish() {
  state_->step({}, true, to_);
  to_.finish();
}

TAGMA_DECL any_source unpacked(any_source source, compression format) {
  if (format == compression::none) return source;
  return inflated_source(std::move(source), format);
}

TAGMA_DECL any_source open(std::string path, compression format) {
  return unpacked(file_source(std::move(path)), format);
}

TAGMA_DECL any_sink create(std::string path, compression format) {
  if (format == compression::none) return file_sink(std::move(path));
  return deflated_sink(file_sink(std::move(path)), format);
}

}  // namespace tagma::io
