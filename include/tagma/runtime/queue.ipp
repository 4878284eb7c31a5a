// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of queue.hpp: in the compiled half, or else in each file that includes it.

#include <sched.h>

#include "tagma/base/config.hpp"
#include "tagma/runtime/queue.hpp"

namespace tagma::runtime {

TAGMA_COLD TAGMA_DECL queue::queue(std::string name, const queue_options& options,
                                   array_view<const tensor_spec> components)
    : resource("queue", std::move(name)), options_(options), components_(components.size()) {
  for (std::size_t i = 0; i < components.size(); ++i) components_[i] = components[i];
  const extent least = options.min_after_dequeue;
  if (least < 0 || (options.capacity >= 0 && least >= options.capacity && least > 0))
    refuse({"min_after_dequeue is ", least, ", which must be at least 0 and less than the capacity of ",
            options.capacity});
  if (least > 0 && options.kind != queue_kind::shuffle) refuse({"min_after_dequeue is for random shuffle queues"});
}

TAGMA_COLD TAGMA_DECL void queue::give_up_heap() {
  for (extent i = 0; i < held_; ++i) queue_element::destroy(heap_[i]);
}

TAGMA_COLD TAGMA_DECL std::string queue::text() const {
  if (name().empty()) return sentence({"a ", to_string(options_.kind), " without a name"});
  return sentence({to_string(options_.kind), " '", name(), "'"});
}

TAGMA_COLD TAGMA_DECL void queue::check(const queue_options& other, array_view<const tensor_spec> components) const {
  if (options_.kind != other.kind) refuse_other("which is a", to_string(options_.kind), to_string(other.kind));
  const struct {
    const char* what;
    extent own, asked;
  } numbers[] = {
      {"with a capacity of", options_.capacity, other.capacity},
      {"with min_after_dequeue", options_.min_after_dequeue, other.min_after_dequeue},
      {"with seed", static_cast<extent>(options_.seed),
       static_cast<extent>(other.seed != 0 ? other.seed : options_.seed)},
      {"with so many components:", static_cast<extent>(components_.size()), static_cast<extent>(components.size())}};
  for (const auto& number : numbers)
    if (number.own != number.asked) refuse_other(number.what, number.own, number.asked);
  for (std::size_t i = 0; i < components.size(); ++i)
    if (!(components[i] == components_[i]))
      refuse_other(sentence({"with component ", i}), to_string(components_[i]), to_string(components[i]));
}

TAGMA_COLD TAGMA_DECL void queue::refuse_other(std::string_view what, const text_part& own,
                                               const text_part& asked) const {
  fail(status_code::invalid_argument,
       {"the container has ", text(), " ", what, " ", own, ", asked for is one ", what, " ", asked});
}

TAGMA_COLD TAGMA_DECL void queue::refuse(std::initializer_list<text_part> parts) const {
  fail(status_code::invalid_argument, {text(), ": ", sentence(parts)});
}

TAGMA_DECL void queue::check_batches(bool one) const {
  for (std::size_t i = 0; i < components_.size(); ++i)
    if (components_[i].dims.rank == max_rank)
      refuse({"a batch of component ", i, ", ", to_string(components_[i]), ", would have ", max_rank + 1, " axes"});
  if (one || options_.kind == queue_kind::padding) return;
  for (std::size_t i = 0; i < components_.size(); ++i)
    if (!components_[i].dims.is_static())
      refuse({"several elements at once need components without open extents, or a padding queue; component ", i,
              " is ", to_string(components_[i])});
}

TAGMA_DECL extent queue::size() {
  const mutex_lock lock(mutex_);
  return held_;
}

TAGMA_DECL bool queue::is_closed() {
  const mutex_lock lock(mutex_);
  return closed_;
}

TAGMA_COLD TAGMA_DECL queue::waiting_attempts queue::waiting() {
  waiting_attempts all;
  const mutex_lock lock(mutex_);
  for (const queue_attempt* a = writers_.first; a != nullptr; a = a->behind_) ++all.adding;
  for (const queue_attempt* a = readers_.first; a != nullptr; a = a->behind_) ++all.taking;
  return all;
}

TAGMA_DECL queue_elements queue::make(array_view<const raw_view> tensors, const std::int64_t* priority) {
  check_priority(priority != nullptr);
  check_count(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) check_component(i, tensors[i], tensors[i].dims, {});
  queue_elements made;
  add_copy(made, tensors, priority == nullptr ? 0 : *priority);
  return made;
}

TAGMA_COLD TAGMA_DECL queue_elements queue::make_rows(array_view<const raw_view> tensors,
                                                      const array_view<const std::int64_t>* priorities) {
  check_priority(priorities != nullptr);
  check_count(tensors.size());
  extent rows = -1;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const shape& dims = tensors[i].dims;
    if (dims.rank == 0) refuse({"component ", i, " is a scalar, which has no rows to enqueue"});
    check_component(i, tensors[i], dims.sub(1, dims.rank), "rows of ");
    if (rows >= 0 && dims[0] != rows)
      refuse({"all components need the same number of rows; component ", i, " has ", dims[0], ", those before ", rows});
    rows = dims[0];
  }
  if (priorities != nullptr && static_cast<extent>(priorities->size()) != rows)
    refuse({priorities->size(), " priorities for ", rows, " rows"});
  queue_elements made;
  const heap_array<raw_view> row(tensors.size());
  for (extent r = 0; r < rows; ++r) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      row[i] = {nullptr, tensors[i].type, tensors[i].dims.sub(1, tensors[i].dims.rank)};
      row[i].data = static_cast<const std::byte*>(tensors[i].data) + static_cast<std::size_t>(r) * row[i].bytes();
    }
    add_copy(made, row, priorities == nullptr ? 0 : (*priorities)[static_cast<std::size_t>(r)]);
  }
  return made;
}

