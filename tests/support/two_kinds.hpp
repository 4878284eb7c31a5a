// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A second kind of fake devices, NPUs, beside the fake GPUs. All files of a program that share a graph include this,
/// or none does.

#include "tagma/device/fake/provide.hpp"

namespace tagma::test {

/// NPUs: another driver than that of the GPUs, with memory of its own. A session uses those that are current in the
/// thread that makes it.
class npu_machine : public device::fake::installation {
 public:
  explicit npu_machine(const device::fake::driver_options& options = {})
      : installation(options, "NPU"), before_(current_) {
    current_ = this;
  }
  ~npu_machine() { current_ = before_; }

  [[nodiscard]] static installation& current() {
    if (current_ != nullptr) return *current_;
    static installation of_process({.memory = std::int64_t{1} << 30, .pinned = std::int64_t{1} << 30}, "NPU");
    return of_process;
  }

 private:
  npu_machine* before_;
  static inline thread_local npu_machine* current_ = nullptr;
};

}  // namespace tagma::test

/// Their kernels go on with no loop, unlike those of GPUs.
template <class Graph>
  requires(true)
struct tagma::ir::accelerator_of<Graph, 2> : tagma::ir::accelerator_of<Graph, 1> {
  static constexpr std::string_view type = "NPU";
  [[nodiscard]] static constexpr bool begins_loop(const op_info&) { return false; }
  [[nodiscard]] static owned<device::stream::accelerator> start(gpu_options options) {
    options.allow_growth = true;
    return make_owned<device::fake::accelerator>(test::npu_machine::current(), options, type);
  }
};
