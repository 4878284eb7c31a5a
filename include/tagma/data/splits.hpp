// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Datasets in two parts: one to train with, one to validate with.

#include <string>
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

/// The first `train` elements, and the others. What is shuffled before is shuffled alike in every pass:
/// `split(data.global_shuffle(7, {.reshuffle = false}), 50'000)`; the order within a part is shuffled behind.
/// Throws `invalid_argument` for a negative number.
template <class T>
[[nodiscard]] parts<T> split(const dataset<T>& of, extent train) {
  if (train < 0) fail(status_code::invalid_argument, {"split: ", train, " elements to train with"});
  return {of.take(train), of.skip(train)};
}

/// Fold `index` of `count`: to validate with, the elements whose number modulo `count` is `index`; to train with, all
/// others. The folds of one dataset validate with each element once.
/// Throws `invalid_argument` for fewer than two folds, or an index that is none of them.
template <class T>
[[nodiscard]] parts<T> fold(const dataset<T>& of, extent count, extent index) {
  if (count < 2 || index < 0 || index >= count)
    fail(status_code::invalid_argument, {"fold: number ", index, " of ", count, ", expected two folds or more"});
  return {dataset<T>(make_counted<detail::all_but<T>>(of.stage(), count, index)), of.shard(count, index)};
}

}  // namespace tagma::datasets
