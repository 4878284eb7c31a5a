// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Stages that choose and join elements by their places: take, skip, shard, repeat, concatenate, zip.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <tuple>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/data/stage.hpp"

namespace tagma::datasets::detail {

/// What came of an element of an input, which may have ended before its size says so: where more follows behind the
/// input, whoever asks is to go on in turn.
[[nodiscard]] inline got element_of_part(got g, bool is_last, iteration& in) {
  if (is_last || (g != got::end && !in.ends_behind)) [[likely]]
    return g;
  in.ends_behind = false;
  in.ends_part = true;
  return got::end;
}

/// The elements first, first + step, ... before the element last of the input.
template <class T>
class strided_stage final : public stage_behind<T, T> {
  class pass final : public cursor<T> {
   public:
    pass(owned<cursor<T>> input, const strided_stage& of) : input_(std::move(input)), of_(of), to_skip_(of.first_) {}
    got advance(T& to) override {
      if (at_end()) return got::end;
      if (to_skip_ > 0)
        if (const got g = input_->skip(to_skip_); g != got::element) return g;
      const got g = input_->next(to);
      if (g == got::element || g == got::error) {
        ++given_;
        to_skip_ = of_.step_ - 1;
      }
      return g;
    }
    TAGMA_COLD got pass_by(extent& n) override {
      while (n > 0) {
        if (at_end()) return got::end;
        if (const got g = input_->skip(to_skip_); g != got::element) return g;
        const extent left = of_.last_ - of_.first_ - given_;
        const extent some = of_.step_ > 1 ? 1 : n < left ? n : left;
        extent rest = some;
        const got g = input_->skip(rest);
        given_ += some - rest;
        n -= some - rest;
        if (g != got::element) return g;
        to_skip_ = of_.step_ - 1;
      }
      return got::element;
    }
    TAGMA_COLD void save(number_list& to) const override {
      to.push(given_);
      to.push(to_skip_);
      input_->save(to);
    }
    TAGMA_COLD void restore(position_reader& from) override {
      given_ = from.take(endless);
      to_skip_ = from.take(endless);
      input_->restore(from);
    }

   private:
    [[nodiscard]] bool at_end() const {
      return given_ > 0 ? given_ > (of_.last_ - 1 - of_.first_) / of_.step_ : of_.first_ >= of_.last_;
    }
    owned<cursor<T>> input_;
    const strided_stage& of_;
    extent to_skip_, given_ = 0;
  };

 public:
  strided_stage(stage_of<T> input, extent first, extent last, extent step)
      : stage_behind<T, T>(std::move(input)), first_(first), last_(last), step_(step) {
    this->indexed_ = this->input_->indexed();
  }

  [[nodiscard]] extent size() const override {
    const extent all = this->input_->size();
    if (first_ >= last_) return 0;
    if (all == unknown_size) return unknown_size;
    if (all == endless && last_ == endless) return endless;
    const extent last = all < last_ ? all : last_;
    return first_ >= last ? 0 : (last - 1 - first_) / step_ + 1;
  }
  got get(extent i, std::uint64_t epoch, T& to, iteration& in) const override {
    return datasets::get(*this->input_, first_ + i * step_, epoch, to, in);
  }
  [[nodiscard]] TAGMA_COLD owned<cursor<T>> start(std::uint64_t epoch, iteration& in) const override {
    return owned<cursor<T>>(new pass(datasets::start(*this->input_, epoch, in), *this));
  }
  TAGMA_COLD void describe(std::string& to) const override {
    this->input_->describe(to);
    append_parts(to, {".elements ", first_, " ", last_, " ", step_});
  }

