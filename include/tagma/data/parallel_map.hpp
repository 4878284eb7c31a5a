// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A map whose function several threads call.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "tagma/base/atomic.hpp"
#include "tagma/base/config.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/data/elementwise.hpp"
#include "tagma/data/prefetch.hpp"
#include "tagma/data/shuffle.hpp"
#include "tagma/runtime/mutex.hpp"
#include "tagma/runtime/thread.hpp"

namespace tagma::datasets {

/// How a map uses threads.
struct parallel {
  int threads = 0;      ///< that call the function; 0: whoever asks for the element
  bool ordered = true;  ///< keep their order; otherwise the first that is ready comes first, and `state` throws
  extent ahead = 0;     ///< elements that are worked on or ready at most; 0: twice as many as threads
};

namespace detail {

template <class In, class Out, class F>
class parallel_map final : public stage_behind<In, Out> {
  /// One thread at a time has the turn to take an element, with its number. Results lie in a ring: in order, result i
  /// in slot i modulo their number; otherwise in the order in which they are ready.
  class pass final : public cursor<Out> {
   public:
    pass(const parallel_map& of, std::uint64_t epoch, iteration& in)
        : of_(of),
          in_(in),
          counters_(in.counters_of(of)),
          guard_(runtime::no_limits, 0, &closing_),
          inner_(guard_, closing_, in) {
      input_ = datasets::start(*of.input_, epoch, inner_);
      if (!of.options_.ordered) in.lose_order();
    }
    ~pass() override {
      closing_.begin();
      freed_.change(true);
      for (runtime::thread& t : threads_) t.join();
    }
    got advance(Out& to) override {
      if (ended_) return got::end;
      if (!started_ && !start()) return got::error;
      if (working_ == 0) return next_alone(to);
      return result(to, true);
    }
    TAGMA_COLD got pass_by(extent& n) override {
      if (ended_) return got::end;
      if (!started_ && of_.indexed()) return marks_.pass_by(*input_, n);
      if (!started_ && !start()) return got::error;
      if (working_ == 0) return input_->skip(n);
      Out passed{};
      for (; n > 0; --n)
        if (const got g = result(passed, false); g == got::end || g == got::interrupted) return g;
      return got::element;
    }
    TAGMA_COLD void save(number_list& to) const override {
      if (!of_.options_.ordered) return;
      to.push(ended_ ? 1 : 0);
      if (started_ && working_ == 0) {
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
      Out value{};
      std::exception_ptr error;
      got what = got::end;
      atomic<std::uint64_t> ready{0};  // the number of the result that lies here, and 1
    };

    /// The next result.
    /// @param asked otherwise it is passed by, and that the function ended the dataset there counts for nothing
    got result(Out& to, bool asked) {
      while (true) {
        const std::uint32_t seen = ready_.load(memory_order::acquire);
        slot& s = slots_[given_ % slots_.size()];
        if (s.ready.load(memory_order::acquire) == given_ + 1) {
          const got g = s.what;
          if (g == got::element) std::swap(to, s.value);
          if (counters_ != nullptr && g == got::element) counters_->hold(-datasets::bytes_of(to));
          if (g == got::error) in_.give_error(s.error);
          given_count_.store(++given_, memory_order::release);
          freed_.change(false);
          if (g != got::end) return g;
          if (!of_.options_.ordered) continue;  // others may still be at work
          if (!asked) return got::element;
          ended_ = true;
          end_.store(true);
          freed_.change(true);  // who has the turn may wait for room, and shall take no more
          return g;
        }
        if (given_ >= count_.load(memory_order::acquire)) {
          ended_ = true;
          return got::end;
        }
        if (ready_.load(memory_order::acquire) != seen) continue;
        const measured_wait time(in_, counters_, &stage_counters::empty_ns);
        if (!in_.wait(ready_, seen)) return got::interrupted;
      }
    }
    /// False where something that it needs could not be had: that is one error, and nothing follows.
    [[nodiscard]] bool start() {
      try {
        slots_ = detail::slots_ahead<slot>("map", of_.options_.ahead, of_.input());
        threads_.allocate(of_.options_.threads);
        marks_.begin(*input_);
      } catch (...) {
        in_.error = std::current_exception();
        ended_ = true;
        return false;
      }
      started_ = true;
      // Where the system has no more, those that there are do the work; without any, whoever asks.
      while (working_ < of_.options_.threads && threads_[working_].template begin<&pass::run>(*this)) ++working_;
      if (counters_ != nullptr) counters_->threads.store(working_);
      return true;
    }
    got next_alone(Out& to) {
      got g = input_->next(alone_);
      if (g == got::error) in_.give_error(inner_.error);
      if (g == got::element) g = of_.made_of(alone_, to, in_.error, in_);
      ended_ = g == got::end;
      return g;
    }

    /// Takes the next element and its number, in turn. False if there is nothing more to do.
    [[nodiscard]] bool take(In& from, got& what, std::exception_ptr& error, std::uint64_t& number) {
      const mutex_lock turn(turn_);
      while (!ends() && taken_ - given_count_.load(memory_order::acquire) >= slots_.size()) {
        const std::uint32_t seen = freed_.load(memory_order::acquire);
        if (ends() || taken_ - given_count_.load(memory_order::acquire) < slots_.size()) continue;
        const measured_wait time(inner_, counters_, &stage_counters::full_ns);
        if (!inner_.wait(freed_, seen)) return false;
      }
      if (ends()) {
        end_behind_taken();
        return false;
      }
      if (taken_ > 0) marks_.mark(*input_, taken_, given_count_.load(memory_order::relaxed));
      what = input_->next(from);
      if (what == got::interrupted) return false;
      if (what == got::end) {
        end_.store(true);
        end_behind_taken();
        return false;
      }
      if (what == got::error) error = inner_.take_error();
      number = taken_++;
      return true;
    }
    [[nodiscard]] bool ends() const { return end_.load() || closing_.begun(); }
    /// No more elements are taken. Called by who has the turn.
    void end_behind_taken() {
      count_.store(taken_, memory_order::release);
      ready_.change(true);
    }
    [[nodiscard]] got apply(In& from, Out& to, std::exception_ptr& error) const {
      if (counters_ == nullptr) [[likely]]
        return of_.made_of(from, to, error, in_);
      const std::int64_t begun = in_.measured()->now();
      const got g = of_.made_of(from, to, error, in_);
      stage_counters::add(counters_->own_ns, in_.measured()->now() - begun);
      return g;
    }
    void run() {
      In from{};
      Out made{};
      got what = got::end;
      std::exception_ptr error;
      std::uint64_t number = 0;
      while (take(from, what, error, number)) {
        if (what == got::element) what = apply(from, made, error);
        const bool end = what == got::end && !of_.options_.ordered;  // in order, whoever asks for it comes to the end
        if (end) end_.store(true);
        if (!of_.options_.ordered) number = published_.fetch_add(1);
        slot& s = slots_[number % slots_.size()];
        s.what = what;
        if (what == got::element) std::swap(s.value, made);
        if (counters_ != nullptr && what == got::element) counters_->hold(datasets::bytes_of(s.value));
        s.error = std::exchange(error, nullptr);
        s.ready.store(number + 1, memory_order::release);
        ready_.change(false);
        if (end) freed_.change(true);  // who has the turn may wait for room, and shall take no more
      }
    }

    const parallel_map& of_;
    iteration& in_;
    stage_counters* counters_;
    runtime::closing closing_;
    runtime::run_guard guard_;
    iteration inner_;  // of whoever has the turn
    owned<cursor<In>> input_;
    std::vector<slot> slots_;
    marks marks_;
    mutex turn_;
    std::uint64_t taken_ = 0;
    atomic<bool> end_{false};  // the input has ended, or the function ended it
    In alone_{};
    heap_array<runtime::thread> threads_;
    int working_ = 0;  // of these
    std::uint64_t given_ = 0;
    bool started_ = false, ended_ = false;
    atomic<std::uint64_t> count_{UINT64_MAX}, published_{0};
    alignas(64) runtime::wait_word ready_;
    alignas(64) atomic<std::uint64_t> given_count_{0};
    runtime::wait_word freed_;
  };

