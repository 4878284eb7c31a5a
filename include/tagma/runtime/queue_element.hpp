// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What queues hold: tuples of tensors, each in one piece of memory.

#include <cstdint>

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

  explicit queue_element(std::size_t count, std::size_t room);
  [[nodiscard]] raw_view* parts() { return reinterpret_cast<raw_view*>(this + 1); }
  [[nodiscard]] const raw_view* parts() const { return reinterpret_cast<const raw_view*>(this + 1); }

  /// Bytes that a copy of these tensors takes.
  [[nodiscard]] static std::size_t bytes_for(array_view<const raw_view> tensors);
  [[nodiscard]] static std::size_t characters_of(const raw_view& t);
  /// An element with room for so many bytes, or nullptr.
  [[nodiscard]] static queue_element* make(std::size_t count, std::size_t bytes);
  static void destroy(queue_element* e);

  /// Takes copies of tensors, for which there is room.
  void take(array_view<const raw_view> tensors);
  static std::size_t take_characters(const raw_view& own, std::byte* to);

  queue_element* next_ = nullptr;
  std::uint64_t order_ = 0;  // of equal priority, the first to come leaves first
  std::size_t count_ = 0;
  std::size_t room_ = 0;
};

/// Elements one behind the other; owns them.
class queue_elements {
 public:
  queue_elements() = default;
  queue_elements(queue_elements&& other) noexcept;
  queue_elements& operator=(queue_elements&& other) noexcept;
  queue_elements(const queue_elements&) = delete;
  queue_elements& operator=(const queue_elements&) = delete;
  ~queue_elements() {
    if (count_ > 0) clear();
  }

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

  void push_back(queue_element* e);
  [[nodiscard]] queue_element* pop_front();
  /// All of `others` before these.
  void push_front(queue_elements& others);
  void clear();

  queue_element* first_ = nullptr;
  queue_element* last_ = nullptr;
  extent count_ = 0;
};

/// The extents of component `i` of all elements together: how many they are, and of each axis the largest.
/// @param declared those of one element, as the queue has them
[[nodiscard]] shape dims_of_batch(const queue_elements& elements, std::size_t i, const shape& declared);

/// Copies a tensor into the corner of a larger one that begins at `to`.
void copy_into_corner(std::byte* to, const shape& large, const raw_view& from);

/// Writes component `i` of all elements, one behind the other; `to` holds zeros where they do not fill `dims`.
void write_batch(const queue_elements& elements, std::size_t i, const shape& dims, std::byte* to);

}  // namespace tagma::runtime

#ifndef TAGMA_COMPILED
#include "tagma/runtime/queue_element.ipp"
#endif
