// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What TAGMA_FRESH_TYPE asks for a type where a compiler needs the detour; base/config.hpp says which.

#include <type_traits>

#include "tagma/base/hash.hpp"

namespace tagma::detail {

/// What nvcc's front end has in place of a fresh type: a number that stands for the function and what it is given.
template <std::uint64_t Hash>
struct seen_place {};

/// That number, 0 for a type that is fresh.
template <class Place>
inline constexpr std::uint64_t seen_hash = 0;
template <std::uint64_t Hash>
inline constexpr std::uint64_t seen_hash<seen_place<Hash>> = Hash;

/// True for what does not tell places apart by itself.
template <class Place>
inline constexpr bool is_no_place = std::is_void_v<Place> || seen_hash<Place> != 0;

/// A hash, and that number, if there is one.
template <class Place>
[[nodiscard]] constexpr std::uint64_t with_seen_hash(std::uint64_t h) {
  return seen_hash<Place> == 0 ? h : hash_combine(h, seen_hash<Place>);
}

/// What stands for a parameter of a function: the expression, if it is one.
template <class Parameter>
[[nodiscard]] constexpr std::uint64_t seen_hash_of() {
  if constexpr (requires { Parameter::record().hash; })
    return Parameter::record().hash;
  else
    return 1;
}
template <int Function, class... Parameters>
[[nodiscard]] constexpr std::uint64_t seen_hash_of_call() {
  std::uint64_t h = hash_combine(hash_text("place"), static_cast<std::uint64_t>(Function));
  ((h = hash_combine(h, seen_hash_of<Parameters>())), ...);
  return h;
}

/// For nvcc.
/// @{
template <int Function, class... Parameters, class Fresh = decltype([] {})>
Fresh fresh_type(int);
template <int Function, class... Parameters>
seen_place<seen_hash_of_call<Function, Parameters...>()> fresh_type(long);
/// @}
template <class... Parameters, class Fresh = decltype([] {})>
Fresh fresh_type(int);
template <class... Parameters>
void fresh_type(long);

}  // namespace tagma::detail
