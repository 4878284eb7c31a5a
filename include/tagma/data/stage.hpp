// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a dataset is made of: stages, which describe, and cursors, which go through them once.

#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tagma/base/atomic.hpp"
#include "tagma/base/config.hpp"
#include "tagma/base/counted.hpp"
#include "tagma/base/error.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/base/no_memory.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/data/bytes_of.hpp"
#include "tagma/data/meter.hpp"
#include "tagma/data/permutation.hpp"
#include "tagma/runtime/closing.hpp"
#include "tagma/runtime/run_limits.hpp"
#include "tagma/tensor/shape.hpp"

namespace tagma::datasets {

/// What a cursor came to. An error stands at the place of the element that could not be had, and counts as one;
/// after an interruption nothing is lost, and the same call goes on.
enum class got : std::uint8_t { element, error, end, interrupted };

/// Thrown by `next` behind the last element. Thrown by a function of a map, for an element that is asked for, it ends
/// the map there: a repetition goes on with its next pass, a concatenation with its next dataset, for any number of
/// threads. An element that is passed by, by `skip`, `shard` or a fold, is not asked for and ends nothing, unless a
/// prefetch, a cache or another map with threads in between has asked for it. Behind a shuffle that asks for elements
/// by their numbers it is an error, `failed_precondition`. Thrown by a generator or a filter it ends the dataset there.
class end_of_data final : public error {
 public:
  end_of_data();
};

/// The position of a cursor as whole numbers.
using position = std::vector<std::int64_t>;

/// The same while it is found. A std::vector is some forty functions more for a compiler.
class number_list {
 public:
  number_list() = default;
  number_list(number_list&& other) noexcept
      : all_(static_cast<heap_array<std::int64_t>&&>(other.all_)), size_(other.size_) {
    other.size_ = 0;
  }
  number_list& operator=(number_list&& other) noexcept {
    all_ = static_cast<heap_array<std::int64_t>&&>(other.all_);
    size_ = other.size_;
    other.size_ = 0;
    return *this;
  }

  void push(std::int64_t number);
  void push(const number_list& others);
  void clear() { size_ = 0; }
  /// Puts the last number in the place of another one, and makes the list shorter.
  void remove(std::size_t i) { all_[i] = all_[--size_]; }
  [[nodiscard]] std::int64_t& operator[](std::size_t i) { return all_[i]; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const std::int64_t* begin() const { return all_.data(); }
  [[nodiscard]] const std::int64_t* end() const { return all_.data() + size_; }

 private:
  heap_array<std::int64_t> all_;
  std::size_t size_ = 0;
};

/// Reads a position again.
class position_reader {
 public:
  position_reader(const std::int64_t* first, const std::int64_t* last) : at_(first), last_(last) {}

  /// Throws `invalid_argument` where there are no more numbers.
  [[nodiscard]] std::int64_t take();
  /// A number from 0 to `most`.
  [[nodiscard]] std::int64_t take(std::int64_t most);
  [[nodiscard]] bool at_end() const { return at_ == last_; }
  [[noreturn]] static void wrong();

 private:
  const std::int64_t *at_, *last_;
};

/// What the cursors share that one thread goes through: the limits of the call that is under way, and the error of the
/// element that was asked for.
class iteration {
 public:
  /// Of whoever asks for elements.
  iteration() = default;
  explicit iteration(pass_services& services) : services_(&services), meter_(services.measured.get()) {}
  /// Of a thread, which ends when nobody wants its elements any more.
  /// @param guard ends with `end`
  iteration(const runtime::run_guard& guard, const runtime::closing& end, const iteration& outer)
      : guard_(&guard), end_(&end), services_(outer.services_), meter_(outer.meter_), facts_(outer.facts_) {}
  iteration(const iteration&) = delete;
  iteration& operator=(const iteration&) = delete;

  /// Takes the error away, or puts one there.
  /// @{
  [[nodiscard]] std::exception_ptr take_error() noexcept;
  void give_error(std::exception_ptr& from) noexcept;
  /// @}

  std::exception_ptr error;    ///< of `got::error`
  std::int64_t nested_ns = 0;  ///< that stages took which the one that is being measured asked
  bool ends_behind = false;    ///< `stage::get` gave the last element there is
  bool ends_part = false;      ///< the end to which `stage::get` came is that of a part, and more follows in turn

