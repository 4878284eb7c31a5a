// SPDX-License-Identifier: BSL-1.0
#pragma once

// Operations that the library does not have, for programs as data.

#include <atomic>
#include <cstring>
#include <tuple>

#include "tagma/tagma.hpp"
#include "tagma/with_macros.hpp"

namespace mine {

namespace tg = tagma;

/// log(cosh(x)), element by element.
struct log_cosh : tg::op::elementwise {
  static constexpr const char* name = "mine.log_cosh";
  static constexpr int version = 3;
  static constexpr void takes(auto& t) { t.floats(1); }
  static constexpr void gradient(tg::ir::gradient_args& g) {
    g.set(0, g.emit(tg::op::multiply{}, g.upstream, g.emit(tg::op::tanh{}, g.in(0))));
  }
};

/// Sums along the last axis up to each element, or, if attribute 0 is 1, from each element on.
struct running_sum {
  static constexpr const char* name = "mine.running_sum";
  static constexpr tg::ir::op_kind kind = tg::ir::op_kind::compute;
  static constexpr void takes(auto& t) { t.numbers(1), t.axes(0, 1), t.flag("backwards"); }
  static constexpr const char* infer(tg::ir::infer_args& a) {
    a.out = a.in[0];
    return a.out.dims.rank == 0 ? "needs at least one axis" : nullptr;
  }
  static constexpr void gradient(tg::ir::gradient_args& g) {
    g.set(0, g.emit_with(running_sum{}, tg::ir::pack_attributes(1 - g.attr(0)), g.upstream));
  }
};

/// Half of each element, and whether it is above 0.
struct halves {
  static constexpr const char* name = "mine.halves";
  static constexpr tg::ir::op_kind kind = tg::ir::op_kind::compute;
  static constexpr int outputs = 2;
  static constexpr void takes(auto& t) { t.floats(1); }
  static constexpr const char* infer(tg::ir::infer_args& a) {
    a.out = a.in[0];
    if (a.output == 1) a.out = {tg::dtype::boolean, a.in[0].dims};
    return nullptr;
  }
};

/// a * b + c * d of four tensors of one shape.
struct two_products {
  static constexpr const char* name = "mine.two_products";
  static constexpr tg::ir::op_kind kind = tg::ir::op_kind::compute;
  static constexpr void takes(auto& t) {
    t.inputs(4), t.float_at(0);
    for (int i = 1; i < 4; ++i) t.alike(i), t.needs(t.in(i).dims == t.in(0).dims, "the operands have one shape");
  }
  static constexpr const char* infer(tg::ir::infer_args& a) {
    a.out = a.in[0];
    return nullptr;
  }
};

/// Its operand; the calls of its kernel are counted.
struct counted {
  static constexpr const char* name = "mine.counted";
  static constexpr tg::ir::op_kind kind = tg::ir::op_kind::compute;
  static constexpr void takes(auto& t) { t.floats(1); }
  static constexpr const char* infer(tg::ir::infer_args& a) {
    a.out = a.in[0];
    return nullptr;
  }
};
inline std::atomic<int> counted_calls{0};

/// The same elements under another name: nothing is computed.
struct renamed {
  static constexpr const char* name = "mine.renamed";
  static constexpr tg::ir::op_kind kind = tg::ir::op_kind::view;
  static constexpr void takes(auto& t) { t.any(1); }
  static constexpr const char* infer(tg::ir::infer_args& a) {
    a.out = a.in[0];
    return nullptr;
  }
};

/// An element-wise operation that nobody lists.
struct unlisted : tg::op::elementwise {
  static constexpr const char* name = "mine.unlisted";
  static constexpr void takes(auto& t) { t.floats(1); }
};

/// Tags of one name, of which two have one version.
struct twice : tg::op::elementwise {
  static constexpr const char* name = "mine.twice";
  static constexpr void takes(auto& t) { t.floats(1); }
};
struct twice_again : twice {};
struct twice_later : twice {
  static constexpr int version = 2;
};
struct early : twice {
  static constexpr const char* name = "mine.early";
};
struct early_later : early {
  static constexpr int version = 2;
};

template <tg::expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto log_cosh_of(const E& e) {
  return tg::make_operation<log_cosh, tg::ir::attributes<0>{}, Place>(e);
}
template <tg::expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto counted_of(const E& e) {
  return tg::make_operation<counted, tg::ir::attributes<0>{}, Place>(e);
}
template <tg::expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto running_sum_of(const E& e) {
  return tg::make_operation<running_sum, tg::ir::pack_attributes(0), Place>(e);
}

}  // namespace mine

