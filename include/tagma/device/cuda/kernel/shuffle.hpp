// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Random orders on the GPU, those of the CPU. Seed and run are read from memory of the device, as random.hpp says.

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/kernel/sort.hpp"
#include "tagma/device/run_values.hpp"
#include "tagma/expr/op/shuffle.hpp"

namespace tagma::device {
namespace cuda::detail {

/// Half of the random word of a position.
struct random_keys {
  const run_parameters* run;
  std::int32_t node;
  int shift;
  TAGMA_DEVICE std::uint32_t key(std::uint32_t i) const {
    return static_cast<std::uint32_t>(order_word(key_of_run(run->seed, node, run->step), i) >> shift);
  }
};

inline void random_permutation(const kernel_args& args, const run_context& context) {
  const std::int64_t n = args.out.elements();
  if (n == 0) return;
  ordered_positions order(n, context);
  for (const int shift : {0, 32})
    order.sort_by(random_keys{resources_of(context).parameters(), args.source, shift}, 32);
  launch<positions_body>(geometry::over(n), context, {order.get(), args.out.as<std::int64_t>(), n, n, n});
}

}  // namespace cuda::detail

template <>
struct kernel<on_cuda, ir::key<op::random_permutation>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{
      .run = &cuda::detail::random_permutation, .prepare = &cuda::detail::prepare_order, .reads_run = true};
};

}  // namespace tagma::device
