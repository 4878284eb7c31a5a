// SPDX-License-Identifier: BSL-1.0
// Queues beside devices with streams.
#include "tagma/device/fake/provide.hpp"
#include "tagma/fake_gpu.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>

#include "tagma/queues.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;

TEST_CASE("a GPU computes with what a queue gives, without a thread that waits") {
  constexpr tg::queue_of<"q", tg::queue_options{.capacity = 3}, tg::spec<float, 4>> q;
  constexpr auto x = tg::placeholder<"x", float, 4>();
  const auto put = tg::enqueue(q, x * 3.0f);
  const auto got = tg::dequeue_up_to<2>(q);
  const auto twice = tg::on<"/gpu:0">([](auto g) { return tg::exp(g) * 2.0f; })(got);
  const auto element = tg::dequeue(q);
  const auto one = tg::on<"/gpu:0">([](auto e) { return tg::sum(e); })(element);
  const auto program = tg::compile([=] { return tg::outputs(put, twice, one); });
  tg::session s(program);
  const tg::tensor<float> v({4}, {1.0f, 0.5f, 0.0f, -1.0f});
  for (int i = 0; i < 3; ++i) CHECK(s.run(put, x = v) == 1);
  const auto found = s.run(twice);
  CHECK(found.dims() == tg::shape{2, 4});
  CHECK(found[1] == Approx(2 * std::exp(1.5f)));
  CHECK(s.run(one) == Approx(1.5f));
  CHECK_THROWS(s.run(one, tg::timeout(std::chrono::milliseconds(5))));
  s.run(put, x = v);
  CHECK(s.run(one) == Approx(1.5f));
}

}  // namespace
