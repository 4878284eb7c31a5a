// SPDX-License-Identifier: BSL-1.0
// Programs on two kinds of devices and on CPUs at once.
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "support/errors.hpp"
#include "support/two_kinds.hpp"
#include "tagma/explain.hpp"
#include "tagma/observe/trace.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
namespace fake = tg::device::fake;
using tg::status_code, tg::test::code_of, tg::test::npu_machine, tg::test::text_of;

constexpr auto x = tg::placeholder<"kinds_x", float, tg::dyn, 6>();
constexpr auto y = tg::placeholder<"kinds_y", float, tg::dyn, 3>();

tg::tensor<float> numbers(const tg::shape& dims, std::uint64_t seed = 1) {
  tg::tensor<float> t(dims);
  for (std::size_t i = 0; i < t.size(); ++i)
    t.data()[i] = static_cast<float>(tg::random_block({seed, 1, 0}, i)[0] % 1024) / 512 - 1;
  return t;
}

tg::session_options options_of(int streams = 4, bool graphs = true) {
  return {.seed = 3, .gpu = {.memory_fraction = 1, .allow_growth = true, .streams = streams, .graphs = graphs}};
}

/// A token as std::stop_token is one.
struct flag {
  bool stop_requested() const { return set->load(); }
  const std::atomic<bool>* set;
};

constexpr auto on_gpu = [](auto f) { return tg::on<"/gpu:0">(f); };
constexpr auto on_npu = [](auto f) { return tg::on<"/device:NPU:0">(f); };
constexpr auto on_cpu = [](auto f) { return tg::on<"/cpu:0">(f); };

/// The first layer, the second, and what is behind them, each in a scope.
template <class First, class Second, class Last>
auto net(First first, Second second, Last last) {
  const auto h = first([](const auto& e) { return tg::dropout(tg::dense<"first", 16>(e, tg::relu), 0.25); })(x);
  const auto m = second([](const auto& e) { return tg::dense<"second", 8>(e, tg::tanh); })(h);
  const auto again = first([](const auto& e, const auto& f) { return tg::dense<"third", 8>(e) * f; })(h, m);
  const auto loss =
      last([](const auto& e, const auto& f) { return tg::mean(tg::square(tg::dense<"last", 3>(e) - f)); })(again, y);
  return std::make_tuple(loss, tg::minimize(loss, tg::adam{.learning_rate = 0.05}), m, again);
}

template <class Session>
std::vector<std::vector<std::byte>> bytes_of(Session& session) {
  std::vector<std::vector<std::byte>> all;
  auto& core = session.core();
  for (std::size_t i = 0; i < core.variables().size(); ++i) {
    tg::runtime::aligned_bytes copy;
    const tg::raw_view v = core.variable(i).read(copy);
    const auto* first = static_cast<const std::byte*>(v.data);
    all.emplace_back(first, first + static_cast<std::size_t>(v.dims.elements()) * tg::size_of(v.type));
  }
  return all;
}

TEST_CASE("the program that a session of one kind refused runs") {
  const auto a = tg::on<"/gpu:0">(tg::tanh(x));
  const auto z = on_npu([](const auto& e) { return tg::exp(e); })(a);
  const auto program = tg::compile([=] { return tg::outputs(z); });
  const auto plain = tg::exp(tg::tanh(x));
  tg::session expected(tg::compile([=] { return tg::on<tg::cpu<0>>(tg::outputs(plain)); }));
  const std::string text = tg::explain(program);
  CHECK_THAT(text, Catch::Contains("/device:GPU:0") && Catch::Contains("/device:NPU:0"));
  // From the GPU to the host, from there to the NPU, and what is fetched back to the host.
  using plan = decltype(program)::full_plan;
  int copies = 0;
  for (const auto& step : plan::view.steps) {
    const auto& node = plan::view.nodes[step.node];
    if (node.op != &tg::ir::info<tg::plan::transfer>) continue;
    ++copies;
    const auto& from = plan::view.nodes[plan::view.operands[step.first_operand]];
    CHECK((node.device == 0 || from.device == 0 || from.op->is(tg::ir::op_kind::placeholder)));
  }
  CHECK(copies == 4);
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    fake::machine gpus({.seed = seed, .eager = 0});
    npu_machine npus({.seed = seed + 7, .eager = 0});
    {
      tg::session session(program, options_of(1 + static_cast<int>(seed), seed % 2 == 0));
      for (const tg::extent rows : {5, 5, 5, 1, 0, 5}) {
        const auto in = numbers({rows, 6}, seed + 11);
        CHECK(session.run(z, x = in) == expected.run(plain, x = in));
      }
      CHECK(npus.driver().counts().kernels > 0);
      CHECK(gpus.driver().counts().kernels > 0);
    }
    for (const auto& c : {gpus.driver().counts(), npus.driver().counts()})
      CHECK((c.blocks == 0 && c.streams == 0 && c.events == 0 && c.graphs == 0 && c.pending == 0));
  }
}

