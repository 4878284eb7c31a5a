// SPDX-License-Identifier: BSL-1.0
#include "tagma/nn/repeat.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "support/gradient_check.hpp"
#include "support/temporary_directory.hpp"
#include "tagma/control_flow.hpp"
#include "tagma/explain.hpp"
#include "tagma/tagma.hpp"
#include "tagma/train/save.hpp"

namespace tg = tagma;

namespace {

constexpr tg::extent width = 6;
constexpr auto x = tg::placeholder<"x", float, tg::dyn, width>();
constexpr auto y = tg::placeholder<"y", float, tg::dyn, width>();

constexpr auto residual = [](const auto& h) { return tg::dense<"layer", width>(h, tg::tanh) + 0.5f * h; };
constexpr auto wide = [](const auto& h) {
  const auto inner = tg::scope<"inner">([](const auto& e) { return tg::dense<"up", 9>(e, tg::relu); })(h);
  return h + tg::dense<"down", width>(tg::layer_norm<"norm">(inner));
};

tg::tensor<float> numbers(const tg::shape& dims, std::uint64_t seed = 1) {
  tg::tensor<float> t(dims);
  for (std::size_t i = 0; i < t.size(); ++i)
    t.data()[i] = static_cast<float>(tg::random_block({seed, 1, 0}, i)[0] % 1024) / 512 - 1;
  return t;
}

/// The elements of every variable of a session, by their names.
using state = std::map<std::string, std::vector<float>>;
template <class Session>
state state_of(Session& session) {
  state all;
  auto& core = session.core();
  for (std::size_t i = 0; i < core.variables().size(); ++i) {
    const tg::raw_view v = core.variable(i).view();
    if (v.type != tg::dtype::float32) continue;
    const auto* const first = static_cast<const float*>(v.data);
    all[std::string(core.variable(i).name())] = {first, first + v.dims.elements()};
  }
  return all;
}

/// Trains a while; the losses, and what became of the variables.
struct trained {
  std::vector<float> losses;
  state variables;
  bool operator==(const trained&) const = default;
};
template <class Out, class Optimizer, class... Clip>
trained train(const Out& out, const Optimizer& optimizer, const tg::session_options& options, const Clip&... clip) {
  const auto loss = tg::mean(tg::square(out - y));
  const auto step = tg::minimize(loss, optimizer, clip...);
  const auto program = tg::compile([=] { return tg::outputs(loss, step); });
  tg::session session(program, options);
  trained result;
  for (const tg::extent rows : {5, 5, 3, 5})
    result.losses.push_back(
        std::get<0>(session.run(tg::fetch(loss, step), x = numbers({rows, width}), y = numbers({rows, width}, 2))));
  result.variables = state_of(session);
  return result;
}
void check_close(const trained& a, const trained& b) {
  REQUIRE(a.variables.size() == b.variables.size());
  for (const auto& [name, values] : a.variables) {
    INFO(name);
    REQUIRE(b.variables.count(name) == 1);
    for (std::size_t i = 0; i < values.size(); ++i)
      CHECK(values[i] == Approx(b.variables.at(name)[i]).epsilon(1e-4).margin(1e-6));
  }
}

TEST_CASE("a loop of blocks learns the bytes that the blocks learn where they are written out") {
  const auto loop = tg::repeat<"block", 11>(residual)(x);
  const auto written = tg::repeat<"block", 11>(residual, tg::unrolled)(x);
  const auto by_hand = tg::scope<"block_1">(residual)(tg::scope<"block_0">(residual)(x));
  const tg::adam adam{.learning_rate = 0.01};
  const trained expected = train(written, adam, {.seed = 3});
  CHECK(expected.variables.count("block_10/layer/kernel") == 1);
  CHECK(expected.variables.count("block_10/layer/kernel/adam_m") == 1);
  CHECK(expected.losses[3] != expected.losses[0]);
  CHECK(train(loop, adam, {.seed = 3}) == expected);
  CHECK(train(loop, adam, {.seed = 3, .intra_op_threads = 2}) == expected);
  CHECK(train(tg::repeat<"block", 2>(residual)(x), adam, {.seed = 4}) == train(by_hand, adam, {.seed = 4}));
  CHECK(train(tg::repeat<"block", 1>(residual)(x), adam, {}) == train(tg::scope<"block_0">(residual)(x), adam, {}));
  const tg::container shared(tg::isolation::variables), other(tg::isolation::variables);
  CHECK(train(loop, adam, {.seed = 3, .state = shared}) == expected);
  CHECK(train(written, adam, {.seed = 3, .state = other}) == expected);
}

TEST_CASE("blocks of several layers, with scopes inside and around, clipped by a norm of all gradients") {
  const auto around = [](const auto& e) { return tg::dense<"head", width>(tg::repeat<"block", 4>(wide)(e)); };
  const auto written = [](const auto& e) {
    return tg::dense<"head", width>(tg::repeat<"block", 4>(wide, tg::unrolled)(e));
  };
  const tg::sgd sgd{.learning_rate = 0.1};
  const trained a = train(tg::scope<"net">(around)(x), sgd, {.seed = 5}, tg::clip_by_global_norm(0.1f));
  const trained b = train(tg::scope<"net">(written)(x), sgd, {.seed = 5}, tg::clip_by_global_norm(0.1f));
  CHECK(b.variables.count("net/block_3/inner/up/kernel") == 1);
  CHECK(b.variables.count("net/head/kernel") == 1);
  check_close(a, b);  // the norm adds up in another order
  check_close(train(tg::on<tg::cpu<0>>(tg::scope<"net">(around)(x)), sgd, {.seed = 5}, tg::clip_by_global_norm(0.1f)),
              b);
}

TEST_CASE("both forms share their variables in one program") {
  const auto loop = tg::repeat<"block", 3>(residual)(x);
  const auto written = tg::repeat<"block", 3>(residual, tg::unrolled)(x);
  const auto loss = tg::mean(tg::square(loop - y));
  const auto step = tg::minimize(loss, tg::sgd{.learning_rate = 0.1});
  const auto second = tg::variable<"block_1/layer/kernel", float, width, width>(tg::glorot_uniform);
  const auto program = tg::compile([=] { return tg::outputs(loop, written, step, second); });
  tg::session session(program, {.seed = 6});
  const auto in = numbers({4, width}), to = numbers({4, width}, 2);
  CHECK(session.core().variables().size() == 7);  // and the step
  const auto before = session.run(second);
  for (int i = 0; i < 3; ++i) {
    CHECK(session.run(loop, x = in) == session.run(written, x = in));
    session.run(step, x = in, y = to);
  }
  CHECK_FALSE(session.run(second) == before);
  // Within a run, reads come before updates, in the iterations of a loop as elsewhere.
  const auto [a, b] = session.run(tg::fetch(written, step), x = in, y = to);
  const auto [c, d, e] = session.run(tg::fetch(loop, step, written), x = in, y = to);
  CHECK(c == e);
  CHECK_FALSE(a == c);
}

TEST_CASE("an update of one block's variable waits for the loop that reads it") {
  const auto loop = tg::repeat<"block", 3>(residual)(x);
  const auto last = tg::variable<"block_2/layer/bias", float, width>(tg::zeros);
  const auto update = tg::assign_add(last, tg::ones_like(last));
  const auto behind = tg::after(update)(tg::repeat<"block", 3>(residual)(x) * 1.0f);
  const auto program = tg::compile([=] { return tg::outputs(loop, update, behind); });
  tg::session session(program, {.seed = 6});
  const auto in = numbers({4, width});
  const auto first = session.run(loop, x = in);
  const auto [same, updated] = session.run(tg::fetch(loop, update), x = in);
  CHECK(same == first);
  CHECK(updated[0] == 1);
  CHECK_FALSE(session.run(loop, x = in) == first);
}

TEST_CASE("one form restores what the other has saved") {
  const auto loop = tg::repeat<"block", 12>(residual)(x);
  const auto written = tg::repeat<"block", 12>(residual, tg::unrolled)(x);
  const auto program = tg::compile([=] { return tg::outputs(loop); });
  const auto other = tg::compile([=] { return tg::outputs(written); });
  const tg::test::temporary_directory directory;
  const std::string file = (directory.path / "blocks.safetensors").string();
  const auto in = numbers({4, width});
  tg::session a(program, {.seed = 1});
  tg::session b(other, {.seed = 2});
  CHECK_FALSE(a.run(loop, x = in) == b.run(written, x = in));
  tg::save(a, file);
  tg::restore(b, file);
  CHECK(a.run(loop, x = in) == b.run(written, x = in));
}

TEST_CASE("each block draws numbers of its own, the same for the same seed") {
  const auto drop = [](const auto& h) { return tg::dropout(h, 0.5); };
  const auto noise = [](const auto& h) { return h + tg::random_uniform<float, width>(); };
  const auto dropped = tg::repeat<"drop", 2>(drop)(x);
  const auto noisy = tg::repeat<"noise", 2>(noise)(x);
  const auto once = tg::scope<"noise">(noise)(x);
  const auto program = tg::compile([=] { return tg::outputs(dropped, noisy, once); });
  tg::tensor<float> ones({200, width});
  for (tg::extent i = 0; i < 200 * width; ++i) ones[i] = 1;
  tg::session a(program, {.seed = 7});
  tg::session b(program, {.seed = 7});
  const auto found = a.run(dropped, x = ones);
  CHECK(found == b.run(dropped, x = ones));
  int kept = 0;
  for (tg::extent i = 0; i < 200 * width; ++i) kept += found[i] != 0;
  CHECK(kept < 200 * width * 35 / 100);  // a quarter, and half if both blocks dropped the same
  const auto sum = a.run(noisy, x = ones);
  bool same = true;  // twice the same number
  for (tg::extent i = 1; i < width; ++i) same = same && sum[i] - 1 == Approx(2 * (a.run(once, x = ones)[i] - 1));
  CHECK_FALSE(same);
  CHECK(sum(0, 0) == sum(1, 0));
}

TEST_CASE("operands behind the first are the same for all blocks, and a block may carry several") {
  const auto shared = tg::dense<"shared", width>(x);
  const auto mixed = [](const auto& h, const auto& with) { return tg::dense<"layer", width>(h * with, tg::tanh); };
  const auto both = [](const auto& h, const auto& c, const auto& with) {
    return std::tuple(tg::dense<"layer", width>(h + with, tg::tanh), c + h);
  };
  const trained a = train(tg::repeat<"mixed", 3>(mixed)(x, shared), tg::sgd{.learning_rate = 0.1}, {.seed = 8});
  const trained b =
      train(tg::repeat<"mixed", 3>(mixed, tg::unrolled)(x, shared), tg::sgd{.learning_rate = 0.1}, {.seed = 8});
  CHECK(a.variables.size() == 8);
  check_close(a, b);  // what flows into the operand adds up in another order
  const auto [h, c] = tg::repeat<"both", 3>(both)(x, 0.0f * x, shared);
  const auto [i, d] = tg::repeat<"both", 3>(both, tg::unrolled)(x, 0.0f * x, shared);
  check_close(train(h * c, tg::sgd{.learning_rate = 0.1}, {.seed = 8}),
              train(i * d, tg::sgd{.learning_rate = 0.1}, {.seed = 8}));
  // What a block hands on as it is.
  const auto swap = [](const auto& e, const auto& f) { return std::tuple(f, e); };
  const auto [first, second] = tg::repeat<"swap", 3>(swap)(x, shared);
  const auto swapped = first;
  const auto program = tg::compile([=] { return tg::outputs(swapped, shared); });
  tg::session session(program, {.seed = 9});
  const auto in = numbers({4, width});
  CHECK(session.run(swapped, x = in) == session.run(shared, x = in));
}

TEST_CASE("blocks of blocks, and blocks with loops inside") {
  const auto outer = [](const auto& h) { return tg::dense<"top", width>(tg::repeat<"inner", 3>(residual)(h)); };
  const auto written = [](const auto& h) {
    return tg::dense<"top", width>(tg::repeat<"inner", 3>(residual, tg::unrolled)(h));
  };
  const tg::sgd sgd{.learning_rate = 0.1};
  const trained expected = train(tg::repeat<"outer", 2>(written, tg::unrolled)(x), sgd, {.seed = 8});
  CHECK(expected.variables.count("outer_1/inner_2/layer/kernel") == 1);
  CHECK(expected.variables.size() == 16);
  CHECK(train(tg::repeat<"outer", 2>(outer)(x), sgd, {.seed = 8}) == expected);
  CHECK(train(tg::repeat<"outer", 2>(written)(x), sgd, {.seed = 8}) == expected);
  CHECK(train(tg::repeat<"outer", 2>(outer, tg::unrolled)(x), sgd, {.seed = 8}) == expected);
  const auto steps = [](const auto& h) {
    const auto w = tg::variable<"w", float, width>(tg::random_uniform(-1.0f, 1.0f));
    const auto [end] = tg::scan<2>(tg::carry(h), tg::over(), [&](const auto& e) { return tg::next(tg::tanh(e * w)); });
    return end;
  };
  check_close(train(tg::repeat<"steps", 3>(steps)(x), sgd, {.seed = 8}),
              train(tg::repeat<"steps", 3>(steps, tg::unrolled)(x), sgd, {.seed = 8}));
  // In an iteration of another loop the variables are those of all iterations.
  const auto around = [](const auto& e) {
    const auto [end] = tg::scan<2>(tg::carry(e), tg::over(),
                                   [](const auto& h) { return tg::next(tg::repeat<"inner", 3>(residual)(h)); });
    return end;
  };
  const auto plain = [](const auto& e) {
    return tg::repeat<"inner", 3>(residual, tg::unrolled)(tg::repeat<"inner", 3>(residual, tg::unrolled)(e));
  };
  check_close(train(around(x), sgd, {.seed = 8}), train(plain(x), sgd, {.seed = 8}));
}

TEST_CASE("gradients of gradients go through blocks") {
  constexpr auto z = tg::placeholder<"z", double, 2, 3>();
  const auto block = [](const auto& h) { return tg::tanh(tg::dense<"layer", 3>(h)) * h; };
  const auto w = tg::variable<"block_1/layer/kernel", double, 3, 3>(tg::glorot_uniform);
  const auto second = [&](const auto& out) {
    return tg::gradient(tg::sum(tg::square(tg::gradient(tg::sum(out), w))), w);
  };
  const auto loop = second(tg::repeat<"block", 3>(block)(z));
  const auto written = second(tg::repeat<"block", 3>(block, tg::unrolled)(z));
  const auto program = tg::compile([=] { return tg::outputs(loop, written); });
  tg::session session(program, {.seed = 2});
  tg::tensor<double> in({2, 3});
  for (tg::extent i = 0; i < 6; ++i) in[i] = 0.3 * static_cast<double>(i) - 0.7;
  const auto [a, b] = session.run(tg::fetch(loop, written), z = in);
  for (tg::extent i = 0; i < 9; ++i) CHECK(a[i] == Approx(b[i]).margin(1e-12));
}

TEST_CASE("a body is compiled once") {
  const auto nodes = [](const auto& out) {
    const auto program = tg::compile([=] { return tg::outputs(out); });
    return program.node_count();
  };
  // Beside the variables there is nothing of which there are more.
  const auto three = nodes(tg::repeat<"block", 3>(residual)(x)), nine = nodes(tg::repeat<"block", 9>(residual)(x));
  CHECK(nine - three == 6 * 2);
  const auto program = tg::compile([y_ = tg::repeat<"block", 3>(residual)(x)] { return tg::outputs(y_); });
  CHECK_THAT(tg::explain(program, 4), Catch::Contains("by turns #") && Catch::Contains(", 3 times"));
}

}  // namespace
