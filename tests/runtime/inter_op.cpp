// SPDX-License-Identifier: BSL-1.0
// Steps of one run on several threads, through a session: they meet, and they compute what one thread computes.
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "support/comes.hpp"
#include "tagma/tagma.hpp"
#include "tagma/with_macros.hpp"

namespace tg = tagma;

namespace {

/// How many calls of `meet` are under way, and the most that ever were.
std::atomic<int> present{0}, most{0};

/// Its input, once another call is under way or a minute has passed.
struct meet {
  static constexpr std::string_view name = "test.meet";
  static constexpr tg::ir::op_kind kind = tg::ir::op_kind::compute;
  static constexpr const char* infer(tg::ir::infer_args& a) {
    a.out = a.in[0];
    return nullptr;
  }
  static constexpr double work(const tg::ir::infer_args&) { return 1e9; }
};

void run_meet(const tg::runtime::kernel_args& args, const tg::runtime::run_context& context) {
  const int now = ++present;
  for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
  }
  if (context.threads->step_threads() > 1) static_cast<void>(tg::test::comes([] { return most >= 2; }));
  --present;
  *args.out.as<float>() = *args.in[0].as<float>();
}

template <tg::expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto meeting(const E& e) {
  return tg::detail::make_node<meet, tg::ir::attributes<0>{}, Place>(e);
}

}  // namespace

template <>
struct tagma::device::kernel<tagma::device::on_cpu, tagma::ir::key<meet>> {
  template <tagma::dtype, tagma::dtype...>
  static constexpr tagma::runtime::kernel_entry entry{&run_meet};
};

namespace {

constexpr auto a = tg::placeholder<"a", float>();

TEST_CASE("independent steps of a run meet, if they may") {
  const auto both = meeting(tg::exp(a)) + meeting(tg::tanh(a));
  const auto program = tg::compile([=] { return tg::outputs(both); });
  tg::session alone(program, {.intra_op_threads = 2, .inter_op_threads = 1});
  most = 0;
  const float expected = alone.run(both, a = 0.5f);
  CHECK(most == 1);
  tg::session together(program, {.intra_op_threads = 1, .inter_op_threads = 2});
  most = 0;
  CHECK(together.run(both, a = 0.5f) == expected);
  CHECK(most == 2);
}

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 64>();

/// Branches that share their input and are joined again, a random one among them, and updates of what they read.
TEST_CASE("a run on several threads gives the bytes of a run on one") {
  const auto one = tg::dense<"one/b", 64>(tg::dense<"one/a", 64>(x, tg::tanh), tg::tanh);
  const auto two = tg::dense<"two/b", 64>(tg::dense<"two/a", 64>(tg::dropout(x, 0.2), tg::relu), tg::tanh);
  const auto three = tg::softmax(tg::dense<"three", 64>(x));
  const auto loss = tg::mean(tg::square(one * two - three));
  const auto train = tg::minimize(loss, tg::adam{.learning_rate = 0.01});
  const auto program = tg::compile([=] { return tg::outputs(loss, train); });
  tg::tensor<float> in(tg::shape{200, 64});
  for (tg::extent i = 0; i < in.dims().elements(); ++i) in[i] = static_cast<float>(i % 17) / 8.5f - 1;
  const auto losses = [&](int intra, int inter) {
    tg::session session(program, {.seed = 4, .intra_op_threads = intra, .inter_op_threads = inter});
    std::vector<float> all;
    for (int i = 0; i < 30; ++i) all.push_back(std::get<0>(session.run(tg::fetch(loss, train), x = in)));
    return all;
  };
  const auto expected = losses(1, 1);
  CHECK(expected.back() < expected.front());
  for (const int inter : {2, 3, 4}) CHECK(losses(1, inter) == expected);
  CHECK(losses(3, 3) == expected);
}

TEST_CASE("a fetched variable is taken before the step that updates it") {
  const auto v = tg::variable<"v", float, 256, 256>(tg::ones);
  const auto product = tg::matmul(v, v);
  const auto other = tg::matmul(tg::tanh(v), v);
  const auto update = tg::after(product)(tg::assign_add(v, other));
  const auto program = tg::compile([=] { return tg::outputs(v, product, update); });
  tg::session session(program, {.intra_op_threads = 1, .inter_op_threads = 2});
  const auto [before, squares, after] = session.run(tg::fetch(v, product, update));
  CHECK(before[0] == 1);
  CHECK(squares[0] == 256);
  CHECK(after[7] > 100);
  CHECK(session.run(v)[7] == after[7]);
}

TEST_CASE("a failure on any thread ends the run with its sentence, and the session goes on") {
  constexpr auto row = tg::placeholder<"row", std::int32_t>();
  constexpr auto table = tg::placeholder<"table", float, 4, 256>();
  const auto picked = tg::sum(tg::matmul(tg::expand_dims<0>(tg::gather(table, row)), tg::transpose(table)));
  const auto result = meeting(tg::exp(a)) + meeting(tg::tanh(a)) + picked;
  const auto program = tg::compile([=] { return tg::outputs(result); });
  tg::session session(program, {.intra_op_threads = 1, .inter_op_threads = 2});
  const tg::tensor<float> rows(tg::shape{4, 256});
  for (int i = 0; i < 10; ++i) {
    most = 2;  // nobody waits
    CHECK_THROWS_WITH(session.run(result, a = 0.0f, row = 4, table = rows), Catch::Contains("gather"));
    CHECK(session.run(result, a = 0.0f, row = 3, table = rows) == 1);
  }
  tg::cancellation stop;
  stop.cancel();
  CHECK_THROWS_WITH(session.run(result, a = 0.0f, row = 3, table = rows, tg::stop_with(stop)),
                    Catch::Contains("cancelled"));
  CHECK(session.run(result, a = 0.0f, row = 3, table = rows) == 1);
}

}  // namespace