  /// What the pass shares; nullptr: nothing.
  [[nodiscard]] pass_services* services() const { return services_; }
  /// nullptr: nothing is measured.
  [[nodiscard]] meter* measured() const { return meter_; }
  /// Where a stage counts what it does; nullptr: nowhere.
  [[nodiscard]] stage_counters* counters_of(const any_stage& stage) const;

  void limit(const runtime::run_guard* guard) { guard_ = guard; }
  /// Whether a call can be interrupted at all.
  [[nodiscard]] bool limited() const { return guard_ != nullptr; }
  /// Why the call was interrupted.
  [[nodiscard]] status_code reason() const { return reason_; }

  /// Whether the call must end. Loops that may be long ask in each turn.
  [[nodiscard]] bool stopping();
  /// Whether nobody wants the element any more: then it does not matter what is lost.
  [[nodiscard]] bool given_up() const { return end_ != nullptr && end_->begun(); }
  /// Waits until the word is no longer `seen`, perhaps not as long. False if the call must end.
  [[nodiscard]] bool wait(runtime::wait_word& word, std::uint32_t seen);

  /// A stage of the pass gives elements in an order that no other pass has: from now on the pass has no position.
  void lose_order() { facts_->lost_order.store(true); }
  [[nodiscard]] bool has_lost_order() const { return facts_->lost_order.load(); }
  /// A function has ended its dataset: from now on elements that were asked for are not the same as those by number.
  void note_end_by_function() { facts_->ends_by_function.fetch_add(1); }
  [[nodiscard]] std::uint64_t ends_by_function() const { return facts_->ends_by_function.load(); }

  /// The order of a stage in a pass, kept since the next element most often asks for the same.
  [[nodiscard]] const permutation& order(const void* owner, extent n, std::uint64_t seed, std::uint64_t epoch);

 private:
  const runtime::run_guard* guard_ = nullptr;
  const runtime::closing* end_ = nullptr;
  pass_services* services_ = nullptr;
  meter* meter_ = nullptr;
  status_code reason_ = status_code::ok;
  /// Of a whole pass: those of whoever asks, which its threads share.
  struct facts {
    atomic<bool> lost_order{false};
    atomic<std::uint64_t> ends_by_function{0};
  };
  facts own_facts_;
  facts* facts_ = &own_facts_;
  const void* order_owner_ = nullptr;
  std::uint64_t order_epoch_ = 0;
  permutation order_;
};

/// The time of a call of a stage, less what other stages took meanwhile.
class measured_call {
 public:
  measured_call(iteration& in, stage_counters& to);
  measured_call(const measured_call&) = delete;
  measured_call& operator=(const measured_call&) = delete;
  ~measured_call();
  void gave(std::int64_t bytes);

 private:
  iteration& in_;
  stage_counters& to_;
  std::int64_t outer_ns_, begun_;
};

/// The time that a thread waits, which is nobody's work; nothing where there are no counters.
class measured_wait {
 public:
  measured_wait(iteration& in, stage_counters* counters, stage_counters::number stage_counters::*to);
  measured_wait(const measured_wait&) = delete;
  measured_wait& operator=(const measured_wait&) = delete;
  ~measured_wait();

 private:
  iteration& in_;
  stage_counters::number* to_;
  std::int64_t begun_ = 0;
};

/// Goes through a stage once. One thread uses it at a time.
template <class T>
class cursor {
 public:
  cursor() = default;
  cursor(const cursor&) = delete;
  cursor& operator=(const cursor&) = delete;
  virtual ~cursor() = default;

  /// Assigns the next element. Throws nothing that belongs to an element; behind the end it says so again and again.
  [[nodiscard]] got next(T& to) {
    if (counters_ == nullptr) [[likely]]
      return advance(to);
    return advance_measured(to);
  }
  /// Passes `n` elements by and counts them off, `got::element` if all were there. What is passed by need not be
  /// computed.
  [[nodiscard]] TAGMA_COLD got skip(extent& n) {
    if (counters_ == nullptr) return pass_by(n);
    const measured_call call(*measured_by_, *counters_);
    return pass_by(n);
  }
  /// Appends the position. Never called while a call of `next` is under way. What has none, since its order is lost,
  /// appends nothing: stages also ask for positions that nobody goes on from.
  virtual void save(number_list& to) const = 0;
  /// Goes to a position; called before anything else.
  virtual void restore(position_reader& from) = 0;
  /// The stage that is asked for elements by their numbers; nullptr where none is.
  [[nodiscard]] virtual const any_stage* asked_by_number() const { return nullptr; }

