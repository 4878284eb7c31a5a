// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/sparse_rows.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

namespace tg = tagma;
using tg::device::cpu::row_sorter;

namespace {

template <class T>
tg::runtime::operand operand_of(std::vector<T>& elements, tg::shape dims) {
  return {reinterpret_cast<std::byte*>(elements.data()), tg::dtype_of<T>, dims};
}

/// Sorts rows of two elements that go to `indices` of a table; they must come out in the order of a stable sort.
template <class Index>
void check_sorting(std::vector<Index> indices, tg::extent table) {
  const auto count = static_cast<tg::extent>(indices.size());
  std::vector<float> rows(2 * indices.size());
  std::vector<std::size_t> expected(indices.size());
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = i;
  std::sort(expected.begin(), expected.end(), [&](std::size_t a, std::size_t b) {
    return indices[a] < indices[b] || (indices[a] == indices[b] && a < b);
  });
  row_sorter sorter(indices.size());
  for (int round = 0; round < 2; ++round) {
    sorter.add(operand_of(rows, {count, 2}), operand_of(indices, {count}), table);
    const auto sorted = sorter.sorted(table);
    REQUIRE(sorted.size() == indices.size());
    int wrong = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      wrong += sorted[i].row != static_cast<std::int64_t>(indices[expected[i]]);
      wrong += sorted[i].from != reinterpret_cast<const std::byte*>(rows.data() + 2 * expected[i]);
    }
    CHECK(wrong == 0);
  }
}

}  // namespace

TEST_CASE("rows are sorted by where they go, and equal ones keep their order") {
  check_sorting<std::int32_t>({}, 4);
  check_sorting<std::int32_t>({0, 0, 0}, 1);
  check_sorting<std::uint8_t>({3, 255, 0, 3, 255, 7}, 256);
  check_sorting<std::int32_t>({256, 0, 255, 1, 256, 0}, 257);
  std::vector<std::int64_t> many;
  for (std::int64_t i = 0; i < 5000; ++i) many.push_back(i * i * 7919 % 70'000);
  check_sorting(many, 70'000);
  check_sorting(many, tg::extent{1} << 40);
}

TEST_CASE("rows of several tensors are sorted together") {
  std::vector<float> a(2), b(2);
  std::vector<std::int32_t> to_a{5, 2};
  std::vector<std::uint8_t> to_b{2, 4};
  row_sorter sorter(4);
  sorter.add(operand_of(a, {2, 1}), operand_of(to_a, {2}), 6);
  sorter.add(operand_of(b, {2, 1}), operand_of(to_b, {2}), 6);
  const auto sorted = sorter.sorted(6);
  REQUIRE(sorted.size() == 4);
  const float* const from[] = {&a[1], &b[0], &b[1], &a[0]};
  for (std::size_t i = 0; i < 4; ++i) CHECK(sorted[i].from == reinterpret_cast<const std::byte*>(from[i]));
}

TEST_CASE("an index that is no row of the table is an error, and the sorter can be used again") {
  std::vector<float> rows(2);
  std::vector<std::int32_t> high{1, 4}, low{-1, 0}, good{3, 0};
  row_sorter sorter(2);
  CHECK_THROWS_WITH(sorter.add(operand_of(rows, {2, 1}), operand_of(high, {2}), 4),
                    Catch::Contains("index 4 at position 1 is not below the extent of the axis, 4"));
  CHECK_THROWS_WITH(sorter.add(operand_of(rows, {2, 1}), operand_of(low, {2}), 4), Catch::Contains("index -1"));
  sorter.add(operand_of(rows, {2, 1}), operand_of(good, {2}), 4);
  CHECK(sorter.sorted(4)[0].row == 0);
}
