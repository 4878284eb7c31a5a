// SPDX-License-Identifier: BSL-1.0
#include "tagma/tensor/print.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <sstream>

using tagma::shape;
using tagma::tensor;
using tagma::to_string;

TEST_CASE("a tensor is printed in columns") {
  CHECK(to_string(tensor<int>({2, 3}, {1, -20, 3, 4, 5, 600})) ==
        "[[  1, -20,   3],\n"
        " [  4,   5, 600]]");
  CHECK(to_string(tensor<int>({2, 1, 2}, {1, 2, 3, 4})) ==
        "[[[1, 2]],\n"
        "\n"
        " [[3, 4]]]");
  CHECK(to_string(tensor<float>({3}, {0.1f, 2, -1e-9f})) == "[   0.1,      2, -1e-09]");
  CHECK(to_string(tensor<double>(0.1)) == "0.1");
  CHECK(to_string(tensor<float>({0})) == "[]");
  CHECK(to_string(tensor<float>({2, 0})) == "[[],\n []]");
}

TEST_CASE("every element type is printed as what it is") {
  CHECK(to_string(tensor<std::uint8_t>({2}, {65, 255})) == "[ 65, 255]");
  CHECK(to_string(tensor<std::int8_t>({1}, {-1})) == "[-1]");
  CHECK(to_string(tensor<bool>({2}, {true, false})) == "[ true, false]");
  CHECK(to_string(tensor<tagma::float16>({1}, {tagma::float16(0.5f)})) == "[0.5]");
  CHECK(to_string(tensor<tagma::bfloat16>({1}, {tagma::bfloat16(-2.0f)})) == "[-2]");
  CHECK(to_string(tensor<tagma::string_element>({2}, {"a", ""})) == "[\"a\",  \"\"]");
  constexpr double inf = std::numeric_limits<double>::infinity();
  CHECK(to_string(tensor<double>({3}, {inf, -inf, std::numeric_limits<double>::quiet_NaN()})) == "[ inf, -inf,  nan]");
}

TEST_CASE("the middle of a long tensor is left out") {
  tensor<int> row({1001});
  for (int i = 0; i < 1001; ++i) row[static_cast<std::size_t>(i)] = i;
  CHECK(to_string(row) == "[   0,    1,    2, ...,  998,  999, 1000]");
  CHECK(to_string(row.rows(0, 4)) == "[0, 1, 2, 3]");
  const tensor<int> six({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(to_string(six, {.threshold = 5, .edge = 1}) ==
        "[[1, ..., 3],\n"
        " [4, ..., 6]]");
  CHECK(to_string(tensor<int>({4, 1}, {1, 2, 3, 4}), {.threshold = 3, .edge = 1}) ==
        "[[1],\n"
        " ...,\n"
        " [4]]");
  CHECK(to_string(six, {.threshold = 0, .edge = 0}) == "[...]");
}

TEST_CASE("streams take tensors and views") {
  std::ostringstream text;
  const tensor<int> t({2}, {1, 2});
  text << t << ' ' << tagma::view<const int>(t);
  CHECK(text.str() == "[1, 2] [1, 2]");
}
