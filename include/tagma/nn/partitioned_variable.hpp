// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A variable in parts, so that several parameter servers share it.

#include "tagma/expr/op/concat.hpp"
#include "tagma/expr/rules.hpp"
#include "tagma/nn/initializers.hpp"
#include "tagma/place/partition.hpp"

namespace tagma {
namespace detail {

/// "part_12".
template <std::size_t Number>
[[nodiscard]] constexpr auto part_name() {
  constexpr std::size_t digits = [] {
    std::size_t n = 1;
    for (std::size_t rest = Number; rest >= 10; rest /= 10) ++n;
    return n;
  }();
  constexpr std::string_view before = "part_";
  fixed_string<before.size() + digits + 1> name;
  std::size_t n = 0;
  for (const char c : before) name.text[n++] = c;
  for (std::size_t i = digits, rest = Number; i-- > 0; rest /= 10)
    name.text[before.size() + i] = static_cast<char>('0' + rest % 10);
  return name;
}

template <class T, extent... Extents>
struct cut_variable {
  static constexpr tensor_spec whole{dtype_of<T>, {Extents...}};

  /// The extent along axis `Axis` of part `K`.
  template <partition Cut, std::size_t K, int Axis>
  static constexpr extent extent_of = Axis == Cut.axis
                                          ? part_extent(whole.dims[Axis], Cut.parts, static_cast<extent>(K))
                                          : whole.dims[Axis];

  template <fixed_string Name, partition Cut, std::size_t K, class Initial, int... Axis>
  static constexpr auto part(const Initial& initial, std::integer_sequence<int, Axis...>) {
    return variable<Name / part_name<K>(), T, extent_of<Cut, K, Axis>...>(initial);
  }
  template <fixed_string Name, partition Cut, class Initial, std::size_t... K>
  static constexpr auto whole_of(const Initial& initial, std::index_sequence<K...>) {
    return concat<Cut.axis>(
        part<Name, Cut, K>(initial, std::make_integer_sequence<int, static_cast<int>(sizeof...(Extents))>{})...);
  }
};

}  // namespace detail

/// A variable that is kept in parts "<Name>/part_0", "<Name>/part_1" and so on: the concatenation of them, or where the
/// partitioner leaves it whole, the variable `Name`. Gradients go to the parts; a `replica_device_setter` hands out
/// parts one by one. Initializers that look at fans see the shape of a part.
/// @tparam Partitioner `fixed_size_partitioner{3}`, `min_max_partitioner{...}`, `axis_size_partitioner{...}`, or a
/// function from the `tensor_spec` of the whole to a `partition`
/// @param initial an initializer or a number
/// Raises TAGMA-E102 for more than 64 parts.
template <fixed_string Name, auto Partitioner, class T, extent... Extents, class Initial>
[[nodiscard]] constexpr auto partitioned_variable(const Initial& initial) {
  TAGMA_NEEDS_NAME("partitioned_variable", Name);
  constexpr partition cut = Partitioner(detail::cut_variable<T, Extents...>::whole);
  if constexpr (cut.parts <= 1)
    return variable<Name, T, Extents...>(initial);
  else
    return detail::cut_variable<T, Extents...>::template whole_of<Name, cut>(
        initial, std::make_index_sequence<static_cast<std::size_t>(cut.parts)>{});
}

}  // namespace tagma