template <>
struct tagma::device::scalar_kernel<tagma::device::on_cpu, tagma::ir::key<mine::log_cosh>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& x) {
    const P size = abs(x);
    return size + log1p(exp(size * cpu::splat<P>(-2))) - cpu::splat<P>(0.693147180559945309);
  }
};
template <>
struct tagma::device::scalar_kernel<tagma::device::on_cpu, tagma::ir::key<mine::unlisted>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& x) {
    return x * x * x;
  }
};
template <>
struct tagma::device::scalar_kernel<tagma::device::on_cpu, tagma::ir::key<mine::twice>>
    : scalar_kernel<on_cpu, ir::key<mine::unlisted>> {};
template <>
struct tagma::device::scalar_kernel<tagma::device::on_cpu, tagma::ir::key<mine::twice_again>>
    : scalar_kernel<on_cpu, ir::key<mine::unlisted>> {};
template <>
struct tagma::device::scalar_kernel<tagma::device::on_cpu, tagma::ir::key<mine::twice_later>>
    : scalar_kernel<on_cpu, ir::key<mine::unlisted>> {};
template <>
struct tagma::device::scalar_kernel<tagma::device::on_cpu, tagma::ir::key<mine::early>>
    : scalar_kernel<on_cpu, ir::key<mine::unlisted>> {};
template <>
struct tagma::device::scalar_kernel<tagma::device::on_cpu, tagma::ir::key<mine::early_later>>
    : scalar_kernel<on_cpu, ir::key<mine::unlisted>> {};

template <>
struct tagma::device::kernel<tagma::device::on_cpu, tagma::ir::key<mine::running_sum>> {
  template <class T>
  static void run(const kernel_args& args, const run_context&) {
    const auto* from = args.in[0].as<const T>();
    auto* to = args.out.as<T>();
    const extent n = args.out.dims[args.out.dims.rank - 1], all = args.out.elements();
    const bool backwards = args.attributes[0] != 0;
    for (extent row = 0; row < all; row += n) {
      T sum{};
      for (extent k = 0; k < n; ++k) {
        const extent i = row + (backwards ? n - 1 - k : k);
        to[i] = sum += from[i];
      }
    }
  }
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&run<stored<Out>>};
};
template <>
struct tagma::device::kernel<tagma::device::on_cpu, tagma::ir::key<mine::counted>> {
  static void run(const kernel_args& args, const run_context&) {
    ++mine::counted_calls;
    std::memcpy(args.out.data, args.in[0].data, args.in[0].bytes());
  }
  template <dtype, dtype>
  static constexpr kernel_entry entry{&run};
};
template <>
struct tagma::device::kernel<tagma::device::on_cpu, tagma::ir::key<mine::halves>> {
  template <class T>
  static void run(const kernel_args& args, const run_context&) {
    for (extent i = 0; i < args.in[0].elements(); ++i) {
      if (args.outs[0].data != nullptr) args.outs[0].as<T>()[i] = args.in[0].as<const T>()[i] / 2;
      if (args.outs[1].data != nullptr) args.outs[1].as<bool>()[i] = args.in[0].as<const T>()[i] > 0;
    }
  }
  template <dtype Half, dtype, dtype>
  static constexpr kernel_entry entry{&run<stored<Half>>};
};
template <>
struct tagma::device::kernel<tagma::device::on_cpu, tagma::ir::key<mine::two_products>> {
  template <class T>
  static void run(const kernel_args& args, const run_context&) {
    const auto in = [&](std::size_t k, extent i) { return args.in[k].as<const T>()[i]; };
    for (extent i = 0; i < args.out.elements(); ++i) args.out.as<T>()[i] = in(0, i) * in(1, i) + in(2, i) * in(3, i);
  }
  template <dtype Out, dtype, dtype, dtype, dtype>
  static constexpr kernel_entry entry{&run<stored<Out>>};
};
