// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Optimizers with TensorFlow's formulas and defaults. `minimize` adds one update for every trainable variable behind
/// the loss; the graph compiler finds them and their gradients. Where a variable is only read by `gather` along its
/// first axis, its gradient stays sparse: the rows of one index are summed, and then these rows of the variable and of
/// its slots are updated, all others keep their bytes. Adam and AdamW move all rows, as in TensorFlow.

#include <utility>

#include "tagma/base/array_view.hpp"
#include "tagma/base/config.hpp"
#include "tagma/expr/op/arithmetic.hpp"
#include "tagma/expr/op/control.hpp"
#include "tagma/expr/op/gather.hpp"
#include "tagma/expr/op/gradient.hpp"
#include "tagma/expr/op/state.hpp"
#include "tagma/nn/clip.hpp"
#include "tagma/nn/initializers.hpp"
#include "tagma/nn/schedules.hpp"

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
/// begins with 0.
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

namespace op {

/// A slot of an optimizer: its suffix, and how it begins: a number, or the input of the optimizer that holds it.
struct slot {
  std::string_view suffix;
  double initial = 0;
  int input = -1;
};

/// Base of the tags of optimizer updates. Inputs: the variable, one tensor of its type for each slot, which the update
/// also writes, the gradient, the learning rate, the step, and the other numbers; all numbers are float64 scalars.
template <int Slots, int Numbers>
struct optimizer_update : update {
  /// True if a sparse gradient moves the rows that it lacks as well, as a gradient of zero would.
  static constexpr bool moves_all_rows = false;
  static constexpr int inputs = 4 + Slots + Numbers;
  /// All but the gradient.
  static constexpr void takes_state(auto& t) {
    t.float_at(0), t.variable(0);
    for (int i = 1; i <= Slots; ++i)
      t.variable(i), t.needs(t.in(i) == t.in(0), "a slot has the type and shape of its variable");
    for (int i = 2 + Slots; i < inputs; ++i) t.scalar(i), i == 3 + Slots ? t.int64_at(i) : t.float64_at(i);
  }
  static constexpr void takes(auto& t) { t.inputs(inputs), takes_state(t), t.alike(1 + Slots), t.rule("TAGMA-E066"); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = a.in[0];
    return compatible(a.in[0].dims, a.in[1 + Slots].dims) ? nullptr
                                                          : "the gradient has another shape than the variable";
  }
};

struct apply_sgd : optimizer_update<0, 0> {
  static constexpr const char *name = "apply_sgd", *rows_name = "apply_sgd_rows";
  static constexpr fixed_array<slot, 0> slots{};
};
struct apply_momentum : optimizer_update<1, 2> {
  static constexpr const char *name = "apply_momentum", *rows_name = "apply_momentum_rows";
  static constexpr fixed_array<slot, 1> slots{slot{"/momentum"}};
};
struct apply_adagrad : optimizer_update<1, 1> {
  static constexpr const char *name = "apply_adagrad", *rows_name = "apply_adagrad_rows";
  static constexpr fixed_array<slot, 1> slots{slot{"/adagrad", 0, 2}};
};
struct apply_adadelta : optimizer_update<2, 2> {
  static constexpr const char *name = "apply_adadelta", *rows_name = "apply_adadelta_rows";
  static constexpr fixed_array<slot, 2> slots{slot{"/adadelta_square"}, slot{"/adadelta_update"}};
};
struct apply_rmsprop : optimizer_update<2, 3> {
  static constexpr const char *name = "apply_rmsprop", *rows_name = "apply_rmsprop_rows";
  static constexpr fixed_array<slot, 2> slots{slot{"/rmsprop_square", 1}, slot{"/rmsprop_momentum"}};
};
struct apply_centered_rmsprop : optimizer_update<3, 3> {
  static constexpr const char *name = "apply_centered_rmsprop", *rows_name = "apply_centered_rmsprop_rows";
  static constexpr fixed_array<slot, 3> slots{slot{"/rmsprop_square", 1}, slot{"/rmsprop_momentum"},
                                              slot{"/rmsprop_mean"}};
};
struct apply_adam : optimizer_update<2, 3> {
  static constexpr const char *name = "apply_adam", *rows_name = "apply_adam_rows";
  static constexpr bool moves_all_rows = true;
  static constexpr fixed_array<slot, 2> slots{slot{"/adam_m"}, slot{"/adam_v"}};
};
struct apply_adamw : optimizer_update<2, 4> {
  static constexpr const char *name = "apply_adamw", *rows_name = "apply_adamw_rows";
  static constexpr bool moves_all_rows = true;
  static constexpr fixed_array<slot, 2> slots{slot{"/adamw_m"}, slot{"/adamw_v"}};
};
struct apply_ftrl : optimizer_update<2, 5> {
  static constexpr const char *name = "apply_ftrl", *rows_name = "apply_ftrl_rows";
  static constexpr fixed_array<slot, 2> slots{slot{"/ftrl_accumulator", 0, 3}, slot{"/ftrl_linear"}};
};

/// The same update for a sparse gradient. It is given by parts, as many as attribute 0 says: a part has rows and the
/// index that each row goes to. Inputs: as those of `Update`, with the rows of the first part for the gradient; then
/// its indices, and rows and indices of the other parts.
template <class Update>
struct apply_rows : update {
  static constexpr std::string_view name = Update::rows_name;
  static constexpr std::size_t slots = Update::slots.size();

