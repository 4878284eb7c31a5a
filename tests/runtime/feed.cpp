// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/feed.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 2>();
constexpr auto ids = tg::placeholder<"ids", std::int32_t, tg::dyn>();

tg::tensor<float> numbers(const tg::shape& dims, float first) {
  tg::tensor<float> t(dims);
  for (std::size_t i = 0; i < t.size(); ++i) t.data()[i] = first + static_cast<float>(i);
  return t;
}

}  // namespace

TEST_CASE("a feed of a computed tensor takes the place of its operation") {
  const auto a = tg::exp(x);
  const auto b = a + 1.0f;
  const auto program = tg::compile([=] { return tg::outputs(b, a); });
  tg::session session(program);
  const auto value = numbers({3, 2}, 5);
  CHECK(session.run(b, a = value).data()[5] == 11);  // without x
  CHECK(session.run(b, x = tg::tensor<float>(tg::shape{1, 2})).data()[1] == 2);
  CHECK(session.run(b, x = value, a = value).data()[0] == 6);  // x is not needed, and not in the way
  CHECK(session.run(a, a = value).data()[3] == 8);             // fed and fetched
}

TEST_CASE("what only a fed tensor needs does not run") {
  // The rows that ids asks for do not exist: the gather would fail.
  const auto rows = tg::gather(x, ids);
  const auto total = tg::sum(tg::square(rows));
  const auto program = tg::compile([=] { return tg::outputs(total); });
  tg::session session(program);
  const std::vector<std::int32_t> wrong{7};
  CHECK_THROWS_AS(session.run(total, x = numbers({3, 2}, 0), ids = wrong), tg::error);
  CHECK(session.run(total, x = numbers({3, 2}, 0), ids = wrong, rows = numbers({1, 2}, 1)) == 5);
}

TEST_CASE("feeds of computed tensors: several, their views, and random numbers") {
  const auto noise = tg::random_uniform<float, 4>();
  const auto seen = tg::reshape<2, 2>(noise);
  const auto doubled = 2.0f * seen;
  const auto sum = tg::sum(doubled) + tg::sum(x);
  const auto program = tg::compile([=] { return tg::outputs(sum); });
  tg::session session(program, {.seed = 3});
  const auto none = tg::tensor<float>(tg::shape{0, 2});
  const std::vector<float> four{1, 2, 3, 4};
  CHECK(session.run(sum, x = none, noise = four) == 20);
  CHECK(session.run(sum, seen = numbers({2, 2}, 0), x = none) == 12);
  CHECK(session.run(sum, x = none, doubled = numbers({2, 2}, 0), noise = four) == 6);
  const float drawn = session.run(sum, x = none);
  CHECK(drawn > 0);
  CHECK(drawn < 8);
}

TEST_CASE("a computed tensor is fed with extents that fit") {
  const auto a = tg::exp(x);
  const auto program = tg::compile([=] { return tg::outputs(tg::sum(a)); });
  tg::session session(program);
  CHECK_THROWS_WITH(session.run(tg::sum(a), a = numbers({2, 3}, 0)),
                    Catch::Contains("feed of placeholder #1 has shape [2, 3]") && Catch::Contains("[?, 2]"));
}

TEST_CASE("feeding a tensor does not touch variables, and training goes on beside it") {
  const auto h = tg::dense<"h", 3>(x);
  const auto loss = tg::mean(tg::square(h));
  const auto train = tg::minimize(loss, tg::sgd{.learning_rate = 0.1});
  const auto program = tg::compile([=] { return tg::outputs(loss, train); });
  tg::session session(program, {.seed = 5});
  const float before = session.run(loss, x = numbers({2, 2}, 1));
  CHECK(session.run(loss, h = numbers({1, 3}, 1)) == Approx(14.0f / 3));
  CHECK(session.run(loss, x = numbers({2, 2}, 1)) == before);
  session.run(train, x = numbers({2, 2}, 1));
  CHECK(session.run(loss, x = numbers({2, 2}, 1)) < before);
}

TEST_CASE("a tensor inside a device scope is fed by the handle that the scope returned") {
  const auto a = tg::on<tg::cpu<1>>(tg::exp(x));
  const auto b = tg::on<tg::cpu<0>>(tg::sum(a));
  const auto program = tg::compile([=] { return tg::outputs(b); });
  tg::session session(program, {.cpu_devices = 2});
  CHECK(session.run(b, a = numbers({2, 2}, 1)) == 10);
}

