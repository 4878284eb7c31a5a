// SPDX-License-Identifier: BSL-1.0
// Operations of a program's own: kernels for CPUs and for GPUs are registered by one form, and sessions find both.
#include "support/cuda_sessions.hpp"
#include "tagma/with_macros.hpp"

namespace mine {

/// Twice each element, by a plain kernel.
struct doubled {
  static constexpr std::string_view name = "mine.doubled";
  static constexpr tagma::ir::op_kind kind = tagma::ir::op_kind::compute;
  static constexpr const char* infer(tagma::ir::infer_args& a) {
    a.out = a.in[0];
    return nullptr;
  }
};
/// x^3, as a part of loops.
struct cubed : tagma::op::elementwise {
  static constexpr std::string_view name = "mine.cubed";
};

template <class T>
struct doubled_body {
  struct arguments {
    const T* from;
    T* to;
    std::int64_t count;
  };
  TAGMA_DEVICE static void run(const tagma::device::cuda::place& at, const arguments& a) {
    for (std::int64_t i = at.index(); i < a.count; i += at.count()) a.to[i] = a.from[i] + a.from[i];
  }
};

}  // namespace mine

template <>
struct tagma::device::kernel<tagma::device::on_cpu, tagma::ir::key<mine::doubled>> {
  template <class T>
  static void run(const kernel_args& args, const run_context&) {
    for (extent i = 0; i < args.out.elements(); ++i)
      args.out.as<T>()[i] = args.in[0].as<const T>()[i] + args.in[0].as<const T>()[i];
  }
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&run<stored<Out>>};
};
template <>
struct tagma::device::kernel<tagma::device::on_cuda, tagma::ir::key<mine::doubled>> {
  template <class T>
  static void run(const kernel_args& args, const run_context& context) {
    const extent n = args.out.elements();
    if (n > 0)
      cuda::launch<mine::doubled_body<T>>(cuda::geometry::over(n), context,
                                          {args.in[0].as<const T>(), args.out.as<T>(), n});
  }
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&run<stored<Out>>};
};

template <>
struct tagma::device::scalar_kernel<tagma::device::on_cpu, tagma::ir::key<mine::cubed>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& x) {
    return x * x * x;
  }
};
template <>
struct tagma::device::scalar_kernel<tagma::device::on_cuda, tagma::ir::key<mine::cubed>> {
  template <class Out, class P>
  TAGMA_DEVICE static Out apply(const P& x) {
    return x * x * x;
  }
};

namespace {

namespace tg = tagma;
using tg::test::check;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 3>();

template <class Y>
void on_both(const Y& y) {
  const auto on_gpu = tg::compile([=] { return tg::outputs(y); });
  const auto on_cpu = tg::compile([=] { return tg::on<tg::cpu<0>>(tg::outputs(y)); });
  using graph = typename decltype(on_gpu)::graph;
  for (const bool has : tg::ir::accelerator_of<graph, 0>::kernels) check(has, "the GPU has all kernels");
  tg::session found(on_gpu, {.gpu = tg::test::modest_gpu});
  tg::session expected(on_cpu, {.gpu = tg::test::modest_gpu});
  const tg::tensor<float> in(tg::shape{2, 3}, {0, 1, -1, 0.5f, 2, -2});
  const auto a = expected.run(y, x = in), b = found.run(y, x = in);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const float twice = in.data()[i] + in.data()[i];
    check(a.data()[i] == twice * twice * twice + in.data()[i], "on the CPU");
    check(b.data()[i] == a.data()[i], "on the GPU");
  }
}

}  // namespace

int main() {
  tg::test::on_gpu();
  on_both(tg::make_operation<mine::cubed>(tg::make_operation<mine::doubled>(x)) + x);
  return tg::test::result();
}
