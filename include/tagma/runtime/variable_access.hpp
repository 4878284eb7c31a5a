// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a run does about variables that other runs may change while it waits, or at any time.

#include <cstdint>

#include "tagma/base/array_view.hpp"
#include "tagma/base/config.hpp"

namespace tagma::runtime {

/// What a step that needs a variable waits for, beside other steps.
enum class step_hold : std::uint8_t {
  none,
  last,    ///< until all others are done: what waits for long then keeps no run from the variables
  reads,   ///< until the run has looked at the variables
  writes,  ///< for who asked for the run, or does all of its steps, and does it inside the gate
};

/// The variables of one bound plan, for one run at a time. A step reads the version that was current when the first
/// step of the run that reads the variable began, or the one that the run's own last update made.
class variable_access {
 public:
  variable_access() = default;
  variable_access(const variable_access&) = delete;
  variable_access& operator=(const variable_access&) = delete;
  virtual ~variable_access() = default;

  virtual void begin_run() noexcept = 0;
  /// From now on the run reads the versions that are current.
  virtual void read_now() = 0;
  /// Before step `s`, on any thread: its operands point at the versions that it reads or writes. Throws
  /// FailedPrecondition if a variable has no value yet.
  virtual void begin(std::size_t s) = 0;
  /// Behind step `s`, if `begin` returned; on the same thread if the step updates a variable.
  virtual void end(std::size_t s, bool done) noexcept = 0;
  /// Behind the last iteration of loop `l` of the plan, which is in no other: what steps of a body read is kept until
  /// then.
  virtual void end_loop(std::size_t l) noexcept = 0;
  /// Around taking the value of fetch `f`.
  virtual void begin_fetch(std::size_t f) = 0;
  virtual void end_fetch(std::size_t f) noexcept = 0;
  /// Instead of all that, where the steps of a run are not told apart: before the first and behind the last.
  virtual void begin_all() = 0;
  virtual void end_all(bool done) noexcept = 0;
  /// Lets go of what a run still has that went wrong.
  virtual void end_run() noexcept = 0;
};

}  // namespace tagma::runtime
