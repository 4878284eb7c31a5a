// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The kernels of a device as values, found by operation and element types: the classes that `kernel_table.hpp` picks
/// from, for every signature of `operations.hpp`. Plain programs include none of this.

#include <string_view>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/device/loop_recipe.hpp"
#include "tagma/device/operations.hpp"
#include "tagma/runtime/kernel.hpp"

namespace tagma::device {

struct kernel_and_loop;

/// One kernel: of an operation, or the body of an element-wise one.
struct registered_kernel {
  const char* key = nullptr;
  operations::signature types;
  kernel_entry entry;
  loop_body (*body)() = nullptr;  ///< of an element-wise operation; the best for this machine
};

/// What a device does with the kernels that are found for it.
struct registry_device {
  std::string_view name;  ///< in errors: "the CPU"
  /// The kernel of a loop; the recipe outlives all calls.
  kernel_entry (*loop)(const loop_recipe& recipe) = nullptr;
  /// A kernel that does nothing while no variable was written, of another one that outlives all calls; nullptr: what
  /// could be kept is computed in each run.
  kernel_entry (*kept)(const kernel_entry& kernel) = nullptr;
  /// One kernel that does what both do; empty if there is none. nullptr: there never is.
  /// @param kernel the operation before the loop, whose result is the first of the loads
  kernel_entry (*join)(const kernel_and_loop& both, const ir::op_info& kernel, array_view<const plan::loop_load> loads,
                       array_view<const plan::loop_operation> operations) = nullptr;
  bool lists_own = false;  ///< the operations that the program lists have kernels for it
};

/// All that is registered for a device: the operations of some families, and perhaps those that the program lists.
class kernel_registry {
 public:
  using row = array_view<const registered_kernel>;

  /// @param device,families outlive it
  kernel_registry(const registry_device& device, array_view<const array_view<const row>> families)
      : device_(device), families_(families) {}

  [[nodiscard]] const registry_device& device() const { return device_; }
  /// The kernels of an operation; empty if there are none.
  [[nodiscard]] row find(const char* key) const;

 private:
  const registry_device& device_;
  array_view<const array_view<const row>> families_;
};

namespace detail {

/// True for what loops compute with: floats instead of halves, which are converted.
template <class Op, operations::signature S>
inline constexpr bool is_in_loops =
    &ir::key<Op> == &ir::key<op::cast> || !(is_half(S.out) || is_half(S.in[0]) || is_half(S.in[S.inputs - 1]));

template <class Device, class Op, operations::signature S, std::size_t... O, std::size_t... I>
constexpr kernel_entry entry_of_several(std::index_sequence<O...>, std::index_sequence<I...>) {
  return kernel<Device, ir::key<Op>>::template entry<S.output(O)..., S.in[I]...>;
}

/// The kernel of a signature.
/// @tparam Bodies has `find<Op, S, I...>()` for the operations of loops, `I` the positions of their operands
template <class Device, class Bodies, class Op, operations::signature S, std::size_t... I>
constexpr registered_kernel kernel_of(std::index_sequence<I...> inputs) {
  registered_kernel k{&ir::key<Op>, S, {}, nullptr};
  if constexpr (Op::kind == ir::op_kind::elementwise) {
    if constexpr (is_in_loops<Op, S>) k.body = &Bodies::template find<Op, S, I...>;
  } else if constexpr (requires { Op::outputs; }) {
    k.entry =
        entry_of_several<Device, Op, S>(std::make_index_sequence<static_cast<std::size_t>(Op::outputs)>{}, inputs);
  } else if constexpr (requires { kernel<Device, ir::key<Op>>::turns_short_rows; }) {
    k.entry = kernel<Device, ir::key<Op>>::template short_rows_entry<S.out, S.in[I]...>;  // of all rows
  } else {
    k.entry = kernel<Device, ir::key<Op>>::template entry<S.out, S.in[I]...>;
  }
  return k;
}

template <class Device, class Bodies, class Row, class Signatures = std::make_index_sequence<Row::signatures.count>>
struct registered_row;
template <class Device, class Bodies, class Row, std::size_t... S>
struct registered_row<Device, Bodies, Row, std::index_sequence<S...>> {
  static constexpr registered_kernel list[] = {
      kernel_of<Device, Bodies, typename Row::operation, Row::signatures.list[S]>(
          std::make_index_sequence<static_cast<std::size_t>(Row::signatures.list[S].inputs)>{})...};
};

/// Those of a family, an element for each operation.
template <class Device, class Bodies, class... Row>
array_view<const kernel_registry::row> rows_of(operations::family<Row...>) {
  static constexpr kernel_registry::row rows[] = {{registered_row<Device, Bodies, Row>::list}...};
  return rows;
}

}  // namespace detail
}  // namespace tagma::device
