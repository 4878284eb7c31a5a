// SPDX-License-Identifier: BSL-1.0
#include "tagma/graph/pass/fold_batch_norm.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <utility>

#include "support/graphs.hpp"
#include "tagma/control_flow.hpp"
#include "tagma/passes.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;
using tg::test::count_of;

namespace {

constexpr auto image = tg::placeholder<"image", float, tg::dyn, 6, 6, 3>();
constexpr tg::conv_options padded{.padding = tg::same_padding};

tg::tensor<float> pixels() {
  tg::tensor<float> t(tg::shape{2, 6, 6, 3});
  for (tg::extent i = 0; i < t.dims().elements(); ++i) t[i] = static_cast<float>((i * 37 + 11) % 29) / 7 - 2;
  return t;
}

/// Gives the variables of a normalisation values as training would.
template <class Session>
void set_moments(Session& session) {
  const std::pair<std::string_view, std::array<float, 4>> values[] = {{"bn/gamma", {0.5F, -1.5F, 2, 1}},
                                                                      {"bn/beta", {1, -1, 0.25F, 3}},
                                                                      {"bn/moving_mean", {0.1F, -0.7F, 1, 0}},
                                                                      {"bn/moving_variance", {0.3F, 4, 0.01F, 1}}};
  for (std::size_t i = 0; i < session.core().variables().size(); ++i)
    for (const auto& [name, numbers] : values) {
      auto& variable = session.core().variable(i);
      if (variable.name() != name) continue;
      std::memcpy(variable.begin_update(false), numbers.data(), sizeof numbers);
      variable.end_update();
    }
}

struct nothing {
  static constexpr void visit(tg::rewriter&) {}
};

/// Compares what a net gives with and without the pass.
template <class Net>
void compare(const Net& net, bool foldable) {
  const auto plain = tg::compile([=] { return tg::outputs(net); });
  const auto folded = tg::compile([=] { return tg::outputs(net); }, tg::passes<tg::fold_batch_norm>);
  CHECK(count_of(folded, "conv2d_bias") + count_of(folded, "conv2d") ==
        count_of(plain, "conv2d_bias") + count_of(plain, "conv2d"));
  const auto copied = tg::compile([=] { return tg::outputs(net); }, tg::passes<nothing>);
  CHECK((copied.fingerprint() != folded.fingerprint()) == foldable);
  tg::session one(plain, {.seed = 3});
  tg::session other(folded, {.seed = 3});
  set_moments(one), set_moments(other);
  const auto expected = one.run(net, image = pixels()), found = other.run(net, image = pixels());
  REQUIRE(found.dims() == expected.dims());
  for (tg::extent i = 0; i < found.dims().elements(); ++i) CHECK(found[i] == Approx(expected[i]).margin(2e-5));
}

}  // namespace

TEST_CASE("a convolution and its normalisation for inference are one convolution") {
  const auto conv = tg::conv2d<"conv", 4, 3, padded>(image);
  compare(tg::relu(tg::batch_norm<"bn">(conv, tg::phase::inference)), true);
  const auto filter = tg::variable<"f", float, 3, 3, 3, 4>(tg::random_normal(0, 0.5));
  compare(tg::batch_norm<"bn">(tg::conv2d(image, filter), tg::phase::inference), true);
}

TEST_CASE("groups and steps of the convolution stay") {
  const auto filter = tg::variable<"f", float, 3, 3, 1, 6>(tg::random_normal(0, 0.5));
  constexpr tg::conv_options options{.stride = 2, .padding = tg::same_padding, .groups = 3};
  const auto net = tg::batch_norm(
      tg::conv2d<options>(image, filter), tg::variable<"g", float, 6>(tg::random_uniform(1, 2)),
      tg::variable<"b", float, 6>(tg::random_uniform(0, 1)), tg::variable<"m", float, 6>(tg::random_normal()),
      tg::variable<"v", float, 6>(tg::random_uniform(1, 3)));
  const auto plain = tg::compile([=] { return tg::outputs(net); });
  const auto folded = tg::compile([=] { return tg::outputs(net); }, tg::passes<tg::fold_batch_norm>);
  CHECK(count_of(plain, "conv2d_bias") == 0);
  CHECK(count_of(folded, "conv2d_bias") == 1);
  CHECK(count_of(folded, "conv2d") == 0);
  tg::session one(plain, {.seed = 3});
  tg::session other(folded, {.seed = 3});
  const auto expected = one.run(net, image = pixels()), found = other.run(net, image = pixels());
  for (tg::extent i = 0; i < found.dims().elements(); ++i) CHECK(found[i] == Approx(expected[i]).margin(2e-5));
}

