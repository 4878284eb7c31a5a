// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/kernel/matmul_integer.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

#include "support/kernel_call.hpp"
#include "support/naive.hpp"
#include "support/naive_product.hpp"
#include "support/sanitizers.hpp"

namespace {

namespace tg = tagma;
using std::int8_t, std::uint8_t, tg::extent, tg::shape;

/// Sums of 64 bits, of which int32 keeps the lower half.
template <class A, class B>
tg::tensor<std::int32_t> naive_product(const tg::tensor<A>& a, const tg::tensor<B>& b, bool ta, bool tb,
                                       const shape& dims) {
  const auto sums = tg::test::naive_product<std::int64_t>(a, b, ta, tb, dims);
  tg::tensor<std::int32_t> out(dims);
  std::transform(sums.span().begin(), sums.span().end(), out.span().begin(), [](std::int64_t total) {
    return static_cast<std::int32_t>(total & 0x7fffffff) | ((total >> 31 & 1) != 0 ? INT32_MIN : 0);
  });
  return out;
}

enum class content { any, least, most };

template <class T>
tg::tensor<T> filled(const shape& dims, content what, std::mt19937& random) {
  tg::tensor<T> t(dims);
  for (T& v : t.span())
    v = what == content::least  ? std::numeric_limits<T>::min()
        : what == content::most ? std::numeric_limits<T>::max()
                                : static_cast<T>(random());
  return t;
}

template <class T>
bool equal(const tg::tensor<T>& a, const tg::tensor<T>& b) {
  return a.dims() == b.dims() && std::equal(a.span().begin(), a.span().end(), b.span().begin());
}

/// [.., m, k] times [.., k, n] under the four transpositions, by one thread and by several.
template <class A, class B>
void check(const shape& batch_a, const shape& batch_b, extent m, extent k, extent n, content what = content::any) {
  std::mt19937 random(static_cast<unsigned>(m + 1000 * k + 7 * n));
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      shape a = batch_a, b = batch_b, c = tg::broadcast(batch_a, batch_b);
      a.push_back(ta ? k : m), a.push_back(ta ? m : k);
      b.push_back(tb ? n : k), b.push_back(tb ? k : n);
      c.push_back(m), c.push_back(n);
      const auto x = filled<A>(a, what, random);
      const auto y = filled<B>(b, what, random);
      INFO(tg::to_string(tg::dtype_of<A>)
           << ' ' << tg::to_string(a) << (ta ? " turned" : "") << " times " << tg::to_string(tg::dtype_of<B>) << ' '
           << tg::to_string(b) << (tb ? " turned" : ""));
      tg::tensor<std::int32_t> one(c), four(c), loop(c);
      for (std::int32_t& v : one.span()) v = 99;  // must be overwritten
      tg::test::call_with<tg::op::matmul_integer>({.threads = 1}, one, {ta, tb}, x, y);
      tg::test::call_with<tg::op::matmul_integer>({.threads = 4}, four, {ta, tb}, x, y);
      tg::test::call_with<tg::op::matmul_integer>({.threads = 3, .repeated = true}, loop, {ta, tb}, x, y);
      CHECK(equal(one, naive_product(x, y, ta, tb, c)));
      CHECK(equal(one, four));
      CHECK(equal(one, loop));
    }
}

template <class A, class B>
struct operands {
  using a = A;
  using b = B;
};
#define ALL_OPERANDS \
  "", (operands<int8_t, int8_t>), (operands<uint8_t, int8_t>), (operands<int8_t, uint8_t>), (operands<uint8_t, uint8_t>)

TEMPLATE_TEST_CASE("integer products of odd shapes, transposed and batched", ALL_OPERANDS) {
  using A = typename TestType::a;
  using B = typename TestType::b;
  for (const extent m : {1, 3, 9})
    for (const extent k : {1, 2, 7, 33})
      for (const extent n : {1, 5, 17, 49}) check<A, B>({}, {}, m, k, n);
  for (const extent k : {255, 256, 257, 600}) check<A, B>({}, {}, 5, k, 9);  // more than one panel
  check<A, B>({}, {}, 131, 18, 19);
  check<A, B>({2, 3}, {2, 3}, 4, 5, 6);
  check<A, B>({3}, {}, 4, 5, 6);
  check<A, B>({}, {3}, 4, 5, 6);
  check<A, B>({2, 1}, {1, 3}, 4, 5, 6);
  check<A, B>({2, 1, 2, 1}, {3, 1, 2}, 2, 3, 2);
  check<A, B>({3, 1}, {1, 4}, 40, 50, 60);  // primitives, a few matrices each
}

TEMPLATE_TEST_CASE("no rows, no columns, and zeros where there are no terms", ALL_OPERANDS) {
  using A = typename TestType::a;
  using B = typename TestType::b;
  check<A, B>({}, {}, 3, 0, 2);
  check<A, B>({}, {}, 0, 3, 2);
  check<A, B>({}, {}, 3, 2, 0);
  check<A, B>({0}, {}, 3, 2, 2);
  check<A, B>({0}, {0}, 300, 200, 200);
}

