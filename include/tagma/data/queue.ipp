// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of queue.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/data/queue.hpp"

namespace tagma::detail {

TAGMA_DECL void awaited_attempt::wait(runtime::queue& of, const runtime::run_guard& guard) {
  const bool late = !done_.wait(guard);
  if (late) of.cancel(*this);
  of.settle();
  if (error_ == nullptr) return;  // a late one may have ended meanwhile
  if (late) guard.explain(guard.over(), sentence({" while it waited for ", of.text()}));
  std::rethrow_exception(error_);
}

TAGMA_DECL void awaited_attempt::ended(std::exception_ptr error) noexcept {
  error_ = static_cast<std::exception_ptr&&>(error);
  done_.set();
}

TAGMA_DECL void enqueue(runtime::queue& to, runtime::queue_elements&& elements, const run_limits& limits) {
  awaited_attempt attempt;
  const runtime::run_guard guard(limits);
  to.enqueue(attempt, static_cast<runtime::queue_elements&&>(elements));
  attempt.wait(to, guard);
}

TAGMA_DECL runtime::queue_elements dequeue(runtime::queue& from, extent count, bool up_to, const run_limits& limits) {
  awaited_attempt attempt;
  const runtime::run_guard guard(limits);
  if (count != 1 || up_to) from.check_batches();
  from.dequeue(attempt, count, up_to);
  attempt.wait(from, guard);
  return static_cast<runtime::queue_elements&&>(attempt.elements);
}

TAGMA_COLD TAGMA_DECL void close(runtime::queue& q, const run_limits& limits) {
  awaited_attempt attempt;
  const runtime::run_guard guard(limits);
  q.close(attempt);
  attempt.wait(q, guard);
}

}  // namespace tagma::detail
