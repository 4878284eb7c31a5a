// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/kernel/slice.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "support/kernel_call.hpp"

namespace tg = tagma;

namespace {

template <class T>
tg::tensor<T> counting(const tg::shape& dims) {
  tg::tensor<T> t(dims);
  for (tg::extent i = 0; i < dims.elements(); ++i) t[i] = static_cast<T>(i % 127);
  return t;
}

/// Element by element: the slice of `in` that begins at `first`.
template <class T>
bool is_slice(const tg::tensor<T>& part, const tg::tensor<T>& in, const std::vector<tg::extent>& first) {
  for (tg::extent i = 0; i < part.dims().elements(); ++i) {
    tg::extent rest = i, at = 0, stride = 1;
    for (int a = part.dims().rank - 1; a >= 0; --a) {
      at += (rest % part.dims()[a] + first[static_cast<std::size_t>(a)]) * stride;
      rest /= part.dims()[a];
      stride *= in.dims()[a];
    }
    if (!(part[i] == in[at])) return false;
  }
  return true;
}

template <class T>
void check_parts() {
  const auto in = counting<T>({5, 6, 7});
  const std::vector<tg::ir::attribute> ranges{1, -1, -3, tg::to_end, 2, 6};
  tg::tensor<T> part(tg::shape{3, 3, 4});
  tg::test::call<tg::op::slice>(part, ranges, in);
  CHECK(is_slice(part, in, {1, 3, 2}));
  tg::tensor<T> whole(tg::shape{5, 6, 7});
  tg::test::call<tg::op::slice_gradient>(whole, ranges, part, whole);
  int others = 0;
  for (const T v : whole) others += v != T{};
  for (const T v : part) others -= v != T{};
  CHECK(others == 0);
  CHECK(is_slice(part, whole, {1, 3, 2}));
}

}  // namespace

TEST_CASE("slices of every element type, and zeros around them") {
  check_parts<double>();
  check_parts<float>();
  check_parts<std::int64_t>();
  check_parts<std::int32_t>();
  check_parts<std::int16_t>();
  check_parts<std::int8_t>();
  check_parts<std::uint8_t>();
}

TEST_CASE("slices: one element, nothing, whole trailing axes, a scalar, and more than one thread's share") {
  const auto in = counting<float>({4, 3, 2});
  tg::tensor<float> one(tg::shape{1, 1, 1}), nothing(tg::shape{4, 0, 2});
  tg::tensor<float> rows(tg::shape{2, 3, 2}), middle(tg::shape{4, 1, 2});
  tg::test::call<tg::op::slice>(one, {3, 4, 2, 3, 1, 2}, in);
  CHECK(one[0] == 23);
  tg::test::call<tg::op::slice>(nothing, {0, tg::to_end, 1, 1, 0, tg::to_end}, in);
  tg::test::call<tg::op::slice>(rows, {2, 4, 0, tg::to_end, 0, tg::to_end}, in);
  CHECK(is_slice(rows, in, {2, 0, 0}));
  tg::test::call<tg::op::slice>(middle, {0, 4, 1, 2, 0, 2}, in);
  CHECK(is_slice(middle, in, {0, 1, 0}));
  tg::tensor<float> number(2.5f), same(0.0f);
  tg::test::call<tg::op::slice>(same, {}, number);
  CHECK(same[0] == 2.5f);
  const auto large = counting<float>({600, 500});
  tg::tensor<float> inner(tg::shape{598, 400});
  tg::test::call_with<tg::op::slice>({.threads = 3}, inner, {1, 599, 50, 450}, large);
  CHECK(is_slice(inner, large, {1, 50}));
}

TEST_CASE("padding: a frame of any value, strings too") {
  const tg::tensor<std::int16_t> in(tg::shape{1, 2}, {1, 2}), seven(tg::shape{}, {7});
  tg::tensor<std::int16_t> out(tg::shape{3, 4});
  tg::test::call<tg::op::pad>(out, {1, 1, 0, 2}, in, seven);
  CHECK(out == tg::tensor<std::int16_t>(tg::shape{3, 4}, {7, 7, 7, 7, 1, 2, 7, 7, 7, 7, 7, 7}));
  const tg::tensor<tg::string_element> word(tg::shape{1}, {"a"}), none(tg::shape{}, {"-"});
  tg::tensor<tg::string_element> words(tg::shape{3});
  tg::test::call<tg::op::pad>(words, {2, 0}, word, none);
  CHECK(words == tg::tensor<tg::string_element>(tg::shape{3}, {"-", "-", "a"}));
}
