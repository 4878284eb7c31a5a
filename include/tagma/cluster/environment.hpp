// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The variables of an environment, asked for by name: those of this process, or those that a test writes down.

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"

namespace tagma {

/// Finds variables. One whose value is empty counts as one that is not set, since scripts set them that way.
class environment {
 public:
  using lookup = std::function<std::optional<std::string>(std::string_view name)>;

  /// One without variables.
  environment() = default;
  explicit environment(lookup find) : find_(std::move(find)) {}
  environment(std::initializer_list<std::pair<const std::string, std::string>> variables);

  /// The variables of this process, as they are when they are asked for.
  [[nodiscard]] static environment of_process();

  /// A variable, if it is set.
  [[nodiscard]] std::optional<std::string> find(std::string_view name) const;
  /// True if a variable is set.
  [[nodiscard]] bool has(std::string_view name) const { return find(name).has_value(); }

  /// A whole number. Throws `invalid_argument`, which names the variable, for a value that is none or out of bounds.
  [[nodiscard]] std::optional<int> find_number(std::string_view name, int low, int high) const;

  /// What `who` needs beside what it has. Throws `invalid_argument` if the variable is not set.
  [[nodiscard]] std::string need(std::string_view name, std::string_view who) const;
  /// As `find_number`, of a variable that must be set.
  [[nodiscard]] int need_number(std::string_view name, int low, int high, std::string_view who) const;

 private:
  lookup find_;
};

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/cluster/environment.ipp"
#endif
