// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of worker_driver.hpp: in the compiled half, or else in each file that includes it.

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/master_messages.hpp"
#include "tagma/cluster/service/threads.hpp"
#include "tagma/cluster/service/worker_driver.hpp"
#include "tagma/device/program_file.hpp"

namespace tagma::service {

TAGMA_DECL bool worker_core::drives(std::uint64_t graph) {
  const std::shared_ptr<registered_part> part = find(graph);
  return part != nullptr && part->driven() != nullptr;
}

TAGMA_DECL std::shared_ptr<registered_part> worker_core::open(const open_session& what,
                                                              const std::vector<std::byte>& bytes,
                                                              transport::authority may) {
  if (options_.open_session == nullptr)
    fail(status_code::unimplemented, "this worker drives no sessions; let the client be the master");
  const any_program program = read_program_bytes({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  transport::options as = options_.link;
  as.self.role = "master";
  as.self.incarnation = draw_number() | 1;
  // It may do what its client may.
  if (may == transport::authority::chief && !as.chief_secret.empty()) as.secret = as.chief_secret;
  as.chief_secret.clear();
  const auto told = std::make_shared<last_told>();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (parts_.count(what.what.graph) != 0 || !opening_.emplace(what.what.graph, told).second)
      fail(status_code::already_exists, {"graph ", what.what.graph, " is known already"});
  }
  const auto is_open = [&] {
    const std::lock_guard<std::mutex> lock(mutex_);
    opening_.erase(what.what.graph);
  };
  std::shared_ptr<registered_part> made;
  try {
    made = std::make_shared<registered_part>(
        what.what, program, options_.open_session(what, program, as, told, stop_with(stops_)), told, options_);
  } catch (...) {
    is_open();
    throw;
  }
  told->set({});
  is_open();
  return add(what.what.graph, std::move(made));
}

TAGMA_DECL void worker_core::receive_driven(const std::shared_ptr<inlet_handler>& by, transport::link& from,
                                            transport::incoming& m) {
  const std::uint64_t request = m.request;
  const auto soon = [&](std::function<void()> work) { answer_soon(by, request, std::move(work), drivers_); };
  const auto driven = [this](std::uint64_t graph) {
    std::shared_ptr<registered_part> part = find(graph);
    if (part == nullptr || part->driven() == nullptr)
      fail(status_code::not_found, {"graph ", graph, " is none that is driven here"});
    return part;
  };
  switch (static_cast<message>(m.kind)) {
    case message::open_session:
      return soon(
          [this, by, request, what = open_session::read(m.body), bytes = std::move(m.buffer), may = from.peer().may] {
            const std::shared_ptr<registered_part> part = open(what, bytes, may);
            keep(by, what.what.graph, *part);
            by->reply(request, added_part{options_.link.self.incarnation}.body(),
                      std::make_shared<const std::string>(part->driven()->devices.body()));
          });
    case message::save_session:
      return soon([by, request, driven, what = save_session::read(m.body)] {
        const std::shared_ptr<registered_part> part = driven(what.graph);
        by->reply(request, saved_session{part->driven()->save(what.name, what.how)}.body());
      });
    default:
      return soon([by, request, driven, what = restore_session::read(m.body)] {
        const std::shared_ptr<registered_part> part = driven(what.graph);
        by->reply(request, restored_session{part->driven()->restore(what.name, what.pause_ns)}.body());
      });
  }
}

}  // namespace tagma::service
