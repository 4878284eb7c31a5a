// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What `minimize` takes behind its optimizer: which variables it trains, and a learning rate that the program
/// computes.

#include "tagma/base/config.hpp"
#include "tagma/expr/literal.hpp"
#include "tagma/expr/op/arithmetic.hpp"
#include "tagma/expr/op/state.hpp"
#include "tagma/expr/rules.hpp"
#include "tagma/ir/training.hpp"
#include "tagma/nn/clip.hpp"

namespace tagma {

namespace detail {

/// True for what may stand before names: "a" or "a/b", not "a/".
[[nodiscard]] constexpr bool is_scope(std::string_view text) { return is_name(text) && !text.ends_with('/'); }

/// What is chosen to be trained by scopes: a text that tells it from other choices, and the scopes.
template <ir::scope_choice_kind Kind, fixed_string First, fixed_string... More>
struct chosen_by_scopes {
  template <fixed_string Between>
  [[nodiscard]] static constexpr auto join() {
    return (First + ... + (Between + More));
  }
  static constexpr ir::scope_choice_kind kind = Kind;
  static constexpr fixed_string scopes = join<" ">();
  static constexpr fixed_string prefix = [] {
    if constexpr (Kind == ir::scope_choice_kind::only)
      return join<".">();
    else
      return "except." + join<".">();
  }();
};

/// Some scopes of names, in which variables are trained, or are not.
template <ir::scope_choice_kind Kind, fixed_string First, fixed_string... More>
struct scope_choice {
  using chosen_scopes = chosen_by_scopes<Kind, First, More...>;
  static_assert(is_scope(First.view()) && (true && ... && is_scope(More.view())),
                "TAGMA-E160 minimize: the scopes that say what is trained are names, without '/' at their ends");
  static_assert(sizeof...(More) < 64, "TAGMA-E301 minimize: at most 64 scopes say what is trained");
};

/// True for such a choice. It says so itself: nvcc matches no partial specialisation whose arguments are names.
template <class T>
inline constexpr bool is_scope_choice = requires {
  typename T::chosen_scopes;
};

/// An option of `minimize`: the learning rate, in place of the one that the optimizer has.
template <class E>
struct learning_rate_option {
  E rate;
};

}  // namespace detail

/// An option of `minimize`: only variables inside these scopes are trained, those called "generator" or
/// "generator/...": `minimize(loss, adam{}, in_scope<"generator">)`. Inside of `scope<"a">(...)` around the optimizer,
/// names are what they are there, without "a/".
template <fixed_string Name, fixed_string... More>
inline constexpr detail::scope_choice<ir::scope_choice_kind::only, Name, More...> in_scope{};

/// An option of `minimize`: variables inside these scopes are left as they are:
/// `minimize(loss, adam{}, except_scope<"features">)` trains what stands behind frozen layers.
template <fixed_string Name, fixed_string... More>
inline constexpr detail::scope_choice<ir::scope_choice_kind::except, Name, More...> except_scope{};

namespace diagnose {
/// A learning rate that a program computes is one floating number.
template <class E>
inline constexpr bool is_learning_rate = [] {
  if constexpr (expression<E>)
    return E::rank == 0 && is_floating(E::spec.type);
  else
    return false;
}();
}  // namespace diagnose

/// An option of `minimize`: the learning rate is this expression, in place of the number that the optimizer has:
///
///     const auto rate = tg::placeholder<"rate", float>();
///     const auto train = tg::minimize(loss, tg::adam{}, tg::learning_rate(rate));  // session.run(train, rate = 0.1f)
///
/// Or a variable that the program assigns to, or a formula over the loss.
/// @param e a scalar of a floating type; it is computed in every run, before the update
/// Raises TAGMA-E303 for anything else.
template <class E>
[[nodiscard]] constexpr auto learning_rate(const E& e) {
  static_assert(diagnose::is_learning_rate<E>,
                "TAGMA-E303 learning_rate: takes a floating expression of rank 0; a number is a member of the "
                "optimizer, as in tagma::adam{.learning_rate = 0.01}");
  if constexpr (diagnose::is_learning_rate<E>) return detail::learning_rate_option<E>{e};
}

namespace detail {

/// What an option is about: of each there is at most one, but for variables.
enum class option_kind : std::uint8_t { unknown, clip, rate, scopes, variable };
template <class T>
inline constexpr option_kind kind_of_option = [] {
  if constexpr (expression<T>) return option_kind::variable;
  if constexpr (is_clip_option<T>) return option_kind::clip;
  if constexpr (is_scope_choice<T>) return option_kind::scopes;
  return option_kind::unknown;
}();
template <class E>
inline constexpr option_kind kind_of_option<learning_rate_option<E>> = option_kind::rate;

template <option_kind Kind, class... Option>
inline constexpr int options_of = (0 + ... + (kind_of_option<Option> == Kind ? 1 : 0));

}  // namespace detail

namespace diagnose {
/// Each is an option, and stands once; variables and scopes do not stand together.
template <class... Option>
inline constexpr bool are_options = detail::options_of<detail::option_kind::unknown, Option...> == 0 &&
                                    detail::options_of<detail::option_kind::clip, Option...> <= 1 &&
                                    detail::options_of<detail::option_kind::rate, Option...> <= 1 &&
                                    detail::options_of<detail::option_kind::scopes, Option...> +
                                            (detail::options_of<detail::option_kind::variable, Option...> == 0 ? 0
                                                                                                               : 1) <=
                                        1;
/// Expressions among options are variables that are trained.
template <class Option>
inline constexpr bool is_trainable = [] {
  if constexpr (expression<Option>)
    return Option::record().op->info->is(ir::op_kind::variable) && Option::record().attributes[1] != 0 &&
           Option::record().controls.empty();
  else
    return true;
}();
template <class... Option>
inline constexpr bool are_trainable = (true && ... && is_trainable<Option>);
}  // namespace diagnose

namespace detail {

/// Everything, or variables by their handles.
struct chosen_all {
  static constexpr ir::scope_choice_kind kind = ir::scope_choice_kind::all;
  static constexpr fixed_string prefix = "", scopes = "";
};
template <class First, class... More>
struct chosen_variables : chosen_all {
  static constexpr std::string_view name = First::record().full_name();
  static constexpr std::string_view names[] = {name, More::record().full_name()...};
  static constexpr ir::hash_digits digits = ir::digits_of_names(names);
  static constexpr std::string_view text = digits.view();
  static constexpr auto prefix = [] {
    if constexpr (sizeof...(More) == 0)
      return fixed_copy<&name>();
    else
      return fixed_copy<&name>() + "." + fixed_copy<&text>();
  }();
};

/// Those of some options that are variables, as a tuple.
template <class... Option>
[[nodiscard]] constexpr auto variables_among(const Option&... option) {
  return std::tuple_cat([](const auto& o) {
    if constexpr (expression<decltype(o)>)
      return std::make_tuple(o);
    else
      return std::tuple<>{};
  }(option)...);
}

/// The choice among options.
template <class... Option>
struct choice_of {
  using type = chosen_all;
};
template <class First, class... More>
struct choice_of<First, More...> : choice_of<More...> {};
template <expression First, class... More>
struct choice_of<First, More...> {
  template <class... Variable>
  static chosen_variables<Variable...> of(const std::tuple<Variable...>&);
  using type = decltype(of(variables_among(std::declval<const First&>(), std::declval<const More&>()...)));
};
template <class First, class... More>
  requires is_scope_choice<First>
struct choice_of<First, More...> {
  using type = typename First::chosen_scopes;
};

/// What the step of an optimizer is called, or another variable that belongs to what it trains.
template <class Choice, fixed_string Name>
[[nodiscard]] constexpr auto name_of_choice() {
  if constexpr (Choice::prefix.view().empty())
    return Name;
  else
    return Choice::prefix / Name;
}

/// The first of some options that clips gradients, or none.
/// @{
[[nodiscard]] constexpr clip_option<void> clip_among() { return {}; }
template <class First, class... More>
[[nodiscard]] constexpr auto clip_among(const First& first, const More&... more) {
  if constexpr (kind_of_option<First> == option_kind::clip)
    return first;
  else
    return clip_among(more...);
}
/// @}
template <class... Option>
using clip_type_among = decltype(clip_among(std::declval<const Option&>()...));

/// A node with a name, which says more of it.
template <class Op, auto Attributes, fixed_string Name, class... Inputs>
struct named_node_definition : node_definition<Op, Attributes, id_list<Inputs...>, id_list<>, void> {
  static constexpr ir::record value = [] {
    ir::record r = node_definition<Op, Attributes, id_list<Inputs...>, id_list<>, void>::value;
    if (Name.view().empty()) return r;
    r.name = Name.view();
    r.hash = hash_combine(r.hash, hash_text(r.name));
    return r;
  }();
};
/// The attributes of an optimizer's record.
template <int Pairs, int Chosen, ir::scope_choice_kind Scopes, ir::training_mode Mode>
inline constexpr auto training_attributes = ir::pack_attributes(Pairs, Chosen, Scopes, Mode);
/// The same of a loss with options.
template <ir::training_mode Mode, class... Option>
inline constexpr auto attributes_of_training =
    training_attributes<0, options_of<option_kind::variable, Option...>, choice_of<Option...>::type::kind, Mode>;

}  // namespace detail
}  // namespace tagma
