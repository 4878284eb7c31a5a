// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of environment.hpp: in the compiled half, or else in each file that includes it.

#include <cstdlib>

#include "tagma/base/config.hpp"
#include "tagma/cluster/environment.hpp"
#include "tagma/cluster/text.hpp"

namespace tagma {

TAGMA_DECL environment::environment(std::initializer_list<std::pair<const std::string, std::string>> variables)
    : find_([known = std::map<std::string, std::string, std::less<>>(variables)](std::string_view name) {
        const auto found = known.find(name);
        return found == known.end() ? std::nullopt : std::optional<std::string>(found->second);
      }) {}

TAGMA_DECL environment environment::of_process() {
  return environment([](std::string_view name) {
    const char* const value = std::getenv(std::string(name).c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  });
}

TAGMA_DECL std::optional<std::string> environment::find(std::string_view name) const {
  std::optional<std::string> value = find_ ? find_(name) : std::nullopt;
  if (value && value->empty()) value.reset();
  return value;
}

TAGMA_DECL std::optional<int> environment::find_number(std::string_view name, int low, int high) const {
  const std::optional<std::string> text = find(name);
  if (!text) return std::nullopt;
  return static_cast<int>(detail::number_between(detail::trimmed(*text), low, high, name));
}

TAGMA_DECL std::string environment::need(std::string_view name, std::string_view who) const {
  std::optional<std::string> value = find(name);
  if (!value) fail(status_code::invalid_argument, {who, ": the variable ", name, " is not set"});
  return std::move(*value);
}

TAGMA_DECL int environment::need_number(std::string_view name, int low, int high, std::string_view who) const {
  static_cast<void>(need(name, who));
  return *find_number(name, low, high);
}

}  // namespace tagma
