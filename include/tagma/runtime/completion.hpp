// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// How an asynchronous kernel says that it is done.

#include "tagma/base/config.hpp"
#include "tagma/runtime/run_control.hpp"

namespace tagma::runtime {

/// Somebody who waits for operations to end.
class completion_target {
 public:
  /// @param error nullptr if the operation did what it was to do
  virtual void complete(std::int32_t step, std::exception_ptr error) noexcept = 0;

 protected:
  ~completion_target() = default;
};

/// Ends one operation of one run. Two words, copied freely; exactly one copy is called once, by any thread, also before
/// the kernel that got it has returned. A call runs nothing: it marks the operation as done and wakes who goes on, so a
/// lock of the caller's may be held.
class completion {
 public:
  completion() = default;
  completion(completion_target& target, std::int32_t step) : target_(&target), step_(step) {}

  /// The output is written.
  void succeed() const noexcept { target_->complete(step_, nullptr); }
  /// The run fails with this error, unless another one came first.
  void fail(std::exception_ptr error) const noexcept;
  void fail(status_code code, std::string_view text) const noexcept;
  /// What a hook answers that is told to stop.
  void cancel() const noexcept;

 private:
  completion_target* target_ = nullptr;
  std::int32_t step_ = 0;
};

}  // namespace tagma::runtime

#ifndef TAGMA_COMPILED
#include "tagma/runtime/completion.ipp"
#endif
