// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of save.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/train/save.hpp"

namespace tagma::detail {

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

}  // namespace tagma::detail
