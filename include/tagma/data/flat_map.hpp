// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Stages that make a dataset of each element: flat_map, interleave.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/data/element.hpp"
#include "tagma/data/stage.hpp"

namespace tagma::datasets::detail {

/// `cycle` datasets are open at a time and visited in turn, each for `block` elements. One that has ended is left and
/// closed when that is noticed; its place is filled when the turn comes back to it. With one place this is flat_map.
template <class In, class T, class F>
class interleaved final : public stage_behind<In, T> {
  /// A dataset that is open.
  struct place {
    stage_of<T> of;
    owned<cursor<T>> at;
    number_list before;  // where the input was before the element that the dataset was made of
  };

  class pass final : public cursor<T> {
   public:
    pass(const interleaved& of, std::uint64_t epoch, iteration& in)
        : of_(of), in_(in), epoch_(epoch), input_(datasets::start(*of.input_, epoch, in)), places_(of.cycle_) {}
    got advance(T& to) override {
      while (true) {
        place& p = places_[turn_];
        if (p.at == nullptr) {
          if (!input_ended_) {
            const got g = open(p);
            if (g == got::error) go_on();
            if (g == got::error || g == got::interrupted) return g;
            input_ended_ = g == got::end;
          }
          if (p.at == nullptr) {
            if (open_ == 0 && input_ended_) return got::end;
            go_on();
            continue;
          }
        }
        const got g = p.at->next(to);
        if (g == got::interrupted) return g;
        if (g != got::end) {
          if (++in_block_ == of_.block_) go_on();
          return g;
        }
        p = {};
        --open_;
        go_on();
        if (in_.stopping()) return got::interrupted;
      }
    }
    TAGMA_COLD void save(number_list& to) const override {
      to.push(static_cast<std::int64_t>(turn_));
      to.push(in_block_);
      to.push(input_ended_ ? 1 : 0);
      for (const place& p : places_) {
        to.push(p.at != nullptr ? 1 : 0);
        if (p.at == nullptr) continue;
        to.push(p.before);
        p.at->save(to);
      }
      input_->save(to);
    }
    TAGMA_COLD void restore(position_reader& from) override {
      turn_ = static_cast<std::size_t>(from.take(static_cast<std::int64_t>(places_.size()) - 1));
      in_block_ = from.take(of_.block_);
      const bool ended = from.take(1) == 1;
      for (place& p : places_) {
        if (from.take(1) == 0) continue;
        input_ = datasets::start(*of_.input_, epoch_, in_);
        input_->restore(from);
        if (open(p) != got::element) position_reader::wrong();
        p.at->restore(from);
      }
      input_ = datasets::start(*of_.input_, epoch_, in_);
      input_->restore(from);
      input_ended_ = ended;
    }

   private:
    got open(place& p) {
      p.before.clear();
      input_->save(p.before);
      got g = input_->next(from_);
      if (g != got::element) return g;
      g = of_.open(from_, p.of, in_.error);
      if (g != got::element) return g;
      p.at = datasets::start(*p.of, epoch_, in_);
      ++open_;
      return g;
    }
    void go_on() {
      in_block_ = 0;
      if (++turn_ == places_.size()) turn_ = 0;
    }

    const interleaved& of_;
    iteration& in_;
    std::uint64_t epoch_;
    owned<cursor<In>> input_;
    std::vector<place> places_;
    In from_{};
    std::size_t turn_ = 0, open_ = 0;
    extent in_block_ = 0;
    bool input_ended_ = false;
  };

 public:
  interleaved(stage_of<In> input, F f, std::size_t cycle, extent block)
      : stage_behind<In, T>(std::move(input)), f_(std::move(f)), cycle_(cycle), block_(block) {}

  [[nodiscard]] extent size() const override { return this->input_->size() == 0 ? 0 : unknown_size; }
  [[nodiscard]] TAGMA_COLD owned<cursor<T>> start(std::uint64_t epoch, iteration& in) const override {
    return owned<cursor<T>>(new pass(*this, epoch, in));
  }
  TAGMA_COLD void describe(std::string& to) const override {
    this->input_->describe(to);
    append_parts(to, {".interleave ", cycle_, " ", block_});
  }

 private:
  [[nodiscard]] got open(In& from, stage_of<T>& to, std::exception_ptr& error) const {
    try {
      to = detail::call(f_, std::move(from));
      return got::element;
    } catch (const end_of_data&) {
      return got::end;
    } catch (...) {
      error = std::current_exception();
      return got::error;
    }
  }

  F f_;
  std::size_t cycle_;
  extent block_;
};

}  // namespace tagma::datasets::detail
