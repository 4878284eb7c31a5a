// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Runs of a graph that is data by the positions of its outputs and nodes: what sessions of programs that are compiled
/// late ask for, and the registry has.

#include "tagma/base/owned.hpp"
#include "tagma/plan/any_program.hpp"
#include "tagma/runtime/session_core.hpp"

namespace tagma::runtime {

/// A value for nodes of a graph: for placeholders, or for what is then not computed.
struct node_feed {
  array_view<const ir::node_id> nodes;
  raw_view value;
};

/// A session over a graph that is data.
class data_runs {
 public:
  virtual ~data_runs() = default;
  [[nodiscard]] virtual session_core& core() = 0;

  /// Computes outputs by their positions, with values for nodes.
  /// @param feeds each node is fed once, by a value of its element type
  /// @param take called with the number of each output and its value
  template <class Take>
  void run(array_view<const int> outputs, array_view<const node_feed> feeds, array_view<run_limits> limits,
           const source_line& at, const Take& take) {
    run_to(outputs, feeds, limits, at, &take,
           [](const void* to, std::size_t f, const raw_view& value) { (*static_cast<const Take*>(to))(f, value); });
  }

 protected:
  using taker = void (*)(const void* to, std::size_t output, const raw_view& value);
  virtual void run_to(array_view<const int> outputs, array_view<const node_feed> feeds, array_view<run_limits> limits,
                      const source_line& at, const void* to, taker take) = 0;
};

/// Defined by the registry (runtime/late_runs.hpp). Throws as the constructor of a session.
[[nodiscard]] owned<data_runs> begin_session(const any_program& program, const session_options& options);

}  // namespace tagma::runtime
