// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of plan_store.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/atomic.hpp"
#include "tagma/base/config.hpp"
#include "tagma/base/control_group.hpp"
#include "tagma/runtime/plan_store.hpp"
#include "tagma/runtime/wait_word.hpp"

namespace tagma::runtime {

TAGMA_COLD TAGMA_DECL std::int64_t default_plan_cache_bytes(std::int64_t limit) {
  const std::int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  const std::int64_t quarter = pages > 0 && page > 0 ? pages / 4 * page : std::int64_t{1} << 30;
  return limit > 0 && limit / 4 < quarter ? limit / 4 : quarter;
}

TAGMA_COLD TAGMA_DECL std::int64_t default_plan_cache_bytes() {
  static constinit atomic<std::int64_t> known{0};
  std::int64_t bytes = known.load(memory_order::relaxed);
  if (bytes == 0) {
    bytes = default_plan_cache_bytes(control_group_limit("memory", &tagma::detail::memory_of_group));
    known.store(bytes, memory_order::relaxed);
  }
  return bytes;
}

TAGMA_COLD TAGMA_DECL bool is_lack_of_memory(const std::exception_ptr& e) noexcept {
  const caught seen(e);
  return seen.code == status_code::resource_exhausted && !seen.never_fits;
}

TAGMA_DECL owned<bound_plan> plan_cache::take(const plan::plan_view& key, array_view<const raw_view> feeds) {
  for (owned<bound_plan>* p = &first_; *p != nullptr; p = &(*p)->next)
    if (&(*p)->plan() == &key && (*p)->matches(feeds)) return unlink(*p);
  return nullptr;
}

TAGMA_DECL owned<bound_plan> plan_cache::put(owned<bound_plan> plan) {
  owned<bound_plan> gone;
  std::size_t same = 1;
  for (owned<bound_plan>* p = &first_; *p != nullptr; p = &(*p)->next)
    if (&(*p)->plan() == &plan->plan() && ++same > most_of_one) {
      gone = unlink(*p);
      break;
    }
  bytes_ += plan->arena_bytes();
  plan->next = std::move(first_);
  first_ = std::move(plan);
  while (bytes_ > budget_ && first_->next != nullptr) {
    owned<bound_plan> last = take_oldest();
    last->next = std::move(gone);
    gone = std::move(last);
  }
  return gone;
}

TAGMA_COLD TAGMA_DECL owned<bound_plan> plan_cache::take_oldest() {
  if (empty()) return nullptr;
  owned<bound_plan>* last = &first_;
  while ((*last)->next != nullptr) last = &(*last)->next;
  return unlink(*last);
}

TAGMA_DECL owned<bound_plan> plan_cache::unlink(owned<bound_plan>& p) {
  owned<bound_plan> found = std::move(p);
  p = std::move(found->next);
  bytes_ -= found->arena_bytes();
  return found;
}

TAGMA_COLD TAGMA_DECL plan_store::plan_store() {
  others& all = of_process();
  const mutex_lock lock(all.access);
  next_ = all.first;
  all.first = this;
}

TAGMA_COLD TAGMA_DECL plan_store::~plan_store() {
  others& all = of_process();
  const mutex_lock lock(all.access);
  plan_store** p = &all.first;
  while (*p != this) p = &(*p)->next_;
  *p = next_;
}

TAGMA_COLD TAGMA_DECL std::size_t plan_store::idle_bytes() {
  const mutex_lock lock(mutex_);
  return idle_.bytes();
}

TAGMA_COLD TAGMA_DECL void plan_store::enter(std::string_view purpose) {
  const mutex_lock lock(mutex_);
  count_visit(purpose);
}

[[gnu::noinline]] TAGMA_DECL owned<bound_plan> plan_store::enter(const plan::plan_view& key,
                                                                 array_view<const raw_view> feeds) {
  const mutex_lock lock(mutex_);
  count_visit({});
  return idle_.take(key, feeds);
}

[[gnu::noinline]] TAGMA_DECL void plan_store::leave(owned<bound_plan> plan) {
  owned<bound_plan> gone;
  if (plan != nullptr) {
    const mutex_lock lock(mutex_);
    gone = idle_.put(std::move(plan));
    if (gone == nullptr) return count_leave();
  }
  gone = nullptr;  // while the session lives
  const mutex_lock lock(mutex_);
  count_leave();
}

TAGMA_COLD TAGMA_DECL bool plan_store::let_one_go() {
  if (let_own_go()) return true;
  others& all = of_process();
  const mutex_lock lock(all.access);  // nobody's session ends meanwhile
  for (plan_store* s = all.first; s != nullptr; s = s->next_)
    if (s != this && s->let_own_go()) return true;
  return false;
}

TAGMA_COLD TAGMA_DECL bool plan_store::close(std::int64_t patience_ns) noexcept {
  end_.begin();
  const std::int64_t end = patience_ns < 0 ? wait_word::never : later(now_ns(), patience_ns);
  const mutex_lock lock(mutex_);
  while (visits_ > 0)
    if (!wait(end)) return false;
  while (idle_.take_oldest() != nullptr) continue;
  return true;
}

TAGMA_COLD TAGMA_DECL plan_store::attempts::attempts(plan_store& store) : store_(store) {
  const mutex_lock lock(store.mutex_);
  seen_ = store.freed_;
}

TAGMA_COLD TAGMA_DECL plan_store::attempts::~attempts() {
  if (!alone_) return;
  const mutex_lock lock(store_.mutex_);
  store_.binds_alone_ = false;
  store_.tell();
}

TAGMA_COLD TAGMA_DECL bool plan_store::attempts::again(const run_guard& guard) {
  if (store_.let_one_go()) return true;
  owned<bound_plan> gone;
  const mutex_lock lock(store_.mutex_);
  if (end_ == 0) end_ = now_ns() + most_waited;
  if (!alone_ && !hopeless() && !wait_for_turn(guard)) return false;
  while ((gone = store_.idle_.take_oldest()) == nullptr && store_.freed_ == seen_)
    if (store_.at_work() == 1 || !wait(guard)) return false;
  seen_ = store_.freed_;
  return true;
}

TAGMA_COLD TAGMA_DECL bool plan_store::attempts::hopeless() const {
  return store_.idle_.empty() && store_.freed_ == seen_ && store_.at_work() == 1;
}

TAGMA_COLD TAGMA_DECL bool plan_store::attempts::wait_for_turn(const run_guard& guard) {
  const waiting here(store_);
  while (store_.binds_alone_)
    if (!wait(guard)) return false;
  alone_ = store_.binds_alone_ = true;
  return true;
}

TAGMA_COLD TAGMA_DECL bool plan_store::attempts::wait(const run_guard& guard) {
  guard.check();
  const std::int64_t soon = now_ns() + look_again;
  static_cast<void>(store_.wait(soon < end_ ? soon : end_));
  return now_ns() < end_;
}

TAGMA_COLD TAGMA_DECL plan_store::waiting::waiting(plan_store& s) : store(s) {
  ++store.waiting_;
  ++store.freed_;
  store.tell();
}

TAGMA_COLD TAGMA_DECL plan_store::others& plan_store::of_process() {
  static others& all = *new others;  // sessions may end after what is static
  return all;
}

TAGMA_COLD TAGMA_DECL bool plan_store::let_own_go() {
  owned<bound_plan> gone;
  const mutex_lock lock(mutex_);
  gone = idle_.take_oldest();
  return gone != nullptr;
}

TAGMA_DECL void plan_store::count_visit(std::string_view purpose) {
  if (end_.begun()) end_.refuse(purpose);
  ++visits_;
}

TAGMA_DECL void plan_store::count_leave() {
  --visits_;
  ++freed_;
  tell();
}

TAGMA_DECL void plan_store::tell() {
  if (asleep_ > 0) changed_.notify_all();
}

TAGMA_COLD TAGMA_DECL bool plan_store::wait(std::int64_t end) {
  const std::int64_t now = end == wait_word::never ? 0 : now_ns();
  if (now >= end) return false;
  ++asleep_;
  if (end == wait_word::never)
    changed_.wait(mutex_);
  else
    changed_.wait_for(mutex_, end - now);
  --asleep_;
  return true;
}

}  // namespace tagma::runtime
