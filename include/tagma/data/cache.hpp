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

/// The same for elements that have numbers: each is kept when it was had once, in whatever order.
template <class T>
class cached_by_number final : public stage_behind<T, T> {
 public:
  explicit cached_by_number(stage_of<T> input)
      : stage_behind<T, T>(std::move(input)), slots_(detail::make_slots<slot>("cache", this->size())) {
    this->indexed_ = true;
    this->threaded_ = false;
  }

  got get(extent i, std::uint64_t, T& to, iteration& in) const override {
    slot& s = slots_[static_cast<std::size_t>(i)];
    if (s.kept.load(memory_order::acquire)) {
      to = s.value;
      return got::element;
    }
    const got g = datasets::get(*this->input_, i, 0, to, in);
    if (g != got::element || in.ends_behind) return g;  // the end is not kept, and is to be met by each pass
    const mutex_lock lock(mutex_);
    if (s.kept.load(memory_order::relaxed)) return g;
    s.value = to;
    if (stage_counters* const counters = in.counters_of(*this)) counters->hold(datasets::bytes_of(to));
    s.kept.store(true, memory_order::release);
    return g;
  }
  /// In turn there are no numbers to keep elements by.
  [[nodiscard]] TAGMA_COLD owned<cursor<T>> start(std::uint64_t, iteration& in) const override {
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
  mutable mutex mutex_;
  mutable std::vector<slot> slots_;
};

}  // namespace tagma::datasets::detail