 private:
  extent first_, last_, step_;
};

/// Passes of the input, one behind the other. A pass that gives nothing is the last one, or this would never end.
template <class T>
class repeated final : public stage_behind<T, T> {
  class pass final : public cursor<T> {
   public:
    pass(const repeated& of, std::uint64_t epoch, iteration& in) : of_(of), in_(in), epoch_(epoch) {
      ended_ = of.count_ == 0;
      begin();
    }
    got advance(T& to) override {
      while (!ended_) {
        const got g = input_->next(to);
        if (g != got::end) {
          any_ = any_ || g != got::interrupted;
          return g;
        }
        if (const got more = next_pass(); more != got::element) return more;
      }
      return got::end;
    }
    TAGMA_COLD got pass_by(extent& n) override {
      while (!ended_) {
        const extent before = n;
        const got g = input_->skip(n);
        any_ = any_ || n < before;
        if (g != got::end) return g;
        if (const got more = next_pass(); more != got::element) return more;
      }
      return got::end;
    }
    TAGMA_COLD void save(number_list& to) const override {
      to.push(done_);
      to.push((any_ ? 1 : 0) | (ended_ ? 2 : 0));
      input_->save(to);
    }
    TAGMA_COLD void restore(position_reader& from) override {
      done_ = from.take(endless);
      const std::int64_t flags = from.take(3);
      any_ = (flags & 1) != 0;
      ended_ = (flags & 2) != 0;
      begin();
      input_->restore(from);
    }

   private:
    /// The end if there is none.
    TAGMA_COLD got next_pass() {
      ended_ = !any_ || of_.is_last(done_);
      if (ended_) return got::end;
      if (in_.stopping()) return got::interrupted;
      ++done_;
      any_ = false;
      begin();
      return got::element;
    }
    void begin() { input_ = datasets::start(*of_.input_, of_.epoch_of(epoch_, done_), in_); }

    const repeated& of_;
    iteration& in_;
    std::uint64_t epoch_;
    owned<cursor<T>> input_;
    extent done_ = 0;
    bool any_ = false, ended_ = false;
  };

 public:
  repeated(stage_of<T> input, extent count) : stage_behind<T, T>(std::move(input)), count_(count) {
    this->indexed_ = this->input_->indexed();
  }

  [[nodiscard]] extent size() const override {
    const extent one = this->input_->size();
    return one == 0 || count_ == 0 ? 0 : one == unknown_size ? unknown_size : bounded_product(one, count_);
  }
  got get(extent i, std::uint64_t epoch, T& to, iteration& in) const override {
    const extent one = this->input_->size();
    const got g = datasets::get(*this->input_, i % one, epoch_of(epoch, i / one), to, in);
    return detail::element_of_part(g, is_last(i / one), in);
  }
  [[nodiscard]] TAGMA_COLD owned<cursor<T>> start(std::uint64_t epoch, iteration& in) const override {
    return owned<cursor<T>>(new pass(*this, epoch, in));
  }
  TAGMA_COLD void describe(std::string& to) const override {
    this->input_->describe(to);
    append_parts(to, {".repeat ", count_});
  }

 private:
  [[nodiscard]] bool is_last(extent done) const { return count_ != endless && done + 1 >= count_; }
  /// The number of a pass of the input, so that a repetition of repetitions has no pass twice.
  [[nodiscard]] std::uint64_t epoch_of(std::uint64_t epoch, extent done) const {
    const std::uint64_t passes = count_ == endless ? std::uint64_t{1} << 32 : static_cast<std::uint64_t>(count_);
    return epoch * passes + static_cast<std::uint64_t>(done);
  }

  extent count_;
};

/// The passes of the input from a number on.
template <class T>
class from_epoch final : public stage_behind<T, T> {
 public:
  from_epoch(stage_of<T> input, std::uint64_t first) : stage_behind<T, T>(std::move(input)), first_(first) {
    this->indexed_ = this->input_->indexed();
  }

  got get(extent i, std::uint64_t epoch, T& to, iteration& in) const override {
    return datasets::get(*this->input_, i, epoch + first_, to, in);
  }
  [[nodiscard]] TAGMA_COLD owned<cursor<T>> start(std::uint64_t epoch, iteration& in) const override {
    return datasets::start(*this->input_, epoch + first_, in);
  }
  TAGMA_COLD void describe(std::string& to) const override {
    this->input_->describe(to);
    append_parts(to, {".epoch ", first_});
  }

