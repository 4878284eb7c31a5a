// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of threads.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>
#include <cstdio>
#include <random>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/threads.hpp"
#include "tagma/runtime/turns.hpp"
#include "tagma/runtime/wait_word.hpp"

namespace tagma::service {

TAGMA_DECL void thread::state::run() {
  what();
  what = nullptr;
  ended.set();
}

TAGMA_DECL thread::thread(std::function<void()> what) : state_(std::make_shared<state>()) {
  state_->what = std::move(what);
  if (runtime::turns_here == nullptr) {
    real_ = std::thread([s = state_] { s->run(); });
    return;
  }
  auto kept = std::make_unique<std::shared_ptr<state>>(state_);
  const auto run = [](void* s) {
    const std::unique_ptr<std::shared_ptr<state>> mine(static_cast<std::shared_ptr<state>*>(s));
    (*mine)->run();
  };
  runtime::turns_here->start(run, kept.get());
  (void)kept.release();
}

TAGMA_DECL void thread::join() {
  state_->ended.wait();
  if (real_.joinable()) real_.join();
}

TAGMA_DECL void pause_for(std::int64_t ns) {
  runtime::wait_word nobody;
  nobody.sleep_until(nobody.load(memory_order::relaxed), runtime::later(runtime::now_ns(), ns));
}

TAGMA_DECL void pause_for(std::int64_t ns, const run_limits& limits) {
  runtime::wait_word nobody;
  run_limits both;
  both.stop = limits.stop;
  both.timeout_ns = limits.timeout_ns > 0 ? std::min(ns, limits.timeout_ns) : ns;
  if (ns > 0) runtime::run_guard(both).wait(nobody, nobody.load(memory_order::relaxed));
}

TAGMA_COLD TAGMA_DECL void print_line(const std::string& text) {
  const std::string line = "tagma: " + text + "\n";
  (void)std::fputs(line.c_str(), stderr);
}

TAGMA_DECL std::uint64_t draw_number() {
  if (runtime::turns_here != nullptr) return runtime::turns_here->draw();
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

}  // namespace tagma::service
