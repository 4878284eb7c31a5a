// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A stage that keeps what it gave, in memory.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tagma/base/atomic.hpp"
#include "tagma/base/config.hpp"
#include "tagma/data/stage.hpp"
#include "tagma/runtime/mutex.hpp"

namespace tagma::datasets::detail {

/// Keeps the elements of the first pass that came to the end without an error. All passes are the pass number 0.
template <class T>
class cached final : public stage_behind<T, T> {
  struct whole_pass final : counted_object {
    whole_pass(std::vector<T>&& elements, bool order_is_lost) : all(std::move(elements)), lost_order(order_is_lost) {}
    std::vector<T> all;
    bool lost_order;  // whoever keeps the elements of another pass may have another order
  };
  using elements = counted<const whole_pass>;

  class pass final : public cursor<T> {
   public:
    pass(const cached& of, iteration& in) : of_(of), in_(in), counters_(in.counters_of(of)), kept_(of.kept()) {
      if (kept_ && kept_->lost_order) in.lose_order();
    }
    got advance(T& to) override {
      if (kept_) {
        if (next_ >= kept_->all.size()) return got::end;
        to = kept_->all[next_++];
        return got::element;
      }
      if (input_ == nullptr) input_ = datasets::start(*of_.input_, 0, in_);
      const got g = input_->next(to);
      if (g == got::interrupted) return g;
      if (g == got::end) {
        if (whole_) {
          kept_ = of_.keep(std::move(own_), in_.has_lost_order());
          next_ = kept_->all.size();
        }
        whole_ = false;
        return g;
      }
      ++next_;
      whole_ = whole_ && g == got::element;
      if (whole_) {
        own_.push_back(to);
        if (counters_ != nullptr) counters_->hold(datasets::bytes_of(to));
      } else if (!own_.empty()) {
        if (counters_ != nullptr)
          for (const T& x : own_) counters_->hold(-datasets::bytes_of(x));
        own_ = {};
      }
      return g;
    }
    TAGMA_COLD got pass_by(extent& n) override {
      if (kept_ == nullptr) return cursor<T>::pass_by(n);
      const std::size_t left = kept_->all.size() - next_;
      const std::size_t some = static_cast<std::uint64_t>(n) < left ? static_cast<std::size_t>(n) : left;
      next_ += some;
      n -= static_cast<extent>(some);
      return n == 0 ? got::element : got::end;
    }
    TAGMA_COLD void save(number_list& to) const override { to.push(static_cast<std::int64_t>(next_)); }
    TAGMA_COLD void restore(position_reader& from) override {
      extent n = from.take(endless);
      (void)pass_by(n);
    }

   private:
    const cached& of_;
    iteration& in_;
    stage_counters* counters_;
    elements kept_;
    owned<cursor<T>> input_;
    std::vector<T> own_;
    std::size_t next_ = 0;
    bool whole_ = true;
  };

 public:
  explicit cached(stage_of<T> input) : stage_behind<T, T>(std::move(input)) {}

  [[nodiscard]] owned<cursor<T>> start(std::uint64_t, iteration& in) const override {
    return owned<cursor<T>>(new pass(*this, in));
  }
  TAGMA_COLD void describe(std::string& to) const override {
    this->input_->describe(to);
    to += ".cache";
  }

 private:
  [[nodiscard]] elements kept() const {
    const mutex_lock lock(mutex_);
    return kept_;
  }
  [[nodiscard]] elements keep(std::vector<T>&& all, bool lost_order) const {
    auto mine = make_counted<const whole_pass>(std::move(all), lost_order);
    const mutex_lock lock(mutex_);
    if (!kept_) kept_ = std::move(mine);
    return kept_;
  }