  /// The input that has the rows or the indices of a part.
  static constexpr std::size_t rows_input(std::size_t inputs, std::size_t parts, std::size_t part) {
    return part == 0 ? 1 + slots : inputs - 2 * (parts - part);
  }
  static constexpr std::size_t index_input(std::size_t inputs, std::size_t parts, std::size_t part) {
    return inputs + 1 - 2 * (parts - part);
  }
  static constexpr void takes(auto& t) {
    const extent parts = t.attribute("parts", 1, 16);
    t.inputs(Update::inputs + 2 * parts - 1), Update::takes_state(t), t.axes(0, 1);
    const auto all = static_cast<std::size_t>(t.count()), count = static_cast<std::size_t>(parts);
    for (std::size_t p = 0; t.fine() && p < count; ++p)
      t.alike(static_cast<int>(rows_input(all, count, p))), t.index_at(static_cast<int>(index_input(all, count, p)));
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = a.in[0];
    const auto parts = static_cast<std::size_t>(a.attributes[0]);
    for (std::size_t p = 0; p < parts; ++p) {
      const tensor_spec part[] = {a.in[rows_input(a.in.size(), parts, p)], a.in[index_input(a.in.size(), parts, p)],
                                  a.out};
      const ir::attribute axis = 0;
      ir::infer_args rows{part, {&axis, 1}, {}};
      if (const char* problem = scatter_rows::infer(rows)) return problem;
    }
    return nullptr;
  }
};

/// The parts of a gradient that is a sum of rows of a variable: a lookup each.
struct sparse_gradient {
  static constexpr std::size_t limit = 16;
  ir::node_id parts[limit]{};
  std::size_t count = 0;

  /// Finds the parts of a gradient of `variable`; false if some of the gradient is dense.
  constexpr bool add(const ir::graph& g, ir::node_id gradient, ir::node_id variable) {
    const ir::node& n = g[gradient];
    if (n.op->info->key == &ir::key<op::add> && g.spec(g.input(gradient, 0)) == n.spec &&
        g.spec(g.input(gradient, 1)) == n.spec)
      return add(g, g.input(gradient, 0), variable) && add(g, g.input(gradient, 1), variable);
    if (n.op->info->key != &ir::key<scatter_rows> || g.attributes(gradient)[0] != 0 || count == limit) return false;
    // Rows of the variable itself would change while they are read.
    ir::node_id from = g.input(gradient, 0);
    while (g.info(from).shares_bytes()) from = g.input(from, 0);
    parts[count++] = gradient;
    return from != variable;
  }
};

/// The node that the graph compiler replaces by one `Update` for each variable, and by a count of the steps.
/// Inputs of the expansion: the bounds of `Clip`, the learning rate, the step, the other numbers.
/// @tparam Clip how gradients are clipped before, as `clip_gradients_by_norm`, or void
template <class Update, class Clip = void, int Bounds = 0>
struct optimizer {
  static constexpr std::string_view name = Update::name;
  static constexpr ir::op_kind kind = ir::op_kind::optimizer;
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {};
    return nullptr;
  }

