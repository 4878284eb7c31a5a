// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Mean and variance on the GPU, in one pass over memory: a reduction that joins numbers, means and squared deviations
/// by the formula of Chan, Golub and LeVeque 1983.

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/kernel/reduce.hpp"
#include "tagma/expr/op/moments.hpp"

namespace tagma::device {
namespace cuda::detail {

/// How many elements, their mean, and the sum of their squared deviations from it. The mean is a number far from zero
/// and a small one: differences of the first are exact where all numbers are alike.
template <class C>
struct some_moments {
  C count, far, mean, squares;
};
template <class C>
struct join_moments {
  static constexpr bool of_nothing = true;
  using value = some_moments<C>;
  TAGMA_DEVICE static value neutral() { return {C(0), C(0), C(0), C(0)}; }
  TAGMA_DEVICE static value load(C x, std::int64_t) { return {C(1), x, C(0), C(0)}; }
  TAGMA_DEVICE static value load(const value& v, std::int64_t) { return v; }
  TAGMA_DEVICE static value join(const value& a, const value& b) {
    if (a.count == C(0)) return b;
    if (b.count == C(0)) return a;
    const C count = a.count + b.count, share = b.count / count, off = b.far - a.far + (b.mean - a.mean);
    return {count, a.far, a.mean + off * share, a.squares + b.squares + off * off * (a.count * share)};
  }
};

template <class C>
struct moments_body {
  struct arguments {
    const some_moments<C>* from;
    C* mean;
    C* variance;
    std::int64_t count;
    C joined;
  };
  TAGMA_DEVICE static void run(const place& at, const arguments& a) {
    for (std::int64_t i = at.index(); i < a.count; i += at.count()) {
      const some_moments<C> v = a.from[i];
      const C variance = v.squares / a.joined;  // of no elements, NaN
      if (a.mean != nullptr) a.mean[i] = a.joined > C(0) ? v.far + v.mean : variance;
      if (a.variance != nullptr) a.variance[i] = variance;
    }
  }
};

template <class T>
struct moments_kernel {
  using C = compute_t<T>;
  using join = join_moments<C>;
  using value = typename join::value;

  static owned<kernel_state> prepare(const kernel_args& args, const run_context& context) {
    const reduction_plan p = plan_of(args);
    return reserve_workspace(context, behind(p) + static_cast<std::size_t>(p.results) * sizeof(value));
  }
  static void run(const kernel_args& args, const run_context& context) {
    const reduction_plan p = plan_of(args);
    if (p.results == 0) return;
    auto* const found = reinterpret_cast<value*>(resources_of(context).workspace() + behind(p));
    reduce<join>(args.in[0].as<const T>(), found, p, context);
    launch<moments_body<C>>(geometry::over(p.results), context,
                            {found, args.outs[0].as<C>(), args.outs[1].as<C>(), p.results, static_cast<C>(p.joined)});
  }
  static constexpr kernel_entry entry{&run, &prepare};

 private:
  /// The parts of a reduction in two passes are in front.
  static std::size_t behind(const reduction_plan& p) { return workspace_part(reduction_bytes<join>(p)); }
};

}  // namespace cuda::detail

template <>
struct kernel<on_cuda, ir::key<op::moments>> {
  template <dtype, dtype, dtype In>
  static constexpr kernel_entry entry = cuda::detail::moments_kernel<stored<In>>::entry;
};

}  // namespace tagma::device
