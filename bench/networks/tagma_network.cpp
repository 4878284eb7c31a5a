// SPDX-License-Identifier: BSL-1.0
// Training steps of a network, or its inference where the third argument is `infer`. Each network is a program, which
// TAGMA_NETWORK names: a block that many models are made of, with a dense layer of 10 classes behind it.
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "../peers/protocol.hpp"
#include "multiplications.hpp"
#include "tagma/base/version.hpp"
#include "tagma/passes.hpp"
#include "tagma/tagma.hpp"

#if !defined(TAGMA_NETWORK)
#define TAGMA_NETWORK mlp
#endif

namespace tg = tagma;

namespace {

constexpr tg::conv_options same{.padding = tg::same_padding};

/// The mean over height and width.
template <tg::expression E>
auto pooled(const E& e) {
  return tg::mean<1, 2>(e);
}

struct mlp {
  static constexpr auto x = tg::placeholder<"x", float, tg::dyn, 784>();
  static auto model(const auto&) { return tg::dense<"second", 100>(tg::dense<"first", 300>(x, tg::relu), tg::relu); }
};
struct cnn {
  static constexpr auto x = tg::placeholder<"x", float, tg::dyn, 28, 28, 1>();
  static auto model(const auto&) {
    const auto first = tg::max_pool<2>(tg::conv2d<"first", 32, 5, same>(x, tg::relu));
    return tg::dense<"hidden", 1024>(tg::flatten(tg::max_pool<2>(tg::conv2d<"second", 64, 5, same>(first, tg::relu))),
                                     tg::relu);
  }
};
struct lstm {
  static constexpr auto x = tg::placeholder<"x", float, tg::dyn, 32, 128>();
  static auto model(const auto&) { return tg::lstm<"lstm", 128>(x); }
};
struct gru {
  static constexpr auto x = tg::placeholder<"x", float, tg::dyn, 32, 128>();
  static auto model(const auto&) { return tg::gru<"gru", 128>(x); }
};
struct transformer {
  static constexpr auto x = tg::placeholder<"x", float, tg::dyn, 64, 128>();
  static auto model(const auto&) { return tg::mean<1>(tg::transformer_block<"block", 4, 512>(x)); }
};
struct resnet {
  static constexpr auto x = tg::placeholder<"x", float, tg::dyn, 28, 28, 64>();
  static auto model(const auto& phase) {
    const auto first = tg::relu(tg::batch_norm<"norm1">(tg::conv2d<"conv1", 64, 3, same>(x), phase));
    return pooled(tg::relu(tg::batch_norm<"norm2">(tg::conv2d<"conv2", 64, 3, same>(first), phase) + x));
  }
};
struct mobilenet {
  static constexpr auto x = tg::placeholder<"x", float, tg::dyn, 28, 28, 32>();
  static auto model(const auto& phase) {
    const auto wide = tg::relu6(tg::batch_norm<"norm1">(tg::conv2d<"expand", 192, 1>(x), phase));
    const auto each = tg::relu6(tg::batch_norm<"norm2">(tg::depthwise_conv2d<"depthwise", 3, 1, same>(wide), phase));
    return pooled(tg::batch_norm<"norm3">(tg::conv2d<"project", 32, 1>(each), phase) + x);
  }
};
struct unet {
  static constexpr auto x = tg::placeholder<"x", float, tg::dyn, 32, 32, 16>();
  static auto model(const auto&) {
    const auto around = tg::conv2d<"down2", 32, 3, same>(tg::conv2d<"down1", 32, 3, same>(x, tg::relu), tg::relu);
    const auto below = tg::conv2d<"below", 64, 3, same>(tg::max_pool<2>(around), tg::relu);
    return pooled(tg::conv2d<"up", 32, 3, same>(tg::concat<-1>(around, tg::upsample2d<2>(below)), tg::relu));
  }
};

using network = TAGMA_NETWORK;
constexpr auto x = network::x;
constexpr auto y = tg::placeholder<"y", std::uint8_t, tg::dyn>();

auto logits(const auto& phase) { return tg::dense<"logits", 10>(network::model(phase)); }

/// Inputs of the same numbers in every program: they do not matter, but all are normal.
std::vector<tg::tensor<float>> inputs(int batch) {
  tg::shape dims = decltype(x)::spec.dims;
  dims.extents[0] = batch;
  std::vector<tg::tensor<float>> all;
  for (unsigned i = 0; i < peers::batches; ++i) {
    std::mt19937 bits(i);
    all.emplace_back(dims);
    for (float& v : all.back().span()) v = static_cast<float>(bits() % 256) / 255;
  }
  return all;
}

std::size_t batch_of(std::int64_t step) { return static_cast<std::size_t>(step % peers::batches); }

/// What the driver is told: the version, and how much a step computes, which `run` does once, with a limit.
std::string facts(const auto& run) {
  peers::multiplications counted;
  tg::run_limits counts;
  counts.trace = &counted;
  run(counts);
  return TAGMA_VERSION " multiplications=" + std::to_string(static_cast<std::int64_t>(counted.total()));
}

int infer(const peers::options& options) {
  const std::vector<tg::tensor<float>> in = inputs(options.batch);
  const auto out = logits(tg::phase::inference);
  // As ONNX Runtime does when it loads a model.
  tg::session session(tg::compile([=] { return tg::outputs(out); },
                                  tg::passes<tg::fold_batch_norm, tg::fold_activation, tg::fold_frozen>),
                      {.seed = 42, .intra_op_threads = options.threads});
  const std::string known = facts([&](const tg::run_limits& counts) { session.run(out, counts, x = in[0]); });
  return peers::serve(
      known.c_str(),
      [&](std::int64_t i) { return static_cast<double>(session.run(out, x = in[batch_of(i)]).data()[0]); }, 3);
}

}  // namespace

// Not in the namespace, which nvcc gives a name: g++ would then warn of types in it.
template <class Optimizer>
static int train(const peers::options& options, const Optimizer& optimizer) {
  const std::vector<tg::tensor<float>> in = inputs(options.batch);
  const auto loss = tg::mean(tg::sparse_softmax_cross_entropy(logits(tg::phase::training), y));
  const auto step = tg::minimize(loss, optimizer);
  tg::session session(tg::compile([=] { return tg::outputs(loss, step); }),
                      {.seed = 42, .intra_op_threads = options.threads});
  std::vector<tg::tensor<std::uint8_t>> labels;
  for (unsigned i = 0; i < peers::batches; ++i)
    labels.emplace_back(tg::shape{options.batch}, peers::make_batch(options.batch, i).labels);
  const std::string known =
      facts([&](const tg::run_limits& counts) { session.run(step, counts, x = in[0], y = labels[0]); });
  return peers::serve(
      known.c_str(),
      [&](std::int64_t i) {
        const auto [value, done] = session.run(tg::fetch(loss, step), x = in[batch_of(i)], y = labels[batch_of(i)]);
        return static_cast<double>(value);
      },
      3);
}

int main(int count, char** arguments) {
  const peers::options options(count, arguments);
  if (options.infer) return infer(options);
  return options.adam ? train(options, tg::adam{.learning_rate = peers::adam_rate})
                      : train(options, tg::sgd{.learning_rate = peers::sgd_rate});
}
