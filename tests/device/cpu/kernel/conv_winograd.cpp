// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/kernel/conv_winograd.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "support/one_convolution.hpp"
#include "tagma/device/cpu/executor.hpp"

namespace tg = tagma;
namespace cpu = tg::device::cpu::detail;
using tg::device::conv_role;

namespace {

using floats = std::vector<float>;
constexpr const char* names[] = {"forward", "gradient by the image", "gradient by the filter"};

floats numbers(std::int64_t n, std::mt19937& random) {
  floats all(static_cast<std::size_t>(n));
  for (float& v : all) v = static_cast<float>(random() >> 8) * 0x1p-23F - 1;
  return all;
}

cpu::conv_problem threes(std::int64_t images, std::int64_t rows, std::int64_t columns, std::int64_t channels,
                         std::int64_t filters, std::int64_t before = 1, std::int64_t after = 1) {
  cpu::conv_problem p(tg::shape{images, rows, columns, channels}, tg::shape{3, 3, channels, filters},
                      tg::shape{images, rows, columns, filters},
                      tg::detail::conv_attributes<tg::conv_options{.padding = tg::same_padding}>.values);
  p.rows.before = before, p.rows.after = after;
  p.rows.out = rows + before + after - 2;
  return p;
}

// A convolution in a role: its operands, and results of it in double.
struct example {
  cpu::conv_problem p;
  conv_role role;
  floats a, b, bias;
  std::int64_t size_of_result;

  example(const cpu::conv_problem& problem, conv_role what, std::mt19937& random) : p(problem), role(what) {
    const std::int64_t x = p.input_elements(), y = p.output_elements(), w = p.filter_elements();
    const bool forward = what == conv_role::forward, turned = what == conv_role::input_gradient;
    a = numbers(turned ? y : x, random), b = numbers(forward || turned ? w : y, random);
    bias = numbers(p.filters, random);
    size_of_result = forward ? y : turned ? x : w;
  }
  // A result, and the sum of the absolute values of its terms.
  [[nodiscard]] std::pair<double, double> result(std::int64_t at) const {
    double sum = 0, size = 0;
    const auto add = [&](std::int64_t i, std::int64_t j) {
      const double term =
          static_cast<double>(a[static_cast<std::size_t>(i)]) * static_cast<double>(b[static_cast<std::size_t>(j)]);
      sum += term, size += std::abs(term);
    };
    const auto x_of = [&](std::int64_t n, std::int64_t i, std::int64_t j, std::int64_t c) {
      return ((n * p.rows.in + i) * p.columns.in + j) * p.channels + c;
    };
    const auto y_of = [&](std::int64_t n, std::int64_t i, std::int64_t j, std::int64_t f) {
      return ((n * p.rows.out + i) * p.columns.out + j) * p.filters + f;
    };
    const auto w_of = [&](std::int64_t h, std::int64_t w, std::int64_t c, std::int64_t f) {
      return ((h * 3 + w) * p.channels + c) * p.filters + f;
    };
    const auto in = [](const tg::device::conv_axis& axis, std::int64_t i) { return i >= 0 && i < axis.in; };
    const auto out = [](const tg::device::conv_axis& axis, std::int64_t o) { return o >= 0 && o < axis.out; };
    const std::int64_t h0 = p.rows.before, w0 = p.columns.before;
    if (role == conv_role::forward) {
      const std::int64_t f = at % p.filters, j = at / p.filters % p.columns.out,
                         i = at / p.filters / p.columns.out % p.rows.out, n = at / p.output_size();
      for (std::int64_t h = 0; h < 3; ++h)
        for (std::int64_t w = 0; w < 3; ++w)
          if (in(p.rows, i + h - h0) && in(p.columns, j + w - w0))
            for (std::int64_t c = 0; c < p.channels; ++c) add(x_of(n, i + h - h0, j + w - w0, c), w_of(h, w, c, f));
    } else if (role == conv_role::input_gradient) {
      const std::int64_t c = at % p.channels, j = at / p.channels % p.columns.in,
                         i = at / p.channels / p.columns.in % p.rows.in, n = at / p.input_size();
      for (std::int64_t h = 0; h < 3; ++h)
        for (std::int64_t w = 0; w < 3; ++w)
          if (out(p.rows, i - h + h0) && out(p.columns, j - w + w0))
            for (std::int64_t f = 0; f < p.filters; ++f) add(y_of(n, i - h + h0, j - w + w0, f), w_of(h, w, c, f));
    } else {
      const std::int64_t f = at % p.filters, c = at / p.filters % p.channels, w = at / p.filters / p.channels % 3,
                         h = at / p.filters / p.channels / 3;
      for (std::int64_t n = 0; n < p.images; ++n)
        for (std::int64_t i = 0; i < p.rows.out; ++i)
          for (std::int64_t j = 0; j < p.columns.out; ++j)
            if (in(p.rows, i + h - h0) && in(p.columns, j + w - w0))
              add(x_of(n, i + h - h0, j + w - w0, c), y_of(n, i, j, f));
    }
    return {sum, size};
  }
};

}  // namespace

