// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The devices that the suite runs on. A device is a name, its kernels, and for programs of several operations a scope
/// and the options of a session (programs.hpp). Everything else of the suite knows no device.

#include <iosfwd>
#include <string_view>
#include <vector>

#include "conformance/values.hpp"
#include "tagma/device/operations.hpp"
#include "tagma/runtime/kernel.hpp"

namespace tagma::conformance {

using namespace tagma::device::operations;

/// One call of one kernel. All addresses are of host memory: a device with memory of its own copies.
struct kernel_call {
  const ir::op_info* op = nullptr;
  runtime::operand out;
  std::vector<runtime::operand> outs;  ///< instead, of an operation with several results; without data: not wanted
  std::vector<runtime::operand> in;
  std::vector<ir::attribute> attributes;
  std::vector<shape> declared;  ///< what the compiler knows of the inputs, `dyn` where it knows nothing
  shape declared_out;
  const carried_value* value = nullptr;
  runtime::late_results* late = nullptr;  ///< of an operation that is late
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
  std::int32_t source = 0;
  bool several_threads = false;  ///< results must not depend on it
};

/// A sum of results of one operation, each times its weights, and the operands by which it is differentiated.
struct gradient_call {
  const ir::op_rules* rules = nullptr;
  std::vector<ir::attribute> attributes;
  std::vector<tensor_spec> in;   ///< of the run
  std::vector<shape> declared;   ///< what the compiler knows of them
  std::vector<tensor_spec> out;  ///< of the run
  std::vector<array> operands, weights;
  unsigned wanted = 1;  ///< bit k: result k is in the sum
  std::vector<std::size_t> by;
};

/// Where kernels run.
class device {
 public:
  virtual ~device() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// True if there is a kernel for this operation and these element types; of a view, if such values can be there.
  [[nodiscard]] virtual bool has(const ir::op_info& op, const signature& types) const = 0;
  /// Runs the kernel that fits the operation, the element types and the declared shapes.
  virtual void run(const kernel_call& call) const = 0;

  /// True if it runs whole programs of one operation: views are run as well, and the compiler of graphs differentiates.
  [[nodiscard]] virtual bool runs_programs() const { return false; }
  /// Whether it can be asked for an operation with these attributes.
  /// @param value what a node of it carries, or nullptr
  [[nodiscard]] virtual bool takes(const ir::op_info&, const carried_value* value) const {
    static_cast<void>(value);
    return true;
  }
  /// The gradients, one for each of `by`. Only where programs run.
  [[nodiscard]] virtual std::vector<array> differentiate(const gradient_call& call) const {
    fail(status_code::unimplemented, {name(), " differentiates nothing: ", call.rules->info->name});
  }
  /// Writes what else it has run, lines for the table of operations.
  virtual void write_more(std::ostream&) const {}
};

/// The CPU on which the program runs.
[[nodiscard]] const device& cpu_device();
/// A GPU that is none: memory, copies and launches are those of tagma/fake_gpu.hpp, the kernels are those of the CPU.
[[nodiscard]] const device& fake_gpu_device();
/// A GPU that CUDA programs. On a machine without one its kernels run on the host, thread by thread.
[[nodiscard]] const device& cuda_device();

/// No device: programs that a process builds, a program for each call, run by the registry of kernels (built/).
[[nodiscard]] const device& built_programs();

/// All devices of the program. Those of cuda/ and built/ have none but their own.
[[nodiscard]] std::vector<const device*> devices();

}  // namespace tagma::conformance
