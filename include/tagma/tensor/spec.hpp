// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The type of an edge of the graph, as a C++ type and as a value.

#include <string>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/tensor/dtype.hpp"
#include "tagma/tensor/shape.hpp"

namespace tagma {

/// Element type and shape as a value.
struct tensor_spec {
  dtype type = dtype::none;
  shape dims;

  friend constexpr bool operator==(const tensor_spec&, const tensor_spec&) = default;
};

/// Element type and shape as a type; `dyn` (-1) marks an extent that is known only at run time.
template <class T, extent... Extents>
struct spec {
  using element_type = T;
  static constexpr tensor_spec value{dtype_of<T>, shape{Extents...}};
};

namespace detail {
template <tensor_spec const& Value, std::size_t... I>
constexpr auto spec_type(std::index_sequence<I...>) -> spec<element_of<Value.type>, Value.dims.extents[I]...> {
  return {};
}
}  // namespace detail

/// The type that stands for a value with static storage.
template <tensor_spec const& Value>
using spec_of =
    decltype(detail::spec_type<Value>(std::make_index_sequence<static_cast<std::size_t>(Value.dims.rank)>{}));

/// "float32 [32, 784]".
[[nodiscard]] std::string to_string(const tensor_spec& s);

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/tensor/spec.ipp"
#endif
