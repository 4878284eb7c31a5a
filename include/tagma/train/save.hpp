// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// All variables of a session in one file in the safetensors format; restore.hpp has the way back.

#include "tagma/io/safetensors.hpp"
#include "tagma/runtime/session.hpp"
#include "tagma/train/restore.hpp"

namespace tagma {
namespace detail {

void save_variables(runtime::session_core& session, const std::string& path, safetensors::metadata texts);

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

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/train/save.ipp"
#endif