 private:
  std::uint64_t first_;
};

template <class T>
class concatenated final : public stage<T> {
  class pass final : public cursor<T> {
   public:
    pass(const concatenated& of, std::uint64_t epoch, iteration& in) : of_(of), in_(in), epoch_(epoch) {
      input_ = datasets::start(*of.first_, epoch, in);
    }
    got advance(T& to) override {
      const got g = input_->next(to);
      if (g != got::end || second_) return g;
      begin_second();
      return input_->next(to);
    }
    TAGMA_COLD got pass_by(extent& n) override {
      const got g = input_->skip(n);
      if (g != got::end || second_) return g;
      begin_second();
      return input_->skip(n);
    }
    TAGMA_COLD void save(number_list& to) const override {
      to.push(second_ ? 1 : 0);
      input_->save(to);
    }
    TAGMA_COLD void restore(position_reader& from) override {
      if (from.take(1) == 1) begin_second();
      input_->restore(from);
    }

   private:
    void begin_second() {
      second_ = true;
      input_ = datasets::start(*of_.second_, epoch_, in_);
    }

    const concatenated& of_;
    iteration& in_;
    std::uint64_t epoch_;
    owned<cursor<T>> input_;
    bool second_ = false;
  };

 public:
  concatenated(stage_of<T> first, stage_of<T> second) : first_(std::move(first)), second_(std::move(second)) {
    this->indexed_ = first_->indexed() && second_->indexed();
    this->threaded_ = first_->threaded() || second_->threaded();
    this->in_any_order_ = first_->in_any_order() || second_->in_any_order();
  }

  [[nodiscard]] extent size() const override {
    const extent a = first_->size(), b = second_->size();
    return a == endless ? endless : a == unknown_size || b == unknown_size ? unknown_size : bounded_sum(a, b);
  }
  [[nodiscard]] const any_stage* input_stage(std::size_t i) const override {
    return i == 0 ? first_.get() : i == 1 ? second_.get() : nullptr;
  }
  got get(extent i, std::uint64_t epoch, T& to, iteration& in) const override {
    const extent n = first_->size();
    if (i >= n) return datasets::get(*second_, i - n, epoch, to, in);
    return detail::element_of_part(datasets::get(*first_, i, epoch, to, in), false, in);
  }
  [[nodiscard]] TAGMA_COLD owned<cursor<T>> start(std::uint64_t epoch, iteration& in) const override {
    return owned<cursor<T>>(new pass(*this, epoch, in));
  }
  TAGMA_COLD void describe(std::string& to) const override {
    first_->describe(to);
    to += ".concatenate(";
    second_->describe(to);
    to += ")";
  }

 private:
  stage_of<T> first_, second_;
};

/// Tuples of an element of each input, up to the end of the shortest. Where one of them is an error, the tuple is.
template <class... T>
class zipped final : public stage<std::tuple<T...>> {
  using row = std::tuple<T...>;
  using inputs = std::tuple<stage_of<T>...>;

  class pass final : public cursor<row> {
   public:
    pass(const inputs& of, std::uint64_t epoch, iteration& in)
        : inputs_(std::apply([&](const auto&... input) { return cursors(datasets::start(*input, epoch, in)...); }, of)),
          in_(in) {}
    got advance(row& to) override {
      if (ended_) return got::end;
      if (taken_ == 0) failed_ = false;
      if (const got g = take<0>(true); g != got::element) return g;
      leave();
      if (failed_) {
        in_.give_error(error_);
        return got::error;
      }
      std::swap(to, row_);
      return got::element;
    }
    TAGMA_COLD got pass_by(extent& n) override {
      for (; n > 0; --n) {
        if (ended_) return got::end;
        if (const got g = take<0>(false); g != got::element) return g;
        leave();
      }
      return got::element;
    }
    TAGMA_COLD void save(number_list& to) const override {
      to.push(ended_ ? 1 : 0);
      save_parts(to, std::index_sequence_for<T...>{});
    }
    TAGMA_COLD void restore(position_reader& from) override {
      ended_ = from.take(1) == 1;
      std::apply([&](auto&... input) { (input->restore(from), ...); }, inputs_);
    }

