// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// How many bytes an element of a dataset takes.

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tagma/tensor/tensor.hpp"

namespace tagma::datasets {

/// The bytes of what an element says: numbers, characters, the elements of tensors. Structs count as they lie in
/// memory, whatever they point at.
/// @{
template <class T>
[[nodiscard]] std::int64_t bytes_of(const T&) {
  return static_cast<std::int64_t>(sizeof(T));
}
[[nodiscard]] inline std::int64_t bytes_of(const std::string& text) { return static_cast<std::int64_t>(text.size()); }
template <class T>
[[nodiscard]] std::int64_t bytes_of(const tensor<T>& t) {
  return static_cast<std::int64_t>(t.size() * sizeof(T));
}
template <class T>
[[nodiscard]] std::int64_t bytes_of(const std::vector<T>& all);
template <class A, class B>
[[nodiscard]] std::int64_t bytes_of(const std::pair<A, B>& both);
template <class... T>
[[nodiscard]] std::int64_t bytes_of(const std::tuple<T...>& parts) {
  return std::apply([](const auto&... part) { return (std::int64_t{0} + ... + datasets::bytes_of(part)); }, parts);
}
template <class T>
std::int64_t bytes_of(const std::vector<T>& all) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<std::int64_t>(all.size() * sizeof(T));
  } else {
    std::int64_t sum = 0;
    for (const T& x : all) sum += datasets::bytes_of(x);
    return sum;
  }
}
template <class A, class B>
std::int64_t bytes_of(const std::pair<A, B>& both) {
  return datasets::bytes_of(both.first) + datasets::bytes_of(both.second);
}
/// @}

}  // namespace tagma::datasets
