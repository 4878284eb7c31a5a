// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of queue.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/data/queue.hpp"
#include "tagma/expr/name.hpp"

namespace tagma::detail {

/// A call that was cancelled before it began does nothing; one that is late, what takes no time.
TAGMA_DECL void check_not_cancelled(const runtime::run_guard& guard) {
  if (guard.over() == status_code::cancelled) guard.explain(status_code::cancelled);
}

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

TAGMA_COLD TAGMA_DECL void check_name_of_queue(std::string_view name) {
  if (!is_name(name))
    fail(status_code::invalid_argument, {"a queue cannot be called '", name,
                                         "': names have letters, digits and _.-/, "
                                         "of which the first is a letter, a digit or a point"});
}

TAGMA_DECL elements_on_loan::~elements_on_loan() {
  if (!elements_.empty()) of_.give_back(static_cast<runtime::queue_elements&&>(elements_));
}

TAGMA_DECL void enqueue(runtime::queue& to, runtime::queue_elements&& elements, const run_limits& limits) {
  awaited_attempt attempt;
  const runtime::run_guard guard(limits);
  check_not_cancelled(guard);
  to.enqueue(attempt, static_cast<runtime::queue_elements&&>(elements));
  attempt.wait(to, guard);
}

TAGMA_DECL runtime::queue_elements take_from(runtime::queue& from, extent count, bool up_to, const run_limits& limits) {
  awaited_attempt attempt;
  const runtime::run_guard guard(limits);
  check_not_cancelled(guard);
  from.dequeue(attempt, count, up_to);
  attempt.wait(from, guard);
  return static_cast<runtime::queue_elements&&>(attempt.elements);
}

TAGMA_DECL runtime::queue_elements dequeue(runtime::queue& from, const run_limits& limits) {
  return take_from(from, 1, false, limits);
}

TAGMA_DECL runtime::queue_elements dequeue_batch(runtime::queue& from, extent count, bool up_to,
                                                 const run_limits& limits) {
  from.check_batches(count == 1 && !up_to);
  return take_from(from, count, up_to, limits);
}

TAGMA_COLD TAGMA_DECL void close(runtime::queue& q, const run_limits& limits) {
  awaited_attempt attempt;
  const runtime::run_guard guard(limits);
  check_not_cancelled(guard);
  q.close(attempt);
  attempt.wait(q, guard);
}

}  // namespace tagma::detail
