// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Stages that look at each element by itself: map, filter, and what to do about errors.

#include <cstdint>
#include <exception>
#include <string>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/data/element.hpp"
#include "tagma/data/stage.hpp"

namespace tagma::datasets::detail {

/// Calls a function of an element. What it throws is the error of that element; `end_of_data` is the end.
/// A function of this library may fill the element that was there before, by `assign`.
template <class F, class In, class Out>
[[nodiscard]] got apply(const F& f, In& from, Out& to, std::exception_ptr& error, iteration& in) {
  try {
    if constexpr (requires { f.assign(to, from); })
      f.assign(to, from);
    else
      to = detail::call(f, std::move(from));
    return got::element;
  } catch (const end_of_data&) {
    in.note_end_by_function();
    return got::end;
  } catch (...) {
    error = std::current_exception();
    return got::error;
  }
}
template <class F, class In, class Out>
[[nodiscard]] got apply(const F& f, In& from, Out& to, iteration& in) {
  return detail::apply(f, from, to, in.error, in);
}

template <class In, class Out, class F>
class map_stage final : public stage_behind<In, Out> {
  class pass final : public cursor<Out> {
   public:
    pass(owned<cursor<In>> input, const F& f, iteration& in) : input_(std::move(input)), f_(f), in_(in) {}
    got advance(Out& to) override {
      if (ended_) return got::end;
      got g = input_->next(from_);
      if (g == got::element) g = detail::apply(f_, from_, to, in_);
      ended_ = g == got::end;
      return g;
    }
    TAGMA_COLD got pass_by(extent& n) override { return ended_ ? got::end : input_->skip(n); }
    TAGMA_COLD void save(number_list& to) const override {
      to.push(ended_ ? 1 : 0);
      input_->save(to);
    }
    TAGMA_COLD void restore(position_reader& from) override {
      ended_ = from.take(1) == 1;
      input_->restore(from);
    }

   private:
    owned<cursor<In>> input_;
    const F& f_;
    iteration& in_;
    In from_{};
    bool ended_ = false;
  };

 public:
  map_stage(stage_of<In> input, F f) : stage_behind<In, Out>(std::move(input)), f_(std::move(f)) {
    this->indexed_ = this->input_->indexed();
  }

  got get(extent i, std::uint64_t epoch, Out& to, iteration& in) const override {
    In from{};
    const got g = datasets::get(*this->input_, i, epoch, from, in);
    return g == got::element ? detail::apply(f_, from, to, in) : g;
  }
  [[nodiscard]] TAGMA_COLD owned<cursor<Out>> start(std::uint64_t epoch, iteration& in) const override {
    return owned<cursor<Out>>(new pass(datasets::start(*this->input_, epoch, in), f_, in));
  }
  TAGMA_COLD void describe(std::string& to) const override {
    this->input_->describe(to);
    to += ".map";
  }

 private:
  F f_;
};

template <class T, class F>
class filter_stage final : public stage_behind<T, T> {
  class pass final : public cursor<T> {
   public:
    pass(owned<cursor<T>> input, const F& f, iteration& in) : input_(std::move(input)), f_(f), in_(in) {}
    got advance(T& to) override {
      while (true) {
        const got g = ended_ ? got::end : input_->next(to);
        if (g != got::element) return g;
        bool kept = false;
        const T& seen = to;
        const got judged = detail::apply(f_, seen, kept, in_);
        ended_ = judged == got::end;
        if (judged == got::error || kept) return judged;
        if (in_.stopping()) return got::interrupted;
      }
    }
    TAGMA_COLD void save(number_list& to) const override {
      to.push(ended_ ? 1 : 0);
      input_->save(to);
    }
    TAGMA_COLD void restore(position_reader& from) override {
      ended_ = from.take(1) == 1;
      input_->restore(from);
    }

   private:
    owned<cursor<T>> input_;
    const F& f_;
    iteration& in_;
    bool ended_ = false;
  };

 public:
  filter_stage(stage_of<T> input, F f) : stage_behind<T, T>(std::move(input)), f_(std::move(f)) {}

  [[nodiscard]] extent size() const override { return this->input_->size() == 0 ? 0 : unknown_size; }
  [[nodiscard]] TAGMA_COLD owned<cursor<T>> start(std::uint64_t epoch, iteration& in) const override {
    return owned<cursor<T>>(new pass(datasets::start(*this->input_, epoch, in), f_, in));
  }
  TAGMA_COLD void describe(std::string& to) const override {
    this->input_->describe(to);
    to += ".filter";
  }

 private:
  F f_;
};

/// Leaves elements out that are errors, and tells a function of them.
template <class T, class F>
class handled_errors final : public stage_behind<T, T> {
  class pass final : public cursor<T> {
   public:
    pass(owned<cursor<T>> input, const F& f, iteration& in) : input_(std::move(input)), f_(f), in_(in) {}
    got advance(T& to) override {
      while (true) {
        const got g = input_->next(to);
        if (g != got::error) return g;
        try {
          f_(in_.take_error());
        } catch (...) {
          in_.error = std::current_exception();
          return got::error;
        }
        if (in_.stopping()) return got::interrupted;
      }
    }
    TAGMA_COLD void save(number_list& to) const override { input_->save(to); }
    TAGMA_COLD void restore(position_reader& from) override { input_->restore(from); }

   private:
    owned<cursor<T>> input_;
    const F& f_;
    iteration& in_;
  };

 public:
  handled_errors(stage_of<T> input, F f) : stage_behind<T, T>(std::move(input)), f_(std::move(f)) {}

  [[nodiscard]] extent size() const override { return this->input_->size() == 0 ? 0 : unknown_size; }
  [[nodiscard]] TAGMA_COLD owned<cursor<T>> start(std::uint64_t epoch, iteration& in) const override {
    return owned<cursor<T>>(new pass(datasets::start(*this->input_, epoch, in), f_, in));
  }
  TAGMA_COLD void describe(std::string& to) const override {
    this->input_->describe(to);
    to += ".on_error";
  }

 private:
  F f_;
};

}  // namespace tagma::datasets::detail
