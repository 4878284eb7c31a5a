// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What sessions have of the GPUs of this machine.

#include "tagma/device/cuda/driver.hpp"
#include "tagma/device/cuda/libraries.hpp"
#include "tagma/device/stream/joint_accelerator.hpp"

namespace tagma::device::cuda {

/// An accelerator whose kernels are those of CUDA: what they share on a stream, and what they are told of a run.
/// @tparam Base puts them into its streams, or runs them itself
template <class Base>
class with_cuda_kernels : public Base {
 public:
  using Base::Base;

  [[nodiscard]] owned<stream::stream_state> make_state(runtime::stream_ref stream, std::byte* words,
                                                       stream::memory_pool& pool) override {
    return make_owned<state>(stream, words, pool);
  }
  [[nodiscard]] std::size_t words_size() const override { return sizeof(run_parameters); }
  void write_words(std::byte* words, const run_context& context) const override {
    const run_parameters p{context.seed, context.step, no_failure};
    std::memcpy(words, &p, sizeof p);
  }
  void check_words(const std::byte* words, const runtime::bound_plan& plan) const override {
    run_parameters p;
    std::memcpy(&p, words, sizeof p);
    check_run(p.failure, [&](std::int32_t source) {
      for (std::size_t s = 0; s < plan.step_count(); ++s)
        if (plan.call(s).source == source) return plan.step_text(s);
      return sentence({"node #", source});
    });
  }

 private:
  struct state final : stream::stream_state {
    state(runtime::stream_ref stream, std::byte* words, stream::memory_pool& pool)
        : resources(stream.native, reinterpret_cast<run_parameters*>(words), &pool) {
      library = &resources;
    }
    stream_resources resources;
  };
};

class accelerator final : public with_cuda_kernels<stream::accelerator> {
 public:
  using with_cuda_kernels::with_cuda_kernels;

  void launch(const runtime::bound_plan& plan, std::size_t s, const run_context& context) override {
    plan.device_kernel(s).run(plan.call(s), context);
  }
};

/// The GPUs of this machine, for all sessions of the process. They are never destroyed: a session may end after the
/// driver of CUDA has shut down.
[[nodiscard]] inline stream::shared_devices& shared_gpus() {
  static driver* const all = new driver;
  static stream::shared_devices* const shared = new stream::shared_devices(*all, "GPU");
  return *shared;
}

}  // namespace tagma::device::cuda
