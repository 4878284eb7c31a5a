// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A session over the cluster that a server keeps for a client, as its worker sees it.

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/cluster/checkpoint.hpp"
#include "tagma/cluster/service/master_messages.hpp"
#include "tagma/plan/any_program.hpp"
#include "tagma/runtime/any_session.hpp"
#include "tagma/tensor/any_tensor.hpp"
#include "tagma/transport/options.hpp"

namespace tagma::service {

/// What a session that a server keeps had to say last, such as whom it waits for; empty: nothing.
class last_told {
 public:
  void set(const std::string& text) {
    const std::lock_guard<std::mutex> lock(mutex_);
    text_ = text;
  }
  [[nodiscard]] std::string get() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return text_;
  }

 private:
  std::mutex mutex_;
  std::string text_;
};

/// For several threads, all of which may wait. These are no virtual functions, which g++ compiles in every file that
/// sees them, with all that they reach.
struct kept_session {
  std::function<std::vector<any_tensor>(const std::vector<int>& outputs, const std::vector<named_feed>& feeds,
                                        const run_limits& limits)>
      run;
  std::function<saved_checkpoint(const std::string& name, const save_options& how)> save;
  std::function<restored_checkpoint(const std::string& name, std::int64_t pause_ns)> restore;
  node_devices devices;
};

/// Makes one; waits for the tasks of the cluster.
/// @param as who asks the other tasks, and with which secret
/// @param told is set by the session while it opens, and by its runs
/// @param opening who may stop it until then
using session_opener =
    std::function<kept_session(const open_session& what, const any_program& program, const transport::options& as,
                               const std::shared_ptr<last_told>& told, const run_limits& opening)>;

}  // namespace tagma::service
