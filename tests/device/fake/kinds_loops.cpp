// SPDX-License-Identifier: BSL-1.0
// Loops, extents that kernels find, and steps that wait, in plans on two kinds of devices.
#include <catch2/catch.hpp>
#include <vector>

#include "support/two_kinds.hpp"
#include "tagma/control_flow.hpp"
#include "tagma/filter.hpp"
#include "tagma/queues.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
namespace fake = tg::device::fake;
using tg::test::npu_machine;

constexpr auto x = tg::placeholder<"kinds_of_loops_x", float, tg::dyn, 3>();
constexpr auto m = tg::placeholder<"kinds_of_loops_m", bool, tg::dyn>();
constexpr auto s = tg::placeholder<"kinds_of_loops_s", float, 5, 2, 3>();

constexpr auto h0 = tg::placeholder<"kinds_of_loops_h", float, 2, 3>();

constexpr auto on_gpu = [](auto f) { return tg::on<"/gpu:0">(f); };
constexpr auto on_npu = [](auto f) { return tg::on<"/device:NPU:0">(f); };
constexpr auto on_cpu = [](auto f) { return tg::on<"/cpu:0">(f); };

tg::tensor<float> numbers(const tg::shape& dims, float first) {
  tg::tensor<float> all(dims);
  for (std::size_t i = 0; i < all.size(); ++i) all.data()[i] = first + 0.25f * static_cast<float>(i % 13);
  return all;
}
const tg::tensor<float> zeros = [] {
  tg::tensor<float> all({2, 3});
  for (float& e : all.span()) e = 0;
  return all;
}();
tg::tensor<bool> mask(tg::extent n, unsigned bits) {
  tg::tensor<bool> all({n});
  for (tg::extent i = 0; i < n; ++i) all.data()[i] = ((bits >> i) & 1) != 0;
  return all;
}

tg::session_options options_of(int streams, bool graphs) {
  return {.seed = 3, .gpu = {.memory_fraction = 1, .allow_growth = true, .streams = streams, .graphs = graphs}};
}

auto program_of(const auto& outputs) {
  return std::apply([](const auto&... o) { return tg::compile([=] { return tg::outputs(o...); }); }, outputs);
}

/// Rows that one kind keeps, products of the other, rows that that keeps.
template <class First, class Second>
auto found(First first, Second second) {
  const auto kept = first([](const auto& a, const auto& b) { return tg::boolean_mask(a, b); })(x, m);
  const auto guess = second([](const auto& a) {
    return tg::tanh(tg::matmul(a, tg::variable<"found", float, 3, 2>(tg::glorot_uniform)));
  })(kept);
  const auto again = second([](const auto& a) { return tg::boolean_mask(a, tg::sum<-1>(a) > 0.0f); })(guess);
  const auto rest = first([](const auto& a, const auto& b) { return tg::sum(a) + tg::sum(b); })(again, kept);
  return std::make_tuple(kept, guess, again, rest, tg::minimize(rest, tg::sgd{.learning_rate = 0.125}));
}

TEST_CASE("extents that one kind of device finds are those of the other") {
  const auto plain = found(on_cpu, on_cpu);
  const auto spread = found(on_gpu, on_npu);
  const auto of_cpu = program_of(plain);
  const auto program = program_of(spread);
  for (const bool graphs : {false, true}) {
    fake::machine gpus({.seed = graphs ? 1u : 2u, .eager = 0});
    npu_machine npus({.seed = graphs ? 3u : 4u, .eager = 0});
    tg::session expected(of_cpu, options_of(1, false));
    tg::session session(program, options_of(3, graphs));
    for (const unsigned bits : {0b1011u, 0b1011u, 0b1011u, 0b0000u, 0b1111u, 0b1011u, 0b0100u}) {
      const auto at = numbers({4, 3}, -1.25f);
      const auto chosen = mask(4, bits);
      const auto run = [&](auto& in, const auto& outputs) {
        return std::apply([&](const auto&... o) { return in.run(tg::fetch(o...), x = at, m = chosen); }, outputs);
      };
      const auto want = run(expected, plain);
      const auto got = run(session, spread);
      CHECK(std::get<0>(got) == std::get<0>(want));
      CHECK(std::get<1>(got) == std::get<1>(want));
      CHECK(std::get<2>(got) == std::get<2>(want));
      CHECK(std::get<3>(got) == std::get<3>(want));
    }
  }
}

