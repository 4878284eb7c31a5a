// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/kernel/shuffle.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <vector>

#include "support/kernel_call.hpp"

namespace tg = tagma;

namespace {

tg::tensor<std::int64_t> draw(tg::extent n, const tg::test::call_options& options) {
  tg::tensor<std::int64_t> out(tg::shape{n});
  tg::test::call_with<tg::op::random_permutation>(options, out, {n});
  return out;
}

}  // namespace

TEST_CASE("a random permutation is the order of the words of its stream, the run counting from 1") {
  for (const tg::extent n :
       {0, 1, 2, 15, 16, 17, 18, 20, 32, 33, 34, 49, 257, 1001, 4095, 16383, 16384, 20000, 100003, 1200000, 3000001}) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [](std::int64_t a, std::int64_t b) {
      const auto word = [](std::int64_t i) { return tg::device::order_word({5, 9, 4}, static_cast<std::uint64_t>(i)); };
      return word(a) < word(b);
    });
    const auto drawn = draw(n, {.seed = 5, .step = 3, .source = 9});
    CHECK(std::equal(order.begin(), order.end(), drawn.begin(), drawn.end()));
  }
}

TEST_CASE("the bytes of random permutations depend on the seed, the run and the node, not on threads") {
  const auto alone = draw(20001, {.threads = 1, .seed = 1});
  CHECK(draw(20001, {.threads = 4, .seed = 1}) == alone);
  CHECK(draw(300007, {.threads = 1}) == draw(300007, {.threads = 5}));
  CHECK(!(draw(20001, {.seed = 2}) == alone));
  CHECK(!(draw(20001, {.seed = 1, .step = 1}) == alone));
  CHECK(!(draw(20001, {.seed = 1, .source = 1}) == alone));
}
