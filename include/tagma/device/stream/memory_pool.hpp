// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Memory of a device for arenas and variables: taken from the driver in regions, and handed out in blocks.

#include <string>

#include "tagma/base/config.hpp"
#include "tagma/base/no_memory.hpp"
#include "tagma/device/stream/memory_options.hpp"
#include "tagma/runtime/mutex.hpp"

namespace tagma::device::stream {

class memory_pool;

/// A block of a pool, given back with this object. The pool must outlive it, and no stream may be using it by then.
class device_block {
 public:
  device_block() = default;
  device_block(device_block&& other) noexcept
      : pool_(other.pool_), piece_(other.piece_), data_(other.data_), bytes_(other.bytes_) {
    other.data_ = nullptr;
  }
  device_block& operator=(device_block&& other) noexcept {
    device_block before(static_cast<device_block&&>(*this));
    pool_ = other.pool_;
    piece_ = other.piece_;
    data_ = other.data_;
    bytes_ = other.bytes_;
    other.data_ = nullptr;
    return *this;
  }
  device_block(const device_block&) = delete;
  device_block& operator=(const device_block&) = delete;
  inline ~device_block();

  [[nodiscard]] std::byte* data() const { return data_; }
  /// What was asked for.
  [[nodiscard]] std::int64_t size() const { return bytes_; }

 private:
  friend class memory_pool;
  device_block(memory_pool* pool, std::int32_t piece, std::byte* data, std::int64_t bytes)
      : pool_(pool), piece_(piece), data_(data), bytes_(bytes) {}

  memory_pool* pool_ = nullptr;
  std::int32_t piece_ = 0;
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

/// What a pool has given out.
struct pool_use {
  std::int64_t limit = 0;         ///< bytes that the pool may take; 0 until the first use
  std::int64_t reserved = 0;      ///< that it has taken from the driver
  std::int64_t used = 0;          ///< that blocks take, rounded
  std::int64_t peak = 0;          ///< the most that `used` ever was
  std::int64_t largest_free = 0;  ///< the largest block that needs no further region
  std::int64_t blocks = 0;
};

/// The memory of one device that this process uses. Blocks are multiples of 256 bytes; a request takes the smallest
/// free piece that is large enough, the first such by address, and free neighbours become one piece. Regions go back to
/// the driver with the pool. Nothing is asked of the driver before the first request. May be used from several threads.
class memory_pool {
 public:
  static constexpr std::int64_t granularity = 256;

  /// @param name of the device for errors, such as "/device:GPU:0"
  TAGMA_COLD memory_pool(runtime::stream_driver& driver, int device, std::string name,
                         const memory_options& options = {})
      : driver_(driver), device_(device), name_(static_cast<std::string&&>(name)), options_(options) {}
  memory_pool(const memory_pool&) = delete;
  memory_pool& operator=(const memory_pool&) = delete;
  TAGMA_COLD ~memory_pool() {
    for (std::size_t i = 0; i < piece_count_; ++i)
      if (pieces_[i].live && pieces_[i].before < 0) driver_.deallocate(device_, pieces_[i].data);
  }

  /// A block for `purpose`, which errors name: a variable, or the arena of a plan. Throws ResourceExhausted where there
  /// is no room.
  [[nodiscard]] TAGMA_COLD device_block allocate(std::int64_t bytes, std::string_view purpose) {
    if (bytes < 0) fail(status_code::invalid_argument, {"a block of ", bytes, " bytes for ", purpose});
    if (bytes == 0) return {};
    const mutex_lock lock(mutex_);
    if (!started_) start();
    if (bytes > limit_) exhausted(bytes, purpose);
    const std::int64_t size = (bytes + granularity - 1) / granularity * granularity;
    std::int32_t best = best_fit(size);
    if (best < 0 && grow(size)) best = best_fit(size);
    if (best < 0) exhausted(bytes, purpose);
    const std::int32_t taken = split(best, size);
    piece& p = pieces_[taken];
    p.used = true;
    p.purpose = purpose;
    used_ += p.bytes;
    if (used_ > peak_) peak_ = used_;
    return {this, taken, p.data, bytes};
  }

