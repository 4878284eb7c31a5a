// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Stages that change the order of elements: through a buffer, or by a permutation of all.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/data/permutation.hpp"
#include "tagma/data/stage.hpp"

namespace tagma::datasets::detail {

/// An element out of its turn. A function that ends its dataset there cannot be obeyed: what is behind it may have been
/// given already.
/// @{
[[nodiscard]] std::exception_ptr error_of_end();
/// The same, where the order was changed before the function.
[[nodiscard]] got refuse_end(std::exception_ptr& error);
template <class T>
[[nodiscard]] got get_in_other_order(const stage<T>& of, extent i, std::uint64_t epoch, T& to, iteration& in) {
  const got g = datasets::get(of, i, epoch, to, in);
  if (g != got::end && !in.ends_behind) return g;
  in.ends_behind = in.ends_part = false;
  in.error = detail::error_of_end();
  return got::error;
}
/// @}

/// The slots of a buffer from which the next element is drawn, and which is refilled in order. A slot holds a number
/// of whoever has the buffer. It is drawn, and filled by the next call, so that an interruption finds everything in its
/// place.
class shuffle_buffer {
 public:
  shuffle_buffer(extent most, std::uint64_t seed, std::uint64_t epoch) : most_(most), draws_(seed, epoch) {}

  /// A slot that is to be filled before one is drawn, with the number that it had, or 0; nullptr: none.
  [[nodiscard]] extent* lacking();
  void filled() { open_ = none; }
  /// There is nothing to fill that slot, nor any other.
  void end();
  [[nodiscard]] bool empty() const { return slots_.size() == 0; }
  /// What the next slot holds.
  [[nodiscard]] extent draw();
  /// How many were drawn.
  [[nodiscard]] extent drawn() const { return drawn_; }

 private:
  static constexpr std::size_t none = SIZE_MAX;

  extent most_;
  shuffle_draws draws_;
  number_list slots_;
  std::size_t open_ = none;  // the slot that is to be filled
  extent drawn_ = 0;
  bool ended_ = false;
};

/// The next element is drawn from a buffer that is refilled in order. Of an input whose elements have numbers the
/// buffer holds these: the elements are had when their turn comes, and a position is found without them. Of others it
/// holds the addresses of elements.
template <class T>
class shuffled final : public stage_behind<T, T> {
  struct held {
    T value{};
    std::exception_ptr error;
    held* next = nullptr;
  };

  class pass final : public cursor<T> {
   public:
    pass(const shuffled& of, std::uint64_t epoch, iteration& in)
        : of_(of),
          in_(in),
          epoch_(epoch),
          counters_(in.counters_of(of)),
          buffer_(of.buffer_, of.seed_, of.reshuffle_ ? epoch : 0),
          size_(of.size()) {
      if (!of.input().indexed() || of.threaded()) input_ = datasets::start(of.input(), epoch, in);
    }
    TAGMA_COLD ~pass() override {
      while (held* const one = all_) {
        all_ = one->next;
        delete one;
      }
    }
    got advance(T& to) override {
      if (const got g = prepare(); g != got::element) return g;
      const extent drawn = buffer_.draw();
      if (input_ == nullptr) return detail::get_in_other_order(of_.input(), drawn, epoch_, to, in_);
      return give(*reinterpret_cast<held*>(drawn), to);
    }
    TAGMA_COLD got pass_by(extent& n) override {
      if (input_ != nullptr) return cursor<T>::pass_by(n);
      for (; n > 0; --n) {
        if (const got g = prepare(); g != got::element) return g;
        (void)buffer_.draw();
      }
      return got::element;
    }
    TAGMA_COLD void save(number_list& to) const override { to.push(buffer_.drawn()); }
    TAGMA_COLD void restore(position_reader& from) override {
      extent n = from.take(endless);
      (void)pass_by(n);
    }

   private:
    /// Fills the buffer.
    [[gnu::noinline]] got prepare() {
      while (extent* const slot = buffer_.lacking()) {
        const got g = input_ == nullptr ? number(*slot) : keep(*slot);
        if (g == got::interrupted) return g;
        if (g == got::end)
          buffer_.end();
        else
          buffer_.filled();
        if (buffer_.drawn() == 0 && in_.stopping()) return got::interrupted;
      }
      return buffer_.empty() ? got::end : got::element;
    }
    got number(extent& slot) {
      if (next_ == size_) return got::end;
      slot = next_++;
      return got::element;
    }
    got keep(extent& slot) {
      if (slot == 0) {
        held* const one = new held;
        one->next = all_;
        all_ = one;
        slot = reinterpret_cast<std::intptr_t>(one);
      }
      held& one = *reinterpret_cast<held*>(slot);
      const got g = input_->next(one.value);
      if (g == got::error) one.error = in_.take_error();
      if (counters_ != nullptr && g == got::element) count(one.value, 1);
      return g;
    }
    got give(held& one, T& to) {
      if (one.error != nullptr) [[unlikely]] {
        in_.give_error(one.error);
        return got::error;
      }
      std::swap(to, one.value);
      if (counters_ != nullptr) count(to, -1);
      return got::element;
    }
    TAGMA_COLD void count(const T& one, int sign) { counters_->hold(sign * datasets::bytes_of(one)); }

    const shuffled& of_;
    iteration& in_;
    std::uint64_t epoch_;
    stage_counters* counters_;
    shuffle_buffer buffer_;
    owned<cursor<T>> input_;  // nullptr where elements have numbers
    held* all_ = nullptr;
    extent size_, next_ = 0;
  };

 public:
  shuffled(stage_of<T> input, extent buffer, std::uint64_t seed, bool reshuffle)
      : stage_behind<T, T>(std::move(input)), buffer_(buffer), seed_(seed), reshuffle_(reshuffle) {}

  TAGMA_COLD ~shuffled() override = default;

  [[nodiscard]] TAGMA_COLD owned<cursor<T>> start(std::uint64_t epoch, iteration& in) const override {
    return owned<cursor<T>>(new pass(*this, epoch, in));
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
      : stage_behind<T, T>(std::move(input)), seed_(seed), reshuffle_(reshuffle) {
    this->indexed_ = true;
    this->threaded_ = this->in_any_order_ = false;  // its input is asked by number
  }

  got get(extent i, std::uint64_t epoch, T& to, iteration& in) const override {
    const permutation& order = in.order(this, this->size(), seed_, reshuffle_ ? epoch : 0);
    return detail::get_in_other_order(*this->input_, order(i), epoch, to, in);
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

#ifndef TAGMA_COMPILED
#include "tagma/data/shuffle.ipp"
#endif
