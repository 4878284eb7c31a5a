// SPDX-License-Identifier: BSL-1.0
// Examples of docs/reference/variables.md.
#include <catch2/catch.hpp>

#include <tagma/containers.hpp>
#include <tagma/tagma.hpp>

#include <cmath>

#include "support/errors.hpp"
#include "support/texts.hpp"

namespace tg = tagma;
using tagma::test::text;

namespace {

// example: operator/, fixed_string, expression, is_expression
template <tg::fixed_string Name, tg::expression E>
auto twice(const E& x) {  // makes "<Name>/scale"
  return x * tg::variable<Name / "scale", float>(2.0f);
}
// end

}  // namespace

TEST_CASE("reference: placeholders and variables") {
  // example: placeholder, variable, not_trainable, feed, expr
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 2>();        // fed in every run, with any number of rows
  auto w = tg::variable<"w", float, 2, 1>(tg::ones);                   // kept by the session; optimizers update it
  auto scale = tg::variable<"scale", float>(0.5f, tg::not_trainable);  // a number; optimizers leave it alone
  auto table = tg::variable<"table", float, 2, 2>(tg::tensor<float>({2, 2}, {1, 2, 3, 4}));
  auto y = tg::matmul(x, w) * scale;  // [?, 1]: a handle, of which nothing is computed yet
  tg::session session(tg::compile([=] { return tg::outputs(y, table); }));
  tg::tensor<float> result = session.run(y, x = tg::tensor<float>({1, 2}, {3, 4}));  // [[3.5]]
  // end
  CHECK(text(y) == "[?, 1]");
  CHECK(text(result) == "[[3.5]]");
  CHECK(text(session.run(table)) == "[[1, 2], [3, 4]]");

  // example: constant
  auto factor = tg::constant<"factor">(2.0f);  // a number with a name, for the same place in several programs
  auto twice_y = factor * y;
  // end
  // example: scope
  auto layer = [](const auto& in) { return tg::dense<"hidden", 4>(in); };
  auto first = tg::scope<"trial_1">(layer)(x);   // trial_1/hidden/kernel and trial_1/hidden/bias
  auto second = tg::scope<"trial_2">(layer)(x);  // variables of its own
  // end
  auto kernel = tg::variable<"trial_1/hidden/kernel", float, 2, 4>(tg::glorot_uniform);
  tg::session more(tg::compile([=] { return tg::outputs(twice_y, first, second, kernel); }));
  CHECK(text(more.run(twice_y, x = tg::tensor<float>({1, 2}, {3, 4}))) == "[[7]]");
  CHECK(more.run(kernel).dims() == tg::shape{2, 4});
}

TEST_CASE("reference: how variables begin") {
  // example: zeros, ones, filled_with, static_initializer, carried_initializer, initializer_kind
  auto bias = tg::variable<"bias", float, 4>(tg::zeros);
  auto gamma = tg::variable<"gamma", float, 4>(tg::ones);
  auto half = tg::variable<"half", float, 4>(tg::filled_with(0.5));  // [0.5, 0.5, 0.5, 0.5]
  // end
  // example: random_uniform, random_normal, truncated_normal
  auto wide =
      tg::variable<"wide", float, 8, 4>(tg::random_uniform(-0.05, 0.05));  // by the seed of the session and the name
  auto table = tg::variable<"table", float, 8, 16>(tg::random_normal(0, 0.05));  // mean and standard deviation
  auto cut = tg::variable<"cut", float, 8, 4>(tg::truncated_normal());           // none beyond two deviations
  // end
  // example: glorot_uniform, glorot_normal, he_uniform, he_normal
  auto tanh_kernel = tg::variable<"a", float, 8, 4>(tg::glorot_uniform);  // within sqrt(6 / (8 + 4)), about 0.71
  auto other_kernel = tg::variable<"b", float, 8, 4>(tg::glorot_normal);
  auto relu_kernel = tg::variable<"c", float, 8, 4>(tg::he_normal);      // of variance 2 / 8
  auto filters = tg::variable<"d", float, 3, 3, 3, 16>(tg::he_uniform);  // within sqrt(6 / 27)
  // end
  tg::session session(tg::compile([=] {
                        return tg::outputs(bias, gamma, half, wide, table, cut, tanh_kernel, other_kernel, relu_kernel,
                                           filters);
                      }),
                      {.seed = 1});
  const auto largest = [&](const auto& v) {
    float most = 0;
    for (const float f : session.run(v)) most = std::max(most, std::abs(f));
    return most;
  };
  CHECK(largest(bias) == 0.0f);
  CHECK(largest(gamma) == 1.0f);
  CHECK(text(session.run(half)) == "[0.5, 0.5, 0.5, 0.5]");
  CHECK(largest(wide) <= 0.05f);
  CHECK(largest(table) < 0.5f);
  CHECK(largest(cut) <= 2.0f);
  CHECK(largest(tanh_kernel) <= std::sqrt(6.0f / 12));
  CHECK(largest(other_kernel) > 0);
  CHECK(largest(relu_kernel) > 0);
  CHECK(largest(filters) <= std::sqrt(6.0f / 27));
}

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
