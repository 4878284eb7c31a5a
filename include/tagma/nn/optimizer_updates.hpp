// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What optimizers become in a graph: the updates of variables and their slots, dense and sparse, and the nodes that
/// the graph compiler replaces by them.

#include "tagma/base/array_view.hpp"
#include "tagma/base/config.hpp"
#include "tagma/expr/op/arithmetic.hpp"
#include "tagma/expr/op/control.hpp"
#include "tagma/expr/op/gather.hpp"
#include "tagma/expr/op/state.hpp"
#include "tagma/ir/training.hpp"
#include "tagma/nn/clip.hpp"
#include "tagma/nn/initializers.hpp"

namespace tagma {

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

/// The variable that an optimizer keeps beside `variable`.
/// @param value the number of the value that it begins with, or -1
constexpr ir::node_id emit_slot(ir::graph& g, ir::node_id of, const slot& s, std::int32_t value = -1) {
  const auto attributes = ir::pack_attributes(
      value >= 0 ? tagma::detail::literal_kind : static_cast<ir::attribute>(initializer_kind::derived), 0, s.initial);
  return g.emit_as(ir::rules<variable>, g.spec(of), {}, attributes.list(), {{}, g[of].name, s.suffix, value, {}});
}

/// Base of the tags of what trains: no value.
struct training_node {
  static constexpr ir::op_kind kind = ir::op_kind::optimizer;
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {};
    return nullptr;
  }
};

/// Gradients of several batches, summed in slots. The first input of the expansion counts the batches.
struct accumulation {
  static constexpr slot sum{"/accumulated"};

  /// Hands the means to `update`, as gradients, and begins anew. Without a batch they are 0.
  static constexpr void apply(auto& e, void (*update)(ir::expand_args&)) {
    ir::node_id counter = e.in(0);
    while (!e.g.info(counter).is(ir::op_kind::variable)) counter = e.g.input(counter, 0);  // it may wait for something
    const ir::node_id one = ir::emit_constant(e.g, dtype::int64, 1);
    scratch_array<ir::variable_gradient, 64> means(e.gradients.size());
    scratch_array<ir::node_id, 64> done(e.gradients.size() + 2);
    for (std::size_t i = 0; i < e.gradients.size(); ++i) {
      const ir::node_id variable = e.gradients[i].variable, total = emit_slot(e.g, variable, sum);
      const ir::node_id batches =
          e.emit_with(cast{}, ir::pack_attributes(e.g.spec(variable).type), e.emit(maximum{}, e.in(0), one));
      means[i] = {variable, e.emit(divide{}, total, batches)};
      if (e.g.overflow()) return;
    }
    ir::expand_args rest{{e.g}, e.inputs.subspan(1), e.attributes, means.view()};
    update(rest);
    if (e.g.overflow()) return;
    for (std::size_t i = 0; i < e.gradients.size(); ++i)
      done[i] = clear(e, emit_slot(e.g, e.gradients[i].variable, sum), rest.result);
    done[e.gradients.size()] = clear(e, counter, rest.result);
    done[e.gradients.size() + 1] = rest.result;
    e.result = e.g.emit_as(ir::rules<group>, {}, {}, {}, {done.view()});
  }

 private:
  static constexpr ir::node_id clear(auto& e, ir::node_id variable, ir::node_id behind) {
    const tensor_spec spec = e.g.spec(variable);
    const ir::node_id zero = ir::emit_constant(e.g, spec.type, 0);
    const ir::node_id pair[] = {variable, spec.dims.rank == 0 ? zero : e.emit(broadcast_like{}, zero, variable)};
    return e.g.emit_as(ir::rules<assign>, spec, pair, {}, {{&behind, 1}});
  }
};

/// The node that adds gradients to those of batches before. Input of the expansion: what counts the batches.
struct accumulate_gradients : training_node {
  static constexpr const char* name = "accumulate_gradients";
  static constexpr void expand(auto& e) {
    scratch_array<ir::node_id, 64> added(e.gradients.size() + 1);
    std::size_t count = 0;
    for (const ir::variable_gradient& pair : e.gradients) {
      added[count++] = e.emit(assign_add{}, emit_slot(e.g, pair.variable, accumulation::sum), pair.gradient);
      if (e.g.overflow()) return;
    }
    added[count] = e.emit(assign_add{}, e.in(0), ir::emit_constant(e.g, dtype::int64, 1));
    e.result = e.g.emit_as(ir::rules<group>, {}, {}, {}, {added.view()});
  }
};

