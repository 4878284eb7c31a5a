// SPDX-License-Identifier: BSL-1.0
// Kernels are registered for a device and an operation, by one form for all devices.
#include "tagma/device/kernel.hpp"

#include <catch2/catch.hpp>

#include "support/kernel_call.hpp"
#include "tagma/tagma.hpp"
#include "tagma/with_macros.hpp"

namespace {

/// A device of which nothing else is known.
struct on_abacus;

struct base {
  static constexpr tagma::ir::op_kind kind = tagma::ir::op_kind::compute;
  static constexpr const char* infer(tagma::ir::infer_args& a) {
    a.out = a.in[0];
    return nullptr;
  }
};
struct of_cpu : base {
  static constexpr std::string_view name = "of_cpu";
};
struct of_all : base {
  static constexpr std::string_view name = "of_all";
};
struct of_none : base {};
struct cubed : tagma::op::elementwise {
  static constexpr std::string_view name = "cubed";
};

template <class T, int Times>
void times(const tagma::runtime::kernel_args& args, const tagma::runtime::run_context&) {
  for (tagma::extent i = 0; i < args.out.elements(); ++i)
    args.out.as<T>()[i] = static_cast<T>(args.in[0].as<const T>()[i] * T(Times));
}

}  // namespace

template <>
struct tagma::device::kernel<tagma::device::on_cpu, tagma::ir::key<of_cpu>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&times<stored<Out>, 2>};
};
template <class Device>
struct tagma::device::kernel<Device, tagma::ir::key<of_all>> {
  template <dtype Out, dtype In>
  static constexpr kernel_entry entry{Out == In ? &times<stored<Out>, 3> : nullptr};
};
template <>
struct tagma::device::scalar_kernel<tagma::device::on_cpu, tagma::ir::key<cubed>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& x) {
    return x * x * x;
  }
};

namespace {

namespace tg = tagma;
using tg::device::has_kernel, tg::device::has_scalar_kernel, tg::device::on_cpu;

static_assert(has_kernel<on_cpu, tg::ir::key<of_cpu>> && !has_kernel<on_abacus, tg::ir::key<of_cpu>>);
static_assert(has_kernel<on_cpu, tg::ir::key<of_all>> && has_kernel<on_abacus, tg::ir::key<of_all>>);
static_assert(!has_kernel<on_cpu, tg::ir::key<of_none>> && !has_kernel<on_abacus, tg::ir::key<of_none>>);
static_assert(has_scalar_kernel<on_cpu, tg::ir::key<cubed>> && !has_scalar_kernel<on_abacus, tg::ir::key<cubed>>);
static_assert(!has_kernel<on_cpu, tg::ir::key<cubed>> && !has_scalar_kernel<on_cpu, tg::ir::key<of_cpu>>);

TEST_CASE("a kernel is picked by its operation and by the element types of its result and operands") {
  tg::tensor<float> f(tg::shape{2});
  tg::test::call<of_cpu>(f, {}, tg::tensor<float>(tg::shape{2}, {1.5f, -2}));
  CHECK(f[0] == 3);
  CHECK(f[1] == -4);
  tg::tensor<std::int32_t> i(tg::shape{2});
  tg::test::call<of_all>(i, {}, tg::tensor<std::int32_t>(tg::shape{2}, {5, -7}));
  CHECK(i[0] == 15);
  CHECK(i[1] == -21);
}

TEST_CASE("a session finds kernels that a program registers, plain ones and bodies of loops") {
  constexpr auto x = tg::placeholder<"x", float, tg::dyn>();
  const auto y = tg::make_operation<cubed>(tg::make_operation<of_all>(tg::make_operation<of_cpu>(x))) + 1.0f;
  tg::session session(tg::compile([=] { return tg::outputs(y); }));
  CHECK(session.run(y, x = tg::tensor<float>(tg::shape{1}, {0.5f}))[0] == 28);
}

}  // namespace
