// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/scope.hpp"

#include <catch2/catch.hpp>

#include "support/graphs.hpp"
#include "tagma/expr/op/control.hpp"
#include "tagma/expr/op/gradient.hpp"
#include "tagma/expr/op/math.hpp"
#include "tagma/expr/op/matmul.hpp"
#include "tagma/expr/op/queue.hpp"
#include "tagma/expr/op/random.hpp"
#include "tagma/expr/op/reduce.hpp"
#include "tagma/expr/op/state.hpp"
#include "tagma/expr/operators.hpp"

namespace {

using namespace tagma;
using test::build_scoped, test::count_of, test::find, test::view_of;

constexpr auto x = placeholder<"x", float, 3, 3>();
constexpr auto w = variable<"w", float, 3, 3>(static_initializer<initializer_kind::zeros>{});
constexpr auto v = variable<"v", float, 3, 3>(static_initializer<initializer_kind::ones>{});

/// Whether the graph of some expressions has as many variables and resources as this, and these names are among them.
template <int Count, fixed_string... Names, expression... E>
constexpr bool calls(const E&... e) {
  const auto built = build_scoped(e...);
  if (built.status.problem != ir::build_problem::none) return false;
  const ir::graph_view g = view_of(built);
  int named = 0;
  for (int i = 0; i < g.size(); ++i)
    named += g.info(i).is(ir::op_kind::variable) || g.info(i).is(ir::op_kind::resource);
  const auto has = [&](std::string_view name) {
    for (int i = 0; i < g.size(); ++i)
      if (g[i].name == name) return true;
    return false;
  };
  return named == Count && (true && ... && has(Names.view()));
}

// A scope around an expression reaches all of it; placeholders keep their names.
static_assert(calls<1, "a/w">(scope<"a">(w)));
static_assert(calls<2, "a/w", "a/v", "x">(scope<"a">(matmul(x, w) + v)));
// Outside of it nothing changes: the same variable is two here.
static_assert(calls<2, "a/w", "w">(scope<"a">(matmul(x, w)) + w));
// Scopes nest, the outermost first, and may have strokes of their own.
static_assert(calls<1, "a/b/w">(scope<"a">(scope<"b">(w))) && calls<1, "a/b/w">(scope<"a/b">(w)));
static_assert(calls<3, "a/b/w", "a/w", "w">(scope<"a">(scope<"b">(w) + w) + w));
static_assert(calls<1, "w/w">(scope<"w">(w)));

// A scope around a function ends at its operands.
constexpr auto times_w = [](const auto& e) { return matmul(e, w); };
static_assert(calls<2, "a/w", "v">(scope<"a">(times_w)(v)));
static_assert(calls<2, "a/w", "b/w">(scope<"b">(times_w)(scope<"a">(times_w)(x))));
static_assert(calls<1, "w">(scope<"a">(times_w)(w)));  // the whole of it was there before
static_assert(calls<2, "a/b/w", "v">(scope<"a">(scope<"b">(times_w))(v)));
// What it returns may be several expressions.
constexpr auto both = [](const auto& e) { return std::tuple(e + w, e * v); };
constexpr auto parts = scope<"a">(both)(x);
static_assert(calls<2, "a/w", "a/v">(std::get<0>(parts), std::get<1>(parts)));

// Equal names are one variable, wherever the scope stands.
static_assert(calls<1, "a/w">(scope<"a">(matmul(x, w)), scope<"a">(tagma::tanh(w)), scope<"a">(w)));
static_assert(calls<2, "a/b/w", "a/b/v">(scope<"a">(scope<"b">(w)), scope<"a">(scope<"b">(w) + scope<"b">(v))));
// What has neither name nor state is one node.
constexpr int tanh_of_x(int) {
  const auto built = build_scoped(scope<"a">(tagma::tanh(x) * w), scope<"b">(tagma::tanh(x) * w), tagma::tanh(x));
  return count_of(view_of(built), "tanh");
}
static_assert(tanh_of_x(0) == 1);
// What draws or has an effect is one for each prefix.
constexpr auto noise = random_uniform<float, 3, 3>();
static_assert(count_of(view_of(build_scoped(scope<"a">(noise * w), scope<"b">(noise* w), scope<"a">(noise + w))),
                       "random_uniform") == 2);

// Device scopes and scopes of names pass through each other.
constexpr device_spec where_of(const auto& built, std::string_view name) {
  const ir::graph_view g = view_of(built);
  for (int i = 0; i < g.size(); ++i)
    if (g[i].name == name) return g.request(i);
  return {};
}
static_assert(where_of(build_scoped(on<cpu<1>>(scope<"a">(matmul(x, w)))), "a/w") == device_string<"/cpu:1">);
static_assert(where_of(build_scoped(scope<"a">(on<cpu<1>>(matmul(x, w)))), "a/w") == device_string<"/cpu:1">);
// A device function is asked about the name that the variable has.
constexpr auto by_name = [](op_info op) { return op.name == "a/w" ? "/cpu:2" : "/cpu:3"; };
static_assert(where_of(build_scoped(on<by_name>(scope<"a">(matmul(x, w)))), "a/w") == device_string<"/cpu:2">);
// Two names of one variable are asked for apart.
constexpr auto two_places = on<cpu<1>>(scope<"a">(w)) + on<cpu<2>>(scope<"b">(w));
static_assert(where_of(build_scoped(two_places), "a/w") == device_string<"/cpu:1">);
static_assert(where_of(build_scoped(two_places), "b/w") == device_string<"/cpu:2">);

// What is waited for, and what a node runs beside, is inside the names.
static_assert(calls<2, "a/w", "a/v">(scope<"a">(after(assign_add(v, x))(matmul(x, w)))));
static_assert(calls<2, "a/w", "a/v">(scope<"a">(colocate_with(v)(matmul(x, w)))));
// Gradients by a variable are by the one of that name.
static_assert(calls<1, "a/w">(scope<"a">(gradient(sum(square(matmul(x, w))), w))));
static_assert(calls<1, "a/w">(gradient(sum(square(scope<"a">(matmul(x, w)))), scope<"a">(w))));
constexpr auto beside = gradient(sum(square(scope<"a">(matmul(x, w)))), w);
static_assert(build_scoped(beside).status.problem == ir::build_problem::independent);

// Queues are named like variables.
constexpr queue_of<"items", queue_options{}, spec<float, 3, 3>> items;
static_assert(calls<2, "a/items", "items">(scope<"a">(enqueue(items, x)), enqueue(items, x)));

// Two variables of one name and two types are told apart by their scopes, or not.
constexpr auto small = variable<"w", float, 2>(static_initializer<initializer_kind::zeros>{});
static_assert(calls<2, "a/w", "b/w">(scope<"a">(matmul(x, w)), scope<"b">(small)));
constexpr auto clash = build_scoped(scope<"a">(matmul(x, w)), scope<"a">(small));
static_assert(clash.status.problem == ir::build_problem::name_clash && clash.status.text == "a/w");

// A handle from outside of a scope is not a node inside.
constexpr bool knows(const auto& built, const ir::record& r) {
  for (const ir::node_of_record& n : ir::nodes_of(built))
    if (n.what == &r) return true;
  return false;
}
constexpr auto inner = matmul(x, w);
constexpr auto scoped = scope<"a">(inner);
static_assert(knows(build_scoped(scoped), decltype(scoped)::record()));
static_assert(!knows(build_scoped(scoped), decltype(inner)::record()));
static_assert(knows(build_scoped(scoped + inner), decltype(inner)::record()));
static_assert(!knows(build_scoped(scope<"a">(times_w)(x)), decltype(w)::record()));

}  // namespace

TEST_CASE("a scope of names") { SUCCEED("what it promises was checked by the compiler"); }
