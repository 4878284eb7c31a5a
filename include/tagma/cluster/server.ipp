// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of server.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/cluster/master.hpp"
#include "tagma/cluster/server.hpp"
#include "tagma/cluster/service/threads.hpp"

namespace tagma {

namespace detail {

TAGMA_COLD TAGMA_DECL service::worker_options worker_options_of(const role& who, const server_options& options,
                                                                const runtime::device_kind* others,
                                                                transport::network& by) {
  service::worker_options w;
  w.members = who.cluster();
  w.open_session = open_by_master(by, w.members);
  w.link.self.job = who.job();
  w.link.self.task = who.task();
  w.link.self.role = "server";
  w.link.self.incarnation = service::draw_number() | 1;
  w.link.secret = options.secret;
  w.link.insecure = options.insecure;
  w.link.chief_secret = options.chief_secret;
  w.link.tls = options.tls;
  w.link.patience = options.patience;
  w.link.shared_memory = options.shared_memory;
  w.intra_op_threads = options.intra_op_threads;
  w.inter_op_threads = options.inter_op_threads;
  w.others = others;
  w.others_use = options.gpu;
  w.checkpoints = options.checkpoints;
  w.checkpoint_chain = options.checkpoint_chain;
  w.checkpoint_every_ns = options.checkpoint_every_ns;
  w.checkpoints_kept = options.checkpoints_kept;
  w.told = options.told;
  w.stop_asked = options.stop_asked;
  return w;
}

}  // namespace detail

TAGMA_DECL server::server(const role& who, const server_options& options, const runtime::device_kind* others)
    : worker_(network_, to_string(listen_at(who.task_address(), options.bind).bind),
              detail::worker_options_of(who, options, others, network_)),
      target_("tagma://" + worker_.address()) {}

TAGMA_DECL server::~server() = default;

}  // namespace tagma
