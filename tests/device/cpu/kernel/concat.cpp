// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/kernel/concat.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "support/kernel_call.hpp"

namespace tg = tagma;

TEST_CASE("concatenation along every axis, with an operand that is empty") {
  const tg::tensor<float> a(tg::shape{1, 2, 2}, {1, 2, 3, 4}), b(tg::shape{1, 2, 2}, {5, 6, 7, 8});
  const tg::tensor<float> none(tg::shape{1, 0, 2});
  tg::tensor<float> first(tg::shape{2, 2, 2}), middle(tg::shape{1, 4, 2}), last(tg::shape{1, 2, 4});
  tg::test::call<tg::op::concat>(first, {0}, a, b);
  CHECK(first == tg::tensor<float>(tg::shape{2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}));
  tg::test::call<tg::op::concat>(middle, {1}, a, none, b);
  CHECK(middle == tg::tensor<float>(tg::shape{1, 4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}));
  tg::test::call<tg::op::concat>(last, {2}, a, b);
  CHECK(last == tg::tensor<float>(tg::shape{1, 2, 4}, {1, 2, 5, 6, 3, 4, 7, 8}));
}

TEST_CASE("the place of one operand, counted from either end, in both directions") {
  const tg::tensor<std::int32_t> whole(tg::shape{2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  const tg::tensor<std::int32_t> two(tg::shape{2, 2}), one(tg::shape{2, 1});
  tg::tensor<std::int32_t> part(tg::shape{2, 2});
  tg::test::call<tg::op::part_of_whole>(part, {1, 0}, whole, two, one);
  CHECK(part == tg::tensor<std::int32_t>(tg::shape{2, 2}, {2, 3, 7, 8}));
  tg::test::call<tg::op::part_of_whole>(part, {1, 1}, whole, two, one);
  CHECK(part == tg::tensor<std::int32_t>(tg::shape{2, 2}, {3, 4, 8, 9}));
  tg::tensor<std::int32_t> spread(tg::shape{2, 5});
  tg::test::call<tg::op::part_into_whole>(spread, {1, 1}, part, whole, one);
  CHECK(spread == tg::tensor<std::int32_t>(tg::shape{2, 5}, {0, 0, 3, 4, 0, 0, 0, 8, 9, 0}));
  CHECK_THROWS_WITH((tg::test::call<tg::op::part_of_whole>(part, {1, 0}, whole, two, two, two)),
                    Catch::Contains("do not make up an axis of extent 5"));
}

TEST_CASE("a repetition that threads share, along axes between others") {
  const tg::shape from{3, 2, 1, 3, 17}, to{6, 2, 5, 120, 119};
  tg::tensor<float> in(from), out(to);
  for (tg::extent i = 0; i < from.elements(); ++i) in[i] = static_cast<float>(i);
  tg::test::call<tg::op::tile>(out, {2, 1, 5, 40, 7}, in);
  bool equal = true;
  for (tg::extent i = 0; i < to.elements(); ++i) {
    tg::extent rest = i, at = 0, stride = 1;
    for (int a = to.rank - 1; a >= 0; --a) {
      at += rest % to[a] % from[a] * stride;
      rest /= to[a], stride *= from[a];
    }
    equal = equal && out[i] == in[at];
  }
  CHECK(equal);
}

TEST_CASE("repetition and its sum, of every floating type, rows and scalars") {
  const tg::tensor<std::int8_t> in(tg::shape{2, 3}, {1, 2, 3, 4, 5, 6});
  tg::tensor<std::int8_t> out(tg::shape{4, 9});
  tg::test::call<tg::op::tile>(out, {2, 3}, in);
  for (tg::extent i = 0; i < 4; ++i)
    for (tg::extent j = 0; j < 9; ++j) CHECK(out(i, j) == in(i % 2, j % 3));
  tg::tensor<float> number(3.0f), same(0.0f);
  tg::test::call<tg::op::tile>(same, {}, number);
  CHECK(same[0] == 3);
  tg::test::call<tg::op::tile_gradient>(same, {}, number, number);
  CHECK(same[0] == 3);

  const auto check_sums = []<class T>(T) {
    tg::tensor<T> whole(tg::shape{4, 6, 2}), sums(tg::shape{2, 2, 2});
    for (tg::extent i = 0; i < 48; ++i) whole[i] = T(static_cast<float>(i % 11));
    tg::test::call<tg::op::tile_gradient>(sums, {2, 3, 1}, whole, sums);
    for (tg::extent i = 0; i < 2; ++i)
      for (tg::extent j = 0; j < 2; ++j)
        for (tg::extent k = 0; k < 2; ++k) {
          float expected = 0;
          for (tg::extent p = 0; p < 2; ++p)
            for (tg::extent q = 0; q < 3; ++q) expected += static_cast<float>(whole(i + 2 * p, j + 2 * q, k));
          CHECK(static_cast<float>(sums(i, j, k)) == expected);
        }
  };
  check_sums(double{});
  check_sums(float{});
  check_sums(tg::float16{});
  check_sums(tg::bfloat16{});
}

TEST_CASE("the sum of repetitions of rows of any length, by any number of threads") {
  const auto check = []<class T>(T, const tg::shape& part, const std::vector<tg::ir::attribute>& multiples) {
    tg::shape dims = part;
    for (int a = 0; a < part.rank; ++a) dims[a] *= multiples[static_cast<std::size_t>(a)];
    tg::tensor<T> whole(dims), sums(part), alone(part);
    std::vector<float> expected(static_cast<std::size_t>(part.elements()));
    for (tg::extent i = 0; i < dims.elements(); ++i) {
      const auto x = static_cast<float>(i % 7);
      whole[i] = static_cast<T>(x);
      tg::extent rest = i, at = 0, stride = 1;
      for (int a = dims.rank - 1; a >= 0; --a) {
        at += rest % dims[a] % part[a] * stride;
        rest /= dims[a], stride *= part[a];
      }
      expected[static_cast<std::size_t>(at)] += x;
    }
    tg::test::call_with<tg::op::tile_gradient>({.threads = 3}, sums, multiples, whole, sums);
    tg::test::call_with<tg::op::tile_gradient>({.threads = 1}, alone, multiples, whole, sums);
    int wrong = 0;
    for (tg::extent i = 0; i < part.elements(); ++i)
      wrong += static_cast<float>(sums[i]) != expected[static_cast<std::size_t>(i)] || sums[i] != alone[i];
    INFO(tg::to_string(part));
    CHECK(wrong == 0);
  };
  const auto check_type = [&check](auto zero) {
    check(zero, {5}, {3});
    check(zero, {1, 1}, {4, 5});
    check(zero, {0, 3}, {2, 2});
    check(zero, {17, 3}, {1, 3});
    check(zero, {17, 13}, {2, 2});
    check(zero, {3, 2, 270}, {2, 1, 3});
    check(zero, {5, 3, 523}, {1, 4, 1});
    check(zero, {40000, 5}, {1, 3});
  };
  check_type(float{});
  check_type(double{});
  check_type(tg::float16{});
  check_type(tg::bfloat16{});
}
