// SPDX-License-Identifier: BSL-1.0
// Examples of docs/reference/products.md.
#include <catch2/catch.hpp>

#include <tagma/quantized.hpp>
#include <tagma/tagma.hpp>

#include "support/texts.hpp"

namespace tg = tagma;
using tagma::test::text;

TEST_CASE("reference: products and attention") {
  // example: matmul
  constexpr auto a = tg::placeholder<"a", float, 2, 2>();  // [[1, 2], [3, 4]]
  constexpr auto b = tg::placeholder<"b", float, 2, 2>();  // [[0, 1], [1, 0]]
  auto ab = tg::matmul(a, b);                              // [[2, 1], [4, 3]]
  auto turned = tg::matmul<true, false>(a, b);             // [[3, 1], [4, 2]]: the transpose of a, and b
  constexpr auto batches = tg::placeholder<"batches", float, tg::dyn, 5, 2>();
  auto each = tg::matmul(batches, b);  // [?, 5, 2]: a product for each of the batch
  // end
  // example: scaled_dot_product_attention, causal, attention_options
  constexpr auto words = tg::placeholder<"words", float, tg::dyn, 3, 8>();    // batch, time, features
  constexpr auto seen = tg::placeholder<"seen", bool, tg::dyn, 3>();          // false: padding
  auto all = tg::scaled_dot_product_attention<2>(words, words, words, seen);  // [?, 3, 8]: two heads of four features
  auto past = tg::scaled_dot_product_attention<2, tg::causal>(words, words, words);  // step i sees steps 0 to i
  // end
  // example: rotary_embedding
  constexpr auto q = tg::placeholder<"q", float, 1, 2, 2>();  // [[[1, 0], [1, 0]]]
  auto placed = tg::rotary_embedding(q);                      // [[[1, 0], [0.5403, 0.8415]]]: step 1 is turned by 1
  constexpr auto first = tg::placeholder<"first", std::int64_t>();
  auto later = tg::rotary_embedding(q, first);  // steps first, first + 1, ...
  // end
  tg::session session(tg::compile([=] { return tg::outputs(ab, turned, each, all, past, placed, later); }));
  const tg::tensor<float> as({2, 2}, {1, 2, 3, 4}), bs({2, 2}, {0, 1, 1, 0}), qs({1, 2, 2}, {1, 0, 1, 0});
  CHECK(text(as) == "[[1, 2], [3, 4]]");
  CHECK(text(bs) == "[[0, 1], [1, 0]]");
  CHECK(text(session.run(ab, a = as, b = bs)) == "[[2, 1], [4, 3]]");
  CHECK(text(session.run(turned, a = as, b = bs)) == "[[3, 1], [4, 2]]");
  CHECK(text(each) == "[?, 5, 2]");
  CHECK(text(all) == "[?, 3, 8]");
  CHECK(text(past) == "[?, 3, 8]");
  CHECK(text(qs) == "[[[1, 0], [1, 0]]]");
  CHECK(text(session.run(placed, q = qs)) == "[[[1, 0], [0.5403, 0.8415]]]");
  CHECK(text(session.run(later, q = qs, first = std::int64_t{0})) == "[[[1, 0], [0.5403, 0.8415]]]");
  tg::tensor<float> steps({1, 3, 8});
  for (std::size_t i = 0; i < steps.size(); ++i) steps.data()[i] = static_cast<float>(i / 8);
  const tg::tensor<float> result = session.run(past, words = steps);
  CHECK(result.data()[0] == 0.0f);  // the first step sees itself alone
}

TEST_CASE("reference: products of integers") {
  // example: matmul_integer
  constexpr auto a = tg::placeholder<"a", std::uint8_t, tg::dyn, 2>();  // [[130, 128], [126, 129]]
  constexpr auto b = tg::placeholder<"b", std::int8_t, 2, 2>();         // [[1, -1], [2, 0]]
  auto sums = tg::matmul_integer(a, b);                                 // [[386, -130], [384, -126]], int32
  auto columns = tg::sum<0>(tg::cast<std::int32_t>(b));                 // [3, -1]
  auto centred = sums - 128 * columns;                                  // [[2, -2], [0, 2]]: the zero point of a is 128
  auto product = tg::cast<float>(centred) * 0.5f;                       // [[1, -1], [0, 1]]: scales 0.25 and 2
  // end
  tg::session session(tg::compile([=] { return tg::outputs(sums, columns, centred, product); }));
  const tg::tensor<std::uint8_t> as({2, 2}, {130, 128, 126, 129});
  const tg::tensor<std::int8_t> bs({2, 2}, {1, -1, 2, 0});
  CHECK(text(as) == "[[130, 128], [126, 129]]");
  CHECK(text(bs) == "[[1, -1], [2, 0]]");
  CHECK(text(session.run(sums, a = as, b = bs)) == "[[386, -130], [384, -126]]");
  CHECK(text(session.run(columns, b = bs)) == "[3, -1]");
  CHECK(text(session.run(centred, a = as, b = bs)) == "[[2, -2], [0, 2]]");
  CHECK(text(session.run(product, a = as, b = bs)) == "[[1, -1], [0, 1]]");
}