  static constexpr void expand(ir::expand_args& e) {
    if constexpr (Bounds > 0) {
      scratch_array<ir::variable_gradient, 64> clipped(e.gradients.size());
      for (std::size_t i = 0; i < e.gradients.size(); ++i) clipped[i] = e.gradients[i];
      Clip::apply(e, clipped.view());
      ir::expand_args rest{{e.g}, e.inputs.subspan(Bounds), e.attributes, clipped.view()};
      optimizer<Update>::expand(rest);
      e.result = rest.result;
    } else {
      update_all(e);
    }
  }

 private:
  static constexpr void update_all(ir::expand_args& e) {
    scratch_array<ir::node_id, 64> updates(e.gradients.size());
    std::size_t count = 0;
    for (const ir::variable_gradient& pair : e.gradients) {
      ir::node_id inputs[16 + 2 * sparse_gradient::limit]{pair.variable};
      std::size_t n = 1;
      const tensor_spec spec = e.g.spec(pair.variable);
      for (const slot& s : Update::slots) {
        const bool given = s.input >= 0;
        const auto attributes = ir::pack_attributes(
            given ? tagma::detail::literal_kind : static_cast<ir::attribute>(initializer_kind::derived), 0, s.initial);
        const std::int32_t value = given ? e.g[e.inputs[s.input]].value : -1;
        inputs[n++] = e.g.emit_as(*ir::rules_for<variable, Update>, spec, {}, attributes.list(),
                                  {{}, e.g[pair.variable].name, s.suffix, value, {}});
      }
      sparse_gradient sparse;
      const bool by_rows = sparse.add(e.g, pair.gradient, pair.variable);
      inputs[n++] = by_rows ? e.g.input(sparse.parts[0], 0) : pair.gradient;
      for (const ir::node_id i : e.inputs) inputs[n++] = i;
      if (by_rows) {
        for (std::size_t p = 0; p < sparse.count; ++p) {
          if (p > 0) inputs[n++] = e.g.input(sparse.parts[p], 0);
          inputs[n++] = e.g.input(sparse.parts[p], 1);
        }
        updates[count++] =
            e.g.emit(ir::rules<apply_rows<Update>>, {inputs, n}, ir::pack_attributes(sparse.count).list());
      } else {
        updates[count++] = e.g.emit(ir::rules<Update>, {inputs, n});
      }
      if (e.g.overflow()) return;
    }
    const ir::node_id counted[] = {e.inputs[1], ir::emit_constant(e.g, dtype::int64, 1)};
    const ir::node_id step =
        e.g.emit_as(*ir::rules_for<assign_add, Update>, e.g.spec(e.inputs[1]), counted, {}, {updates.view()});
    e.result = e.g.emit_as(*ir::rules_for<group, Update>, {}, {}, {}, {{&step, 1}});
  }
};

}  // namespace op

template <class Update, class Clip, int Bounds>
inline constexpr bool ir::is_in_registry<op::optimizer<Update, Clip, Bounds>> =
    ir::is_in_registry<Update>&& ir::is_in_registry<Clip>;
template <class Update>
inline constexpr bool ir::is_in_registry<op::optimizer<Update, void, 0>> = ir::is_in_registry<Update>;

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

/// @tparam First whose element type bounds have
/// @param operands the loss, or variables and gradients by turns; then the bounds
template <class Place, int Pairs, class First, class Optimizer, class Clip, class... Bound, class... E>
[[nodiscard]] TAGMA_INLINE auto make_optimizer(const Optimizer& o, const clip_option<Clip, Bound...>& clip,
                                               const E&... operands) {
  using traits = optimizer_traits<Optimizer>;
  const auto step = variable<traits::step, std::int64_t>(zeros, not_trainable);
  [[maybe_unused]] const auto numbers = traits::numbers(o);
  return [&]<std::size_t... I, int... B>(std::index_sequence<I...>, std::integer_sequence<int, B...>)
      __attribute__((always_inline)) {
    return make_node<op::optimizer<typename traits::update, Clip, static_cast<int>(sizeof...(Bound))>,
                     ir::pack_attributes(Pairs), part<Place, 0>>(
        operands..., as_expression<typename First::element_type, part<Place, 3 + B>, 0>(std::get<B>(clip.bounds))...,
        make_rate<part<Place, 1>>(step, o.learning_rate), step,
        literal_at<double, part<Place, 2>, static_cast<int>(I)>(numbers[I])...);
  }
  (number_sequence<Optimizer>{}, std::make_integer_sequence<int, static_cast<int>(sizeof...(Bound))>{});
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
}  // namespace diagnose

