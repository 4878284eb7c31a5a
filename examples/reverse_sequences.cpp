// SPDX-License-Identifier: BSL-1.0
// A small transformer that learns to write sequences backwards, and then does so step by step, with a cache.
// run: --steps 400
#include <tagma/observe/progress.hpp>
#include <tagma/tagma.hpp>

#include <charconv>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>
#include <utility>

namespace tg = tagma;

constexpr char usage[] =
    R"(Learns to reverse sequences of digits, counts how many it gets right, and reverses some step by step.

  reverse_sequences [--steps N] [--help]

  --steps N    training steps (default 400)

Exit status: 0 on success, 2 for a bad option.
)";

constexpr tg::extent digits = 6, batch = 64, width = 32, heads = 4;
constexpr tg::extent turn = 10, tokens = 11;  // behind the digits stands a token that says: now backwards
constexpr tg::extent inputs = 2 * digits;     // the digits, the turn, and all answers but the last
constexpr tg::transformer_options options{.attention = {.causal = true, .rotary = true}};

constexpr auto x = tg::placeholder<"x", std::int32_t, tg::dyn, inputs>();
constexpr auto answers = tg::placeholder<"answers", std::int32_t, tg::dyn, digits>();
constexpr auto prompt = tg::placeholder<"prompt", std::int32_t, 1, digits + 1>();
constexpr auto token = tg::placeholder<"token", std::int32_t, 1, 1>();

template <tg::expression E>
auto embedded(const E& ids) {
  return tg::embedding_lookup(tg::variable<"embedding", float, tokens, width>(tg::random_normal(0, 0.3)), ids);
}

template <tg::expression E>
auto scores(const E& h) {
  return tg::dense<"scores", tokens>(tg::layer_norm<"final">(h));
}

/// All steps at once: for training.
template <tg::expression E>
auto model(const E& ids) {
  const auto first = tg::transformer_block<"first", heads, 4 * width, options>(embedded(ids));
  return scores(tg::transformer_block<"second", heads, 4 * width, options>(first));
}

/// The next steps, after those that the caches know; the same variables. The token that follows, and how to forget.
template <tg::expression E>
auto decoder(const E& ids) {
  const auto first = tg::cached_transformer_block<"first", heads, 4 * width, inputs, options>(embedded(ids));
  const auto second = tg::cached_transformer_block<"second", heads, 4 * width, inputs, options>(first.output);
  return std::pair(tg::argmax(scores(second.output)), tg::group(first.reset, second.reset));
}

struct examples {
  tg::tensor<std::int32_t> x{{batch, inputs}}, answers{{batch, digits}};

  void draw(std::mt19937& random) {
    for (tg::extent row = 0; row < batch; ++row) {
      for (tg::extent i = 0; i < digits; ++i) {
        const auto digit = static_cast<std::int32_t>(random() % 10);
        x(row, i) = digit;
        answers(row, digits - 1 - i) = digit;
      }
      x(row, digits) = turn;
      for (tg::extent i = 1; i < digits; ++i) x(row, digits + i) = answers(row, i - 1);
    }
  }
};

void run(int steps) {
  const auto guessed = tg::slice<tg::all_of_axis, tg::range{digits}>(model(x));
  const auto loss = tg::mean(tg::sparse_softmax_cross_entropy(guessed, answers));
  const auto train = tg::minimize(loss, tg::adam{.learning_rate = 0.003});
  const auto right = tg::metrics::accuracy<"right">(guessed, answers);
  const auto count = right.update;
  const auto share = right.result;
  const auto [first_answer, forget] = decoder(prompt);
  const auto next_answer = decoder(token).first;
  tg::session session(
      tg::compile([=] { return tg::outputs(loss, train, count, share, first_answer, next_answer, forget); }),
      {.seed = 3});

  std::mt19937 random(1);
  examples some;
  tg::progress_bar bar("learning", "steps");
  for (int step = 0; step < steps; ++step) {
    some.draw(random);
    const auto [now, done] = session.run(tg::fetch(loss, train), x = some.x, answers = some.answers);
    bar.update(step + 1, steps, "loss " + std::to_string(now));
  }
  for (int i = 0; i < 10; ++i) {
    some.draw(random);
    session.run(count, x = some.x, answers = some.answers);
  }
  std::printf("%.1f %% of the digits of new sequences are right\n", 100 * session.run(share));

  int same = 0;
  for (const std::string_view text : {"123456", "700007", "314159"}) {
    session.run(forget);
    tg::tensor<std::int32_t> begun({1, digits + 1});
    for (tg::extent i = 0; i < digits; ++i) begun[i] = text[static_cast<std::size_t>(i)] - '0';
    begun[digits] = turn;
    std::int64_t answer = session.run(first_answer, prompt = begun)[digits];
    std::string written(1, static_cast<char>('0' + answer));
    while (written.size() < digits) {
      answer =
          session.run(next_answer, token = tg::tensor<std::int32_t>({1, 1}, {static_cast<std::int32_t>(answer)}))[0];
      written += static_cast<char>('0' + answer);
    }
    std::printf("%s -> %s\n", std::string(text).c_str(), written.c_str());
    for (std::size_t i = 0; i < text.size(); ++i) same += written[i] == text[text.size() - 1 - i];
  }
  std::printf("%d of 18 digits step by step\n", same);
}

int main(int argc, char** argv) try {
  int steps = 400;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--help") return std::fputs(usage, stdout) < 0;
    if (option != "--steps")
      tg::fail(tg::status_code::invalid_argument, "there is no option '" + std::string(option) + "'; see --help");
    const std::string_view number = ++i < argc ? argv[i] : "";
    const auto [end, problem] = std::from_chars(number.begin(), number.end(), steps);
    if (problem != std::errc{} || end != number.end() || steps < 1)
      tg::fail(tg::status_code::invalid_argument, "--steps '" + std::string(number) + "' should be at least 1");
  }
  run(steps);
} catch (const tg::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