 public:
  /// @param in_other_order whether the input was shuffled by numbers: then the function cannot end it
  parallel_map(stage_of<In> input, F f, const parallel& options, bool in_other_order = false)
      : stage_behind<In, Out>(std::move(input)), f_(std::move(f)), options_(options), in_other_order_(in_other_order) {
    this->indexed_ = this->input_->indexed();
    this->threaded_ = true;
    this->in_any_order_ = this->in_any_order_ || !options.ordered;
  }

  got get(extent i, std::uint64_t epoch, Out& to, iteration& in) const override {
    In from{};
    const got g = datasets::get(*this->input_, i, epoch, from, in);
    return g == got::element ? made_of(from, to, in.error, in) : g;
  }
  [[nodiscard]] TAGMA_COLD owned<cursor<Out>> start(std::uint64_t epoch, iteration& in) const override {
    return owned<cursor<Out>>(new pass(*this, epoch, in));
  }
  [[nodiscard]] stage_of<Out> permuted(std::uint64_t seed, bool reshuffle) const override {
    stage_of<In> below = this->input_->permuted(seed, reshuffle);
    if (below == nullptr) below = make_counted<detail::permuted<In>>(this->input_, seed, reshuffle);
    return make_counted<parallel_map>(std::move(below), f_, options_, true);
  }
  TAGMA_COLD void describe(std::string& to) const override {
    this->input_->describe(to);
    to += options_.ordered ? ".parallel_map" : ".parallel_map in any order";
  }

 private:
  [[nodiscard]] got made_of(In& from, Out& to, std::exception_ptr& error, iteration& in) const {
    const got g = detail::apply(f_, from, to, error, in);
    return g == got::end && in_other_order_ ? detail::refuse_end(error) : g;
  }

  F f_;
  parallel options_;
  bool in_other_order_;
};

}  // namespace detail

}  // namespace tagma::datasets