  [[nodiscard]] TAGMA_COLD pool_use use() const {
    const mutex_lock lock(mutex_);
    pool_use u{limit_, reserved_, used_, peak_, 0, 0};
    for (std::size_t i = 0; i < piece_count_; ++i) {
      if (!pieces_[i].live) continue;
      u.blocks += pieces_[i].used;
      if (!pieces_[i].used && pieces_[i].bytes > u.largest_free) u.largest_free = pieces_[i].bytes;
    }
    return u;
  }
  [[nodiscard]] int device() const { return device_; }

 private:
  friend class device_block;

  /// A part of a region; its neighbours are listed by address.
  struct piece {
    std::byte* data = nullptr;
    std::int64_t bytes = 0;
    std::int32_t before = -1;
    std::int32_t behind = -1;
    bool live = false;  ///< false for an entry that waits to be used again
    bool used = false;
    std::string purpose;
  };

  TAGMA_COLD void start() {
    has_ = driver_.memory(device_);
    limit_ = memory_limit(options_, has_) / granularity * granularity;
    started_ = true;
  }

  [[nodiscard]] bool is_capped() const {
    return options_.cap > 0 && limit_ == options_.cap / granularity * granularity;
  }
  /// Where the limit comes from.
  [[nodiscard]] TAGMA_COLD std::string limit_text() const {
    if (is_capped()) return "its cap";
    if (options_.fraction > 0) return sentence({"its share of ", bytes_text(has_.total)});
    return sentence({bytes_text(has_.free), " that were free, less a reserve for the vendor's libraries"});
  }

  [[nodiscard]] std::int32_t best_fit(std::int64_t size) const {
    std::int32_t best = -1;
    for (std::size_t i = 0; i < piece_count_; ++i) {
      const piece& p = pieces_[i];
      if (!p.live || p.used || p.bytes < size) continue;
      const piece* const b = best < 0 ? nullptr : &pieces_[best];
      if (b == nullptr || p.bytes < b->bytes || (p.bytes == b->bytes && p.data < b->data))
        best = static_cast<std::int32_t>(i);
    }
    return best;
  }

  /// Another region of at least `size` bytes; false where the limit or the driver does not allow it.
  TAGMA_COLD bool grow(std::int64_t size) {
    const std::int64_t room = limit_ - reserved_;
    if (size > room) return false;
    std::int64_t bytes = room;
    if (options_.allow_growth) {
      if (next_region_ < bytes) bytes = next_region_;
      while (bytes < size) bytes *= 2;
      if (bytes > room) bytes = room;
    }
    // Others may have taken what the limit leaves; then somewhat less is asked for.
    for (;;) {
      bytes = bytes / granularity * granularity;
      std::byte* const data = driver_.allocate(device_, static_cast<std::size_t>(bytes));
      if (data != nullptr) {
        pieces_[new_piece()] = {data, bytes, -1, -1, true, false, {}};
        reserved_ += bytes;
        if (bytes >= next_region_) next_region_ = 2 * bytes;
        return true;
      }
      if (bytes == size) return false;
      bytes = bytes / 10 * 9;
      if (bytes < size) bytes = size;
    }
  }

  /// An entry for a piece, whose content is written next.
  std::int32_t new_piece() {
    for (std::size_t i = 0; i < piece_count_; ++i)
      if (!pieces_[i].live) return static_cast<std::int32_t>(i);
    if (piece_count_ == pieces_.size()) {
      heap_array<piece> more(2 * piece_count_ + 32);
      for (std::size_t i = 0; i < piece_count_; ++i) more[i] = static_cast<piece&&>(pieces_[i]);
      pieces_ = static_cast<heap_array<piece>&&>(more);
    }
    return static_cast<std::int32_t>(piece_count_++);
  }

