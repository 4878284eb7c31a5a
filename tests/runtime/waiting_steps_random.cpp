// SPDX-License-Identifier: BSL-1.0
// Random functions with branches and loops in each other, around steps that wait.
#include <chrono>

#include <catch2/catch.hpp>

#include "conformance/random_functions.hpp"
#include "tagma/queues.hpp"
#include "tagma/runtime/waiting_steps.hpp"

namespace {

using namespace std::chrono_literals;

template <int Seed>
void check_around_waits() {
  constexpr auto p = tg::placeholder<"p", double, 3>();
  constexpr auto q = tg::placeholder<"q", double, 3>();
  const auto made = random_function<Seed, 2, 0, true>(p, q) + tg::sum(p) * 0.1;
  const auto plain = random_function<Seed + 100, 2, 0, true>(made, p) + made + tg::sum(q) * w;
  constexpr tg::queue_of<"in", tg::queue_options{}, tg::spec<double, 3>> in;
  constexpr tg::queue_of<"between", tg::queue_options{}, tg::spec<double, 3>> between;
  const auto taken = tg::dequeue(in);
  const auto again = random_function<Seed, 2, 0, true>(taken, q) + tg::sum(taken) * 0.1;
  const auto put = tg::enqueue(between, again);
  const auto back = tg::dequeue(between);  // by the same run, which has to come to `put` meanwhile
  const auto around = random_function<Seed + 100, 2, 0, true>(back, taken) + again + tg::sum(q) * w;
  tg::session expected(tg::compile([=] { return tg::outputs(plain); }));
  const auto program = tg::compile([=] { return tg::outputs(put, around); });
  for (const int threads : {1, 3}) {
    const tg::container state;
    tg::session session(program, {.intra_op_threads = threads, .inter_op_threads = threads, .state = state});
    const tg::queue<tg::spec<double, 3>> into(state, "in", in.options);
    for (int run = 0; run < 6; ++run) {
      INFO("seed " << Seed << ", run " << run << ", threads " << threads);
      const auto first = numbers({3}, Seed + 3.1 * run), second = numbers({3}, Seed + 1 + 7.3 * run);
      const auto wanted = expected.run(plain, p = first, q = second, w = 0.4 * run - 1);
      into.enqueue(first);
      const auto got = session.run(tg::fetch(put, around), q = second, w = 0.4 * run - 1, tg::timeout(10s));
      for (int i = 0; i < 3; ++i) CHECK(std::get<1>(got)[i] == Approx(wanted[i]).margin(1e-12));
    }
  }
}

}  // namespace

TEST_CASE("random functions around steps that wait are what they are without") {
  check_around_waits<1>();
  check_around_waits<2>();
  check_around_waits<3>();
  check_around_waits<4>();
}
