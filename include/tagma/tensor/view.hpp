// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A view of elements in host memory that somebody else owns: a pointer and a shape.

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "tagma/base/array_view.hpp"
#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/tensor/size.hpp"

namespace tagma {

/// A non-owning, row-major view; `T` is const for elements that may only be read. As cheap to copy as a pointer and a
/// shape, and valid as long as the memory is.
template <class T>
  requires element<std::remove_const_t<T>>
class view {
 public:
  using element_type = T;
  using value_type = std::remove_const_t<T>;

  /// A view of nothing: shape [0].
  constexpr view() : dims_{0} {}

  /// Views `dims.elements()` elements that start at `data`. Throws as `check_size` does.
  constexpr view(T* data, const shape& dims) : data_(data), dims_(dims) { check_size({dtype_of<value_type>, dims}); }

  /// What may be written may be read.
  template <class U>
    requires std::is_same_v<const U, T>
  constexpr view(const view<U>& other) : data_(other.data()), dims_(other.dims()) {}

  /// The first element.
  [[nodiscard]] constexpr T* data() const { return data_; }
  /// The shape.
  [[nodiscard]] constexpr const shape& dims() const { return dims_; }

  /// The number of elements.
  [[nodiscard]] constexpr std::size_t size() const { return static_cast<std::size_t>(dims_.elements()); }
  /// True if there is none.
  [[nodiscard]] constexpr bool empty() const { return size() == 0; }
  /// The elements in a row.
  [[nodiscard]] constexpr array_view<T> span() const { return {data_, size()}; }
  [[nodiscard]] constexpr T* begin() const { return data_; }
  [[nodiscard]] constexpr T* end() const { return data_ + size(); }

  /// The element at a flat, row-major position, which is not checked.
  template <class Index>
    requires std::is_integral_v<Index>
  [[nodiscard]] constexpr T& operator[](Index i) const { return data_[i]; }

  /// The element at one index for each axis. Throws `invalid_argument` for a wrong number of indices and `out_of_range`
  /// for an index outside its axis.
  template <class... Index>
    requires(std::is_integral_v<Index>&&...)
  [[nodiscard]] constexpr T& operator()(Index... index) const {
    const extent list[] = {static_cast<extent>(index)..., 0};
    if (dims_.rank != static_cast<int>(sizeof...(Index))) fail_rank(sizeof...(Index));
    extent flat = 0;
    for (int axis = 0; axis < dims_.rank; ++axis) {
      if (list[axis] < 0 || list[axis] >= dims_[axis]) fail_index(list[axis], axis);
      flat = flat * dims_[axis] + list[axis];
    }
    return data_[flat];
  }

  /// Positions `first` to `last`, exclusive, of the outermost axis. Throws `out_of_range` unless 0 <= first <= last <=
  /// the extent of that axis, and `invalid_argument` for a scalar.
  [[nodiscard]] constexpr view rows(extent first, extent last) const {
    if (dims_.rank == 0) fail(status_code::invalid_argument, "a scalar has no rows");
    if (first < 0 || last < first || last > dims_[0]) fail_rows(first, last);
    shape dims = dims_;
    dims[0] = last - first;
    return {data_ + first * dims_.elements(1, dims_.rank), dims};
  }

  /// The same elements under another shape. Throws `invalid_argument` if the number of elements differs.
  [[nodiscard]] constexpr view reshaped(const shape& dims) const {
    if (count_elements(dims) != dims_.elements())
      fail(status_code::invalid_argument, {"cannot view ", to_string(dims_), " as ", to_string(dims)});
    return {data_, dims};
  }

  /// Equal shapes and equal elements; a NaN equals nothing.
  [[nodiscard]] friend constexpr bool operator==(const view& a, const view& b) {
    if (!(a.dims_ == b.dims_)) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!(a.data_[i] == b.data_[i])) return false;
    return true;
  }

 private:
  [[noreturn]] TAGMA_COLD void fail_rank(std::size_t indices) const {
    fail(status_code::invalid_argument, {indices, " indices for a tensor of shape ", to_string(dims_)});
  }
  [[noreturn]] TAGMA_COLD void fail_index(extent index, int axis) const {
    fail(status_code::out_of_range,
         {"index ", index, " is outside axis ", axis, " of a tensor of shape ", to_string(dims_)});
  }
  [[noreturn]] TAGMA_COLD void fail_rows(extent first, extent last) const {
    fail(status_code::out_of_range,
         {"rows ", first, " to ", last, " are outside a tensor of shape ", to_string(dims_)});
  }

  T* data_ = nullptr;
  shape dims_;
};

/// A view of elements whose type is known only at run time.
struct raw_view {
  const void* data = nullptr;
  dtype type = dtype::none;
  shape dims;

  /// Bytes that the elements occupy.
  [[nodiscard]] constexpr std::size_t bytes() const { return static_cast<std::size_t>(bytes_of({type, dims})); }

  /// The typed view again. Throws `invalid_argument` if the elements are not of type `T`.
  template <element T>
  [[nodiscard]] view<const T> as() const {
    if (type != dtype_of<T>)
      fail(status_code::invalid_argument, {"a tensor of ", to_string(type), " is not one of ", to_string(dtype_of<T>)});
    return {static_cast<const T*>(data), dims};
  }
};

/// Forgets the element type, which stays readable at run time.
template <class T>
[[nodiscard]] constexpr raw_view erase(const view<T>& v) {
  return {v.data(), dtype_of<std::remove_const_t<T>>, v.dims()};
}

}  // namespace tagma
