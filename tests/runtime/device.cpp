// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/device.hpp"

#include <catch2/catch.hpp>
#include <chrono>

#include "support/errors.hpp"
#include "tagma/explain.hpp"
#include "tagma/tagma.hpp"

using tagma::test::text_of;

namespace {

namespace tg = tagma;
using Catch::Contains;

constexpr auto x = tg::placeholder<"x", float, 6, 3>();
constexpr auto y = tg::placeholder<"y", float, 6, 2>();

tg::tensor<float> numbers(const tg::shape& dims, float first) {
  tg::tensor<float> t(dims);
  for (std::size_t i = 0; i < t.size(); ++i) t.data()[i] = first + static_cast<float>(i) / 8;
  return t;
}

template <class Session>
std::vector<float> variables_of(Session& session) {
  std::vector<float> all;
  for (std::size_t i = 0; i < session.core().variables().size(); ++i) {
    const tg::raw_view v = session.core().variable(i).view();
    if (v.type != tg::dtype::float32) continue;
    const auto* first = static_cast<const float*>(v.data);
    all.insert(all.end(), first, first + v.dims.elements());
  }
  return all;
}

}  // namespace

TEST_CASE("a device that is missing is told before the first step") {
  const auto two = tg::compile([] { return tg::outputs(tg::on<"/cpu:2">(tg::exp(x))); });
  const auto one = tg::compile([] { return tg::outputs(tg::on<"/cpu:1">(tg::exp(x))); });
  const std::string text = text_of([&] { tg::session session(two, {.cpu_devices = 2}); });
  CHECK_THAT(text, Contains("InvalidArgument") && Contains("Cannot assign a device for operation 'exp #1'") &&
                       Contains("explicitly assigned to /job:localhost/replica:0/task:0/device:CPU:2") &&
                       Contains("[ /job:localhost/replica:0/task:0/device:CPU:0, "
                                "/job:localhost/replica:0/task:0/device:CPU:1 ]"));
  tg::session session(one, {.cpu_devices = 2});
  CHECK(session.run(tg::on<"/cpu:1">(tg::exp(x)), x = tg::tensor<float>(tg::shape{6, 3})).data()[0] == 1);
}

TEST_CASE("a session has a CPU device") {
  const auto program = tg::compile([] { return tg::outputs(tg::exp(x)); });
  CHECK_THAT(text_of([&] { tg::session session(program, {.cpu_devices = 0}); }),
             Contains("InvalidArgument: the option cpu_devices is 0; a session has at least one"));
}

TEST_CASE("the processors are divided among the CPU devices, each has one at least") {
  const auto program = tg::compile([] { return tg::outputs(tg::exp(x)); });
  const int all = tg::runtime::available_threads();
  for (const int devices : {1, 2, all + 1}) {
    tg::session session(program, {.cpu_devices = devices});
    CHECK(session.core().threads().threads() == (all + devices - 1) / devices);
  }
  tg::session given(program, {.intra_op_threads = 3, .cpu_devices = 2});
  CHECK(given.core().threads().threads() == 3);
}

TEST_CASE("options that make no sense are told by name") {
  const auto program = tg::compile([] { return tg::outputs(tg::exp(x)); });
  const auto told = [&](const tg::session_options& options) {
    return text_of([&] { tg::session session(program, options); });
  };
  CHECK(told({.intra_op_threads = -3}) ==
        "InvalidArgument: the option intra_op_threads is -3; 0 stands for all threads that the process may use");
  CHECK(told({.inter_op_threads = -1}) ==
        "InvalidArgument: the option inter_op_threads is -1; 0 stands for as many as intra_op_threads");
  CHECK_THAT(told({.intra_op_threads = -3, .cpu_devices = 2}), Contains("intra_op_threads is -3"));
  CHECK_THAT(told({.inter_op_threads = -1, .inter_op_pools = {{.threads = 1}}}), Contains("inter_op_threads is -1"));
  CHECK_THAT(told({.inter_op_pools = {{.threads = 1}, {.threads = -7}}}),
             Contains("the option inter_op_pools asks for a pool of -7 threads"));
  CHECK_THAT(told({.operation_timeout = std::chrono::milliseconds(-5)}),
             Contains("the option operation_timeout in ns is -5000000; 0 stands for no limit"));
  CHECK(told({.inter_op_threads = 1, .operation_timeout = std::chrono::hours::max()}) == "");
}

