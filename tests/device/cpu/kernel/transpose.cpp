// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/kernel/transpose.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "support/kernel_call.hpp"

namespace tg = tagma;

namespace {

/// Transposes a tensor of counting elements and checks each against its source.
template <class T>
void check_transpose(const tg::shape& dims, std::vector<tg::ir::attribute> order) {
  tg::tensor<T> in(dims);
  for (tg::extent i = 0; i < dims.elements(); ++i) in[i] = static_cast<T>(i % 251);
  tg::shape out_dims;
  for (const auto axis : order) out_dims.push_back(dims[static_cast<int>(axis)]);
  tg::tensor<T> out(out_dims);
  tg::test::call<tg::op::transpose>(out, order, in);
  tg::extent wrong = 0;
  for (tg::extent i = 0; i < out_dims.elements(); ++i) {
    tg::extent rest = i, index[tg::max_rank]{}, at = 0;
    for (int a = out_dims.rank - 1; a >= 0; --a) {
      index[order[static_cast<std::size_t>(a)]] = rest % out_dims[a];
      rest /= out_dims[a];
    }
    for (int a = 0; a < dims.rank; ++a) at = at * dims[a] + index[a];
    wrong += out[i] != in[at];
  }
  INFO(tg::to_string(dims) << " to " << tg::to_string(out_dims));
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("transposition moves every element, whatever its size and the order of the axes") {
  check_transpose<float>({37, 53}, {1, 0});
  check_transpose<double>({16, 17}, {1, 0});
  check_transpose<std::int8_t>({5, 33, 18}, {0, 2, 1});
  check_transpose<std::int16_t>({3, 4, 5, 6}, {3, 2, 1, 0});
  check_transpose<float>({3, 4, 5, 6}, {1, 0, 2, 3});
  check_transpose<float>({3, 4, 5, 6}, {2, 3, 0, 1});
  check_transpose<bool>({2, 1, 3, 1, 2, 2}, {5, 3, 0, 1, 2, 4});
  check_transpose<std::int64_t>({1, 1}, {1, 0});
  check_transpose<float>({0, 4}, {1, 0});
  check_transpose<float>({7, 300, 400}, {2, 1, 0});
  for (const tg::extent n : {1, 15, 16, 17, 63, 64, 65, 130}) {
    check_transpose<std::uint8_t>({n, 139}, {1, 0});
    check_transpose<std::int16_t>({70, 3, n}, {2, 1, 0});
    check_transpose<double>({n, 19}, {1, 0});
    check_transpose<std::int8_t>({9, 40, n}, {1, 0, 2});
    check_transpose<std::int16_t>({2, 3, n}, {1, 0, 2});
  }
  check_transpose<std::int8_t>({1500, 700}, {1, 0});
}

TEST_CASE("transposition of random extents in a random order") {
  std::mt19937 random(29);
  const auto below = [&random](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 80; ++round) {
    tg::shape dims;
    std::vector<tg::ir::attribute> order;
    const int rank = below(tg::max_rank) + 1;
    for (int a = 0; a < rank; ++a) {
      // Extents of 0 and 1 are rare, so that most tensors have elements in more than one row.
      dims.push_back(below(20) == 0 ? below(2) : below(rank < 4 ? 40 : 7) + 1);
      order.push_back(a);
    }
    std::shuffle(order.begin(), order.end(), random);
    switch (round % 4) {
      case 0:
        check_transpose<std::int8_t>(dims, order);
        break;
      case 1:
        check_transpose<std::int16_t>(dims, order);
        break;
      case 2:
        check_transpose<float>(dims, order);
        break;
      default:
        check_transpose<double>(dims, order);
    }
  }
}

TEST_CASE("transposition moves strings") {
  tg::tensor<tg::string_element> in(tg::shape{2, 2}, {"a", "b", "c", "d"}), out(tg::shape{2, 2});
  tg::test::call<tg::op::transpose>(out, {1, 0}, in);
  CHECK(out == tg::tensor<tg::string_element>(tg::shape{2, 2}, {"a", "c", "b", "d"}));
}
