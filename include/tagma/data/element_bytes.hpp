// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Elements of datasets as bytes: numbers as they lie in memory, texts and vectors behind their lengths, tensors behind
/// their extents. Lengths and extents are eight bytes, the lowest first.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/io/tf_record.hpp"
#include "tagma/tensor/size.hpp"
#include "tagma/tensor/tensor.hpp"

namespace tagma::datasets::detail {

/// Bytes that an element is read from. Throws `data_loss` where they are no element.
class bytes_reader {
 public:
  explicit bytes_reader(std::string_view from) : left_(from) {}

  [[nodiscard]] std::string_view take(std::uint64_t n);
  [[nodiscard]] std::uint64_t length() { return io::detail::little_endian<8>(take(8).data()); }
  [[nodiscard]] std::size_t left() const { return left_.size(); }
  [[noreturn]] static void wrong();

 private:
  std::string_view left_;
};

void put_length(std::string& to, std::uint64_t n);

/// The name of a type of elements, and how they are written and read; `known` is false for structs, whose members
/// nobody can name.
template <class T>
struct element_bytes {
  static constexpr bool known = false;
};

template <class T>
  requires(std::is_arithmetic_v<T> || (element<T> && !std::is_same_v<T, string_element>))
struct element_bytes<T> {
  static constexpr bool known = true;
  static void name(std::string& to) {
    if constexpr (element<T>)
      to += to_string(dtype_of<T>);
    else
      append_parts(to, {std::is_floating_point_v<T> ? "real" : std::is_signed_v<T> ? "signed" : "unsigned", sizeof(T)});
  }
  static void put(std::string& to, const T& x) { put(to, &x, 1); }
  static void take(bytes_reader& from, T& x) { take(from, &x, 1); }
  static void put(std::string& to, const T* all, std::size_t n) {
    to.append(reinterpret_cast<const char*>(all), n * sizeof(T));
  }
  static void take(bytes_reader& from, T* all, std::size_t n) {
    const std::string_view bytes = from.take(n * sizeof(T));
    if constexpr (std::is_same_v<T, bool>) {
      for (std::size_t i = 0; i < n; ++i) {
        if (bytes[i] != 0 && bytes[i] != 1) bytes_reader::wrong();
        all[i] = bytes[i] == 1;
      }
    } else if (n > 0) {
      std::memcpy(static_cast<void*>(all), bytes.data(), bytes.size());
    }
  }
};

template <>
struct element_bytes<std::string> {
  static constexpr bool known = true;
  static void name(std::string& to) { to += "string"; }
  static void put(std::string& to, const std::string& x) {
    detail::put_length(to, x.size());
    to += x;
  }
  static void take(bytes_reader& from, std::string& x) { x.assign(from.take(from.length())); }
};

template <class T>
struct element_bytes<tensor<T>> {
  static constexpr bool known = true;
  static void name(std::string& to) {
    to += "tensor of ";
    element_bytes<T>::name(to);
  }
  static void put(std::string& to, const tensor<T>& x) {
    to += static_cast<char>(x.dims().rank);
    for (const extent e : x.dims().span()) detail::put_length(to, static_cast<std::uint64_t>(e));
    element_bytes<T>::put(to, x.data(), x.size());
  }
  static void take(bytes_reader& from, tensor<T>& x) {
    const int rank = from.take(1)[0];
    if (rank < 0 || rank > max_rank) bytes_reader::wrong();
    shape dims;
    for (int axis = 0; axis < rank; ++axis) {
      const std::uint64_t e = from.length();
      if (e > static_cast<std::uint64_t>(max_bytes)) bytes_reader::wrong();
      dims.push_back(static_cast<extent>(e));
    }
    // No memory for more elements than there are bytes.
    const extent size = count_elements(dims, sizeof(T));
    if (size < 0 || !is_addressable({dtype_of<T>, dims}) || static_cast<std::size_t>(size) > from.left() / sizeof(T))
      bytes_reader::wrong();
    if (!(x.dims() == dims)) x = tensor<T>(dims);
    element_bytes<T>::take(from, x.data(), x.size());
  }
};

template <class T>
struct element_bytes<std::vector<T>> {
  static constexpr bool known = element_bytes<T>::known;
  static void name(std::string& to) {
    to += "vector of ";
    element_bytes<T>::name(to);
  }
  static void put(std::string& to, const std::vector<T>& x) {
    detail::put_length(to, x.size());
    for (std::size_t i = 0; i < x.size(); ++i) element_bytes<T>::put(to, x[i]);
  }
  static void take(bytes_reader& from, std::vector<T>& x) {
    x.clear();
    for (std::uint64_t n = from.length(); n > 0; --n) {
      if (from.left() == 0) bytes_reader::wrong();  // every element has bytes: tuples have parts
      T one{};
      element_bytes<T>::take(from, one);
      x.push_back(std::move(one));
    }
  }
};

/// Of tuples and pairs.
template <class Row, class... T>
struct bytes_of_parts {
  static constexpr bool known = sizeof...(T) > 0 && (element_bytes<T>::known && ...);
  static void name(std::string& to) {
    to += "(";
    std::size_t i = 0;
    ((to += i++ == 0 ? "" : ", ", element_bytes<T>::name(to)), ...);
    to += ")";
  }
  static void put(std::string& to, const Row& x) {
    std::apply([&](const T&... part) { (element_bytes<T>::put(to, part), ...); }, x);
  }
  static void take(bytes_reader& from, Row& x) {
    std::apply([&](T&... part) { (element_bytes<T>::take(from, part), ...); }, x);
  }
};
template <class... T>
struct element_bytes<std::tuple<T...>> : bytes_of_parts<std::tuple<T...>, T...> {};
template <class A, class B>
struct element_bytes<std::pair<A, B>> : bytes_of_parts<std::pair<A, B>, A, B> {};

}  // namespace tagma::datasets::detail

#ifndef TAGMA_COMPILED
#include "tagma/data/element_bytes.ipp"
#endif
