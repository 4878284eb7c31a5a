// SPDX-License-Identifier: BSL-1.0
// What elements decide on devices with streams.
#include "tagma/device/fake/provide.hpp"
#include "tagma/fake_gpu.hpp"

#include "conformance/branches.hpp"

namespace {

TEST_CASE("random functions with branches and loops in each other are what both branches and a choice are") {
  check_random_function<7>();
  check_random_function<8>();
}

TEST_CASE("branches and loops may be on several devices") {
  const auto [n, end] = tg::while_loop<9>(
      tg::carry(tg::sum(x * 0.0), x), [](auto k, auto e) { return tg::on<"/cpu:0">(k + 0.0 * tg::sum(e)) < w; },
      [](auto k, auto e) {
        const auto host = tg::on<"/cpu:0">(tg::sin(e) + 0.5);
        return tg::next(k + 1.0, tg::cond(
                                     tg::sum(host) > 0.0, [](auto a, auto h) { return tg::on<"/cpu:0">(a * h); },
                                     [](auto a, auto) { return tg::on<"/gpu:0">(tg::tanh(a)); }, e, host));
      });
  const auto last = end;
  const auto loss = tg::sum(last * last);
  const auto by_x = tg::gradient(loss, x);
  const auto program = tg::compile([=] { return tg::outputs(last, loss, by_x); });
  tg::session s(program);
  const values v = numbers({3}, 8);
  for (const double limit : {3.0, 0.0, 4.0}) {
    values expected = v;
    for (int k = 0; k < static_cast<int>(limit); ++k) {
      double sum = 0;
      for (const double e : expected.span()) sum += std::sin(e) + 0.5;
      for (double& e : expected.span()) e = sum > 0 ? e * (std::sin(e) + 0.5) : std::tanh(e);
    }
    const auto found = s.run(last, x = v, w = limit);
    for (int i = 0; i < 3; ++i) CHECK(found[i] == Approx(expected[i]));
    tg::test::check_gradient([&](const values& at) { return s.run(tg::fetch(loss, by_x), x = at, w = limit); }, v);
  }
}

}  // namespace
