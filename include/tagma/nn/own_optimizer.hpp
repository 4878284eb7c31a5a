// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Optimizers of your own, as formulas.

#include <concepts>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/base/growing_array.hpp"
#include "tagma/expr/op/compare.hpp"
#include "tagma/expr/op/math.hpp"
#include "tagma/expr/op/reduce.hpp"
#include "tagma/nn/optimizers.hpp"

namespace tagma {

/// What an optimizer keeps of each variable: a suffix of the name of the variable, such as "/lion_m", and the number
/// that it begins with, 0 by default.
using optimizer_slot = op::slot;
/// All that it keeps.
template <std::size_t Count>
using optimizer_slots = fixed_array<optimizer_slot, Count>;
/// What an optimizer is made with, beside its learning rate.
template <std::size_t Count>
using optimizer_numbers = fixed_array<double, Count>;

namespace detail {
/// A list of numbers whose length its type has: `optimizer_numbers`, or a std::array.
template <class List>
concept has_own_length = requires {
  List::size();
};
template <class List>
concept has_length = has_own_length<List> || requires {
  std::tuple_size<List>::value;
};
}  // namespace detail

/// An optimizer of your own: a struct with a learning rate, a name, the slots that it keeps of each variable, the other
/// numbers that it takes, and its formula over `formula::variable_update`. Lists may be of the types below, or a
/// std::array.
///
///     struct lion {  // Chen et al. 2023
///       tg::rate learning_rate = 1e-4;
///       double beta1 = 0.9, beta2 = 0.99;
///
///       static constexpr tg::fixed_string name = "lion";
///       static constexpr tg::optimizer_slots<1> slots{tg::optimizer_slot{"/lion_m"}};
///       tg::optimizer_numbers<2> numbers() const { return {beta1, beta2}; }
///       static constexpr void update(auto& u) {
///         const auto b1 = u.number(0), b2 = u.number(1), m = u.slot(0), g = u.gradient();
///         u.set_value(u.value() - u.learning_rate() * sign(b1 * m + (1 - b1) * g));
///         u.set_slot(0, b2 * m + (1 - b2) * g);
///       }
///     };
///
/// It is used as those of the library: `minimize(loss, lion{.learning_rate = 3e-4})`, with the same options. Steps are
/// counted in "<name>/step". The formula is asked once for each variable, when the graph is compiled, and becomes
/// element-wise operations, which are fused.
/// Raises TAGMA-E304 for a formula that sets the value not once, or a slot twice, or asks for what is not listed.
template <class Optimizer>
concept own_optimizer = requires(const Optimizer& o) {
  { o.learning_rate } -> std::convertible_to<rate>;
  { Optimizer::name.view() } -> std::convertible_to<std::string_view>;
  Optimizer::slots.size();
  requires detail::has_length<std::remove_cvref_t<decltype(o.numbers())>>;
};

namespace formula {

class variable_update;

/// A value in the formula of an optimizer: numbers and tensors, with operators, `sqrt`, `rsqrt`, `square`, `abs`,
/// `sign`, `exp`, `log`, `tanh`, `pow`, `maximum`, `minimum`, comparisons with `select`, and `sum` over all elements.
/// The learning rate, the step and the numbers are of float64 until they meet a tensor.
class term {
 public:
  constexpr term(variable_update& of, std::size_t at) : of_(&of), at_(at) {}
  [[nodiscard]] constexpr std::size_t at() const { return at_; }
  [[nodiscard]] constexpr variable_update& of() const { return *of_; }

 private:
  variable_update* of_;
  std::size_t at_;
};

/// What a formula sees of one variable: its value, its gradient, its slots, and what they become. Terms are noted, and
/// become nodes when something is set, from the left to the right: in which order a compiler evaluates the two sides of
/// an operator does not matter.
class variable_update {
 public:
  /// @param writer adds the nodes; nullptr where only what is set is counted
  /// @param in the variable, its slots, its gradient, the learning rate, the step, the numbers
  constexpr variable_update(const ir::node_writer* writer, array_view<const ir::node_id> in, std::size_t slots,
                            std::size_t numbers)
      : writer_(writer), in_(in), slots_(slots), numbers_(numbers) {}