[[gnu::noinline]] TAGMA_DECL void queue::reuse(queue_elements&& elements) noexcept {
  queue_elements unused = static_cast<queue_elements&&>(elements);
  const mutex_lock lock(mutex_);
  while (!unused.empty() && spare_.size() < most_spare) spare_.push_back(unused.pop_front());
}

TAGMA_COLD TAGMA_DECL void queue::give_back(queue_elements&& elements) noexcept {
  try {
    const change now(*this);
    put_back(elements);
    flush();
  } catch (const std::exception&) {  // whoever calls tells already what went wrong
  }
}

TAGMA_DECL void queue::enqueue(queue_attempt& attempt, queue_elements&& elements) {
  attempt.elements = static_cast<queue_elements&&>(elements);
  attempt.does_ = queue_attempt::what::enqueue;
  if (attempt.elements.empty()) return end_at_once(attempt);
  begin(writers_, attempt);
}

TAGMA_DECL void queue::dequeue(queue_attempt& attempt, extent count, bool up_to) {
  if (count < 0 || (options_.kind == queue_kind::priority && options_.capacity >= 0 && count > options_.capacity &&
                    !(up_to && is_closed())))
    refuse_count(count);
  attempt.elements = {};
  attempt.does_ = queue_attempt::what::dequeue;
  attempt.wanted_ = count;
  attempt.up_to_ = up_to;
  if (count == 0) return end_at_once(attempt);
  begin(readers_, attempt);
}

[[gnu::noinline]] TAGMA_DECL void queue::begin(line& of, queue_attempt& attempt) {
  const change now(*this);
  of.push(attempt);
  flush();
}

TAGMA_COLD TAGMA_DECL void queue::end_at_once(queue_attempt& attempt) { attempt.ended(nullptr); }

TAGMA_COLD TAGMA_DECL void queue::refuse_count(extent count) const {
  if (count < 0) refuse({"requested ", count, " elements, which is less than 0"});
  refuse({"requested ", count, " elements at once, the capacity is ", options_.capacity});
}

TAGMA_COLD TAGMA_DECL void queue::close(queue_attempt& attempt) {
  attempt.does_ = queue_attempt::what::close;
  begin(writers_, attempt);
}

TAGMA_COLD TAGMA_DECL void queue::left_container() {
  {
    const mutex_lock lock(mutex_);
    left_ = true;
  }
  close_now();
}

TAGMA_COLD TAGMA_DECL void queue::close_now() {
  const change now(*this);
  closed_ = true;
  while (writers_.first != nullptr) end_cancelled(writers_, *writers_.first);
  flush();
}

TAGMA_COLD TAGMA_DECL void queue::cancel(queue_attempt& attempt) {
  const change now(*this);
  if (!attempt.waits_) return;
  put_back(attempt);
  end_cancelled(attempt.does_ == queue_attempt::what::dequeue ? readers_ : writers_, attempt);
  flush();
}

TAGMA_DECL void queue::settle() const {
  while (telling_.load(memory_order::acquire) != 0) sched_yield();
}

TAGMA_DECL void queue::line::push(queue_attempt& a) {
  a.waits_ = true;
  a.before_ = last;
  a.behind_ = nullptr;
  (last == nullptr ? first : last->behind_) = &a;
  last = &a;
}