/// The node that moves what layers keep of their batches, and trains nothing.
struct update_averages : training_node {
  static constexpr const char* name = "update_averages";
  static constexpr void expand(ir::expand_args&) {}
};

/// The node that the graph compiler replaces by one `Update` for each variable, and by a count of the steps.
/// Inputs of the expansion: the bounds of `Clip`, the learning rate, the step, the other numbers.
/// @tparam Clip how gradients are clipped before, as `clip_gradients_by_norm`, or void
template <class Update, class Clip = void, int Bounds = 0>
struct optimizer : training_node {
  static constexpr std::string_view name = Update::name;

  static constexpr void expand(ir::expand_args& e) {
    if (ir::training_request(e.attributes).mode == ir::training_mode::apply)
      accumulation::apply(e, &clip_and_update);
    else
      clip_and_update(e);
  }

 private:
  template <class, class, int>
  friend struct optimizer;

  static constexpr void clip_and_update(ir::expand_args& e) {
    if constexpr (Bounds > 0) {
      scratch_array<ir::variable_gradient, 64> clipped(e.gradients.size());
      for (std::size_t i = 0; i < e.gradients.size(); ++i) clipped[i] = e.gradients[i];
      Clip::apply(e, clipped.view());
      ir::expand_args rest{{e.g}, e.inputs.subspan(Bounds), e.attributes, clipped.view()};
      optimizer<Update>::update_all(rest);
      e.result = rest.result;
    } else {
      update_all(e);
    }
  }
  static constexpr void update_all(ir::expand_args& e) {
    scratch_array<ir::node_id, 64> updates(e.gradients.size());
    for (std::size_t i = 0; i < e.gradients.size(); ++i) {
      const ir::variable_gradient& pair = e.gradients[i];
      ir::node_id inputs[16 + 2 * sparse_gradient::limit]{pair.variable};
      std::size_t n = 1;
      for (const slot& s : Update::slots)
        inputs[n++] = emit_slot(e.g, pair.variable, s, s.input >= 0 ? e.g[e.inputs[s.input]].value : -1);
      if (e.g.overflow()) return;
      if constexpr (requires { &Update::apply; })
        updates[i] = Update::apply(e, pair, {inputs, std::size(inputs)});
      else
        updates[i] = update_one(e, pair, inputs, n);
      if (e.g.overflow()) return;
    }
    const ir::node_id counted[] = {e.inputs[1], ir::emit_constant(e.g, dtype::int64, 1)};
    const ir::node_id step =
        e.g.emit_as(*ir::rules_for<assign_add, Update>, e.g.spec(e.inputs[1]), counted, {}, {updates.view()});
    e.result = e.g.emit_as(*ir::rules_for<group, Update>, {}, {}, {}, {{&step, 1}});
  }
  static constexpr ir::node_id update_one(ir::expand_args& e, const ir::variable_gradient& pair, ir::node_id* inputs,
                                          std::size_t n) {
    sparse_gradient sparse;
    const bool by_rows = sparse.add(e.g, pair.gradient, pair.variable);
    inputs[n++] = by_rows ? e.g.input(sparse.parts[0], 0) : pair.gradient;
    for (const ir::node_id i : e.inputs) inputs[n++] = i;
    if (!by_rows) return e.g.emit(ir::rules<Update>, {inputs, n});
    for (std::size_t p = 0; p < sparse.count; ++p) {
      if (p > 0) inputs[n++] = e.g.input(sparse.parts[p], 0);
      inputs[n++] = e.g.input(sparse.parts[p], 1);
    }
    return e.g.emit(ir::rules<apply_rows<Update>>, {inputs, n}, ir::pack_attributes(sparse.count).list());
  }
};

}  // namespace op

template <class Update, class Clip, int Bounds>
inline constexpr bool ir::is_in_registry<op::optimizer<Update, Clip, Bounds>> =
    ir::is_in_registry<Update>&& ir::is_in_registry<Clip>;
template <class Update>
inline constexpr bool ir::is_in_registry<op::optimizer<Update, void, 0>> = ir::is_in_registry<Update>;

}  // namespace tagma
