// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// All variables of a session in one file in the safetensors format, and back.

#include <charconv>

#include "tagma/runtime/session.hpp"
#include "tagma/train/safetensors.hpp"

namespace tagma {
namespace detail {

/// A data set that was preloaded is no part of a model.
[[nodiscard]] inline bool is_saved(const plan::plan_variable& v) {
  return v.initializer != tagma::detail::preloaded_kind;
}

inline void save_variables(runtime::session_core& session, const std::string& path, safetensors::metadata texts) {
  const runtime::session_core::pass reading(session, false, path + ": nothing was saved: ");
  std::vector<safetensors::named_tensor> tensors;
  std::vector<runtime::aligned_bytes> copies(session.variables().size());
  std::vector<runtime::pinned_version> versions(copies.size());
  for (std::size_t i = 0; i < copies.size(); ++i) {
    runtime::stored_variable& v = session.variable(i);
    if (!is_saved(session.variables()[i])) continue;
    if (!v.initialized())
      fail(status_code::failed_precondition,
           path + ": variable '" + v.name() + "' has no value yet, so nothing was saved");
    versions[i] = runtime::pinned_version(v);
    tensors.push_back({v.name(), v.spec().type, v.spec().dims, v.read(*versions[i], copies[i])});
  }
  if (!texts.try_emplace("step", std::to_string(session.step())).second)
    fail(status_code::invalid_argument, path + ": the text \"step\" is the session's own, give yours another name");
  safetensors::write(path, tensors, std::move(texts));
}

inline safetensors::metadata restore_variables(runtime::session_core& session, const std::string& path) {
  const safetensors::file stored(path);
  std::vector<const safetensors::stored_tensor*> sources;  // of each variable; nullptr if files leave it out
  for (std::size_t i = 0; i < session.variables().size(); ++i) {
    if (!is_saved(session.variables()[i])) {
      sources.push_back(nullptr);
      continue;
    }
    const std::string& name = session.variable(i).name();
    const tensor_spec& wanted = session.variables()[i].spec;
    const safetensors::stored_tensor* found = stored.find(name);
    if (found == nullptr)
      fail(status_code::not_found,
           path + ": there is no tensor for variable '" + name + "', which is " + to_string(wanted));
    if (found->type != wanted.type || !(found->dims == wanted.dims)) {
      const std::string_view type = found->type == dtype::none ? found->format : to_string(found->type);
      fail(status_code::invalid_argument, {path, ": tensor '", name, "' is ", type, " ", to_string(found->dims),
                                           ", the variable of that name is ", to_string(wanted)});
    }
    sources.push_back(found);
  }
  std::uint64_t step = 0;
  const auto text = stored.metadata().find("step");
  if (text != stored.metadata().end()) {
    const char* const end = text->second.data() + text->second.size();
    const auto [last, problem] = std::from_chars(text->second.data(), end, step);
    if (problem != std::errc{} || last != end)
      fail(status_code::data_loss,
           path + ": the text \"step\" is \"" + text->second + "\", expected the number of a run");
  }

  const runtime::session_core::pass writing(session, true, path + ": nothing was restored: ");
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (sources[i] != nullptr) session.variable(i).assign(sources[i]->data);
  }
  if (text != stored.metadata().end()) session.set_step(step);
  return stored.metadata();
}

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
