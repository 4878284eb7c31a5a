// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/kernel.hpp"

#include <catch2/catch.hpp>
#include <stdexcept>

#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;

/// x + 1 everywhere, and how a kernel is prepared once and called often.
struct plus_one {
  static constexpr std::string_view name = "plus_one";
  static constexpr tg::ir::op_kind kind = tg::ir::op_kind::compute;
  static constexpr const char* infer(tg::ir::infer_args& a) {
    a.out = a.in[0];
    return nullptr;
  }
};
int prepared = 0, called = 0;
struct counted_state final : tg::runtime::kernel_state {
  tg::extent elements = 0;
};

constexpr auto x = tg::placeholder<"x", float, tg::dyn>();

}  // namespace

template <>
struct tagma::device::kernel<tagma::device::on_cpu, tagma::ir::key<plus_one>> {
  static owned<runtime::kernel_state> prepare(const runtime::kernel_args& args, const runtime::run_context&) {
    ++prepared;
    auto state = make_owned<counted_state>();
    state->elements = args.out.elements();
    return state;
  }
  static void run(const runtime::kernel_args& args, const runtime::run_context& context) {
    ++called;
    if (context.threads == nullptr || args.declared[0].rank != 1 || args.declared[0][0] != dyn)
      fail(status_code::internal, "plus_one was called wrongly");
    const auto* state = static_cast<const counted_state*>(args.state);
    if (state->elements > 10) fail(status_code::unimplemented, "no more than ten elements");
    if (state->elements == 10) throw std::runtime_error("ten: too many");
    for (extent i = 0; i < state->elements; ++i) args.out.as<float>()[i] = args.in[0].as<const float>()[i] + 1;
  }
  template <dtype Out, dtype...>
  static constexpr runtime::kernel_entry entry{&run, &prepare};
};

namespace {

TEST_CASE("an operation of one's own: prepared once for given extents, called in every run, named in its errors") {
  const auto y = tg::make_operation<plus_one>(x);
  tg::session session(tg::compile([=] { return tg::outputs(y); }));
  const tg::tensor<float> two(tg::shape{2}, {1, 2}), three(tg::shape{3}, {1, 2, 3});
  CHECK(session.run(y, x = two)[1] == 3);
  CHECK(session.run(y, x = three)[2] == 4);
  CHECK(session.run(y, x = two)[0] == 2);
  CHECK(prepared == 2);
  CHECK(called == 3);
  CHECK_THROWS_WITH(session.run(y, x = tg::tensor<float>(tg::shape{11})),
                    Catch::StartsWith("Unimplemented: plus_one #") && Catch::Contains("float32 [11]") &&
                        Catch::Contains("no more than ten elements"));
  CHECK_THROWS_WITH(session.run(y, x = tg::tensor<float>(tg::shape{10})),
                    Catch::StartsWith("Internal: plus_one #") && Catch::Contains("too many"));
  CHECK(session.run(y, x = two)[1] == 3);
}

}  // namespace
