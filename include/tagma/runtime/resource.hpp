// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a container holds by kind and name.

#include <string>
#include <string_view>

#include "tagma/base/config.hpp"
#include "tagma/base/counted.hpp"
#include "tagma/ir/op.hpp"

namespace tagma::runtime {

/// A thing with a state that outlives the sessions which use it: a variable, a queue, an iterator. Whoever uses it
/// owns it too, so that it may leave its container meanwhile.
class resource : public counted_object {
 public:
  /// @param kind "variable", as errors name it; a literal
  TAGMA_COLD resource(std::string_view kind, std::string name) : kind_(kind), name_(std::move(name)) {}

  [[nodiscard]] std::string_view kind() const { return kind_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  /// It left its container: whoever waits for it, waits in vain. Called by any thread.
  virtual void left_container() {}

 private:
  friend class state_container;

  std::string_view kind_;
  std::string name_;
  std::uint64_t hash_ = 0;
  counted<resource> next_;  // of its bucket
};

/// What a program asks of a resource that it names.
struct resource_request {
  std::string_view kind;
  std::string_view name;
  ir::attribute_list attributes;
};

/// Makes the resources of the operation behind `Key`, which is of kind `resource`. Specialised for each of them:
///   static counted<resource> make(const resource_request&)
///   static void check(const resource& found, const resource_request&), which throws InvalidArgument that names both
///   sides if what the container has under this name is another one
template <const char& Key>
struct resource_of;

/// The functions of one `resource_of`.
struct resource_functions {
  counted<resource> (*make)(const resource_request&);
  void (*check)(const resource&, const resource_request&);
};

}  // namespace tagma::runtime
