// SPDX-License-Identifier: BSL-1.0
// Sessions with loops behind queues and over rows that kernels of the GPU find: what they draw at random differs from
// run to run, and what goes wrong is told.
#include <cmath>

#include "support/cuda_sessions.hpp"
#include "tagma/control_flow.hpp"
#include "tagma/filter.hpp"
#include "tagma/queues.hpp"

namespace {

namespace tg = tagma;
using tg::test::check;

constexpr tg::queue_of<"rows", tg::queue_options{.capacity = 8}, tg::spec<float, 3>> rows;
constexpr tg::queue_of<"indices", tg::queue_options{.capacity = 8}, tg::spec<std::int32_t>> indices;
constexpr auto start = tg::placeholder<"start", float, 3>();
constexpr auto table = tg::placeholder<"table", float, 4, 3>();
constexpr auto keep = tg::placeholder<"keep", bool, 4>();

template <class F>
tg::status_code code_of(const F& f) {
  try {
    f();
  } catch (const tg::error& e) {
    return e.code();
  }
  return tg::status_code::ok;
}

void sessions() {
  const auto drawn =
      std::get<0>(tg::scan(tg::carry(start), tg::over(tg::dequeue_many<4>(rows)),
                           [](const auto& h, const auto& e) { return tg::next(tg::dropout(h, 0.5f) + e); }));
  const auto picked =
      std::get<0>(tg::scan(tg::carry(start), tg::over(tg::dequeue_many<2>(indices)),
                           [](const auto& h, const auto& i) { return tg::next(h + tg::gather(table, i)); }));
  const auto kept =
      std::get<0>(tg::scan(tg::carry(start), tg::over(tg::boolean_mask(table, keep)),
                           [](const auto& h, const auto& e) { return tg::next(tg::tanh(h) * 0.5f + e); }));
  const auto slope = tg::gradient(tg::sum(kept * kept), start);
  const auto program = tg::compile([=] { return tg::outputs(drawn, picked, kept, slope); });
  const tg::container state;
  tg::session session(program, {.seed = 3, .gpu = tg::test::modest_gpu, .state = state});
  const tg::queue<tg::spec<float, 3>> into(state, "rows", rows.options);
  const tg::queue<tg::spec<std::int32_t>> numbers(state, "indices", indices.options);
  const tg::tensor<float> ones({3}, {1.0f, 1.0f, 1.0f});
  tg::tensor<float> before({3});
  int others = 0;
  for (int run = 0; run < 8; ++run) {
    for (int i = 0; i < 4; ++i) into.enqueue(ones);
    const tg::tensor<float> now = session.run(drawn, start = ones);
    others += !(now == before);
    before = now;
  }
  check(others > 4, "runs draw other numbers");
  tg::tensor<float> t({4, 3});
  for (std::size_t i = 0; i < 12; ++i) t.data()[i] = static_cast<float>(i) * 0.125f;
  for (int round = 0; round < 2; ++round) {
    numbers.enqueue(1), numbers.enqueue(3);
    check(session.run(picked, start = ones, table = t)[0] == 2.5f, "rows are picked");
    numbers.enqueue(1), numbers.enqueue(7);
    check(code_of([&] { (void)session.run(picked, start = ones, table = t); }) == tg::status_code::out_of_range,
          "an index that is none is told");
  }
  for (const unsigned bits : {11u, 0u, 15u, 11u, 4u}) {
    tg::tensor<bool> mask({4});
    for (tg::extent i = 0; i < 4; ++i) mask[i] = ((bits >> i) & 1) != 0;
    const auto [found, by_start] = session.run(tg::fetch(kept, slope), start = ones, table = t, keep = mask);
    for (tg::extent k = 0; k < 3; ++k) {
      double h = 1, d = 1;
      for (tg::extent i = 0; i < 4; ++i) {
        if (!mask[i]) continue;
        const double s = std::tanh(h);
        d *= 0.5 * (1 - s * s);
        h = 0.5 * s + static_cast<double>(t(i, k));
      }
      check(std::fabs(static_cast<double>(found[k]) - h) < 1e-5, "the rows that are kept are gone over");
      check(std::fabs(static_cast<double>(by_start[k]) - 2 * h * d) < 1e-4, "and so is their slope");
    }
  }
}

}  // namespace

int main() {
  tg::test::on_gpu();
  sessions();
  return tg::test::result();
}