TEST_CASE("a net over two kinds of devices and a CPU learns the bytes of the CPU, whatever the order of their work") {
  const auto plain = net(on_cpu, on_cpu, on_cpu);
  const auto spread = net(on_gpu, on_npu, on_cpu);
  const auto train = [](const auto& outputs, const tg::session_options& options) {
    return std::apply(
        [&](const auto&... o) {
          tg::session session(tg::compile([=] { return tg::outputs(o...); }), options);
          std::vector<tg::tensor<float>> seen;
          const auto in = numbers({5, 6}), out = numbers({5, 3}, 2);
          for (int i = 0; i < 5; ++i) {
            const auto results = session.run(tg::fetch(o...), x = in, y = out);
            tg::tensor<float> loss({1});
            loss[0] = std::get<0>(results);
            seen.push_back(loss);
            seen.push_back(std::get<2>(results));
            seen.push_back(std::get<3>(results));
          }
          return std::make_pair(seen, bytes_of(session));
        },
        outputs);
  };
  const auto program =
      std::apply([](const auto&... o) { return tg::compile([=] { return tg::outputs(o...); }); }, spread);
  int on[3] = {};
  for (const auto& v : decltype(tg::session(program))::tables::variables) ++on[v.device];
  CHECK((on[0] >= 6 && on[1] >= 6 && on[2] >= 12));  // of the CPU, the NPU and the GPU, with the slots of adam
  const auto expected = train(plain, options_of());
  CHECK(expected.first.back()[0] != expected.first[2][0]);
  for (std::uint64_t seed = 0; seed < 6; ++seed)
    for (const bool graphs : {false, true}) {
      INFO("seed " << seed << (graphs ? ", with graphs" : ""));
      fake::machine gpus({.seed = seed, .eager = seed % 2 == 0 ? 0 : 64});
      npu_machine npus({.seed = seed + 3, .eager = seed % 3 == 0 ? 0 : 64});
      const auto got = train(spread, options_of(1 + static_cast<int>(seed % 4), graphs));
      CHECK(got == expected);
      for (const auto& c : {gpus.driver().counts(), npus.driver().counts()}) {
        CHECK((c.graphs_launched > 0) == graphs);
        CHECK((c.blocks == 0 && c.streams == 0 && c.events == 0 && c.graphs == 0));
      }
    }
}

TEST_CASE("variables of each kind are read and updated by the other") {
  constexpr auto a = tg::placeholder<"kinds_a", float, 4>();
  const auto v = tg::on<"/gpu:0">(tg::variable<"kinds_v", float, 4>(tg::ones));
  const auto w = tg::on<"/device:NPU:0">(tg::variable<"kinds_w", float, 4>(tg::zeros));
  const auto u = tg::on<"/cpu:0">(tg::variable<"kinds_u", float, 4>(tg::zeros));
  const auto sum = on_npu([](const auto& p, const auto& q) { return p + 2.0f * q; })(v, a);
  const auto to_w = tg::assign_add(w, sum);
  const auto back = on_gpu([](const auto& p, const auto& q) { return p * q; })(to_w, a);
  const auto to_v = tg::assign_add(v, back);
  const auto to_u = tg::assign(u, tg::on<"/cpu:0">(to_w + to_v));
  const auto program = tg::compile([=] { return tg::outputs(to_u, v, w, u, sum); });
  tg::tensor<float> in({4});
  for (tg::extent i = 0; i < 4; ++i) in[i] = 0.5f * static_cast<float>(i) - 0.75f;
  for (const auto kind : {tg::isolation::runs, tg::isolation::variables})
    for (const bool graphs : {false, true}) {
      fake::machine gpus({.seed = 4, .eager = 0});
      npu_machine npus({.seed = 5, .eager = 0});
      const tg::container state(kind);
      tg::session_options options = options_of(2, graphs);
      options.state = state;
      tg::session session(program, options), other(program, options);
      float ev[4] = {1, 1, 1, 1}, ew[4] = {}, eu[4] = {};
      for (int run = 0; run < 4; ++run) {
        auto& one = run % 2 == 0 ? session : other;
        one.run(to_u, a = in);
        for (tg::extent i = 0; i < 4; ++i) {
          ew[i] += ev[i] + 2 * in[i];
          ev[i] += ew[i] * in[i];
          eu[i] = ew[i] + ev[i];
        }
        const auto [got_v, got_w, got_u] = other.run(tg::fetch(v, w, u));
        for (tg::extent i = 0; i < 4; ++i) CHECK((got_v[i] == ev[i] && got_w[i] == ew[i] && got_u[i] == eu[i]));
      }
    }
  // Numbers of devices count those of their type: the NPU of a session that has no GPU is the same.
  fake::machine gpus;
  npu_machine npus;
  const tg::container state;
  tg::session_options options = options_of();
  options.state = state;
  tg::session both(program, options);
  both.run(to_u, a = in);
  const auto twice = on_npu([](const auto& e) { return e + e; })(w);
  tg::session alone(tg::compile([=] { return tg::on<"/device:NPU:0">(tg::outputs(twice)); }), options);
  CHECK(alone.run(twice)[3] == 2 * both.run(w)[3]);
  const auto elsewhere = tg::on<"/gpu:0">(tg::variable<"kinds_w", float, 4>(tg::zeros));
  const auto refused = tg::compile([=] { return tg::outputs(elsewhere); });
  CHECK_THROWS_WITH(tg::session(refused, options),
                    Catch::Contains("'kinds_w' float32 [4] on another device, the program one on its device"));
}

