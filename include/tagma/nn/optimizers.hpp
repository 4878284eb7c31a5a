// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Optimizers with TensorFlow's formulas and defaults. `minimize` adds one update for every trainable variable behind
/// the loss; the graph compiler finds them and their gradients. Where a variable is only read by `gather` along its
/// first axis, its gradient stays sparse: the rows of one index are summed, and then these rows of the variable and of
/// its slots are updated, all others keep their bytes. Adam and AdamW move all rows, as in TensorFlow.

#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/expr/op/gradient.hpp"
#include "tagma/nn/clip.hpp"
#include "tagma/nn/initializers.hpp"
#include "tagma/nn/optimizer_updates.hpp"
#include "tagma/nn/schedules.hpp"
#include "tagma/nn/training_options.hpp"

namespace tagma {

/// Stochastic gradient descent: v -= lr * g. The rate is 0.01 by default; no slots.
struct sgd {
  rate learning_rate = 0.01;
};
/// a = momentum * a + g; v -= lr * a. With `nesterov`: v -= lr * (g + momentum * a). Momentum is 0.9 by default; the
/// slot "<variable>/momentum" begins with 0.
struct momentum {
  rate learning_rate = 0.01;
  double momentum = 0.9;
  bool nesterov = false;
};
/// a += g^2; v -= lr * g / sqrt(a). Duchi et al. 2011. There is no epsilon; the slot "<variable>/adagrad" begins with
/// 0.1, as in TensorFlow, which PyTorch begins with 0.
struct adagrad {
  rate learning_rate = 0.001;
  double initial_accumulator = 0.1;
};
/// a = rho * a + (1 - rho) * g^2; u = sqrt(b + epsilon) / sqrt(a + epsilon) * g; v -= lr * u; b = rho * b + (1 - rho) *
/// u^2. Zeiler 2012. Rho is 0.95 and epsilon 1e-8 by default; the slots "<variable>/adadelta_square" and
/// "<variable>/adadelta_update" begin with 0.
struct adadelta {
  rate learning_rate = 0.001;
  double rho = 0.95;
  double epsilon = 1e-8;
};
/// s += (g^2 - s) * (1 - rho), s begins at 1; m = momentum * m + lr * g / sqrt(s + epsilon); v -= m. Hinton 2012. Rho
/// is 0.9, momentum 0 and epsilon 1e-10 by default, as in TensorFlow 1; the slots are "<variable>/rmsprop_square" and
/// "<variable>/rmsprop_momentum". PyTorch begins s with 0, has rho 0.99, and adds 1e-8 to the root.
struct rmsprop {
  rate learning_rate = 0.001;
  double rho = 0.9;
  double momentum = 0;
  double epsilon = 1e-10;
};
/// `rmsprop` with q += (g - q) * (1 - rho) and the root of s - q^2 + epsilon; one slot more, "<variable>/rmsprop_mean",
/// begins with 0. The other two are those of `rmsprop`, and shared where both train one variable.
struct centered_rmsprop {
  rate learning_rate = 0.001;
  double rho = 0.9;
  double momentum = 0;
  double epsilon = 1e-10;
};
/// m += (g - m) * (1 - beta1); s += (g^2 - s) * (1 - beta2);
/// v -= lr * sqrt(1 - beta2^t) / (1 - beta1^t) * m / (sqrt(s) + epsilon). Kingma and Ba 2014; t counts from 1. By
/// default the rate is 0.001, beta1 0.9, beta2 0.999, epsilon 1e-8, which is added before the correction of bias, as in
/// TensorFlow: PyTorch adds it behind that. The slots "<variable>/adam_m" and "<variable>/adam_v" begin with 0.
struct adam {
  rate learning_rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
};
/// Adam after v -= lr * weight_decay * v. Loshchilov and Hutter 2017. The decay is 0.01 by default, of every variable
/// that is trained, biases among them; the slots are "<variable>/adamw_m" and "<variable>/adamw_v".
struct adamw {
  rate learning_rate = 0.001;
  double weight_decay = 0.01;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
};
/// Follow the regularised leader, McMahan et al. 2013, with the shrinkage of McMahan 2018:
/// g' = g + 2 * shrinkage * v; n = a + g^2; l += g' - (n^-p - a^-p) / lr * v;
/// v = |l| > l1 ? (sign(l) * l1 - l) / (n^-p / lr + 2 * l2) : 0; a = n; p is `power`, by default -0.5. The slots
/// "<variable>/ftrl_accumulator", which begins with 0.1, and "<variable>/ftrl_linear", with 0.
struct ftrl {
  rate learning_rate = 0.001;
  double power = -0.5;
  double initial_accumulator = 0.1;
  double l1 = 0;
  double l2 = 0;
  double shrinkage = 0;
};

namespace detail {

/// What the graph compiler needs to know of an optimizer: its update, and its numbers beside the learning rate.
template <class Optimizer>
struct optimizer_traits;
template <class Optimizer>
concept optimizer = requires {
  sizeof(optimizer_traits<Optimizer>);
};

template <>
struct optimizer_traits<sgd> {
  using update = op::apply_sgd;
  static constexpr fixed_string step = "sgd/step";
  static fixed_array<double, 0> numbers(const sgd&) { return {}; }
};
template <>
struct optimizer_traits<momentum> {
  using update = op::apply_momentum;
  static constexpr fixed_string step = "momentum/step";
  static fixed_array<double, 2> numbers(const momentum& o) { return {o.momentum, o.nesterov ? 1.0 : 0.0}; }
};
template <>
struct optimizer_traits<adagrad> {
  using update = op::apply_adagrad;
  static constexpr fixed_string step = "adagrad/step";
  static fixed_array<double, 1> numbers(const adagrad& o) { return {o.initial_accumulator}; }
};
template <>
struct optimizer_traits<adadelta> {
  using update = op::apply_adadelta;
  static constexpr fixed_string step = "adadelta/step";
  static fixed_array<double, 2> numbers(const adadelta& o) { return {o.rho, o.epsilon}; }
};
template <>
struct optimizer_traits<rmsprop> {
  using update = op::apply_rmsprop;
  static constexpr fixed_string step = "rmsprop/step";
  static fixed_array<double, 3> numbers(const rmsprop& o) { return {o.rho, o.momentum, o.epsilon}; }
};
template <>
struct optimizer_traits<centered_rmsprop> {
  using update = op::apply_centered_rmsprop;
  static constexpr fixed_string step = "centered_rmsprop/step";
  static fixed_array<double, 3> numbers(const centered_rmsprop& o) { return {o.rho, o.momentum, o.epsilon}; }
};
template <>
struct optimizer_traits<adam> {
  using update = op::apply_adam;
  static constexpr fixed_string step = "adam/step";
  static fixed_array<double, 3> numbers(const adam& o) { return {o.beta1, o.beta2, o.epsilon}; }
};
template <>
struct optimizer_traits<adamw> {
  using update = op::apply_adamw;
  static constexpr fixed_string step = "adamw/step";
  static fixed_array<double, 4> numbers(const adamw& o) { return {o.beta1, o.beta2, o.epsilon, o.weight_decay}; }
};
template <>
struct optimizer_traits<ftrl> {
  using update = op::apply_ftrl;
  static constexpr fixed_string step = "ftrl/step";
  static fixed_array<double, 5> numbers(const ftrl& o) {
    return {o.power, o.initial_accumulator, o.l1, o.l2, o.shrinkage};
  }
};

template <class Optimizer>
using number_sequence =
    std::make_index_sequence<decltype(optimizer_traits<Optimizer>::numbers(std::declval<const Optimizer&>()))::size()>;

template <class Place, class E>
[[nodiscard]] TAGMA_INLINE constexpr auto as_float64(const E& e) {
  if constexpr (std::is_same_v<typename E::element_type, double>)
    return e;
  else
    return make_node<op::cast, ir::pack_attributes(dtype::float64), Place>(e);
}

/// The learning rate among options, or else the one of the optimizer.
/// @{
template <class Place, class Step>
[[nodiscard]] TAGMA_INLINE auto rate_among(const Step& step, const rate& own) {
  return make_rate<part<Place, 1>>(step, own);
}
template <class Place, class Step, class First, class... More>
[[nodiscard]] TAGMA_INLINE auto rate_among(const Step& step, const rate& own, const First& first, const More&... more) {
  if constexpr (kind_of_option<First> != option_kind::rate)
    return rate_among<Place>(step, own, more...);
  else
    return as_float64<part<Place, 1>>(first.rate);
}
/// @}

/// The record of an optimizer over handles.
template <class Op, auto Attributes, class Choice, class Place, class... E>
[[nodiscard]] TAGMA_INLINE auto make_training_node(const E&... e) {
  return make_handle<named_node_definition<Op, Attributes, Choice::scopes, typename E::id...>, Place>(e...);
}

/// @tparam Attributes of the record
/// @tparam First whose element type bounds have
/// @param operands a tuple: the loss and variables, or variables and gradients by turns; then a counter of batches, if
/// these are accumulated
template <class Place, auto Attributes, class First, class Optimizer, class... E, class... Option>
[[nodiscard]] TAGMA_INLINE auto make_optimizer(const Optimizer& o, const std::tuple<E...>& operands,
                                               const Option&... option) {
  using traits = optimizer_traits<Optimizer>;
  using choice = typename choice_of<Option...>::type;
  const auto step = variable<name_of_choice<choice, traits::step>(), std::int64_t>(zeros, not_trainable);
  [[maybe_unused]] const auto numbers = traits::numbers(o);
  const auto clip = clip_among(option...);
  using clipping = clipping_of<decltype(clip)>;
  return [&]<std::size_t... I, std::size_t... N, int... B>(std::index_sequence<I...>, std::index_sequence<N...>,
                                                           std::integer_sequence<int, B...>)
      __attribute__((always_inline)) {
    return make_training_node<op::optimizer<typename traits::update, typename clipping::type, clipping::bounds>,
                              Attributes, choice, part<Place, 0>>(
        std::get<I>(operands)...,
        as_expression<typename First::element_type, part<Place, 3 + B>, 0>(
            std::get<static_cast<std::size_t>(B)>(clip.bounds))...,
        rate_among<Place>(step, o.learning_rate, option...), step,
        literal_at<double, part<Place, 2>, static_cast<int>(N)>(numbers[N])...);
  }
  (std::index_sequence_for<E...>{}, number_sequence<Optimizer>{}, std::make_integer_sequence<int, clipping::bounds>{});
}

/// The operands of an optimizer, from pairs of variable and gradient: the even ones are variables.
template <std::size_t I, class Pairs>
[[nodiscard]] TAGMA_INLINE constexpr const auto& operand_of(const Pairs& pairs) {
  if constexpr (I % 2 == 0)
    return std::get<I / 2>(pairs).first;
  else
    return std::get<I / 2>(pairs).second;
}

}  // namespace detail

namespace diagnose {
/// The graph compiler knows how it updates variables.
template <class Optimizer>
inline constexpr bool is_optimizer = detail::optimizer<Optimizer>;
/// The formula of an optimizer of one's own sets the value once, and each slot that it lists at most once.
template <class Optimizer>
inline constexpr bool has_sound_formula = true;
}  // namespace diagnose

/// Who trains needs an optimizer.
#define TAGMA_NEEDS_OPTIMIZER(Who, Optimizer)                                                                          \
  static_assert(diagnose::is_optimizer<Optimizer>,                                                                     \
                "TAGMA-E175 " Who ": needs an optimizer, such as tagma::sgd{.learning_rate = 0.01} or tagma::adam{}"); \
  static_assert(diagnose::has_sound_formula<Optimizer>,                                                                \
                "TAGMA-E304 " Who                                                                                      \
                ": the formula of an optimizer sets the value once and each slot at most once, of at "                 \
                "most 8, with suffixes that differ, such as \"/mine_m\", and takes at most 16 numbers")

/// The options of who trains.
#define TAGMA_NEEDS_OPTIONS(Who, ...)                                                                               \
  static_assert(::tagma::diagnose::are_options<__VA_ARGS__>,                                                        \
                "TAGMA-E301 " Who                                                                                   \
                ": behind the optimizer stand, each once, a way to clip gradients, learning_rate(...), and either " \
                "variables, or in_scope<\"name\"> or except_scope<\"name\">");                                      \
  static_assert(::tagma::diagnose::are_trainable<__VA_ARGS__>,                                                      \
                "TAGMA-E302 " Who ": what is to be trained must be variables, without tagma::not_trainable")

/// What stands in the parentheses of who trains.
#define TAGMA_NEEDS_TRAINING(Who, Loss, Optimizer, Option)                                                  \
  static_assert(diagnose::is_scalar_loss<typename Loss::spec_type>,                                         \
                "TAGMA-E062 " Who ": the loss must be one floating number; use tagma::mean or tagma::sum"); \
  TAGMA_NEEDS_OPTIONS(Who, Option...);                                                                      \
  static_assert(detail::bounds_first<detail::clip_type_among<Option...>, Loss>,                             \
                "TAGMA-E143 clip: the bound must be a number or a scalar of the element type of the loss"); \
  TAGMA_NEEDS_OPTIMIZER(Who, Optimizer)
#define TAGMA_HAS_TRAINING(Loss, Optimizer, Option)                                           \
  (diagnose::is_scalar_loss<typename Loss::spec_type> && diagnose::is_optimizer<Optimizer> && \
   diagnose::are_options<Option...> && diagnose::are_trainable<Option...> &&                  \
   detail::bounds_first<detail::clip_type_among<Option...>, Loss>)

/// One step of training: updates the trainable variables that the loss depends on, then counts the step in the
/// variable "<optimizer>/step", int64. What an optimizer keeps of a variable is a variable as well, a slot. Layers that
/// keep averages, as `batch_norm`, move them in the same step, if it trains their parameters.
///
///     tg::minimize(loss, tg::adam{});                                     // everything
///     tg::minimize(loss, tg::adam{}, kernel, bias);                       // these variables
///     tg::minimize(loss, tg::adam{}, tg::in_scope<"generator">);          // what is called "generator/..."
///     tg::minimize(loss, tg::adam{}, tg::except_scope<"features">, tg::clip_by_global_norm(1.0));
///
/// Optimizers of one program with several choices count steps for themselves: "generator/adam/step",
/// "except.features/adam/step", "kernel/adam/step" for one variable, and for several the name of the first and a number
/// that stands for all. Slots belong to the variable: two optimizers of one kind that train it share them, but for
/// adagrad and ftrl, whose slots begin with a number of the optimizer (TAGMA-E161).
/// @param loss one floating number
/// @param optimizer `sgd{}`, `momentum{}`, `adagrad{}`, `adadelta{}`, `rmsprop{}`, `centered_rmsprop{}`, `adam{}`,
/// `adamw{}`, `ftrl{}`, or one of your own (`own_optimizer`)
/// @param options in any order, each at most once: how gradients are clipped (`clip_by_value(low, high)`,
/// `clip_by_norm(bound)`, `clip_by_global_norm(bound)`), `learning_rate(expression)`, and what is trained: variables,
/// `in_scope<"name", ...>` or `except_scope<"name", ...>`; by default every trainable variable
/// Raises TAGMA-E062 if the loss is no floating scalar, TAGMA-E175 if there is no optimizer, TAGMA-E143 if a bound is
/// neither a number nor a scalar expression of the type of the loss, TAGMA-E301 for another option, TAGMA-E302 for a
/// variable that is not trainable; when compiled, TAGMA-E061, TAGMA-E063, TAGMA-E064 for a variable that the loss does
/// not depend on, TAGMA-E300 for a scope without variables.
template <expression L, class Optimizer, class... Option, class Place = TAGMA_FRESH_TYPE(L)>
[[nodiscard]] auto minimize(const L& loss, const Optimizer& optimizer, const Option&... options) {
  TAGMA_NEEDS_TRAINING("minimize", L, Optimizer, Option);
  if constexpr (TAGMA_HAS_TRAINING(L, Optimizer, Option)) {
    return detail::make_optimizer<Place, detail::attributes_of_training<ir::training_mode::update, Option...>, L>(
        optimizer, std::tuple_cat(std::make_tuple(loss), detail::variables_among(options...)), options...);
  }
}

/// Two nodes that train with the gradients of several batches.
template <expression Add, expression Apply>
struct accumulated_training {
  Add add;      ///< adds the gradients of a batch; fed like the loss
  Apply apply;  ///< updates the variables by the mean of what was added, then begins anew; needs no batch
};

/// Training with batches that are larger than memory: `add` is run for each part of a batch, then `apply` once.
///
///     const auto parts = tg::accumulate(loss, tg::adam{});
///     tg::session session(tg::compile([=] { return tg::outputs(parts.add, parts.apply); }));
///     for (int i = 0; i < 4; ++i) session.run(parts.add, x = images[i], labels = classes[i]);
///     session.run(parts.apply);
///
/// The variables change as by `minimize` with the mean of the gradients: with parts of one size and a loss that is a
/// mean, with the gradient of the whole batch. Clipping and the learning rate are applied to that mean. Sums are kept
/// in the slots "<variable>/accumulated", of the type of the variable, and the number of parts in "accumulated/count",
/// which has the same prefix as the step. Two calls that train one variable share its sum, so one is applied before the
/// other adds. In one run the order is asked for: `after(parts.add)(parts.apply)`; fetched together without it, `apply`
/// reads the sums before and clears what is added. Layers that keep averages move them by `add`. Without a part,
/// `apply` has gradients of 0.
/// @param loss,optimizer,options as of `minimize`, which see for errors
template <expression L, class Optimizer, class... Option, class Place = TAGMA_FRESH_TYPE(L)>
[[nodiscard]] auto accumulate(const L& loss, const Optimizer& optimizer, const Option&... options) {
  TAGMA_NEEDS_TRAINING("accumulate", L, Optimizer, Option);
  if constexpr (TAGMA_HAS_TRAINING(L, Optimizer, Option)) {
    using choice = typename detail::choice_of<Option...>::type;
    const auto count =
        variable<detail::name_of_choice<choice, "accumulated/count">(), std::int64_t>(zeros, not_trainable);
    const auto operands =
        std::tuple_cat(std::make_tuple(loss), detail::variables_among(options...), std::make_tuple(count));
    const auto adding = std::apply(
        [](const auto&... e) {
          return detail::make_training_node<op::accumulate_gradients,
                                            detail::attributes_of_training<ir::training_mode::accumulate, Option...>,
                                            choice, detail::part<Place, 8>>(e...);
        },
        operands);
    const auto applying =
        detail::make_optimizer<Place, detail::attributes_of_training<ir::training_mode::apply, Option...>, L>(
            optimizer, operands, options...);
    return accumulated_training<std::remove_cv_t<decltype(adding)>, std::remove_cv_t<decltype(applying)>>{adding,
                                                                                                          applying};
  }
}

/// A node that moves the averages of all layers for training that `e` depends on, and trains nothing: for averages that
/// are computed anew for a finished model, or for training by updates of your own.
/// Raises TAGMA-E306 when compiled if there is no such layer.
template <expression E>
[[nodiscard]] constexpr auto update_averages(const E& e) {
  return detail::make_node<op::update_averages,
                           detail::training_attributes<0, 0, ir::scope_choice_kind::all, ir::training_mode::averages>>(
      e);
}

/// The gradients of a loss by variables, as pairs for `apply_gradients`: change them in between.
/// Raises TAGMA-E065 for what is no variable.
template <expression L, expression... V>
[[nodiscard]] TAGMA_INLINE constexpr auto compute_gradients(const L& loss, const V&... variables) {
  static_assert((true && ... && diagnose::is_variable<V>),
                "TAGMA-E065 compute_gradients: the operands must be variables");
  return std::make_tuple(std::make_pair(variables, gradient(loss, variables))...);
}

/// Updates variables with given gradients.
/// @param pairs a tuple of pairs (variable, gradient), as `compute_gradients` returns
/// @param options how gradients are clipped, and `learning_rate(...)`, as of `minimize`
/// Raises TAGMA-E065, TAGMA-E175, TAGMA-E301, and TAGMA-E143 if a bound is neither a number nor a scalar expression of
/// the type of the first gradient.
template <class Optimizer, expression... V, expression... G, class... Option, class Place = TAGMA_FRESH_TYPE(Optimizer)>
  requires(sizeof...(V) > 0)
[[nodiscard]] TAGMA_INLINE auto apply_gradients(const Optimizer& optimizer, const std::tuple<std::pair<V, G>...>& pairs,
                                                const Option&... options) {
  static_assert((true && ... && diagnose::is_variable<V>),
                "TAGMA-E065 apply_gradients: the first of each pair must be a variable");
  static_assert(diagnose::are_options<Option...> &&
                    std::is_same_v<typename detail::choice_of<Option...>::type, detail::chosen_all>,
                "TAGMA-E301 apply_gradients: behind the pairs stand, each once, a way to clip gradients and "
                "learning_rate(...)");
  static_assert(detail::bounds_first<detail::clip_type_among<Option...>, G...>,
                "TAGMA-E143 clip: the bound must be a number or a scalar of the element type of the gradients");
  TAGMA_NEEDS_OPTIMIZER("apply_gradients", Optimizer);
  if constexpr (diagnose::is_optimizer<Optimizer> && diagnose::are_options<Option...> &&
                detail::bounds_first<detail::clip_type_among<Option...>, G...>)
    return [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
      return detail::make_optimizer<Place,
                                    detail::training_attributes<static_cast<int>(sizeof...(V)), 0,
                                                                ir::scope_choice_kind::all, ir::training_mode::update>,
                                    typename detail::operands_of<G...>::first>(
          optimizer, std::make_tuple(detail::operand_of<I>(pairs)...), options...);
    }
  (std::make_index_sequence<2 * sizeof...(V)>{});
}

}  // namespace tagma

#undef TAGMA_NEEDS_OPTIONS
#undef TAGMA_NEEDS_TRAINING
#undef TAGMA_HAS_TRAINING
#undef TAGMA_NEEDS_OPTIMIZER
