// SPDX-License-Identifier: BSL-1.0
// Trains a network on Fashion-MNIST and reports how well it does on the 10,000 test images.
// run: --data {fashion_mnist} --epochs 1 --quiet --checkpoint {out}/run --trace {out}/steps.json
#include <sys/stat.h>
#include <tagma/data/fashion_mnist.hpp>
#include <tagma/observe/progress.hpp>
#include <tagma/observe/trace.hpp>
#include <tagma/tagma.hpp>
#include <tagma/train/save.hpp>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <span>

namespace tg = tagma;

constexpr char usage[] = R"(Trains a network on Fashion-MNIST and prints its accuracy on the test images.

  --data DIR           where the four IDX files are (default: $TAGMA_DATA, or what Debian installs)
  --model NAME         mlp, layers of 300, 100 and 10 units; or cnn, two convolutions before the last (default mlp)
  --epochs N           passes over the 60,000 training images (default 10)
  --batch N            images in one step (default 64)
  --optimizer NAME     sgd, momentum, rmsprop or adam (default adam)
  --learning-rate X    at the start (default: 0.1 for sgd, 0.05 for momentum, 0.001 for the others)
  --decay X            what the learning rate is multiplied with in the course of an epoch (default 0.85)
  --threads N          threads that share one operation; 0 is as many as the process may use (default 0)
  --seed N             of initial weights and shuffling; the same seed gives the same bytes (default 42)
  --checkpoint DIR     save everything to DIR/checkpoint.safetensors after each epoch
  --resume             go on from that file, as if training had never stopped
  --trace FILE         write a timeline of ten steps, for ui.perfetto.dev
  --quiet              show no progress
  --help               print this

Exit status: 0 on success, 2 for a bad option or file.
)";

constexpr std::string_view models[] = {"mlp", "cnn"};
constexpr std::string_view optimizers[] = {"sgd", "momentum", "rmsprop", "adam"};

struct settings {
  std::string data, model = "mlp", optimizer = "adam", checkpoint, trace;
  int epochs = 10, batch = 64, threads = 0;
  std::uint64_t seed = 42;
  double learning_rate = 0, decay = 0.85;
  bool resume = false, quiet = false;
};

[[noreturn]] void refuse(const std::string& sentence) { tg::fail(tg::status_code::invalid_argument, sentence); }

/// A whole number in all of `text`, from `least` to the largest of its type.
template <class Number>
void parse(std::string_view option, std::string_view text, Number least, Number& number) {
  const auto [end, problem] = std::from_chars(text.begin(), text.end(), number);
  if (problem != std::errc{} || end != text.end() || number < least)
    refuse(std::string(option) + " '" + std::string(text) + "' should be a whole number from " + std::to_string(least) +
           " to " + std::to_string(std::numeric_limits<Number>::max()));
}

void parse_positive(std::string_view option, std::string_view text, double& number) {
  const auto [end, problem] = std::from_chars(text.begin(), text.end(), number);
  if (problem != std::errc{} || end != text.end() || !(number > 0) || !std::isfinite(number))
    refuse(std::string(option) + " '" + std::string(text) + "' should be a positive number");
}

void parse_choice(std::string_view option, std::string_view text, std::span<const std::string_view> choices,
                  std::string& choice) {
  std::string all;
  for (const std::string_view c : choices) {
    if (c == text) return void(choice = text);
    all += (all.empty() ? "" : ", ") + std::string(c);
  }
  refuse(std::string(option) + " '" + std::string(text) + "' should be one of " + all);
}

