// SPDX-License-Identifier: BSL-1.0
// Loops on devices with streams.
#include "tagma/device/fake/provide.hpp"
#include "tagma/fake_gpu.hpp"

#include "conformance/loops.hpp"

namespace {

TEST_CASE("bodies of any operations are what they are written out, and so are their gradients") {
  check_random_body<7>();
  check_random_body<8>();
}

TEST_CASE("a body may be on several devices") {
  const auto [last, all] = tg::scan(tg::carry(h0), tg::over(x), [](auto h, auto e) {
    const auto host = tg::on<"/cpu:0">(tg::tanh(tg::matmul(e, w) + b));
    const auto n = tg::tanh(host + tg::matmul(h, u));
    return tg::next(n).emit(host * h);
  });
  const auto loss = tg::sum(last * last) + tg::sum(all);
  const auto by_u = tg::gradient(loss, u);
  const auto program = tg::compile([=] { return tg::outputs(loss, by_u); });
  tg::session s(program);
  const auto wm = numbers({in, units}, 1), um = numbers({units, units}, 2), bm = numbers({units}, 3),
             hm = numbers({batch, units}, 4), xs = numbers({steps, batch, in}, 5);
  tg::test::check_gradient(
      [&](const tg::tensor<double>& v) { return s.run(tg::fetch(loss, by_u), x = xs, h0 = hm, w = wm, u = v, b = bm); },
      um);
}

TEST_CASE("loops are where their bodies and gradients are asked for") {
  const auto [last, all] = tg::scan(tg::carry(h0), tg::over(x), [](auto h, auto e) {
    const auto host = tg::on<"/cpu:0">(tg::tanh(tg::matmul(e, w) + h));
    const auto n = tg::tanh(tg::matmul(e, w) * host + tg::matmul(h, u));
    return tg::next(n).emit(n);
  });
  const auto loss = tg::sum(last * last) + tg::sum(all);
  const auto on_gpu = tg::on<"/gpu:0">(loss);
  const auto by_w = tg::on<"/cpu:0">(tg::gradient(loss, w));
  const auto program = tg::compile([=] { return tg::outputs(on_gpu, loss, by_w); });
  tg::session s(program);
  const auto wm = numbers({in, units}, 1), um = numbers({units, units}, 2), hm = numbers({batch, units}, 4),
             xs = numbers({steps, batch, in}, 5);
  const auto [one, other] = s.run(tg::fetch(on_gpu, loss), x = xs, h0 = hm, w = wm, u = um);
  CHECK(one == Approx(other));
  tg::test::check_gradient(
      [&](const tg::tensor<double>& v) { return s.run(tg::fetch(loss, by_w), x = xs, h0 = hm, w = v, u = um); }, wm);
}

}  // namespace
