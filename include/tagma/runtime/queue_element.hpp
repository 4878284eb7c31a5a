// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What queues hold: tuples of tensors, each in one piece of memory.

#include <cstdint>
#include <cstring>
#include <new>

#include "tagma/base/array_view.hpp"
#include "tagma/base/config.hpp"
#include "tagma/tensor/size.hpp"
#include "tagma/tensor/view.hpp"

namespace tagma::runtime {

/// A tuple of tensors. Strings have their characters behind them, in the same memory.
class queue_element {
 public:
  queue_element(const queue_element&) = delete;
  queue_element& operator=(const queue_element&) = delete;

  [[nodiscard]] std::size_t components() const { return count_; }
  [[nodiscard]] raw_view component(std::size_t i) const { return parts()[i]; }
  /// Of a priority queue: the smallest leaves first.
  std::int64_t priority = 0;

 private:
  friend class queue_elements;
  friend class queue;

  static constexpr std::size_t boundary = 64;
  [[nodiscard]] static constexpr std::size_t rounded(std::size_t bytes) {
    return (bytes + boundary - 1) / boundary * boundary;
  }

  explicit queue_element(std::size_t count, std::size_t room) : count_(count), room_(room) {
    for (std::size_t i = 0; i < count; ++i) new (parts() + i) raw_view;
  }
  [[nodiscard]] raw_view* parts() { return reinterpret_cast<raw_view*>(this + 1); }
  [[nodiscard]] const raw_view* parts() const { return reinterpret_cast<const raw_view*>(this + 1); }

  /// Bytes that a copy of these tensors takes.
  [[nodiscard]] static std::size_t bytes_for(array_view<const raw_view> tensors) {
    std::size_t bytes = 0;
    for (const raw_view& t : tensors) {
      bytes += rounded(t.bytes());
      if (t.type == dtype::string) bytes += rounded(characters_of(t));
    }
    return bytes;
  }
  [[nodiscard]] TAGMA_COLD static std::size_t characters_of(const raw_view& t) {
    std::size_t bytes = 0;
    const auto* const texts = static_cast<const string_element*>(t.data);
    for (extent i = 0; i < t.dims.elements(); ++i) bytes += texts[i].size();
    return bytes;
  }
  /// An element with room for so many bytes, or nullptr.
  [[nodiscard]] TAGMA_COLD static queue_element* make(std::size_t count, std::size_t bytes) {
    const std::size_t head = rounded(sizeof(queue_element) + count * sizeof(raw_view));
    void* const memory = ::operator new (head + bytes, std::align_val_t{boundary}, std::nothrow);
    return memory == nullptr ? nullptr : new (memory) queue_element(count, bytes);
  }
  TAGMA_COLD static void destroy(queue_element* e) { ::operator delete (e, std::align_val_t{boundary}); }

  /// Takes copies of tensors, for which there is room.
  void take(array_view<const raw_view> tensors) {
    std::byte* to = reinterpret_cast<std::byte*>(this) + rounded(sizeof(queue_element) + count_ * sizeof(raw_view));
    for (std::size_t i = 0; i < count_; ++i) {
      const raw_view& from = tensors[i];
      parts()[i] = from;
      parts()[i].data = to;
      if (from.bytes() > 0) std::memcpy(to, from.data, from.bytes());
      to += rounded(from.bytes());
      if (from.type == dtype::string) to += take_characters(parts()[i], to);
    }
  }
  TAGMA_COLD static std::size_t take_characters(const raw_view& own, std::byte* to) {
    auto* const texts = static_cast<string_element*>(const_cast<void*>(own.data));
    char* at = reinterpret_cast<char*>(to);
    for (extent i = 0; i < own.dims.elements(); ++i) {
      if (!texts[i].empty()) std::memcpy(at, texts[i].data(), texts[i].size());
      texts[i] = {at, texts[i].size()};
      at += texts[i].size();
    }
    return rounded(static_cast<std::size_t>(at - reinterpret_cast<char*>(to)));
  }

