// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What the names in a certificate allow: URIs among its alternative names (RFC 5280, 4.2.1.6), of the forms
///
///     tagma:/job:ps/task:3    is this task
///     tagma:/job:ps           is any task of the job
///     tagma:/role:worker      is a client, with what training needs
///     tagma:/role:chief       is a client that may do all; tagma:/role:admin says the same
///
/// Others are for other programs. A certificate may have several.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/transport/link.hpp"

namespace tagma::transport {

/// The names of a certificate.
class certificate_names {
 public:
  certificate_names() = default;
  /// @param uris all alternative names that are URIs
  explicit certificate_names(std::vector<std::string> uris);

  /// Whether it is that of a task.
  [[nodiscard]] bool is_task(const identity& who) const;
  /// Whether it names anybody at all.
  [[nodiscard]] bool is_empty() const { return tasks_.empty() && !worker_ && !chief_; }
  /// What who has it may ask for.
  [[nodiscard]] authority may() const { return chief_ ? authority::chief : authority::worker; }
  /// Why who says this is not whom the certificate names; nullopt if it is. Who connects may also be a client, which
  /// calls itself /job:client: everybody whom a certificate names, a task as well.
  [[nodiscard]] std::optional<error> contradict(const identity& who, bool connects) const;

 private:
  struct task {
    std::string job{};
    std::int32_t number = -1;  // -1: any
  };
  std::vector<task> tasks_{};
  std::string all_{};  // as a text
  bool worker_ = false, chief_ = false;
};

}  // namespace tagma::transport

#ifndef TAGMA_COMPILED
#include "tagma/transport/certificate_names.ipp"
#endif
