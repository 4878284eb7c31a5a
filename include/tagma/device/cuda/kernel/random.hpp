// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Random tensors on the GPU. An element depends on the seed, the node, the run and its own position alone. Seed and
/// run are read from memory of the device, where they are written before the run: a recorded graph draws anew in every
/// replay.

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/distributions.hpp"
#include "tagma/device/cuda/kernel/kernel.hpp"
#include "tagma/device/distributions.hpp"
#include "tagma/device/run_values.hpp"
#include "tagma/expr/op/random.hpp"

namespace tagma::device {
namespace cuda::detail {

template <class T, distribution Which>
struct random_body {
  using C = compute_t<T>;
  struct arguments {
    T* to;
    std::int64_t count;
    const run_parameters* run;
    std::int32_t node;
  };
  TAGMA_DEVICE static random_elements<C> draw(const random_key& key, std::uint64_t block) {
    if constexpr (Which == distribution::uniform)
      return uniform_elements<C>(key, block);
    else if constexpr (Which == distribution::normal)
      return normal_elements<C>(key, block);
    else
      return truncated_elements<C>(key, block);
  }
  TAGMA_DEVICE static void run(const place& at, const arguments& a) {
    constexpr int width = random_width<C>;
    const random_key key = key_of_run(a.run->seed, a.node, a.run->step);
    for (std::int64_t block = at.index(); block * width < a.count; block += at.count()) {
      const random_elements<C> x = draw(key, static_cast<std::uint64_t>(block));
      TAGMA_UNROLL
      for (int i = 0; i < width; ++i)
        if (block * width + i < a.count)
          a.to[block * width + i] =
              narrow<T>(Which == distribution::uniform ? representable<T>(x.element[i]) : x.element[i]);
    }
  }
};

template <class T, distribution Which>
void random(const kernel_args& args, const run_context& context) {
  constexpr int width = random_width<compute_t<T>>;
  const std::int64_t n = args.out.elements();
  if (n == 0) return;
  launch<random_body<T, Which>>(geometry::over(pieces(n, width)), context,
                                {args.out.as<T>(), n, resources_of(context).parameters(), args.source});
}

}  // namespace cuda::detail

template <>
struct kernel<on_cuda, ir::key<op::random_uniform>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{.run = &cuda::detail::random<stored<Out>, distribution::uniform>,
                                      .reads_run = true};
};
template <>
struct kernel<on_cuda, ir::key<op::random_normal>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{.run = &cuda::detail::random<stored<Out>, distribution::normal>,
                                      .reads_run = true};
};
template <>
struct kernel<on_cuda, ir::key<op::truncated_normal>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{.run = &cuda::detail::random<stored<Out>, distribution::truncated>,
                                      .reads_run = true};
};

}  // namespace tagma::device
