// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Checks of one operation: every kernel of every device against a reference in double, and every gradient against
/// central differences of that reference.

#include <functional>
#include <string>
#include <vector>

#include "conformance/values.hpp"
#include "tagma/device/operations.hpp"

namespace tagma::conformance {

using namespace tagma::device::operations;

/// An operand: its shape, and numbers between two bounds, or given ones.
struct operand_rule {
  shape dims;
  double low = -2;
  double high = 2;
  std::vector<double> values{};  ///< given elements; rounded to the element type
  dtype type = dtype::none;      ///< another element type than the signature says
};

/// One call: operands and attributes, for every element type and device.
struct problem {
  std::vector<operand_rule> in;
  std::vector<ir::attribute> attributes{};
  bool has_gradient = true;  ///< false where a test of the gradient would take long, or has no meaning
  int type_attribute = -1;   ///< the attribute that holds the element type of the result
  bool (*applies)(const signature&) = nullptr;               ///< to which element types; nullptr: to all
  std::function<void(std::vector<array>& in)> prepare = {};  ///< works out operands that follow from others
  const carried_value* value = nullptr;
};

/// What an operation is. `in` are its operands as the kernel sees them, `out` the inferred result. Results are rounded
/// by the suite. It knows nothing of kernels.
using reference = std::function<array(const std::vector<array>& in, const std::vector<ir::attribute>& attributes,
                                      const tensor_spec& out)>;

/// What else the suite has to know of an operation.
struct check_options {
  double slack = 1;              ///< times the tolerance of the element type, for values
  double gradient_slack = 24;    ///< the same for gradients, whose intermediate results are rounded as well
  unsigned differentiate = ~0u;  ///< bit i: the gradient by input i is checked
  unsigned written = 0;          ///< bit i: the kernel changes input i; the result is one with input 0
  int known_axes = 0;            ///< the last axes, whose extents a gradient must know
  unsigned over = 0;             ///< bit i: a plan may let the result take the memory of input i
};

/// One row of the list of operations, without its types.
struct operation {
  const ir::op_rules* rules = nullptr;
  array_view<const signature> signatures;
};
template <class Row>
[[nodiscard]] operation operation_of() {
  return {&ir::rules<typename Row::operation>, Row::signatures.view()};
}
/// The whole list, in the order of the table.
[[nodiscard]] const std::vector<operation>& all_operations();
/// The row of an operation.
[[nodiscard]] const operation& find_operation(const ir::op_rules& rules);

/// Runs one operation on every device, with every signature, and compares.
void check(const ir::op_rules& rules, const std::vector<problem>& problems, const reference& expected,
           const check_options& options = {});
template <class Op>
void check(const std::vector<problem>& problems, const reference& expected, const check_options& options = {}) {
  check(ir::rules<Op>, problems, expected, options);
}

class device;

/// One call of one kernel, with the extents of the run.
struct kernel_problem {
  const ir::op_rules* rules = nullptr;
  std::vector<tensor_spec> in;
  std::vector<ir::attribute> attributes;
  tensor_spec out;
  std::vector<tensor_spec> outs{};  ///< instead, of an operation with several results
  const carried_value* value = nullptr;
  std::uint64_t seed = 1;
  std::uint64_t step = 0;
  std::int32_t source = 0;
};

/// Runs one kernel twice: in memory full of one garbage and of another, with one thread and with several, with extents
/// that the compiler knows and with those that it does not, aligned and not. Every byte of the results must be the
/// same, and nothing else may change.
/// @param in the operands; those in `options.written` take on what the kernel has made of them
/// @return the result
[[nodiscard]] array run_kernel(const device& on, const kernel_problem& p, std::vector<array>& in,
                               const check_options& options = {});

/// Fails with one sentence, however many elements are wrong.
void compare(const array& found, const array& expected, dtype type, double slack, const std::string& what);

/// What an operation with several results is.
using reference_of_several = std::function<std::vector<array>(
    const std::vector<array>& in, const std::vector<ir::attribute>& attributes, const std::vector<tensor_spec>& out)>;

/// The same for an operation with several results: each subset of them is read, those of many by samples; whatever is
/// read, the bytes are the same. Gradients flow into each subset as well.
void check_several(const ir::op_rules& rules, const std::vector<problem>& problems,
                   const reference_of_several& expected, const check_options& options = {});
template <class Op>
void check_several(const std::vector<problem>& problems, const reference_of_several& expected,
                   const check_options& options = {}) {
  check_several(ir::rules<Op>, problems, expected, options);
}

/// Runs the kernel of an operation with several results as `run_kernel` does.
/// @param wanted bit k: result k is read
/// @return the results; empty ones where they are not wanted
[[nodiscard]] std::vector<array> run_several(const device& on, const kernel_problem& p, const std::vector<array>& in,
                                             unsigned wanted);

/// Keeps for the table of operations that a device has run an operation with these types.
void record_values(const device& on, const ir::op_info& op, const signature& types);
void record_gradient(const device& on, const ir::op_info& op, const signature& types);

}  // namespace tagma::conformance
