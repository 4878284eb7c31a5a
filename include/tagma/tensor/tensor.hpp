// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A tensor in host memory that owns its elements.

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <new>
#include <string>
#include <type_traits>

#include "tagma/base/array_view.hpp"
#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/base/no_memory.hpp"
#include "tagma/base/shared_bytes.hpp"
#include "tagma/tensor/view.hpp"

namespace tagma {

/// Bytes to which the elements of every tensor that is not a scalar are aligned: a cache line, and the widest vector.
inline constexpr std::size_t tensor_alignment = 64;

namespace detail {
template <class From, class To>
concept scalar_for = std::convertible_to<From, To> && !(std::is_floating_point_v<From> && std::is_integral_v<To>);

/// Memory for the elements of a tensor, or nullptr for a scalar and for no elements. Throws as the tensor does.
/// @param size receives how many there are
[[nodiscard]] void* allocate_elements(const tensor_spec& s, std::size_t& size);

/// What a tensor owns beside its elements.
template <class T>
struct tensor_characters {};
template <>
struct tensor_characters<string_element> {
  shared_bytes characters;
};

/// Copies the characters that strings are views of, and makes these views of the copies.
[[nodiscard]] shared_bytes copy_characters(array_view<string_element> texts);
}  // namespace detail

/// An owning, row-major tensor with a shape that is known at run time. A scalar lives inside the object; everything
/// else lives in one block of the heap. A moved-from tensor has shape [0]. Strings are views of somebody's characters,
/// unless the tensor was told to own them.
template <element T>
class tensor : detail::tensor_characters<T> {
 public:
  using element_type = T;
  using value_type = T;

  /// An empty tensor of shape [0].
  tensor() noexcept : dims_{0} {}

  /// All elements zero. Throws InvalidArgument for an extent that is negative or `dyn`, and ResourceExhausted if there
  /// are more than `max_bytes`, or no memory for them.
  explicit tensor(const shape& dims) : dims_(dims) {
    allocate();
    for (std::size_t i = 0; i < size_; ++i) ::new (static_cast<void*>(data_ + i)) T();
  }
  /// The same for extents in braces: `tensor<float>({3})` has three elements, and is no copy of the scalar 3.
  template <std::size_t Rank>
  explicit tensor(const extent (&dims)[Rank]) : tensor(shape(array_view<const extent>(dims, Rank))) {}

  /// A copy of `values`, row by row. Throws `invalid_argument` if there are more or fewer than the shape has elements.
  tensor(const shape& dims, array_view<const T> values) : dims_(dims) {
    const extent expected = count_elements(dims);
    if (expected >= 0 && static_cast<std::size_t>(expected) != values.size())
      fail(status_code::invalid_argument,
           {values.size(), " values for a tensor of shape ", to_string(dims), " of ", expected, " elements"});
    allocate();
    copy_from(values.data());
  }
  tensor(const shape& dims, std::initializer_list<T> values)
      : tensor(dims, array_view<const T>(values.begin(), values.size())) {}

  /// A scalar: rank 0, one element, nothing on the heap.
  template <detail::scalar_for<T> U>
  tensor(U value) : size_(1), data_(&scalar_), scalar_(static_cast<T>(value)) {}

  /// A copy of what a view shows.
  explicit tensor(const view<const T>& v) : tensor(v.dims(), v.span()) {}

  tensor(const tensor& other) : detail::tensor_characters<T>(other), dims_(other.dims_) {
    allocate();
    copy_from(other.data_);
  }
  tensor(tensor&& other) noexcept : dims_{0} { take(other); }
  tensor& operator=(const tensor& other) {
    if (this != &other) *this = tensor(other);
    return *this;
  }
  tensor& operator=(tensor&& other) noexcept {
    if (this != &other) {
      release();
      take(other);
    }
    return *this;
  }
  ~tensor() { release(); }
  /// One function in place of the three moves that std::swap writes wherever it is called.
  [[gnu::noinline]] friend void swap(tensor& a, tensor& b) noexcept {
    detail::tensor_characters<T> characters(static_cast<detail::tensor_characters<T>&&>(a));
    static_cast<detail::tensor_characters<T>&>(a) = static_cast<detail::tensor_characters<T>&&>(b);
    static_cast<detail::tensor_characters<T>&>(b) = static_cast<detail::tensor_characters<T>&&>(characters);
    const shape dims = a.dims_;
    const std::size_t size = a.size_;
    T* const data = a.data_;
    const T scalar = a.scalar_;
    a.dims_ = b.dims_;
    a.size_ = b.size_;
    a.data_ = b.data_;
    a.scalar_ = b.scalar_;
    b.dims_ = dims;
    b.size_ = size;
    b.data_ = data;
    b.scalar_ = scalar;
    if (a.dims_.rank == 0) a.data_ = &a.scalar_;
    if (b.dims_.rank == 0) b.data_ = &b.scalar_;
  }

