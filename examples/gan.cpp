// SPDX-License-Identifier: BSL-1.0
// run: --steps 1500
// Two networks that train against each other, Goodfellow et al. 2014: a generator makes points of noise, a critic tells
// them from points on a ring. Each has its own optimizer; both are one program.
#include <charconv>
#include <cmath>
#include <cstdio>
#include <random>
#include <string_view>
#include <tagma/observe/progress.hpp>
#include <tagma/tagma.hpp>

namespace tg = tagma;

constexpr char usage[] =
    R"(Trains a generator of points on a ring against a critic.

  gan [--steps N] [--help]

  --steps N    training steps (default 1500)

Exit status: 0 on success, 2 for a bad option.
)";

constexpr tg::extent batch = 128, noise = 4;

constexpr auto real = tg::placeholder<"real", float, batch, 2>();

template <class Phase>
auto generator(Phase phase) {
  const auto z = tg::random_normal<float, batch, noise>();
  const auto a = tg::relu(tg::batch_norm<"generator/norm">(tg::dense<"generator/a", 32>(z), phase, 0.9));
  return tg::dense<"generator/out", 2>(tg::dense<"generator/b", 32>(a, tg::relu));
}

/// How much a point looks like a real one; above 0: more than not.
template <tg::expression E>
auto critic(const E& points) {
  const auto a = tg::dense<"critic/a", 32>(points, [](const auto& e) { return tg::leaky_relu(e, 0.2); });
  const auto b = tg::dense<"critic/b", 32>(a, [](const auto& e) { return tg::leaky_relu(e, 0.2); });
  return tg::dense<"critic/out", 1>(b);
}

/// How far points are from the ring of radius 2, on average.
double distance(const tg::tensor<float>& points) {
  double sum = 0;
  for (tg::extent i = 0; i < batch; ++i)
    sum += std::abs(std::hypot(static_cast<double>(points(i, 0)), static_cast<double>(points(i, 1))) - 2);
  return sum / static_cast<double>(batch);
}

void run(int steps) {
  const auto made = generator(tg::phase::training);
  const auto of_real = critic(real);
  const auto of_made = critic(made);
  const auto critic_loss = tg::mean(tg::sigmoid_cross_entropy(of_real, tg::ones_like(of_real) * 0.9f)) +
                           tg::mean(tg::sigmoid_cross_entropy(of_made, tg::zeros_like(of_made)));
  const auto generator_loss = tg::mean(tg::sigmoid_cross_entropy(of_made, tg::ones_like(of_made)));

  // Each leaves the variables of the other alone, and what batch_norm keeps of its batches too.
  const tg::adam optimizer{.learning_rate = 1e-3, .beta1 = 0.5};
  const auto train_critic = tg::minimize(critic_loss, optimizer, tg::in_scope<"critic">);
  const auto train_generator = tg::minimize(generator_loss, optimizer, tg::in_scope<"generator">);
  const auto drawn = generator(tg::phase::inference);

  tg::session session(tg::compile([=] { return tg::outputs(train_critic, train_generator, drawn); }), {.seed = 5});
  const double before = distance(session.run(drawn));
  std::mt19937 random(1);
  tg::tensor<float> ring({batch, 2});
  tg::progress_bar bar("training", "steps");
  for (int step = 0; step < steps; ++step) {
    for (tg::extent i = 0; i < batch; ++i) {
      const double angle = static_cast<double>(random() % 10'000) / 10'000 * 6.283185307;
      ring(i, 0) = static_cast<float>(2 * std::cos(angle));
      ring(i, 1) = static_cast<float>(2 * std::sin(angle));
    }
    session.run(train_critic, real = ring);
    session.run(train_generator);  // needs no real points
    bar.update(step + 1, steps);
  }
  std::printf("points are %.2f away from the ring before, %.2f behind the training\n", before,
              distance(session.run(drawn)));
}

int main(int argc, char** argv) {
  int steps = 1500;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view option = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
    if (option == "--help") return std::fputs(usage, stdout), 0;
    const bool read = std::from_chars(value.data(), value.data() + value.size(), steps).ec == std::errc{};
    if (option != "--steps" || !read || steps < 1) return std::fputs(usage, stderr), 2;
  }
  run(steps);
}
