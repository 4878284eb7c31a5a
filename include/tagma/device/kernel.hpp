// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// How a kernel is registered, on all devices by one form: a specialisation of `kernel` for a device and an operation,
/// or of `scalar_kernel` for an element-wise one. Operations of a program's own are registered the same way:
///   template <>
///   struct tagma::device::kernel<tagma::device::on_cpu, tagma::ir::key<mine::operation>> {
///     template <dtype Out, dtype... In>
///     static constexpr kernel_entry entry{&mine::run<stored<Out>>};
///   };
/// A specialisation for every `Device` serves all of them. A device declares its name: `on_cpu`, `on_cuda`.

#include "tagma/runtime/kernel.hpp"

namespace tagma::device {

using runtime::kernel_args;
using runtime::kernel_entry;
using runtime::kernel_state;
using runtime::operand;
using runtime::run_context;

/// The C++ type of the elements behind an id, `no_value` for a node without value.
template <dtype D>
using stored = element_of<D>;

/// The kernel of an operation on a device. A specialisation has `entry`, a template of the element types of what the
/// operation makes and then of its operands: `template <dtype Out, dtype... In> static constexpr kernel_entry entry`.
template <class Device, const char& Operation>
struct kernel {
  static constexpr bool missing = true;
};

/// The body of an element-wise operation, `template <class Out, class... In> TAGMA_DEVICE static Out apply(const
/// In&...)`: over packs of elements on the CPU, over single numbers on a GPU. 16-bit floats are float.
template <class Device, const char& Operation>
struct scalar_kernel {
  static constexpr bool missing = true;
};

/// True if a device has a kernel for an operation.
template <class Device, const char& Operation>
inline constexpr bool has_kernel = !requires {
  kernel<Device, Operation>::missing;
};
/// True if an operation can be part of a loop on a device.
template <class Device, const char& Operation>
inline constexpr bool has_scalar_kernel = !requires {
  scalar_kernel<Device, Operation>::missing;
};

}  // namespace tagma::device
