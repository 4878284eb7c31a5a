// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of named_variables.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/base/nearest.hpp"
#include "tagma/runtime/named_variables.hpp"

namespace tagma::detail {

TAGMA_COLD TAGMA_DECL std::vector<variable_info> list_variables(runtime::session_core& session) {
  std::vector<variable_info> all;
  for (std::size_t i = 0; i < session.variables().size(); ++i) {
    const plan::plan_variable& v = session.variables()[i];
    const runtime::stored_variable& stored = session.variable(i);
    all.push_back({stored.name(), v.spec.type, v.spec.dims, stored.bytes(),
                   runtime::short_name(session.devices()[v.device].name), v.trainable, !v.suffix.empty(),
                   v.initializer == preloaded_kind, stored.initialized()});
  }
  return all;
}

TAGMA_COLD TAGMA_DECL std::size_t find_variable(runtime::session_core& session, std::string_view name,
                                                std::string_view purpose) {
  std::vector<std::string_view> known;
  for (std::size_t i = 0; i < session.variables().size(); ++i) {
    if (session.variable(i).name() == name) return i;
    known.push_back(session.variable(i).name());
  }
  fail(status_code::not_found,
       {purpose, "the program has no variable '", name, "'", nearest_text(name, std::move(known))});
}

TAGMA_COLD TAGMA_DECL any_tensor get_variable(runtime::session_core& session, std::string_view name) {
  runtime::stored_variable& v = session.variable(find_variable(session, name, "get_variable: "));
  const runtime::session_core::pass reading(session, false, "get_variable: ");
  if (!v.initialized()) v.refuse_to_read();
  const runtime::pinned_version held(v);
  runtime::aligned_bytes copy;
  return any_tensor::copy_of({v.read(*held, copy), v.spec().type, v.spec().dims});
}

TAGMA_COLD TAGMA_DECL void set_variable(runtime::session_core& session, std::string_view name, const raw_view& value) {
  runtime::stored_variable& v = session.variable(find_variable(session, name, "set_variable: "));
  if (value.type != v.spec().type || !(value.dims == v.spec().dims))
    fail(status_code::invalid_argument,
         {"set_variable: ", v.text(), " was given ",
          value.type == dtype::none ? std::string("nothing") : to_string(tensor_spec{value.type, value.dims})});
  const runtime::session_core::pass writing(session, true, "set_variable: ");
  v.assign(value.data);
}

}  // namespace tagma::detail