settings parse_options(int argc, char** argv) {
  settings s;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    const auto value = [&]() -> std::string_view {
      if (++i == argc) refuse(std::string(option) + " needs a value; see --help");
      return argv[i];
    };
    if (option == "--data") s.data = value();
    else if (option == "--model") parse_choice(option, value(), models, s.model);
    else if (option == "--epochs") parse(option, value(), 0, s.epochs);
    else if (option == "--batch") parse(option, value(), 1, s.batch);
    else if (option == "--optimizer") parse_choice(option, value(), optimizers, s.optimizer);
    else if (option == "--learning-rate") parse_positive(option, value(), s.learning_rate);
    else if (option == "--decay") parse_positive(option, value(), s.decay);
    else if (option == "--threads") parse(option, value(), 0, s.threads);
    else if (option == "--seed") parse(option, value(), std::uint64_t{0}, s.seed);
    else if (option == "--checkpoint") s.checkpoint = value();
    else if (option == "--resume") s.resume = true;
    else if (option == "--trace") s.trace = value();
    else if (option == "--quiet") s.quiet = true;
    else refuse("there is no option '" + std::string(option) + "'; see --help");
  }
  if (s.resume && s.checkpoint.empty()) refuse("--resume needs --checkpoint, the directory to resume from");
  if (s.learning_rate == 0) s.learning_rate = s.optimizer == "sgd" ? 0.1 : s.optimizer == "momentum" ? 0.05 : 0.001;
  return s;
}

/// Everything that must be equal for a resumed run to be the run that was interrupted.
tg::safetensors::metadata describe(const settings& s) {
  return {{"model", s.model},
          {"optimizer", s.optimizer},
          {"batch", std::to_string(s.batch)},
          {"learning_rate", std::to_string(s.learning_rate)},
          {"decay", std::to_string(s.decay)},
          {"seed", std::to_string(s.seed)}};
}

template <class Session>
int resume(Session& session, const settings& s, const std::string& file) {
  const auto saved = tg::safetensors::file(file).metadata();
  std::string others, ours;
  for (const auto& [name, now] : describe(s)) {
    const auto then = saved.find(name);
    if (then == saved.end()) refuse(file + ": was not saved by this program, it has no text \"" + name + "\"");
    if (then->second == now) continue;
    others += (others.empty() ? "" : ", ") + name + " " + then->second;
    ours += (ours.empty() ? "" : ", ") + name + " " + now;
  }
  if (!ours.empty()) refuse(file + ": was trained with " + others + ", not with " + ours);
  const auto done = saved.find("epoch");
  if (done == saved.end()) refuse(file + ": does not say how many epochs it was trained for");
  int epochs = 0;
  parse(file + ": the text \"epoch\"", done->second, 0, epochs);
  tg::restore(session, file);
  return epochs;
}

void report(const std::int64_t (&confusion)[10][10]) {
  std::int64_t right = 0, all = 0;
  for (int i = 0; i < 10; ++i)
    for (int j = 0; j < 10; ++j) all += confusion[i][j], right += i == j ? confusion[i][j] : 0;
  std::printf("test accuracy %.4f\n\n%-14s", static_cast<double>(right) / static_cast<double>(all), "taken for");
  for (int j = 0; j < 10; ++j) std::printf("%5d", j);
  for (int i = 0; i < 10; ++i) {
    std::printf("\n%d %-12s", i, std::string(tg::fashion_mnist_classes[i]).c_str());
    for (int j = 0; j < 10; ++j) std::printf("%5d", static_cast<int>(confusion[i][j]));
  }
  std::printf("\n");
}

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 28, 28, 1>();
constexpr auto y = tg::placeholder<"y", std::uint8_t, tg::dyn>();

