// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of tf_record.hpp: in the compiled half, or else in each file that includes it.

#include <span>

#include "tagma/base/config.hpp"
#include "tagma/io/tf_record.hpp"

namespace tagma::io {

TAGMA_DECL bool tf_record_reader::next(std::string_view& value) {
  if (ended_) return false;
  offset_ = in_.position();
  ended_ = true;  // also if this throws
  const std::string_view head = in_.take(head_bytes);
  if (head.empty()) return false;
  if (head.size() < head_bytes) truncated("its length", head_bytes - head.size());
  const std::uint64_t length = detail::little_endian<8>(head.data());
  if (unmask_crc(static_cast<std::uint32_t>(detail::little_endian<4>(head.data() + 8))) != crc32c(head.substr(0, 8)))
    corrupted("length");
  if (length > static_cast<std::uint64_t>(max_bytes) || length + foot_bytes > in_.at_most())
    fail(status_code::data_loss, {in_.name(), ": truncated record at ", offset_, ": it says that it has ", length,
                                  " bytes, more than can follow"});
  const std::size_t needed = static_cast<std::size_t>(length) + foot_bytes;
  const std::string_view bytes = in_.take(needed);
  if (bytes.size() < needed) truncated("its data", needed - bytes.size());
  value = bytes.substr(0, needed - foot_bytes);
  if (unmask_crc(static_cast<std::uint32_t>(detail::little_endian<4>(value.data() + value.size()))) != crc32c(value))
    corrupted("data");
  ended_ = false;
  return true;
}

TAGMA_COLD TAGMA_DECL void tf_record_reader::truncated(std::string_view what, std::size_t missing) const {
  fail(status_code::data_loss, {in_.name(), ": truncated record at ", offset_, ": ", missing, " bytes of ", what,
                                " or its checksum are missing"});
}

TAGMA_COLD TAGMA_DECL void tf_record_reader::corrupted(std::string_view what) const {
  fail(status_code::data_loss,
       {in_.name(), ": corrupted record at ", offset_, ": the checksum of its ", what, " is not that of the file"});
}

TAGMA_DECL tf_record_writer::~tf_record_writer() {
  try {
    close();
  } catch (...) {
  }
}

TAGMA_DECL void tf_record_writer::write(std::string_view value) {
  if (closed_) fail(status_code::failed_precondition, {to_.name(), ": is closed, and takes no more records"});
  char head[12], foot[4];
  detail::put_little_endian<8>(head, value.size());
  detail::put_little_endian<4>(head + 8, mask_crc(crc32c({head, 8})));
  detail::put_little_endian<4>(foot, mask_crc(crc32c(value)));
  held_.append(head, sizeof head);
  if (value.size() < enough) {
    held_.append(value);
  } else {
    flush();
    to_.write(std::as_bytes(std::span(value)));
  }
  held_.append(foot, sizeof foot);
  if (held_.size() >= enough) flush();
}

TAGMA_DECL void tf_record_writer::flush() {
  if (!held_.empty()) to_.write(std::as_bytes(std::span(held_)));
  held_.clear();
}

TAGMA_DECL void tf_record_writer::close() {
  if (std::exchange(closed_, true)) return;
  flush();
  to_.finish();
}

}  // namespace tagma::io
