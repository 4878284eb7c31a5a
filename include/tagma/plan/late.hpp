// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Extents that a kernel finds, before it has found them: what is known of them, and how large they can be.

#include "tagma/base/config.hpp"
#include "tagma/base/scratch_array.hpp"
#include "tagma/plan/plan.hpp"
#include "tagma/tensor/size.hpp"

namespace tagma::plan {

/// What is known of a node before its kernel has run.
struct late_spec {
  tensor_spec known;    ///< `dyn` where a kernel finds an extent
  tensor_spec most;     ///< the same with the largest extents there; 0 where nobody knows one
  bool bounded = true;  ///< false if nobody knows one
};

/// Refuses what a kernel says of result `r`.
/// @param found extent `axis` of it
[[noreturn]] TAGMA_COLD inline void fail_found(const late_spec& expected, std::size_t r, int axis, extent found) {
  const extent known = expected.known.dims[axis];
  if (known == dyn && found < 0)
    fail(status_code::internal, {"its kernel does not say extent ", axis, " of result ", r});
  if (known != dyn)
    fail(status_code::internal,
         {"its kernel says that extent ", axis, " of result ", r, " is ", found, ", which is ", known});
  fail(status_code::internal, {"its kernel says that extent ", axis, " of result ", r, " is ", found,
                               ", above its bound ", expected.most.dims[axis]});
}

/// Infers what is known behind inputs of which no more may be known. Returns a sentence if they do not fit.
/// @param inputs gives the `late_spec` of input `k`
/// @param declared what the compiler knew
template <class Inputs>
[[nodiscard]] TAGMA_COLD constexpr const char* infer_late(const ir::op_info& op, int count, const Inputs& inputs,
                                                          ir::attribute_list attributes, int output,
                                                          const tensor_spec& declared, late_spec& to) {
  scratch_array<tensor_spec, 8> known(count), most(count);
  to.bounded = true;
  for (int k = 0; k < count; ++k) {
    const late_spec& in = inputs(k);
    known[k] = in.known;
    most[k] = in.most;
    to.bounded = to.bounded && in.bounded;
  }
  ir::infer_args args{known.view(), attributes, {}, output};
  if (const char* problem = op.infer(args)) return problem;
  if (args.out.dims.rank != declared.dims.rank) return "the result has another rank";
  to.known = args.out;
  for (int i = 0; i < to.known.dims.rank; ++i)
    if (to.known.dims[i] == dyn) to.known.dims[i] = declared.dims[i];
  to.most = to.known;
  if (to.known.dims.is_static()) return to.bounded = true, nullptr;
  const ir::infer_function bound = op.late ? op.bound : op.infer;
  ir::infer_args largest{most.view(), attributes, {}, output};
  to.bounded = to.bounded && bound != nullptr && bound(largest) == nullptr && largest.out.dims.is_known() &&
               largest.out.dims.rank == to.known.dims.rank;
  for (int i = 0; i < to.most.dims.rank; ++i)
    if (to.most.dims[i] == dyn) to.most.dims[i] = to.bounded ? largest.out.dims[i] : 0;
  if (is_addressable(to.most)) return nullptr;
  to.bounded = false;
  for (int i = 0; i < to.most.dims.rank; ++i)
    if (to.known.dims[i] == dyn) to.most.dims[i] = 0;
  return nullptr;
}

/// The same of node `i` of a plan, for sizes before any run: extents that nobody knows, and nobody bounds, are `size`.
/// @param all of the nodes before it, and of it when it returns
template <class Plan>
[[nodiscard]] TAGMA_COLD constexpr const char* assume_late(const Plan& plan, node_id i, late_spec* all, extent size) {
  const plan_node& n = plan.nodes[i];
  late_spec& own = all[i];
  own = {{n.spec.type, n.spec.dims.with_dyn(size)}, {n.spec.type, n.spec.dims.with_dyn(size)}};
  if (n.inputs == 0 || n.spec.dims.is_static() || n.op->is(ir::op_kind::update)) return nullptr;
  const plan_node& of = inferring(plan.nodes, plan.inputs, n);
  const auto inputs = [&](int k) -> const late_spec& { return all[plan.inputs[of.first_input + k]]; };
  const shape assumed = own.most.dims;
  if (const char* problem =
          infer_late(*of.op, of.inputs, inputs, plan.attributes.subspan(of.first_attribute, of.attribute_count),
                     inferred_output(plan.attributes, n), n.spec, own))
    return problem;
  for (int k = 0; k < assumed.rank && !own.bounded; ++k)
    if (own.known.dims[k] == dyn) own.most.dims[k] = assumed[k];
  own.bounded = true;
  return nullptr;
}

/// True if a kernel of the plan finds extents.
[[nodiscard]] constexpr bool finds_extents(array_view<const plan_node> nodes) {
  for (const plan_node& n : nodes)
    if (n.op->late) return true;
  return false;
}

}  // namespace tagma::plan
