// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Stages that change the order of elements: through a buffer, or by a permutation of all.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/data/permutation.hpp"
#include "tagma/data/stage.hpp"

namespace tagma::datasets::detail {

/// An element out of its turn. A function that ends its dataset there cannot be obeyed: what is behind it may have been
/// given already.
template <class T>
[[nodiscard]] got get_in_other_order(const stage<T>& of, extent i, std::uint64_t epoch, T& to, iteration& in) {
  const got g = datasets::get(of, i, epoch, to, in);
  if (g != got::end && !in.ends_behind) return g;
  in.ends_behind = false;
  in.error = std::make_exception_ptr(
      error(status_code::failed_precondition,
            "a function threw end_of_data before a shuffle that asks for elements by their numbers; leave elements out "
            "by take or filter"));
  return got::error;
}

/// The next element is drawn from a buffer that is refilled in order. Of an input whose elements have numbers the
/// buffer holds these: the elements are had when their turn comes, and a position is found without them.
template <class T>
class shuffled final : public stage_behind<T, T> {
  struct held {
    T value{};
    std::exception_ptr error;
  };

  /// A slot is chosen, given, and filled by the next call, so that an interruption finds everything in its place.
  template <class Slot>
  class pass : public cursor<T> {
   public:
    pass(const shuffled& of, std::uint64_t epoch, iteration& in)
        : of_(of), in_(in), epoch_(epoch), draws_(of.seed_, of.reshuffle_ ? epoch : 0) {}

   protected:
    /// Fills the buffer; `fill` fills a slot and returns what `next` does.
    template <class Fill>
    got prepare(const Fill& fill) {
      if (hole_ < slots_.size()) {
        const got g = ended_ ? got::end : fill(slots_[hole_]);
        if (g == got::interrupted) return g;
        if (g == got::end) {
          ended_ = true;
          if (hole_ + 1 < slots_.size()) slots_[hole_] = std::move(slots_.back());
          slots_.pop_back();
        }
        hole_ = no_hole;
      }
      while (!ended_ && static_cast<extent>(slots_.size()) < of_.buffer_) {
        slots_.emplace_back();
        const got g = fill(slots_.back());
        if (g == got::interrupted || g == got::end) slots_.pop_back();
        if (g == got::interrupted) return g;
        ended_ = g == got::end;
        if (in_.stopping()) return got::interrupted;
      }
      return slots_.empty() ? got::end : got::element;
    }
    [[nodiscard]] Slot& draw() {
      hole_ = draws_.below(slots_.size());
      ++given_;
      return slots_[hole_];
    }

    static constexpr std::size_t no_hole = SIZE_MAX;

    const shuffled& of_;
    iteration& in_;
    std::uint64_t epoch_;
    shuffle_draws draws_;
    std::vector<Slot> slots_;
    std::size_t hole_ = no_hole;
    extent given_ = 0;
    bool ended_ = false;
  };

  class pass_of_elements final : public pass<held> {
   public:
    pass_of_elements(const shuffled& of, std::uint64_t epoch, iteration& in)
        : pass<held>(of, epoch, in), counters_(in.counters_of(of)), input_(datasets::start(*of.input_, epoch, in)) {}
    got next(T& to) override {
      const got g = this->prepare([&](held& slot) {
        const got filled = input_->next(slot.value);
        if (filled == got::error) slot.error = std::exchange(this->in_.error, nullptr);
        if (counters_ != nullptr && filled == got::element) counters_->hold(datasets::bytes_of(slot.value));
        return filled;
      });
      if (g != got::element) return g;
      held& slot = this->draw();
      if (slot.error != nullptr) {
        this->in_.error = std::exchange(slot.error, nullptr);
        return got::error;
      }
      std::swap(to, slot.value);
      if (counters_ != nullptr) counters_->hold(-datasets::bytes_of(to));
      return got::element;
    }
    TAGMA_COLD void save(position& to) const override { to.push_back(this->given_); }
    TAGMA_COLD void restore(position_reader& from) override {
      extent n = from.take(endless);
      (void)this->skip(n);
    }

   private:
    stage_counters* counters_;
    std::unique_ptr<cursor<T>> input_;
  };

  class pass_of_numbers final : public pass<extent> {
   public:
    pass_of_numbers(const shuffled& of, std::uint64_t epoch, iteration& in)
        : pass<extent>(of, epoch, in), size_(of.input_->size()) {}
    got next(T& to) override {
      if (const got g = prepare_numbers(); g != got::element) return g;
      return detail::get_in_other_order(*this->of_.input_, this->draw(), this->epoch_, to, this->in_);
    }
    TAGMA_COLD got skip(extent& n) override {
      for (; n > 0; --n) {
        if (const got g = prepare_numbers(); g != got::element) return g;
        (void)this->draw();
      }
      return got::element;
    }
    TAGMA_COLD void save(position& to) const override { to.push_back(this->given_); }
    TAGMA_COLD void restore(position_reader& from) override {
      extent n = from.take(endless);
      (void)skip(n);
    }

   private:
    got prepare_numbers() {
      return this->prepare([&](extent& slot) {
        if (next_ == size_) return got::end;
        slot = next_++;
        return got::element;
      });
    }

    extent size_, next_ = 0;
  };

 public:
  shuffled(stage_of<T> input, extent buffer, std::uint64_t seed, bool reshuffle)
      : stage_behind<T, T>(std::move(input)), buffer_(buffer), seed_(seed), reshuffle_(reshuffle) {}

  [[nodiscard]] TAGMA_COLD std::unique_ptr<cursor<T>> start(std::uint64_t epoch, iteration& in) const override {
    if (this->input_->indexed() && !this->input_->threaded())
      return std::make_unique<pass_of_numbers>(*this, epoch, in);
    return std::make_unique<pass_of_elements>(*this, epoch, in);
  }
  TAGMA_COLD void describe(std::string& to) const override {
    this->input_->describe(to);
    append_parts(to, {".shuffle ", buffer_, " ", seed_, reshuffle_ ? "" : " always"});
  }

 private:
  extent buffer_;
  std::uint64_t seed_;
  bool reshuffle_;
};

/// The elements of an input that has numbers, in the order of a permutation.
template <class T>
class permuted final : public stage_behind<T, T> {
 public:
  permuted(stage_of<T> input, std::uint64_t seed, bool reshuffle)
      : stage_behind<T, T>(std::move(input)), seed_(seed), reshuffle_(reshuffle) {}

  [[nodiscard]] bool indexed() const override { return true; }
  [[nodiscard]] bool threaded() const override { return false; }
  got get(extent i, std::uint64_t epoch, T& to, iteration& in) const override {
    const permutation& order = in.order(this, this->size(), seed_, reshuffle_ ? epoch : 0);
    return detail::get_in_other_order(*this->input_, order(i), epoch, to, in);
  }
  [[nodiscard]] TAGMA_COLD std::unique_ptr<cursor<T>> start(std::uint64_t epoch, iteration& in) const override {
    return std::make_unique<indexed_cursor<T>>(*this, epoch, in);
  }
  TAGMA_COLD void describe(std::string& to) const override {
    this->input_->describe(to);
    append_parts(to, {".global_shuffle ", seed_, reshuffle_ ? "" : " always"});
  }

 private:
  std::uint64_t seed_;
  bool reshuffle_;
};

}  // namespace tagma::datasets::detail