  /// The variable before the step, and its gradient. 16-bit variables are computed in float32.
  /// @{
  [[nodiscard]] constexpr term value() { return input(0); }
  [[nodiscard]] constexpr term gradient() { return input(1 + slots_); }
  /// @}
  /// Slot `i` before the step.
  [[nodiscard]] constexpr term slot(std::size_t i) {
    sound_ = sound_ && i < slots_;
    return input(sound_ ? 1 + i : 0);
  }
  /// The learning rate of this step.
  [[nodiscard]] constexpr term learning_rate() { return input(2 + slots_); }
  /// The number of this step, from 1.
  [[nodiscard]] constexpr term step() {
    const term before = input(3 + slots_), one = constant(1);
    return compute(op::add{}, before, one);
  }
  /// Number `i` of `numbers()`.
  [[nodiscard]] constexpr term number(std::size_t i) {
    sound_ = sound_ && i < numbers_;
    return input(2 + slots_ + (sound_ ? 2 + i : 0));
  }

  /// What the variable, or slot `i`, becomes. A formula reads the values before, wherever it sets these.
  /// @{
  constexpr void set_value(const term& t) { set(0, t); }
  constexpr void set_slot(std::size_t i, const term& t) {
    sound_ = sound_ && i < slots_;
    if (sound_) set(1 + i, t);
  }
  /// @}

  /// A term that is computed of others; operators call it. Scalars of float64 take the type of a tensor beside them.
  template <class Op, class... Term>
  [[nodiscard]] constexpr term compute(Op, const Term&... operand) {
    return note({.op = &ir::rules<Op>, .operands{operand.at()...}, .count = sizeof...(Term)});
  }
  /// The sum of all elements of a term.
  [[nodiscard]] constexpr term total(const term& t) {
    return note({.op = &ir::rules<op::sum>, .operands{t.at()}, .count = 1, .over_all = true});
  }
  /// A number that the formula has.
  [[nodiscard]] constexpr term constant(double number) { return note({.number = number}); }

  /// True if the value was set once, each slot at most once, and nothing else was asked for.
  [[nodiscard]] constexpr bool is_sound() const { return sound_ && (set_ & 1) != 0; }
  /// The node that is done when everything is set.
  [[nodiscard]] constexpr ir::node_id finish() const {
    return writer_->g.emit_as(ir::rules<op::group>, {}, {}, {}, {{updates_, count_}});
  }

 private:
  static constexpr std::size_t most_slots = 8, most_operands = 3, no_input = static_cast<std::size_t>(-1);

  /// A term: an operation on others, an input, or a number.
  struct noted {
    const ir::op_rules* op = nullptr;
    std::size_t operands[most_operands]{};
    std::size_t count = 0;
    bool over_all = false;  ///< a sum of all elements
    double number = 0;
    std::size_t input = no_input;
    ir::node_id node = ir::no_node;
  };

  constexpr term note(const noted& n) {
    if (writer_ == nullptr) return {*this, 0};
    terms_.push(n);
    return {*this, terms_.size() - 1};
  }
  constexpr term input(std::size_t i) {
    for (std::size_t t = 0; t < terms_.size(); ++t)
      if (terms_[t].input == i) return {*this, t};
    return note({.input = i});
  }