/// Who trains needs an optimizer.
#define TAGMA_NEEDS_OPTIMIZER(Who, Optimizer)      \
  static_assert(diagnose::is_optimizer<Optimizer>, \
                "TAGMA-E175 " Who ": needs an optimizer, such as tagma::sgd{.learning_rate = 0.01} or tagma::adam{}")

/// One step of training: updates every trainable variable that the loss depends on, then counts the step in the
/// variable "<optimizer>/step", int64. What an optimizer keeps of a variable is a variable as well, a slot.
/// @param loss one floating number
/// @param optimizer `sgd{}`, `momentum{}`, `adagrad{}`, `adadelta{}`, `rmsprop{}`, `centered_rmsprop{}`, `adam{}`,
/// `adamw{}`, `ftrl{}`
/// @param clip of the gradients: `clip_by_value(low, high)`, `clip_by_norm(bound)`, `clip_by_global_norm(bound)`
/// Raises TAGMA-E062 if the loss is no floating scalar, TAGMA-E175 if there is no optimizer, TAGMA-E143 if a bound is
/// neither a number nor a scalar expression of the type of the loss; when compiled, TAGMA-E061 and TAGMA-E063.
template <expression L, class Optimizer, class Clip = detail::clip_option<void>, class Place = TAGMA_FRESH_TYPE(L)>
  requires detail::is_clip_option<Clip>
[[nodiscard]] auto minimize(const L& loss, const Optimizer& optimizer, const Clip& clip = {}) {
  static_assert(diagnose::is_scalar_loss<typename L::spec_type>,
                "TAGMA-E062 minimize: the loss must be one floating number; use tagma::mean or tagma::sum");
  static_assert(detail::bounds_first<Clip, L>,
                "TAGMA-E143 clip: the bound must be a number or a scalar of the element type of the loss");
  TAGMA_NEEDS_OPTIMIZER("minimize", Optimizer);
  if constexpr (diagnose::is_scalar_loss<typename L::spec_type> && diagnose::is_optimizer<Optimizer> &&
                detail::bounds_first<Clip, L>)
    return detail::make_optimizer<Place, 0, L>(optimizer, clip, loss);
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
/// @param clip of the gradients, as of `minimize`
/// Raises TAGMA-E065, TAGMA-E175, and TAGMA-E143 if a bound is neither a number nor a scalar expression of the type of
/// the first gradient.
template <class Optimizer, expression... V, expression... G, class Clip = detail::clip_option<void>,
          class Place = TAGMA_FRESH_TYPE(Optimizer)>
  requires(sizeof...(V) > 0 && detail::is_clip_option<Clip>)
[[nodiscard]] TAGMA_INLINE auto apply_gradients(const Optimizer& optimizer, const std::tuple<std::pair<V, G>...>& pairs,
                                                const Clip& clip = {}) {
  static_assert((true && ... && diagnose::is_variable<V>),
                "TAGMA-E065 apply_gradients: the first of each pair must be a variable");
  static_assert(detail::bounds_first<Clip, G...>,
                "TAGMA-E143 clip: the bound must be a number or a scalar of the element type of the gradients");
  TAGMA_NEEDS_OPTIMIZER("apply_gradients", Optimizer);
  if constexpr (diagnose::is_optimizer<Optimizer> && detail::bounds_first<Clip, G...>)
    return [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
      return detail::make_optimizer<Place, static_cast<int>(sizeof...(V)), typename detail::operands_of<G...>::first>(
          optimizer, clip, detail::operand_of<I>(pairs)...);
    }
  (std::make_index_sequence<2 * sizeof...(V)>{});
}

}  // namespace tagma

#undef TAGMA_NEEDS_OPTIMIZER
