// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Random orders on the CPU. They depend on the seed, the node, the run and the number of elements alone.

#include "tagma/device/cpu/kernel/sort.hpp"
#include "tagma/device/run_values.hpp"
#include "tagma/expr/op/shuffle.hpp"

namespace tagma::device {
namespace cpu::detail {

inline void random_permutation(const kernel_args& args, const run_context& context) {
  const std::int64_t n = args.out.elements();
  std::int64_t* const words = static_cast<scratch<std::int64_t>*>(args.state)->data();
  const random_key key = key_of_run(context.seed, args.source, context.step);
  over_pieces(n, 64, context, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i)
      words[i] = static_cast<std::int64_t>(order_word(key, static_cast<std::uint64_t>(i)));
  });
  order_by([words](std::int64_t i) { return static_cast<std::uint64_t>(words[i]); }, n, args.out.as<std::int64_t>(),
           words + n);
}

}  // namespace cpu::detail

template <>
struct kernel<on_cpu, ir::key<op::random_permutation>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::random_permutation,
                                      [](const kernel_args& args, const run_context&) -> owned<kernel_state> {
                                        return make_owned<cpu::scratch<std::int64_t>>(2 * args.out.elements());
                                      }};
};

}  // namespace tagma::device