TEST_CASE("convolutions by Winograd's algorithm are what their definition says, by any threads", "[conv]") {
  std::mt19937 random(20261130);
  const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random()) % n; };
  const auto one = tg::runtime::make_cpu_executor(1), three = tg::runtime::make_cpu_executor(3);
  int tried[3]{}, large = 0, split = 0;
  for (int round = 0; round < 90; ++round) {
    const auto role = static_cast<conv_role>(round % 3);
    const bool few = round % 4 == 0;  // tiles for large filters
    const std::int64_t images = few ? 1 + below(2) : 1 + below(20);
    cpu::conv_problem p = threes(images, 4 + below(20), 4 + below(20), few ? 96 + below(40) : 16 + below(50),
                                 few ? 96 + below(40) : 16 + below(50), below(3), below(3));
    tg::device::conv_epilogue after;
    after.biased = role == conv_role::forward && random() % 2 == 0, after.relu = after.biased && random() % 2 == 0,
    after.six = after.relu && random() % 2 == 0;
    INFO("round " << round << ", " << names[round % 3] << ": " << p.images << " images, " << p.rows.in << " x "
                  << p.columns.in << " x " << p.channels << ", " << p.filters << " filters, rows padded by "
                  << p.rows.before << " and " << p.rows.after);
    const auto made = cpu::winograd_convolution<float>::make(p, role, after, false, 3);
    if (made == nullptr) continue;
    ++tried[round % 3], large += few;
    const example e(p, role, random);
    floats results[2];
    for (floats& to : results) {
      to.assign(static_cast<std::size_t>(e.size_of_result), -77);
      auto& threads = *(&to == &results[0] ? one : three);
      const tg::runtime::run_context context{.threads = &threads};
      const tg::runtime::kernel_scope scope(threads);
      tg::test::run_convolution(*made, e.a.data(), e.b.data(), after.biased ? e.bias.data() : nullptr, to.data(),
                                p.images, context);
    }
    REQUIRE(std::memcmp(results[0].data(), results[1].data(), results[0].size() * sizeof(float)) == 0);
    if (role == conv_role::forward && made->together > 0 && made->together < p.images) {
      // Some images after the others.
      ++split;
      floats parts(results[0].size());
      const tg::runtime::run_context context{.threads = one.get()};
      const tg::runtime::kernel_scope scope(*one);
      made->begin(e.b.data(), after.biased ? e.bias.data() : nullptr, context);
      const std::int64_t from = p.input_size(), to = e.size_of_result / p.images;
      for (std::int64_t first = 0; first < p.images; first += 2 * made->together)
        tg::test::run_convolution(*made, e.a.data() + first * from, e.b.data(), after.biased ? e.bias.data() : nullptr,
                                  parts.data() + first * to, std::min(p.images - first, 2 * made->together), context,
                                  first, p.images);
      REQUIRE(std::memcmp(results[0].data(), parts.data(), parts.size() * sizeof(float)) == 0);
    }
    double worst = 0;
    for (int k = 0; k < 150; ++k) {
      const std::int64_t at = below(e.size_of_result);
      auto [sum, size] = e.result(at);
      if (after.biased) {
        const double bias = static_cast<double>(e.bias[static_cast<std::size_t>(at % p.filters)]);
        sum += bias, size += std::abs(bias);
      }
      if (after.relu) sum = std::max(sum, 0.0);
      if (after.six) sum = std::min(sum, 6.0);
      const double error = std::abs(static_cast<double>(results[0][static_cast<std::size_t>(at)]) - sum) / (size + 1);
      if (!(error <= worst)) worst = error;
    }
    CHECK(worst < 2e-6);
  }
  for (const int count : tried) CHECK(count > 3);
  CHECK(large > 5);
  CHECK(split > 5);
}