  mutable mutex mutex_;
  mutable elements kept_;
};

/// The same for elements that have numbers: each is kept when it was had once, in whatever order. An input with threads
/// is gone through in turn, so that these work.
template <class T>
class cached_by_number final : public stage_behind<T, T> {
  /// Elements are those of their numbers until a function ends a part of the input. From there on only the input says
  /// what follows.
  class pass final : public cursor<T> {
   public:
    pass(const cached_by_number& of, iteration& in)
        : of_(of), in_(in), ends_before_(in.ends_by_function()), size_(of.size()) {}
    got advance(T& to) override {
      if (!goes_in_turn() && next_ < size_ && of_.take_kept(next_, to)) {
        ++next_;
        ++to_pass_;
        return got::element;
      }
      if (const got g = catch_up(); g != got::element) return g;
      const got g = input_->next(to);
      if (g != got::element && g != got::error) return g;
      if (g == got::element && !goes_in_turn()) of_.keep(next_, to, in_);
      ++next_;
      return g;
    }
    TAGMA_COLD got pass_by(extent& n) override {
      if (goes_in_turn()) {
        const got g = catch_up();
        return g == got::element ? input_->skip(n) : g;
      }
      const extent some = n < size_ - next_ ? n : size_ - next_;
      next_ += some;
      to_pass_ += some;
      n -= some;
      return n == 0 ? got::element : got::end;
    }
    TAGMA_COLD void save(number_list& to) const override {
      if (input_ == nullptr || !(in_turn_ || was_ended())) return to.push(next_);
      to.push(-1 - to_pass_);
      input_->save(to);
    }
    TAGMA_COLD void restore(position_reader& from) override {
      next_ = to_pass_ = from.take();
      if (next_ > size_) position_reader::wrong();
      if (next_ >= 0) return;
      in_turn_ = true;
      to_pass_ = -1 - to_pass_;
      input_ = datasets::start(*of_.input_, 0, in_);
      input_->restore(from);
    }

   private:
    /// Perhaps: it may have been another part of the pipeline, or further ahead.
    [[nodiscard]] bool was_ended() const { return in_.ends_by_function() != ends_before_; }
    [[nodiscard]] bool goes_in_turn() { return in_turn_ = in_turn_ || (was_ended() && !of_.is_whole()); }
    /// Brings the input to the next element.
    [[nodiscard]] got catch_up() {
      if (input_ == nullptr) input_ = datasets::start(*of_.input_, 0, in_);
      return input_->skip(to_pass_);
    }

    const cached_by_number& of_;
    iteration& in_;
    std::uint64_t ends_before_;
    owned<cursor<T>> input_;
    extent size_, next_ = 0, to_pass_ = 0;  // to_pass_: of these, how many lie before what the input gives next
    bool in_turn_ = false;
  };

 public:
  explicit cached_by_number(stage_of<T> input)
      : stage_behind<T, T>(std::move(input)), slots_(detail::make_slots<slot>("cache", this->size())) {
    this->indexed_ = true;
  }

  got get(extent i, std::uint64_t, T& to, iteration& in) const override {
    if (take_kept(i, to)) return got::element;
    const got g = datasets::get(*this->input_, i, 0, to, in);
    if (g == got::element && !in.ends_behind) keep(i, to, in);  // the end is not kept, and is to be met by each pass
    return g;
  }
  /// Without threads it is for what follows an end by a function, where there are no numbers to keep elements by.
  [[nodiscard]] TAGMA_COLD owned<cursor<T>> start(std::uint64_t, iteration& in) const override {
    if (this->threaded()) return owned<cursor<T>>(new pass(*this, in));
    return datasets::start(*this->input_, 0, in);
  }
  TAGMA_COLD void describe(std::string& to) const override {
    this->input_->describe(to);
    to += ".cache";
  }

 private:
  struct slot {
    T value{};
    atomic<bool> kept{false};
  };
  [[nodiscard]] bool take_kept(extent i, T& to) const {
    const slot& s = slots_[static_cast<std::size_t>(i)];
    if (!s.kept.load(memory_order::acquire)) return false;
    to = s.value;
    return true;
  }
  void keep(extent i, const T& x, iteration& in) const {
    slot& s = slots_[static_cast<std::size_t>(i)];
    const mutex_lock lock(mutex_);
    if (s.kept.load(memory_order::relaxed)) return;
    s.value = x;
    if (stage_counters* const counters = in.counters_of(*this)) counters->hold(datasets::bytes_of(x));
    s.kept.store(true, memory_order::release);
    ++kept_;
  }
  /// Whether each number has an element: then no function has ended anything.
  [[nodiscard]] bool is_whole() const {
    const mutex_lock lock(mutex_);
    return kept_ == slots_.size();
  }

  mutable mutex mutex_;
  mutable std::vector<slot> slots_;
  mutable std::size_t kept_ = 0;
};

}  // namespace tagma::datasets::detail
