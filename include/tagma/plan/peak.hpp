// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// How much memory the tensors of a plan take.

#include "tagma/base/error.hpp"
#include "tagma/plan/late.hpp"
#include "tagma/plan/memory.hpp"

namespace tagma::plan {

/// Bytes of the arenas of a plan when every dynamic extent has one value. Throws InvalidArgument if an operation does
/// not take such extents, and ResourceExhausted for more than `max_bytes`.
/// @tparam N,B room for nodes and blocks
template <std::size_t N, std::size_t B>
[[nodiscard]] constexpr std::int64_t peak_bytes(const plan_view& p, extent size) {
  const std::size_t n = p.nodes.size(), blocks = p.blocks.size();
  const bool late = finds_extents(p.nodes);
  fixed_array<tensor_spec, joined_room(N, 1)> specs{};
  if constexpr (N == heap_room) make_room(n + 1, specs);
  if (late) {
    fixed_array<late_spec, joined_room(N, 1)> found{};
    if constexpr (N == heap_room) make_room(n + 1, found);
    for (std::size_t i = 0; i < n; ++i) {
      if (const char* problem = assume_late(p, static_cast<node_id>(i), found.data(), size))
        fail(status_code::invalid_argument,
             {"peak_bytes: ", p.nodes[i].op->name, " #", p.nodes[i].source, ": ", problem});
      check_size(specs[i] = found[i].most);
    }
  }
  for (std::size_t i = 0; i < n && !late; ++i) {
    const plan_node& node = p.nodes[i];
    specs[i] = {node.spec.type, node.spec.dims.with_dyn(size)};
    check_size(specs[i]);
    if (node.inputs == 0 || node.spec.dims.is_static() || node.op->is(ir::op_kind::update)) continue;
    const plan_node& of = inferring(p.nodes, p.inputs, node);
    scratch_array<tensor_spec, 8> in(of.inputs);
    for (int k = 0; k < of.inputs; ++k) in[k] = specs[p.inputs[of.first_input + k]];
    ir::infer_args args{in.view(),
                        p.attributes.subspan(of.first_attribute, of.attribute_count),
                        {},
                        inferred_output(p.attributes, node)};
    if (const char* problem = of.op->infer(args))
      fail(status_code::invalid_argument, {"peak_bytes: ", node.op->name, " #", node.source, ": ", problem});
    specs[i] = args.out;
    check_size(specs[i]);
  }
  fixed_array<std::int64_t, joined_room(B, 1)> bytes{}, offsets{};
  fixed_array<std::int32_t, joined_room(B, 1)> live{};
  if constexpr (B == heap_room) make_room(blocks + 1, bytes, offsets, live);
  for (std::size_t b = 0; b < blocks; ++b) {
    bytes[b] = bytes_of_block(
        p.blocks[b], [&](node_id i) { return specs[i].dims; }, [&](node_id i) { return bytes_of(specs[i]); });
  }
  std::int64_t sum = 0;
  for (std::size_t d = 0; d < p.devices.size(); ++d)
    sum = bounded_sum(sum, plan_memory(p.blocks, {bytes.data(), blocks}, {offsets.data(), blocks},
                                       {live.data(), blocks}, static_cast<std::int16_t>(d)));
  if (sum > max_bytes)
    fail(status_code::resource_exhausted, "peak_bytes: the tensors have more bytes than a process can address");
  return sum;
}

}  // namespace tagma::plan
