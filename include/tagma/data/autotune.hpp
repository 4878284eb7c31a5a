// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Maps and prefetches that find by themselves how many threads and elements they need, within the budgets of a pass.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <exception>
#include <list>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

#include "tagma/base/atomic.hpp"
#include "tagma/data/bytes_of.hpp"
#include "tagma/data/dataset.hpp"
#include "tagma/data/elementwise.hpp"
#include "tagma/data/prefetch.hpp"
#include "tagma/data/shuffle.hpp"
#include "tagma/data/tuner.hpp"
#include "tagma/runtime/wait_word.hpp"

namespace tagma::datasets {

/// In the place of numbers: `map(f, datasets::autotune)`, `prefetch(datasets::autotune)`. Elements are the same, in the
/// same order, as those of `map(f)`. The numbers change while a pass goes on: whoever takes longest gets more, as long
/// as elements come faster by it, within the budgets of the pass (`datasets::iterate`); without these, as many threads
/// as processors and `default_bytes`. Where no thread is left, whoever asks does the work.
///
/// The bytes are those of the elements that the stages work on or keep, each counted as large as the largest one that
/// its stage had so far. One element of each stage is always allowed.
struct autotune_t {};
/// The value of `autotune_t`: `map(f, datasets::autotune)`.
inline constexpr autotune_t autotune;

namespace detail {

/// What a prefetch does to elements.
struct handed_on {
  template <class T>
  T operator()(T&& x) const {
    return std::move(x);
  }
};

template <class In, class Out, class F>
class tuned final : public stage_behind<In, Out> {
  static constexpr bool is_prefetch = std::is_same_v<F, handed_on>;

  /// Elements in work and those that are ready stand in a queue, in order. One thread at a time has the turn to take
  /// one from the input.
  class pass final : public cursor<Out> {
   public:
    pass(const tuned& of, std::uint64_t epoch, iteration& in)
        : of_(of),
          in_(in),
          counters_(in.counters_of(of)),
          tuner_(tuner::of(in.services())),
          part_(tuner_->enter(of, is_prefetch ? 1 : 1 << 20)),
          guard_(runtime::no_limits, 0, &closing_),
          inner_(guard_, closing_, in) {
      input_ = datasets::start(*of.input_, epoch, inner_);
    }
    ~pass() override {
      closing_.begin();
      freed_.change(true);
      for (worker& w : workers_) w.thread.join();
      leave();
    }
    got advance(Out& to) override {
      if (ended_) return got::end;
      if (!started_) start();
      return result(to, true);
    }
    got pass_by(extent& n) override {
      if (ended_) return got::end;
      if (!started_ && of_.indexed()) return marks_.pass_by(*input_, n);
      if (!started_) start();
      Out passed{};
      for (; n > 0; --n)
        if (const got g = result(passed, false); g == got::end || g == got::interrupted) return g;
      return got::element;
    }
    void save(number_list& to) const override {
      to.push(ended_ ? 1 : 0);
      if (started_ && running_.load() == 0 && queue_.empty()) {
        to.push(0);
        return input_->save(to);
      }
      marks_.save(*input_, given_, in_, to);
    }
    void restore(position_reader& from) override {
      ended_ = from.take(1) == 1;
      marks_.restore(*input_, from);
    }

   private:
    struct slot {
      Out value{};
      std::exception_ptr error;
      got what = got::end;
      bool ready = false;
    };
    struct worker {
      std::thread thread;
      atomic<bool> over{false};
    };

    /// The next result.
    /// @param asked otherwise it is passed by, and that the function ended the dataset there counts for nothing
    got result(Out& to, bool asked) {
      if (running_.load(memory_order::relaxed) < part_->threads.load(memory_order::relaxed)) begin_threads();
      while (true) {
        const std::uint32_t seen = ready_.load(memory_order::acquire);
        {
          const std::lock_guard lock(mutex_);
          if (!queue_.empty()) {
            if (queue_.front().ready) return take(to, asked);
          } else if (end_) {
            ended_ = true;
          } else if (running_.load() == 0) {
            break;
          }
        }
        if (ended_) {
          leave();  // its part is for the next pass; where the function ended it, others may still be at work
          return got::end;
        }
        if (!wait(seen)) return got::interrupted;
      }
      return next_alone(to, asked);
    }

