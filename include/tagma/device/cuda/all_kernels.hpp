// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// All kernels of the registry of GPUs, which the files of device/cuda/registry/ have.

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/accelerator.hpp"
#include "tagma/device/cuda/interpreted_loop.hpp"
#include "tagma/device/cuda/registry.hpp"
#include "tagma/device/found_kernels.hpp"
#include "tagma/graph/local_devices.hpp"
#include "tagma/runtime/device_kind.hpp"

namespace tagma::device::cuda {

extern template struct registered<operations::arithmetic>;
extern template struct registered<operations::comparison>;
extern template struct registered<operations::conversion>;
extern template struct registered<operations::elementary>;
extern template struct registered<operations::reduction>;
extern template struct registered<operations::contraction>;
extern template struct registered<operations::pooling>;
extern template struct registered<operations::rows>;
extern template struct registered<operations::cells>;
extern template struct registered<operations::order>;
extern template struct registered<operations::filters>;
extern template struct registered<operations::movement>;
extern template struct registered<operations::state>;
extern template struct registered<operations::chance>;
extern template struct registered<operations::training>;
extern template struct registered<internal_operations>;

/// A product with its bias and activation in one call, as `product_and_epilogue`; empty where the loop is another.
/// Defined beside the kernels of products.
[[nodiscard]] kernel_entry join_product(const kernel_and_loop& both, const ir::op_info& kernel,
                                        array_view<const plan::loop_load> loads,
                                        array_view<const plan::loop_operation> operations);

/// The kernels of the operations of the library.
[[nodiscard]] TAGMA_COLD inline const kernel_registry& all_kernels() {
  namespace op = operations;
  static const array_view<const kernel_registry::row> families[] = {
      registered<op::arithmetic>::kernels(), registered<op::comparison>::kernels(),
      registered<op::conversion>::kernels(), registered<op::elementary>::kernels(),
      registered<op::reduction>::kernels(),  registered<op::contraction>::kernels(),
      registered<op::pooling>::kernels(),    registered<op::rows>::kernels(),
      registered<op::cells>::kernels(),      registered<op::order>::kernels(),
      registered<op::filters>::kernels(),    registered<op::movement>::kernels(),
      registered<op::state>::kernels(),      registered<op::chance>::kernels(),
      registered<op::training>::kernels(),   registered<internal_operations>::kernels()};
  static constexpr registry_device of_gpus{"GPUs", &interpreted, nullptr, &join_product};
  static const kernel_registry all(of_gpus, families);
  return all;
}

/// True if a GPU has a kernel for an operation, as the compiler says of programs that it knows.
[[nodiscard]] TAGMA_COLD inline bool has_registered_kernel(const ir::op_info& op) {
  return !all_kernels().find(op.key).empty();
}

/// The kernels of the steps of a plan that are on GPUs.
[[nodiscard]] TAGMA_COLD inline owned<runtime::step_kernels> find_kernels_of_gpus(const plan::heap_plan& plan) {
  return make_owned<found_kernels>(all_kernels(), plan, steps_of::other_devices);
}

/// The GPUs of this machine.
[[nodiscard]] TAGMA_COLD inline const runtime::device_kind& registered_gpus() {
  static constexpr runtime::device_kind kind{{"GPU", &has_registered_kernel, &begins_loop},
                                             [](const gpu_options& options) -> owned<runtime::accelerator> {
                                               return make_owned<accelerator>(shared_gpus(), options);
                                             },
                                             &find_kernels_of_gpus};
  return kind;
}

}  // namespace tagma::device::cuda