TEST_CASE("a program with several devices that cannot be placed is explained, and its runs are refused") {
  const auto e = tg::on<"/gpu:0">(tg::exp(x)) + tg::on<tg::cpu<1>>(tg::tanh(x));
  const auto program = tg::compile([=] { return tg::outputs(e); });
  CHECK_THAT(tg::explain(program), Contains("/device:CPU:0, but what is asked for cannot be had"));
  using graph = decltype(program)::graph;
  using check = tg::detail::run_check<graph, decltype(x = numbers({6, 3}, 0))>;
  STATIC_REQUIRE_FALSE(tg::diagnose::has_kernels_there<check::fault<decltype(e)>>);
}

TEST_CASE("a view is where its bytes are, whatever it is asked for") {
  const auto turned = tg::on<tg::cpu<1>>([](auto m) { return tg::reshape<3, 6>(m); })(tg::on<tg::cpu<0>>(tg::exp(x)));
  const auto program = tg::compile([=] { return tg::outputs(turned); });
  CHECK_THAT(tg::explain(program), Contains("/device:CPU:0, with its input"));
}

TEST_CASE("soft placement puts up with a missing device") {
  const auto e = tg::on<"/cpu:7">(tg::exp(x));
  const auto program = tg::compile([=] { return tg::outputs(e); });
  tg::session session(program, {.allow_soft_placement = true});
  CHECK(session.run(e, x = tg::tensor<float>(tg::shape{6, 3})).data()[0] == 1);
  CHECK(&session.core().devices()[1] == &session.core().devices()[0]);
}

TEST_CASE("a program that is placed softly may ask for a device type that it does not know") {
  const auto e = tg::on<"/gpu:0">(tg::exp(x));
  const auto program = tg::compile([=] { return tg::outputs(e); }, tg::soft_placement);
  CHECK_THAT(tg::explain(program), Contains("/device:CPU:0, instead of what is asked for"));
  tg::session session(program);
  CHECK(session.run(e, x = tg::tensor<float>(tg::shape{6, 3})).data()[0] == 1);
}

TEST_CASE("a net cut in two trains to the same bytes as a whole one") {
  const auto net = [](auto first, auto second) {
    const auto h = first(tg::tanh(tg::dense<"h", 5>(x)));
    const auto loss = second(tg::mean(tg::square(tg::dense<"o", 2>(h) - y)));
    return std::pair(loss, tg::minimize(loss, tg::adam{.learning_rate = 0.05}));
  };
  const auto whole = net([](auto e) { return e; }, [](auto e) { return e; });
  const auto cut = net([](auto e) { return tg::on<tg::cpu<1>>(e); }, [](auto e) { return tg::on<tg::cpu<0>>(e); });
  const auto one = tg::compile([=] { return tg::outputs(whole.first, whole.second); });
  const auto two = tg::compile([=] { return tg::outputs(cut.first, cut.second); });
  const auto train = [](const auto& program, const auto& pair, const tg::session_options& options) {
    tg::session session(program, options);
    for (int i = 0; i < 5; ++i) session.run(pair.second, x = numbers({6, 3}, -1), y = numbers({6, 2}, 0));
    auto all = variables_of(session);
    all.push_back(session.run(pair.first, x = numbers({6, 3}, -1), y = numbers({6, 2}, 0)));
    return all;
  };
  const auto expected = train(one, whole, {.seed = 3});
  CHECK(train(two, cut, {.seed = 3, .cpu_devices = 2}) == expected);
  CHECK(train(two, cut, {.seed = 3, .intra_op_threads = 1, .inter_op_threads = 2, .cpu_devices = 2}) == expected);
  CHECK(train(two, cut, {.seed = 3, .intra_op_threads = 2, .inter_op_threads = 1, .cpu_devices = 3}) == expected);
  CHECK(train(two, cut, {.seed = 3, .allow_soft_placement = true}) == expected);
}