// Random graphs in device scopes: every handle is fetched, and fed, and compared with the graph worked through by hand.
namespace {

constexpr auto r = tg::placeholder<"r", float>();

constexpr std::uint64_t draw(int seed, int node, int what) {
  return tg::hash_combine(tg::hash_combine(static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(node)),
                          static_cast<std::uint64_t>(what)) >>
         20;
}

constexpr const char* anywhere(tg::op_info op) { return op.op == "tanh" ? "/cpu:1" : "/cpu:0"; }

template <int Seed, int I, class E>
auto maybe_scoped(const E& e) {
  constexpr auto kind = draw(Seed, I, 3) % 8;
  if constexpr (kind == 0)
    return tg::on<tg::cpu<0>>(e);
  else if constexpr (kind == 1)
    return tg::on<"/cpu:1">(e);
  else if constexpr (kind == 2)
    return tg::on<anywhere>(e);
  else if constexpr (kind == 3)
    return tg::on<tg::cpu<1>>(tg::on<tg::cpu<0>>(e));
  else if constexpr (kind == 4)
    return tg::colocate_with(r)(e);
  else
    return e;
}

/// Node `I` of a graph: an operation over two nodes before it, maybe in a scope.
template <int Seed, int I, class... Before>
auto add_node(const std::tuple<Before...>& before) {
  const auto& a = std::get<draw(Seed, I, 0) % sizeof...(Before)>(before);
  const auto& b = std::get<draw(Seed, I, 1) % sizeof...(Before)>(before);
  constexpr auto kind = draw(Seed, I, 2) % 6;
  if constexpr (kind == 0)
    return maybe_scoped<Seed, I>(tg::tanh(a));
  else if constexpr (kind == 1)
    return maybe_scoped<Seed, I>(tg::cos(a));
  else if constexpr (kind == 2)
    return maybe_scoped<Seed, I>(a + b);
  else if constexpr (kind == 3)
    return maybe_scoped<Seed, I>(a - tg::sin(b));
  else if constexpr (kind == 4)
    return maybe_scoped<Seed, I>(tg::tanh(a) * b);
  else
    return maybe_scoped<Seed, I>(tg::abs(a) + 0.5f);
}

template <int Seed, int I, int Count, class... Before>
auto grow_graph(const std::tuple<Before...>& before) {
  if constexpr (I == Count)
    return before;
  else
    return grow_graph<Seed, I + 1, Count>(std::tuple_cat(before, std::make_tuple(add_node<Seed, I>(before))));
}

/// All nodes of a graph, where some have a value that is given.
template <class Graph>
std::vector<float> work_through(float fed_r, const std::vector<tg::ir::node_id>& fed, float value) {
  const auto& g = Graph::view;
  std::vector<float> v(static_cast<std::size_t>(g.size()));
  for (tg::ir::node_id i = 0; i < g.size(); ++i) {
    float& out = v[static_cast<std::size_t>(i)];
    const auto in = [&](int k) { return v[static_cast<std::size_t>(g.inputs(i)[k])]; };
    const std::string name(g.info(i).name);
    if (std::find(fed.begin(), fed.end(), i) != fed.end())
      out = value;
    else if (name == "placeholder")
      out = fed_r;
    else if (name == "literal")
      out = 0.5f;
    else if (name == "tanh")
      out = std::tanh(in(0));
    else if (name == "cos")
      out = std::cos(in(0));
    else if (name == "sin")
      out = std::sin(in(0));
    else if (name == "abs")
      out = std::abs(in(0));
    else if (name == "add")
      out = in(0) + in(1);
    else if (name == "subtract")
      out = in(0) - in(1);
    else if (name == "multiply")
      out = in(0) * in(1);
    else
      FAIL("an operation that nobody expected: " << name);
  }
  return v;
}

template <int Seed>
void feed_everything() {
  constexpr int count = 8;
  const auto handles = grow_graph<Seed, 0, count>(std::make_tuple(r));
  const auto program =
      std::apply([](const auto&... h) { return tg::compile([=] { return tg::outputs(h...); }); }, handles);
  using graph = typename decltype(program)::graph;
  tg::session session(program, {.cpu_devices = 2});
  const float at = 0.3f;
  const auto fetch_all = std::apply([](const auto&... h) { return tg::fetch(h...); }, handles);
  const auto check = [&](const auto& results, const std::vector<tg::ir::node_id>& fed, float value) {
    const auto expected = work_through<graph>(at, fed, value);
    std::size_t root = 0;
    std::apply(
        [&](const auto&... result) {
          const float values[] = {result...};
          for (const float value_of_root : values)
            CHECK(value_of_root == Approx(expected[static_cast<std::size_t>(graph::view.roots[root++])]).margin(1e-6));
        },
        results);
  };
  check(session.run(fetch_all, r = at), {}, 0);
  const auto plain = work_through<graph>(at, {}, 0);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    const auto feed_one = [&](const auto& h) {
      using id = typename std::remove_cvref_t<decltype(h)>::id;
      std::vector<tg::ir::node_id> nodes;
      for (const auto n : tg::detail::nodes_of_handle<graph, id>::nodes) nodes.push_back(n);
      INFO("seed " << Seed << ", fed nodes " << nodes.size());
      REQUIRE(!nodes.empty());
      // All nodes of one handle have one value.
      for (const auto n : nodes) CHECK(plain[static_cast<std::size_t>(n)] == plain[static_cast<std::size_t>(nodes[0])]);
      check(session.run(fetch_all, h = 7.f, r = at), nodes, 7.f);
      CHECK(session.run(h, h = 7.f) == 7.f);
    };
    (feed_one(std::get<I + 1>(handles)), ...);
  }
  (std::make_index_sequence<count>{});
}

}  // namespace

TEST_CASE("every node of random graphs in scopes is fetched and fed") {
  feed_everything<1>();
  feed_everything<2>();
  feed_everything<3>();
  feed_everything<4>();
}

TEST_CASE("a handle that scopes ask for in two places is fed in both") {
  const auto h = tg::tanh(r);
  const auto a = tg::on<tg::cpu<0>>(h + 1.0f);
  const auto b = tg::on<"/cpu:1">(h * 2.0f);
  tg::session session(tg::compile([=] { return tg::outputs(a, b); }), {.cpu_devices = 2});
  CHECK(session.run(a, h = 10.f) == 11);
  CHECK(session.run(b, h = 10.f) == 20);
  const auto [x_of_a, x_of_b] = session.run(tg::fetch(a, b), h = 3.f);
  CHECK(x_of_a == 4);
  CHECK(x_of_b == 6);
}

TEST_CASE("what is not fed keeps its value beside a fed tensor in a scope") {
  const auto h = tg::on<tg::cpu<0>>(tg::tanh(r));
  const auto b = tg::on<tg::cpu<0>>(tg::exp(r));
  tg::session session(tg::compile([=] { return tg::outputs(h, b); }));
  CHECK(session.run(h, h = 10.f, r = 0.f) == 10);
  CHECK(session.run(b, h = 10.f, r = 0.f) == 1);
}
