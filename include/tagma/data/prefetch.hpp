// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A stage that gets elements ahead, in a thread of its own.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tagma/base/atomic.hpp"
#include "tagma/base/config.hpp"
#include "tagma/data/stage.hpp"
#include "tagma/runtime/closing.hpp"
#include "tagma/runtime/mutex.hpp"
#include "tagma/runtime/thread.hpp"

namespace tagma::datasets::detail {

/// Positions of an input that another thread goes through, one in so many elements: a position in between is one of
/// these and a number of elements behind it. These are passed by where a pass goes on, or asked for again where a
/// function may have ended a dataset among them, which ends nothing where it is passed by.
class marks {
 public:
  /// Elements from one to the next.
  static constexpr std::uint64_t distance = 16;

  /// Called at the element of this number, before it is taken. A mark that there is no memory for is left out: more
  /// elements lie behind the one before then.
  /// @param given elements that the other side has had; at most as many are asked for again
  template <class T>
  void mark(const cursor<T>& input, std::uint64_t number, std::uint64_t given) noexcept {
    if (number % distance != 0) return;
    try {
      add(input, number, given);
    } catch (...) {
    }
  }
  /// Saves the position at the element of this number. Without marks nothing was taken.
  template <class T>
  void save(const cursor<T>& input, std::uint64_t number, const iteration& in, number_list& to) const {
    const mutex_lock lock(mutex_);
    const one* last = nullptr;
    for (const one& m : all_)
      if (m.number <= number) last = &m;
    if (last == nullptr) {
      to.push(coded(behind_, asks_));
      return input.save(to);
    }
    to.push(coded(static_cast<extent>(number - last->number), in.ends_by_function() > 0));
    to.push(last->at);
  }
  /// Goes there again, but for the elements behind it.
  template <class T>
  void restore(cursor<T>& input, position_reader& from) {
    behind_ = from.take();
    asks_ = behind_ < 0;
    if (asks_) behind_ = -1 - behind_;
    if (behind_ > endless) position_reader::wrong();
    input.restore(from);
  }
  /// Goes to where the first element is to be taken, and marks it.
  template <class T>
  TAGMA_COLD void begin(cursor<T>& input) {
    (void)pass_behind(input);
    add(input, 0, 0);
  }
  /// Passes more elements by before the first is taken.
  template <class T>
  [[nodiscard]] TAGMA_COLD got pass_by(cursor<T>& input, extent& n) {
    const got g = pass_behind(input);
    return g == got::element ? input.skip(n) : g;
  }

 private:
  struct one {
    std::uint64_t number;
    number_list at;
  };

  template <class T>
  void add(const cursor<T>& input, std::uint64_t number, std::uint64_t given) {
    number_list at;
    input.save(at);
    const mutex_lock lock(mutex_);
    std::size_t old = 0;
    while (old + 1 < all_.size() && all_[old + 1].number <= given) ++old;
    all_.erase(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(old));
    all_.push_back({number, std::move(at)});
  }
  [[nodiscard]] static std::int64_t coded(extent behind, bool asks) {
    return asks && behind > 0 ? -1 - behind : behind;
  }
  /// The elements behind the position that was restored.
  template <class T>
  [[nodiscard]] TAGMA_COLD got pass_behind(cursor<T>& input) {
    if (!asks_) return input.skip(behind_);
    T passed{};
    for (; behind_ > 0; --behind_)
      if (const got g = input.next(passed); g == got::end || g == got::interrupted) return g;
    return got::element;
  }

  mutable mutex mutex_;
  std::vector<one> all_;
  extent behind_ = 0;
  bool asks_ = false;
};

/// Room for the elements that a stage has ahead, for no more than its input has. Throws `no_memory` that names the
/// stage.
template <class Slot>
[[nodiscard]] std::vector<Slot> slots_ahead(std::string_view stage, extent ahead, const any_stage& input) {
  const extent all = input.size();
  return detail::make_slots<Slot>(stage, all == unknown_size || all > ahead ? ahead : all > 0 ? all : 1);
}

template <class T>
class prefetched final : public stage_behind<T, T> {
  /// A ring. Element i lies in slot i modulo their number; the thread fills those that were given.
  class pass final : public cursor<T> {
   public:
    pass(const prefetched& of, std::uint64_t epoch, iteration& in)
        : of_(of),
          in_(in),
          counters_(in.counters_of(of)),
          guard_(runtime::no_limits, 0, &closing_),
          inner_(guard_, closing_, in) {
      input_ = datasets::start(*of.input_, epoch, inner_);
    }
    ~pass() override {
      closing_.begin();
      freed_.change(true);
      thread_.join();
    }
    got advance(T& to) override {
      if (ended_) return got::end;
      if (!started_ && !start()) return got::error;
      if (alone_) return next_alone(to);
      if (given_ == seen_count_ && !wait()) return got::interrupted;
      slot& s = slots_[given_ % slots_.size()];
      const got g = s.what;
      if (g == got::element) std::swap(to, s.value);
      if (counters_ != nullptr && g == got::element) counters_->hold(-datasets::bytes_of(to));
      if (g == got::error) in_.give_error(s.error);
      ended_ = g == got::end;
      if (ended_) return g;
      given_count_.store(++given_);
      if (given_ % freed_at_once_ == 0 && thread_waits_.load()) freed_.change(false);
      return g;
    }
    TAGMA_COLD got pass_by(extent& n) override {
      if (ended_) return got::end;
      if (!started_ && of_.indexed()) return marks_.pass_by(*input_, n);
      return cursor<T>::pass_by(n);
    }
    TAGMA_COLD void save(number_list& to) const override {
      to.push(ended_ ? 1 : 0);
      if (alone_) {
        to.push(0);
        return input_->save(to);
      }
      marks_.save(*input_, given_, in_, to);
    }
    TAGMA_COLD void restore(position_reader& from) override {
      ended_ = from.take(1) == 1;
      marks_.restore(*input_, from);
    }