TEST_CASE("threads run steps of two kinds at once") {
  const auto layer = [](const auto& e) { return tg::dense<"of_threads", 8>(e, tg::tanh); };
  const auto there = on_npu(layer)(on_gpu([](const auto& e) { return e * e; })(x));
  const auto back = on_gpu([](const auto& e) { return tg::sum(e); })(there);
  const auto program = tg::compile([=] { return tg::outputs(back); });
  fake::machine gpus({.seed = 6});
  npu_machine npus({.seed = 7});
  const auto in = numbers({7, 6});
  for (const bool graphs : {false, true}) {
    tg::session_options options = options_of(2, graphs);
    options.inter_op_pools = {{.threads = 2}};
    tg::session session(program, options);
    const float expected = session.run(back, x = in);
    std::vector<std::thread> threads;
    std::atomic<int> right{0};
    for (int t = 0; t < 3; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 20; ++i)
          right += (t == 0 ? session.run(back, x = in, tg::on_caller_thread()) : session.run(back, x = in)) == expected;
      });
    for (auto& t : threads) t.join();
    CHECK(right == 60);
  }
}

TEST_CASE("a run that is cancelled while it waits for one kind leaves both as they were") {
  const auto square = [](const auto& e) { return e * e; };
  const auto there = on_npu(square)(on_gpu(square)(x));
  const auto back = on_gpu([](const auto& e) { return tg::sum(e) + 1.0f; })(there);
  const auto program = tg::compile([=] { return tg::outputs(back); });
  fake::machine gpus({.seed = 8, .eager = 0});
  npu_machine npus({.seed = 9, .eager = 0});
  const auto in = numbers({3, 6});
  for (const bool graphs : {false, true}) {
    tg::session session(program, options_of(2, graphs));
    const float expected = session.run(back, x = in);
    for (int k = 0; k < 3; ++k) {
      fake::driver& held = k % 2 == 0 ? npus.driver() : gpus.driver();
      status_code code = status_code::ok;
      // A run that had begun its last step when it was asked to stop may be done before it looks.
      for (int i = 0; i < 100 && code == status_code::ok; ++i) {
        held.hold();
        std::atomic<bool> stop{false};
        const flag token{&stop};
        std::thread run([&] { code = code_of([&] { session.run(back, x = in, tg::stop_with(token)); }); });
        stop = true;
        held.release();
        run.join();
      }
      CHECK(code == status_code::cancelled);
      CHECK(session.run(back, x = in) == expected);
    }
    npus.driver().fail_at(fake::fault::execution, 1);
    CHECK(code_of([&] { session.run(back, x = in); }) == status_code::internal);
    CHECK(session.run(back, x = in) == expected);
    gpus.driver().fail_at(fake::fault::record, 1);
    CHECK(code_of([&] { session.run(back, x = in); }) == status_code::internal);
    CHECK(session.run(back, x = in) == expected);
  }
}

