// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The worker service of a process: it takes parts of graphs it was not compiled with, keeps their state in containers,
/// and runs them for whoever asks.

#include <memory>
#include <string>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/checkpoint_calls.hpp"
#include "tagma/cluster/service/worker_core.hpp"
#include "tagma/cluster/service/worker_driver.hpp"
#include "tagma/cluster/service/worker_look.hpp"

namespace tagma::service {

/// Listens while it lives.
class worker {
 public:
  /// Throws what `network::listen` throws, InvalidArgument for secrets that are no two, and what it finds in a
  /// checkpoint that it made and cannot read.
  /// @param by outlives it
  worker(transport::network& by, const std::string& address, worker_options options);
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;
  /// Ends the runs that are under way, with Aborted.
  ~worker();

  /// With the port that was chosen.
  [[nodiscard]] const std::string& address() const { return address_; }
  /// The container of a name, which graphs have their variables in.
  [[nodiscard]] container state(const std::string& name = "");

 private:
  transport::network& network_;
  std::string address_;
  std::shared_ptr<worker_core> core_;
};

}  // namespace tagma::service

#ifndef TAGMA_COMPILED
#include "tagma/cluster/service/worker.ipp"
#endif
