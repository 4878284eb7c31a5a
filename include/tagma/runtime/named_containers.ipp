// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of named_containers.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/runtime/named_containers.hpp"

namespace tagma::detail {

TAGMA_COLD TAGMA_DECL container_names& container_names::of_process() {
  static container_names* const names = new container_names;  // sessions may outlive what is static
  return *names;
}

}  // namespace tagma::detail

namespace tagma {

TAGMA_COLD TAGMA_DECL std::size_t reset_containers(std::initializer_list<std::string_view> chosen) {
  detail::container_names& names = detail::container_names::of_process();
  std::size_t count = 0;
  for (const std::string_view name : chosen) {
    container_option one;
    {
      const mutex_lock lock(names.access);
      if (const auto found = names.all.find(name); found != names.all.end()) one = found->second.of;
    }
    if (!one.state()) continue;
    one.state()->reset();
    ++count;
  }
  return count;
}

}  // namespace tagma
