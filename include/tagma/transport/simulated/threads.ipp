// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of threads.hpp: in the compiled half, or else in each file that includes it.

#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/transport/simulated/threads.hpp"

namespace tagma::transport::simulated {

TAGMA_DECL threads::threads(stage& on) : stage_(on) {}

TAGMA_DECL void threads::start(runtime::turns& home, const std::int64_t& stopped_until, std::function<void()> what) {
  const auto t = std::make_shared<thread>();
  t->home = &home;
  t->stopped_until = &stopped_until;
  t->number = ++started_;
  t->body = std::make_unique<fiber>([&home, what = std::move(what)]() mutable {
    const at_home here(home);
    what();
    what = nullptr;
  });
  all_.push_back(t);
  plan(t, stage_.time() + stage_.draw_turn());
}

TAGMA_DECL void threads::plan(const std::shared_ptr<thread>& t, std::int64_t when) {
  stage_.plan(when, [this, t, turn = t->turn] {
    if (t->turn != turn || !t->waits) return;
    if (*t->stopped_until > stage_.time()) return plan(t, *t->stopped_until);
    go_on(t);
  });
}

TAGMA_DECL void threads::go_on(const std::shared_ptr<thread>& t) {
  stage_.goes_on(t->number);
  t->waits = false;
  t->at = nullptr;
  current_ = t.get();
  t->body->go_on();
  current_ = nullptr;
  if (t->body->has_ended()) std::erase(all_, t);
}

TAGMA_DECL std::shared_ptr<threads::thread> threads::current() const {
  for (const auto& t : all_)
    if (t.get() == current_) return t;
  return nullptr;
}

TAGMA_DECL void threads::sleep(const runtime::wait_word& at, std::int64_t end_ns) {
  const std::shared_ptr<thread> t = current();
  if (t == nullptr) fail(status_code::internal, "a handler waits, and with it the thread of the network");
  ++t->turn;
  t->waits = true;
  t->at = &at;
  if (end_ns != runtime::wait_word::never) plan(t, end_ns);
  t->body->stay();
}

TAGMA_DECL void threads::pass() {
  const std::shared_ptr<thread> t = current();
  if (t == nullptr || !stage_.draw_pass()) return;
  ++t->turn;
  t->waits = true;
  plan(t, stage_.time() + stage_.draw_turn());
  t->body->stay();
}

TAGMA_DECL void threads::wake(const runtime::wait_word& at, int count) {
  std::vector<std::shared_ptr<thread>> asleep;
  for (const auto& t : all_)
    if (t->waits && t->at == &at) asleep.push_back(t);
  for (; count > 0 && !asleep.empty(); --count) {
    const auto which = asleep.begin() + static_cast<std::ptrdiff_t>(stage_.draw_below(asleep.size()));
    (*which)->at = nullptr;
    plan(*which, stage_.time() + stage_.draw_turn());
    asleep.erase(which);
  }
}

}  // namespace tagma::transport::simulated
