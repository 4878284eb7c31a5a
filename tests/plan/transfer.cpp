// SPDX-License-Identifier: BSL-1.0
#include "tagma/plan/transfer.hpp"

#include <catch2/catch.hpp>

#include "support/graphs.hpp"
#include "tagma/expr/op/control.hpp"
#include "tagma/expr/op/matmul.hpp"
#include "tagma/expr/op/state.hpp"
#include "tagma/expr/op/view.hpp"
#include "tagma/expr/operators.hpp"

namespace {

using namespace tagma;
using test::build, test::room, test::view_of;

constexpr auto x = placeholder<"x", float, 4, 4>();
constexpr auto v = variable<"v", float, 4, 4>(static_initializer<initializer_kind::zeros>{});

constexpr plan::plan_device two_cpus[] = {{{{}, -1, -1, device_text("CPU"), 0}}, {{{}, -1, -1, device_text("CPU"), 1}}};
constexpr plan::plan_device with_gpu[] = {{{{}, -1, -1, device_text("CPU"), 0}},
                                          {{{}, -1, -1, device_text("GPU"), 0}, memory_kind::own}};
constexpr plan::plan_device with_far_cpu[] = {{{device_text("a"), 0, 0, device_text("CPU"), 0}},
                                              {{device_text("a"), 0, 1, device_text("CPU"), 0}}};

/// The plan of all roots, where `device(name of the operation)` is where nodes run.
template <std::size_t Roots, class Device>
constexpr auto planned(const ir::built_graph<room, Roots>& built, Device device,
                       array_view<const plan::plan_device> devices = two_cpus) {
  const auto g = view_of(built);
  fixed_array<ir::node_id, Roots> fetches{};
  for (std::size_t i = 0; i < Roots; ++i) fetches[i] = built.roots[i];
  fixed_array<std::int16_t, room> where{};
  for (ir::node_id i = 0; i < g.size(); ++i) where[i] = static_cast<std::int16_t>(device(g.info(i).name));
  const auto needs = ir::prune<room>(g, fetches);
  const auto fusion = ir::fuse<room>(g, needs, fetches, where);
  const auto order = plan::schedule<room, 4 * room>(g, needs, fusion);
  return plan::assign_storage(plan::add_transfers<2, 4 * room>(
      plan::write_tables<room, 4 * room, 4 * room, Roots>(g, fetches, needs, fusion, order, where), devices));
}

template <class Plan>
constexpr int transfers(const Plan& p) {
  int n = 0;
  for (std::int32_t s = 0; s < p.sizes.steps; ++s) n += p.nodes[p.steps[s].node].op == &ir::info<plan::transfer>;
  return n;
}

/// The nodes of all steps are on the device of the step, and so is what they read.
template <class Plan>
constexpr bool reads_at_home(const Plan& p) {
  for (std::int32_t s = 0; s < p.sizes.steps; ++s) {
    const plan::plan_step& step = p.steps[s];
    const plan::plan_node& n = p.nodes[step.node];
    if (n.step != static_cast<std::int32_t>(s)) return false;
    if (n.op == &ir::info<plan::transfer>) {
      // Its source is all that it has to do with.
      if (step.operands != 1 || n.inputs != 1 || n.controls != 0 || n.attribute_count != 0) return false;
      if (p.inputs[n.first_input] != p.operands[step.first_operand]) return false;
      continue;
    }
    for (int k = 0; k < step.operands; ++k) {
      const plan::plan_node& in = p.nodes[p.operands[step.first_operand + k]];
      const bool stored = in.storage == plan::storage_kind::arena || in.storage == plan::storage_kind::variable;
      if (stored && in.device != n.device) return false;
    }
  }
  return true;
}

/// Two readers elsewhere, one copy; the feed is read where it is.
constexpr bool one_copy_for_all_readers() {
  const auto a = matmul(x, x);
  const auto p = planned(build(matmul(a, x), matmul(a, a)),
                         [n = 0](std::string_view op) mutable { return op == "matmul" && n++ > 0 ? 1 : 0; });
  return transfers(p) == 1 && p.sizes.steps == 4 && reads_at_home(p);
}
static_assert(one_copy_for_all_readers());

/// What is on one device only needs no copies, wherever that is.
constexpr bool nothing_to_copy() {
  const auto p = planned(build(matmul(tagma::exp(x) * x, x)), [](std::string_view) { return 1; });
  return transfers(p) == 0 && reads_at_home(p) && p.blocks[0].device == 1;
}
static_assert(nothing_to_copy());

/// A loop is cut where its operations are on two devices, and blocks are in the arena of theirs.
constexpr bool a_cut_loop() {
  const auto p =
      planned(build(tagma::exp(tagma::tanh(x) + x)), [](std::string_view op) { return op == "exp" ? 0 : 1; });
  return transfers(p) == 1 && p.sizes.steps == 3 && reads_at_home(p) && p.nodes[p.steps[0].node].device == 1 &&
         p.nodes[p.steps[1].node].device == 0 && p.nodes[p.steps[2].node].device == 0;
}
static_assert(a_cut_loop());

/// A view of a tensor of another device is copied as it is seen.
constexpr bool a_view() {
  const auto p = planned(build(matmul(reshape<2, 8>(matmul(x, x)), reshape<8, 2>(x))),
                         [n = 0](std::string_view op) mutable { return op == "matmul" ? n++ : 0; });
  if (transfers(p) != 1) return false;
  const plan::plan_node& copy = p.nodes[p.steps[1].node];
  return copy.spec.dims == shape{2, 8} && copy.device == 1 && reads_at_home(p);
}
static_assert(a_view());

/// A copy of a variable is stale after an update.
constexpr bool an_updated_variable() {
  const auto before = matmul(v, x);
  const auto update = assign_add(v, x);
  const auto after = tagma::after(update)(matmul(x, v));
  const auto p = planned(build(before, update, after), [](std::string_view op) { return op == "matmul" ? 1 : 0; });
  return transfers(p) == 2 && reads_at_home(p);
}
static_assert(an_updated_variable());

/// What is fetched from a device that the host cannot read is brought to the client, before an update overwrites it.
constexpr bool fetched_values() {
  const auto p = planned(
      build(matmul(x, x), v, assign_add(v, x)), [](std::string_view) { return 1; }, with_gpu);
  if (!reads_at_home(p)) return false;
  // The feed goes there; the product, the variable before and after the update come back.
  if (transfers(p) != 4) return false;
  for (const ir::node_id f : p.fetches)
    if (p.nodes[f].device != 0) return false;
  std::int32_t update = -1;
  for (std::int32_t s = 0; s < p.sizes.steps; ++s)
    if (p.nodes[p.steps[s].node].op->kind == ir::op_kind::update) update = s;
  const std::int32_t old = p.nodes[p.fetches[1]].step, now = p.nodes[p.fetches[2]].step;
  // They are taken where they were copied to, once all steps are done.
  for (const std::int32_t f : p.fetch_steps)
    if (f != static_cast<std::int32_t>(p.sizes.steps)) return false;
  return old < update && update < now;
}
static_assert(fetched_values());

/// A CPU of another task is no neighbour: its memory is that of another host.
constexpr bool a_far_cpu() {
  const auto p = planned(
      build(matmul(x, x), v, assign_add(v, x)), [](std::string_view) { return 1; }, with_far_cpu);
  return reads_at_home(p) && transfers(p) == 4;
}
static_assert(a_far_cpu());

/// The copy of a tensor that waited for something has that wait behind it.
constexpr bool a_tensor_that_waited() {
  const auto p = planned(
      build(after(assign_add(v, x))(matmul(x, x))), [](std::string_view) { return 1; }, with_gpu);
  return transfers(p) == 2 && reads_at_home(p);
}
static_assert(a_tensor_that_waited());

}  // namespace

TEST_CASE("transfers, at run time too") {
  CHECK(one_copy_for_all_readers());
  CHECK(nothing_to_copy());
  CHECK(a_cut_loop());
  CHECK(a_view());
  CHECK(an_updated_variable());
  CHECK(fetched_values());
  CHECK(a_tensor_that_waited());
}

TEST_CASE("each device has its arena") {
  const auto p =
      planned(build(tagma::exp(tagma::tanh(x) + x)), [](std::string_view op) { return op == "exp" ? 0 : 1; });
  std::vector<plan::plan_block> blocks;
  for (std::int32_t b = 0; b < p.sizes.blocks; ++b) blocks.push_back(p.blocks[b]);
  std::vector<std::int64_t> bytes(blocks.size(), 64), offsets(blocks.size(), -1);
  std::vector<std::int32_t> live(blocks.size());
  CHECK(plan::plan_memory(blocks, bytes, offsets, live, 0) > 0);
  for (std::size_t b = 0; b < blocks.size(); ++b) CHECK((offsets[b] >= 0) == (blocks[b].device == 0));
  CHECK(plan::plan_memory(blocks, bytes, offsets, live, 1) == 64);
}
