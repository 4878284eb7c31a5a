// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Element types: the C++ type, its run-time id, its name and its size.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tagma/tensor/half.hpp"

namespace tagma {

/// Run-time ids of the element types.
enum class dtype : std::uint8_t {
  none,
  float64,
  float32,
  float16,
  bfloat16,
  int64,
  int32,
  int16,
  int8,
  uint8,
  boolean,
  string
};

/// A string element: a view of characters that a feed or a program owns. Trivially copyable, so that a tensor of
/// strings moves through a graph as any other tensor does.
using string_element = std::string_view;

/// The element type of a node that has no value, only an effect, such as a group of updates. All of them are equal.
struct no_value {
  friend constexpr auto operator<=>(const no_value&, const no_value&) = default;
};

/// The id of a C++ element type; `dtype::none` for every other type.
template <class T>
inline constexpr dtype dtype_of = dtype::none;
template <>
inline constexpr dtype dtype_of<double> = dtype::float64;
template <>
inline constexpr dtype dtype_of<float> = dtype::float32;
template <>
inline constexpr dtype dtype_of<float16> = dtype::float16;
template <>
inline constexpr dtype dtype_of<bfloat16> = dtype::bfloat16;
template <>
inline constexpr dtype dtype_of<std::int64_t> = dtype::int64;
template <>
inline constexpr dtype dtype_of<std::int32_t> = dtype::int32;
template <>
inline constexpr dtype dtype_of<std::int16_t> = dtype::int16;
template <>
inline constexpr dtype dtype_of<std::int8_t> = dtype::int8;
template <>
inline constexpr dtype dtype_of<std::uint8_t> = dtype::uint8;
template <>
inline constexpr dtype dtype_of<bool> = dtype::boolean;
template <>
inline constexpr dtype dtype_of<string_element> = dtype::string;

/// A C++ type that a tensor can hold.
template <class T>
concept element = dtype_of<T>
!= dtype::none;

namespace detail {
template <dtype D>
struct element_type {
  using type = no_value;
};
template <>
struct element_type<dtype::float64> {
  using type = double;
};
template <>
struct element_type<dtype::float32> {
  using type = float;
};
template <>
struct element_type<dtype::float16> {
  using type = float16;
};
template <>
struct element_type<dtype::bfloat16> {
  using type = bfloat16;
};
template <>
struct element_type<dtype::int64> {
  using type = std::int64_t;
};
template <>
struct element_type<dtype::int32> {
  using type = std::int32_t;
};
template <>
struct element_type<dtype::int16> {
  using type = std::int16_t;
};
template <>
struct element_type<dtype::int8> {
  using type = std::int8_t;
};
template <>
struct element_type<dtype::uint8> {
  using type = std::uint8_t;
};
template <>
struct element_type<dtype::boolean> {
  using type = bool;
};
template <>
struct element_type<dtype::string> {
  using type = string_element;
};
}  // namespace detail

/// The C++ type of an id.
template <dtype D>
using element_of = typename detail::element_type<D>::type;

/// Bytes of one element.
[[nodiscard]] constexpr std::size_t size_of(dtype type) {
  constexpr std::uint8_t sizes[] = {0, 8, 4, 2, 2, 8, 4, 2, 1, 1, 1, sizeof(string_element)};
  return sizes[static_cast<std::size_t>(type)];
}

/// "float32" and so on, as TensorFlow spells them.
[[nodiscard]] constexpr std::string_view to_string(dtype type) {
  constexpr const char* names[] = {"none",  "float64", "float32", "float16", "bfloat16", "int64",
                                   "int32", "int16",   "int8",    "uint8",   "bool",     "string"};
  return names[static_cast<std::size_t>(type)];
}

/// True for double, float, float16 and bfloat16: the types that have gradients.
[[nodiscard]] constexpr bool is_floating(dtype type) { return type >= dtype::float64 && type <= dtype::bfloat16; }

/// True for the signed and unsigned integers, not for bool.
[[nodiscard]] constexpr bool is_integer(dtype type) { return type >= dtype::int64 && type <= dtype::uint8; }

/// True where arithmetic has a meaning.
[[nodiscard]] constexpr bool is_numeric(dtype type) { return is_floating(type) || is_integer(type); }

}  // namespace tagma
