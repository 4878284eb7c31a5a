// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/kernel/half_bits.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "tagma/with_macros.hpp"

namespace tg = tagma;
namespace cpu = tagma::device::cpu;

namespace {

template <class T, const char& Operation>
using loop =
    cpu::detail::loop_of_bits<tg::device::types<tg::device::load_of<tg::dtype_of<T>, true>>,
                              tg::device::types<tg::device::operation_of<Operation, tg::dtype_of<T>, 0, 0, 0>>>;
constexpr cpu::detail::bits_function none = nullptr;

/// What a loop makes of every number, and that it writes no more than `n`.
template <class T, class Loop>
std::vector<T> run(std::int64_t n) {
  std::vector<T> in(static_cast<std::size_t>(n)), out(static_cast<std::size_t>(n + 1));
  for (std::size_t i = 0; i < in.size(); ++i) in[i].bits = static_cast<std::uint16_t>(i);
  out.back().bits = 12345;
  const auto* const from = reinterpret_cast<const std::byte*>(in.data());
  Loop::or_else(none)(reinterpret_cast<std::byte*>(out.data()), &from, n);
  CHECK(out.back().bits == 12345);
  out.pop_back();
  return out;
}

}  // namespace

TEMPLATE_TEST_CASE("bits of 16-bit floats become those of the widened ones", "", tg::float16, tg::bfloat16) {
  using T = TestType;
  for (const std::int64_t n : {0, 16, 48, 65536}) {  // whole packs
    const auto a = run<T, loop<T, tg::ir::key<tg::op::abs>>>(n), o = run<T, loop<T, tg::ir::key<tg::op::negate>>>(n);
    const auto p = run<T, loop<T, tg::ir::key<tg::op::relu>>>(n);
    int wrong = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      T x;
      x.bits = static_cast<std::uint16_t>(i);
      const float v = static_cast<float>(x);
      const int bits = x.bits;
      wrong += a[i].bits == (bits & 0x7fff) ? 0 : 1;
      wrong += o[i].bits == (bits ^ 0x8000) ? 0 : 1;
      wrong += p[i].bits == (v != v ? 0xffff : v > 0 ? bits : 0) ? 0 : 1;
    }
    CAPTURE(n);
    CHECK(wrong == 0);
  }
}

TEST_CASE("operations that round have loops of packs") {
  CHECK(loop<tg::bfloat16, tg::ir::key<tg::op::square>>::or_else(none) == none);
  CHECK(loop<float, tg::ir::key<tg::op::abs>>::or_else(none) == none);
}
