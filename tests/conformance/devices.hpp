// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The devices that the suite runs on. A device is a name, its kernels, and for programs of several operations a scope
/// and the options of a session (programs.hpp). Everything else of the suite knows no device.

#include <string_view>
#include <vector>

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

/// Where kernels run.
class device {
 public:
  virtual ~device() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// True if there is a kernel for this operation and these element types; of a view, if such values can be there.
  [[nodiscard]] virtual bool has(const ir::op_info& op, const signature& types) const = 0;
  /// Runs the kernel that fits the operation, the element types and the declared shapes.
  virtual void run(const kernel_call& call) const = 0;
};

/// The CPU on which the program runs.
[[nodiscard]] const device& cpu_device();
/// A GPU that is none: memory, copies and launches are those of tagma/fake_gpu.hpp, the kernels are those of the CPU.
[[nodiscard]] const device& fake_gpu_device();
/// A GPU that CUDA programs. On a machine without one its kernels run on the host, thread by thread.
[[nodiscard]] const device& cuda_device();

/// All devices of the program. That of cuda/ has none but its own.
[[nodiscard]] std::vector<const device*> devices();

}  // namespace tagma::conformance
