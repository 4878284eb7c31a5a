// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a model has to learn, as a table: its variables by layers, with shapes, numbers of elements and bytes.

#include <cstdint>
#include <string>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/runtime/feed.hpp"
#include "tagma/runtime/named_variables.hpp"

namespace tagma {

/// Numbers of elements and of bytes.
struct summary_totals {
  std::int64_t parameters = 0;  ///< elements of variables that are no slots
  std::int64_t trainable = 0;   ///< those of them that optimizers update
  std::int64_t bytes = 0;       ///< of the parameters
  std::int64_t slot_bytes = 0;  ///< that optimizers keep beside them
};

/// The variables whose names are the same up to the last slash.
struct layer_summary {
  std::string name;                      ///< what is before that slash; empty for variables without one
  std::vector<variable_info> variables;  ///< without slots, in the order of the program
  summary_totals totals{};
};

/// The variables of a model, by layers. `to_string` and `<<` print it.
struct model_summary {
  std::vector<layer_summary> layers{};  ///< in the order in which the program first has them
  summary_totals totals{};
};

/// A table with a line for each layer and each of its variables, and the totals below it.
[[nodiscard]] std::string to_string(const model_summary& summary);
template <class Stream>
  requires requires(Stream& to, const std::string& text) {
    to.flush();
    to << text;
  }
Stream& operator<<(Stream& to, const model_summary& summary) {
  to << to_string(summary);
  return to;
}

namespace detail {

[[nodiscard]] model_summary summarize(array_view<const plan::plan_variable> variables);
[[nodiscard]] model_summary summarize(const ir::graph_view& graph);
[[nodiscard]] model_summary summarize(runtime::session_core& session);

}  // namespace detail

/// The variables of a program, or of a session, by layers: by what their names have before the last slash. Slots of
/// optimizers are counted with the layer of their variable. Data sets that are preloaded are no part of it.
/// @param of a program, compiled early or late or data, or a session
template <class Model>
[[nodiscard]] model_summary summary(Model&& of) {
  using plain = std::remove_cvref_t<Model>;
  if constexpr (requires { of.core(); })
    return detail::summarize(of.core());
  else if constexpr (requires { of.data().graph(); })
    return detail::summarize(of.data().graph());
  else if constexpr (requires { of.graph(); })
    return detail::summarize(of.graph());
  else
    return detail::summarize(
        array_view<const plan::plan_variable>(detail::graph_tables<typename plain::graph>::variables));
}

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/runtime/summary.ipp"
#endif
