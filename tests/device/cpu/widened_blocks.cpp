// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/widened_blocks.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <vector>

#include "tagma/with_macros.hpp"

namespace cpu = tagma::device::cpu;
using tagma::bfloat16, tagma::float16;

TEMPLATE_TEST_CASE("rows are converted, and nothing else is written", "[gemm]", float16, bfloat16) {
  using S = TestType;
  for (const std::int64_t n : {0, 1, 7, 8, 9, 15, 16, 17, 33, 50})
    for (const std::int64_t gap : {0, 3}) {
      const std::int64_t rows = 3, row = n + gap;
      std::vector<S> from(static_cast<std::size_t>(rows * row + 1)), back(from.size(), S(5.0f));
      for (std::size_t i = 0; i < from.size(); ++i) from[i] = S(static_cast<float>(i) / 7);
      std::vector<float> wide(from.size(), -1);
      cpu::dispatch<cpu::detail::convert_rows>(static_cast<const S*>(from.data()), row, wide.data(), row, rows, n);
      cpu::dispatch<cpu::detail::convert_rows>(static_cast<const float*>(wide.data()), row, back.data(), row, rows, n);
      bool same = true;
      for (std::int64_t i = 0; i < rows * row + 1; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const bool inside = i < rows * row && i % row < n;
        same = same && static_cast<float>(wide[at]) == (inside ? static_cast<float>(from[at]) : -1.0f);
        same = same && back[at].bits == (inside ? from[at] : S(5.0f)).bits;
      }
      CAPTURE(n, gap);
      CHECK(same);
    }
}

TEST_CASE("the blocks of a product are all of it, each element once", "[gemm]") {
  for (const std::int64_t m : {5, 64, 65, 300})
    for (const std::int64_t n : {33, 511, 512, 777})
      for (const std::int64_t k : {9, 1000}) {
        cpu::gemm_args<float16> g;
        g.m = m, g.n = n, g.k = k;
        const cpu::detail::widened_blocks<float16> blocks(g);
        CAPTURE(m, n, k);
        CHECK(blocks.size() == k * n);
        CHECK(blocks.across * blocks.columns >= n);
        CHECK((blocks.across - 1) * blocks.columns < n);
        const std::int64_t high = blocks.count / blocks.across;
        CHECK(high * blocks.across == blocks.count);
        CHECK(high * blocks.rows >= m);
        CHECK((high - 1) * blocks.rows < m);
      }
}
