// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// All kernels of the registry.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kept_kernel.hpp"
#include "tagma/device/cpu/kernel/cell.hpp"
#include "tagma/device/cpu/kernel/concat.hpp"
#include "tagma/device/cpu/kernel/conv.hpp"
#include "tagma/device/cpu/kernel/decode_csv.hpp"
#include "tagma/device/cpu/kernel/decode_image.hpp"
#include "tagma/device/cpu/kernel/decode_raw.hpp"
#include "tagma/device/cpu/kernel/elementwise.hpp"
#include "tagma/device/cpu/kernel/exchange.hpp"
#include "tagma/device/cpu/kernel/filter.hpp"
#include "tagma/device/cpu/kernel/gather.hpp"
#include "tagma/device/cpu/kernel/iterator.hpp"
#include "tagma/device/cpu/kernel/matmul.hpp"
#include "tagma/device/cpu/kernel/matmul_integer.hpp"
#include "tagma/device/cpu/kernel/moments.hpp"
#include "tagma/device/cpu/kernel/optimizers.hpp"
#include "tagma/device/cpu/kernel/parse_example.hpp"
#include "tagma/device/cpu/kernel/parse_sequence_example.hpp"
#include "tagma/device/cpu/kernel/pool.hpp"
#include "tagma/device/cpu/kernel/queue_list.hpp"
#include "tagma/device/cpu/kernel/random.hpp"
#include "tagma/device/cpu/kernel/reader.hpp"
#include "tagma/device/cpu/kernel/reduce.hpp"
#include "tagma/device/cpu/kernel/scan.hpp"
#include "tagma/device/cpu/kernel/shuffle.hpp"
#include "tagma/device/cpu/kernel/slice.hpp"
#include "tagma/device/cpu/kernel/softmax.hpp"
#include "tagma/device/cpu/kernel/sort.hpp"
#include "tagma/device/cpu/kernel/state.hpp"
#include "tagma/device/cpu/kernel/text_constant.hpp"
#include "tagma/device/cpu/kernel/top_k.hpp"
#include "tagma/device/cpu/kernel/transfer.hpp"
#include "tagma/device/cpu/kernel/transpose.hpp"
#include "tagma/device/cpu/registry.hpp"
#include "tagma/device/found_kernels.hpp"
#include "tagma/device/input_operations.hpp"

namespace tagma::device::cpu {

/// The kernels of the operations of the library.
[[nodiscard]] inline const kernel_registry& all_kernels() {
  namespace op = operations;
  static const array_view<const kernel_registry::row> families[] = {
      registered<op::arithmetic>::kernels(), registered<op::comparison>::kernels(),
      registered<op::conversion>::kernels(), registered<op::elementary>::kernels(),
      registered<op::reduction>::kernels(),  registered<op::contraction>::kernels(),
      registered<op::pooling>::kernels(),    registered<op::rows>::kernels(),
      registered<op::cells>::kernels(),      registered<op::order>::kernels(),
      registered<op::filters>::kernels(),    registered<op::movement>::kernels(),
      registered<op::state>::kernels(),      registered<op::chance>::kernels(),
      registered<op::training>::kernels(),   registered<op::internal>::kernels(),
      registered<op::queues>::kernels(),     registered<op::readers>::kernels(),
      registered<op::records>::kernels(),    registered<op::exchange>::kernels()};
  static constexpr registry_device of_cpu{"the CPU", &interpreted, &kept, nullptr, true};
  static const kernel_registry all(of_cpu, families);
  return all;
}

/// What makes a thing of a container, of the library or of an operation that is listed. Throws Unimplemented if nothing
/// does.
[[nodiscard]] TAGMA_COLD inline const runtime::resource_functions& find_resource_functions(
    const plan::plan_resource& named) {
  const auto functions_of = []<class Made>(Made) {
    static constexpr runtime::resource_functions functions{&Made::make, &Made::check};
    return &functions;
  };
  if (named.key == &ir::key<op::queue>) return *functions_of(runtime::resource_of<ir::key<op::queue>>{});
  if (named.key == &ir::key<op::reader>) return *functions_of(runtime::resource_of<ir::key<op::reader>>{});
  if (named.key == &ir::key<op::iterator>) return *functions_of(runtime::resource_of<ir::key<op::iterator>>{});
  const operations::own_operation* const own = operations::own_operation_list::of_process().find_key(named.key);
  if (own == nullptr || own->resource == nullptr)
    fail(status_code::unimplemented,
         {"any_program: nothing makes the ", named.kind, " '", named.name, "'", operations::how_to_list});
  return *own->resource;
}

}  // namespace tagma::device::cpu
