// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// One pass through a dataset, by hand or by a loop.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/base/counted.hpp"
#include "tagma/base/hash.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/data/stage.hpp"

namespace tagma {

namespace datasets {
/// What `explain` tells of a pass that somebody else goes through, also behind its end. Copies are the same.
struct pass_watch {
  counted<const any_stage> stage;
  counted<const meter> measured;  ///< nullptr where nothing is
};
}  // namespace datasets

/// One pass through a dataset. Nothing is read before the first element is asked for; threads that it has end with it.
/// One thread uses it at a time.
template <class T>
class dataset_iterator {
 public:
  /// A pass at its beginning.
  TAGMA_COLD explicit dataset_iterator(datasets::stage_of<T> of, datasets::pass_services services = {})
      : pass_(new pass(std::move(of), std::move(services))) {}
  /// A pass that goes on at a position. Throws `invalid_argument` for what is no position of this dataset.
  TAGMA_COLD dataset_iterator(datasets::stage_of<T> of, const datasets::position& at,
                              datasets::pass_services services = {})
      : dataset_iterator(std::move(of), std::move(services)) {
    datasets::position_reader from(at.data(), at.data() + at.size());
    if (from.take() != fingerprint())
      fail(status_code::invalid_argument, "this is a position of another dataset: its stages are not these");
    pass_->at->restore(from);
    if (!from.at_end()) datasets::position_reader::wrong();
  }

  /// The next element. Throws `end_of_data`, an error of the code `out_of_range`, behind the last one, now and always;
  /// where an element could not be had, its error, and the next call goes on behind it; DeadlineExceeded or Cancelled
  /// by the limits, `next(timeout(1s))`, and then nothing is lost.
  [[nodiscard]] T next(const run_limits& limits = {}) {
    T value{};
    if (!next(value, limits)) throw datasets::end_of_data();
    return value;
  }
  /// The same into an object whose memory may be used again. False at the end.
  [[nodiscard]] bool next(T& to, const run_limits& limits = {}) {
    pass& p = *pass_;
    datasets::got g = datasets::got::end;
    if (limits.timeout_ns <= 0 && limits.stop.requested == nullptr) {
      g = p.at->next(to);
    } else {
      const runtime::run_guard guard(limits);
      const limited call(p.in, guard);
      g = p.at->next(to);
    }
    if (g == datasets::got::element) [[likely]]
      return true;
    return ends(g, limits);
  }
  /// Passes `n` elements by, fewer at the end; those that need not be computed are not. Returns how many it were.
  TAGMA_COLD extent skip(extent n) {
    extent left = n > 0 ? n : 0;
    (void)pass_->at->skip(left);
    return n > 0 ? n - left : 0;
  }

  /// Where this is, for `dataset::resume` of the same dataset in any process: a few whole numbers.
  /// Throws `failed_precondition` where a map gives its results in any order, unless a cache in a file has its order.
  [[nodiscard]] TAGMA_COLD datasets::position state() const {
    datasets::number_list numbers;
    note_position(numbers);
    return position_of(numbers);
  }
  /// What `position_of` makes a position of, also later, in memory that may be used again.
  void note_position(datasets::number_list& to) const {
    to.clear();
    if (!pass_->in.has_lost_order()) pass_->at->save(to);
  }
  /// Throws as `state` does.
  [[nodiscard]] TAGMA_COLD datasets::position position_of(const datasets::number_list& noted) const {
    if (pass_->in.has_lost_order())
      fail(status_code::failed_precondition, "a map whose results come in any order has no position to go on from");
    datasets::position at{fingerprint()};
    at.insert(at.end(), noted.begin(), noted.end());
    return at;
  }
  /// What was counted of this pass, by `explain`; nullptr where nothing is.
  [[nodiscard]] const datasets::meter* measured() const { return pass_->services.measured.get(); }
  /// What is seen of the pass from other threads.
  [[nodiscard]] datasets::pass_watch watch() const { return {pass_->of, pass_->services.measured}; }
  /// The stage that the elements are from.
  [[nodiscard]] const datasets::stage<T>& stage() const { return *pass_->of; }

 private:
  struct pass {
    pass(datasets::stage_of<T> stage, datasets::pass_services&& own)
        : of(std::move(stage)), services(std::move(own)), in(services), at(datasets::start(*of, 0, in)) {}
    datasets::stage_of<T> of;
    datasets::pass_services services;
    datasets::iteration in;
    owned<datasets::cursor<T>> at;
  };

  /// A call with limits, which end with it, however it ends.
  struct limited {
    limited(datasets::iteration& pass, const runtime::run_guard& guard) : in(pass) { in.limit(&guard); }
    limited(const limited&) = delete;
    limited& operator=(const limited&) = delete;
    ~limited() { in.limit(nullptr); }
    datasets::iteration& in;
  };

  [[nodiscard]] std::int64_t fingerprint() const {
    std::string text;
    pass_->of->describe(text);
    return static_cast<std::int64_t>(hash_text(text));
  }
  /// What is no element: false is the end.
  TAGMA_COLD bool ends(datasets::got g, const run_limits& limits) {
    if (g == datasets::got::end) return false;
    if (g == datasets::got::interrupted) interrupted(limits);
    std::rethrow_exception(pass_->in.take_error());
  }
  [[noreturn]] TAGMA_COLD void interrupted(const run_limits& limits) const {
    if (pass_->in.reason() == status_code::cancelled)
      fail(status_code::cancelled, "whoever waited for an element of a dataset was cancelled");
    fail(pass_->in.reason(), {"no element of the dataset came within ", limits.timeout_ns / 1'000'000, " ms"});
  }

  owned<pass> pass_;
};

namespace datasets {

/// Where a loop over a dataset ends. std::default_sentinel is the same, and <iterator> brings streams along.
struct end_of_loop {};

/// What a loop over a dataset goes on with. It ends with the last element, and by the first error.
template <class T>
class loop_iterator {
 public:
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = T*;
  using reference = T&;

  /// Of a pass at its beginning, or any other.
  /// @{
  TAGMA_COLD explicit loop_iterator(stage_of<T> of) : pass_(new state(std::move(of))) { ++*this; }
  TAGMA_COLD explicit loop_iterator(dataset_iterator<T> pass) : pass_(new state(std::move(pass))) { ++*this; }
  /// @}
  [[nodiscard]] T& operator*() const { return pass_->value; }
  [[nodiscard]] T* operator->() const { return &pass_->value; }
  loop_iterator& operator++() {
    if (!pass_->of.next(pass_->value)) pass_ = nullptr;
    return *this;
  }
  void operator++(int) { ++*this; }
  [[nodiscard]] friend bool operator==(const loop_iterator& a, end_of_loop) { return a.pass_ == nullptr; }

 private:
  struct state final : counted_object {
    template <class Pass>
    explicit state(Pass&& pass) : of(std::move(pass)) {}
    TAGMA_COLD ~state() override = default;
    dataset_iterator<T> of;
    T value{};
  };
  counted<state> pass_;
};

}  // namespace datasets
}  // namespace tagma
