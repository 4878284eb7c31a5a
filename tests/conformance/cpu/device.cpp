// SPDX-License-Identifier: BSL-1.0
#include "conformance/cpu/kernels.hpp"
#include "conformance/devices.hpp"
#include "tagma/device/cpu/executor.hpp"

namespace tagma::conformance {

namespace {

/// The loads of a loop that read one element for a whole row, as the compiler of graphs decides.
unsigned stretched_loads(const kernel_call& call) {
  const shape& out = call.declared_out;
  const auto stretched = [&](std::size_t l, int axis) {
    return plan::detail::is_stretched(call.declared[l], out, axis);
  };
  const int joined = plan::detail::innermost_axes(out, call.declared.size(), stretched);
  unsigned loads = 0;
  for (std::size_t l = 0; l < call.declared.size(); ++l)
    for (int axis = out.rank - joined; axis < out.rank; ++axis)
      if (out[axis] != 1 && stretched(l, axis)) loads |= 1u << l;
  return loads;
}

bool fits(const signature& types, const kernel_call& call) {
  if (types.out != call.out.type) return false;
  for (std::size_t i = 0; i < call.in.size() && i < static_cast<std::size_t>(types.inputs); ++i)
    if (!call.op->ignores_elements(static_cast<int>(i)) && types.in[i] != call.in[i].type) return false;
  return true;
}

class cpu final : public device {
 public:
  cpu() : one_(runtime::make_cpu_executor(1)), three_(runtime::make_cpu_executor(3)) {
    add_loops(kernels_);
    add_conversions(kernels_);
    add_reductions(kernels_);
    add_others(kernels_);
  }
  [[nodiscard]] std::string_view name() const override {
#if TAGMA_WITH_ONEDNN
    return "CPU (oneDNN)";
#else
    return "CPU (Eigen)";
#endif
  }
  [[nodiscard]] bool has(const ir::op_info& op, const signature& types) const override {
    for (const cpu_kernel& k : kernels_)
      if (k.key == op.key && k.types.out == types.out && k.types.in[0] == types.in[0] && k.types.in[1] == types.in[1])
        return true;
    return false;
  }
  void run(const kernel_call& call) const override {
    const bool loop = call.op->kind == ir::op_kind::elementwise;
    kernel_call read = call;
    if (loop)  // a loop is not given what it does not read
      for (std::size_t i = read.in.size(); i-- > 0;)
        if (call.op->ignores_elements(static_cast<int>(i))) {
          read.in.erase(read.in.begin() + static_cast<std::ptrdiff_t>(i));
          read.declared.erase(read.declared.begin() + static_cast<std::ptrdiff_t>(i));
        }
    const unsigned stretched = loop ? stretched_loads(read) : 0;
    for (const cpu_kernel& k : kernels_)
      if (k.key == call.op->key && k.stretched == stretched && fits(k.types, call)) return run_entry(k.entry, read);
    fail(status_code::unimplemented, {name(), " has no kernel ", call.op->name, " for ", to_string(call.out.type)});
  }

 private:
  void run_entry(const runtime::kernel_entry& entry, kernel_call& call) const {
    const auto& threads = call.several_threads ? three_ : one_;
    const runtime::run_context context{threads.get(), call.seed, call.step};
    runtime::kernel_args args;
    args.in = call.in;
    args.out = call.out;
    args.attributes = call.attributes;
    args.source = call.source;
    args.declared = call.declared;
    args.declared_out = call.declared_out;
    args.value = call.value;
    owned<runtime::kernel_state> state;
    if (entry.prepare != nullptr) state = entry.prepare(args, context);
    args.state = state.get();
    entry.run(args, context);
  }

  owned<runtime::executor> one_, three_;
  cpu_kernels kernels_;
};

}  // namespace

const device& cpu_device() {
  static const cpu instance;
  return instance;
}

}  // namespace tagma::conformance
