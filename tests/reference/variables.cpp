// SPDX-License-Identifier: BSL-1.0
// Examples of docs/reference/variables.md.
#include <catch2/catch.hpp>

#include <tagma/containers.hpp>
#include <tagma/tagma.hpp>

#include "support/errors.hpp"
#include "support/texts.hpp"

namespace tg = tagma;
using tagma::test::text;

namespace {

// example: operator/, fixed_string
template <tg::fixed_string Name, tg::expression E>
auto twice(const E& x) {  // makes "<Name>/scale"
  return x * tg::variable<Name / "scale", float>(2.0f);
}
// end

}  // namespace

TEST_CASE("reference: variables") {
  // example: preloaded
  constexpr auto images = tg::preloaded<"images", float, 3, 2>();
  constexpr auto rows = tg::placeholder<"rows", std::int64_t, tg::dyn>();
  auto batch = tg::gather(images, rows);  // [?, 2]
  tg::container state;
  tg::preload(state, images, tg::tensor<float>({3, 2}, {1, 2, 3, 4, 5, 6}));  // moved, not copied
  tg::session session(tg::compile([=] { return tg::outputs(batch); }), {.state = state});
  tg::tensor<float> some = session.run(batch, rows = std::vector<std::int64_t>{2, 0});  // [[5, 6], [1, 2]]
  // end
  CHECK(text(batch) == "[?, 2]");
  CHECK(text(some) == "[[5, 6], [1, 2]]");
}

TEST_CASE("reference: parts and names") {
  // example: partitioned_variable
  auto w = tg::partitioned_variable<"w", tg::fixed_size_partitioner{2}, float, 4, 3>(
      tg::ones);            // w/part_0, w/part_1: [2, 3]
  auto total = tg::sum(w);  // w is a value of [4, 3], of which gradients go to the parts
  // end
  constexpr auto x = tg::placeholder<"x", float>();
  auto doubled = twice<"block">(x);
  auto part = tg::variable<"w/part_1", float, 2, 3>(tg::ones);
  tg::session session(tg::compile([=] { return tg::outputs(total, doubled, part); }));
  CHECK(text(w) == "[4, 3]");
  CHECK(text(part) == "[2, 3]");
  CHECK(text(session.run(part)) == "[[1, 1, 1], [1, 1, 1]]");
  CHECK(float(session.run(total)) == 12.0f);
  CHECK(float(session.run(doubled, x = 3.0f)) == 6.0f);

  // example: is_name
  bool good = tg::is_name("block_0/kernel");  // true
  bool bad = tg::is_name("_hidden");          // false: of what is no letter or digit, only "." comes first
  // end
  CHECK(good);
  CHECK_FALSE(bad);

  // example: fixed_copy
  static constexpr std::string_view names[] = {"left", "right"};
  constexpr auto left = tg::fixed_copy<&names[0]>();  // the fixed_string "left"
  auto v = tg::variable<left, float, 3>(tg::zeros);
  // end
  CHECK(left.view() == "left");
  CHECK(text(v) == "[3]");
}
