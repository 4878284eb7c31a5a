// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/kernel/gather.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "support/kernel_call.hpp"

namespace tg = tagma;

namespace {

/// Gathers along the middle axis, and scatters what was gathered, where index 2 stands twice.
template <class T, class Index>
void check_rows() {
  tg::tensor<T> in(tg::shape{2, 4, 3});
  for (tg::extent i = 0; i < 24; ++i) in[i] = T(static_cast<float>(i + 1));
  const tg::tensor<Index> indices(tg::shape{3}, {Index{2}, Index{0}, Index{2}});
  tg::tensor<T> rows(tg::shape{2, 3, 3}), back(tg::shape{2, 4, 3});
  tg::test::call<tg::op::gather>(rows, {1}, in, indices);
  tg::test::call<tg::op::scatter_rows>(back, {1}, rows, indices, in);
  const float times[] = {1, 0, 2, 0};
  int wrong = 0;
  for (tg::extent o = 0; o < 2; ++o)
    for (tg::extent k = 0; k < 3; ++k) {
      for (tg::extent i = 0; i < 3; ++i) wrong += rows(o, i, k) != in(o, static_cast<tg::extent>(indices[i]), k);
      for (tg::extent i = 0; i < 4; ++i)
        wrong += static_cast<float>(back(o, i, k)) != times[i] * static_cast<float>(in(o, i, k));
    }
  CHECK(wrong == 0);
}

/// Rows of random extents at random positions, and back. Sums are of small integers, so their order does not matter.
template <class T>
void check_random(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&random](unsigned n) { return static_cast<tg::extent>(random() % n); };
  for (int round = 0; round < 25; ++round) {
    const tg::extent outer = below(4), from = below(30) + 1, inner = below(20), count = below(40);
    tg::tensor<T> in(tg::shape{outer, from, inner}), out(tg::shape{outer, count, inner});
    for (tg::extent i = 0; i < in.dims().elements(); ++i) in[i] = static_cast<T>(static_cast<float>(below(4)));
    tg::tensor<std::int32_t> indices(tg::shape{count});
    for (std::int32_t& i : indices.span()) i = static_cast<std::int32_t>(below(30) % from);
    tg::test::call<tg::op::gather>(out, {1}, in, indices);
    int wrong = 0;
    for (tg::extent o = 0; o < outer; ++o)
      for (tg::extent k = 0; k < count; ++k)
        for (tg::extent i = 0; i < inner; ++i) wrong += out(o, k, i) != in(o, static_cast<tg::extent>(indices[k]), i);
    tg::tensor<T> back(in.dims());
    tg::test::call<tg::op::scatter_rows>(back, {1}, out, indices, in);
    std::vector<float> sums(static_cast<std::size_t>(in.dims().elements()));
    for (tg::extent o = 0; o < outer; ++o)
      for (tg::extent k = 0; k < count; ++k)
        for (tg::extent i = 0; i < inner; ++i)
          sums[static_cast<std::size_t>((o * from + indices[k]) * inner + i)] += static_cast<float>(out(o, k, i));
    for (std::size_t i = 0; i < sums.size(); ++i)
      wrong += back.data()[i] != static_cast<T>(static_cast<tg::device::compute_t<T>>(sums[i]));
    INFO("round " << round << ": " << count << " of " << tg::to_string(in.dims()));
    CHECK(wrong == 0);
  }
}

}  // namespace

TEST_CASE("gather takes rows of random extents, scatter_rows adds them") {
  check_random<std::int8_t>(1);
  check_random<tg::bfloat16>(2);
  check_random<float>(3);
  check_random<double>(4);
  check_random<tg::float16>(5);
}

TEST_CASE("gather and scatter_rows for element types and index types") {
  check_rows<float, std::int32_t>();
  check_rows<float, std::int64_t>();
  check_rows<float, std::uint8_t>();
  check_rows<double, std::int32_t>();
  check_rows<tg::float16, std::int32_t>();
  check_rows<tg::bfloat16, std::int64_t>();
  check_rows<std::int32_t, std::int32_t>();
  check_rows<std::int8_t, std::uint8_t>();
}