  /// The node of a term. Its operands come first, from the left to the right; without recursion, of which compilers
  /// allow little.
  constexpr ir::node_id node_of(std::size_t at) {
    growing_array<std::size_t> open(16);
    open.push(at);
    while (open.size() > 0) {
      noted& n = terms_[open[open.size() - 1]];
      std::size_t k = 0;
      while (k < n.count && terms_[n.operands[k]].node != ir::no_node) ++k;
      if (k < n.count) {
        open.push(n.operands[k]);
      } else {
        if (n.node == ir::no_node) n.node = emit(n);
        open.pop();
      }
    }
    return terms_[at].node;
  }
  /// That of a term whose operands have nodes.
  constexpr ir::node_id emit(const noted& n) {
    if (n.input != no_input) return read(in_[n.input]);
    if (n.op == nullptr) return ir::emit_constant(writer_->g, dtype::float64, n.number);
    ir::node_id in[most_operands]{};
    dtype type = dtype::float64;
    for (std::size_t k = 0; k < n.count; ++k) {
      in[k] = terms_[n.operands[k]].node;
      if (const dtype own = writer_->g.spec(in[k]).type; own != dtype::boolean && own != dtype::float64) type = own;
    }
    if (n.over_all) {
      const int rank = writer_->g.spec(in[0]).dims.rank;
      return writer_->g.emit(*n.op, {in, 1}, ir::pack_attributes((1 << rank) - 1, 0).list());
    }
    for (std::size_t k = 0; k < n.count; ++k) in[k] = convert(in[k], type);
    return writer_->g.emit(*n.op, {in, n.count});
  }
  /// An input as formulas compute with it. Where updates wait for others, what is read of variables waits as well.
  constexpr ir::node_id read(ir::node_id id) {
    const array_view<const ir::node_id> before = writer_->g.updates_wait_for();
    if (!before.empty() && writer_->g.info(id).is(ir::op_kind::variable))
      id = writer_->g.emit_as(ir::rules<op::identity>, writer_->g.spec(id), {&id, 1}, {}, {before});
    const dtype own = writer_->g.spec(id).type;
    return convert(id, own == dtype::float64 || own == dtype::int64 ? dtype::float64 : dtype::float32);
  }
  constexpr ir::node_id convert(ir::node_id id, dtype type) {
    const dtype own = writer_->g.spec(id).type;
    if (own == type || own == dtype::boolean) return id;
    return writer_->emit_with(op::cast{}, ir::pack_attributes(type), id);
  }
  constexpr void set(std::size_t i, const term& t) {
    sound_ = sound_ && ((set_ >> i) & 1) == 0 && i <= most_slots;
    set_ |= std::uint64_t{1} << i;
    if (writer_ == nullptr || !sound_) return;
    const tensor_spec to = writer_->g.spec(in_[i]);
    ir::node_id value = convert(node_of(t.at()), to.type);
    // A variable that another one becomes as it is: its elements are copied before it changes itself.
    ir::node_id from = value;
    while (writer_->g.info(from).shares_bytes()) from = writer_->g.input(from, 0);
    if (writer_->g.info(from).is(ir::op_kind::variable))
      value = writer_->emit(op::multiply{}, value, ir::emit_constant(writer_->g, to.type, 1));
    if (to.dims.rank > 0 && writer_->g.spec(value).dims.rank == 0)
      value = writer_->emit(op::broadcast_like{}, value, in_[i]);
    updates_[count_++] = writer_->emit(op::assign{}, in_[i], value);
  }

