// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of save.hpp: in the compiled half, or else in each file that includes it.

#include <charconv>

#include "tagma/base/config.hpp"
#include "tagma/train/save.hpp"

namespace tagma::detail {

TAGMA_DECL bool is_saved(const plan::plan_variable& v) { return v.initializer != tagma::detail::preloaded_kind; }

TAGMA_DECL void save_variables(runtime::session_core& session, const std::string& path, safetensors::metadata texts) {
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

TAGMA_DECL safetensors::metadata restore_variables(runtime::session_core& session, const std::string& path) {
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

}  // namespace tagma::detail
