// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/graph_builder.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "support/errors.hpp"
#include "support/sanitizers.hpp"
#include "tagma/order.hpp"
#include "tagma/programs.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

using tg::any_tensor;
using tg::dtype;
using tg::dyn;
using tg::feed_to;
using tg::graph_builder;
using tg::status_code;

tg::tensor<float> some(const tg::shape& dims, int seed) {
  tg::tensor<float> t(dims);
  for (tg::extent i = 0; i < dims.elements(); ++i)
    t[i] = static_cast<float>(0.7 * std::sin(seed + 1.7 * static_cast<double>(i)));
  return t;
}

constexpr auto x = tg::placeholder<"x", float, dyn, 8>();
const auto w = tg::variable<"w", float, 8, 3>(tg::glorot_uniform);
const auto bias = tg::variable<"b", float, 3>(tg::zeros);

/// The same as the handles: x, w, b.
struct leaves {
  explicit leaves(graph_builder& b)
      : x(b.placeholder("x", dtype::float32, {dyn, 8})),
        w(b.variable("w", dtype::float32, {8, 3}, tg::glorot_uniform)),
        bias(b.variable("b", dtype::float32, {3}, tg::zeros)) {}
  tg::graph_node x, w, bias;
};

template <class Program>
void check_same(const Program& compiled, const tg::any_program& built) {
  CHECK(built.fingerprint() == compiled.fingerprint());
  CHECK(built.node_count() == compiled.node_count());
  CHECK(built.peak_bytes(7) == compiled.peak_bytes(7));
}

TEST_CASE("a graph that is built is the one that handles stand for") {
  graph_builder b;
  const leaves l(b);
  const auto y = b.add("add", {b.add("matmul", {l.x, l.w}, {false, false}), l.bias});
  const auto loss = b.add("mean", {b.add("square", {b.add("tanh", {y})})}, {0b11, false});
  const auto h = tg::tanh(tg::matmul(x, w) + bias);
  const auto cost = tg::mean(tg::square(h));
  const auto slope = tg::gradient(cost, x);
  check_same(tg::compile([=] { return tg::outputs(cost, slope); }),
             b.build({{"loss", loss}, {"slope", b.gradient(loss, l.x)}}));
  const auto sgd = tg::minimize(cost, tg::sgd{.learning_rate = 0.1});
  check_same(tg::compile([=] { return tg::outputs(cost, sgd); }),
             b.build({{"loss", loss}, {"train", b.minimize(loss, tg::sgd{.learning_rate = 0.1})}}));
  const auto adam = tg::minimize(cost, tg::adam{}, tg::clip_by_global_norm(0.5));
  check_same(tg::compile([=] { return tg::outputs(adam); }),
             b.build({{"train", b.minimize(loss, tg::adam{}, tg::clip_by_global_norm(0.5))}}));
  const auto chosen = tg::minimize(cost, tg::adam{}, bias, tg::clip_by_norm(0.5));
  check_same(tg::compile([=] { return tg::outputs(chosen); }),
             b.build({{"train", b.minimize(loss, tg::adam{}, tg::clip_by_norm(0.5), {l.bias})}}));
  CHECK_THROWS_WITH(b.minimize(loss, tg::adam{}, {}, {y}),
                    Catch::Contains("TAGMA-E302") && Catch::Contains("is add ''"));
  const auto given = tg::apply_gradients(tg::ftrl{}, tg::compute_gradients(cost, w, bias));
  check_same(tg::compile([=] { return tg::outputs(given); }),
             b.build({{"train", b.apply_gradients(
                                    tg::ftrl{}, {{l.w, b.gradient(loss, l.w)}, {l.bias, b.gradient(loss, l.bias)}})}}));
}