    void start() {
      marks_.begin(*input_);
      started_ = true;
    }
    void leave() {
      if (std::exchange(left_, true)) return;
      tuner_->leave(*part_);
    }
    /// Until an element is ready, which changes the word, or the call must end.
    [[nodiscard]] bool wait(std::uint32_t seen) {
      part_->was_empty.store(true, memory_order::relaxed);
      const measured_wait time(in_, counters_, &stage_counters::empty_ns);
      const std::int64_t begun = runtime::now_ns();
      const bool goes_on = in_.wait(ready_, seen);
      part_->empty_ns.fetch_add(runtime::now_ns() - begun, memory_order::relaxed);
      return goes_on;
    }
    /// The first of the queue.
    got take(Out& to, bool asked) {
      slot& s = queue_.front();
      const got g = s.what;
      if (g == got::element) to = std::move(s.value);
      if (counters_ != nullptr && g == got::element) counters_->hold(-datasets::bytes_of(to));
      if (g == got::error) in_.give_error(s.error);
      if (g == got::end && asked) {  // the function ended it; what is behind counts for nothing
        ended_ = end_ = true;
        return g;
      }
      queue_.pop_front();
      ++given_;
      part_->held.fetch_sub(1);
      freed_.change(false);
      tuner_->gave(*part_);
      return g == got::end ? got::element : g;
    }
    got next_alone(Out& to, bool asked) {
      marks_.mark(*input_, given_, given_);
      got g = input_->next(alone_);
      if (g == got::error) in_.give_error(inner_.error);
      if (g == got::element && asked) g = apply(alone_, to, in_.error);
      ended_ = g == got::end;
      if (g == got::interrupted) return g;
      if (ended_)
        leave();
      else
        ++given_, ++taken_, tuner_->gave(*part_);
      return g;
    }

    void begin_threads() {
      const std::lock_guard lock(mutex_);
      workers_.remove_if([](worker& w) {
        if (!w.over.load()) return false;
        w.thread.join();
        return true;
      });
      while (!end_ && running_.load() < part_->threads.load() && tuner_->begin_thread()) {
        workers_.emplace_back();
        worker& w = workers_.back();
        const int n = running_.fetch_add(1) + 1;
        if (counters_ != nullptr) counters_->threads.store(n);
        try {
          w.thread = std::thread([this, &w] {
            run();
            tuner_->end_thread();
            w.over.store(true);
          });
        } catch (const std::system_error&) {  // those that there are do the work; without any, whoever asks
          workers_.pop_back();
          running_.fetch_sub(1);
          tuner_->end_thread();
          break;
        }
      }
    }
    /// Whether this thread is one too many. Then it no longer counts.
    [[nodiscard]] bool leaves() {
      const std::lock_guard lock(mutex_);
      const int n = running_.load();
      if (n <= part_->threads.load() || n <= 1) return false;
      running_.fetch_sub(1);
      if (counters_ != nullptr) counters_->threads.store(n - 1);
      return true;
    }
    /// Takes the next element, in turn. nullptr if there is nothing more to do.
    [[nodiscard]] slot* take_input(In& from) {
      const std::lock_guard turn(turn_);
      while (true) {
        const std::uint32_t seen = freed_.load(memory_order::acquire);
        if (over()) return nullptr;
        if (part_->take_room()) break;
        part_->was_full.store(true, memory_order::relaxed);
        const measured_wait time(inner_, counters_, &stage_counters::full_ns);
        // Room may also be given by the tuner, which knows of no words.
        freed_.wait_until(seen, runtime::now_ns() + 5'000'000);
      }
      marks_.mark(*input_, taken_, given_count());
      const got g = input_->next(from);
      if (g == got::interrupted || g == got::end) {
        part_->held.fetch_sub(1);
        if (g == got::end) {
          const std::lock_guard lock(mutex_);
          end_ = true;
        }
        return nullptr;
      }
      ++taken_;
      const std::lock_guard lock(mutex_);
      slot& s = queue_.emplace_back();
      s.what = g;
      if (g == got::error) s.error = inner_.take_error();
      return &s;
    }
    [[nodiscard]] bool over() {
      const std::lock_guard lock(mutex_);
      return end_ || closing_.begun();
    }
    [[nodiscard]] std::uint64_t given_count() {
      const std::lock_guard lock(mutex_);
      return given_;
    }
    [[nodiscard]] got apply(In& from, Out& to, std::exception_ptr& error) const {
      const std::int64_t begun = runtime::now_ns();
      const std::int64_t measured = counters_ == nullptr ? 0 : in_.measured()->now();
      const got g = of_.made_of(from, to, error, in_);
      if (counters_ != nullptr) stage_counters::add(counters_->own_ns, in_.measured()->now() - measured);
      part_->work_ns.fetch_add(runtime::now_ns() - begun, memory_order::relaxed);
      part_->made.fetch_add(1, memory_order::relaxed);
      return g;
    }
    void run() {
      In from{};
      while (!leaves()) {
        slot* const s = take_input(from);
        if (s == nullptr) {
          running_.fetch_sub(1);
          break;
        }
        got g = s->what;
        if (g == got::element) g = apply(from, s->value, s->error);
        if (g == got::element) {
          const std::int64_t bytes = std::max(std::int64_t{1}, datasets::bytes_of(s->value));
          if (counters_ != nullptr) counters_->hold(bytes);
          if (bytes > part_->bytes.load(memory_order::relaxed)) tuner_->grew(*part_, bytes);
        }
        const std::lock_guard lock(mutex_);
        s->what = g;
        s->ready = true;
        if (s == &queue_.front()) ready_.change(false);
      }
      // Whoever waits may wait for nothing more.
      ready_.change(true);
      freed_.change(true);
    }

