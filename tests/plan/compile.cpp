// SPDX-License-Identifier: BSL-1.0
#include "tagma/plan/compile.hpp"

#include <utility>

#include "tagma/expr/op/matmul.hpp"
#include "tagma/expr/op/softmax.hpp"
#include "tagma/expr/op/state.hpp"
#include "tagma/expr/operators.hpp"
#include "tagma/plan/program.hpp"

namespace {

using namespace tagma;
using plan::storage_kind;

constexpr auto x = placeholder<"x", float, 4, 3>();
constexpr auto row = placeholder<"row", float, 3>();
constexpr auto w = variable<"w", float, 4, 3>(static_initializer<initializer_kind::zeros>{});

/// The tables of all outputs of a closure, by the passes of a program.
template <class Graph, std::size_t... Output>
constexpr const auto& tables_of(std::index_sequence<Output...>) {
  return tagma::detail::compiled_plan<Graph, static_cast<int>(Output)...>::raw;
}
template <class Closure>
constexpr const auto& planned(const Closure&) {
  using graph = tagma::detail::compiled_graph<Closure>;
  return tables_of<graph>(std::make_index_sequence<graph::output_count>{});
}

/// A graph whose products go on with the loop over their result, as on a GPU.
template <class Graph>
struct with_products : Graph {};

template <class Closure>
constexpr const auto& planned_with_kernels(const Closure&) {
  using graph = with_products<tagma::detail::compiled_graph<Closure>>;
  return tables_of<graph>(std::make_index_sequence<graph::output_count>{});
}

}  // namespace

template <class Graph>
struct tagma::detail::placed_graph<with_products<Graph>> : placed_graph<Graph> {
  static constexpr auto begins_loop = [] {
    fixed_array<bool, Graph::nodes> list{};
    for (ir::node_id i = 0; i < Graph::view.size(); ++i) list[i] = Graph::view.info(i).name == "matmul";
    return list;
  }();
};