TEMPLATE_TEST_CASE("sums of 3000 terms do not saturate, and are not rounded to floats", ALL_OPERANDS) {
  using A = typename TestType::a;
  using B = typename TestType::b;
  for (const content what : {content::least, content::most, content::any})
    for (const auto& [m, n] : {std::pair<extent, extent>{1, 1}, {1, 40}, {5, 17}, {70, 3}}) {
      check<A, B>({}, {}, m, 3000, n, what);
      check<A, B>({}, {}, m, 3001, n, what);
    }
}

TEMPLATE_TEST_CASE("sums beyond int32 wrap around", ALL_OPERANDS) {
  using A = typename TestType::a;
  using B = typename TestType::b;
  for (const content what : {content::least, content::most}) {
    check<A, B>({}, {}, 1, 140000, 2, what);
    check<A, B>({}, {}, 3, 140000, 5, what);
  }
}

TEMPLATE_TEST_CASE("integer products of any extents", ALL_OPERANDS) {
  std::mt19937 random(17);
  const auto any_of = [&](unsigned most) { return static_cast<extent>(1 + random() % most); };
  for (int i = 0; i < (tg::test::is_sanitized ? 3 : 25); ++i) {
    check<typename TestType::a, typename TestType::b>({}, {}, any_of(40), any_of(300), any_of(150));
    check<typename TestType::a, typename TestType::b>({any_of(3)}, {}, any_of(150), any_of(40), any_of(40));
  }
}

TEMPLATE_TEST_CASE("large integer products are shared by threads", ALL_OPERANDS) {
  if (tg::test::is_sanitized) return;
  check<typename TestType::a, typename TestType::b>({}, {}, 300, 300, 350);
  check<typename TestType::a, typename TestType::b>({}, {}, 9, 777, 1000);
}

TEST_CASE("loops with and without the instruction for products and sums give the same") {
  std::mt19937 random(5);
  for (const extent n : {1, 16, 33, 100})
    for (const bool turned : {false, true}) {
      constexpr extent m = 37, k = 301;
      const auto a = filled<int8_t>(turned ? shape{k, m} : shape{m, k}, content::any, random);
      const auto b = filled<uint8_t>(turned ? shape{n, k} : shape{k, n}, content::any, random);
      tg::tensor<std::int32_t> c(shape{m, n});
      namespace cpu = tg::device::cpu;
      const cpu::integer_gemm_args g{turned,
                                     turned,
                                     true,
                                     false,
                                     m,
                                     n,
                                     k,
                                     reinterpret_cast<const std::byte*>(a.data()),
                                     turned ? m : k,
                                     reinterpret_cast<const std::byte*>(b.data()),
                                     turned ? k : n,
                                     c.data(),
                                     n};
      for (const bool at_once : {false, cpu::adds_products_at_once()}) {
        cpu::integer_gemm(g, at_once);
        CHECK(equal(c, naive_product(a, b, turned, turned, c.dims())));
      }
    }
}

#if TAGMA_ONEDNN_PRIMITIVES
TEST_CASE("oneDNN is asked where it is exact, for int8 as second matrix, and not for little") {
  const auto state = [](tg::dtype a, tg::dtype b, const shape& x, const shape& y, const shape& out) {
    std::vector<std::byte> none(1);
    tg::runtime::operand in[] = {{none.data(), a, x}, {none.data(), b, y}};
    const std::int64_t attributes[] = {0, 0};
    tg::runtime::kernel_args args;
    args.in = in;
    args.out = {none.data(), tg::dtype::int32, out};
    args.attributes = attributes;
    const auto threads = tg::runtime::make_cpu_executor(2);
    return tg::device::cpu::detail::prepare_matmul_integer(args, {threads.get()}) != nullptr;
  };
  using tg::dtype;
  const bool exact =
      __builtin_cpu_supports("avx512vnni") && tg::device::cpu::machine_level() == tg::device::cpu::level::v4;
  if (std::getenv("DNNL_MAX_CPU_ISA") == nullptr && std::getenv("ONEDNN_MAX_CPU_ISA") == nullptr) {
    CHECK(state(dtype::int8, dtype::int8, {64, 64}, {64, 64}, {64, 64}) == exact);
    CHECK(state(dtype::uint8, dtype::int8, {4, 64, 64}, {4, 64, 64}, {4, 64, 64}) == exact);
  }
  CHECK(!state(dtype::int8, dtype::uint8, {64, 64}, {64, 64}, {64, 64}));
  CHECK(!state(dtype::int8, dtype::int8, {8, 8}, {8, 8}, {8, 8}));
}
#endif

}  // namespace