TEST_CASE("each kind has its own memory and its own options") {
  constexpr auto n = tg::placeholder<"kinds_n", float, tg::dyn>();
  const auto first = on_gpu([](const auto& e) { return e + 1.0f; })(n);
  const auto second = on_npu([](const auto& e) { return e * 2.0f; })(first);
  const auto program = tg::compile([=] { return tg::outputs(second); });
  const auto of = [](tg::extent size) { return numbers({size}); };
  {
    fake::machine gpus({.memory = std::int64_t{64} << 20});
    npu_machine npus({.memory = std::int64_t{4} << 20});
    tg::session session(program, options_of());
    CHECK_THAT(text_of([&] { session.run(second, n = of(2 << 20)); }), Catch::Contains("/device:NPU:0"));
    CHECK(session.run(second, n = of(8))[7] == 2 * (of(8)[7] + 1));
  }
  {
    fake::machine gpus({.memory = std::int64_t{4} << 20});
    npu_machine npus({.memory = std::int64_t{64} << 20});
    tg::session session(program, options_of());
    CHECK_THAT(text_of([&] { session.run(second, n = of(2 << 20)); }), Catch::Contains("/device:GPU:0"));
    CHECK(session.run(second, n = of(8))[7] == 2 * (of(8)[7] + 1));
  }
  fake::machine gpus({.devices = 2});
  npu_machine npus;
  tg::session_options options = options_of();
  options.gpu.visible_devices = {1, 0};  // which are none of the NPU
  CHECK(code_of([&] { tg::session(program, options); }) == status_code::invalid_argument);
  options.kinds = {{"NPU", {.memory_fraction = 0.5, .memory_cap = 1 << 20, .streams = 1}}};
  {
    tg::session session(program, options);
    CHECK(session.run(second, n = of(8))[7] == 2 * (of(8)[7] + 1));
    CHECK_THAT(text_of([&] { session.run(second, n = of(1 << 20)); }), Catch::Contains("/device:NPU:0"));
  }
  options.kinds = {{"TPU", {}}};
  CHECK_THROWS_WITH(tg::session(program, options),
                    Catch::Contains("options of devices of type \"TPU\", which the program does not know"));
  // The second driver does not reach what the first pins.
  options = options_of();
  npus.driver().fail_at(fake::fault::pinned_allocation, 1);
  {
    tg::session session(program, options);
    CHECK(session.run(second, n = of(8))[7] == 2 * (of(8)[7] + 1));
  }
  CHECK(npus.driver().counts().blocks == 0);
  CHECK(gpus.driver().counts().blocks == 0);
}

TEST_CASE("a kind of which the machine has no device is replaced where the program may") {
  const auto square = [](const auto& e) { return e * e; };
  const auto there = on_npu(square)(on_gpu(square)(x));
  const auto program = tg::compile([=] { return tg::outputs(there); });
  const auto in = numbers({3, 6});
  const float squared = in.data()[4] * in.data()[4];
  for (int k = 0; k < 3; ++k) {
    fake::machine gpus({.devices = k == 1 ? 1 : 0});
    npu_machine npus({.devices = k == 2 ? 1 : 0});
    tg::session_options options = options_of();
    CHECK_THROWS_WITH(tg::session(program, options), Catch::Contains("Cannot assign a device for operation"));
    options.allow_soft_placement = true;
    tg::session session(program, options);
    for (int run = 0; run < 3; ++run) CHECK(session.run(there, x = in).data()[4] == squared * squared);
    CHECK((gpus.driver().counts().kernels + gpus.driver().counts().graphs_launched > 0) == (k == 1));
    CHECK((npus.driver().counts().kernels + npus.driver().counts().graphs_launched > 0) == (k == 2));
  }
}

TEST_CASE("a timeline has the queues of both kinds") {
  const auto square = [](const auto& e) { return e * e; };
  const auto there = on_npu(square)(on_gpu(square)(x));
  const auto program = tg::compile([=] { return tg::outputs(there); });
  fake::machine gpus;
  npu_machine npus;
  tg::session session(program, options_of());
  tg::trace timeline;
  const auto in = numbers({3, 6});
  session.run(there, x = in, tg::trace_to(timeline));
  session.run(there, x = in);
  const std::string text = timeline.json();
  for (const char* part : {"GPU:0", "NPU:0", "kernels 0", "copies from the host", "copies to the host"})
    CHECK_THAT(text, Catch::Contains(part));
}

}  // namespace