   private:
    struct slot {
      T value{};
      std::exception_ptr error;
      got what = got::end;
    };

    /// Until there is an element, or the call must end. Whoever waits says so before it looks again: then the other
    /// side need not tell of each element.
    [[nodiscard]] bool wait() {
      const measured_wait time(in_, counters_, &stage_counters::empty_ns);
      bool goes_on = true;
      while ((seen_count_ = filled_count_.load(memory_order::acquire)) == given_ && goes_on) {
        const std::uint32_t seen = filled_.load(memory_order::acquire);
        asker_waits_.store(true);
        if (filled_count_.load() == given_) goes_on = in_.wait(filled_, seen);
        asker_waits_.store(false, memory_order::relaxed);
      }
      return goes_on || seen_count_ != given_;
    }
    /// False where something that it needs could not be had: that is one error, and nothing follows.
    [[nodiscard]] bool start() {
      try {
        slots_ = detail::slots_ahead<slot>("prefetch", of_.count_, of_.input());
        marks_.begin(*input_);
      } catch (...) {
        in_.error = std::current_exception();
        ended_ = true;
        return false;
      }
      started_ = true;
      freed_at_once_ = slots_.size() / 8 + 1;
      alone_ = !thread_.template begin<&pass::run>(*this);  // then elements come when they are asked for
      if (counters_ != nullptr) counters_->threads.store(alone_ ? 0 : 1);
      return true;
    }
    got next_alone(T& to) {
      const got g = input_->next(to);
      if (g == got::error) in_.give_error(inner_.error);
      ended_ = g == got::end;
      return g;
    }
    void run() {
      for (std::uint64_t i = 0;; ++i) {
        while (i - given_count_.load(memory_order::acquire) == slots_.size()) {
          const measured_wait time(inner_, counters_, &stage_counters::full_ns);
          const std::uint32_t seen = freed_.load(memory_order::acquire);
          thread_waits_.store(true);
          const bool goes_on = i - given_count_.load() != slots_.size() || inner_.wait(freed_, seen);
          thread_waits_.store(false, memory_order::relaxed);
          if (!goes_on) return;
        }
        if (closing_.begun()) return;
        if (i > 0) marks_.mark(*input_, i, given_count_.load(memory_order::relaxed));
        slot& s = slots_[i % slots_.size()];
        s.what = input_->next(s.value);
        if (s.what == got::interrupted) return;
        if (s.what == got::error) s.error = inner_.take_error();
        if (counters_ != nullptr && s.what == got::element) counters_->hold(datasets::bytes_of(s.value));
        const bool end = s.what == got::end;
        filled_count_.store(i + 1);
        if (asker_waits_.load()) filled_.change(false);
        if (end) return;
      }
    }

    const prefetched& of_;
    iteration& in_;
    stage_counters* counters_;
    runtime::closing closing_;
    runtime::run_guard guard_;
    iteration inner_;
    owned<cursor<T>> input_;
    std::vector<slot> slots_;
    marks marks_;
    runtime::thread thread_;
    std::uint64_t given_ = 0, seen_count_ = 0, freed_at_once_ = 1;
    bool started_ = false, alone_ = false, ended_ = false;
    alignas(64) atomic<std::uint64_t> filled_count_{0};
    alignas(64) atomic<std::uint64_t> given_count_{0};
    alignas(64) atomic<bool> asker_waits_{false};
    runtime::wait_word filled_;
    alignas(64) atomic<bool> thread_waits_{false};
    runtime::wait_word freed_;
  };

 public:
  prefetched(stage_of<T> input, extent count) : stage_behind<T, T>(std::move(input)), count_(count) {
    this->indexed_ = this->input_->indexed();
    this->threaded_ = true;
  }

  got get(extent i, std::uint64_t epoch, T& to, iteration& in) const override {
    return datasets::get(*this->input_, i, epoch, to, in);
  }
  [[nodiscard]] TAGMA_COLD owned<cursor<T>> start(std::uint64_t epoch, iteration& in) const override {
    return owned<cursor<T>>(new pass(*this, epoch, in));
  }
  TAGMA_COLD void describe(std::string& to) const override {
    this->input_->describe(to);
    to += ".prefetch";
  }

 private:
  extent count_;
};

}  // namespace tagma::datasets::detail
