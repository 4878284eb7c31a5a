// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Variables of a session from a file: under their own names, or under those that another program gave them, turned and
/// converted where that is asked for.

#include <string>
#include <string_view>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/io/safetensors.hpp"
#include "tagma/runtime/session.hpp"

namespace tagma {

/// Where a tensor of a file goes.
struct restore_target {
  std::string variable{};  ///< its name; empty: the tensor is not used
  std::vector<int> axes{}; /**< axis i of the variable is axis `axes[i]` of the tensor: {1, 0} for the weight of a
                                `Linear` of PyTorch, {2, 3, 1, 0} for that of a `Conv2d`. Empty: as they are */
};

/// Which tensors of a file go where. A star stands for a part of a key, or for some of it: one letter or more, none of
/// them a dot or a slash. Two stars stand for any text, or none. Each takes as little as it can, from the left. What
/// they stand for replaces the stars of `variable`, in their order: `{"layers.*.fc.weight", "block_*/fc/kernel", {1,
/// 0}}`,
/// `{"encoder/**", "model/**"}`.
struct restore_rule {
  std::string key;          ///< of tensors of the file
  std::string variable{};   ///< its name; empty: these tensors are not used
  std::vector<int> axes{};  ///< as in `restore_target`
};

/// How a file is restored whose tensors are not called or laid out as the variables of the program.
struct restore_options {
  std::vector<restore_rule> rules{};    ///< of those that fit a key, the first counts
  std::vector<std::string> variables{}; /**< which variables are restored, with stars as in rules; the others keep their
                                             values, and the number of runs stays as it is. Empty: all */
  bool cast = false;  ///< floating elements of another type are converted, to the nearest, halves to even
  bool strict = true; /**< false: a variable that the file lacks keeps its value, and the number of runs stays as it
                           is */
};

/// A tensor that became the value of a variable.
struct restored_variable {
  std::string variable;  ///< its name
  std::string key;       ///< of the tensor in the file
};

/// What came of a restore.
struct restore_report {
  std::vector<restored_variable> restored{};  ///< in the order of the program
  std::vector<std::string> missing{};  ///< variables that were to be restored and are not in the file, if not strict
  std::vector<std::string> unused{};   ///< keys of the tensors that no variable took, in the order of the file
  safetensors::metadata texts{};       ///< of the file, or of the index
};

/// "restored 2 of 3 variables", a line "not in the file: " with those that are missing, and a line "not used: " with
/// keys, where there are any.
[[nodiscard]] std::string to_string(const restore_report& report);

namespace detail {

/// A data set that was preloaded is no part of a model.
[[nodiscard]] bool is_saved(const plan::plan_variable& v);

/// True if a text is what a pattern with stars describes.
/// @param stars what each star stands for
[[nodiscard]] bool fits_pattern(std::string_view pattern, std::string_view text, std::vector<std::string_view>& stars);

/// Writes the elements of a tensor with its axes in another order, and of another floating type.
/// @param dims of the result, whose axis i is axis `axes[i]` of the tensor; no axes: as they are
void write_permuted(std::byte* to, dtype type, const shape& dims, const safetensors::stored_tensor& from,
                    array_view<const int> axes);

/// A function of a program, or none.
struct target_function {
  const void* of = nullptr;
  restore_target (*call)(const void* of, const safetensors::stored_tensor& tensor) = nullptr;
};

restore_report restore_variables(runtime::session_core& session, const std::string& path,
                                 const restore_options& options = {}, const target_function& map = {});

}  // namespace detail

/// Gives every variable of a session the value that a file has under its name. Everything is checked first: if this
/// throws, the session is as it was. Tensors in the file that are no variable are left alone, so that a program without
/// an optimizer reads the file of a training program; a file without the text "step" leaves the number of runs alone.
/// @param path a file, or the index of several beside it, if it ends with ".json", as `model.safetensors.index.json`
/// @return the texts in the file
/// Throws NotFound if there is no such file or it lacks a variable, InvalidArgument for another shape or element type,
/// DataLoss if the file is damaged.
template <class Program>
safetensors::metadata restore(session<Program>& s, const std::string& path) {
  return detail::restore_variables(s.core(), path, {}).texts;
}

/// The same with other names, orders of axes and floating types, and of some of the variables.
/// @param path as above
/// @return which tensor went where, and what was left
/// Throws also NotFound for a rule without stars, of which the file lacks the tensor or the program the variable,
/// unless not strict; and InvalidArgument for a rule that makes no sense, and for two tensors that go to one variable.
template <class Program>
restore_report restore(session<Program>& s, const std::string& path, const restore_options& options) {
  return detail::restore_variables(s.core(), path, options);
}

/// The same, with a function that says where a tensor goes that no rule fits.
/// @param map called with each such tensor of the file, returns a `restore_target`
template <class Program, class Map>
  requires std::is_invocable_r_v<restore_target, const Map&, const safetensors::stored_tensor&> restore_report
  restore(session<Program>& s, const std::string& path, const restore_options& options, const Map& map) {
    return detail::restore_variables(
        s.core(), path, options, {&map, [](const void* of, const safetensors::stored_tensor& tensor) -> restore_target {
                                    return (*static_cast<const Map*>(of))(tensor);
                                  }});
  }

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/train/restore.ipp"
#endif