  /// The first element.
  [[nodiscard]] T* data() noexcept { return data_; }
  /// The first element.
  [[nodiscard]] const T* data() const noexcept { return data_; }

  /// The number of elements.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// True if there is none.
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  /// The shape.
  [[nodiscard]] const shape& dims() const noexcept { return dims_; }
  /// The elements in a row.
  [[nodiscard]] array_view<T> span() noexcept { return {data_, size_}; }
  /// The elements in a row.
  [[nodiscard]] array_view<const T> span() const noexcept { return {data_, size_}; }
  [[nodiscard]] T* begin() noexcept { return data_; }
  [[nodiscard]] T* end() noexcept { return data_ + size_; }
  [[nodiscard]] const T* begin() const noexcept { return data_; }
  [[nodiscard]] const T* end() const noexcept { return data_ + size_; }

  operator view<T>() noexcept { return {data_, dims_}; }
  operator view<const T>() const noexcept { return {data_, dims_}; }

  /// The element at a flat, row-major position, which is not checked.
  template <class Index>
    requires std::is_integral_v<Index>
  [[nodiscard]] T& operator[](Index i) { return data_[i]; }
  template <class Index>
    requires std::is_integral_v<Index>
  [[nodiscard]] const T& operator[](Index i) const { return data_[i]; }

  /// The element at one index for each axis. Throws as `view::operator()` does.
  template <class... Index>
  [[nodiscard]] T& operator()(Index... index) {
    return view<T>(data_, dims_)(index...);
  }
  template <class... Index>
  [[nodiscard]] const T& operator()(Index... index) const {
    return view<const T>(data_, dims_)(index...);
  }

  /// A view of positions `first` to `last`, exclusive, of the outermost axis. Throws as `view::rows` does.
  [[nodiscard]] view<T> rows(extent first, extent last) { return view<T>(data_, dims_).rows(first, last); }
  [[nodiscard]] view<const T> rows(extent first, extent last) const {
    return view<const T>(data_, dims_).rows(first, last);
  }

  /// From now on the strings are views of characters that this tensor and its copies own.
  void own_characters() requires std::is_same_v<T, string_element> {
    this->characters = detail::copy_characters(span());
  }

  /// Equal shapes and equal elements; a NaN equals nothing.
  [[nodiscard]] friend bool operator==(const tensor& a, const tensor& b) {
    return view<const T>(a) == view<const T>(b);
  }

 private:
  void allocate() {
    data_ = static_cast<T*>(detail::allocate_elements({dtype_of<T>, dims_}, size_));
    if (dims_.rank == 0) data_ = &scalar_;
  }
  void copy_from(const T* values) {
    for (std::size_t i = 0; i < size_; ++i) ::new (static_cast<void*>(data_ + i)) T(values[i]);
  }
  void take(tensor& other) noexcept {
    static_cast<detail::tensor_characters<T>&>(*this) = static_cast<detail::tensor_characters<T>&&>(other);
    dims_ = other.dims_;
    size_ = other.size_;
    scalar_ = other.scalar_;
    data_ = dims_.rank == 0 ? &scalar_ : other.data_;
    other.dims_ = shape{0};
    other.size_ = 0;
    other.data_ = nullptr;
  }
  void release() noexcept {
    static_assert(std::is_trivially_destructible_v<T>);
    if (data_ != nullptr && data_ != &scalar_) ::operator delete (data_, std::align_val_t{tensor_alignment});
  }
  shape dims_;
  std::size_t size_ = 0;
  T* data_ = nullptr;
  T scalar_{};
};

template <class T>
view(tensor<T>&) -> view<T>;
template <class T>
view(const tensor<T>&) -> view<const T>;

/// Forgets the element type of a tensor; the result refers to the tensor.
template <class T>
[[nodiscard]] raw_view erase(const tensor<T>& t) {
  return {t.data(), dtype_of<T>, t.dims()};
}

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/tensor/tensor.ipp"
#endif