TAGMA_DECL void queue::line::remove(queue_attempt& a) {
  a.waits_ = false;
  (a.before_ == nullptr ? first : a.before_->behind_) = a.behind_;
  (a.behind_ == nullptr ? last : a.behind_->before_) = a.before_;
}

TAGMA_DECL queue::change::~change() {
  queue_attempt* next = queue_.ended_.first;
  queue_.ended_ = {};
  if (next != nullptr) queue_.telling_.fetch_add(1);
  queue_.mutex_.unlock();
  if (next == nullptr) return;
  while (next != nullptr) {
    queue_attempt& a = *next;
    next = a.behind_;  // once it is told, it may be begun again, or be no more
    a.ended(static_cast<std::exception_ptr&&>(a.error_));
  }
  queue_.telling_.fetch_sub(1, memory_order::release);
}

TAGMA_DECL void queue::check_priority(bool given) const {
  if (given == (options_.kind == queue_kind::priority)) return;
  refuse({given ? "its elements leave in another order than that of priorities" : "each element needs a priority"});
}

TAGMA_COLD TAGMA_DECL void queue::check_count(std::size_t count) const {
  if (count != components_.size()) refuse({"a tuple has ", components_.size(), " components, not ", count});
}

TAGMA_DECL void queue::check_component(std::size_t i, const raw_view& t, const shape& dims,
                                       std::string_view rows) const {
  if (t.type == components_[i].type && dims.rank == components_[i].dims.rank && compatible(dims, components_[i].dims))
    return;
  refuse_component(i, t, dims, rows);
}

TAGMA_COLD TAGMA_DECL void queue::refuse_component(std::size_t i, const raw_view& t, const shape& dims,
                                                   std::string_view rows) const {
  refuse({"component ", i, " is ", to_string(components_[i]), ", not ", rows, to_string(tensor_spec{t.type, dims})});
}

TAGMA_DECL void queue::add_copy(queue_elements& to, array_view<const raw_view> tensors, std::int64_t priority) {
  const std::size_t bytes = queue_element::bytes_for(tensors);
  queue_element* e = nullptr;
  {
    const mutex_lock lock(mutex_);
    if (!spare_.empty()) e = spare_.pop_front();
  }
  if (e != nullptr && (e->room_ < bytes || e->room_ > 2 * bytes + 4096)) {
    queue_element::destroy(e);
    e = nullptr;
  }
  if (e == nullptr) e = queue_element::make(components_.size(), bytes);
  if (e == nullptr) refuse_bytes(bytes);
  e->priority = priority;
  e->take(tensors);
  to.push_back(e);
}

TAGMA_COLD TAGMA_DECL void queue::refuse_bytes(std::size_t bytes) const {
  fail(status_code::resource_exhausted, {text(), ": there is no memory for an element of ", bytes, " bytes"});
}

TAGMA_DECL bool queue::is_list() const {
  return options_.kind == queue_kind::fifo || options_.kind == queue_kind::padding;
}

TAGMA_DECL extent queue::available() const {
  if (closed_) return held_;
  return held_ > options_.min_after_dequeue ? held_ - options_.min_after_dequeue : 0;
}

TAGMA_DECL void queue::flush() {
  for (bool moved = true; moved;) {
    moved = false;
    while (writers_.first != nullptr && write(*writers_.first, moved)) {
    }
    while (readers_.first != nullptr && read(*readers_.first, moved)) {
    }
  }
}

TAGMA_DECL bool queue::write(queue_attempt& a, bool& moved) {
  if (closed_ || a.does_ == queue_attempt::what::close) [[unlikely]] {
    end_closing(a);
    return true;
  }
  while (!a.elements.empty() && !is_full()) {
    put(a.elements.pop_front());
    moved = true;
  }
  if (!a.elements.empty()) return false;
  end(writers_, a);
  return true;
}

TAGMA_DECL bool queue::read(queue_attempt& a, bool& moved) {
  const extent missing = a.wanted_ - a.elements.size(), now = available();
  // Those of a priority queue leave together, so that they are in order.
  const bool together = options_.kind == queue_kind::priority && !(closed_ && a.up_to_);
  const extent taken = now >= missing ? missing : together ? 0 : now;
  for (extent i = 0; i < taken; ++i) a.elements.push_back(take());
  moved = moved || taken > 0;
  const bool complete = taken == missing || (closed_ && a.up_to_ && !a.elements.empty());
  if (!complete && !closed_) return false;
  if (complete)
    end(readers_, a);
  else
    end_with_few(a);
  return true;
}

