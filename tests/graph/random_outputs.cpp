// SPDX-License-Identifier: BSL-1.0
// Random graphs of operations with several results: some are fetched, some read, some fed, some update a variable, and
// some are left out. Each is evaluated a second time as plain loops over double, which know nothing of graphs.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <vector>

#include "tagma/device/fake/provide.hpp"
#include "tagma/tagma.hpp"
#include "tagma/with_macros.hpp"

namespace {

namespace tg = tagma;

constexpr int steps = 6;
constexpr tg::extent width = 4;
constexpr std::size_t beginning = 2, grown = beginning + 2 * steps;

/// A number that follows from a seed, for step `step` and its decision `what`.
constexpr unsigned drawn(unsigned seed, unsigned step, unsigned what) {
  std::uint64_t h = seed * 0x9e3779b97f4a7c15ull + step * 0xbf58476d1ce4e5b9ull + what * 0x94d049bb133111ebull;
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
  return static_cast<unsigned>((h ^ (h >> 27)) >> 20);
}
/// Which value a step reads: of the later ones more often.
constexpr std::size_t operand(unsigned seed, int step, unsigned k) {
  const auto n = static_cast<unsigned>(beginning) + 2 * static_cast<unsigned>(step);
  const unsigned back = std::min(drawn(seed, static_cast<unsigned>(step), 2 * k) % n,
                                 drawn(seed, static_cast<unsigned>(step), 2 * k + 1) % n);
  return n - 1 - back;
}
constexpr unsigned kind(unsigned seed, int step) { return drawn(seed, static_cast<unsigned>(step), 99) % 5; }

constexpr auto x = tg::placeholder<"x", double, tg::dyn, width>();
constexpr auto y = tg::placeholder<"y", double, tg::dyn, width>();
constexpr auto bias = tg::placeholder<"bias", double, 4 * width>();
constexpr auto short_bias = tg::placeholder<"short_bias", double, 2 * width>();
const auto v = tg::variable<"v", double, width>(tg::zeros);

/// Two values out of the values so far.
template <unsigned Kind, class A, class B, class C, class D, class E>
constexpr auto two_of(const A& a, const B& b, const C& c, const D& d, const E& e) {
  if constexpr (Kind == 0) {
    const auto parts = tg::split<1, 4>(tg::concat<1>(a, b));  // the third is left out
    return std::tuple{tg::concat<1>(std::get<3>(parts), std::get<0>(parts)),
                      tg::tanh(tg::concat<1>(std::get<1>(parts), std::get<1>(parts)))};
  } else if constexpr (Kind == 1) {
    const auto cell = tg::make_operation<tg::op::lstm_gates>(tg::concat<1>(a, b, c, d), e, bias);
    return std::tuple{std::get<0>(cell), std::get<1>(cell)};
  } else if constexpr (Kind == 2) {
    const auto best = tg::top_k<4>(tg::concat<1>(a, b));
    return std::tuple{best.first, tg::tanh(tg::cast<double>(best.second))};
  } else if constexpr (Kind == 3) {
    const auto moments = tg::moments<1>(a, tg::keep_dims);
    return std::tuple{a - std::get<0>(moments), tg::tanh(b * std::get<1>(moments))};
  } else {
    const auto cell = tg::make_operation<tg::op::gru_gates>(tg::concat<1>(a, b), c, short_bias);
    return std::tuple{std::get<0>(cell), std::get<1>(cell)};
  }
}

template <unsigned Seed, int Step = 0, class... E>
constexpr auto grow(const std::tuple<E...>& pool) {
  if constexpr (Step == steps) {
    return pool;
  } else {
    return grow<Seed, Step + 1>(std::tuple_cat(
        pool, two_of<kind(Seed, Step)>(std::get<operand(Seed, Step, 0)>(pool), std::get<operand(Seed, Step, 1)>(pool),
                                       std::get<operand(Seed, Step, 2)>(pool), std::get<operand(Seed, Step, 3)>(pool),
                                       std::get<operand(Seed, Step, 4)>(pool))));
  }
}

using matrix = std::vector<std::array<double, width>>;

double sigmoid(double z) { return 1 / (1 + std::exp(-z)); }

/// The numbers of a run, and what is fed in the place of a value.
struct numbers {
  matrix x, y;
  std::array<double, 4 * width> bias{};
  std::array<double, 2 * width> short_bias{};
  std::array<double, width> v{};
  std::size_t fed = grown;
  matrix in_its_place{};
};

/// The values of a graph, by loops.
std::vector<matrix> evaluated(unsigned seed, const numbers& n) {
  std::vector<matrix> pool{n.x, n.y};
  for (auto& row : pool[0])
    for (std::size_t i = 0; i < width; ++i) row[i] += n.v[i];
  const auto replace = [&](std::size_t k) {
    if (n.fed == k) pool[k] = n.in_its_place;
  };
  for (std::size_t k = 0; k < beginning; ++k) replace(k);
  for (int step = 0; step < steps; ++step) {
    const matrix* in[5];
    for (unsigned k = 0; k < 5; ++k) in[k] = &pool[operand(seed, step, k)];
    matrix first(n.x.size()), second(n.x.size());
    for (std::size_t r = 0; r < n.x.size(); ++r) {
      const auto& a = (*in[0])[r];
      const auto& b = (*in[1])[r];
      const auto& c = (*in[2])[r];
      const auto& d = (*in[3])[r];
      const auto& e = (*in[4])[r];
      switch (kind(seed, step)) {
        case 0:
          first[r] = {b[2], b[3], a[0], a[1]};
          second[r] = {std::tanh(a[2]), std::tanh(a[3]), std::tanh(a[2]), std::tanh(a[3])};
          break;
        case 1:
          for (std::size_t i = 0; i < width; ++i) {
            second[r][i] = sigmoid(c[i] + n.bias[2 * width + i] + 1) * e[i] +
                           sigmoid(a[i] + n.bias[i]) * std::tanh(b[i] + n.bias[width + i]);
            first[r][i] = std::tanh(second[r][i]) * sigmoid(d[i] + n.bias[3 * width + i]);
          }
          break;
        case 2: {
          std::array<double, 2 * width> all{};
          std::copy(a.begin(), a.end(), all.begin());
          std::copy(b.begin(), b.end(), all.begin() + width);
          std::array<std::size_t, 2 * width> order{};
          std::iota(order.begin(), order.end(), 0);
          std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return all[i] > all[j]; });
          for (std::size_t i = 0; i < width; ++i)
            first[r][i] = all[order[i]], second[r][i] = std::tanh(static_cast<double>(order[i]));
          break;
        }
        case 3: {
          double mean = 0, variance = 0;
          for (const double z : a) mean += z / width;
          for (const double z : a) variance += (z - mean) * (z - mean) / width;
          for (std::size_t i = 0; i < width; ++i) first[r][i] = a[i] - mean, second[r][i] = std::tanh(b[i] * variance);
          break;
        }
        default:
          for (std::size_t i = 0; i < width; ++i) {
            first[r][i] = sigmoid(a[i] + n.short_bias[i]) * c[i];
            second[r][i] = sigmoid(b[i] + n.short_bias[width + i]);
          }
      }
    }
    pool.push_back(first), replace(pool.size() - 1);
    pool.push_back(second), replace(pool.size() - 1);
  }
  return pool;
}

