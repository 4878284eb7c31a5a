// SPDX-License-Identifier: BSL-1.0
#include "tagma/graph/pass/fold_activation.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "support/graphs.hpp"
#include "tagma/passes.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;
using tg::test::count_of;

namespace {

constexpr auto image = tg::placeholder<"image", float, tg::dyn, 6, 5, 3>();
constexpr tg::conv_options padded{.padding = tg::same_padding};

tg::tensor<float> pixels(tg::extent batch) {
  tg::tensor<float> t(tg::shape{batch, 6, 5, 3});
  for (tg::extent i = 0; i < t.dims().elements(); ++i) t[i] = static_cast<float>((i * 37 + 11) % 29) - 14;
  return t;
}

/// Compares what a net gives with and without the pass, element by element: with some images, one, and none.
/// @return how many element-wise operations the pass has left
template <class Net>
int compare(const Net& net) {
  const auto plain = tg::compile([=] { return tg::outputs(net); });
  const auto folded = tg::compile([=] { return tg::outputs(net); }, tg::passes<tg::fold_activation>);
  tg::session one(plain, {.seed = 3});
  tg::session other(folded, {.seed = 3});
  tg::session shared(folded, {.seed = 3, .intra_op_threads = 3});
  for (const tg::extent batch : {7, 1, 0}) {
    const auto expected = one.run(net, image = pixels(batch)), found = other.run(net, image = pixels(batch)),
               again = shared.run(net, image = pixels(batch));
    REQUIRE(found.dims() == expected.dims());
    CHECK(std::equal(found.span().begin(), found.span().end(), expected.span().begin()));
    CHECK(std::equal(found.span().begin(), found.span().end(), again.span().begin()));
  }
  return count_of(folded, "relu") + count_of(folded, "minimum");
}

}  // namespace

TEST_CASE("relu and relu6 behind a convolution are part of it") {
  const auto conv = tg::conv2d<"conv", 11, 3, padded>(image);
  CHECK(compare(tg::relu(conv)) == 0);
  CHECK(compare(tg::relu6(conv)) == 0);
  CHECK(compare(tg::relu6(tg::conv2d<"conv", 3, 1>(image))) == 0);
  CHECK(compare(tg::relu6(tg::depthwise_conv2d<"conv", 3, 1, padded>(image))) == 0);
  CHECK(compare(tg::relu6(tg::conv2d<"second", 2, 3, padded>(tg::relu6(conv)))) == 0);
}

TEST_CASE("numbers above six are six") {
  const auto six = tg::relu6(tg::conv2d<"conv", 4, 3, padded>(image));
  tg::session session(tg::compile([=] { return tg::outputs(six); }, tg::passes<tg::fold_activation>), {.seed = 3});
  const auto y = session.run(six, image = pixels(2));
  CHECK(*std::max_element(y.span().begin(), y.span().end()) == 6);
  CHECK(*std::min_element(y.span().begin(), y.span().end()) == 0);
}

TEST_CASE("what is no such activation stays behind the convolution") {
  const auto conv = tg::conv2d<"conv", 4, 3, padded>(image);
  const auto filter = tg::variable<"f", float, 3, 3, 3, 4>(tg::random_normal(0, 0.5));
  CHECK(compare(tg::minimum(tg::relu(conv), 6.0F)) == 1);            // the compiler does not know the number
  CHECK(compare(tg::hard_sigmoid(conv)) == 1);                       // another number
  CHECK(compare(tg::minimum(conv, 6.0F)) == 1);                      // no relu
  CHECK(compare(tg::relu(conv) + conv) == 1);                        // somebody else reads it
  CHECK(compare(tg::relu6(conv) + tg::relu(conv)) == 1);             // or what is between
  CHECK(compare(tg::relu(tg::conv2d<padded>(image, filter))) == 1);  // no bias
}

TEST_CASE("activations behind a normalisation that is folded are folded") {
  const auto net = tg::relu6(tg::batch_norm<"bn">(tg::conv2d<"conv", 4, 3, padded>(image), tg::phase::inference));
  const auto folded = tg::compile([=] { return tg::outputs(net); },
                                  tg::passes<tg::fold_batch_norm, tg::fold_activation, tg::fold_frozen>);
  CHECK(count_of(folded, "conv2d_bias") == 1);
  CHECK(count_of(folded, "relu") + count_of(folded, "minimum") == 0);
  tg::session one(tg::compile([=] { return tg::outputs(net); }), {.seed = 3});
  tg::session other(folded, {.seed = 3});
  const auto expected = one.run(net, image = pixels(5)), found = other.run(net, image = pixels(5));
  for (tg::extent i = 0; i < found.dims().elements(); ++i) CHECK(found[i] == Approx(expected[i]).margin(2e-5));
}

TEST_CASE("a net whose activations are folded is trained alike") {
  const auto net = tg::relu6(tg::conv2d<"conv", 4, 3, padded>(image));
  const auto loss = tg::mean(tg::square(net));
  const auto step = tg::minimize(loss, tg::sgd{.learning_rate = 0.01});
  tg::session one(tg::compile([=] { return tg::outputs(loss, step); }), {.seed = 3});
  tg::session other(tg::compile([=] { return tg::outputs(loss, step); }, tg::passes<tg::fold_activation>), {.seed = 3});
  for (int i = 0; i < 4; ++i) {
    const auto [expected, done] = one.run(tg::fetch(loss, step), image = pixels(3));
    const auto [found, too] = other.run(tg::fetch(loss, step), image = pixels(3));
    CHECK(found == expected);
  }
}