/// @param logits a score for each image and class
template <class Optimizer, tg::expression Logits>
void train(const settings& s, const Logits& logits) {
  if (!s.trace.empty()) tg::trace().save(s.trace);  // so that a bad path is not found after an epoch
  const tg::fashion_mnist_data data = s.data.empty() ? tg::fashion_mnist() : tg::fashion_mnist(s.data);
  const auto loss = tg::mean(tg::sparse_softmax_cross_entropy(logits, y));
  const auto guess = tg::argmax(logits);
  const double steps = std::ceil(static_cast<double>(data.train.rows()) / s.batch);  // of one epoch
  const tg::exponential_decay rate{s.learning_rate, steps, s.decay};
  const auto update = tg::minimize(loss, Optimizer{.learning_rate = rate});
  const auto program = tg::compile([=] { return tg::outputs(loss, guess, update); });

  tg::session session(program, {.seed = s.seed, .intra_op_threads = s.threads});
  const std::string file = s.checkpoint + "/checkpoint.safetensors";
  const int first = s.resume ? resume(session, s, file) : 0;
  if (!s.checkpoint.empty() && ::mkdir(s.checkpoint.c_str(), 0777) != 0 && errno != EEXIST)
    refuse(s.checkpoint + ": cannot be created: " + std::strerror(errno));
  if (!s.checkpoint.empty() && ::access((s.checkpoint + "/.").c_str(), W_OK) != 0)
    refuse(s.checkpoint + ": no checkpoint can be written there: " + std::strerror(errno));

  tg::trace timeline;
  int count = 0;
  const auto step = [&](const auto& images, const auto& labels) {
    const bool recorded = !s.trace.empty() && ++count > 10 && count <= 20;  // the first steps prepare
    return std::get<0>(session.run(tg::fetch(loss, update), x = images, y = labels,
                                   recorded ? tg::trace_to(timeline) : tg::run_limits{}));
  };
  for (int epoch = first; epoch < s.epochs; ++epoch) {
    tg::progress_bar bar("epoch " + std::to_string(epoch + 1) + "/" + std::to_string(s.epochs));
    std::int64_t done = 0;
    double total = 0;
    for (const auto& [images, labels] :
         data.train.shuffle(60'000, s.seed).epoch(static_cast<std::uint64_t>(epoch)).batch(s.batch).prefetch(2)) {
      const tg::extent n = images.dims()[0];
      total += static_cast<double>(step(images, labels)) * static_cast<double>(n);
      done += n;
      char text[32];
      std::snprintf(text, sizeof(text), "loss %.4f", total / static_cast<double>(done));
      if (!s.quiet) bar.update(done, data.train.rows(), text);
    }
    if (epoch == first && !s.trace.empty()) timeline.save(s.trace);
    if (s.checkpoint.empty()) continue;
    auto texts = describe(s);
    texts["epoch"] = std::to_string(epoch + 1);
    tg::save(session, file, texts);
  }

  std::int64_t confusion[10][10]{};
  for (const auto& [images, labels] : data.test.batch(500)) {
    const tg::tensor<std::int64_t> guesses = session.run(guess, x = images);
    for (tg::extent i = 0; i < images.dims()[0]; ++i) ++confusion[labels[i]][guesses[i]];
  }
  report(confusion);
}

/// One program for each optimizer: a session, and so a checkpoint, has the slots of its program.
template <tg::expression Logits>
void train_with_chosen(const settings& s, const Logits& logits) {
  if (s.optimizer == "sgd") return train<tg::sgd>(s, logits);
  if (s.optimizer == "momentum") return train<tg::momentum>(s, logits);
  s.optimizer == "rmsprop" ? train<tg::rmsprop>(s, logits) : train<tg::adam>(s, logits);
}

auto mlp() {
  const auto hidden = tg::dense<"hidden2", 100>(tg::dense<"hidden1", 300>(tg::flatten(x), tg::relu), tg::relu);
  return tg::dense<"logits", 10>(hidden);
}

auto cnn() {
  const auto first = tg::max_pool<2>(tg::conv2d<"conv1", 32, 3>(x, tg::relu));
  const auto second = tg::max_pool<2>(tg::conv2d<"conv2", 64, 3>(first, tg::relu));
  return tg::dense<"logits", 10>(tg::dense<"hidden", 128>(tg::flatten(second), tg::relu));
}

int main(int argc, char** argv) try {
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]) == "--help") return std::fputs(usage, stdout) < 0;
  const settings s = parse_options(argc, argv);
  s.model == "mlp" ? train_with_chosen(s, mlp()) : train_with_chosen(s, cnn());
} catch (const tg::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