double scattered(unsigned seed, unsigned k) { return static_cast<double>(drawn(seed, 77, k) % 4001) / 2000 - 1; }

numbers numbers_of(unsigned seed, std::size_t rows) {
  numbers n;
  unsigned k = 0;
  for (matrix* m : {&n.x, &n.y, &n.in_its_place}) {
    m->resize(rows);
    for (auto& row : *m)
      for (double& z : row) z = scattered(seed, k++);
  }
  for (double& z : n.bias) z = scattered(seed, k++);
  for (double& z : n.short_bias) z = scattered(seed, k++);
  return n;
}

tg::tensor<double> tensor_of(const matrix& m) {
  tg::tensor<double> t({static_cast<tg::extent>(m.size()), width});
  for (std::size_t r = 0; r < m.size(); ++r) std::copy(m[r].begin(), m[r].end(), t.data() + r * width);
  return t;
}

void compare(const tg::tensor<double>& found, const matrix& expected, std::size_t which) {
  REQUIRE(found.dims() == tg::shape{static_cast<tg::extent>(expected.size()), width});
  double worst = 0;
  for (std::size_t r = 0; r < expected.size(); ++r)
    for (std::size_t i = 0; i < width; ++i)
      worst = std::max(worst, std::fabs(found.data()[r * width + i] - expected[r][i]));
  INFO("value " << which);
  CHECK(worst < 1e-10);
}

/// What a run of graph `Seed` does: which values it fetches, whether it updates, and what it is fed.
template <unsigned Seed, unsigned Run>
struct decisions {
  static constexpr std::size_t one = drawn(Seed, 50 + Run, 1) % grown, two = drawn(Seed, 50 + Run, 2) % grown,
                               three = grown - 1 - drawn(Seed, 50 + Run, 3) % 4,
                               average = drawn(Seed, 50, 4) % grown;  ///< of which value v is moved
  static constexpr bool updates = Run % 2 == 1, feeds = Run == 2;
  static constexpr std::size_t fed = beginning + drawn(Seed, 50 + Run, 5) % (2 * steps);
};

