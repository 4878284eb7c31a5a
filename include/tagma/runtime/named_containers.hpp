// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The containers that a process knows by name.

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include "tagma/base/config.hpp"
#include "tagma/runtime/container.hpp"

namespace tagma {

namespace detail {

/// All of them; they live as long as the process.
struct container_names {
  struct entry {
    container of;
    isolation kept_apart;
  };
  mutex access;
  std::map<std::string, entry, std::less<>> all;

  [[nodiscard]] static container_names& of_process();
};

}  // namespace detail

/// The container of this name, the same for all parts of the process; it is made if there is none.
/// Throws InvalidArgument for what is no name (by TensorFlow's grammar, with underscores), and where there is one of
/// this name that keeps runs apart in the other way.
/// @tparam Kept left as it is
template <class Kept = isolation>
[[nodiscard]] container named_container(std::string_view name, Kept kept_apart = isolation::runs) {
  runtime::check_container_name(name);
  detail::container_names& names = detail::container_names::of_process();
  const mutex_lock lock(names.access);
  auto found = names.all.find(name);
  if (found == names.all.end()) {
    container made = kept_apart == isolation::runs ? container() : container(kept_apart);
    found = names.all.emplace(std::string(name), detail::container_names::entry{made, kept_apart}).first;
  }
  if (found->second.kept_apart != kept_apart)
    fail(status_code::invalid_argument,
         {"container \"", name, "\" keeps ", found->second.kept_apart == isolation::runs ? "runs" : "variables",
          " apart, asked for is one that keeps ", kept_apart == isolation::runs ? "runs" : "variables", " apart"});
  return found->second.of;
}

/// Resets the containers of these names, as `container::reset` does; none of a name that there is not.
/// @return how many there were
std::size_t reset_containers(std::initializer_list<std::string_view> chosen);

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/runtime/named_containers.ipp"
#endif
