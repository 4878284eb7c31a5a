// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/winograd.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace cpu = tagma::device::cpu;
using cpu::winograd;

namespace {

constexpr std::int64_t channels[] = {16, 17, 31, 32, 40};

// A square of pixels with `n` channels each.
struct pixels {
  std::int64_t n;
  std::vector<float> all;
  std::vector<float*> places;

  pixels(std::int64_t side, std::int64_t channels_of) : n(channels_of), all(static_cast<std::size_t>(side * side * n)) {
    for (std::int64_t i = 0; i < side * side; ++i) places.push_back(all.data() + i * n);
  }
  pixels(std::int64_t side, std::int64_t channels_of, std::mt19937& random) : pixels(side, channels_of) {
    std::uniform_real_distribution<float> number(-1, 1);
    for (float& v : all) v = number(random);
  }
  [[nodiscard]] const float* const* read() const { return places.data(); }
  [[nodiscard]] float* const* write() const { return places.data(); }
  [[nodiscard]] double dot(const pixels& other) const {
    double sum = 0;
    for (std::size_t i = 0; i < all.size(); ++i) sum += static_cast<double>(all[i]) * static_cast<double>(other.all[i]);
    return sum;
  }
};

template <class Map>
pixels mapped(const pixels& from) {
  pixels to(Map::out, from.n);
  cpu::dispatch<winograd::map<Map>>(from.read(), to.write(), from.n);
  return to;
}

}  // namespace

TEST_CASE("a tile by Winograd's maps is what its windows are", "[winograd]") {
  std::mt19937 random(1);
  for (const std::int64_t n : channels) {
    const pixels image(6, n, random), filter(3, n, random), bias(1, n, random);
    const pixels seen = mapped<winograd::of_image>(image), weights = mapped<winograd::of_filter>(filter);
    pixels products(6, n);
    for (std::size_t i = 0; i < products.all.size(); ++i) products.all[i] = seen.all[i] * weights.all[i];
    float bounds[32];
    for (int i = 0; i < 16; ++i) bounds[i] = -0.5F, bounds[16 + i] = 0.75F;
    pixels bounded(4, n);
    cpu::dispatch<winograd::map<winograd::to_results>>(products.read(), bounded.write(), n, bias.read()[0],
                                                       static_cast<const float*>(bounds));
    const pixels plain = mapped<winograd::to_results>(products);
    double worst = 0;
    for (std::int64_t c = 0; c < n; ++c)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
          double sum = 0;
          for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b)
              sum += static_cast<double>(image.read()[(i + a) * 6 + j + b][c]) *
                     static_cast<double>(filter.read()[a * 3 + b][c]);
          worst = std::fmax(worst, std::abs(static_cast<double>(plain.read()[i * 4 + j][c]) - sum));
          const double with_bias = std::fmin(std::fmax(sum + static_cast<double>(bias.read()[0][c]), -0.5), 0.75);
          worst = std::fmax(worst, std::abs(static_cast<double>(bounded.read()[i * 4 + j][c]) - with_bias));
        }
    INFO(n << " channels");
    CHECK(worst < 4e-6);
  }
}

TEST_CASE("maps of gradients are the reverse of those of values", "[winograd]") {
  std::mt19937 random(2);
  for (const std::int64_t n : channels) {
    INFO(n << " channels");
    const pixels products(6, n, random), results(4, n, random), filter(3, n, random);
    CHECK(mapped<winograd::to_results>(products).dot(results) ==
          Approx(products.dot(mapped<winograd::of_results>(results))).margin(1e-3));
    CHECK(mapped<winograd::of_filter>(filter).dot(products) ==
          Approx(filter.dot(mapped<winograd::to_filter>(products))).margin(1e-3));
  }
}

TEST_CASE("bounds behind a tile leave what is no number", "[winograd]") {
  pixels products(6, 16), results(4, 16);
  products.places[0][3] = std::nanf("");
  float bounds[32]{};
  for (int i = 0; i < 16; ++i) bounds[16 + i] = 6;
  const std::vector<float> bias(16);
  cpu::dispatch<winograd::map<winograd::to_results>>(products.read(), results.write(), std::int64_t{16}, bias.data(),
                                                     static_cast<const float*>(bounds));
  CHECK(std::isnan(results.read()[0][3]));
  CHECK(results.read()[0][2] == 0);
  CHECK(results.read()[5][3] == 0);
}