/// A loop whose body is on two kinds, over `in`; and its gradient.
template <class First, class Second>
auto looped(First first, Second second, const auto& in) {
  const auto [last, all] = tg::scan(tg::carry(h0), tg::over(in), [=](const auto& h, const auto& e) {
    const auto a = second([](const auto& p, const auto& q) {
      return tg::tanh(tg::matmul(p, tg::variable<"looped", float, 3, 3>(tg::glorot_uniform)) + q);
    })(e, h);
    const auto n = first([](const auto& p, const auto& q) { return tg::tanh(p * 0.5f + q); })(a, h);
    return tg::next(n).emit(n * a);
  });
  const auto loss = first([](const auto& p, const auto& q) { return tg::sum(p * p) + tg::sum(q); })(last, all);
  return std::make_tuple(loss, last, all, tg::minimize(loss, tg::sgd{.learning_rate = 0.125}));
}

TEST_CASE("the body of a loop is on two kinds of devices, and so is its gradient") {
  const auto plain = looped(on_cpu, on_cpu, s);
  const auto spread = looped(on_gpu, on_npu, s);
  const auto of_cpu = program_of(plain);
  const auto program = program_of(spread);
  for (const bool graphs : {false, true}) {
    fake::machine gpus({.seed = graphs ? 1u : 2u, .eager = 0});
    npu_machine npus({.seed = graphs ? 3u : 4u, .eager = 0});
    tg::session expected(of_cpu, options_of(1, false));
    tg::session session(program, options_of(3, graphs));
    for (int i = 0; i < 4; ++i) {
      const auto in = numbers({5, 2, 3}, -1.5f);
      const auto run = [&](auto& on, const auto& outputs) {
        return std::apply([&](const auto&... o) { return on.run(tg::fetch(o...), s = in, h0 = zeros); }, outputs);
      };
      const auto want = run(expected, plain);
      const auto got = run(session, spread);
      CHECK(std::get<0>(got) == std::get<0>(want));
      CHECK(std::get<1>(got) == std::get<1>(want));
      CHECK(std::get<2>(got) == std::get<2>(want));
    }
  }
}

TEST_CASE("what comes out of a queue goes through loops on two kinds of devices") {
  constexpr tg::queue_of<"kinds_of_loops", tg::queue_options{.capacity = 8}, tg::spec<float, 5, 2, 3>> sequences;
  const auto plain = looped(on_cpu, on_cpu, s);
  const auto spread = looped(on_gpu, on_npu, tg::dequeue(sequences));
  const auto of_cpu = program_of(plain);
  const auto program = program_of(spread);
  for (const bool pooled : {false, true}) {
    fake::machine gpus({.seed = pooled ? 5u : 6u, .eager = 0});
    npu_machine npus({.seed = pooled ? 7u : 8u, .eager = 0});
    const tg::container state;
    tg::session_options options = options_of(2, true);
    options.state = state;
    if (pooled) options.inter_op_pools = {{.threads = 3}};
    tg::session expected(of_cpu, options_of(1, false));
    tg::session session(program, options);
    const tg::queue<tg::spec<float, 5, 2, 3>> into(state, "kinds_of_loops", sequences.options);
    for (int i = 0; i < 4; ++i) {
      const auto in = numbers({5, 2, 3}, -1.5f + static_cast<float>(i));
      into.enqueue(in);
      const auto want =
          std::apply([&](const auto&... o) { return expected.run(tg::fetch(o...), s = in, h0 = zeros); }, plain);
      const auto got = std::apply([&](const auto&... o) { return session.run(tg::fetch(o...), h0 = zeros); }, spread);
      CHECK(std::get<0>(got) == std::get<0>(want));
      CHECK(std::get<1>(got) == std::get<1>(want));
      CHECK(std::get<2>(got) == std::get<2>(want));
    }
  }
}

/// Elements on one kind say how often a body on the other is done.
template <class First, class Second>
auto doubled(First first, Second second) {
  const auto begin = first([](const auto& a) { return tg::sum(a) + 1.0f; })(x);
  const auto [end] = tg::while_loop<20>(
      tg::carry(begin), [=](const auto& v) { return second([](const auto& a) { return a * a < 1000.0f; })(v); },
      [=](const auto& v) { return tg::next(first([](const auto& a) { return a * 2.0f + 1.0f; })(v)); });
  const auto last = end;
  return std::make_tuple(last);
}

TEST_CASE("elements on one kind of device decide how often the other does a body") {
  const auto plain = doubled(on_cpu, on_cpu);
  const auto spread = doubled(on_gpu, on_npu);
  tg::session expected(program_of(plain), options_of(1, false));
  const auto program = program_of(spread);
  fake::machine gpus({.seed = 9, .eager = 0});
  npu_machine npus({.seed = 10, .eager = 0});
  tg::session session(program, options_of(2, true));
  for (const float first : {0.0f, 1.0f, -1.5f, 40.0f, 0.0f}) {
    const auto in = numbers({2, 3}, first);
    CHECK(session.run(std::get<0>(spread), x = in) == expected.run(std::get<0>(plain), x = in));
  }
}

}  // namespace
