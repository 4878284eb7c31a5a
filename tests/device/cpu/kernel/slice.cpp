// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/kernel/slice.hpp"

#include <catch2/catch.hpp>
#include <random>
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

template <class T>
T element_of(tg::extent i) {
  if constexpr (std::is_same_v<T, tg::string_element>)
    return tg::string_element("a string of any length").substr(static_cast<std::size_t>(i % 20));
  else if constexpr (std::is_same_v<T, bool>)
    return i % 2 == 1;
  else
    return static_cast<T>(static_cast<float>(i % 113 + 3));
}

/// Element by element: `in` inside of `before` and `behind`, and `value` elsewhere.
template <class T>
bool is_padded(const tg::tensor<T>& out, const tg::tensor<T>& in, const std::vector<tg::ir::attribute>& before_behind,
               const T& value) {
  for (tg::extent i = 0; i < out.dims().elements(); ++i) {
    tg::extent rest = i, at = 0, stride = 1;
    bool inside = true;
    for (int a = out.dims().rank - 1; a >= 0; --a) {
      const tg::extent p = rest % out.dims()[a] - before_behind[2 * static_cast<std::size_t>(a)];
      inside = inside && p >= 0 && p < in.dims()[a];
      at += p * stride;
      rest /= out.dims()[a];
      stride *= in.dims()[a];
    }
    if (!(out[i] == (inside ? in[at] : value))) return false;
  }
  return true;
}

/// Pads a tensor, and puts it in the place of a slice of zeros, on one thread and on three.
template <class T>
void check_padding(const tg::shape& dims, const std::vector<tg::ir::attribute>& before_behind) {
  tg::shape padded = dims;
  std::vector<tg::ir::attribute> ranges;
  for (int a = 0; a < dims.rank; ++a) {
    const tg::extent before = before_behind[2 * static_cast<std::size_t>(a)];
    padded[a] += before + before_behind[2 * static_cast<std::size_t>(a) + 1];
    ranges.insert(ranges.end(), {before, before + dims[a]});
  }
  INFO("from " << tg::to_string(dims) << " to " << tg::to_string(padded));
  tg::tensor<T> in(dims), value(tg::shape{});
  for (tg::extent i = 0; i < dims.elements(); ++i) in[i] = element_of<T>(i);
  value[0] = element_of<T>(37);
  for (const int threads : {1, 3}) {
    tg::tensor<T> out(padded), whole(padded);
    for (T& v : out.span()) v = element_of<T>(1);
    for (T& v : whole.span()) v = element_of<T>(1);
    tg::test::call_with<tg::op::pad>({.threads = threads}, out, before_behind, in, value);
    CHECK(is_padded(out, in, before_behind, value[0]));
    tg::test::call_with<tg::op::slice_gradient>({.threads = threads}, whole, ranges, in, whole);
    CHECK(is_padded(whole, in, before_behind, T{}));
  }
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

TEMPLATE_TEST_CASE("padding of every element type, in shapes of every kind", "", double, float, tg::float16,
                   tg::bfloat16, std::int64_t, std::int32_t, std::int16_t, std::int8_t, std::uint8_t, bool,
                   tg::string_element) {
  check_padding<TestType>({}, {});
  check_padding<TestType>({5}, {0, 0});
  check_padding<TestType>({5}, {70, 3});
  check_padding<TestType>({0}, {2, 1});
  check_padding<TestType>({3, 0}, {1, 1, 2, 1});
  check_padding<TestType>({0, 3}, {1, 1, 0, 0});
  check_padding<TestType>({0, 3}, {0, 0, 2, 2});  // of no elements
  check_padding<TestType>({1, 9}, {0, 0, 1, 0});
  check_padding<TestType>({7, 1}, {2, 1, 0, 3});
  check_padding<TestType>({7, 3}, {1, 0, 1, 1});
  check_padding<TestType>({4, 5}, {1, 2, 0, 0});
  check_padding<TestType>({3, 2, 5}, {1, 2, 0, 0, 3, 0});
  check_padding<TestType>({3, 2, 5}, {0, 1, 1, 1, 0, 0});
  check_padding<TestType>({2, 3, 1, 4}, {0, 0, 2, 1, 1, 1, 0, 0});
}

TEMPLATE_TEST_CASE("padding of more than one thread's share", "", double, tg::float16, std::int8_t) {
  check_padding<TestType>({999, 257}, {1, 1, 2, 2});
  check_padding<TestType>({257, 999}, {3, 0, 0, 100});
  check_padding<TestType>({99991, 3}, {1, 1, 1, 1});
  check_padding<TestType>({20, 30, 499}, {1, 1, 1, 1, 0, 0});
  check_padding<TestType>({299999}, {70001, 1});
  check_padding<TestType>({3, 199999}, {1, 1, 70001, 99999});
}

TEST_CASE("padding of random extents") {
  std::mt19937 random(9);
  const auto below = [&random](unsigned n) { return static_cast<tg::extent>(random() % n); };
  for (int round = 0; round < 200; ++round) {
    tg::shape dims;
    std::vector<tg::ir::attribute> before_behind;
    const auto rank = static_cast<int>(below(5));
    for (int a = 0; a < rank; ++a) {
      dims.rank = a + 1;
      dims[a] = below(rank < 3 ? 150 : 9);
      for (int side = 0; side < 2; ++side) before_behind.push_back(below(2) * below(rank < 3 ? 90 : 4));
    }
    check_padding<float>(dims, before_behind);
    check_padding<std::int8_t>(dims, before_behind);
  }
}
