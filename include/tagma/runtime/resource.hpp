// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a container holds by kind and name.

#include <string>
#include <string_view>

#include "tagma/base/config.hpp"
#include "tagma/base/counted.hpp"

namespace tagma::runtime {

/// A thing with a state that outlives the sessions which use it: a variable, a queue, an iterator. Whoever uses it
/// owns it too, so that it may leave its container meanwhile.
class resource : public counted_object {
 public:
  /// @param kind "variable", as errors name it; a literal
  TAGMA_COLD resource(std::string_view kind, std::string name) : kind_(kind), name_(std::move(name)) {}

  [[nodiscard]] std::string_view kind() const { return kind_; }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  friend class state_container;

  std::string_view kind_;
  std::string name_;
  std::uint64_t hash_ = 0;
  counted<resource> next_;  // of its bucket
};

}  // namespace tagma::runtime