TEST_CASE("scopes, order and several results of a graph that is built") {
  graph_builder b;
  const leaves l(b);
  const auto product = [&] {
    const auto there = b.on("/device:CPU:1");
    return b.add("matmul", {l.x, l.w}, {false, false});
  }();
  const auto there = tg::on<"/device:CPU:1">([](const auto& in, const auto& k) { return tg::matmul(in, k); })(x, w);
  const auto update = tg::assign_add(bias, tg::sum<0>(there));
  const auto behind = tg::after(update)(tg::sum(bias));
  const auto changed = b.add("assign_add", {l.bias, b.add("sum", {product}, {0b01, false})});
  const auto last = b.after({changed}, b.add("sum", {l.bias}, {0b1, false}));
  const auto [values, positions] = tg::top_k<2>(there);
  const auto best = b.add("top_k", {product}, {2});
  const auto all = tg::group(update, positions);
  check_same(tg::compile([=] { return tg::outputs(behind, values, all); }),
             b.build({{"sum", last}, {"values", b.result(best, 0)}, {"all", b.group({changed, b.result(best, 1)})}}));

  graph_builder named;
  const auto inner = [&] {
    const auto a = named.name_scope("tower");
    const auto c = named.name_scope("layer");
    return named.variable("w", dtype::float32, {2}, 1.0f);
  }();
  const auto outer = named.variable("w", dtype::float32, {2}, tg::random_normal(0, 1));
  const auto program = named.build({{"inner", inner}, {"outer", outer}});
  CHECK(program.graph()[program.graph().roots[0]].name == "tower/layer/w");
  CHECK(program.graph()[program.graph().roots[1]].name == "w");
}

TEST_CASE("a loop that is built is a scan") {
  constexpr auto series = tg::placeholder<"series", float, dyn, 3>();
  constexpr auto begin = tg::placeholder<"begin", float, 3>();
  const auto [last, sums] = tg::scan(tg::carry(begin), tg::over(series), [](const auto& h, const auto& in) {
    const auto next = tg::tanh(h + in);
    return tg::next(next).emit(next * 2.0f);
  });
  const auto slope = tg::gradient(tg::sum(sums), begin);
  graph_builder b;
  const auto s = b.placeholder("series", dtype::float32, {dyn, 3}), from = b.placeholder("begin", dtype::float32, {3});
  const auto head = b.loop({s});
  const auto h = b.carried(head, 0, from);
  const auto next = b.add("tanh", {b.add("add", {h, b.element(head, s)})});
  const auto results = b.close_loop(head, {h}, {next}, {b.add("multiply", {next, b.number(dtype::float32, 2)})});
  const auto total = b.add("sum", {results[1]}, {0b11, false});
  const tg::any_program built =
      b.build({{"last", results[0]}, {"sums", results[1]}, {"slope", b.gradient(total, from)}});
  const auto program = tg::compile([=] { return tg::outputs(last, sums, slope); });
  tg::session compiled(program);
  tg::session session(built);
  const auto rows = some({5, 3}, 1), start = some({3}, 2);
  const auto expected = compiled.run(tg::fetch(last, sums, slope), series = rows, begin = start);
  const auto found = session.run({"last", "sums", "slope"}, feed_to("series", rows), feed_to("begin", start));
  const auto are_equal = [](const tg::tensor<float>& a, const any_tensor& c) {
    return a.dims() == c.dims() && std::memcmp(a.data(), c.view().data, a.size() * sizeof(float)) == 0;
  };
  CHECK(are_equal(std::get<0>(expected), found[0]));
  CHECK(are_equal(std::get<1>(expected), found[1]));
  CHECK(are_equal(std::get<2>(expected), found[2]));
}

TEST_CASE("a sequence that is shorter than its loop is refused when both are known") {
  graph_builder b;
  const auto a = b.placeholder("a", dtype::float32, {dyn, 2}), c = b.placeholder("c", dtype::float32, {dyn, 2});
  const auto head = b.loop({a});
  const auto results = b.close_loop(head, {}, {}, {b.add("exp", {b.element(head, c)})});
  tg::session session(b.build({{"all", results[0]}}));
  const auto longer = some({4, 2}, 1), shorter = some({3, 2}, 2);
  CHECK(session.run("all", feed_to("a", longer), feed_to("c", longer)).dims() == tg::shape{4, 2});
  const std::string text =
      tg::test::text_of([&] { (void)session.run("all", feed_to("a", longer), feed_to("c", shorter)); });
  INFO(text);
  CHECK(text.find("an element for each iteration") != std::string::npos);
}

