// SPDX-License-Identifier: BSL-1.0
// A model as a part of a larger program: a class whose users see nothing of the library, as it would stand in a header,
// and behind it what one source file has.
// run: {out}
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

// ---- the header

/// Learns which points of the plane are inside of something.
class region {
 public:
  using point = std::array<float, 2>;

  region();
  ~region();
  region(region&&) noexcept;

  /// One step of training. Returns the loss before it.
  float learn(const std::vector<point>& points, const std::vector<float>& inside);
  /// The probability that each point is inside. Several threads may ask at once.
  std::vector<float> ask(const std::vector<point>& points) const;

  void save(const std::string& path) const;
  void load(const std::string& path);

 private:
  struct model;
  std::unique_ptr<model> model_;
};

// ---- the source file

#include <tagma/tagma.hpp>
#include <tagma/train.hpp>

namespace tg = tagma;

namespace {

constexpr auto x = tg::placeholder<"points", float, tg::dyn, 2>();
constexpr auto y = tg::placeholder<"inside", float, tg::dyn, 1>();
constexpr auto logits = tg::dense<"output", 1>(tg::dense<"hidden", 16>(x, tg::tanh));
constexpr auto loss = tg::mean(tg::sigmoid_cross_entropy(logits, y));
constexpr auto probability = tg::sigmoid(logits);
const auto step = tg::minimize(loss, tg::adam{.learning_rate = 0.03});
const auto program = tg::compile([] { return tg::outputs(loss, probability, step); });

// The points as a tensor, read where they are.
tg::view<const float> rows(const std::vector<region::point>& points) {
  return {points.empty() ? nullptr : points.front().data(), {static_cast<tg::extent>(points.size()), 2}};
}
tg::view<const float> column(const std::vector<float>& numbers) {
  return {numbers.data(), {static_cast<tg::extent>(numbers.size()), 1}};
}

}  // namespace

struct region::model {
  tg::session<decltype(program)> session{program, {.seed = 1}};
};

region::region() : model_(std::make_unique<model>()) {}
region::~region() = default;
region::region(region&&) noexcept = default;

float region::learn(const std::vector<point>& points, const std::vector<float>& inside) {
  const auto [before, done] = model_->session.run(tg::fetch(loss, step), x = rows(points), y = column(inside));
  return before;
}
std::vector<float> region::ask(const std::vector<point>& points) const {
  const auto answers = model_->session.run(probability, x = rows(points));
  return {answers.begin(), answers.end()};
}
void region::save(const std::string& path) const { tg::save(model_->session, path); }
void region::load(const std::string& path) { tg::restore(model_->session, path); }

// ---- the larger program

int main(int, char** arguments) {
  std::vector<region::point> points;
  std::vector<float> inside;
  for (float a = -1; a <= 1; a += 0.125f)
    for (float b = -1; b <= 1; b += 0.125f) {
      points.push_back({a, b});
      inside.push_back(a * a + b * b < 0.5f ? 1.0f : 0.0f);
    }

  region circle;
  for (int i = 0; i < 300; ++i) circle.learn(points, inside);
  const std::string file = std::string(arguments[1]) + "/circle.safetensors";
  circle.save(file);

  region copy;
  copy.load(file);
  const auto answers = copy.ask({{0, 0}, {0.4f, 0.4f}, {0.9f, 0}, {-0.7f, 0.7f}});
  for (const float p : answers) std::printf("%s %.2f\n", p > 0.5f ? "inside " : "outside", p);

  try {
    circle.learn(points, {1, 0});
  } catch (const tg::error& e) {
    std::printf("%s\n", e.what());
  }
}
