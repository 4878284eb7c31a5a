// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of worker.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/worker.hpp"

namespace tagma::service {

TAGMA_DECL worker::worker(transport::network& by, const std::string& address, worker_options options) : network_(by) {
  const transport::options how = options.link;
  if (!how.chief_secret.empty() && (how.secret.empty() || how.secret == how.chief_secret))
    fail(status_code::invalid_argument, "a secret of chiefs needs another one for workers");
  core_ = std::make_shared<worker_core>(by, std::move(options));
  core_->begin_own_checkpoints();
  address_ = by.listen(address, how, [core = core_] { return core->accept(); });
}

TAGMA_DECL worker::~worker() {
  network_.stop_listening(address_);
  core_->stop();
}

TAGMA_DECL container worker::state(const std::string& name) { return core_->state(name, isolation::variables); }

}  // namespace tagma::service