TEST_CASE("training of a graph that is built") {
  graph_builder b;
  const leaves l(b);
  const auto wanted = b.placeholder("wanted", dtype::float32, {dyn, 3});
  const auto difference =
      b.add("subtract", {b.add("add", {b.add("matmul", {l.x, l.w}, {false, false}), l.bias}), wanted});
  const auto loss = b.add("mean", {b.add("square", {difference})}, {0b11, false});
  tg::session session(b.build({{"loss", loss}, {"train", b.minimize(loss, tg::adam{.learning_rate = 0.05})}}));
  const auto in = some({16, 8}, 1), out = some({16, 3}, 5);
  const float first = session.run("loss", feed_to("x", in), feed_to("wanted", out)).value<float>();
  for (int i = 0; i < 60; ++i) (void)session.run("train", feed_to("x", in), feed_to("wanted", out));
  CHECK(session.run("loss", feed_to("x", in), feed_to("wanted", out)).value<float>() < 0.3f * first);
}

TEST_CASE("the shape of something known is read without what it is computed from") {
  graph_builder b;
  const auto in = b.placeholder("in", dtype::float32, {dyn});
  const auto wide = b.placeholder("wide", dtype::float32, {4, 1});
  const auto where = b.add("nonzero", {b.add("greater", {in, b.number(dtype::float32, 0)})}, {false});
  const auto kept = b.add("cast", {where}, {dtype::float32});
  const auto known = b.add("add", {kept, wide});  // [4, 1], behind what is found
  const auto like = b.add("broadcast_like", {b.number(dtype::float32, 3), known});
  const tg::tensor<float> five({5}, {1.0f, 2.0f, -3.0f, 4.0f, 5.0f});
  for (const int threads : {1, 2}) {
    tg::session both(b.build({{"like", like}, {"known", known}}),
                     {.intra_op_threads = threads, .inter_op_threads = threads});
    const auto found = both.run({"like", "known"}, feed_to("in", five), feed_to("wide", tg::tensor<float>({4, 1})));
    CHECK(found[0].dims() == tg::shape{4, 1});
    CHECK(found[0].as<float>().data()[3] == 3);
    CHECK(found[1].dims() == tg::shape{4, 1});
  }
}

TEST_CASE("a learning rate of a graph that is built") {
  graph_builder b;
  const auto step = b.placeholder("step", dtype::int64);
  const tg::rate schedule = tg::exponential_decay{.initial = 0.5, .decay_steps = 10, .decay_rate = 0.5};
  tg::session runner(b.build({{"rate", b.learning_rate(schedule, step)}}));
  tg::tensor<std::int64_t> at{tg::shape{}};
  *at.data() = 20;
  CHECK(runner.run("rate", feed_to("step", at)).value<double>() == 0.125);
}

