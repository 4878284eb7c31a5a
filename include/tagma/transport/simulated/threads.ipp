// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of threads.hpp: in the compiled half, or else in each file that includes it.

#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/transport/simulated/threads.hpp"

namespace tagma::transport::simulated {

TAGMA_DECL threads::threads(stage& on) : stage_(on), mine_(std::make_shared<baton>()) {}

TAGMA_DECL threads::~threads() {
  for (const auto& t : all_) t->real.detach();
}

TAGMA_DECL void threads::start(runtime::turns& home, const std::int64_t& stopped_until, std::function<void()> what) {
  const auto t = std::make_shared<thread>();
  t->home = &home;
  t->stopped_until = &stopped_until;
  t->number = ++started_;
  t->back = mine_;
  t->real = std::thread([t, what = std::move(what)]() mutable {
    t->go.take();
    {
      const at_home here(*t->home);
      what();
      what = nullptr;
    }
    t->ended = true;
    t->back->give();
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
  t->go.give();
  mine_->take();
  current_ = nullptr;
  if (!t->ended) return;
  t->real.join();
  std::erase(all_, t);
}

TAGMA_DECL std::shared_ptr<threads::thread> threads::current() const {
  for (const auto& t : all_)
    if (t.get() == current_) return t;
  return nullptr;
}

TAGMA_DECL void threads::stay(const std::shared_ptr<thread>& t) {
  mine_->give();
  t->go.take();
}

TAGMA_DECL void threads::sleep(const runtime::wait_word& at, std::int64_t end_ns) {
  const std::shared_ptr<thread> t = current();
  if (t == nullptr) fail(status_code::internal, "a handler waits, and with it the thread of the network");
  ++t->turn;
  t->waits = true;
  t->at = &at;
  if (end_ns != runtime::wait_word::never) plan(t, end_ns);
  stay(t);
}

TAGMA_DECL void threads::pass() {
  const std::shared_ptr<thread> t = current();
  if (t == nullptr || !stage_.draw_pass()) return;
  ++t->turn;
  t->waits = true;
  plan(t, stage_.time() + stage_.draw_turn());
  stay(t);
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
