// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A view of consecutive objects and a fixed array, written for constant evaluation: an access is one step of the
/// compiler's interpreter, where std::span and std::array take four. Clang stops a constant after a million steps.
/// Positions and counts are integers of any type, none below 0 (docs/decisions/0032-indices.md).

#include <cstddef>
#include <string_view>
#include <type_traits>

namespace tagma {

/// Like std::span without its checks, and without the time that <span> takes in every program. Made from anything that
/// has `data()` and `size()`, or from an array; a std::span is made from it.
template <class T>
class array_view {
 public:
  constexpr array_view() = default;
  template <class Count>
  constexpr array_view(T* data, Count size) : data_(data), size_(static_cast<std::size_t>(size)) {}
  template <std::size_t N>
  constexpr array_view(T (&array)[N]) : data_(array), size_(N) {}
  template <class Range>
    requires(!std::is_same_v<std::remove_cvref_t<Range>, array_view> && requires(Range & r) {
      static_cast<T*>(r.data());
      r.size();
    })
  constexpr array_view(Range&& range) : data_(range.data()), size_(static_cast<std::size_t>(range.size())) {}

  template <class Index>
  [[nodiscard]] constexpr T& operator[](Index i) const {
    return data_[i];
  }
  [[nodiscard]] constexpr T* data() const { return data_; }
  [[nodiscard]] constexpr std::size_t size() const { return size_; }
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
  [[nodiscard]] constexpr T* begin() const { return data_; }
  [[nodiscard]] constexpr T* end() const { return data_ + size_; }
  [[nodiscard]] constexpr T& front() const { return data_[0]; }
  [[nodiscard]] constexpr T& back() const { return data_[size_ - 1]; }
  template <class Count>
  [[nodiscard]] constexpr array_view first(Count count) const {
    return {data_, count};
  }
  template <class Index>
  [[nodiscard]] constexpr array_view subspan(Index from) const {
    return {data_ + from, size_ - static_cast<std::size_t>(from)};
  }
  template <class Index, class Count>
  [[nodiscard]] constexpr array_view subspan(Index from, Count count) const {
    return {data_ + from, count};
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tagma

/// The elements outlive the view; declared in <string_view>.
template <class T>
inline constexpr bool std::ranges::enable_borrowed_range<tagma::array_view<T>> = true;

namespace tagma {

/// The room of tables that is known when a program runs: their arrays are on the heap (base/heap_room.hpp), and passes
/// give them room by `make_room`. Tables of the compiler are as large as their types say.
inline constexpr std::size_t heap_room = static_cast<std::size_t>(-1);
/// Room for both.
[[nodiscard]] constexpr std::size_t joined_room(std::size_t a, std::size_t b) {
  return a == heap_room || b == heap_room ? heap_room : a + b;
}

/// Like std::array; an array of no elements has room for one, so that it needs no special case.
template <class T, std::size_t N>
struct fixed_array {
  T values[N > 0 ? N : 1]{};

  template <class Index>
  [[nodiscard]] constexpr T& operator[](Index i) {
    return values[i];
  }
  template <class Index>
  [[nodiscard]] constexpr const T& operator[](Index i) const {
    return values[i];
  }
  [[nodiscard]] static constexpr std::size_t size() { return N; }
  [[nodiscard]] constexpr T* data() { return values; }
  [[nodiscard]] constexpr const T* data() const { return values; }
  [[nodiscard]] constexpr T* begin() { return values; }
  [[nodiscard]] constexpr T* end() { return values + N; }
  [[nodiscard]] constexpr const T* begin() const { return values; }
  [[nodiscard]] constexpr const T* end() const { return values + N; }
};

}  // namespace tagma
