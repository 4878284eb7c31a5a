// SPDX-License-Identifier: BSL-1.0
// Two operations that the library does not have, defined the way its own are: a tag that says what the compiler must
// know (name, kind, shape, gradient), a kernel for the CPU, and a function for users. A process that compiles the
// program itself finds them in a list; it also wants to know what they take.
#include <tagma/tagma.hpp>
#if defined(TAGMA_LATE)
#include <tagma/own_operations.hpp>
#endif
#include <tagma/with_macros.hpp>

#include <cstdio>

namespace tg = tagma;

namespace mine {

/// log(cosh(x)), element by element: inherits shape rules and broadcasting, and fuses with its neighbours.
struct log_cosh : tg::op::elementwise {
  static constexpr std::string_view name = "mine.log_cosh";
  static constexpr void takes(auto& t) { t.floats(1); }
  static constexpr void gradient(tg::ir::gradient_args& g) {
    g.set(0, g.emit(tg::op::multiply{}, g.upstream, g.emit(tg::op::tanh{}, g.in(0))));
  }
};

/// Sums along the last axis up to each element, or, if attribute 0 is 1, from each element on.
struct running_sum {
  static constexpr std::string_view name = "mine.running_sum";
  static constexpr tg::ir::op_kind kind = tg::ir::op_kind::compute;
  static constexpr void takes(auto& t) { t.floats(1), t.axes(0, 1), t.flag("backwards"); }
  static constexpr const char* infer(tg::ir::infer_args& a) {
    a.out = a.in[0];
    return a.out.dims.rank == 0 ? "needs at least one axis" : nullptr;
  }
  static constexpr void gradient(tg::ir::gradient_args& g) {
    g.set(0, g.emit_with(running_sum{}, tg::ir::pack_attributes(1 - g.attr(0)), g.upstream));
  }
};

}  // namespace mine

/// The body of a loop, over packs of elements; exp and its like are those of packs here.
template <>
struct tagma::device::scalar_kernel<tagma::device::on_cpu, tagma::ir::key<mine::log_cosh>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& x) {
    const P size = abs(x);
    return size + log1p(exp(size * cpu::splat<P>(-2))) - cpu::splat<P>(0.693147180559945309);
  }
};

/// A kernel is picked by the element types of its result and its operands.
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

namespace mine {

inline constexpr auto log_cosh_of = []<tg::expression E, class Place = TAGMA_FRESH_TYPE(E)>(const E& e) {
  TAGMA_NEEDS_FLOATS(typename E::spec_type);
  return tg::make_operation<log_cosh, tg::ir::attributes<0>{}, Place>(e);
};

template <tg::expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto running_sum_of(const E& e) {
  static_assert(E::rank > 0, "running_sum_of: needs at least one axis");
  return tg::make_operation<running_sum, tg::ir::pack_attributes(0), Place>(e);
}

#if defined(TAGMA_LATE)
const tg::listed_operation<log_cosh, float(float)> log_cosh_is_listed;
const tg::listed_operation<running_sum, float(float)> running_sum_is_listed;
#endif

}  // namespace mine

int main() {
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();
  auto sums = mine::running_sum_of(x);
  auto y = mine::log_cosh_of(sums) * 2.0f;  // one loop
  auto slope = tg::gradient(y, x);
  tg::session session(tg::compile([=] { return tg::outputs(sums, y, slope); }));

  const tg::tensor<float> values({2, 4}, {1, 2, 3, 4, -1, 0.5f, 0, -2});
  auto [a, b, c] = session.run(tg::fetch(sums, y, slope), x = values);
  for (int i = 0; i < 8; ++i) std::printf("x %5.2f  sum %5.2f  y %8.5f  dy/dx %8.5f\n", values[i], a[i], b[i], c[i]);
}
