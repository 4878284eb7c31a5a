// SPDX-License-Identifier: BSL-1.0
// What equal.py compares with PyTorch: each case is a program whose variables, inputs among them, are read from
// FOLDER/<case>.safetensors. Results go to FOLDER/<case>.out.safetensors, the variables afterwards to
// FOLDER/<case>.saved.safetensors. "<case>@<text>" is the program of a case with other files. "--list" names the cases.
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "tagma/tagma.hpp"
#include "tagma/train.hpp"

#ifndef EQUAL_FLOAT
#define EQUAL_FLOAT float
#endif

namespace tg = tagma;

namespace {

using T = EQUAL_FLOAT;
using ids = std::int64_t;

/// Each gets the path of its files, without an ending.
std::map<std::string, std::function<void(const std::string&)>> cases;

template <class E>
void write(const std::string& files, const tg::tensor<E>& y) {
  const tg::safetensors::named_tensor tensors[] = {{"y", tg::dtype_of<E>, y.dims(), y.data()}};
  tg::safetensors::write(files + ".out.safetensors", tensors);
}
template <class Program>
void restore(const std::string& files, tg::session<Program>& session) {
  tg::restore(session, files + ".safetensors");
}
template <class Program>
void save(const std::string& files, tg::session<Program>& session) {
  tg::save(session, files + ".saved.safetensors");
}

/// A variable with the shape and the element type of an expression.
template <tg::fixed_string Name, class Y>
auto like(const Y&) {
  return []<std::size_t... I>(std::index_sequence<I...>) {
    return tg::variable<Name, typename Y::element_type, Y::spec.dims[I]...>(tg::ones, tg::not_trainable);
  }
  (std::make_index_sequence<static_cast<std::size_t>(Y::rank)>{});
}
template <class Y>
auto sum_of_all(const Y& y) {
  if constexpr (Y::rank == 0)
    return y;
  else
    return tg::sum(y);
}

/// What a layer or a loss returns, and the gradients of sum(y * r) by all trainable variables. Momentum of 0 at a rate
/// of 0 moves nothing, and keeps the gradient in the slot "<variable>/momentum".
template <class Y>
void layer(const std::string& name, const Y& y) {
  const auto r = like<"r">(y);
  const auto step = tg::minimize(sum_of_all(y * r), tg::momentum{.learning_rate = 0, .momentum = 0});
  cases[name] = [=](const std::string& files) {
    const auto program = tg::compile([=] { return tg::outputs(y, step); });
    tg::session session(program);
    restore(files, session);
    const auto [value, done] = session.run(tg::fetch(y, step));  // one run: dropout draws once
    if constexpr (Y::rank == 0)
      write(files, tg::tensor<T>({}, {value}));
    else
      write(files, value);
    save(files, session);
  };
}

/// Twenty steps of training; the losses of all steps.
template <class Optimizer, class... Option>
void train(const std::string& name, const Optimizer& optimizer, const Option&... option) {
  const auto x = tg::variable<"x", T, 16, 5>(tg::zeros, tg::not_trainable);
  const auto t = tg::variable<"t", T, 16, 3>(tg::zeros, tg::not_trainable);
  const auto loss = tg::mean_squared_error(tg::dense<"out", 3>(tg::dense<"hidden", 6>(x, tg::tanh)), t);
  const auto step = tg::minimize(loss, optimizer, option...);
  cases[name] = [=](const std::string& files) {
    const auto program = tg::compile([=] { return tg::outputs(loss, step); });
    tg::session session(program);
    restore(files, session);
    std::vector<T> losses;
    for (int i = 0; i < 20; ++i) {
      const auto [value, done] = session.run(tg::fetch(loss, step));
      losses.push_back(value);
    }
    write(files, tg::tensor<T>({20}, losses));
    save(files, session);
  };
}

/// A metric over three batches, which the file has as "p0", "y0" and so on.
template <class Metric, class P, class... Y>
void metric(const std::string& name, const Metric& m, const P& p, const Y&... y) {
  cases[name] = [=](const std::string& files) {
    const auto program = tg::compile([=] { return tg::outputs(m.update, m.result); });
    tg::session session(program);
    const tg::safetensors::file file(files + ".safetensors");
    for (const std::string i : {"0", "1", "2"}) {
      const auto values = file.load<T>("p" + i);
      if constexpr (sizeof...(Y) == 0)
        session.run(m.update, p = values);
      else
        (session.run(m.update, p = values, y = file.load<ids>("y" + i)), ...);
    }
    write(files, tg::tensor<double>({}, {session.run(m.result)}));
    save(files, session);
  };
}

template <tg::extent... Dims>
auto input() {
  return tg::variable<"x", T, Dims...>(tg::zeros);
}
/// What no gradient is wanted of.
template <tg::fixed_string Name, class E, tg::extent... Dims>
auto given() {
  return tg::variable<Name, E, Dims...>(tg::zeros, tg::not_trainable);
}

constexpr auto training = tg::phase::training;

void add_layers() {
  const auto x = input<5, 7>();
  layer("dense", tg::dense<"l", 4>(x));
  layer("dense_of_3_axes", tg::dense<"l", 4>(input<2, 3, 5>(), tg::relu));
  layer("embedding", tg::embedding_lookup(tg::variable<"table", T, 11, 3>(tg::zeros), given<"ids", ids, 4, 5>()));
  layer("activations", tg::concat<0>(tg::relu(x), tg::relu6(x), tg::leaky_relu(x), tg::elu(x), tg::selu(x), tg::gelu(x),
                                     tg::silu(x), tg::sigmoid(x), tg::tanh(x), tg::softplus(x), tg::softsign(x),
                                     tg::softmax(x), tg::log_softmax(x)));
  const auto dropped = tg::dropout(input<100, 100>(), 0.3, training);
  layer("dropout", dropped);

  const auto images = input<2, 9, 8, 4>();
  layer("conv2d", tg::conv2d<"l", 5, 3>(images));
  layer("conv2d_stride_padding",
        tg::conv2d<"l", 5, tg::window(3, 4), tg::conv_options{.stride = tg::window(2, 1), .padding = 1}>(images));
  layer("conv2d_same_stride",
        tg::conv2d<"l", 5, tg::window(3, 4), tg::conv_options{.stride = 2, .padding = tg::same_padding}>(images));
  layer("conv2d_dilation_groups",
        tg::conv2d<"l", 6, 3, tg::conv_options{.padding = 2, .dilation = 2, .groups = 2}>(images, tg::relu));
  layer("conv2d_transpose", tg::conv2d_transpose<tg::conv_options{.stride = 2, .padding = 1}>(
                                images, tg::variable<"filter", T, 3, 3, 5, 4>(tg::zeros)));
  layer("depthwise_conv2d", tg::depthwise_conv2d<"l", 3, 2>(images));
  layer("depthwise_conv2d_same_stride",
        tg::depthwise_conv2d<"l", 3, 1, tg::conv_options{.stride = 2, .padding = tg::same_padding}>(images));
  layer("max_pool", tg::max_pool<2>(images));
  layer("average_pool", tg::average_pool<3, tg::pool_options{.stride = 2, .padding = 1}>(images));
  layer("global_pools", tg::concat<-1>(tg::global_max_pool(images), tg::global_average_pool(images)));
  layer("upsample2d", tg::upsample2d<3>(images));
  layer("resize_bilinear_larger", tg::resize_bilinear<13, 20>(images));
  layer("resize_bilinear_smaller", tg::resize_bilinear<4, 5>(images));
  layer("group_norm", tg::group_norm<"l", 2>(images));
  layer("batch_norm_images", tg::batch_norm<"l">(images, training, 0.9, 1e-5));

  const auto line = input<3, 10, 4>();
  layer("conv1d", tg::conv1d<"l", 5, 3>(line));
  layer("conv1d_same_stride", tg::conv1d<"l", 5, 4, tg::conv1d_options{.stride = 2, .same = true}>(line));
  layer("conv1d_causal_dilation", tg::conv1d<"l", 5, 3, tg::conv1d_options{.causal = true, .dilation = 2}>(line));
  layer("conv1d_groups", tg::conv1d<"l", 6, 3, tg::conv1d_options{.groups = 2}>(line, tg::relu));

  const auto volumes = input<2, 5, 6, 7, 3>();
  layer("conv3d", tg::conv3d<"l", 4, tg::volume(2, 3, 2)>(volumes));
  layer("conv3d_same_stride", tg::conv3d<"l", 4, 3, tg::conv3d_options{.stride = 2, .same = true}>(volumes));
  layer("conv3d_dilation",
        tg::conv3d<"l", 4, tg::volume(2, 2, 3), tg::conv3d_options{.dilation = tg::volume(3, 2, 1)}>(volumes));

  layer("layer_norm", tg::layer_norm<"l">(input<3, 4, 6>()));
  layer("rms_norm", tg::rms_norm<"l">(input<3, 4, 6>()));
  layer("batch_norm", tg::batch_norm<"l">(x, training));
  layer("batch_norm_inference", tg::batch_norm<"l">(x, tg::phase::inference));
}

/// Five steps of training move kernels and averages; then the averages normalise.
void add_trained_batch_norm() {
  const auto x = given<"x", T, 8, 5>();
  const auto model = [=](auto phase) { return tg::batch_norm<"norm">(tg::dense<"l", 4>(x), phase, 0.8, 1e-3); };
  const auto y = model(training);
  const auto step = tg::minimize(tg::sum(y * like<"r">(y)), tg::sgd{.learning_rate = 0.02});
  const auto scores = model(tg::phase::inference);
  cases["batch_norm_trained"] = [=](const std::string& files) {
    const auto program = tg::compile([=] { return tg::outputs(step, scores); });
    tg::session session(program);
    restore(files, session);
    for (int i = 0; i < 5; ++i) session.run(step);
    write(files, session.run(scores));
    save(files, session);
  };
}

void add_sequences() {
  const auto x = input<2, 5, 6>();
  const auto memory = tg::variable<"memory", T, 2, 7, 4>(tg::zeros);
  layer("attention", tg::multi_head_attention<"a", 3>(x));
  layer("attention_causal", tg::multi_head_attention<"a", 2, tg::causal>(x));
  layer("attention_key_mask", tg::multi_head_attention<"a", 3>(x, given<"mask", bool, 2, 5>()));
  layer("attention_cross", tg::multi_head_attention<"a", 2>(x, memory));
  layer("attention_cross_mask", tg::multi_head_attention<"a", 2>(x, memory, given<"mask", bool, 2, 5, 7>()));
  layer("attention_rotary", tg::multi_head_attention<"a", 1, tg::attention_options{.rotary = true}>(x));
  layer("transformer_block", tg::transformer_block<"b", 2, 9>(x));
  layer("transformer_block_causal",
        tg::transformer_block<"b", 3, 9, tg::transformer_options{.attention = tg::causal}>(x));
  layer("transformer_block_mask", tg::transformer_block<"b", 3, 9>(x, given<"mask", bool, 2, 5>()));
  layer("transformer_block_post_norm", tg::transformer_block<"b", 3, 9, tg::transformer_options{.post_norm = true}>(x));
  layer("rnn", tg::rnn<"r", 4>(x, tg::return_sequences));
  layer("rnn_last_unrolled", tg::rnn<"r", 4>(x, tg::last_output | tg::unrolled));
  layer("lstm", tg::lstm<"r", 4>(x, tg::return_sequences));
  layer("lstm_last_unrolled", tg::lstm<"r", 4>(x, tg::last_output | tg::unrolled));
  layer("gru", tg::gru<"r", 4>(x, tg::return_sequences));
  layer("gru_last_unrolled", tg::gru<"r", 4>(x, tg::last_output | tg::unrolled));
  layer("bidirectional_lstm",
        tg::bidirectional<"both">([](const auto& e) { return tg::lstm<"r", 4>(e, tg::return_sequences); })(x));
  layer("bidirectional_lstm_last", tg::bidirectional<"both">([](const auto& e) { return tg::lstm<"r", 4>(e); })(x));
}

void add_losses() {
  const auto x = input<6, 5>();
  const auto t = given<"t", T, 6, 5>();
  const auto label = given<"label", ids, 6>();
  const auto weights = given<"w", T, 6>();
  layer("mean_squared_error", tg::mean_squared_error(x, t));
  layer("mean_squared_error_weights", tg::mean_squared_error(x, t, given<"w", T, 6, 5>()));
  layer("mean_squared_error_row_weights", tg::mean_squared_error(x, t, weights));
  layer("mean_absolute_error", tg::mean_absolute_error(x, t));
  layer("mean_absolute_error_row_weights", tg::mean_absolute_error(x, t, weights));
  layer("huber_loss", tg::huber_loss(x, t));
  layer("huber_loss_delta", tg::huber_loss(x, t, 0.4));
  layer("hinge_loss", tg::hinge_loss(x, t));
  layer("log_loss", tg::log_loss(x, t));
  layer("cosine_distance", tg::cosine_distance(x, t));
  layer("kl_divergence", tg::kl_divergence(x, t));
  layer("l2_loss", tg::l2_loss(x));
  layer("cross_entropy", tg::mean(tg::sparse_softmax_cross_entropy(x, label)));
  layer("cross_entropy_of_rows", tg::sparse_softmax_cross_entropy(x, label));
  layer("cross_entropy_smoothed", tg::mean(tg::sparse_softmax_cross_entropy(x, label, 0.2)));
  layer("cross_entropy_class_weights",
        tg::weighted_mean(tg::sparse_softmax_cross_entropy(x, label), tg::gather<0>(given<"w", T, 5>(), label)));
  layer("cross_entropy_row_weights_smoothed",
        tg::weighted_mean(tg::sparse_softmax_cross_entropy(x, label, 0.2), weights));
  layer("cross_entropy_probabilities", tg::mean(tg::softmax_cross_entropy(x, t)));
  layer("cross_entropy_probabilities_smoothed", tg::mean(tg::softmax_cross_entropy(x, t, 0.2)));
  layer("sigmoid_cross_entropy", tg::sigmoid_cross_entropy(x, t));
  layer("sigmoid_cross_entropy_smoothed", tg::mean(tg::sigmoid_cross_entropy(x, t, 0.2)));
  layer("sigmoid_cross_entropy_weights", tg::weighted_mean(tg::sigmoid_cross_entropy(x, t), weights));
}

void add_metrics() {
  const auto p = tg::placeholder<"p", T, tg::dyn, 5>();
  const auto y = tg::placeholder<"y", ids, tg::dyn>();
  const auto scores = tg::placeholder<"scores", T, tg::dyn>();
  metric("metric_mean", tg::metrics::mean<"m">(p), p);
  metric("metric_accuracy", tg::metrics::accuracy<"m">(p, y), p, y);
  metric("metric_top_2_accuracy", tg::metrics::top_k_accuracy<"m", 2>(p, y), p, y);
  metric("metric_precision", tg::metrics::precision<"m">(scores, y), scores, y);
  metric("metric_recall", tg::metrics::recall<"m">(scores, y, 0.3), scores, y);
  metric("metric_auc", tg::metrics::auc<"m">(scores, y), scores, y);
}

void add_optimizers() {
  train("sgd", tg::sgd{.learning_rate = 0.1});
  train("momentum", tg::momentum{.learning_rate = 0.05, .momentum = 0.8});
  train("momentum_nesterov", tg::momentum{.learning_rate = 0.05, .momentum = 0.8, .nesterov = true});
  train("adagrad", tg::adagrad{.learning_rate = 0.05, .initial_accumulator = 0.2});
  train("adadelta", tg::adadelta{.learning_rate = 1, .rho = 0.9, .epsilon = 1e-4});
  train("rmsprop", tg::rmsprop{.learning_rate = 0.01, .rho = 0.9, .momentum = 0.5, .epsilon = 0});
  train("rmsprop_epsilon", tg::rmsprop{.learning_rate = 0.01, .rho = 0.9, .momentum = 0.5, .epsilon = 1e-3});
  train("centered_rmsprop", tg::centered_rmsprop{.learning_rate = 0.01, .rho = 0.9, .momentum = 0.5, .epsilon = 0});
  train("centered_rmsprop_epsilon",
        tg::centered_rmsprop{.learning_rate = 0.01, .rho = 0.9, .momentum = 0.5, .epsilon = 1e-3});
  train("adam", tg::adam{.learning_rate = 0.01, .epsilon = 1e-8});
  train("adam_epsilon", tg::adam{.learning_rate = 0.01, .beta1 = 0.8, .beta2 = 0.99, .epsilon = 1e-2});
  train("adamw", tg::adamw{.learning_rate = 0.01, .weight_decay = 0.1});
  train("ftrl", tg::ftrl{.learning_rate = 0.1, .initial_accumulator = 0.1, .l1 = 1e-3, .l2 = 1e-2, .shrinkage = 1e-3});
  train("ftrl_power", tg::ftrl{.learning_rate = 0.1, .power = -0.3});
  train("clip_by_value", tg::sgd{.learning_rate = 0.3}, tg::clip_by_value(-0.02, 0.03));
  train("clip_by_norm", tg::sgd{.learning_rate = 0.3}, tg::clip_by_norm(0.1));
  train("clip_by_global_norm", tg::sgd{.learning_rate = 0.3}, tg::clip_by_global_norm(0.2));
}

}  // namespace

int main(int count, char** arguments) {
  add_layers();
  add_trained_batch_norm();
  add_sequences();
  add_losses();
  add_metrics();
  add_optimizers();
  if (count == 2 && arguments[1] == std::string("--list")) {
    for (const auto& [name, run] : cases) std::cout << name << '\n';
    return 0;
  }
  if (count < 3) {
    std::cerr << "usage: bench_equal FOLDER CASE..., or bench_equal --list\n";
    return 2;
  }
  int failed = 0;
  for (int i = 2; i < count; ++i) {
    const std::string name = arguments[i];
    const auto found = cases.find(name.substr(0, name.find('@')));
    try {
      if (found == cases.end()) throw tg::error(tg::status_code::not_found, "there is no such case");
      found->second(arguments[1] + ("/" + name));
    } catch (const std::exception& e) {
      std::cerr << name << ": " << e.what() << '\n';
      failed = 1;
    }
  }
  return failed;
}
