// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/kernel/half_bits.hpp"

#include <catch2/catch.hpp>

#include "tagma/tagma.hpp"

namespace tg = tagma;
namespace cpu = tagma::device::cpu;

TEMPLATE_TEST_CASE("bits of 16-bit floats become those of the widened ones", "", tg::float16, tg::bfloat16) {
  using T = TestType;
  constexpr tg::extent count = 65536 + 5;
  const auto x = tg::placeholder<"x", T, count>();
  const auto magnitude = tg::abs(x), opposite = -x, positive = tg::relu(x);
  tg::session session(tg::compile([=] { return tg::outputs(magnitude, opposite, positive); }));
  tg::tensor<T> in(tg::shape{count});
  for (tg::extent i = 0; i < count; ++i) in[i].bits = static_cast<std::uint16_t>(i);
  const auto a = session.run(magnitude, x = in), n = session.run(opposite, x = in), p = session.run(positive, x = in);
  int wrong = 0;
  for (tg::extent i = 0; i < count; ++i) {
    const float v = static_cast<float>(in[i]);
    const int bits = in[i].bits;
    wrong += a[i].bits == (bits & 0x7fff) ? 0 : 1;
    wrong += n[i].bits == (bits ^ 0x8000) ? 0 : 1;
    wrong += p[i].bits == (v != v ? 0xffff : v > 0 ? bits : 0) ? 0 : 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE("operations that round have loops of packs") {
  using loads = tg::device::types<tg::device::load_of<tg::dtype::bfloat16, true>>;
  using tg::dtype;
  using square = tg::device::operation_of<tg::ir::key<tg::op::square>, dtype::bfloat16, 0, 0, 0>;
  constexpr cpu::detail::bits_function none = nullptr;
  CHECK(cpu::detail::loop_of_bits<loads, tg::device::types<square>>::or_else(none) == none);
  using abs = tg::device::operation_of<tg::ir::key<tg::op::abs>, dtype::bfloat16, 0, 0, 0>;
  CHECK(cpu::detail::loop_of_bits<loads, tg::device::types<abs>>::or_else(none) != none);
}
