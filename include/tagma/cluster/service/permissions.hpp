// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Who may say what to a server: one table, of all kinds of messages.

#include <cstdint>
#include <optional>
#include <string_view>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/cluster/service/messages.hpp"
#include "tagma/transport/link.hpp"

namespace tagma::service {

/// What a kind of messages needs.
struct permission {
  message kind;
  std::string_view name;  ///< as docs/wire.md calls it
  transport::authority needs;
};

/// Workers run their own graphs, and look. What is done to the state of others is for chiefs.
inline constexpr permission permissions[] = {
    {message::add_part, "add_part", transport::authority::worker},
    {message::run_part, "run_part", transport::authority::worker},
    {message::tensor, "tensor", transport::authority::worker},
    {message::wanted, "wanted", transport::authority::worker},
    {message::end_run, "end_run", transport::authority::worker},
    {message::forget_graph, "forget_graph", transport::authority::worker},
    {message::list_variables, "list_variables", transport::authority::worker},
    {message::list_tasks, "list_tasks", transport::authority::worker},
    {message::keep_graph, "keep_graph", transport::authority::worker},
    {message::hold_runs, "hold_runs", transport::authority::chief},
    {message::save_shard, "save_shard", transport::authority::chief},
    {message::commit_save, "commit_save", transport::authority::chief},
    {message::end_hold, "end_hold", transport::authority::chief},
    {message::restore_shard, "restore_shard", transport::authority::chief},
    {message::open_session, "open_session", transport::authority::worker},
    {message::status, "status", transport::authority::worker},
    {message::list_containers, "list_containers", transport::authority::worker},
    {message::list_resources, "list_resources", transport::authority::worker},
    {message::read_variable, "read_variable", transport::authority::worker},
    {message::list_runs, "list_runs", transport::authority::worker},
    {message::reset_container, "reset_container", transport::authority::chief},
    {message::probe, "probe", transport::authority::worker},
    {message::stop, "stop", transport::authority::chief},
    {message::save_session, "save_session", transport::authority::chief},
    {message::restore_session, "restore_session", transport::authority::chief},
    {message::begin_trace, "begin_trace", transport::authority::worker},
    {message::end_trace, "end_trace", transport::authority::worker},
    {message::list_devices, "list_devices", transport::authority::worker},
};

/// The row of a kind; nullptr for one that is not known, which nobody does anything about.
[[nodiscard]] constexpr const permission* permission_of(std::uint16_t kind) {
  for (const permission& p : permissions)
    if (static_cast<std::uint16_t>(p.kind) == kind) return &p;
  return nullptr;
}

/// Why a server does not take a message of a kind from the other end; nullopt if it does.
[[nodiscard]] std::optional<error> not_permitted(const transport::link& from, std::uint16_t kind);

}  // namespace tagma::service

#ifndef TAGMA_COMPILED
#include "tagma/cluster/service/permissions.ipp"
#endif
