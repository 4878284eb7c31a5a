// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/on.hpp"

#include <catch2/catch.hpp>

#include "support/graphs.hpp"
#include "tagma/expr/op/gradient.hpp"
#include "tagma/expr/op/math.hpp"
#include "tagma/expr/op/matmul.hpp"
#include "tagma/expr/op/random.hpp"
#include "tagma/expr/op/state.hpp"
#include "tagma/expr/operators.hpp"

namespace {

using namespace tagma;
using test::build_scoped, test::count_of, test::find, test::view_of;

constexpr auto x = placeholder<"x", float, 3, 3>();
constexpr auto w = variable<"w", float, 3, 3>(static_initializer<initializer_kind::zeros>{});

/// True if the root of one expression is asked for there.
template <fixed_string Expected, expression E>
constexpr bool asks(const E& e) {
  const auto built = build_scoped(e);
  return built.status.problem == ir::build_problem::none &&
         view_of(built).request(built.roots[0]) == device_string<Expected>;
}

// Nested strings: the inner wins, the outer fills gaps.
constexpr auto a = tagma::tanh(x);
static_assert(asks<"/gpu:0">(on<"/gpu:0">(a)));
static_assert(asks<"/job:worker/gpu:0">(on<"/gpu:0">(on<"/job:worker">(a))));
static_assert(asks<"/job:worker/cpu:0">(on<"/gpu:0">(on<"/job:worker">(on<"/cpu:0">(a)))));
static_assert(asks<"/job:ps/cpu:0">(on<"/gpu:0">(on<"/job:worker">(on<"/cpu:0">(on<"/job:ps">(a))))));
static_assert(asks<"/job:ps/cpu:0">(on<"/gpu:0">(on<"/job:worker">(on<"/cpu:0">(on<"/job:ps">(on<"">(a)))))));
// A wildcard is a gap.
static_assert(asks<"/gpu:7">(on<"/gpu:7">(on<"/device:GPU:*">(a))));
static_assert(asks<"/cpu:5">(on<"/cpu:*">(on<"/cpu:5">(a))));
// Type and number are two components.
static_assert(asks<"/cpu:1">(on<"/gpu:1">(on<"/device:CPU">(a))));
// Tags.
static_assert(asks<"/gpu:2">(on<gpu<2>>(a)) && asks<"/cpu:0">(on<gpu<2>>(on<cpu<0>>(a))));

// Functions replace what the scopes inside ask for, and see it; none ends the walk.
constexpr auto overwrite = [](op_info) { return "/job:overwrite"; };
constexpr auto next = [](op_info op) {
  ++op.device.task;
  return op.device;
};
static_assert(asks<"/job:overwrite">(on<overwrite>(on<"/job:ps">(a))));
static_assert(asks<"/job:ps">(on<overwrite>(on<none>(on<"/job:ps">(a)))));
static_assert(asks<"/job:ps">(on<"/job:ps">(on<overwrite>(on<none>(a)))) == false);
static_assert(asks<"/job:overwrite/gpu:1">(on<"/gpu:1">(on<overwrite>(a))));
static_assert(asks<"/job:ps/task:3">(on<next>(on<"/job:ps/task:2">(a))));
static_assert(asks<"">(on<"/gpu:0">(on<none>(a))));
static_assert(asks<"/cpu:0">(on<[](op_info op) { return op.op == "tanh" ? "/cpu:0" : "/gpu:0"; }>(a)));

/// A function decides for every node that the expression is made of.
constexpr bool function_sees_every_node() {
  const auto built =
      build_scoped(on<[](op_info op) { return op.is_variable      ? "/cpu:0"
                                              : op.is_placeholder ? "/cpu:1"
                                                                  : "/gpu:0"; }>(
          tagma::tanh(matmul(x, w))));
  const auto g = view_of(built);
  const auto request = [&](std::string_view name) { return g.request(find(g, name)); };
  return request("variable") == device_string<"/cpu:0"> && request("placeholder") == device_string<"/cpu:1"> &&
         request("matmul") == device_string<"/gpu:0"> && request("tanh") == device_string<"/gpu:0">;
}
static_assert(function_sees_every_node());

/// A function of operands: the scope ends at them.
constexpr bool scope_ends_at_operands() {
  const auto h = tagma::exp(x);
  const auto y = on<"/gpu:0">([](const auto& e) { return tagma::tanh(matmul(e, w)); })(h);
  const auto built = build_scoped(on<"/job:a">(y));
  const auto g = view_of(built);
  const auto request = [&](std::string_view name) { return g.request(find(g, name)); };
  return request("tanh") == device_string<"/job:a/gpu:0"> && request("variable") == device_string<"/job:a/gpu:0"> &&
         request("exp") == device_string<"/job:a"> && request("placeholder") == device_string<"/job:a">;
}
static_assert(scope_ends_at_operands());

/// One structure asked for two devices is two nodes; asked for once, it is one, also for readers outside.
constexpr bool one_request_one_node() {
  const auto product = matmul(x, x);
  const auto two = build_scoped(on<"/gpu:0">(tagma::tanh(product)), on<"/gpu:1">(tagma::tanh(product)));
  const auto same = build_scoped(on<"/gpu:0">(tagma::tanh(product)), on<gpu<0>>(tagma::exp(product)));
  const auto outside = build_scoped(tagma::tanh(product), product, on<"/gpu:0">(tagma::exp(product)), x);
  const auto g = view_of(two), s = view_of(same), o = view_of(outside);
  return count_of(g, "tanh") == 2 && count_of(g, "matmul") == 2 && count_of(g, "placeholder") == 1 &&
         count_of(s, "matmul") == 1 && count_of(o, "matmul") == 1 &&
         o.request(outside.roots[1]) == device_string<"/gpu:0"> && o.request(outside.roots[0]).empty();
}
static_assert(one_request_one_node());

/// What has a name or a state is one node, asked for what all its scopes agree on.
bool names_and_states_are_one() {
  const auto update = assign_add(w, x);
  const auto noise = tagma::random_uniform<float, 3, 3>(0, 1);
  const auto built = build_scoped(on<"/job:a/gpu:0">(update + noise), on<"/job:a/gpu:1">(update * noise), update,
                                  on<"/job:b/cpu:0">(w));
  const auto g = view_of(built);
  return count_of(g, "variable") == 1 && count_of(g, "assign_add") == 1 && count_of(g, "random_uniform") == 1 &&
         g.request(built.roots[2]) == device_string<"/job:a/device:GPU"> &&
         g.request(find(g, "random_uniform")) == device_string<"/job:a/device:GPU"> &&
         g[find(g, "variable")].request == 1 && g.request(find(g, "variable")).empty();
}

/// A pin inside both scopes settles it.
constexpr bool inner_pin_is_shared() {
  const auto pinned = on<cpu<0>>(w);
  const auto built = build_scoped(on<"/gpu:0">(matmul(x, pinned)), on<"/gpu:1">(matmul(x, pinned)), assign(pinned, x));
  const auto g = view_of(built);
  return count_of(g, "variable") == 1 && g.request(find(g, "variable")) == device_string<"/cpu:0">;
}
static_assert(inner_pin_is_shared());

/// What a node waits for is no part of it; what a group waits for is.
constexpr bool controls() {
  const auto before = assign(w, x);
  const auto built =
      build_scoped(on<"/gpu:0">(after(before)(tagma::exp(x))), on<"/gpu:1">(group(assign_add(w, tagma::sin(x)))));
  const auto g = view_of(built);
  return g.request(find(g, "exp")) == device_string<"/gpu:0"> && g.request(find(g, "assign")).empty() &&
         g.request(find(g, "assign_add")) == device_string<"/gpu:1">;
}
static_assert(controls());

/// Gradients are asked for where their nodes are; the rest where the scopes around the gradient say.
constexpr bool gradients_follow() {
  const auto y = sum(on<"/gpu:1">(tagma::tanh(matmul(on<"/cpu:0">(tagma::exp(x)), w))));
  const auto built = build_scoped(on<"/job:a">(gradient(y, x)));
  const auto g = view_of(built);
  // exp'(x) = exp(x), so the gradient by x is that node's product with the one of the matmul.
  return g.request(built.roots[0]) == device_string<"/job:a/cpu:0"> &&
         g.request(g.inputs(built.roots[0])[0]) == device_string<"/job:a/gpu:1">;
}
static_assert(gradients_follow());

/// Hands on its operand, and counts how often gradients pass it.
struct passed : op::elementwise {
  static constexpr std::string_view name = "passed";
  static inline int times = 0;
  static void gradient(ir::gradient_args& g) {
    ++times;
    g.set(0, g.upstream);
  }
};

/// The walks backwards that some gradients take.
template <expression... G>
int walks_of(const G&... gradients) {
  passed::times = 0;
  const auto built = build_scoped(gradients...);
  CHECK(built.status.problem == ir::build_problem::none);
  return passed::times;
}

/// Colocation binds one node; scopes around it do not reach it, scopes inside do, and several hold together.
constexpr bool colocation() {
  const auto bound = colocate_with(w)(tagma::tanh(tagma::exp(x)));
  const auto twice = colocate_with(x)(colocate_with(w)(tagma::tanh(x)));
  const auto built = build_scoped(on<"/gpu:0">(bound), twice, colocate_with(w)(on<"/cpu:3">(tagma::sin(x))));
  const auto g = view_of(built);
  const auto with = [&](int root) { return g.colocated(built.roots[root]); };
  return g.request(built.roots[0]).empty() && g.request(find(g, "exp")) == device_string<"/gpu:0"> &&
         with(0).size() == 1 && with(0)[0] == find(g, "variable") && with(1).size() == 2 &&
         with(1)[1] == find(g, "placeholder") && g.request(built.roots[2]) == device_string<"/cpu:3"> &&
         built.roots[0] != built.roots[1];
}
static_assert(colocation());

/// Setters count variables in the order in which they are met, each once, wherever it is met again.
constexpr bool setters_count() {
  constexpr replica_device_setter setter{.ps_tasks = 2, .strategy = ps_strategy::round_robin};
  const auto v = variable<"v", float, 3, 3>(static_initializer<initializer_kind::zeros>{});
  const auto u = variable<"u", float, 3, 3>(static_initializer<initializer_kind::zeros>{});
  const auto built =
      build_scoped(on<setter>(matmul(w, v)), on<setter>(matmul(v, on<"/cpu:1">(u))), on<"">(on<setter>(w)));
  const auto g = view_of(built);
  const auto task = [&](int root, int k) { return g.request(g.inputs(built.roots[root])[k]); };
  return task(0, 0) == device_string<"/job:ps/task:0"> && task(0, 1) == device_string<"/job:ps/task:1"> &&
         task(1, 1) == device_string<"/job:ps/task:0/cpu:1"> && task(1, 0) == device_string<"/job:ps/task:1"> &&
         g.request(built.roots[2]) == device_string<"/job:ps/task:0"> &&
         g.request(built.roots[0]) == device_string<"/job:worker">;
}
static_assert(setters_count());

/// By name, a variable is on one task, in whatever order the outputs of a program reach it.
constexpr bool setters_know_names() {
  constexpr replica_device_setter setter{.ps_tasks = 2};
  const auto v = variable<"v", float, 3, 3>(static_initializer<initializer_kind::zeros>{});
  const auto one = build_scoped(on<setter>(matmul(w, v)), on<setter>(tagma::exp(v)));
  const auto two = build_scoped(on<setter>(tagma::exp(v)), on<setter>(matmul(v, w)));
  const auto task = [](const auto& built, std::string_view name) {
    const auto g = view_of(built);
    for (ir::node_id i = 0; i < g.size(); ++i)
      if (g[i].name == name) return g.request(i).task;
    return -1;
  };
  return task(one, "v") == task(two, "v") && task(one, "w") == task(two, "w") && task(one, "v") >= 0;
}
static_assert(setters_know_names());

/// A function's text that names no device is a problem of the graph.
constexpr bool problems() {
  const auto built = build_scoped(on<[](op_info) { return "/foo:bar"; }>(tagma::tanh(x)));
  return built.status.problem == ir::build_problem::malformed_device && built.status.text == "/foo:bar";
}
static_assert(problems());

// Handles keep what they carry and what they are.
static_assert(std::is_same_v<decltype(on<"/gpu:0">(a)), decltype(on<gpu<0>>(a))>);
static_assert(!std::is_same_v<decltype(on<"/gpu:0">(a)), decltype(on<"/gpu:1">(a))>);
static_assert(!std::is_same_v<decltype(tagma::tanh(on<overwrite>(a))), decltype(tagma::tanh(on<next>(a)))>);
static_assert(std::is_same_v<decltype(on<overwrite>(a)), decltype(on<overwrite>(a))>);
static_assert(decltype(on<overwrite>(2.0f * x))::carries && decltype(on<"/gpu:0">(2.0f * x))::carries);

// What tells a device, and what is put into a scope.
static_assert(diagnose::is_device_tag<none> && diagnose::is_device_tag<gpu<3>> && !diagnose::is_device_tag<int> &&
              !diagnose::is_device_tag<cpu<-1>> && !diagnose::is_device_tag<gpu<-1>>);
static_assert(diagnose::decides_device<overwrite> && diagnose::decides_device<next> &&
              diagnose::decides_device<replica_device_setter{}> && !diagnose::decides_device<5> &&
              !diagnose::decides_device<[](int) { return "/cpu:0"; }>);
constexpr std::string_view first_processor(op_info) { return "/cpu:0"; }
static_assert(asks<"/cpu:0">(on<first_processor>(a)) && asks<"/cpu:0">(on<&first_processor>(a)));
constexpr auto doubled(const decltype(x)& e) { return tagma::add(e, e); }
struct last final {
  constexpr auto operator()(const auto& e) const { return tagma::tanh(e); }
};
static_assert(diagnose::takes_scope<decltype(x)> && diagnose::takes_scope<decltype(doubled)> &&
              diagnose::takes_scope<decltype(&doubled)> && diagnose::takes_scope<decltype(overwrite)> &&
              diagnose::takes_scope<last> && diagnose::takes_scope<decltype(tagma::tanh)>);
static_assert(!diagnose::takes_scope<float> && !diagnose::takes_scope<float*> && !diagnose::takes_scope<char[3]> &&
              !diagnose::takes_scope<std::tuple<decltype(x)>>);
static_assert(asks<"/gpu:0">(on<"/gpu:0">(doubled)(x)) && asks<"/gpu:0">(on<gpu<0>>(last{})(x)) &&
              asks<"/gpu:0">(on<"/gpu:0">(tagma::tanh)(x)));

TEST_CASE("scopes and requests are the same in a running program") {
  CHECK(function_sees_every_node());
  CHECK(scope_ends_at_operands());
  CHECK(one_request_one_node());
  CHECK(names_and_states_are_one());
  CHECK(inner_pin_is_shared());
  CHECK(controls());
  CHECK(gradients_follow());
  CHECK(colocation());
  CHECK(setters_count());
  CHECK(problems());
}

TEST_CASE("gradients of one loss share a walk if they are in the same scopes") {
  const auto loss = sum(make_operation<passed>(matmul(x, w)));
  const auto by_x = gradient(loss, x);
  const auto by_w = gradient(loss, w);
  CHECK(walks_of(by_x, by_w) == 1);
  CHECK(walks_of(on<"/job:a">(by_x), on<"/job:a">(by_w)) == 1);
  CHECK(walks_of(on<"/job:b">(on<"/gpu:0">(by_x)), on<"/job:b">(on<"/gpu:0">(by_w))) == 1);
  CHECK(walks_of(on<"/job:a">(by_x), on<"/job:b">(by_w)) == 2);
  CHECK(walks_of(on<"/job:a">(by_x), by_w) == 2);
  CHECK(walks_of(on<"/job:a">(by_x + by_x), by_w) == 2);
  CHECK(walks_of(on<"/job:b">(on<"/gpu:0">(by_x)), on<"/gpu:0">(on<"/job:b">(by_w))) == 2);
}

TEST_CASE("a gradient that shares a walk is asked for what its scope says") {
  const auto loss = sum(matmul(x, w));
  const auto by_x = gradient(loss, x);
  const auto by_w = gradient(loss, w);
  const auto both = build_scoped(on<"/job:a">(by_x), on<"/job:a">(by_w));
  CHECK(view_of(both).request(both.roots[0]) == device_string<"/job:a">);
  CHECK(view_of(both).request(both.roots[1]) == device_string<"/job:a">);
}

}  // namespace
