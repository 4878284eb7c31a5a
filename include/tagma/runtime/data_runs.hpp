// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Runs of a program that is compiled late, by the positions of outputs and of what is fed: what its sessions ask for,
/// and the registry has.

#include "tagma/base/owned.hpp"
#include "tagma/plan/late_program.hpp"
#include "tagma/runtime/device_kind.hpp"
#include "tagma/runtime/session_core.hpp"

namespace tagma::runtime {

/// A value for a record of a program that is compiled late.
struct record_feed {
  std::int32_t position = -1;  ///< of the record, in the table of the program
  std::string_view operation;  ///< and its name, for errors
  std::string_view name;
  raw_view value;
};

/// A session over a program that is compiled late.
class data_runs {
 public:
  virtual ~data_runs() = default;
  [[nodiscard]] virtual session_core& core() = 0;

  /// Computes outputs by their positions, with values for records.
  /// @param feeds each record is fed once, by a value of its element type
  /// @param take called with the number of each output and its value
  template <class Take>
  void run(array_view<const int> outputs, array_view<const record_feed> feeds, array_view<run_limits> limits,
           const source_line& at, const Take& take) {
    run_to(outputs, feeds, limits, at, &take,
           [](const void* to, std::size_t f, const raw_view& value) { (*static_cast<const Take*>(to))(f, value); });
  }

 protected:
  using taker = void (*)(const void* to, std::size_t output, const raw_view& value);
  virtual void run_to(array_view<const int> outputs, array_view<const record_feed> feeds, array_view<run_limits> limits,
                      const source_line& at, const void* to, taker take) = 0;
};

/// Defined by the registry (runtime/late_runs.hpp). Throws as the constructor of a session.
/// @param others devices besides CPUs; nullptr: there are none
[[nodiscard]] owned<data_runs> begin_session(const tagma::detail::shared_late_program& program,
                                             const session_options& options, const device_kind* others);

}  // namespace tagma::runtime