TEST_CASE("attributes by name are those in order") {
  graph_builder b;
  const leaves l(b);
  const auto images = b.placeholder("images", dtype::float32, {dyn, 9, 8, 2});
  const auto filter = b.variable("filter", dtype::float32, {3, 2, 2, 4}, tg::glorot_uniform);
  const auto rows = b.placeholder("rows", dtype::int64, {dyn});
  const auto steps = tg::window_steps({2, 1}, {1, 2});
  const auto padding = tg::window_padding(1, 0, 2, 3);
  const auto in_order = [&](auto... attributes) { return std::vector<tg::attribute_value>{attributes...}; };
  struct call {
    const char* operation;
    tg::graph_builder::node_list inputs;
    tg::named_attributes named;
    std::vector<tg::attribute_value> given;
  };
  const call calls[] = {
      {"matmul", {l.x, l.w}, {}, in_order(0, 0)},
      {"matmul", {l.w, l.x}, {{"transpose_b", true}, {"transpose_a", 1}}, in_order(1, 1)},
      {"sum", {l.x}, {{"axes", 0b10}}, in_order(0b10, 0)},
      {"sum", {l.x}, {{"kept axes", {1}}, {"axes", {1, 0}}}, in_order(0b11, 0b10)},
      {"mean", {l.x}, {{"axes", {0, 1}}}, in_order(0b11, 0)},
      {"sum", {l.x}, {{"axes", {}}, {"kept axes", {}}}, in_order(0, 0)},
      {"argmax", {l.x}, {{"axes", {1}}}, in_order(0b10, 0)},
      {"cast", {l.x}, {{"element type", dtype::int32}}, in_order(dtype::int32)},
      {"one_hot", {rows}, {{"element type", dtype::float32}, {"depth", 7}}, in_order(7, dtype::float32)},
      {"transpose", {images}, {{"axis", {0, 3, 1, 2}}}, in_order(0, 3, 1, 2)},
      {"slice", {l.w}, {{"last", {8, 3}}, {"first", {2, -1}}}, in_order(2, 8, -1, 3)},
      {"reshape", {l.w}, {{"extent", {2, 12}}}, in_order(2, 12)},
      {"reshape", {l.w}, {{"extent", 24}}, in_order(24)},
      {"random_normal", {}, {{"extent", {2, 3}}, {"element type", dtype::float32}}, in_order(dtype::float32, 2, 3)},
      {"random_normal", {}, {{"element type", dtype::float64}}, in_order(dtype::float64)},
      {"split", {l.x}, {{"axis", 1}, {"parts", 2}}, in_order(1, 2)},
      {"split", {l.x}, {{"extent", {3, 5}}, {"axis", 1}, {"parts", 2}}, in_order(1, 2, 3, 5)},
      {"cumulative_sum", {l.x}, {{"axis", 1}, {"reverse", true}}, in_order(1, 0, 1)},
      {"conv2d",
       {images, filter},
       {{"groups", 1}, {"padding", padding}, {"steps", steps}},
       in_order(steps.bits(), padding, 1)},
      {"max_pool",
       {images},
       {{"steps", tg::window_steps(2)}, {"padding", tg::same_padding}, {"height", 2}, {"width", 3}},
       in_order(tg::window_steps(2).bits(), -1, 2, 3)},
      {"queue",
       {},
       {{"kind", 0},
        {"capacity", 9},
        {"min_after_dequeue", 0},
        {"seed", 0},
        {"element type", {dtype::float32, dtype::int64}},
        {"rank", {1, 0}},
        {"extent", {8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}},
       in_order(0, 9, 0, 0, dtype::float32, 1, 8, 0, 0, 0, 0, 0, dtype::int64, 0, 0, 0, 0, 0, 0, 0)},
  };
  for (const call& c : calls) {
    INFO(c.operation);
    const auto one = b.add(c.operation, c.inputs, c.named), two = b.add(c.operation, c.inputs, c.given);
    CHECK(one.spec() == two.spec());
    if (one.type() == dtype::none) continue;
    const auto program = b.build({{"one", one}, {"two", two}});
    CHECK((program.graph().roots[0] == program.graph().roots[1]) != std::string(c.operation).starts_with("random"));
  }
  // The queue is the same thing of a container.
  const auto& queue = std::end(calls)[-1];
  const auto q = b.resource("queue", "q", queue.named);
  (void)b.build({{"size", b.add("queue_size", {q})}});
  graph_builder other;
  const auto r = other.resource("queue", "q", queue.given);
  CHECK(b.build({{"size", b.add("queue_size", {q})}}).fingerprint() ==
        other.build({{"size", other.add("queue_size", {r})}}).fingerprint());
  // None at all are no attributes by name nor in order.
  CHECK(tg::test::text_of([&] { (void)other.resource("queue", "r", {}); }) ==
        "InvalidArgument: TAGMA-E220 queue: there are one to eight components");
  CHECK(tg::test::text_of([&] { (void)other.resource("queue", "r"); }) ==
        "InvalidArgument: TAGMA-E220 queue: there are one to eight components");
  CHECK(other.add("exp", {other.number(dtype::float32, 1)}, {}).type() == dtype::float32);
}

TEST_CASE("what is wrong with an attribute by name is said with what it may be") {
  graph_builder b;
  const leaves l(b);
  const auto says = [&](std::string_view sentence, const char* operation, const tg::graph_builder::node_list& inputs,
                        const tg::named_attributes& named) {
    CHECK(tg::test::text_of([&] { b.add(operation, inputs, named); }) == "InvalidArgument: " + std::string(sentence));
  };
  says("graph_builder: matmul: there is no attribute transpose; it takes transpose_a (a flag), transpose_b (a flag)",
       "matmul", {l.x, l.w}, {{"transpose", true}});
  says("graph_builder: exp: there is no attribute base; it takes none", "exp", {l.x}, {{"base", 2}});
  says(
      "graph_builder: cumulative_sum: there is no attribute axes; it takes axis (an integer from 0 to 1), exclusive (a "
      "flag), reverse (a flag)",
      "cumulative_sum", {l.x}, {{"axes", 1}});
  says("graph_builder: sum: attribute axes is not given, and needs to be a set of axes from 0 to 1", "sum", {l.x}, {});
  says("graph_builder: sum: attribute axes has axis 2, and needs to be a set of axes from 0 to 1", "sum", {l.x},
       {{"axes", {0, 2}}});
  says("graph_builder: sum: attribute axes has a floating number, and needs to be a set of axes from 0 to 1", "sum",
       {l.x}, {{"axes", {1.0}}});
  says("graph_builder: sum: attribute axes is a flag, and needs to be a set of axes from 0 to 1", "sum", {l.x},
       {{"axes", true}});
  says("graph_builder: top_k: attribute k is a floating number, and needs to be an integer from 1", "top_k", {l.x},
       {{"k", 2.0}});
  says("graph_builder: cast: attribute element type is an integer, and needs to be an element type", "cast", {l.x},
       {{"element type", 3}});
  says("graph_builder: top_k: attribute k has too many values, 2", "top_k", {l.x}, {{"k", {2, 3}}});
  says("graph_builder: reshape: attribute extent has no values", "reshape", {l.w}, {{"extent", {}}});
  says("graph_builder: top_k: attribute k is given twice", "top_k", {l.x}, {{"k", 2}, {"k", 2}});
  says("graph_builder: transpose: attribute axis has too few values, 1", "transpose", {l.x}, {{"axis", {1}}});
  says("TAGMA-E111 top_k: attribute k is 0, not 1 to 72057594037927936", "top_k", {l.x}, {{"k", 0}});
  says("TAGMA-E020 cumulative_sum: attribute axis is 2, not 0 to 1", "cumulative_sum", {l.x}, {{"axis", 2}});
  says("TAGMA-E013 matmul: input 1, float32 [3], has 1 axes, not 2 to 6", "matmul", {l.x, l.bias},
       {{"transpose_a", true}});
  says("TAGMA-E103 split: there is one extent for each part; inputs: float32 [?, 8]; attributes: 1, 2, 3", "split",
       {l.x}, {{"axis", 1}, {"parts", 2}, {"extent", {3}}});
  says(
      "graph_builder: split: there is no attribute size; it takes axis (an integer from 0 to 1), parts (an integer "
      "from "
      "1 to 8), extent (an integer from 0)",
      "split", {l.x}, {{"axis", 1}, {"parts", 2}, {"size", {3, 5}}});
  CHECK(tg::test::text_of([&] { (void)tg::window_steps(0); }) ==
        "InvalidArgument: window_steps: a stride is 0, not 1 to 65535");
  CHECK(tg::test::code_of([&] { b.add("matmull", {l.x, l.w}, {{"transpose_a", true}}); }) == status_code::not_found);
}

TEST_CASE("what is wrong with a graph that is built is said where it is added") {
  graph_builder b, other;
  const leaves l(b);
  const auto fails = [](status_code code, std::initializer_list<const char*> parts, const auto& function) {
    const std::string text = tg::test::text_of(function);
    for (const char* part : parts) {
      INFO(text);
      CHECK(text.find(part) != std::string::npos);
    }
    CHECK(tg::test::code_of(function) == code);
  };
  const auto invalid = status_code::invalid_argument;
  fails(status_code::not_found, {"matmull"}, [&] { b.add("matmull", {l.x, l.w}); });
  fails(invalid, {"TAGMA-E013", "float32 [3]"}, [&] { b.add("matmul", {l.x, l.bias}, {0, 0}); });
  fails(invalid, {"TAGMA-E011"}, [&] { b.add("add", {l.w, b.placeholder("wide", dtype::float32, {7})}); });
  fails(invalid, {"add", "3 inputs"}, [&] { b.add("add", {l.x, l.x, l.x}); });
  fails(invalid, {"sum", "attribute"}, [&] { b.add("sum", {l.x}); });
  fails(invalid, {"TAGMA-E020", "sum"}, [&] { b.add("sum", {l.x}, {0b100, false}); });
  fails(invalid, {"TAGMA-E060", "'w'"}, [&] { b.placeholder("w", dtype::float32); });
  fails(invalid, {"TAGMA-E160", "'no name'"}, [&] { b.placeholder("no name", dtype::float32); });
  fails(invalid, {"TAGMA-E003"}, [&] { b.variable("open", dtype::float32, {dyn}, tg::zeros); });
  fails(invalid, {"TAGMA-E156"}, [&] { b.variable("text", dtype::string, {2}, tg::zeros); });
  fails(invalid, {"float32 [2]", "float32 [3]"}, [&] { b.variable("v", dtype::float32, {3}, some({2}, 1)); });
  fails(invalid, {"TAGMA-E065"}, [&] { b.add("assign", {l.x, l.x}); });
  fails(invalid, {"TAGMA-E062", "float32 [8, 3]"}, [&] { b.minimize(l.w, tg::sgd{}); });
  fails(invalid, {"TAGMA-E014"}, [&] { b.gradient(b.placeholder("n", dtype::int32), l.x); });
  fails(invalid, {"TAGMA-E070"}, [&] { (void)b.on("/device:"); });
  fails(invalid, {"another builder"}, [&] { other.add("exp", {l.x}); });
  fails(invalid, {"none"}, [&] { b.add("exp", {tg::graph_node()}); });
  fails(invalid, {"no result 1"}, [&] { b.result(l.x, 1); });
  fails(invalid, {"TAGMA-E173"}, [&] { (void)b.build({}); });
  const auto step = b.placeholder("step", dtype::int64);
  fails(invalid, {"scheduled_rate", "has no value"}, [&] { b.add("scheduled_rate", {step}); });
  fails(invalid, {"scheduled_rate", "int64"}, [&] { b.learning_rate(0.5, l.x); });
  fails(invalid, {"initialize", "has no value"}, [&] { b.add("initialize", {l.w}, {255, 0.0}); });
  const auto still = b.add("sum", {l.x}, {0b11, false});
  fails(invalid, {"TAGMA-E063"}, [&] { (void)b.build({{"train", b.minimize(still, tg::sgd{})}}); });
  fails(invalid, {"TAGMA-E064", "float32 [8, 3]"}, [&] { (void)b.build({{"slope", b.gradient(still, l.w)}}); });
  fails(invalid, {"two outputs are called"}, [&] { (void)b.build({{"a", l.x}, {"a", l.w}}); });
  const auto top = b.add("top_k", {l.w}, {2});
  fails(invalid, {"several results", "top_k"}, [&] { b.add("exp", {top}); });
  fails(invalid, {"no output"}, [&] { (void)b.build({{"top", top}}); });
}

TEST_CASE("loops that are not closed as they are begun are refused before anything runs") {
  const auto refused = [](const char* part, const auto& make) {
    graph_builder b;
    const auto in = b.placeholder("x", dtype::float32, {5, 2}), y = b.placeholder("y", dtype::float32, {2});
    const std::string text = tg::test::text_of([&] { (void)b.build({{"out", make(b, in, y)}}); });
    INFO(text);
    CHECK(text.find("InvalidArgument: ") == 0);
    CHECK(text.find(part) != std::string::npos);
  };
  using node = tg::graph_node;
  const auto body = [](graph_builder& b, const node& head, const node& c, const node& in) {
    return b.add("add", {c, b.element(head, in)});
  };
  const char* const once = "a loop is closed once, with the next value of all that it carries";
  refused(once, [&](graph_builder& b, const node& in, const node& y) {
    const auto head = b.loop({in});
    const auto c = b.carried(head, 0, y), forgotten = b.carried(head, 1, y);
    return b.close_loop(head, {c}, {body(b, head, forgotten, in)})[0];
  });
  refused(once, [&](graph_builder& b, const node& in, const node& y) {
    const auto head = b.loop({in});
    const auto c = b.carried(head, 0, y), twice = b.carried(head, 0, b.add("exp", {y}));
    return b.close_loop(head, {c}, {body(b, head, twice, in)})[0];
  });
  refused(once, [&](graph_builder& b, const node& in, const node& y) {
    const auto head = b.loop({in});
    const auto c = b.carried(head, 0, y);
    const auto sums = b.close_loop(head, {c}, {body(b, head, c, in)});
    const auto others = b.close_loop(head, {c}, {b.add("negate", {body(b, head, c, in)})});
    return b.add("add", {sums[0], others[0]});
  });
  refused(once, [&](graph_builder& b, const node& in, const node& y) {
    const auto head = b.loop({in});
    return b.add("loop_last", {b.carried(head, 0, y), head, b.element(head, in)});
  });
  refused("ends early, and gathers no values", [&](graph_builder& b, const node&, const node& y) {
    const auto head = b.loop_if(b.placeholder("decides", dtype::boolean));
    return b.close_loop(head, {}, {}, {y})[0];
  });
  refused("is no scalar bool", [&](graph_builder& b, const node&, const node& y) {
    const auto head = b.loop_while(b.placeholder("decides", dtype::boolean), 4);
    const auto c = b.carried(head, 0, y);
    return b.close_loop(head, {c}, {b.add("exp", {c})})[0];
  });
  refused("is not what a loop gathers",
          [&](graph_builder& b, const node& in, const node&) { return b.add("row", {b.add("exp", {in})}, {3}); });
  refused("split has no result 7", [&](graph_builder& b, const node& in, const node&) {
    return b.result(b.add("split", {in}, {0, 5}), 7);
  });
  refused("'' is no name", [&](graph_builder& b, const node&, const node&) {
    return b.group({b.add("queue", {}, {0, 9, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0})});
  });
}

TEST_CASE("a variance that is built is along any axis, in a square as well") {
  graph_builder b;
  const auto in = b.placeholder("x", dtype::float64, {2, 2});
  tg::session session(b.build({{"columns", b.add("variance", {in}, {0b01, 0})},
                               {"rows", b.add("variance", {in}, {0b10, 0})},
                               {"kept", b.add("variance", {in}, {0b10, 0b10})}}));
  const tg::tensor<double> values({2, 2}, {1, 3, 10, 20});
  const auto found = session.run({"columns", "rows", "kept"}, feed_to("x", values));
  CHECK(found[0].as<double>()[0] == 20.25);
  CHECK(found[0].as<double>()[1] == 72.25);
  CHECK(found[1].as<double>()[0] == 1);
  CHECK(found[1].as<double>()[1] == 25);
  CHECK(found[2].dims() == tg::shape{2, 1});
}

TEST_CASE("gradients of long chains of signs and factors take neither long nor a deep stack") {
  const int layers = tg::test::is_sanitized ? 500 : 4000;
  graph_builder b;
  const auto in = b.placeholder("in", dtype::float32, {5, 3}), shift = b.placeholder("shift", dtype::float32, {3});
  const auto factor = b.placeholder("factor", dtype::float32, {3});
  auto h = in;
  for (int i = 0; i < layers; ++i) h = b.add("multiply", {b.add("add", {h, shift}), factor});
  for (int i = 0; i < 15 * layers; ++i) h = b.add("negate", {h});
  h = b.add("add", {h, shift});
  for (int i = 0; i < 15 * layers; ++i) h = b.add("negate", {h});
  const auto loss = b.add("sum", {b.add("tanh", {h})}, {0b11, false});
  const tg::any_program built = b.build({{"slope", b.gradient(loss, shift)}});
  CHECK(built.node_count() < static_cast<std::size_t>(80 * layers));
}

TEST_CASE("a gradient by ones refuses extents that differ") {
  graph_builder b;
  const auto left = b.placeholder("left", dtype::float32, {dyn, 3});
  const auto right = b.placeholder("right", dtype::float32, {dyn, 3});
  const auto loss = b.add("sum", {b.add("multiply", {left, right})}, {0b11, false});
  tg::session<tg::any_program> session(b.build({{"slope", b.gradient(loss, left)}}));
  const tg::tensor<float> three = some({3, 3}, 1), five = some({5, 3}, 2);
  CHECK(tg::test::code_of([&] { session.run({"slope"}, feed_to("left", three), feed_to("right", five)); }) ==
        status_code::invalid_argument);
  const auto got = session.run({"slope"}, feed_to("left", three), feed_to("right", three));
  CHECK(std::memcmp(got[0].view().data, three.data(), sizeof(float) * 9) == 0);
}

}  // namespace
