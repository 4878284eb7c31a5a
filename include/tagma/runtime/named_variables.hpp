// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The variables of a session by name: which there are, what they hold, and other values for them, without outputs of
/// the program.

#include <string>
#include <string_view>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/runtime/feed.hpp"
#include "tagma/runtime/session.hpp"
#include "tagma/tensor/any_tensor.hpp"

namespace tagma {

/// A variable as a session has it.
struct variable_info {
  std::string name;          ///< as files have it: with `variable_prefix`, and for a slot with its suffix
  dtype type = dtype::none;  ///< of its elements
  shape dims{};
  std::size_t bytes = 0;   ///< of its elements
  std::string device{};    ///< "/device:CPU:0"; empty where a program is asked, which has not chosen one
  bool trainable = false;  ///< optimizers update it
  bool slot = false;       ///< an optimizer keeps it for another variable
  bool preloaded = false;  ///< a data set, which files and summaries leave out
  bool has_value = false;  ///< it was initialized, restored or assigned
};

namespace diagnose {
/// A variable is given a tensor, a view of one, or a number.
template <class Value>
inline constexpr bool is_value_of_variable =
    detail::tensor_like<Value> || std::is_same_v<Value, any_tensor> || element<Value>;
}  // namespace diagnose

namespace detail {

[[nodiscard]] std::vector<variable_info> list_variables(runtime::session_core& session);
/// The position of a variable. Throws NotFound that names the nearest.
/// @param purpose what the error begins with
[[nodiscard]] std::size_t find_variable(runtime::session_core& session, std::string_view name,
                                        std::string_view purpose);
[[nodiscard]] any_tensor get_variable(runtime::session_core& session, std::string_view name);
void set_variable(runtime::session_core& session, std::string_view name, const raw_view& value);

}  // namespace detail

/// The variables of a session, in the order of its program; slots of optimizers and data sets that are preloaded are
/// among them.
template <class Program>
[[nodiscard]] std::vector<variable_info> list_variables(session<Program>& s) {
  return detail::list_variables(s.core());
}

/// A copy of what a variable holds, wherever it is. Runs that update variables are waited for, others go on.
/// @param name as `list_variables` has it
/// Throws NotFound for a name that the program has no variable of, which tells the nearest names; FailedPrecondition if
/// the variable has no value yet; Cancelled if the session was closed.
template <class Program>
[[nodiscard]] any_tensor get_variable(session<Program>& s, std::string_view name) {
  return detail::get_variable(s.core(), name);
}
/// The same as a tensor of a type: `get_variable<float>(session, "layer/kernel")`. Throws InvalidArgument if the
/// elements are not of this type.
template <element T, class Program>
[[nodiscard]] tensor<T> get_variable(session<Program>& s, std::string_view name) {
  return tensor<T>(detail::get_variable(s.core(), name).template as<T>());
}

/// Gives a variable another value, wherever it is, for this session and for others over its container. Runs see the
/// value of before or the new one, as if a run had assigned it; those that hold an older version keep that.
/// @param name as `list_variables` has it
/// @param value a `tensor`, a `view`, an `any_tensor`, or a number for a variable of rank 0, of the element type and
/// the shape of the variable
/// Raises TAGMA-E313 for other values. Throws NotFound for a name that the program has no variable of, which tells the
/// nearest names; InvalidArgument for another element type or shape; Cancelled if the session was closed.
template <class Program, class Value>
void set_variable(session<Program>& s, std::string_view name, [[maybe_unused]] const Value& value) {
  static_assert(diagnose::is_value_of_variable<Value>,
                "TAGMA-E313 set_variable: takes a tensor, a view, an any_tensor, or a number");
  if constexpr (std::is_same_v<Value, any_tensor>)
    detail::set_variable(s.core(), name, value.view());
  else if constexpr (detail::tensor_like<Value>)
    detail::set_variable(s.core(), name,
                         {value.data(), dtype_of<std::remove_cvref_t<decltype(*value.data())>>, value.dims()});
  else if constexpr (element<Value>)
    detail::set_variable(s.core(), name, {&value, dtype_of<Value>, {}});
}

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/runtime/named_variables.ipp"
#endif