  const ir::node_writer* writer_;
  array_view<const ir::node_id> in_;
  std::size_t slots_, numbers_;
  growing_array<noted> terms_{16};
  std::uint64_t set_ = 0;  ///< bit 0: the value; then the slots
  bool sound_ = true;
  ir::node_id updates_[most_slots + 1]{};
  std::size_t count_ = 0;
};

/// Arithmetic of terms. Templates, so that operations that nobody uses are not formed.
/// @{
#define TAGMA_TERM_OPERATOR(Operator, Tag)                                       \
  template <class Op = Tag>                                                      \
  [[nodiscard]] constexpr term operator Operator(const term& a, const term& b) { \
    return a.of().compute(Op{}, a, b);                                           \
  }                                                                              \
  template <class Op = Tag>                                                      \
  [[nodiscard]] constexpr term operator Operator(const term& a, double b) {      \
    return a.of().compute(Op{}, a, a.of().constant(b));                          \
  }                                                                              \
  template <class Op = Tag>                                                      \
  [[nodiscard]] constexpr term operator Operator(double a, const term& b) {      \
    return b.of().compute(Op{}, b.of().constant(a), b);                          \
  }
TAGMA_TERM_OPERATOR(+, op::add)
TAGMA_TERM_OPERATOR(-, op::subtract)
TAGMA_TERM_OPERATOR(*, op::multiply)
TAGMA_TERM_OPERATOR(/, op::divide)
TAGMA_TERM_OPERATOR(>, op::greater)
TAGMA_TERM_OPERATOR(<, op::less)
#undef TAGMA_TERM_OPERATOR
template <class Op = op::negate>
[[nodiscard]] constexpr term operator-(const term& a) {
  return a.of().compute(Op{}, a);
}
/// @}

/// Functions of terms, as those of expressions.
/// @{
#define TAGMA_TERM_FUNCTION(Name)                    \
  template <class Op = op::Name>                     \
  [[nodiscard]] constexpr term Name(const term& a) { \
    return a.of().compute(Op{}, a);                  \
  }
TAGMA_TERM_FUNCTION(sqrt)
TAGMA_TERM_FUNCTION(rsqrt)
TAGMA_TERM_FUNCTION(square)
TAGMA_TERM_FUNCTION(abs)
TAGMA_TERM_FUNCTION(sign)
TAGMA_TERM_FUNCTION(exp)
TAGMA_TERM_FUNCTION(log)
TAGMA_TERM_FUNCTION(tanh)
#undef TAGMA_TERM_FUNCTION
template <class Op = op::maximum>
[[nodiscard]] constexpr term maximum(const term& a, const term& b) {
  return a.of().compute(Op{}, a, b);
}
template <class Op = op::minimum>
[[nodiscard]] constexpr term minimum(const term& a, const term& b) {
  return a.of().compute(Op{}, a, b);
}
/// `condition` is a comparison of terms.
template <class Op = op::select>
[[nodiscard]] constexpr term select(const term& condition, const term& yes, const term& no) {
  return yes.of().compute(Op{}, condition, yes, no);
}
/// The sum of all elements: `sqrt(sum(square(g)))` is a norm.
[[nodiscard]] constexpr term sum(const term& a) { return a.of().total(a); }
/// base ^ exponent, for a base above 0: `1 - pow(u.number(0), u.step())`.
template <class Op = op::exp>
[[nodiscard]] constexpr term pow(const term& base, const term& exponent) {
  return exp<Op>(log(base) * exponent);
}
/// @}

}  // namespace formula

namespace op {

/// The update of an optimizer of somebody's own. No node has it: the formula stands for it.
template <own_optimizer Optimizer>
struct apply_own {
  static constexpr std::string_view name = Optimizer::name.view();
  static constexpr const auto& slots = Optimizer::slots;

  static constexpr ir::node_id apply(ir::expand_args& e, const ir::variable_gradient& pair,
                                     array_view<ir::node_id> in) {
    const std::size_t kept = slots.size();
    in[1 + kept] = pair.gradient;
    for (std::size_t i = 0; i < e.inputs.size(); ++i) in[2 + kept + i] = e.inputs[i];
    formula::variable_update u(&e, in, kept, e.inputs.size() - 2);
    Optimizer::update(u);
    return u.finish();
  }
};

}  // namespace op

namespace detail {

template <own_optimizer Optimizer>
struct optimizer_traits<Optimizer> {
  using update = op::apply_own<Optimizer>;
  static constexpr fixed_string step = Optimizer::name / "step";
  static auto numbers(const Optimizer& o) {
    const auto given = o.numbers();
    using list = std::remove_cvref_t<decltype(o.numbers())>;
    if constexpr (has_own_length<list>) {
      return given;
    } else {
      fixed_array<double, std::tuple_size<list>::value> all{};
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = given[i];
      return all;
    }
  }
};

}  // namespace detail

namespace diagnose {
template <own_optimizer Optimizer>
inline constexpr bool has_sound_formula<Optimizer> = [] {
  constexpr std::size_t slots = Optimizer::slots.size();
  constexpr std::size_t numbers =
      decltype(detail::optimizer_traits<Optimizer>::numbers(std::declval<const Optimizer&>()))::size();
  for (std::size_t i = 0; i < slots; ++i) {
    const std::string_view suffix = Optimizer::slots[i].suffix;
    if (suffix.empty() || suffix[0] != '/' || !is_name(suffix.substr(1)) || suffix == op::accumulation::sum.suffix ||
        Optimizer::slots[i].input >= 0)
      return false;
    for (std::size_t k = 0; k < i; ++k)
      if (Optimizer::slots[k].suffix == suffix) return false;
  }
  formula::variable_update u(nullptr, {}, slots, numbers);
  Optimizer::update(u);
  return slots <= 8 && numbers <= 16 && u.is_sound();
}();
}  // namespace diagnose

}  // namespace tagma
