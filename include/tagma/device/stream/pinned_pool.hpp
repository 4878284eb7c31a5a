// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Buffers of the host that devices copy from and to, kept for the next run: pinning memory takes the system longer
/// than most copies.

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/runtime/mutex.hpp"
#include "tagma/runtime/stream_driver.hpp"

namespace tagma::device::stream {

class pinned_pool;

/// A buffer of a pool, given back with this object. The pool must outlive it, and no stream may be using it by then.
class pinned_buffer {
 public:
  pinned_buffer() = default;
  pinned_buffer(pinned_buffer&& other) noexcept
      : pool_(other.pool_), data_(other.data_), bytes_(other.bytes_), level_(other.level_) {
    other.data_ = nullptr;
  }
  pinned_buffer& operator=(pinned_buffer&& other) noexcept {
    pinned_buffer before(static_cast<pinned_buffer&&>(*this));
    pool_ = other.pool_;
    data_ = other.data_;
    bytes_ = other.bytes_;
    level_ = other.level_;
    other.data_ = nullptr;
    return *this;
  }
  pinned_buffer(const pinned_buffer&) = delete;
  pinned_buffer& operator=(const pinned_buffer&) = delete;
  inline ~pinned_buffer();

  [[nodiscard]] std::byte* data() const { return data_; }
  /// What was asked for.
  [[nodiscard]] std::size_t size() const { return bytes_; }

 private:
  friend class pinned_pool;
  pinned_buffer(pinned_pool* pool, std::byte* data, std::size_t bytes, int level)
      : pool_(pool), data_(data), bytes_(bytes), level_(level) {}

  pinned_pool* pool_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  int level_ = 0;
};

/// Pinned memory in sizes that are powers of two, from 4 KiB on. What is given back is kept, up to a bound, for whoever
/// asks for as much next. May be used from several threads.
class pinned_pool {
 public:
  /// @param most_idle bytes of buffers that nobody uses, beyond which they go back to the driver
  TAGMA_COLD explicit pinned_pool(runtime::stream_driver& driver, std::size_t most_idle = std::size_t{256} << 20)
      : driver_(driver), most_idle_(most_idle) {}
  pinned_pool(const pinned_pool&) = delete;
  pinned_pool& operator=(const pinned_pool&) = delete;
  TAGMA_COLD ~pinned_pool() { trim(); }

  /// A buffer of at least `bytes`. Throws ResourceExhausted where the system pins no more.
  [[nodiscard]] TAGMA_COLD pinned_buffer allocate(std::size_t bytes) {
    if (bytes == 0) return {};
    int level = 0;
    while (level < levels && size_of(level) < bytes) ++level;
    if (level == levels) exhausted(bytes);
    std::byte* data = nullptr;
    {
      const mutex_lock lock(mutex_);
      if (class_of& c = classes_[level]; c.count > 0) {
        data = c.idle[--c.count];
        idle_ -= size_of(level);
      }
    }
    if (data == nullptr) data = driver_.allocate_pinned(size_of(level));
    if (data == nullptr) {
      trim();
      data = driver_.allocate_pinned(size_of(level));
    }
    if (data == nullptr) exhausted(bytes);
    return {this, data, bytes, level};
  }

  /// Gives all buffers that nobody uses back to the driver.
  TAGMA_COLD void trim() noexcept {
    const mutex_lock lock(mutex_);
    for (class_of& c : classes_)
      while (c.count > 0) driver_.deallocate_pinned(c.idle[--c.count]);
    idle_ = 0;
  }

  /// Bytes of buffers that nobody uses.
  [[nodiscard]] std::size_t idle() const {
    const mutex_lock lock(mutex_);
    return idle_;
  }

 private:
  friend class pinned_buffer;
  static constexpr int levels = 36;             // up to 128 TiB
  static constexpr std::size_t most_kept = 32;  // buffers of a size

  struct class_of {
    std::byte* idle[most_kept]{};
    std::size_t count = 0;
  };

  [[nodiscard]] static constexpr std::size_t size_of(int level) { return std::size_t{4096} << level; }

  TAGMA_COLD void give_back(std::byte* data, int level) noexcept {
    {
      const mutex_lock lock(mutex_);
      class_of& c = classes_[level];
      if (c.count < most_kept && idle_ + size_of(level) <= most_idle_) {
        c.idle[c.count++] = data;
        idle_ += size_of(level);
        return;
      }
    }
    driver_.deallocate_pinned(data);
  }

  [[noreturn]] TAGMA_COLD static void exhausted(std::size_t bytes) {
    fail(status_code::resource_exhausted,
         {"the system does not pin ", bytes, " bytes of the host's memory for copies to and from devices"});
  }

  runtime::stream_driver& driver_;
  const std::size_t most_idle_;
  mutable mutex mutex_;
  class_of classes_[levels];
  std::size_t idle_ = 0;
};

inline pinned_buffer::~pinned_buffer() {
  if (data_ != nullptr) pool_->give_back(data_, level_);
}

}  // namespace tagma::device::stream
