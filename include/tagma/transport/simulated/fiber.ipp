// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of fiber.hpp: in the compiled half, or else in each file that includes it.

#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/transport/simulated/fiber.hpp"

namespace tagma::transport::simulated {

#ifdef TAGMA_FIBERS_ARE_THREADS

TAGMA_DECL fiber::fiber(std::function<void()> what) : state_(std::make_shared<state>()) {
  state_->real = std::thread([s = state_, what = std::move(what)]() mutable {
    s->go.take();
    what();
    what = nullptr;
    s->ended = true;
    s->back.give();
  });
}

TAGMA_DECL fiber::~fiber() { state_->ended ? state_->real.join() : state_->real.detach(); }

TAGMA_DECL void fiber::go_on() {
  state_->go.give();
  state_->back.take();
}

TAGMA_DECL void fiber::stay() {
  state_->back.give();
  state_->go.take();
}

#else

TAGMA_DECL fiber::fiber(std::function<void()> what) : state_(std::make_shared<state>(std::move(what))) {}

TAGMA_DECL fiber::~fiber() {
  if (!state_->ended) (void)new std::shared_ptr<state>(state_);  // what never ends never goes
}

TAGMA_DECL void fiber::go_on() {
  state_->others.swap();
  (void)::swapcontext(&state_->back, &state_->own);
  state_->others.swap();
}

TAGMA_DECL void fiber::stay() { (void)::swapcontext(&state_->own, &state_->back); }

#endif

TAGMA_DECL bool fiber::has_ended() const { return state_->ended; }

}  // namespace tagma::transport::simulated