  queue_element* next_ = nullptr;
  std::uint64_t order_ = 0;  // of equal priority, the first to come leaves first
  std::size_t count_ = 0;
  std::size_t room_ = 0;
};

/// Elements one behind the other; owns them.
class queue_elements {
 public:
  queue_elements() = default;
  queue_elements(queue_elements&& other) noexcept : first_(other.first_), last_(other.last_), count_(other.count_) {
    other.first_ = other.last_ = nullptr;
    other.count_ = 0;
  }
  queue_elements& operator=(queue_elements&& other) noexcept {
    if (this == &other) return *this;
    clear();
    first_ = other.first_, last_ = other.last_, count_ = other.count_;
    other.first_ = other.last_ = nullptr;
    other.count_ = 0;
    return *this;
  }
  queue_elements(const queue_elements&) = delete;
  queue_elements& operator=(const queue_elements&) = delete;
  ~queue_elements() { clear(); }

  [[nodiscard]] extent size() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] const queue_element& front() const { return *first_; }
  /// Calls `f(position, element)` for each.
  template <class F>
  void each(const F& f) const {
    extent i = 0;
    for (const queue_element* e = first_; e != nullptr; e = e->next_) f(i++, *e);
  }

 private:
  friend class queue;

  void push_back(queue_element* e) {
    e->next_ = nullptr;
    (first_ == nullptr ? first_ : last_->next_) = e;
    last_ = e;
    ++count_;
  }
  [[nodiscard]] queue_element* pop_front() {
    queue_element* const e = first_;
    first_ = e->next_;
    if (first_ == nullptr) last_ = nullptr;
    --count_;
    return e;
  }
  /// All of `others` before these.
  void push_front(queue_elements& others) {
    if (others.first_ == nullptr) return;
    others.last_->next_ = first_;
    if (first_ == nullptr) last_ = others.last_;
    first_ = others.first_;
    count_ += others.count_;
    others.first_ = others.last_ = nullptr;
    others.count_ = 0;
  }
  void clear() {
    while (!empty()) queue_element::destroy(pop_front());
  }

  queue_element* first_ = nullptr;
  queue_element* last_ = nullptr;
  extent count_ = 0;
};

/// The extents of component `i` of all elements together: how many they are, and of each axis the largest.
/// @param declared those of one element, as the queue has them
[[nodiscard]] inline shape dims_of_batch(const queue_elements& elements, std::size_t i, const shape& declared) {
  shape dims{elements.size()};
  for (const extent e : declared.span()) dims.push_back(e == dyn ? 0 : e);
  elements.each([&](extent, const queue_element& e) {
    const shape& one = e.component(i).dims;
    for (int axis = 0; axis < one.rank; ++axis)
      if (one[axis] > dims[axis + 1]) dims.extents[axis + 1] = one[axis];
  });
  return dims;
}

/// Copies a tensor into the corner of a larger one that begins at `to`.
inline void copy_into_corner(std::byte* to, const shape& large, const raw_view& from) {
  if (from.bytes() == 0) return;
  const int rank = from.dims.rank;
  if (rank == 0 || from.dims == large) {
    std::memcpy(to, from.data, from.bytes());
    return;
  }
  const std::size_t one = from.bytes() / static_cast<std::size_t>(from.dims.elements());
  const auto row = static_cast<std::size_t>(from.dims[rank - 1]) * one;
  const auto* at = static_cast<const std::byte*>(from.data);
  const extent rows = from.dims.elements() / from.dims[rank - 1];
  for (extent r = 0; r < rows; ++r, at += row) {
    extent left = r, place = 0, step = large[rank - 1];
    for (int axis = rank - 2; axis >= 0; --axis) {
      place += left % from.dims[axis] * step;
      left /= from.dims[axis];
      step *= large[axis];
    }
    std::memcpy(to + static_cast<std::size_t>(place) * one, at, row);
  }
}

/// Writes component `i` of all elements, one behind the other; `to` holds zeros where they do not fill `dims`.
inline void write_batch(const queue_elements& elements, std::size_t i, const shape& dims, std::byte* to) {
  const shape one = dims.sub(1, dims.rank);
  elements.each([&](extent, const queue_element& e) {
    const raw_view& from = e.component(i);
    copy_into_corner(to, one, from);
    to += raw_view{nullptr, from.type, one}.bytes();
  });
}

}  // namespace tagma::runtime