  /// From now on what this does is counted.
  void measure(stage_counters& to, iteration& by) {
    counters_ = &to;
    measured_by_ = &by;
  }

 protected:
  /// Do what `next` and `skip` say.
  /// @{
  virtual got advance(T& to) = 0;
  TAGMA_COLD virtual got pass_by(extent& n) {
    T passed{};
    for (; n > 0; --n) {
      const got g = advance(passed);
      if (g == got::end || g == got::interrupted) return g;
    }
    return got::element;
  }
  /// @}

 private:
  TAGMA_COLD got advance_measured(T& to) {
    measured_call call(*measured_by_, *counters_);
    const got g = advance(to);
    if (g == got::element || g == got::error) call.gave(g == got::element ? datasets::bytes_of(to) : 0);
    return g;
  }

  stage_counters* counters_ = nullptr;
  iteration* measured_by_ = nullptr;
};

/// A part of a pipeline, which is never changed: any number of cursors, of any threads, go through it.
template <class T>
class stage : public any_stage {
 public:
  using element_type = T;

  /// A cursor at the first element of a pass. Stages that are shuffled tell passes apart by their number. One whose
  /// elements have numbers, and that has no threads, needs none of its own; where its elements may end before its size
  /// says so and others follow, as those of a repetition do, one that goes through them in turn.
  [[nodiscard]] TAGMA_COLD virtual owned<cursor<T>> start(std::uint64_t epoch, iteration& in) const;
  /// The element of this number, of a stage that is indexed. May be called by several threads at once. Waits for
  /// nothing, and is interrupted only where nobody wants the element any more.
  [[nodiscard]] virtual got get(extent, std::uint64_t, T&, iteration&) const { return got::end; }
  /// This stage in the order of a permutation, or nullptr where the permutation may simply stand behind it.
  [[nodiscard]] virtual counted<const stage> permuted(std::uint64_t, bool) const { return nullptr; }
};

/// A stage that others share.
template <class T>
using stage_of = counted<const stage<T>>;

namespace detail {
/// So many slots for elements. Throws `no_memory` that names the stage.
template <class Slot>
[[nodiscard]] TAGMA_COLD std::vector<Slot> make_slots(std::string_view stage, extent count) {
  const auto n = static_cast<std::size_t>(count);
  try {
    if (n <= std::vector<Slot>().max_size()) return std::vector<Slot>(n);
  } catch (const std::bad_alloc&) {
  }
  fail_no_memory(n, sizeof(Slot), sentence({stage, " of ", count, " elements"}));
}

template <class T>
TAGMA_COLD got get_measured(const stage<T>& of, extent i, std::uint64_t epoch, T& to, iteration& in) {
  stage_counters* const counters = in.counters_of(of);
  if (counters == nullptr) return of.get(i, epoch, to, in);
  measured_call call(in, *counters);
  const got g = of.get(i, epoch, to, in);
  if (g == got::element || g == got::error) call.gave(g == got::element ? datasets::bytes_of(to) : 0);
  return g;
}
}  // namespace detail

/// The element of this number, for the stage that reads this one.
template <class T>
[[nodiscard]] got get(const stage<T>& of, extent i, std::uint64_t epoch, T& to, iteration& in) {
  if (in.measured() == nullptr) [[likely]]
    return of.get(i, epoch, to, in);
  return detail::get_measured(of, i, epoch, to, in);
}

/// A pass through a stage whose elements have numbers. Where a function ends a part of the stage before its size says
/// so, numbers behind that are not those of the elements that follow: from there on it goes through the stage in turn.
template <class T>
class indexed_cursor final : public cursor<T> {
 public:
  indexed_cursor(const stage<T>& of, std::uint64_t epoch, iteration& in)
      : stage_(of), in_(in), epoch_(epoch), size_(of.size()) {}

