// SPDX-License-Identifier: BSL-1.0
#include <catch2/catch.hpp>

#include "tagma/explain.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 3>();
constexpr auto everywhere = [](tg::op_info op) { return op.is_variable ? "/cpu:0" : "/job:localhost/task:0"; };

auto net() {
  const auto h = tg::dense<"h", 4>(x, tg::tanh);
  const auto loss = tg::mean(tg::square(2.0f * tg::dense<"y", 2>(h)));
  return std::pair(loss, tg::minimize(loss, tg::adam{.learning_rate = 0.1}));
}

template <class Program, class Loss, class Train>
std::vector<float> train(const Program& program, const Loss& loss, const Train& train) {
  tg::session session(program, {.seed = 7});
  std::vector<float> losses;
  tg::tensor<float> data(tg::shape{5, 3});
  for (std::size_t i = 0; i < 15; ++i) data.data()[i] = static_cast<float>(i) / 8 - 1;
  for (int step = 0; step < 5; ++step) {
    losses.push_back(session.run(loss, x = data));
    session.run(train, x = data);
  }
  return losses;
}

}  // namespace

TEST_CASE("a program inside device scopes computes the same") {
  const auto pair = net();
  const auto loss = pair.first;
  const auto step = pair.second;
  const auto plain = tg::compile([=] { return tg::outputs(loss, step); });
  const auto scoped = tg::compile([=] { return tg::on<"/cpu:0">(tg::on<everywhere>(tg::outputs(loss, step))); });
  CHECK(plain.fingerprint() != scoped.fingerprint());
  CHECK(plain.node_count() == scoped.node_count());
  const auto losses = train(plain, loss, step);
  CHECK(losses[4] < losses[0]);
  CHECK(train(scoped, loss, step) == losses);
}

TEST_CASE("explain tells why a node is where it is") {
  const auto w = tg::variable<"w", float, 3, 2>(tg::glorot_uniform);
  const auto y = tg::on<tg::cpu<0>>([&](const auto& e) { return tg::matmul(e, w); })(x);
  const auto bound = tg::colocate_with(w)(tg::tanh(y));
  const auto program = tg::compile([=] { return tg::outputs(tg::sum(bound)); });
  const std::string text = tg::explain(program);
  const auto row = [&](const std::string& what) {
    const auto at = text.find(what);
    return at == std::string::npos ? std::string() : text.substr(at, text.find('\n', at) - at);
  };
  CHECK_THAT(row("matmul"), Catch::Contains("/device:CPU:0, asked for as '/device:CPU:0'"));
  CHECK_THAT(row("tanh"), Catch::Contains("/device:CPU:0, with the nodes it is bound to"));
  CHECK_THAT(row("sum"), Catch::Contains("/device:CPU:0, the only one"));
  tg::session session(program);
  CHECK(session.run(tg::sum(bound), x = tg::tensor<float>(tg::shape{2, 3})) == 0);
}

TEST_CASE("slots are placed with their variable, wherever the optimizer is asked for") {
  const auto w = tg::on<"/cpu:0">(tg::variable<"w", float, 3, 2>(tg::glorot_uniform));
  const auto step = tg::on<"/gpu:0">(tg::minimize(tg::sum(tg::matmul(x, w)), tg::momentum{}));
  const auto program = tg::compile([=] { return tg::outputs(step); });
  using graph = decltype(program)::graph;
  constexpr tg::device_entry devices[] = {{tg::device_string<"/job:a/replica:0/task:0/cpu:0">},
                                          {tg::device_string<"/job:a/replica:0/task:0/gpu:0">, tg::memory_kind::own}};
  constexpr tg::device_text types[] = {tg::device_text("GPU"), tg::device_text("CPU")};
  const tg::ir::device_set both{devices, types,
                                [](const tg::ir::op_info&, tg::dtype, std::string_view) { return true; }};
  const auto placed =
      tg::ir::place<graph::nodes>(graph::view, tg::ir::prune<graph::nodes>(graph::view, graph::view.roots), both);
  const std::string where = to_string(placed, graph::view, both);
  CHECK(to_string(placed.failure, graph::view, both).empty());
  CHECK_THAT(where, Catch::Contains("w: (variable): /job:a/replica:0/task:0/device:CPU:0\n"));
  CHECK_THAT(where, Catch::Contains("w/momentum: (variable): /job:a/replica:0/task:0/device:CPU:0\n"));
  CHECK_THAT(where, Catch::Contains("(apply_momentum): /job:a/replica:0/task:0/device:CPU:0\n"));
  CHECK_THAT(where, Catch::Contains("momentum/step: (variable): /job:a/replica:0/task:0/device:GPU:0\n"));
}
