// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a server answers to those who look into it.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/messages.hpp"
#include "tagma/cluster/service/registered_part.hpp"
#include "tagma/cluster/service/reports.hpp"

namespace tagma::service {

/// What a server has at a moment.
struct worker_view {
  task_id self;
  std::uint64_t incarnation = 0;
  std::int64_t now_ns = 0, uptime_ns = 0;
  std::uint64_t runs_begun = 0, runs_failed = 0;
  std::map<std::string, container> states;
  std::vector<std::shared_ptr<registered_part>> parts;
  std::vector<std::pair<std::uint64_t, std::shared_ptr<last_told>>> opening;  ///< graphs of sessions that open
  std::vector<server_status::connection> connections;
  counted<runtime::accelerator> others;  ///< devices besides CPUs, if it has any

  /// The container of a name. Throws NotFound, with those that there are.
  [[nodiscard]] container_option find(const std::string& name) const;
  [[nodiscard]] std::uint32_t graphs_of(const std::string& name) const;
};

/// Of a call: its body, and its bulk if there is any.
struct inspection {
  std::string body;
  std::shared_ptr<const std::string> bulk;
  std::vector<counted<runtime::resource>> gone;  ///< left their container; the end of one may wait
};

/// True for those that are answered from what is there, without waiting for anybody.
[[nodiscard]] constexpr bool is_answered_at_once(message kind) { return kind != message::read_variable; }

/// Answers a call of reports.hpp but `probe`. Throws NotFound for what the server has not.
/// @param time_left_ns of the call
[[nodiscard]] inspection inspect(const worker_view& v, message kind, const std::string& body,
                                 std::int64_t time_left_ns);

}  // namespace tagma::service

#ifndef TAGMA_COMPILED
#include "tagma/cluster/service/inspect.ipp"
#endif