TAGMA_DECL void queue::put(queue_element* e) {
  if (!is_list()) return put_into_heap(e);
  list_.push_back(e);
  ++held_;
}

TAGMA_COLD TAGMA_DECL void queue::put_into_heap(queue_element* e) {
  e->order_ = ++arrivals_;
  if (held_ == static_cast<extent>(heap_.size())) {
    heap_array<queue_element*> more(2 * heap_.size() + 16);
    for (extent i = 0; i < held_; ++i) more[i] = heap_[i];
    heap_ = static_cast<heap_array<queue_element*>&&>(more);
  }
  extent at = held_++;
  heap_[at] = e;
  if (options_.kind != queue_kind::priority) return;
  for (; at > 0 && comes_before(*heap_[at], *heap_[(at - 1) / 2]); at = (at - 1) / 2) swap(at, (at - 1) / 2);
}

TAGMA_DECL queue_element* queue::take() {
  --held_;
  return is_list() ? list_.pop_front() : take_from_heap();
}

TAGMA_COLD TAGMA_DECL queue_element* queue::take_from_heap() {
  extent at = 0;
  if (options_.kind == queue_kind::shuffle) {
    const std::uint64_t key = hash_combine(options_.seed, hash_text(name()));
    const std::uint64_t count = draws_++;
    const philox_block bits =
        philox(static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32),
               {{static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(count >> 32), 0, 0}});
    const std::uint64_t word = std::uint64_t{bits[0]} << 32 | bits[1];
    at = static_cast<extent>(word % static_cast<std::uint64_t>(held_ + 1));
  }
  queue_element* const e = heap_[at];
  heap_[at] = heap_[held_];
  while (options_.kind == queue_kind::priority) {
    extent least = at;
    for (extent child = 2 * at + 1; child <= 2 * at + 2 && child < held_; ++child)
      if (comes_before(*heap_[child], *heap_[least])) least = child;
    if (least == at) break;
    swap(at, least);
    at = least;
  }
  return e;
}

TAGMA_COLD TAGMA_DECL void queue::put_back(queue_attempt& a) {
  if (a.does_ == queue_attempt::what::dequeue) put_back(a.elements);
}

TAGMA_COLD TAGMA_DECL void queue::put_back(queue_elements& elements) {
  if (is_list()) {
    held_ += elements.size();
    list_.push_front(elements);
    return;
  }
  while (!elements.empty()) put(elements.pop_front());
}

TAGMA_DECL bool queue::comes_before(const queue_element& a, const queue_element& b) {
  return a.priority != b.priority ? a.priority < b.priority : a.order_ < b.order_;
}

TAGMA_DECL void queue::swap(extent a, extent b) {
  queue_element* const e = heap_[a];
  heap_[a] = heap_[b];
  heap_[b] = e;
}

[[gnu::noinline]] TAGMA_DECL void queue::end(line& of, queue_attempt& a) {
  of.remove(a);
  ended_.push(a);
  a.waits_ = false;
}

TAGMA_COLD TAGMA_DECL void queue::end(line& of, queue_attempt& a, status_code code,
                                      std::initializer_list<text_part> why) noexcept {
  try {
    if (left_) fail(status_code::aborted, {text(), ": its container was reset"});
    fail(code, {text(), sentence(why)});
  } catch (...) {
    a.error_ = std::current_exception();
  }
  end(of, a);
}

TAGMA_COLD TAGMA_DECL void queue::end_cancelled(line& of, queue_attempt& a) {
  const std::string_view did = a.does_ == queue_attempt::what::dequeue   ? "dequeue"
                               : a.does_ == queue_attempt::what::enqueue ? "enqueue"
                                                                         : "close";
  end(of, a, status_code::cancelled, {": the ", did, " operation was cancelled"});
}

TAGMA_COLD TAGMA_DECL void queue::end_closing(queue_attempt& a) {
  const bool closes = a.does_ == queue_attempt::what::close;
  if (closed_) return end(writers_, a, status_code::cancelled, {closes ? " is already closed" : " is closed"});
  end(writers_, a);
  closed_ = true;
}

TAGMA_COLD TAGMA_DECL void queue::end_with_few(queue_attempt& a) {
  put_back(a);
  end(readers_, a, status_code::out_of_range,
      {" is closed and has insufficient elements (requested ", a.wanted_, ", current size ", held_, ")"});
}

}  // namespace tagma::runtime
