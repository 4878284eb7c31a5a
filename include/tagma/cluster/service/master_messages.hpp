// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a client and the server say to one another that drives its session: a program for the whole cluster, and
/// checkpoints of it. Runs are `run_part`, of the one part that there is.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/cluster/checkpoint.hpp"
#include "tagma/cluster/service/messages.hpp"
#include "tagma/place/device.hpp"

namespace tagma::service {

/// A program that the server is to place, to cut and to drive. Times are nanoseconds, as of `cluster_session_options`.
struct open_session {
  add_part what;  ///< all of the program, as the part of the server
  std::vector<std::string> device_filters;
  std::int64_t connect_ns = 0, run_ns = 0, again_ns = 0, tell_ns = 0, stall_ns = 0;

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static open_session read(std::string_view body);
};

/// Where the nodes of a program are: bulk of the answer, beside an `added_part`.
struct node_devices {
  std::vector<std::string> names;   ///< complete ones
  std::vector<std::int32_t> nodes;  ///< for each the position of its device

  [[nodiscard]] static node_devices of(const std::vector<device_spec>& devices);
  [[nodiscard]] std::vector<device_spec> devices() const;
  [[nodiscard]] std::string body() const;
  [[nodiscard]] static node_devices read(std::string_view body);
};

/// Has the session of a graph save its variables; the answer is a `saved_session`.
struct save_session {
  std::uint64_t graph = 0;
  std::string name;
  save_options how;

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static save_session read(std::string_view body);
};
struct saved_session {
  saved_checkpoint made;

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static saved_session read(std::string_view body);
};

/// Has it restore them; the answer is a `restored_session`.
struct restore_session {
  std::uint64_t graph = 0;
  std::string name;
  std::int64_t pause_ns = 0;

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static restore_session read(std::string_view body);
};
struct restored_session {
  restored_checkpoint made;

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static restored_session read(std::string_view body);
};

}  // namespace tagma::service

#ifndef TAGMA_COMPILED
#include "tagma/cluster/service/master_messages.ipp"
#endif