   private:
    using cursors = std::tuple<owned<cursor<T>>...>;

    void leave() {
      taken_ = 0;
      for (boundary& b : boundaries_) b.leave();
    }
    /// @param asked otherwise the row is passed by
    template <std::size_t I>
    got take(bool asked) {
      if constexpr (I == sizeof...(T)) {
        return got::element;
      } else {
        if (taken_ <= I) {
          boundaries_[I].enter(*std::get<I>(inputs_), in_);
          extent one = 1;
          const got g = asked ? std::get<I>(inputs_)->next(std::get<I>(row_)) : std::get<I>(inputs_)->skip(one);
          if (g == got::interrupted) return g;
          if (g == got::end) {
            ended_ = true;
            return g;
          }
          if (g == got::error && !failed_) {
            failed_ = true;
            error_ = in_.error;
          }
          taken_ = I + 1;
        }
        return take<I + 1>(asked);
      }
    }
    template <std::size_t... I>
    void save_parts(number_list& to, std::index_sequence<I...>) const {
      (boundaries_[I].save(*std::get<I>(inputs_), to), ...);
    }

    cursors inputs_;
    iteration& in_;
    row row_{};
    boundary boundaries_[sizeof...(T)];
    std::exception_ptr error_;
    std::size_t taken_ = 0;  // inputs that gave their part of this row
    bool failed_ = false, ended_ = false;
  };

 public:
  explicit zipped(stage_of<T>... of) : inputs_(std::move(of)...) {
    std::apply(
        [this](const auto&... input) {
          this->indexed_ = (input->indexed() && ...);
          this->threaded_ = (input->threaded() || ...);
          this->in_any_order_ = (input->in_any_order() || ...);
        },
        inputs_);
  }

  [[nodiscard]] extent size() const override {
    return std::apply(
        [](const auto&... input) {
          extent least = endless;
          bool unknown = false;
          for (const extent n : {input->size()...})
            if (n == unknown_size)
              unknown = true;
            else if (n < least)
              least = n;
          return unknown && least != 0 ? unknown_size : least;
        },
        inputs_);
  }
  [[nodiscard]] const any_stage* input_stage(std::size_t i) const override {
    const any_stage* found = nullptr;
    std::apply([&](const auto&... input) { ((i-- == 0 ? void(found = input.get()) : void()), ...); }, inputs_);
    return found;
  }
  got get(extent i, std::uint64_t epoch, row& to, iteration& in) const override {
    return get_from<0>(i, epoch, to, in);
  }
  [[nodiscard]] TAGMA_COLD owned<cursor<row>> start(std::uint64_t epoch, iteration& in) const override {
    return owned<cursor<row>>(new pass(inputs_, epoch, in));
  }
  TAGMA_COLD void describe(std::string& to) const override {
    to += "zip(";
    std::apply([&](const auto&... input) { ((input->describe(to), to += ","), ...); }, inputs_);
    to += ")";
  }

 private:
  template <std::size_t I>
  got get_from(extent i, std::uint64_t epoch, row& to, iteration& in) const {
    if constexpr (I == sizeof...(T)) {
      return got::element;
    } else {
      const got g = datasets::get(*std::get<I>(inputs_), i, epoch, std::get<I>(to), in);
      return g == got::element ? get_from<I + 1>(i, epoch, to, in) : g;
    }
  }

  inputs inputs_;
};

}  // namespace tagma::datasets::detail
