// SPDX-License-Identifier: BSL-1.0
#include "conformance/cpu/kernels.hpp"
#include "tagma/device/cpu/executor.hpp"

namespace tagma::conformance {

namespace {

class cpu final : public device {
 public:
  [[nodiscard]] std::string_view name() const override {
#if TAGMA_WITH_ONEDNN
    return "CPU (oneDNN)";
#else
    return "CPU (Eigen)";
#endif
  }
  [[nodiscard]] bool has(const ir::op_info& op, const signature& types) const override {
    return has_kernel(cpu_kernels(), op, types);
  }
  void run(const kernel_call& call) const override {
    prepared_call(cpu_kernels(), call, {call.several_threads ? three_.get() : one_.get()}).run();
  }

 private:
  owned<runtime::executor> one_ = runtime::make_cpu_executor(1), three_ = runtime::make_cpu_executor(3);
};

}  // namespace

const kernel_values& cpu_kernels() {
  static const kernel_values all = [] {
    kernel_values k;
    add_loops(k);
    add_conversions(k);
    add_reductions(k);
    add_others(k);
    return k;
  }();
  return all;
}

const device& cpu_device() {
  static const cpu instance;
  return instance;
}

}  // namespace tagma::conformance
