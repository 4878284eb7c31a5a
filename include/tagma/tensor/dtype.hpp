// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Element types: the C++ type, its run-time id, its name and its size.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

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

/// Everything that tells one element type from another, by id: `type`, the C++ type; `kind`, as a letter, 'f' for
/// floating types, 'i' for integers, 'b' for bool, 's' for strings and '-' for none; `name`, as TensorFlow spells it;
/// `code`, its name in files, empty for what no file holds. With its id, this is all that a new one needs.
template <dtype>
struct element_traits;

namespace detail {
template <class T, char Kind>
struct element_of_kind {
  using type = T;
  static constexpr char kind = Kind;
};
inline constexpr std::size_t dtype_count = static_cast<std::size_t>(dtype::string) + 1;
}  // namespace detail

template <>
struct element_traits<dtype::none> : detail::element_of_kind<no_value, '-'> {
  static constexpr const char *name = "none", *code = "";
};
template <>
struct element_traits<dtype::float64> : detail::element_of_kind<double, 'f'> {
  static constexpr const char *name = "float64", *code = "F64";
};
template <>
struct element_traits<dtype::float32> : detail::element_of_kind<float, 'f'> {
  static constexpr const char *name = "float32", *code = "F32";
};
template <>
struct element_traits<dtype::float16> : detail::element_of_kind<float16, 'f'> {
  static constexpr const char *name = "float16", *code = "F16";
};
template <>
struct element_traits<dtype::bfloat16> : detail::element_of_kind<bfloat16, 'f'> {
  static constexpr const char *name = "bfloat16", *code = "BF16";
};
template <>
struct element_traits<dtype::int64> : detail::element_of_kind<std::int64_t, 'i'> {
  static constexpr const char *name = "int64", *code = "I64";
};
template <>
struct element_traits<dtype::int32> : detail::element_of_kind<std::int32_t, 'i'> {
  static constexpr const char *name = "int32", *code = "I32";
};
template <>
struct element_traits<dtype::int16> : detail::element_of_kind<std::int16_t, 'i'> {
  static constexpr const char *name = "int16", *code = "I16";
};
template <>
struct element_traits<dtype::int8> : detail::element_of_kind<std::int8_t, 'i'> {
  static constexpr const char *name = "int8", *code = "I8";
};
template <>
struct element_traits<dtype::uint8> : detail::element_of_kind<std::uint8_t, 'i'> {
  static constexpr const char *name = "uint8", *code = "U8";
};
template <>
struct element_traits<dtype::boolean> : detail::element_of_kind<bool, 'b'> {
  static constexpr const char *name = "bool", *code = "BOOL";
};
template <>
struct element_traits<dtype::string> : detail::element_of_kind<string_element, 's'> {
  static constexpr const char *name = "string", *code = "";
};

/// The C++ type of an id.
template <dtype D>
using element_of = typename element_traits<D>::type;

namespace detail {

/// The same as tables, for ids that are known when a program runs.
struct element_facts {
  const char* name;
  const char* code;
  std::uint8_t size;
  char kind;
};
struct element_table {
  element_facts of[dtype_count];
};
template <std::size_t I>
constexpr element_facts facts_of_type() {
  using traits = element_traits<static_cast<dtype>(I)>;
  return {traits::name, traits::code, I == 0 ? std::uint8_t{0} : std::uint8_t{sizeof(typename traits::type)},
          traits::kind};
}
template <std::size_t... I>
constexpr element_table make_element_table(std::index_sequence<I...>) {
  return {{facts_of_type<I>()...}};
}
inline constexpr element_table facts_of_types = make_element_table(std::make_index_sequence<dtype_count>{});

// The entry of a type is found as the base class that has it, which takes compilers less than a comparison with each.
template <class T, dtype D>
struct element_entry {};
template <class Sequence>
struct element_entries;
template <std::size_t... I>
struct element_entries<std::index_sequence<I...>>
    : element_entry<element_of<static_cast<dtype>(I)>, static_cast<dtype>(I)>... {};
inline constexpr element_entries<std::make_index_sequence<dtype_count>> all_entries{};
template <class T, dtype D>
constexpr dtype find_dtype(const element_entry<T, D>*) {
  return D;
}
template <class>
constexpr dtype find_dtype(const void*) {
  return dtype::none;
}

}  // namespace detail

/// The id of a C++ element type; `dtype::none` for every other type.
template <class T>
inline constexpr dtype dtype_of = detail::find_dtype<T>(&detail::all_entries);

/// A C++ type that a tensor can hold.
template <class T>
concept element = dtype_of<T>
!= dtype::none;

namespace detail {
template <std::size_t I, class F>
constexpr void call_for(std::size_t id, const F& f) {
  constexpr char kind = element_traits<static_cast<dtype>(I)>::kind;
  if constexpr (kind != '-' && kind != 's')
    if (id == I) f(element_of<static_cast<dtype>(I)>{});
}
template <class F, std::size_t... I>
constexpr void call_for_one(std::size_t id, const F& f, std::index_sequence<I...>) {
  (call_for<I>(id, f), ...);
}
}  // namespace detail

/// Calls `f(T{})` with the C++ type of an id; not for `none` and strings, where it does nothing.
template <class F>
constexpr void with_number_type(dtype type, const F& f) {
  detail::call_for_one(static_cast<std::size_t>(type), f, std::make_index_sequence<detail::dtype_count>{});
}

/// Bytes of one element.
[[nodiscard]] constexpr std::size_t size_of(dtype type) {
  return detail::facts_of_types.of[static_cast<std::size_t>(type)].size;
}

/// "float32" and so on, as TensorFlow spells them.
[[nodiscard]] constexpr std::string_view to_string(dtype type) {
  return detail::facts_of_types.of[static_cast<std::size_t>(type)].name;
}

namespace detail {
[[nodiscard]] constexpr bool has_kind(dtype type, char kind) {
  return facts_of_types.of[static_cast<std::size_t>(type)].kind == kind;
}
}  // namespace detail

/// True for double, float, float16 and bfloat16: the types that have gradients.
[[nodiscard]] constexpr bool is_floating(dtype type) { return detail::has_kind(type, 'f'); }

/// True for the signed and unsigned integers, not for bool.
[[nodiscard]] constexpr bool is_integer(dtype type) { return detail::has_kind(type, 'i'); }

/// True where arithmetic has a meaning.
[[nodiscard]] constexpr bool is_numeric(dtype type) { return is_floating(type) || is_integer(type); }

}  // namespace tagma
