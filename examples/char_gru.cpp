// SPDX-License-Identifier: BSL-1.0
// A recurrent network that learns a text character by character, then goes on writing by itself.
// run: --steps 400
#include <tagma/base/file.hpp>
#include <tagma/nn/recurrent.hpp>
#include <tagma/observe/progress.hpp>
#include <tagma/tagma.hpp>

#include <charconv>
#include <cstdio>

namespace tg = tagma;

constexpr char usage[] = R"(Learns a text character by character and prints how it would go on.

  char_gru [FILE] [--steps N] [--help]

  FILE         the text to learn (default: a proverb)
  --steps N    training steps (default 2000)

Exit status: 0 on success, 2 for a bad option or file.
)";

constexpr std::string_view proverb =
    "for want of a nail the shoe was lost, for want of a shoe the horse was lost, for want of a horse the rider was "
    "lost, for want of a rider the battle was lost, for want of a battle the kingdom was lost, and all for the want of "
    "a nail. ";

constexpr tg::extent window = 12, batch = 16;
constexpr tg::extent letters = 96;  // the printable characters of ASCII, and one that stands for all others

std::uint8_t letter_of(char c) { return c >= ' ' && c <= '~' ? static_cast<std::uint8_t>(c - ' ') : letters - 1; }
char char_of(std::int64_t letter) { return letter == letters - 1 ? '\n' : static_cast<char>(' ' + letter); }

std::string read_text(const std::string& path) {
  tg::input_file file(path);
  std::string text(file.size(), ' ');
  file.read(text.data(), text.size());
  return text;
}

constexpr auto x = tg::placeholder<"x", std::uint8_t, tg::dyn, window>();
constexpr auto next = tg::placeholder<"next", std::uint8_t, tg::dyn, window>();  // the letter after each letter of x

void run(const std::string& text, int steps) {
  const auto states = tg::gru<"gru", 64>(tg::one_hot<letters>(x), tg::return_sequences);
  const auto logits = tg::dense<"letters", letters>(states);
  const auto loss = tg::mean(tg::sparse_softmax_cross_entropy(logits, next));
  const auto guess = tg::argmax(logits);
  const auto train = tg::minimize(loss, tg::adam{.learning_rate = 0.01});
  tg::session session(tg::compile([=] { return tg::outputs(loss, guess, train); }), {.seed = 7});

  tg::tensor<std::uint8_t> here({batch, window}), after({batch, window});
  const std::size_t starts = text.size() - window;
  tg::progress_bar bar("learning", "steps");
  float last = 0;
  for (int step = 0; step < steps; ++step) {
    for (tg::extent row = 0; row < batch; ++row) {
      const char* start = text.data() + static_cast<std::size_t>(step * batch + row) * 7919 % starts;
      for (tg::extent i = 0; i < window; ++i) {
        here(row, i) = letter_of(start[i]);
        after(row, i) = letter_of(start[i + 1]);
      }
    }
    last = std::get<0>(session.run(tg::fetch(loss, train), x = here, next = after));
    bar.update(step + 1, steps, "loss " + std::to_string(last));
  }

  std::string written = text.substr(0, window);
  tg::tensor<std::uint8_t> tail({1, window});
  for (int i = 0; i < 60; ++i) {
    const char* end = written.data() + written.size();
    for (tg::extent k = 0; k < window; ++k) tail[k] = letter_of(end[k - window]);
    written += char_of(session.run(guess, x = tail)[window - 1]);
  }
  std::printf("loss %.3f\n%s\n", static_cast<double>(last), written.c_str());
}

int main(int argc, char** argv) try {
  std::string text(proverb);
  int steps = 2000;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--help") return std::fputs(usage, stdout) < 0;
    if (option == "--steps") {
      const std::string_view number = ++i < argc ? argv[i] : "";
      const auto [end, problem] = std::from_chars(number.begin(), number.end(), steps);
      if (problem != std::errc{} || end != number.end() || steps < 1)
        tg::fail(tg::status_code::invalid_argument, "--steps '" + std::string(number) + "' should be at least 1");
    } else if (option.starts_with("-")) {
      tg::fail(tg::status_code::invalid_argument, "there is no option '" + std::string(option) + "'; see --help");
    } else {
      text = read_text(argv[i]);
      if (text.size() <= static_cast<std::size_t>(window))
        tg::fail(tg::status_code::invalid_argument, std::string(option) + ": has " + std::to_string(text.size()) +
                                                        " characters, and needs more than " + std::to_string(window));
    }
  }
  run(text, steps);
} catch (const tg::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
