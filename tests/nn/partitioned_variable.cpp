// SPDX-License-Identifier: BSL-1.0
#include "tagma/nn/partitioned_variable.hpp"

#include "support/graphs.hpp"
#include "tagma/expr/on.hpp"
#include "tagma/expr/op/gradient.hpp"

namespace {

using namespace tagma;
using test::build, test::build_scoped, test::count_of, test::view_of;

constexpr auto cut = partitioned_variable<"w", fixed_size_partitioner{3}, float, 10, 4>(zeros);
static_assert(decltype(cut)::spec == tensor_spec{dtype::float32, {10, 4}});

/// The parts have names and extents: four rows, three, three.
constexpr bool has_parts() {
  const auto built = build(cut);
  const auto g = view_of(built);
  const auto parts = g.inputs(built.roots[0]);
  return g.info(built.roots[0]).name == "concat" && parts.size() == 3 && g[parts[0]].name == "w/part_0" &&
         g[parts[2]].name == "w/part_2" && g[parts[0]].spec.dims == shape{4, 4} &&
         g[parts[1]].spec.dims == shape{3, 4} && g[parts[2]].spec.dims == shape{3, 4};
}
static_assert(has_parts());

/// Along another axis, by bytes; names count beyond nine.
constexpr bool has_many_parts() {
  constexpr auto columns =
      partitioned_variable<"c", axis_size_partitioner{.most_bytes = 40, .axis = 1}, float, 10, 12>(ones);
  const auto built = build(columns);
  const auto g = view_of(built);
  const auto parts = g.inputs(built.roots[0]);
  return parts.size() == 12 && g[parts[11]].name == "c/part_11" && g[parts[11]].spec.dims == shape{10, 1};
}
static_assert(has_many_parts());

// What the partitioner leaves whole is a plain variable.
constexpr auto whole = partitioned_variable<"w", min_max_partitioner{.most_parts = 4}, float, 10, 4>(zeros);
static_assert(std::is_same_v<decltype(whole), const decltype(variable<"w", float, 10, 4>(zeros))>);

/// A setter hands out the parts one by one.
constexpr bool parts_are_spread() {
  const auto built = build_scoped(on<replica_device_setter{.ps_tasks = 2}>(cut));
  const auto g = view_of(built);
  const auto parts = g.inputs(built.roots[0]);
  const std::int32_t first = g.request(parts[0]).task;
  return first >= 0 && g.request(parts[1]).task == 1 - first && g.request(parts[2]).task == first &&
         g.request(built.roots[0]) == device_string<"/job:worker">;
}
static_assert(parts_are_spread());

}  // namespace
