// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of crew.hpp: in the compiled half, or else in each file that includes it.

#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/crew.hpp"
#include "tagma/transport/broken.hpp"

namespace tagma::service {

TAGMA_DECL bool crew::add(std::function<void()> what) {
  const std::lock_guard<mutex> lock(mutex_);
  if (ends_) return false;
  waiting_.push_back(std::move(what));
  if (waiting_.size() > idle_ && threads_.size() < (TAGMA_BROKEN(one_thread_for_all) ? 1 : most_))
    threads_.emplace_back([this] { work(); });
  else if (!TAGMA_BROKEN(wake_forgotten))
    wakes_.notify_one();
  return true;
}

TAGMA_DECL void crew::work() {
  std::unique_lock<mutex> lock(mutex_);
  for (;;) {
    while (waiting_.empty()) {
      if (ends_) return;
      ++idle_;
      wakes_.wait(lock);
      --idle_;
    }
    const std::function<void()> what = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    what();
    lock.lock();
  }
}

TAGMA_DECL void crew::finish() {
  std::vector<thread> all;
  {
    const std::lock_guard<mutex> lock(mutex_);
    ends_ = true;
    all.swap(threads_);
  }
  wakes_.notify_all();
  for (thread& t : all) t.join();
}

}  // namespace tagma::service
