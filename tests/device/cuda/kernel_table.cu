// SPDX-License-Identifier: BSL-1.0
// Networks are trained for a few steps by the kernels of the CPU, and by those of the GPU through the same sessions. On
// a machine without a GPU fake streams run the kernels of the GPU on the host.
#include "tagma/device/cuda/kernel_table.hpp"

#include "support/cuda_sessions.hpp"

namespace {

namespace tg = tagma;
using tg::test::check;

constexpr tg::gpu_options gpu = tg::test::modest_gpu;

template <class Session>
std::vector<float> numbers_of(Session& session) {
  std::vector<float> all;
  for (std::size_t v = 0; v < session.core().variables().size(); ++v) {
    tg::runtime::aligned_bytes copy;
    const tg::raw_view value = session.core().variable(v).read(copy);
    if (value.type != tg::dtype::float32) continue;
    const auto* first = static_cast<const float*>(value.data);
    all.insert(all.end(), first, first + value.dims.elements());
  }
  return all;
}

template <class Loss, class Train, class... Feeds>
void train_on_both(const std::string& what, const Loss& loss, const Train& step, const Feeds&... feeds) {
  const auto on_cpu = tg::compile([=] { return tg::on<tg::cpu<0>>(tg::outputs(loss, step)); });
  const auto on_gpu = tg::compile([=] { return tg::outputs(loss, step); });
  using graph = typename decltype(on_gpu)::graph;
  for (const bool has : tg::ir::accelerator_of<graph, 0>::kernels) check(has, what + ": the GPU has all kernels");
  tg::session expected(on_cpu, {.seed = 5, .intra_op_threads = 1, .gpu = gpu});
  tg::session found(on_gpu, {.seed = 5, .intra_op_threads = 1, .gpu = gpu});
  check(numbers_of(found) == numbers_of(expected), what + ": initial values are equal");
  for (int i = 0; i < 4; ++i) {
    const float a = std::get<0>(expected.run(tg::fetch(loss, step), feeds...));
    const float b = std::get<0>(found.run(tg::fetch(loss, step), feeds...));
    check(std::fabs(a - b) < 2e-4f * (1 + std::fabs(a)),
          what + ": loss " + std::to_string(a) + " and " + std::to_string(b));
  }
  const auto a = numbers_of(expected), b = numbers_of(found);
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, static_cast<double>(std::fabs(a[i] - b[i])));
  check(most < 2e-4, what + ": variables differ by " + std::to_string(most));
}

void images() {
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 8, 8, 3>();
  constexpr auto y = tg::placeholder<"y", std::uint8_t, tg::dyn>();
  const auto filter = tg::variable<"filter", float, 3, 3, 3, 4>(tg::glorot_uniform);
  const auto bias = tg::variable<"bias", float, 4>(tg::zeros);
  const auto hidden =
      tg::max_pool<2>(tg::conv2d<tg::conv_options{.padding = tg::same_padding}>(x, filter, bias, tg::relu));
  const auto flat = tg::dropout(tg::flatten(hidden), 0.25);
  const auto loss = tg::mean(tg::sparse_softmax_cross_entropy(tg::dense<"logits", 5>(flat), y));
  const auto train = tg::minimize(loss, tg::adam{.learning_rate = 0.01});
  tg::tensor<float> pictures(tg::shape{6, 8, 8, 3});
  for (std::size_t i = 0; i < pictures.size(); ++i) pictures.data()[i] = static_cast<float>(i * 7919 % 101) / 50 - 1;
  train_on_both("images", loss, train, x = pictures, y = tg::tensor<std::uint8_t>(tg::shape{6}, {0, 4, 2, 1, 1, 3}));
}

constexpr auto at = tg::placeholder<"at", std::int32_t, tg::dyn>();

auto rows_of_words() { return tg::gather(tg::variable<"table", float, 11, 6>(tg::glorot_uniform), at); }

void words() {
  const auto rows = rows_of_words();
  const auto weight = tg::variable<"weight", float, 6, 6>(tg::glorot_normal);
  const auto mixed = tg::tanh(tg::matmul(rows, weight)) * tg::softmax(rows);
  const auto loss = tg::sum(tg::square(tg::concat<1>(mixed, tg::transpose<1, 0>(tg::transpose<1, 0>(rows)))));
  const auto train =
      tg::minimize(loss, tg::adagrad{.learning_rate = tg::exponential_decay{.initial = 0.1, .decay_steps = 2}});
  train_on_both("words", loss, train, at = tg::tensor<std::int32_t>(tg::shape{7}, {3, 1, 3, 10, 3, 0, 1}));
}

/// Operations with several results, of which some are read.
void sequences() {
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 3, 4>();
  const auto states = tg::gru<"gru", 5>(tg::lstm<"lstm", 4>(x, tg::return_sequences), tg::return_sequences);
  const auto steps = tg::split<1, 3>(states);
  const auto moments = tg::moments<0, 1>(states);
  const auto best = tg::top_k<2>(tg::tanh(std::get<2>(steps) - std::get<0>(steps)));
  const auto loss =
      tg::sum(tg::square(best.first - 1.0f)) + tg::sum(std::get<1>(moments)) + tg::mean(std::get<0>(steps));
  const auto train = tg::minimize(loss, tg::sgd{.learning_rate = 0.1});
  tg::tensor<float> in(tg::shape{6, 3, 4});
  for (std::size_t i = 0; i < in.size(); ++i) in.data()[i] = static_cast<float>(i * 7919 % 101) / 50 - 1;
  train_on_both("sequences", loss, train, x = in);
}

// A kernel of a GPU cannot throw: the run does, when it is over, and the session goes on.
void wrong_index() {
  const auto rows = rows_of_words();
  const auto program = tg::compile([=] { return tg::outputs(rows); });
  tg::session session(program, {.gpu = gpu});
  const auto good = session.run(rows, at = tg::tensor<std::int32_t>(tg::shape{2}, {3, 1}));
  std::string text;
  try {
    static_cast<void>(session.run(rows, at = tg::tensor<std::int32_t>(tg::shape{2}, {3, 11})));
  } catch (const tg::error& e) {
    check(e.code() == tg::status_code::out_of_range, "a wrong index is out of range");
    text = e.what();
  }
  check(text.find("gather") != std::string::npos && text.find("position 1") != std::string::npos,
        "a wrong index is named: " + text);
  const auto again = session.run(rows, at = tg::tensor<std::int32_t>(tg::shape{2}, {3, 1}));
  check(good == again, "the run after it is whole");
}

}  // namespace

int main() {
  tg::test::on_gpu();
  images();
  words();
  sequences();
  wrong_index();
  if (tg::test::has_stand_ins()) {
    const auto& calls = tg::test::stand_ins;
    check(calls.products > 0 && calls.convolutions > 0 && calls.pools > 0 && calls.softmaxes > 0,
          "sessions call the libraries");
  }
  return tg::test::result();
}
