// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A function that somebody hands over to be called later. std::function is the same; its header, with hash tables and
/// more, costs every program that includes it a tenth of a second.

#include <type_traits>
#include <utility>

#include "tagma/base/counted.hpp"

namespace tagma {

template <class Signature>
class callback;

/// A function, or none: whatever can be called with these arguments. Copies call the same object. What converts to bool
/// when asked, as std::function, and is false, is no function.
template <class Result, class... Argument>
class callback<Result(Argument...)> {
 public:
  callback() = default;
  callback(decltype(nullptr)) {}
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, callback> && requires(std::decay_t<F> & g, Argument&&... a) {
      g(static_cast<Argument&&>(a)...);
    } && std::is_invocable_r_v<Result, std::decay_t<F>&, Argument...>)
  callback(F&& f) {
    using function = std::decay_t<F>;
    if constexpr (std::is_pointer_v<std::remove_cvref_t<F>>) {
      if (f == nullptr) return;
    } else if constexpr (std::is_class_v<function> && std::is_constructible_v<bool, const function&> &&
                         !std::is_convertible_v<function, bool>) {
      if (!static_cast<bool>(f)) return;  // an empty std::function
    }
    held_ = counted<held>(new of<function>(std::forward<F>(f)));
  }

  [[nodiscard]] explicit operator bool() const { return static_cast<bool>(held_); }
  /// There is a function.
  Result operator()(Argument... argument) const { return held_->call(static_cast<Argument&&>(argument)...); }

 private:
  struct held : counted_object {
    virtual Result call(Argument... argument) = 0;
  };
  template <class F>
  struct of final : held {
    template <class G>
    explicit of(G&& g) : f(std::forward<G>(g)) {}
    Result call(Argument... argument) override {
      if constexpr (std::is_void_v<Result>)
        static_cast<void>(f(static_cast<Argument&&>(argument)...));
      else
        return f(static_cast<Argument&&>(argument)...);
    }
    F f;
  };

  counted<held> held_;
};

}  // namespace tagma
