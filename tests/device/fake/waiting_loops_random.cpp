// SPDX-License-Identifier: BSL-1.0
// Random functions with branches and loops in each other on a device with streams, around steps that wait, and over
// vectors as long as a kernel or a queue finds.
#include "tagma/device/fake/provide.hpp"
#include "tagma/fake_gpu.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <random>

#include "conformance/random_functions.hpp"
#include "tagma/filter.hpp"
#include "tagma/queues.hpp"

namespace {

namespace fake = tg::device::fake;
using namespace std::chrono_literals;

constexpr auto p = tg::placeholder<"p", double, tg::dyn>();
constexpr auto q = tg::placeholder<"q", double, tg::dyn>();

tg::session_options options_of(bool pooled, const tg::container& state) {
  tg::session_options options{.gpu = {.memory_fraction = 0.5, .allow_growth = true}};
  if (pooled) options.inter_op_pools = {{.threads = 3}};
  options.state = state;
  return options;
}
void check_same(const values& one, const values& other) {
  REQUIRE(one.dims() == other.dims());
  for (tg::extent i = 0; i < one.dims().elements(); ++i) CHECK(one[i] == Approx(other[i]).margin(1e-12));
}

template <int Seed>
void check_around_waits() {
  const auto made = random_function<Seed, 2, 0, true>(p, q) + tg::sum(p) * 0.1;
  const auto plain = tg::on<"/cpu:0">(random_function<Seed + 100, 2, 0, true>(made, p) + made + tg::sum(q) * w);
  constexpr tg::queue_of<"in", tg::queue_options{}, tg::spec<double, 3>> in;
  constexpr tg::queue_of<"between", tg::queue_options{}, tg::spec<double, 3>> between;
  const auto taken = tg::dequeue(in);
  const auto again = random_function<Seed, 2, 0, true>(taken, q) + tg::sum(taken) * 0.1;
  const auto put = tg::enqueue(between, again);
  const auto back = tg::dequeue(between);  // by the same run, which has to come to `put` meanwhile
  const auto around = random_function<Seed + 100, 2, 0, true>(back, taken) + again + tg::sum(q) * w;
  tg::session expected(tg::compile([=] { return tg::outputs(plain); }));
  const auto program = tg::compile([=] { return tg::outputs(put, around); });
  for (const bool pooled : {false, true}) {
    fake::machine machine({.devices = 1, .seed = pooled ? Seed + 1u : Seed + 0u});
    const tg::container state;
    tg::session session(program, options_of(pooled, state));
    const tg::queue<tg::spec<double, 3>> into(state, "in", in.options);
    for (int run = 0; run < 6; ++run) {
      INFO("seed " << Seed << ", run " << run << ", pool " << pooled);
      const auto first = numbers({3}, Seed + 3.1 * run), second = numbers({3}, Seed + 1 + 7.3 * run);
      const auto wanted = expected.run(plain, p = first, q = second, w = 0.4 * run - 1);
      into.enqueue(first);
      const auto got = session.run(tg::fetch(put, around), q = second, w = 0.4 * run - 1, tg::timeout(60s));
      check_same(std::get<1>(got), wanted);
    }
  }
}

/// Beside one another: rows that a mask keeps, and as many that a queue gives.
template <int Seed>
void check_late() {
  constexpr auto keep = tg::placeholder<"keep", bool, tg::dyn>();
  constexpr tg::queue_of<"rows", tg::queue_options{.capacity = 16}, tg::spec<double>> rows;
  const auto results_of = [](const auto& a, const auto& b) {
    const auto all = random_function<Seed, 2, 0, true>(a, a * 0.5 + w) + w * tg::sum(b);
    const auto beside = random_function<Seed + 50, 1, 0, true>(b, b * w);
    const auto f = tg::sum(tg::sin(all)) + tg::sum(beside);
    return std::make_tuple(all * 1.0, beside * 1.0, tg::gradient(f, a));
  };
  const auto plain = results_of(p, q);
  const auto found = results_of(tg::boolean_mask(p, keep), tg::dequeue_up_to<6>(rows));
  const auto program_of = [](const auto& results) {
    return std::apply([](const auto&... r) { return tg::compile([=] { return tg::outputs(r...); }); }, results);
  };
  const auto on_cpu = [](const auto& results) {
    return std::apply([](const auto&... r) { return std::make_tuple(tg::on<"/cpu:0">(r)...); }, results);
  };
  const auto fetch = [](const auto& results) {
    return std::apply([](const auto&... r) { return tg::fetch(r...); }, results);
  };
  const auto of_cpu = on_cpu(plain);
  tg::session expected(program_of(of_cpu));
  std::mt19937 random(Seed);
  for (const bool pooled : {false, true}) {
    fake::machine machine({.devices = 1, .seed = pooled ? Seed + 1u : Seed + 0u});
    const tg::container state;
    tg::session session(program_of(found), options_of(pooled, state));
    const tg::queue<tg::spec<double>> into(state, "rows", rows.options);
    for (int run = 0; run < 8; ++run) {
      INFO("seed " << Seed << ", run " << run << ", pool " << pooled);
      const tg::extent n = static_cast<tg::extent>(random() % 7);
      const values a = numbers({n}, Seed + 3.1 * run), b = numbers({6}, Seed + 1 + 7.3 * run);
      tg::tensor<bool> mask({n});
      tg::extent count = 0;
      for (tg::extent i = 0; i < n; ++i) count += mask[i] = random() % 3 != 0;
      values c({count});
      for (tg::extent i = 0, k = 0; i < n; ++i)
        if (mask[i]) c[k++] = a[i];
      for (const double e : b.span()) into.enqueue(e);
      const auto wanted = expected.run(fetch(of_cpu), p = c, q = b, w = 0.4 * run - 1);
      const auto got = session.run(fetch(found), p = a, keep = mask, w = 0.4 * run - 1, tg::timeout(60s));
      check_same(std::get<0>(got), std::get<0>(wanted));
      check_same(std::get<1>(got), std::get<1>(wanted));
      check_same(std::get<2>(got), std::get<2>(wanted));
    }
  }
}

TEST_CASE("random functions on a device around steps that wait are what they are on the host without") {
  check_around_waits<5>();
  check_around_waits<6>();
  check_around_waits<7>();
}

TEST_CASE("random functions on a device of rows that are found are what they are on the host of those that are fed") {
  check_late<5>();
  check_late<6>();
  check_late<7>();
}

}  // namespace