TEST_CASE("reference: convolutions and pooling") {
  // example: conv2d, conv_options, same_padding, window_padding
  constexpr auto images = tg::placeholder<"images", float, tg::dyn, 28, 28, 3>();
  auto filters = tg::variable<"filters", float, 5, 5, 3, 16>(tg::he_uniform);
  auto plain = tg::conv2d(images, filters);  // [?, 24, 24, 16]: no padding, stride 1
  auto halved =
      tg::conv2d<tg::conv_options{.stride = 2, .padding = tg::same_padding}>(images, filters);  // [?, 14, 14, 16]
  auto framed = tg::conv2d<tg::conv_options{.padding = 2}>(images, filters);  // [?, 28, 28, 16]: two zeros at each side
  // end
  // example: conv2d_transpose
  auto larger = tg::conv2d_transpose<tg::conv_options{.stride = 2, .padding = tg::same_padding}>(
      halved, filters);  // [?, 28, 28, 3]
  // end
  // example: max_pool, average_pool, pool_options, valid_padding, window
  auto smaller = tg::max_pool<2>(images);                                     // [?, 14, 14, 3]: a stride of 2 as well
  auto overlapping = tg::max_pool<3, tg::pool_options{.stride = 2}>(images);  // [?, 13, 13, 3]
  auto mean = tg::average_pool<tg::window(2, 4)>(images);                     // [?, 14, 7, 3]: 2 rows, 4 columns
  // end
  // example: global_average_pool, global_max_pool
  auto means = tg::global_average_pool(images);  // [?, 3]: of each channel
  auto largest = tg::global_max_pool(images);    // [?, 3]
  // end
  // example: batch_norm, batch_moments, layer_norm
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 2>();  // [[1, 10], [3, 30]]
  auto gamma = tg::variable<"gamma", float, 2>(tg::ones);
  auto beta = tg::variable<"beta", float, 2>(tg::zeros);
  auto [normal, its_mean, its_variance] =
      tg::batch_norm(x, gamma, beta, 0.0);          // [[-1, -1], [1, 1]], [2, 20] and [1, 100]
  auto rows = tg::layer_norm(x, gamma, beta, 0.0);  // [[-1, 1], [-1, 1]]: each row by itself
  // end
  const auto all_outputs =
      tg::outputs(plain, larger, overlapping, mean, means, largest, normal, its_mean, its_variance, rows);
  tg::session session(tg::compile([=] { return all_outputs; }));
  const tg::tensor<float> xs({2, 2}, {1, 10, 3, 30}), some({2, 28, 28, 3});
  CHECK(text(xs) == "[[1, 10], [3, 30]]");
  CHECK(text(session.run(normal, x = xs)) == "[[-1, -1], [1, 1]]");
  CHECK(text(session.run(its_mean, x = xs)) == "[2, 20]");
  CHECK(text(session.run(its_variance, x = xs)) == "[1, 100]");
  CHECK(text(session.run(rows, x = xs)) == "[[-1, 1], [-1, 1]]");
  CHECK(session.run(plain, images = some).dims() == tg::shape{2, 24, 24, 16});
  CHECK(session.run(larger, images = some).dims() == tg::shape{2, 28, 28, 3});
  CHECK(session.run(overlapping, images = some).dims() == tg::shape{2, 13, 13, 3});
  CHECK(session.run(mean, images = some).dims() == tg::shape{2, 14, 7, 3});
  CHECK(text(session.run(largest, images = some)) == "[[0, 0, 0], [0, 0, 0]]");
  CHECK(text(session.run(means, images = some)) == "[[0, 0, 0], [0, 0, 0]]");
  CHECK(text(plain) == "[?, 24, 24, 16]");
  CHECK(text(halved) == "[?, 14, 14, 16]");
  CHECK(text(framed) == "[?, 28, 28, 16]");
  CHECK(text(larger) == "[?, 28, 28, 3]");
  CHECK(text(smaller) == "[?, 14, 14, 3]");
  CHECK(text(overlapping) == "[?, 13, 13, 3]");
  CHECK(text(mean) == "[?, 14, 7, 3]");
  CHECK(text(means) == "[?, 3]");
  CHECK(text(largest) == "[?, 3]");
}
