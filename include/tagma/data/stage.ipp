// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of stage.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/data/stage.hpp"

namespace tagma::datasets {

TAGMA_COLD TAGMA_DECL end_of_data::end_of_data()
    : error(status_code::out_of_range, "the dataset has no more elements") {}

TAGMA_COLD TAGMA_DECL void number_list::push(std::int64_t number) {
  if (size_ == all_.size()) {
    heap_array<std::int64_t> larger(2 * size_ + 8);
    for (std::size_t i = 0; i < size_; ++i) larger[i] = all_[i];
    all_ = static_cast<heap_array<std::int64_t>&&>(larger);
  }
  all_[size_++] = number;
}

TAGMA_COLD TAGMA_DECL void number_list::push(const number_list& others) {
  for (const std::int64_t number : others) push(number);
}

TAGMA_COLD TAGMA_DECL std::int64_t position_reader::take() {
  if (at_ == last_) wrong();
  return *at_++;
}

TAGMA_COLD TAGMA_DECL std::int64_t position_reader::take(std::int64_t most) {
  const std::int64_t n = take();
  if (n < 0 || n > most) wrong();
  return n;
}

TAGMA_COLD TAGMA_DECL void position_reader::wrong() {
  fail(status_code::invalid_argument, "this is no position of this dataset");
}

TAGMA_COLD TAGMA_DECL std::exception_ptr iteration::take_error() noexcept { return std::exchange(error, nullptr); }

TAGMA_COLD TAGMA_DECL void iteration::give_error(std::exception_ptr& from) noexcept {
  error = std::exchange(from, nullptr);
}

TAGMA_COLD TAGMA_DECL stage_counters* iteration::counters_of(const any_stage& stage) const {
  return meter_ == nullptr ? nullptr : meter_->find(&stage);
}

TAGMA_DECL bool iteration::stopping() {
  if (guard_ == nullptr || !guard_->limited()) return false;
  reason_ = guard_->over();
  return reason_ != status_code::ok;
}

TAGMA_DECL bool iteration::wait(runtime::wait_word& word, std::uint32_t seen) {
  if (stopping()) return false;
  if (guard_ == nullptr)
    word.sleep_until(seen, runtime::wait_word::never);  // who computes what is waited for needs the processor
  else
    guard_->wait(word, seen);
  return true;
}

TAGMA_DECL const permutation& iteration::order(const void* owner, extent n, std::uint64_t seed, std::uint64_t epoch) {
  if (order_owner_ != owner || order_epoch_ != epoch) {
    order_ = permutation(n, seed, epoch);
    order_owner_ = owner;
    order_epoch_ = epoch;
  }
  return order_;
}

TAGMA_COLD TAGMA_DECL measured_call::measured_call(iteration& in, stage_counters& to)
    : in_(in), to_(to), outer_ns_(std::exchange(in.nested_ns, 0)), begun_(in.measured()->now()) {}

TAGMA_COLD TAGMA_DECL measured_call::~measured_call() {
  const std::int64_t ended = in_.measured()->now(), took = ended - begun_;
  stage_counters::add(to_.own_ns, took - in_.nested_ns);
  in_.nested_ns = outer_ns_ + took;
  in_.measured()->asked(to_, begun_, ended);
}

TAGMA_COLD TAGMA_DECL void measured_call::gave(std::int64_t bytes) {
  stage_counters::add(to_.elements, 1);
  stage_counters::add(to_.bytes, bytes);
}

TAGMA_DECL measured_wait::measured_wait(iteration& in, stage_counters* counters,
                                        stage_counters::number stage_counters::*to)
    : in_(in), to_(counters == nullptr ? nullptr : &(counters->*to)) {
  if (to_ != nullptr) begun_ = in.measured()->now();
}

TAGMA_DECL measured_wait::~measured_wait() {
  if (to_ == nullptr) return;
  const std::int64_t took = in_.measured()->now() - begun_;
  stage_counters::add(*to_, took);
  in_.nested_ns += took;
}

}  // namespace tagma::datasets