  got advance(T& to) override {
    if (next_ >= size_) return in_turn_ == nullptr ? got::end : go_on(to);
    const got g = stage_.get(next_, epoch_, to, in_);
    if (g == got::end) [[unlikely]] {
      if (std::exchange(in_.ends_part, false) && begin_in_turn(next_)) return go_on(to);
      size_ = next_;
    }
    if (g == got::element || g == got::error) ++next_;
    if (in_.ends_behind) {
      in_.ends_behind = false;
      size_ = next_;
    }
    return g;
  }
  TAGMA_COLD got pass_by(extent& n) override {
    if (in_turn_ != nullptr) {
      const got g = in_turn_->skip(to_pass_);
      return g == got::element ? in_turn_->skip(n) : g;
    }
    const extent some = n < size_ - next_ ? n : size_ - next_;
    next_ += some;
    n -= some;
    return n == 0 ? got::element : got::end;
  }
  TAGMA_COLD void save(number_list& to) const override {
    if (in_turn_ == nullptr) return to.push(size_ < stage_.size() ? -1 - next_ : next_);
    to.push(goes_in_turn);
    to.push(to_pass_);
    in_turn_->save(to);
  }
  TAGMA_COLD void restore(position_reader& from) override {
    next_ = from.take();
    if (next_ == goes_in_turn) {
      if (!begin_in_turn(from.take(endless))) position_reader::wrong();
      return in_turn_->restore(from);
    }
    if (next_ < 0) size_ = next_ = -1 - next_;
    if (next_ > stage_.size()) position_reader::wrong();
  }
  [[nodiscard]] const any_stage* asked_by_number() const override { return &stage_; }

 private:
  static constexpr std::int64_t goes_in_turn = INT64_MIN;

  /// False for a stage that knows no other way: its end is the end.
  [[nodiscard]] TAGMA_COLD bool begin_in_turn(extent behind) {
    owned<cursor<T>> at = stage_.start(epoch_, in_);
    if (at->asked_by_number() == &stage_) return false;
    in_turn_ = std::move(at);
    to_pass_ = behind;
    in_.ends_behind = false;
    next_ = size_ = 0;
    return true;
  }
  TAGMA_COLD got go_on(T& to) {
    const got g = in_turn_->skip(to_pass_);
    return g == got::element ? in_turn_->next(to) : g;
  }

  const stage<T>& stage_;
  iteration& in_;
  std::uint64_t epoch_;
  extent size_, next_ = 0;
  owned<cursor<T>> in_turn_;
  extent to_pass_ = 0;  // in turn
};

template <class T>
owned<cursor<T>> stage<T>::start(std::uint64_t epoch, iteration& in) const {
  return owned<cursor<T>>(new indexed_cursor<T>(*this, epoch, in));
}

/// A cursor for a stage, the cheapest that does. The stage must outlive it.
template <class T>
[[nodiscard]] TAGMA_COLD owned<cursor<T>> start(const stage<T>& of, std::uint64_t epoch, iteration& in) {
  owned<cursor<T>> at = of.indexed() && !of.threaded() ? of.stage<T>::start(epoch, in) : of.start(epoch, in);
  if (stage_counters* const counters = in.counters_of(of)) at->measure(*counters, in);
  return at;
}

/// A stage behind another one: what most do alike.
template <class In, class T>
class stage_behind : public stage<T> {
 public:
  explicit stage_behind(stage_of<In> input) : input_(std::move(input)) {
    this->threaded_ = input_->threaded();
    this->in_any_order_ = input_->in_any_order();
  }
  ~stage_behind() override = default;

  [[nodiscard]] const stage<In>& input() const { return *input_; }
  [[nodiscard]] extent size() const override { return input_->size(); }
  [[nodiscard]] const any_stage* input_stage(std::size_t i) const override { return i == 0 ? input_.get() : nullptr; }

 protected:
  stage_of<In> input_;
};

/// Where a cursor was before it took anything for the element that it is at. An interruption leaves it in between.
class boundary {
 public:
  /// Something will be taken.
  template <class T>
  void enter(const cursor<T>& input, const iteration& in) {
    if (!inside_ && in.limited()) [[unlikely]]
      note(input);
  }
  void leave() { inside_ = false; }
  [[nodiscard]] bool inside() const { return inside_; }
  template <class T>
  TAGMA_COLD void save(const cursor<T>& input, number_list& to) const {
    if (inside_)
      to.push(before_);
    else
      input.save(to);
  }

 private:
  template <class T>
  TAGMA_COLD void note(const cursor<T>& input) {
    before_.clear();
    input.save(before_);
    inside_ = true;
  }

  number_list before_;
  bool inside_ = false;
};

}  // namespace tagma::datasets

#ifndef TAGMA_COMPILED
#include "tagma/data/stage.ipp"
#endif
