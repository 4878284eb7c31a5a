// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of run_control.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/runtime/run_control.hpp"

namespace tagma::runtime {

TAGMA_COLD TAGMA_DECL bool run_control::add(stop_hook& hook) noexcept {
  const mutex_lock lock(mutex_);
  if (stopped()) return false;
  hook.next_ = hooks_;
  hooks_ = &hook;
  return true;
}

TAGMA_COLD TAGMA_DECL void run_control::tell() noexcept {
  stop_hook* first = nullptr;
  {
    const mutex_lock lock(mutex_);
    told_.store(true, memory_order::release);
    first = hooks_;
    hooks_ = nullptr;
  }
  while (first != nullptr) {
    stop_hook* const hook = first;
    first = hook->next_;  // what it stops may end the step that it belongs to, but not the run
    hook->stop();
  }
}

TAGMA_COLD TAGMA_DECL void run_control::failed(std::exception_ptr e) noexcept {
  leave_out();
  const mutex_lock lock(mutex_);
  note(static_cast<std::exception_ptr&&>(e));
}

TAGMA_COLD TAGMA_DECL bool run_control::wants_name(list l) noexcept {
  const mutex_lock lock(mutex_);
  return late() && has_room(l);
}

TAGMA_COLD TAGMA_DECL void run_control::name(list l, std::exception_ptr error_of_step) noexcept {
  const caught seen(error_of_step);
  if (!seen.is_known) return;  // nothing says which it is
  const mutex_lock lock(mutex_);
  add(l, named_part(seen.what));
}

TAGMA_DECL void run_control::wait(wait_word& word, std::uint32_t seen) const {
  if (stopped())
    word.wait(seen);
  else
    guard_.wait(word, seen);
}

TAGMA_DECL void run_control::finish() {
  if (stopped() && left_out_.load(memory_order::acquire)) rethrow();
}

TAGMA_COLD TAGMA_DECL bool run_control::over_limits() noexcept {
  const status_code reason = guard_.over();
  if (reason == status_code::ok) return false;
  const mutex_lock lock(mutex_);
  if (first_ == nullptr) {
    try {
      guard_.explain(reason);
    } catch (...) {
      note(std::current_exception(), reason == status_code::deadline_exceeded);
    }
  }
  return true;
}

TAGMA_COLD TAGMA_DECL void run_control::note(std::exception_ptr e, bool late_run) noexcept {
  if (first_ == nullptr) {
    first_ = static_cast<std::exception_ptr&&>(e);
    try {
      lists_ = make_owned<lists>();
      lists_->late = late_run;
    } catch (...) {  // no memory for it: the first error is all
    }
    stopped_.store(true, memory_order::release);
    return;
  }
  const caught seen(e);
  if (seen.code != status_code::cancelled)
    add_if_room(list::more_errors, seen.is_known ? seen.what : "an exception that is no std::exception");
  else if (late())
    add_if_room(list::not_finished, named_part(seen.what));
}

TAGMA_COLD TAGMA_DECL void run_control::add_if_room(list l, std::string_view entry) noexcept {
  if (has_room(l)) add(l, entry);
}

TAGMA_COLD TAGMA_DECL void run_control::add(list l, std::string_view entry) noexcept {
  std::string& text = lists_->text[index(l)];
  try {
    append_parts(text, {text.empty() ? "" : "; ", entry});
  } catch (...) {  // no memory for it: it is counted
  }
}

TAGMA_COLD TAGMA_DECL std::string_view run_control::named_part(std::string_view what) noexcept {
  const std::string_view text = without_code(what);
  return {text.data(), before_colon(text)};
}

TAGMA_COLD TAGMA_DECL std::string run_control::steps_text(list l, std::string_view before) const {
  const int count = lists_->count[index(l)];
  if (count == 0) return {};
  std::string text = sentence({before, lists_->text[index(l)]});
  if (count > most_listed) append_parts(text, {"; and ", count - most_listed, " more"});
  return text;
}

TAGMA_COLD TAGMA_DECL void run_control::rethrow() {
  if (lists_ == nullptr) std::rethrow_exception(first_);
  std::string more =
      sentence({steps_text(list::done_last, "; done last: "), steps_text(list::not_finished, "; not finished: ")});
  if (const int others = lists_->count[index(list::more_errors)]; others > 0)
    append_parts(more, {"; ", others, others == 1 ? " more error: " : " more errors: ",
                        lists_->text[index(list::more_errors)], others > most_listed ? "; and so on" : ""});
  const caught seen(first_);
  if (more.empty() || !seen.is_known) std::rethrow_exception(first_);
  fail(seen.code, {seen.is_error ? without_code(seen.what) : seen.what, more});
}

}  // namespace tagma::runtime