TEST_CASE("what is not one convolution stays as it is") {
  const auto conv = tg::conv2d<"conv", 4, 3, padded>(image);
  SECTION("relu comes between") {
    compare(tg::batch_norm<"bn">(tg::conv2d<"conv", 4, 3, padded>(image, tg::relu), tg::phase::inference), false);
  }
  SECTION("somebody else reads the convolution") {
    compare(tg::batch_norm<"bn">(conv, tg::phase::inference) + conv, false);
  }
  SECTION("an update of the program writes a variable") {
    const auto net = tg::batch_norm<"bn">(conv, tg::phase::inference);
    const auto gamma = tg::variable<"bn/gamma", float, 4>(tg::ones);
    const auto moved = tg::assign_add(gamma, gamma);
    const auto plain = tg::compile([=] { return tg::outputs(net, moved); });
    const auto folded = tg::compile([=] { return tg::outputs(net, moved); }, tg::passes<tg::fold_batch_norm>);
    CHECK(plain.fingerprint() == folded.fingerprint());
  }
  SECTION("the net is trained") {
    const auto net = tg::batch_norm<"bn">(conv, tg::phase::training);
    const auto train = tg::minimize(tg::mean(tg::square(net)), tg::sgd{.learning_rate = 0.1});
    const auto folded = tg::compile([=] { return tg::outputs(train); }, tg::passes<tg::fold_batch_norm>);
    CHECK(count_of(folded, "conv2d_bias") == 1);
    CHECK(count_of(folded, "conv2d_filter_gradient") == 1);
  }
}

TEST_CASE("convolutions are folded in front of loops, behind them and in them") {
  const auto block = [](const auto& h) {
    return h + tg::relu(tg::batch_norm<"bn">(tg::conv2d<"conv", 4, 3, padded>(h), tg::phase::inference));
  };
  const auto first = tg::batch_norm<"bn">(tg::conv2d<"first", 4, 3, padded>(image), tg::phase::inference);
  const auto loop = tg::repeat<"block", 3>(block)(first);
  const auto net = tg::batch_norm<"bn">(tg::conv2d<"last", 4, 3, padded>(loop), tg::phase::inference);
  const auto written = tg::batch_norm<"bn">(
      tg::conv2d<"last", 4, 3, padded>(tg::repeat<"block", 3>(block, tg::unrolled)(first)), tg::phase::inference);
  const auto folded = tg::compile([=] { return tg::outputs(net); }, tg::passes<tg::fold_batch_norm, tg::fold_frozen>);
  const auto subtractions = count_of(tg::compile([=] { return tg::outputs(net); }), "subtract");
  CHECK(count_of(folded, "subtract") == subtractions);  // of a bias and a mean now
  CHECK(count_of(folded, "conv2d_bias") == 3);
  CHECK(count_of(folded, "keep") == 4);  // of the first and the last filter and bias
  compare(net, true);
  tg::session one(tg::compile([=] { return tg::outputs(written); }, tg::passes<tg::fold_batch_norm>), {.seed = 3});
  tg::session other(folded, {.seed = 3});
  set_moments(one), set_moments(other);
  for (int run = 0; run < 2; ++run) {
    const auto expected = one.run(written, image = pixels()), found = other.run(net, image = pixels());
    for (tg::extent i = 0; i < found.dims().elements(); ++i) CHECK(found[i] == Approx(expected[i]).margin(2e-5));
  }
}

TEST_CASE("what a loop carries is no filter to fold, nor what the program updates of a block") {
  const auto filter = tg::variable<"f", float, 3, 3, 3, 3>(tg::random_normal(0, 0.5));
  const auto norm = [](const auto& e) {
    return tg::batch_norm(e, tg::variable<"g", float, 3>(tg::ones), tg::variable<"b", float, 3>(tg::zeros),
                          tg::variable<"m", float, 3>(tg::random_normal()),
                          tg::variable<"v", float, 3>(tg::random_uniform(1, 3)));
  };
  const auto [last, net] = tg::scan<3>(tg::carry(filter, image), tg::over(), [&](const auto& f, const auto& h) {
    return tg::next(f * 0.5F, norm(tg::conv2d<padded>(h, f)));
  });
  compare(net, false);
  const auto blocks = tg::repeat<"block", 2>([](const auto& h) {
    return tg::batch_norm<"bn">(tg::conv2d<"conv", 3, 3, padded>(h), tg::phase::inference);
  })(image);
  const auto gamma = tg::variable<"block_1/bn/gamma", float, 3>(tg::ones);
  const auto moved = tg::assign_add(gamma, gamma);
  const auto changed = [](const auto& copied, const auto& folded) {
    return copied.fingerprint() != folded.fingerprint();
  };
  CHECK(changed(tg::compile([=] { return tg::outputs(blocks); }, tg::passes<nothing>),
                tg::compile([=] { return tg::outputs(blocks); }, tg::passes<tg::fold_batch_norm>)));
  CHECK(!changed(tg::compile([=] { return tg::outputs(blocks, moved); }, tg::passes<nothing>),
                 tg::compile([=] { return tg::outputs(blocks, moved); }, tg::passes<tg::fold_batch_norm>)));
}