TEST_CASE("Winograd's algorithm is left where it gains nothing", "[conv]") {
  const auto makes = [](const cpu::conv_problem& p, conv_role role = conv_role::forward) {
    return cpu::winograd_convolution<float>::make(p, role, {}, true, 1) != nullptr;
  };
  CHECK(makes(threes(4, 32, 32, 64, 64)));
  CHECK(makes(threes(4, 32, 32, 64, 64, 0, 2)));
  CHECK_FALSE(makes(threes(4, 32, 32, 64, 64, 3, 0)));
  CHECK_FALSE(makes(threes(4, 32, 32, 15, 64)));
  CHECK_FALSE(makes(threes(4, 32, 32, 64, 1)));
  CHECK_FALSE(makes(threes(1, 4, 4, 512, 512)));
  CHECK(makes(threes(16, 16, 16, 512, 1024)));
  CHECK_FALSE(makes(threes(16, 16, 16, 1024, 1024)));  // 150 MB for the 36 matrices
  CHECK_FALSE(makes(threes(1, 7, 7, 512, 512), conv_role::filter_gradient));
  for (int what = 0; what < 4; ++what) {
    cpu::conv_problem p = threes(4, 32, 32, 64, 64);
    if (what == 0) p.rows.size = 5;
    if (what == 1) p.columns.stride = 2;
    if (what == 2) p.columns.dilation = 2;
    if (what == 3) p.groups = 2;
    CHECK_FALSE(makes(p));
  }
}

TEST_CASE("what is no number reaches the results of its tiles and no others", "[conv]") {
  std::mt19937 random(7);
  example e(threes(1, 32, 32, 32, 32), conv_role::forward, random);
  const auto made = cpu::winograd_convolution<float>::make(e.p, e.role, {}, true, 1);
  REQUIRE(made != nullptr);
  e.a[static_cast<std::size_t>((14 * 32 + 10) * 32 + 5)] = std::numeric_limits<float>::quiet_NaN();
  floats y(static_cast<std::size_t>(e.size_of_result));
  const auto threads = tg::runtime::make_cpu_executor(1);
  const tg::runtime::kernel_scope scope(*threads);
  tg::test::run_convolution(*made, e.a.data(), e.b.data(), nullptr, y.data(), 1,
                            tg::runtime::run_context{.threads = threads.get()});
  for (int i = 0; i < 32; ++i)
    for (int j = 0; j < 32; ++j) {
      const bool is_none = std::isnan(y[static_cast<std::size_t>((i * 32 + j) * 32)]);
      INFO(i << ", " << j);
      if (i >= 13 && i <= 15 && j >= 9 && j <= 11) CHECK(is_none);
      if (i < 8 || i > 19 || j < 4 || j > 15) CHECK_FALSE(is_none);
    }
}

TEST_CASE("a lasting filter becomes 36 matrices again once somebody has written it", "[conv]") {
  std::mt19937 random(8);
  const example e(threes(2, 12, 12, 32, 48), conv_role::forward, random);
  const auto made = cpu::winograd_convolution<float>::make(e.p, e.role, {}, true, 1);
  REQUIRE(made != nullptr);
  const floats other = numbers(e.p.filter_elements(), random);
  const auto threads = tg::runtime::make_cpu_executor(1);
  const tg::runtime::kernel_scope scope(*threads);
  const auto run = [&](const floats& filter, std::uint64_t writes) {
    floats y(static_cast<std::size_t>(e.size_of_result));
    tg::runtime::run_context context{.threads = threads.get()};
    context.writes = writes;
    tg::test::run_convolution(*made, e.a.data(), filter.data(), nullptr, y.data(), 2, context);
    return y;
  };
  const floats first = run(e.b, 1);
  CHECK((run(other, 1) == first));
  const floats second = run(other, 2);
  CHECK((second != first));
  CHECK((run(e.b, 3) == first));
}
