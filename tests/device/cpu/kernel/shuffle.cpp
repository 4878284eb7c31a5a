// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/kernel/shuffle.hpp"

#include <catch2/catch.hpp>

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
    const auto drawn = draw(n, {.seed = 5, .step = 3, .source = 9});
    REQUIRE(drawn.dims() == tg::shape{n});
    // Each word is less than the next, or stands before it where they are equal: then no two positions are the same.
    std::uint64_t before = 0;
    std::int64_t last = -1;
    tg::extent wrong = 0;
    for (const std::int64_t at : drawn.span()) {
      const std::uint64_t word = tg::device::order_word({5, 9, 4}, static_cast<std::uint64_t>(at));
      wrong += at >= 0 && at < n && (before < word || (before == word && last < at)) ? 0 : 1;
      before = word, last = at;
    }
    CHECK(wrong == 0);
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
