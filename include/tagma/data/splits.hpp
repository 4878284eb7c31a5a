// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Datasets in two parts: one to train with, one to validate with.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/data/dataset.hpp"

namespace tagma::datasets {

/// Two parts that have no element together, and all elements between them.
template <class T>
struct parts {
  dataset<T> train, validation;
};

namespace detail {

/// Pass 0 of the input, whatever pass is asked for.
template <class T>
class first_pass final : public stage_behind<T, T> {
 public:
  explicit first_pass(stage_of<T> input) : stage_behind<T, T>(std::move(input)) {
    this->indexed_ = this->input_->indexed();
  }

  got get(extent i, std::uint64_t, T& to, iteration& in) const override {
    return datasets::get(*this->input_, i, 0, to, in);
  }
  [[nodiscard]] TAGMA_COLD owned<cursor<T>> start(std::uint64_t, iteration& in) const override {
    return datasets::start(*this->input_, 0, in);
  }
  TAGMA_COLD void describe(std::string& to) const override {
    this->input_->describe(to);
    to += ".first_pass";
  }
};

/// What parts are taken of: elements that are the same, in one order, in every pass.
template <class T>
[[nodiscard]] dataset<T> same_in_every_pass(const dataset<T>& of, std::string_view who) {
  if (of.stage()->in_any_order())
    fail(status_code::invalid_argument,
         {who, ": a map gives the elements in any order, so that an element may be in both parts, or in none"});
  return dataset<T>(make_counted<first_pass<T>>(of.stage()));
}

/// All elements but those whose number modulo `count` is `index`.
template <class T>
class all_but final : public stage_behind<T, T> {
  class pass final : public cursor<T> {
   public:
    pass(owned<cursor<T>> input, const all_but& of) : input_(std::move(input)), of_(of) {}
    got advance(T& to) override {
      if (at_ % of_.count_ == of_.index_) {
        extent one = 1;
        if (const got g = input_->skip(one); g != got::element) return g;
        ++at_;
      }
      const got g = input_->next(to);
      if (g == got::element || g == got::error) ++at_;
      return g;
    }
    TAGMA_COLD got pass_by(extent& n) override {
      while (n > 0) {
        const bool counts = at_ % of_.count_ != of_.index_;
        extent one = 1;
        if (const got g = input_->skip(one); g != got::element) return g;
        ++at_;
        if (counts) --n;
      }
      return got::element;
    }
    TAGMA_COLD void save(number_list& to) const override {
      to.push(at_);
      input_->save(to);
    }
    TAGMA_COLD void restore(position_reader& from) override {
      at_ = from.take(endless);
      input_->restore(from);
    }

   private:
    owned<cursor<T>> input_;
    const all_but& of_;
    extent at_ = 0;
  };

 public:
  all_but(stage_of<T> input, extent count, extent index)
      : stage_behind<T, T>(std::move(input)), count_(count), index_(index) {
    this->indexed_ = this->input_->indexed();
  }

  [[nodiscard]] extent size() const override {
    const extent all = this->input_->size();
    if (all == unknown_size || all == endless) return all;
    return all - all / count_ - (all % count_ > index_ ? 1 : 0);
  }
  got get(extent i, std::uint64_t epoch, T& to, iteration& in) const override {
    const extent rest = i % (count_ - 1);
    return datasets::get(*this->input_, i / (count_ - 1) * count_ + rest + (rest >= index_ ? 1 : 0), epoch, to, in);
  }
  [[nodiscard]] TAGMA_COLD owned<cursor<T>> start(std::uint64_t epoch, iteration& in) const override {
    return owned<cursor<T>>(new pass(datasets::start(*this->input_, epoch, in), *this));
  }
  TAGMA_COLD void describe(std::string& to) const override {
    this->input_->describe(to);
    append_parts(to, {".all_but ", count_, " ", index_});
  }

 private:
  extent count_, index_;
};

}  // namespace detail

/// The first `train` elements, and the others. Each element stays in its part: every pass of a part has the elements of
/// pass 0 of what is split, also where that is shuffled anew in each pass: `split(data.global_shuffle(7), 50'000)`. The
/// order within a part is shuffled behind: `parts.train.shuffle(1000)`.
/// @param of elements that have an order
/// @param train how many the part to train with has, if there are as many
/// Throws `invalid_argument` for a negative number, and for elements that come in any order.
template <class T>
[[nodiscard]] parts<T> split(const dataset<T>& of, extent train) {
  if (train < 0) fail(status_code::invalid_argument, {"split: ", train, " elements to train with"});
  const dataset<T> same = detail::same_in_every_pass(of, "split");
  return {same.take(train), same.skip(train)};
}

/// Fold `index` of `count`: to validate with, the elements whose number modulo `count` is `index`; to train with, all
/// others. The folds of one dataset validate with each element once. Elements stay in their parts, as of `split`.
/// @param of elements that have an order
/// @param count how many folds there are
/// @param index which of them this is, from 0
/// Throws `invalid_argument` for fewer than two folds, an index that is none of them, and elements that come in any
/// order.
template <class T>
[[nodiscard]] parts<T> fold(const dataset<T>& of, extent count, extent index) {
  if (count < 2 || index < 0 || index >= count)
    fail(status_code::invalid_argument, {"fold: number ", index, " of ", count, ", expected two folds or more"});
  const dataset<T> same = detail::same_in_every_pass(of, "fold");
  return {dataset<T>(make_counted<detail::all_but<T>>(same.stage(), count, index)), same.shard(count, index)};
}

}  // namespace tagma::datasets