TEST_CASE("a variable is read on another device as it was before an update, and as it is after") {
  const auto v = tg::on<tg::cpu<0>>(tg::variable<"v", float, 4>(tg::zeros));
  const auto before = tg::on<tg::cpu<1>>(2.0f * v);
  const auto update = tg::assign_add(v, before + 1.0f);
  const auto after = tg::after(update)(tg::on<tg::cpu<1>>(v * 10.0f));
  const auto program = tg::compile([=] { return tg::outputs(before, update, after); });
  using plan = decltype(program)::full_plan;
  int transfers = 0;
  for (const auto& step : plan::steps) transfers += plan::nodes[step.node].op == &tg::ir::info<tg::plan::transfer>;
  CHECK(transfers == 3);  // the variable twice, and what is added to it
  for (const int inter : {1, 2}) {
    tg::session session(program, {.intra_op_threads = 1, .inter_op_threads = inter, .cpu_devices = 2});
    for (float value = 0; value < 50; value = 3 * value + 1) {
      const auto [b, u, a] = session.run(tg::fetch(before, update, after));
      CHECK(b.data()[3] == 2 * value);
      CHECK(u.data()[3] == 3 * value + 1);
      CHECK(a.data()[3] == 10 * (3 * value + 1));
    }
  }
}

TEST_CASE("an error names the device of its operation") {
  const auto ids = tg::placeholder<"ids", std::int32_t, 2>();
  const auto rows = tg::on<tg::cpu<1>>(tg::gather(x, ids));
  const auto program = tg::compile([=] { return tg::outputs(rows); });
  tg::session session(program, {.cpu_devices = 2});
  const std::vector<std::int32_t> wrong{0, 6};
  CHECK_THAT(text_of([&] {
               session.run(rows, x = numbers({6, 3}, 0), ids = wrong);
             }),
             Contains("gather #") && Contains(" on /device:CPU:1 of float32 [6, 3] and int32 [2]"));
}

TEST_CASE("replicas on two devices train like one device with the whole batch") {
  constexpr auto variables_first = [](tg::op_info op) { return op.is_variable ? "/cpu:0" : ""; };
  const auto loss_of = [](auto rows, auto labels) {
    return tg::mean(tg::square(tg::dense<"o", 2>(tg::tanh(tg::dense<"h", 5>(rows))) - labels));
  };
  const auto whole = loss_of(x, y);
  const auto train = tg::minimize(whole, tg::sgd{.learning_rate = 0.2});
  const auto first = tg::on<tg::cpu<0>>(
      tg::on<variables_first>(loss_of(tg::slice<tg::range{0, 3}>(x), tg::slice<tg::range{0, 3}>(y))));
  const auto second =
      tg::on<tg::cpu<1>>(tg::on<variables_first>(loss_of(tg::slice<tg::range{3}>(x), tg::slice<tg::range{3}>(y))));
  const auto replicated = tg::minimize((first + second) / 2.0f, tg::sgd{.learning_rate = 0.2});
  const auto one = tg::compile([=] { return tg::outputs(train); });
  const auto two = tg::compile([=] { return tg::outputs(replicated); });
  tg::session a(one, {.seed = 9});
  tg::session b(two, {.seed = 9, .intra_op_threads = 1, .inter_op_threads = 2, .cpu_devices = 2});
  for (int i = 0; i < 20; ++i) {
    a.run(train, x = numbers({6, 3}, -1), y = numbers({6, 2}, 0));
    b.run(replicated, x = numbers({6, 3}, -1), y = numbers({6, 2}, 0));
  }
  const auto expected = variables_of(a), found = variables_of(b);
  REQUIRE(expected.size() == found.size());
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(found[i] == Approx(expected[i]).margin(1e-5));
}
