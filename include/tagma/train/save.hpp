// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// All variables of a session in one file in the safetensors format, and back.

#include "tagma/runtime/session.hpp"
#include "tagma/io/safetensors.hpp"

namespace tagma {
namespace detail {

/// A data set that was preloaded is no part of a model.
[[nodiscard]] bool is_saved(const plan::plan_variable& v);

void save_variables(runtime::session_core& session, const std::string& path, safetensors::metadata texts);

safetensors::metadata restore_variables(runtime::session_core& session, const std::string& path);

}  // namespace detail

/// Writes all variables of a session but those that were preloaded, slots of optimizers included, under their names,
/// and replaces the file at `path` in one step. The number of runs so far goes along as the text "step": with it, and
/// with the session's old seed, random operations go on where they were. Updates wait until the file is written; runs
/// that only read go on.
/// @param texts free texts beside the tensors; "step" is taken
/// Throws FailedPrecondition if a variable has no value, InvalidArgument for a text "step", and what
/// `safetensors::write` throws.
template <class Program>
void save(session<Program>& s, const std::string& path, safetensors::metadata texts = {}) {
  detail::save_variables(s.core(), path, std::move(texts));
}

/// Gives every variable of a session the value that a file has under its name. Everything is checked first: if this
/// throws, the session is as it was. Tensors in the file that are no variable are left alone, so that a program without
/// an optimizer reads the file of a training program; a file without the text "step" leaves the number of runs alone.
/// @return the texts in the file
/// Throws NotFound if there is no such file or it lacks a variable, InvalidArgument for another shape or element type,
/// DataLoss if the file is damaged.
template <class Program>
safetensors::metadata restore(session<Program>& s, const std::string& path) {
  return detail::restore_variables(s.core(), path);
}

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/train/save.ipp"
#endif