    const tuned& of_;
    iteration& in_;
    stage_counters* counters_;
    counted<tuner> tuner_;
    counted<tuned_part> part_;
    runtime::closing closing_;
    runtime::run_guard guard_;
    iteration inner_;  // of whoever has the turn
    owned<cursor<In>> input_;
    marks marks_;
    std::mutex turn_, mutex_;
    std::deque<slot> queue_;
    std::list<worker> workers_;
    atomic<int> running_{0};
    std::uint64_t taken_ = 0, given_ = 0;
    In alone_{};
    bool end_ = false;  // nothing more is to be taken
    bool started_ = false, ended_ = false, left_ = false;
    runtime::wait_word ready_, freed_;
  };

 public:
  /// @param in_other_order whether the input was shuffled by numbers: then the function cannot end it
  tuned(stage_of<In> input, F f, bool in_other_order = false)
      : stage_behind<In, Out>(std::move(input)), f_(std::move(f)), in_other_order_(in_other_order) {
    this->indexed_ = this->input_->indexed();
    this->threaded_ = true;
  }

  got get(extent i, std::uint64_t epoch, Out& to, iteration& in) const override {
    In from{};
    const got g = datasets::get(*this->input_, i, epoch, from, in);
    return g == got::element ? made_of(from, to, in.error, in) : g;
  }
  [[nodiscard]] owned<cursor<Out>> start(std::uint64_t epoch, iteration& in) const override {
    return owned<cursor<Out>>(new pass(*this, epoch, in));
  }
  [[nodiscard]] stage_of<Out> permuted(std::uint64_t seed, bool reshuffle) const override {
    if constexpr (is_prefetch) return nullptr;
    stage_of<In> below = this->input_->permuted(seed, reshuffle);
    if (below == nullptr) below = make_counted<detail::permuted<In>>(this->input_, seed, reshuffle);
    return make_counted<tuned>(std::move(below), f_, true);
  }
  void describe(std::string& to) const override {
    this->input_->describe(to);
    to += is_prefetch ? ".prefetch" : ".parallel_map";
  }

 private:
  [[nodiscard]] got made_of(In& from, Out& to, std::exception_ptr& error, iteration& in) const {
    const got g = detail::apply(f_, from, to, error, in);
    return g == got::end && in_other_order_ ? detail::refuse_end(error) : g;
  }

  F f_;
  bool in_other_order_;
};

}  // namespace detail

}  // namespace tagma::datasets
