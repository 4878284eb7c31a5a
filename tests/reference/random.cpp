// SPDX-License-Identifier: BSL-1.0
// Examples of docs/reference/random.md.
#include <catch2/catch.hpp>

#include <tagma/order.hpp>
#include <tagma/tagma.hpp>

#include <algorithm>

#include "support/texts.hpp"

namespace tg = tagma;
using tagma::test::text;

TEST_CASE("reference: random numbers") {
  // example: random_uniform, random_normal, truncated_normal
  auto uniform =
      tg::random_uniform<float, 3, 4>(-1.0f, 1.0f);  // [3, 4], other numbers in every run; from 0 to 1 without operands
  auto normal = tg::random_normal<float, 16>(5.0f, 0.1f);  // [16], around 5 with a deviation of 0.1; 0 and 1 without
  auto within = tg::truncated_normal<float, 16>();         // [16], none of them beyond -2 and 2
  // end
  // example: random_uniform_like, random_normal_like, dropout
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 8>();
  auto noisy = x + 0.1f * tg::random_normal_like(x);  // [?, 8]
  auto mask = tg::random_uniform_like(x) < 0.9f;      // [?, 8], true for about nine tenths
  auto dropped = tg::dropout(x, 0.5);                 // about half are 0, the others 2 * x
  // end
  // example: random_permutation, random_shuffle
  constexpr auto label = tg::placeholder<"label", std::int32_t, tg::dyn>();
  auto order = tg::random_permutation(x);  // [?], int64: the rows of x, each once
  auto mixed = tg::gather(x, order);
  auto mixed_labels = tg::gather(label, order);  // in the same order
  auto five = tg::random_permutation<5>();       // [5]: 0 to 4
  auto alone = tg::random_shuffle(label);        // [?], for one tensor
  // end
  tg::session session(
      tg::compile(
          [=] { return tg::outputs(uniform, normal, within, noisy, mask, dropped, mixed, mixed_labels, five, alone); }),
      {.seed = 7});
  const tg::tensor<float> numbers = session.run(uniform), near_five = session.run(normal), cut = session.run(within);
  CHECK(text(uniform) == "[3, 4]");
  CHECK(text(normal) == "[16]");
  CHECK(text(noisy) == "[?, 8]");
  CHECK(text(order) == "[?]");
  CHECK(text(five) == "[5]");
  CHECK(std::all_of(numbers.begin(), numbers.end(), [](float f) { return f >= -1 && f < 1; }));
  CHECK(text(session.run(uniform)) != text(numbers));
  CHECK(std::all_of(near_five.begin(), near_five.end(), [](float f) { return f > 4 && f < 6; }));
  CHECK(std::all_of(cut.begin(), cut.end(), [](float f) { return f > -2 && f < 2; }));
  tg::tensor<float> xs({4, 8});
  std::fill(xs.begin(), xs.end(), 3.0f);
  const tg::tensor<float> half = session.run(dropped, x = xs);
  CHECK(std::all_of(half.begin(), half.end(), [](float f) { return f == 0.0f || f == 6.0f; }));
  tg::tensor<std::int64_t> permuted = session.run(five);
  std::sort(permuted.begin(), permuted.end());
  CHECK(text(permuted) == "[0, 1, 2, 3, 4]");
  const tg::tensor<std::int32_t> labels({4}, {4, 3, 2, 1});
  tg::tensor<std::int32_t> shuffled = session.run(alone, label = labels);
  std::sort(shuffled.begin(), shuffled.end());
  CHECK(text(shuffled) == "[1, 2, 3, 4]");
  CHECK(session.run(mixed, x = xs).dims() == xs.dims());
  CHECK(session.run(mask, x = xs).dims() == xs.dims());
}
