// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of certificate_names.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>
#include <charconv>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/transport/certificate_names.hpp"
#include "tagma/transport/sentences.hpp"

namespace tagma::transport {

namespace detail {

/// Takes what begins a text away.
[[nodiscard]] TAGMA_DECL bool took(std::string_view& from, std::string_view begin) {
  if (!from.starts_with(begin)) return false;
  from.remove_prefix(begin.size());
  return true;
}

}  // namespace detail

TAGMA_DECL certificate_names::certificate_names(std::vector<std::string> uris) {
  for (const std::string& uri : uris) {
    std::string_view rest = uri;
    if (!detail::took(rest, "tagma:/")) continue;
    all_ += (all_.empty() ? "" : ", ") + detail::printable(uri);
    if (rest == "role:worker") worker_ = true;
    if (rest == "role:chief" || rest == "role:admin") chief_ = true;
    if (!detail::took(rest, "job:")) continue;
    const std::size_t slash = rest.find('/');
    task t{std::string(rest.substr(0, slash))};
    if (t.job.empty()) continue;
    if (slash != std::string_view::npos) {
      rest.remove_prefix(slash);
      if (!detail::took(rest, "/task:")) continue;
      const auto [end, e] = std::from_chars(rest.data(), rest.data() + rest.size(), t.number);
      if (e != std::errc{} || end != rest.data() + rest.size() || std::to_string(t.number) != rest || t.number < 0)
        continue;
    }
    tasks_.push_back(std::move(t));
  }
}

TAGMA_DECL bool certificate_names::is_task(const identity& who) const {
  return std::any_of(tasks_.begin(), tasks_.end(),
                     [&](const task& t) { return t.job == who.job && (t.number < 0 || t.number == who.task); });
}

TAGMA_DECL std::optional<error> certificate_names::contradict(const identity& who, bool connects) const {
  if (is_task(who) || (connects && !is_empty() && who.job == "client")) return std::nullopt;
  return error(status_code::permission_denied,
               sentence({"it says that it is ", to_string(who), ", and its certificate is for ",
                         all_.empty() ? std::string_view("nobody (it has no URI that begins with tagma:/)")
                                      : std::string_view(all_)}));
}

}  // namespace tagma::transport