  /// The first `size` bytes of a free piece.
  std::int32_t split(std::int32_t whole, std::int64_t size) {
    if (pieces_[whole].bytes == size) return whole;
    const std::int32_t rest = new_piece();
    piece& first = pieces_[whole];
    pieces_[rest] = {first.data + size, first.bytes - size, whole, first.behind, true, false, {}};
    if (first.behind >= 0) pieces_[first.behind].before = rest;
    first.behind = rest;
    first.bytes = size;
    return whole;
  }

  TAGMA_COLD void give_back(std::int32_t i) noexcept {
    const mutex_lock lock(mutex_);
    used_ -= pieces_[i].bytes;
    pieces_[i].used = false;
    pieces_[i].purpose.clear();
    if (const std::int32_t behind = pieces_[i].behind; behind >= 0 && !pieces_[behind].used) merge(i, behind);
    if (const std::int32_t before = pieces_[i].before; before >= 0 && !pieces_[before].used) merge(before, i);
  }
  void merge(std::int32_t first, std::int32_t second) {
    piece& a = pieces_[first];
    piece& b = pieces_[second];
    a.bytes += b.bytes;
    a.behind = b.behind;
    if (b.behind >= 0) pieces_[b.behind].before = first;
    b.live = false;
  }

  [[noreturn]] TAGMA_COLD void exhausted(std::int64_t bytes, std::string_view purpose) const {
    constexpr int most_listed = 8;
    std::int32_t largest[most_listed];
    int listed = 0;
    std::int64_t blocks = 0, largest_free = 0;
    for (std::size_t i = 0; i < piece_count_; ++i) {
      const piece& p = pieces_[i];
      if (!p.live) continue;
      if (!p.used) {
        if (p.bytes > largest_free) largest_free = p.bytes;
        continue;
      }
      ++blocks;
      int k = listed < most_listed ? listed++ : most_listed;
      for (; k > 0 && pieces_[largest[k - 1]].bytes < p.bytes; --k)
        if (k < most_listed) largest[k] = largest[k - 1];
      if (k < most_listed) largest[k] = static_cast<std::int32_t>(i);
    }
    std::string text = sentence({name_, " has no room for ", bytes_text(bytes), ", which ", purpose, " asks for. Of ",
                                 bytes_text(limit_), " that this process may take (", limit_text(), "), ",
                                 bytes_text(used_), " are used by ", blocks, blocks == 1 ? " block" : " blocks",
                                 "; the largest free piece has ", bytes_text(largest_free), ", and ",
                                 bytes_text(limit_ - reserved_), " were not yet taken from the device"});
    const char* before = ". The largest blocks: ";
    for (int k = 0; k < listed; ++k, before = ", ") {
      const piece& p = pieces_[largest[k]];
      append_parts(text, {before, p.purpose, " ", bytes_text(p.bytes)});
    }
    text += ". What may help: ";
    if (bytes <= limit_ - used_)
      text += "fewer batch sizes at a time, since there is room but not in one piece; ";
    else
      text += "a smaller batch; ";
    if (options_.fraction > 0 && options_.fraction < 1) text += "a larger memory fraction; ";
    if (is_capped()) text += "a larger cap; ";
    if (options_.fraction == 0) text += "fewer other processes on the device; ";
    text += "fewer plans kept for other extents; variables on several devices";
    if (bytes > limit_) fail_never_fits({text});
    fail(status_code::resource_exhausted, text);
  }

  runtime::stream_driver& driver_;
  const int device_;
  const std::string name_;
  const memory_options options_;
  mutable mutex mutex_;
  bool started_ = false;
  runtime::device_memory has_{};  ///< of the device, when the first block was asked for
  std::int64_t limit_ = 0;
  std::int64_t reserved_ = 0;
  std::int64_t used_ = 0;
  std::int64_t peak_ = 0;
  std::int64_t next_region_ = mebibyte;
  heap_array<piece> pieces_;
  std::size_t piece_count_ = 0;
};

inline device_block::~device_block() {
  if (data_ != nullptr) pool_->give_back(piece_);
}

}  // namespace tagma::device::stream
