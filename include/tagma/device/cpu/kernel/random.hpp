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

template <class T, distribution Which, int W>
struct random_body_of {
  using C = compute_t<T>;
  TAGMA_INLINE static void draw(const random_key& key, std::int64_t at, C* drawn, std::int64_t count) {
    const auto first = static_cast<std::uint64_t>(at);
    if constexpr (Which == distribution::uniform)
      random_uniform<W>(key, first, 0, drawn, count);
    else if constexpr (Which == distribution::normal)
      random_normal<W>(key, first, 0, drawn, count);
    else
      random_truncated_normal<W>(key, first, drawn, count);
  }
  TAGMA_INLINE static void run(T* to, const random_key* key, std::int64_t first, std::int64_t last) {
    constexpr std::int64_t n = drawn_at_once<C>;
    C drawn[most_drawn];
    for (std::int64_t i = first, count = 0; i < last; i += count) {
      const std::int64_t rest = last - i < most_drawn ? last - i : most_drawn;
      count = rest < n ? n : rest / n * n;
      if constexpr (std::is_same_v<T, C>) {
        C* const where = count > rest ? drawn : to + i;
        draw(*key, i, where, count);
        if (where == drawn)
          for (std::int64_t k = 0; k < rest; ++k) to[i + k] = drawn[k];
      } else {
        draw(*key, i, drawn, count);
        T rounded[most_drawn];
        T* const where = count > rest ? rounded : to + i;
        for (std::int64_t k = 0; k < count; k += W) {
          const auto x = load<W>(drawn + k);
          store(where + k, Which == distribution::uniform ? representable<T>(x) : x);
        }
        if (where == rounded)
          for (std::int64_t k = 0; k < rest; ++k) to[i + k] = rounded[k];
      }
    }
  }
};
/// Uniform numbers are in most trainers, for dropout, and hardly anything but their bits.
template <class T, distribution Which>
using random_body = with_wide<random_body_of<T, Which, default_width>, random_body_of<T, Which, wide_width>,
                              Which != distribution::uniform && sizeof(compute_t<T>) == 4>;

template <class T, distribution Which>
TAGMA_COLD void random(const kernel_args& args, const run_context& context) {
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