template <unsigned Seed, unsigned Run, class Session, class Pool, class Update>
void run_once(Session& session, const Pool& pool, const Update& update, unsigned draw, std::size_t rows,
              std::array<double, width>& state) {
  using d = decisions<Seed, Run>;
  INFO("seed " << Seed << ", run " << Run << ", " << rows << " rows");
  numbers n = numbers_of(draw, rows);
  n.v = state;
  if (d::feeds) n.fed = d::fed;
  const std::vector<matrix> expected = evaluated(Seed, n);
  const auto in = tensor_of(n.x), other = tensor_of(n.y), fed = tensor_of(n.in_its_place);
  const auto check = [&](const auto& found) {
    compare(std::get<0>(found), expected[d::one], d::one);
    compare(std::get<1>(found), expected[d::two], d::two);
    compare(std::get<2>(found), expected[d::three], d::three);
  };
  const auto& one = std::get<d::one>(pool);
  const auto& two = std::get<d::two>(pool);
  const auto& three = std::get<d::three>(pool);
  if constexpr (d::updates) {
    check(session.run(tg::fetch(one, two, three, update), x = in, y = other, bias = n.bias, short_bias = n.short_bias));
    for (std::size_t i = 0; i < width; ++i)
      for (const auto& row : expected[d::average]) state[i] += row[i] / static_cast<double>(rows);
  } else if constexpr (d::feeds) {
    check(session.run(tg::fetch(one, two, three), x = in, y = other, bias = n.bias, short_bias = n.short_bias,
                      std::get<d::fed>(pool) = fed));
  } else {
    check(session.run(tg::fetch(one, two, three), x = in, y = other, bias = n.bias, short_bias = n.short_bias));
  }
  const auto now = session.run(v);
  for (std::size_t i = 0; i < width; ++i) CHECK(now.data()[i] == Approx(state[i]).margin(1e-10));
}

template <class Program, unsigned Seed, class Pool, class Update>
void run_program(const Program& program, const Pool& pool, const Update& update) {
  for (const int threads : {1, 3}) {
    tg::session session(program, {.intra_op_threads = threads, .inter_op_threads = threads});
    std::array<double, width> state{};
    unsigned draw = 100 * Seed;
    for (const std::size_t rows : {std::size_t{3}, std::size_t{1}, std::size_t{40}}) {
      run_once<Seed, 0>(session, pool, update, ++draw, rows, state);
      run_once<Seed, 1>(session, pool, update, ++draw, rows, state);
      run_once<Seed, 2>(session, pool, update, ++draw, rows, state);
    }
  }
}

/// Gradients of a graph by x, beside difference quotients of the loops; not where these have a kink.
template <unsigned Seed, class Session, class Slope>
void check_slope(Session& session, const Slope& slope, std::size_t one, std::size_t two) {
  numbers n = numbers_of(7 * Seed, 2);
  const auto loss = [&] {
    const std::vector<matrix> all = evaluated(Seed, n);
    double sum = 0;
    for (std::size_t r = 0; r < 2; ++r)
      for (std::size_t i = 0; i < width; ++i)
        sum += all[one][r][i] * all[one][r][i] + std::tanh(all[two][r][i]) + all[0][r][i];
    return sum;
  };
  const auto found =
      session.run(slope, x = tensor_of(n.x), y = tensor_of(n.y), bias = n.bias, short_bias = n.short_bias);
  constexpr double h = 1e-5;
  int smooth = 0;
  for (std::size_t r = 0; r < 2; ++r)
    for (std::size_t i = 0; i < width; ++i) {
      const double here = n.x[r][i], middle = loss();
      n.x[r][i] = here + h;
      const double above = (loss() - middle) / h;
      n.x[r][i] = here - h;
      const double below = (middle - loss()) / h;
      n.x[r][i] = here;
      if (std::fabs(above - below) > 1e-3) continue;
      ++smooth;
      CHECK(found.data()[r * width + i] == Approx((above + below) / 2).margin(1e-6));
    }
  CHECK(smooth >= 6);
}

template <unsigned Seed>
void check_graph() {
  const auto pool = grow<Seed>(std::tuple{x + v, y});
  const auto moments = tg::moments<0>(std::get<decisions<Seed, 1>::average>(pool));
  const auto update = tg::assign_add(v, std::get<0>(moments));
  constexpr std::size_t one = grown - 1, two = grown - 2 - drawn(Seed, 60, 0) % 4;
  const auto loss = tg::sum(tg::square(std::get<one>(pool))) + tg::sum(tg::tanh(std::get<two>(pool)));
  const auto slope = tg::gradient(loss + tg::sum(std::get<0>(pool)), x);
  const auto program = tg::compile([=] {
    return std::apply([&](const auto&... value) { return tg::outputs(value..., update, slope, v, bias, short_bias); },
                      pool);
  });
  run_program<decltype(program), Seed>(program, pool, update);
  tg::session session(program);
  check_slope<Seed>(session, slope, one, two);
}

TEST_CASE("random graphs of operations with several results: seed 1") { check_graph<1>(); }
TEST_CASE("random graphs of operations with several results: seed 2") { check_graph<2>(); }
TEST_CASE("random graphs of operations with several results: seed 3") { check_graph<3>(); }
TEST_CASE("random graphs of operations with several results: seed 4") { check_graph<4>(); }

TEST_CASE("random graphs of operations with several results: on a device with streams") {
  constexpr unsigned seed = 5;
  const auto pool = grow<seed>(std::tuple{x + v, y});
  const auto moments = tg::moments<0>(std::get<decisions<seed, 1>::average>(pool));
  const auto update = tg::assign_add(v, std::get<0>(moments));
  const auto program = tg::compile([=] {
    return tg::on<tg::gpu<0>>(
        std::apply([&](const auto&... value) { return tg::outputs(value..., update, v, bias, short_bias); }, pool));
  });
  run_program<decltype(program), seed>(program, pool, update);
}

}  // namespace
