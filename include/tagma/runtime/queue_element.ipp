// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of queue_element.hpp: in the compiled half, or else in each file that includes it.

#include <cstring>
#include <new>

#include "tagma/base/config.hpp"
#include "tagma/runtime/queue_element.hpp"

namespace tagma::runtime {

TAGMA_DECL queue_element::queue_element(std::size_t count, std::size_t room) : count_(count), room_(room) {
  for (std::size_t i = 0; i < count; ++i) new (parts() + i) raw_view;
}

TAGMA_DECL std::size_t queue_element::bytes_for(array_view<const raw_view> tensors) {
  std::size_t bytes = 0;
  for (const raw_view& t : tensors) {
    bytes += rounded(t.bytes());
    if (t.type == dtype::string) bytes += rounded(characters_of(t));
  }
  return bytes;
}

TAGMA_COLD TAGMA_DECL std::size_t queue_element::characters_of(const raw_view& t) {
  std::size_t bytes = 0;
  const auto* const texts = static_cast<const string_element*>(t.data);
  for (extent i = 0; i < t.dims.elements(); ++i) bytes += texts[i].size();
  return bytes;
}

TAGMA_COLD TAGMA_DECL queue_element* queue_element::make(std::size_t count, std::size_t bytes) {
  const std::size_t head = rounded(sizeof(queue_element) + count * sizeof(raw_view));
  void* const memory = ::operator new (head + bytes, std::align_val_t{boundary}, std::nothrow);
  return memory == nullptr ? nullptr : new (memory) queue_element(count, bytes);
}

TAGMA_COLD TAGMA_DECL void queue_element::destroy(queue_element* e) {
  ::operator delete (e, std::align_val_t{boundary});
}

TAGMA_DECL void queue_element::take(array_view<const raw_view> tensors) {
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

TAGMA_COLD TAGMA_DECL std::size_t queue_element::take_characters(const raw_view& own, std::byte* to) {
  auto* const texts = static_cast<string_element*>(const_cast<void*>(own.data));
  char* at = reinterpret_cast<char*>(to);
  for (extent i = 0; i < own.dims.elements(); ++i) {
    if (!texts[i].empty()) std::memcpy(at, texts[i].data(), texts[i].size());
    texts[i] = {at, texts[i].size()};
    at += texts[i].size();
  }
  return rounded(static_cast<std::size_t>(at - reinterpret_cast<char*>(to)));
}

TAGMA_DECL queue_elements::queue_elements(queue_elements&& other) noexcept
    : first_(other.first_), last_(other.last_), count_(other.count_) {
  other.first_ = other.last_ = nullptr;
  other.count_ = 0;
}

[[gnu::noinline]] TAGMA_DECL queue_elements& queue_elements::operator=(queue_elements&& other) noexcept {
  if (this == &other) return *this;
  if (count_ > 0) clear();
  first_ = other.first_, last_ = other.last_, count_ = other.count_;
  other.first_ = other.last_ = nullptr;
  other.count_ = 0;
  return *this;
}

TAGMA_DECL void queue_elements::push_back(queue_element* e) {
  e->next_ = nullptr;
  (first_ == nullptr ? first_ : last_->next_) = e;
  last_ = e;
  ++count_;
}

TAGMA_DECL queue_element* queue_elements::pop_front() {
  queue_element* const e = first_;
  first_ = e->next_;
  if (first_ == nullptr) last_ = nullptr;
  --count_;
  return e;
}

TAGMA_COLD TAGMA_DECL void queue_elements::push_front(queue_elements& others) {
  if (others.first_ == nullptr) return;
  others.last_->next_ = first_;
  if (first_ == nullptr) last_ = others.last_;
  first_ = others.first_;
  count_ += others.count_;
  others.first_ = others.last_ = nullptr;
  others.count_ = 0;
}

TAGMA_COLD TAGMA_DECL void queue_elements::clear() {
  while (!empty()) queue_element::destroy(pop_front());
}

TAGMA_COLD TAGMA_DECL shape dims_of_batch(const queue_elements& elements, std::size_t i, const shape& declared) {
  shape dims{elements.size()};
  for (const extent e : declared.span()) dims.push_back(e == dyn ? 0 : e);
  elements.each([&](extent, const queue_element& e) {
    const shape& one = e.component(i).dims;
    for (int axis = 0; axis < one.rank; ++axis)
      if (one[axis] > dims[axis + 1]) dims.extents[axis + 1] = one[axis];
  });
  return dims;
}

TAGMA_DECL void copy_into_corner(std::byte* to, const shape& large, const raw_view& from) {
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

TAGMA_DECL void write_batch(const queue_elements& elements, std::size_t i, const shape& dims, std::byte* to) {
  const shape one = dims.sub(1, dims.rank);
  elements.each([&](extent, const queue_element& e) {
    const raw_view& from = e.component(i);
    copy_into_corner(to, one, from);
    to += raw_view{nullptr, from.type, one}.bytes();
  });
}

}  // namespace tagma::runtime