TEST_CASE("gather and scatter_rows: indices out of range, no indices at all, and more than one thread's share") {
  const tg::tensor<float> in(tg::shape{3, 2}, {1, 2, 3, 4, 5, 6});
  tg::tensor<float> rows(tg::shape{2, 2}), back(tg::shape{3, 2});
  const tg::tensor<std::int64_t> high(tg::shape{2}, {0, 3}), low(tg::shape{2}, {-1, 0});
  CHECK_THROWS_WITH((tg::test::call<tg::op::gather>(rows, {0}, in, high)),
                    Catch::Contains("index 3 at position 1 is not below the extent of the axis, 3"));
  CHECK_THROWS_WITH((tg::test::call<tg::op::scatter_rows>(back, {0}, rows, low, in)),
                    Catch::Contains("index -1 at position 0"));

  const tg::tensor<std::int64_t> none(tg::shape{0});
  tg::tensor<float> nothing(tg::shape{0, 2});
  back[0] = 9;
  tg::test::call<tg::op::gather>(nothing, {0}, in, none);
  tg::test::call<tg::op::scatter_rows>(back, {0}, nothing, none, in);
  CHECK(back == tg::tensor<float>(tg::shape{3, 2}));

  tg::tensor<float> table(tg::shape{999, 300}), many(tg::shape{2000, 300});
  tg::tensor<std::int32_t> ids(tg::shape{2000});
  for (tg::extent i = 0; i < 2000; ++i) ids[i] = static_cast<std::int32_t>(i * 7919 % 999);
  for (tg::extent i = 0; i < 2000 * 300; ++i) many[i] = static_cast<float>(i % 1000) * 0.37f;
  tg::tensor<float> alone(tg::shape{999, 300}), shared(tg::shape{999, 300});
  tg::test::call_with<tg::op::scatter_rows>({.threads = 1}, alone, {0}, many, ids, table);
  tg::test::call_with<tg::op::scatter_rows>({.threads = 4}, shared, {0}, many, ids, table);
  CHECK(alone == shared);
  float expected = 0;
  for (tg::extent i = 0; i < 2000; ++i)
    if (ids[i] == 998) expected += many(i, 17);
  CHECK(shared(998, 17) == Approx(expected));
}

TEST_CASE("gather and scatter_rows along the last axis: threads share the axis before it or the places of the result") {
  const auto check = [](tg::extent outer, tg::extent places, tg::extent count) {
    tg::tensor<float> in(tg::shape{outer, places}), up(tg::shape{outer, count});
    tg::tensor<std::uint8_t> indices(tg::shape{count});
    for (tg::extent i = 0; i < count; ++i) indices[i] = static_cast<std::uint8_t>(i * 37 % places);
    for (tg::extent i = 0; i < outer * count; ++i) up[i] = static_cast<float>(i % 1009) * 0.37f;
    tg::tensor<float> alone(in.dims()), shared(in.dims()), expected(in.dims());
    tg::test::call_with<tg::op::scatter_rows>({.threads = 1}, alone, {1}, up, indices, in);
    tg::test::call_with<tg::op::scatter_rows>({.threads = 3}, shared, {1}, up, indices, in);
    for (tg::extent o = 0; o < outer; ++o)
      for (tg::extent k = 0; k < count; ++k) expected(o, indices[k]) += up(o, k);
    CHECK(alone == shared);
    CHECK(alone == expected);
  };
  check(1013, 200, 300);
  check(5, 250, 70001);
  check(3, 1, 5);
}

TEST_CASE("one_hot: rows of every kind of element, zeros where the index points nowhere") {
  const tg::tensor<std::int32_t> indices(tg::shape{3}, {1, -1, 2});
  tg::tensor<bool> flags(tg::shape{3, 2});
  tg::test::call<tg::op::one_hot>(flags, {2, static_cast<int>(tg::dtype::boolean)}, indices);
  CHECK(flags == tg::tensor<bool>(tg::shape{3, 2}, {false, true, false, false, false, false}));
  tg::tensor<tg::float16> halves(tg::shape{3, 3});
  tg::test::call<tg::op::one_hot>(halves, {3, static_cast<int>(tg::dtype::float16)}, indices);
  CHECK(static_cast<float>(halves(0, 1)) == 1);
  CHECK(static_cast<float>(halves(2, 2)) == 1);
  CHECK(static_cast<float>(halves(1, 0)) == 0);
}

TEST_CASE("one_hot: an index below 0 marks no element, nor one of the row before") {
  const tg::tensor<std::int32_t> indices(tg::shape{4}, {0, -1, -3, 3});
  tg::tensor<float> out(tg::shape{4, 3});
  tg::test::call<tg::op::one_hot>(out, {3, static_cast<int>(tg::dtype::float32)}, indices);
  CHECK(out == tg::tensor<float>(tg::shape{4, 3}, {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}