namespace {

/// One loop over two inputs: one stretched along the rows, so not contiguous over the joined axes.
constexpr bool one_loop() {
  const auto p = planned([=] { return outputs(tagma::exp(x * row) - x); });
  return p.sizes.steps == 1 && p.steps[0].fused && p.operation_count[0] == 3 && p.steps[0].operands == 2 &&
         p.sizes.blocks == 1 && p.loads[0].contiguous && p.loads[1].contiguous;
}
static_assert(one_loop());

/// An input that is stretched along the last axis is not read one element after the other.
constexpr bool loop_over_a_column() {
  const auto p = planned([=] { return outputs(x * placeholder<"column", float, 4, 1>()); });
  const auto q = planned([=] { return outputs(x * placeholder<"number", float>()); });
  return p.sizes.steps == 1 && p.loads[0].contiguous && !p.loads[1].contiguous && q.loads[0].contiguous &&
         !q.loads[1].contiguous;
}
static_assert(loop_over_a_column());

/// A chain of kernels needs two blocks; softmax writes over its input.
constexpr bool in_place() {
  const auto p = planned([=] { return outputs(softmax(matmul(x, placeholder<"k", float, 3, 5>()))); });
  return p.sizes.steps == 2 && p.sizes.blocks == 1;
}
static_assert(in_place());

/// Nothing is written over a feed, a variable, or a value that is still read.
constexpr bool not_in_place() {
  const auto feed = planned([=] { return outputs(softmax(x)); });
  const auto product = matmul(x, placeholder<"k", float, 3, 5>());
  const auto twice = planned([=] { return outputs(softmax(product), sum(product)); });
  const auto state = planned([=] { return outputs(softmax(w)); });
  return feed.sizes.blocks == 1 && feed.nodes[feed.steps[0].node].storage == storage_kind::arena &&
         twice.sizes.blocks == 3 && state.sizes.blocks == 1;
}
static_assert(not_in_place());

/// Bytes are taken over for elements of the same size alone, be they wider or narrower: the block is as large as the
/// tensor that it was made for, and a loop writes behind or before what it still has to read.
constexpr bool in_place_for_one_size() {
  const auto product = matmul(x, placeholder<"k", float, 3, 5>());
  const auto precise = matmul(placeholder<"a", double, 4, 3>(), placeholder<"b", double, 3, 5>());
  const auto wider = planned([=] { return outputs(cast<double>(product)); });
  const auto narrower = planned([=] { return outputs(cast<float>(precise)); });
  const auto bytes = planned([=] { return outputs(cast<std::uint8_t>(product)); });
  const auto same = planned([=] { return outputs(cast<std::int32_t>(product)); });
  const auto chain = planned([=] { return outputs(cast<double>(softmax(product))); });
  return wider.sizes.steps == 2 && wider.sizes.blocks == 2 && narrower.sizes.blocks == 2 && bytes.sizes.blocks == 2 &&
         same.sizes.steps == 2 && same.sizes.blocks == 1 && chain.sizes.steps == 3 && chain.sizes.blocks == 2;
}
static_assert(in_place_for_one_size());

/// A tensor that dies is written over only by a result of its shape; one that a view shows in another shape is not.
constexpr bool in_place_for_one_shape() {
  const auto column = matmul(x, placeholder<"c", float, 3, 1>());
  const auto stretched = planned([=] { return outputs(column + x); });
  const auto product = matmul(x, placeholder<"k", float, 3, 4>());
  const auto plain = planned([=] { return outputs(product + placeholder<"z", float, 4, 4>()); });
  const auto both = planned([=] { return outputs(reshape<4, 1, 4>(product) + product); });
  return stretched.sizes.blocks == 2 && plain.sizes.blocks == 1 && both.sizes.steps == 2 && both.sizes.blocks == 2;
}
static_assert(in_place_for_one_shape());

/// A kernel writes over its input only if it says that it may, and a product with a loop behind it over none.
constexpr bool out_of_place() {
  const auto square = placeholder<"square", float, 3, 3>();
  const auto products = planned([=] { return outputs(matmul(matmul(x, square), square)); });
  const auto with_loop = planned_with_kernels([=] { return outputs(tagma::tanh(matmul(softmax(x), square))); });
  const auto& last = with_loop.steps[1];
  return products.sizes.steps == 2 && products.sizes.blocks == 2 && with_loop.sizes.steps == 2 && last.fused &&
         last.before != ir::no_node && with_loop.sizes.blocks == 2;
}
static_assert(out_of_place());

/// Who reads a view reads the tensor that it shows, which lives until then.
constexpr bool read_as_a_view() {
  const auto product = matmul(x, placeholder<"k", float, 3, 5>());
  const auto p = planned([=] { return outputs(softmax(product), sum(reshape<20>(product))); });
  const auto q = planned([=] { return outputs(sum(reshape<20>(product)), softmax(product)); });
  return p.sizes.steps == 3 && p.sizes.blocks == 3 && q.sizes.steps == 3 && q.sizes.blocks == 2;
}
static_assert(read_as_a_view());

/// A view has the bytes of what it shows; an update those of its variable.
constexpr bool shares() {
  const auto p = planned([=] { return outputs(reshape<12>(x), assign(w, x), reshape<2, 6>(tagma::exp(x))); });
  const auto& feed = p.nodes[p.fetches[0]];
  const auto& update = p.nodes[p.fetches[1]];
  const auto& shown = p.nodes[p.fetches[2]];
  return feed.storage == storage_kind::feed && update.storage == storage_kind::variable &&
         shown.storage == storage_kind::arena && p.sizes.blocks == 1 && p.writes_variables && p.feeds == 1;
}
static_assert(shares());

/// The fetched old value is taken before the update overwrites it.
constexpr bool fetches_in_time() {
  const auto p = planned([=] { return outputs(w, assign(w, x)); });
  return p.fetch_steps[0] == 0 && p.fetch_steps[1] == 1 && p.sizes.steps == 1;
}
static_assert(fetches_in_time());

static_assert(plan::detail::is_stretched({3}, {4, 3}, 0) && !plan::detail::is_stretched({3}, {4, 3}, 1));
static_assert(plan::detail::is_stretched({4, 1}, {4, 3}, 1) && !plan::detail::is_stretched({4, 1}, {4, 1}, 1));

}  // namespace
