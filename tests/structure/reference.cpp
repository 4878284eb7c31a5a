// SPDX-License-Identifier: BSL-1.0
// Examples of docs/reference for names that neither the guide nor a program of examples/ uses: tools/reference.py takes
// the statement that has a name in it. A test checks them as the compiler does, and runs nothing.
#include <tagma/tagma.hpp>

#include <tagma/containers.hpp>
#include <tagma/datasets.hpp>
#include <tagma/explain.hpp>
#include <tagma/file_datasets.hpp>
#include <tagma/filter.hpp>
#include <tagma/order.hpp>
#include <tagma/passes.hpp>

#include <chrono>

namespace tg = tagma;
using namespace std::chrono_literals;

int main() {
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 8>();
  constexpr auto y = tg::placeholder<"y", float, tg::dyn, 8>();
  constexpr auto h = tg::placeholder<"h", float, tg::dyn, 4>();
  constexpr auto c = tg::placeholder<"c", float, tg::dyn, 4>();
  constexpr auto ids = tg::placeholder<"ids", std::int32_t, tg::dyn>();
  constexpr auto images = tg::placeholder<"images", float, tg::dyn, 28, 28, 3>();
  constexpr auto sequence = tg::placeholder<"sequence", float, tg::dyn, tg::dyn, 8>();
  auto w = tg::variable<"w", float, 8, 8>(tg::glorot_uniform);
  auto loss = tg::mean_squared_error(tg::matmul(x, w), y);

  // How variables begin.
  auto scale = tg::variable<"scale", float, 8>(tg::ones);
  auto narrow = tg::variable<"narrow", float, 8, 4>(tg::glorot_normal);
  auto filters = tg::variable<"filters", float, 3, 3, 3, 16>(tg::he_uniform);
  auto half = tg::variable<"half", float, 4>(tg::filled_with(0.5));
  auto wide = tg::variable<"wide", float, 8, 4>(tg::random_uniform(-0.05, 0.05));
  auto table = tg::variable<"table", float, 1000, 16>(tg::random_normal(0, 0.05));
  auto cut = tg::variable<"cut", float, 8, 4>(tg::truncated_normal(0, 0.05));

  // Element by element.
  auto added = tg::add(x, 1.0f);             // x + 1.0f
  auto subtracted = tg::subtract(x, y);      // x - y
  auto multiplied = tg::multiply(x, scale);  // x * scale: [?, 8] and [8]
  auto divided = tg::divide(x, 2.0f);        // x / 2.0f
  auto larger = tg::maximum(x, 0.0f);
  auto smaller = tg::minimum(x, y);
  auto negative = tg::negate(x);  // -x
  auto signs = tg::sign(x);
  auto down = tg::floor(x);
  auto up = tg::ceil(x);
  auto logarithm = tg::log(tg::abs(x) + 1e-7f);
  auto near_one = tg::log1p(tg::square(x));
  auto less_one = tg::expm1(x);
  auto inverse_root = tg::rsqrt(tg::square(x) + 1e-3f);
  auto softened = tg::softplus(x);
  auto normal_share = 0.5f * (tg::erf(x * 0.70710678f) + 1.0f);
  auto wave = tg::cos(x);
  auto cube = tg::power(x, 3.0f);
  auto differ = tg::not_equal(ids, 0);
  auto below = tg::less(x, y);                  // x < y
  auto at_most = tg::less_equal(x, 1.0f);       // x <= 1.0f
  auto above = tg::greater(x, 0.0f);            // x > 0.0f
  auto at_least = tg::greater_equal(x, y);      // x >= y
  auto both = tg::logical_and(above, at_most);  // above && at_most
  auto either = tg::logical_or(below, above);   // below || above
  auto neither = tg::logical_not(either);       // !either
  auto nothing = tg::zeros_like(x);
  auto mask = tg::ones_like(x);

  // Activations.
  auto exponential = tg::elu(x);
  auto self_normalising = tg::selu(x);
  auto gaussian = tg::gelu(x);
  auto gated = tg::silu(x);
  auto same_gated = tg::swish(x);
  auto bounded = tg::relu6(x);
  auto straight = tg::hard_sigmoid(x);
  auto signed_soft = tg::softsign(x);
  auto leaky = tg::leaky_relu(x, 0.01f);  // PyTorch's slope
  auto probabilities = tg::softmax(x);    // over the last axis
  auto log_probabilities = tg::log_softmax(x);

  // Shapes and indices.
  auto column = tg::expand_dims<1>(x);                                  // [?, 1, 8]
  auto pair = tg::stack<1>(x, y);                                       // [?, 2, 8]
  auto [left, right] = tg::split<1, 2>(x);                              // twice [?, 4]
  auto repeated = tg::tile<1, 3>(x);                                    // [?, 24]
  auto tail = tg::slice<tg::all_of_axis, tg::range{4, tg::to_end}>(x);  // x[:, 4:]
  auto framed = tg::pad<tg::padding{}, tg::padding{1, 1}>(x, 0.0f);     // [?, 10]
  auto rows = tg::embedding_lookup(table, ids);                         // [?, 16]; the gradient by the table is sparse
  auto [values, places, counts] = tg::unique_with_counts(ids);

  // Reductions.
  auto [mean, variance] = tg::moments<0>(x);  // [8] each
  auto factor = tg::product<1>(x);            // [?]
  auto highest = tg::reduce_max<1>(x);
  auto lowest = tg::reduce_min<1>(x);
  auto all_above = tg::all<1>(above);
  auto any_above = tg::any(above);           // of all elements
  auto least = tg::argmin(x);                // over the last axis, int64
  auto [best, positions] = tg::top_k<3>(x);  // [?, 3] each
  auto best_alone = tg::top_k_values<3>(x);
  auto in_top_3 = tg::any<1>(tg::equal(tg::top_k_indices<3>(x), tg::expand_dims<1>(ids)));
  auto falling = tg::argsort(x, tg::descending);

  // Convolutions and pooling.
  auto halved =
      tg::conv2d<tg::conv_options{.stride = 2, .padding = tg::same_padding}>(images, filters);  // [?, 14, 14, 16]
  auto framed_by_one = tg::conv2d<tg::conv_options{.padding = 1}>(images, filters);             // [?, 28, 28, 16]
  auto doubled = tg::conv2d_transpose<tg::conv_options{.stride = 2, .padding = tg::same_padding}>(halved, filters);
  auto pooled = tg::max_pool<3, tg::pool_options{.stride = 2, .padding = tg::valid_padding}>(images);  // [?, 13, 13, 3]
  auto averaged = tg::average_pool<tg::window(2, 4)>(images);                                          // [?, 14, 7, 3]
  auto per_channel = tg::global_average_pool(images);                                                  // [?, 3]
  auto strongest = tg::global_max_pool(images);

  // Random numbers, new in every run.
  auto uniform = tg::random_uniform<float, 3, 4>(-1.0f, 1.0f);
  auto normal = tg::random_normal<float, 16>();
  auto within = tg::truncated_normal<float, 16>(0.0f, 0.1f);
  auto noisy = x + 0.1f * tg::random_normal_like(x);
  auto kept = tg::select(tg::random_uniform_like(x) < 0.9f, x, 0.0f);
  auto dropped = tg::dropout(x, 0.1);  // a tenth is 0, the rest divided by 0.9
  auto mixed = tg::random_shuffle(x);

  // Layers.
  auto normalised = tg::layer_norm<"norm">(x, 1e-5);                          // PyTorch's epsilon
  auto training = tg::batch_norm<"batch">(x, tg::phase::training);  // minimize moves its averages
  auto inference = tg::batch_norm<"batch">(x, tg::phase::inference);          // the same variables
  auto every_step = tg::rnn<"rnn", 4>(sequence, tg::return_sequences);        // [?, ?, 4]
  auto last_step = tg::rnn<"rnn", 4>(sequence, tg::last_output);              // [?, 4]
  auto kernel = tg::variable<"cell/kernel", float, 12, 16>(tg::glorot_uniform);
  auto bias = tg::variable<"cell/bias", float, 16>(tg::zeros);
  auto [next_h, next_c] = tg::lstm_cell(x, h, c, kernel, bias);  // a step, with states of one's own

  // Losses.
  auto squared = tg::mean_squared_error(x, y);
  auto absolute = tg::mean_absolute_error(x, y);
  auto huber = tg::huber_loss(x, y, 2.0f);  // delta; 1 if it is left out
  auto hinge = tg::hinge_loss(x, y);
  auto log_loss = tg::log_loss(tg::sigmoid(x), y);
  auto cosine = tg::cosine_distance(x, y);
  auto soft = tg::mean(tg::softmax_cross_entropy(x, tg::softmax(y)));
  auto divergence = tg::mean(tg::kl_divergence(tg::softmax(x), tg::softmax(y)));

  // Training.
  auto decayed = tg::minimize(loss, tg::adamw{.learning_rate = 1e-3, .weight_decay = 0.01});
  auto by_adagrad = tg::minimize(loss, tg::adagrad{.learning_rate = 0.01});
  auto by_adadelta =
      tg::minimize(loss, tg::adadelta{.learning_rate = 1.0, .rho = 0.9, .epsilon = 1e-6});  // PyTorch's numbers
  auto centred = tg::minimize(loss, tg::centered_rmsprop{.momentum = 0.9});
  auto sparse = tg::minimize(loss, tg::ftrl{.l1 = 0.01});
  auto clipped = tg::minimize(loss, tg::sgd{}, tg::clip_by_value(-1.0, 1.0));
  auto short_ones = tg::minimize(loss, tg::sgd{}, tg::clip_by_norm(1.0));
  auto size = tg::global_norm(tg::gradient(loss, w));
  auto in_pieces =
      tg::minimize(loss, tg::sgd{.learning_rate = tg::piecewise_constant{{1000, 5000}, {0.1, 0.01, 0.001}}});
  auto to_zero = tg::minimize(
      loss, tg::sgd{.learning_rate = tg::polynomial_decay{.initial = 0.1, .decay_steps = 1e4, .final = 0}});
  auto along_a_cosine = tg::minimize(
      loss,
      tg::adam{.learning_rate = tg::rate(tg::cosine_decay{.initial = 1e-3, .decay_steps = 1e4}).after_warm_up(500)});

  // Programs and sessions.
  auto program = tg::compile([=] { return tg::outputs(loss, decayed, inference); });
  auto faster = tg::compile([=] { return tg::outputs(inference); }, tg::passes<tg::fold_batch_norm>);
  tg::session session(program, {.seed = 42, .inter_op_pools = {{.threads = 4}, {.threads = 1, .name = "small"}}});
  tg::tensor<float> some({2, 8}), others({2, 8});
  float value = session.run(loss, tg::on_pool(1), x = some, y = others);
  float alone = session.run(loss, tg::on_caller_thread(), tg::timeout(500ms), x = some, y = others);
  tg::container shared = tg::named_container("trial_1");
  auto reset = tg::reset_containers({"trial_1"});

  // Tensors.
  const tg::shape dims{2, 8};
  const tg::view<const float> seen(some);
  const tg::float16 small(0.5f);

  // Datasets.
  auto examples = tg::datasets::from_slices(some, others);
  auto batches = examples.shuffle(1000, /*seed*/ 42).batch(32);
  auto lengths = tg::datasets::text_lines({"a.txt", "b.txt"}).map([](std::string line) { return line.size(); });
  auto numbered = tg::datasets::zip(tg::datasets::range(100), lengths);
  auto parallel =
      tg::datasets::range(100).map([](std::int64_t i) { return i * i; }, tg::datasets::parallel{.threads = 2});
  auto records = tg::datasets::tf_record({"train.tfrecord"});
  auto [to_train, to_validate] = tg::datasets::fold(examples, 5, 0);

  // Nothing of this runs, and nothing is unused.
  [](const auto&...) {}(
      narrow, half, wide, cut, added, subtracted, multiplied, divided, larger, smaller, negative, signs, down, up,
      logarithm, near_one, less_one, inverse_root, softened, normal_share, wave, cube, differ, at_least, both, neither,
      nothing, mask, exponential, self_normalising, gaussian, gated, same_gated, bounded, straight, signed_soft, leaky,
      probabilities, log_probabilities, column, pair, left, right, repeated, tail, framed, rows, values, places, counts,
      mean, variance, factor, highest, lowest, all_above, any_above, least, best, positions, best_alone, in_top_3,
      falling, framed_by_one, doubled, pooled, averaged, per_channel, strongest, uniform, normal, within, noisy, kept,
      dropped, mixed, normalised, training, update, every_step, last_step, next_h, next_c, squared, absolute, huber,
      hinge, log_loss, cosine, soft, divergence, by_adagrad, by_adadelta, centred, sparse, clipped, short_ones, size,
      in_pieces, to_zero, along_a_cosine, faster, value, alone, shared, reset, dims, seen, small, batches, numbered,
      parallel, records, to_train, to_validate);
}
