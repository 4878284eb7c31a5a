// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Random tensors on the CPU. An element depends on the seed, the node, the run and its own position alone.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/distributions.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/distributions.hpp"
#include "tagma/device/run_values.hpp"
#include "tagma/expr/op/random.hpp"

namespace tagma::device {
namespace cpu::detail {

template <class T, distribution Which>
struct random_body {
  using C = compute_t<T>;
  static constexpr int width = 64 / static_cast<int>(sizeof(C));
  TAGMA_INLINE static pack<C, width> draw(const random_key& key, std::int64_t at) {
    const auto first = static_cast<std::uint64_t>(at);
    if constexpr (Which == distribution::uniform)
      return representable<T>(random_uniform<C, width>(key, first));
    else if constexpr (Which == distribution::normal)
      return random_normal<C, width>(key, first);
    else
      return random_truncated_normal<C, width>(key, first);
  }
  TAGMA_INLINE static void run(T* to, const random_key* key, std::int64_t first, std::int64_t last) {
    std::int64_t i = first;
    for (; i + width <= last; i += width) store(to + i, draw(*key, i));
    if (i < last) store(to + i, draw(*key, i), static_cast<int>(last - i));
  }
};

template <class T, distribution Which>
void random(const kernel_args& args, const run_context& context) {
  constexpr std::int64_t per_task = 8192;
  const std::int64_t n = args.out.elements(), tasks = pieces(n, per_task);
  const random_key key = key_of_run(context.seed, args.source, context.step);
  const auto some = [&](std::int64_t t) {
    dispatch<random_body<T, Which>>(args.out.as<T>(), &key, t * per_task, t + 1 < tasks ? (t + 1) * per_task : n);
  };
  if (tasks <= 1)
    for (std::int64_t t = 0; t < tasks; ++t) some(t);
  else
    context.threads->parallel_for(tasks, some);
}

}  // namespace cpu::detail

template <>
struct kernel<on_cpu, ir::key<op::random_uniform>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::random<stored<Out>, distribution::uniform>};
};
template <>
struct kernel<on_cpu, ir::key<op::random_normal>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::random<stored<Out>, distribution::normal>};
};
template <>
struct kernel<on_cpu, ir::key<op::truncated_normal>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::random<stored<Out>, distribution::truncated>};
};

}  // namespace tagma::device
