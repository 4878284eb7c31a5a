// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What the cells of recurrent layers do behind their matrix products, all gates at once. Gradients are one operation
/// each; gradients of those are made of elementary operations, so that there is no end to it.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/concat.hpp"
#include "tagma/expr/op/math.hpp"
#include "tagma/expr/op/reduce.hpp"

namespace tagma::op {

/// Columns `first` to `last` of a matrix, or elements of a vector.
constexpr ir::node_id columns(auto& e, ir::node_id x, extent first, extent last) {
  if (e.g.spec(x).dims.rank == 1) return e.emit_with(slice{}, ir::pack_attributes(first, last), x);
  return e.emit_with(slice{}, ir::pack_attributes(0, to_end, first, last), x);
}

/// Base of the tags. Operands are matrices [batch, n * units], products still without their bias, and biases
/// [n * units], or matrices that are added like them. Where gradients flow in, some may be left out: they count as
/// zero. Attribute 0 has a bit for each.
struct cell_operation {
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  /// Operands of one type, the last `flows` of which may be left out.
  static constexpr void takes_flows(auto& t, int operands, int flows) {
    const auto absent = static_cast<std::uint64_t>(t.attribute("absent", 0, (1 << (operands + flows)) - 1));
    t.needs((absent & ((1u << operands) - 1)) == 0, "only what flows in may be left out");
    t.floats(operands + flows - std::popcount(absent));
  }

  /// Where operand `k` is, or -1.
  static constexpr int place(ir::attribute_list attributes, int k) {
    const ir::attribute absent = attributes.empty() ? 0 : attributes[0];
    if (((absent >> k) & 1) != 0) return -1;
    int at = k;
    for (int i = 0; i < k; ++i) at -= static_cast<int>((absent >> i) & 1);
    return at;
  }
  /// Operand `i` is a matrix of `blocks[i]` times the columns of operand `unit`, or for -n a vector of n times as many.
  template <std::size_t N>
  static constexpr const char* check(const ir::infer_args& a, const int (&blocks)[N], int unit) {
    const shape& one = a.in[unit].dims;
    if (one.rank != 2) return "states have the axes [batch, units]";
    for (std::size_t k = 0; k < N; ++k) {
      const int at = place(a.attributes, static_cast<int>(k)), n = blocks[k];
      if (at < 0) continue;
      const shape& dims = a.in[at].dims;
      if (dims.rank != 2 && (n > 0 || dims.rank != 1)) return "products and states are matrices, biases vectors";
      const extent last = dims[dims.rank - 1];
      if (one[1] != dyn && last != dyn && last != one[1] * (n < 0 ? -n : n))
        return "products and biases need as many columns for each gate as states";
      if (dims.rank == 2 && !compatible(dims[0], one[0])) return "products and states need one batch";
    }
    return nullptr;
  }
  /// The shape of operand `unit`, with the batch of the product where that alone is known.
  static constexpr tensor_spec state_of(const ir::infer_args& a, int product, int unit) {
    tensor_spec s = a.in[unit];
    if (s.dims[0] == dyn) s.dims[0] = a.in[product].dims[0];
    return s;
  }
  /// Sets the gradients by a product and by its bias.
  static constexpr void set_product(auto& g, int product, int bias, ir::node_id gradient) {
    g.set(product, gradient);
    g.set(bias, unbroadcast(g.g, gradient, g.in_spec(bias).dims));
  }
};

/// Formulas over nodes of a gradient; what is missing is zero, and makes zero of a product.
template <class Gradient>
struct cell_terms {
  Gradient& g;

  [[nodiscard]] constexpr ir::node_id in(int k) const {
    const int at = cell_operation::place(g.g.attributes(g.self), k);
    return at < 0 ? ir::no_node : g.in(at);
  }
  constexpr void set(int k, ir::node_id gradient) const {
    const int at = cell_operation::place(g.g.attributes(g.self), k);
    if (at >= 0 && gradient != ir::no_node) g.set(at, gradient);
  }
  [[nodiscard]] constexpr ir::node_id number(double value) const {
    return ir::emit_constant(g.g, g.in_spec(0).type, value);
  }
  // In braces the compiler forms operands in their order, and the graph is the same with all of them.
  template <std::size_t N>
  [[nodiscard]] constexpr ir::node_id times(const ir::node_id (&factors)[N]) const {
    ir::node_id all = factors[0];
    for (std::size_t k = 1; k < N; ++k)
      all = all == ir::no_node || factors[k] == ir::no_node ? ir::no_node : g.emit(multiply{}, all, factors[k]);
    return all;
  }
  template <std::size_t N>
  [[nodiscard]] constexpr ir::node_id plus(const ir::node_id (&terms)[N]) const {
    ir::node_id all = terms[0];
    for (std::size_t k = 1; k < N; ++k) {
      if (terms[k] == ir::no_node) continue;
      all = all == ir::no_node ? terms[k] : g.emit(add{}, all, terms[k]);
    }
    return all;
  }
  [[nodiscard]] constexpr ir::node_id minus(ir::node_id a) const { return a == ir::no_node ? a : g.emit(negate{}, a); }
  /// 1 - a
  [[nodiscard]] constexpr ir::node_id rest(ir::node_id a) const { return g.emit(subtract{}, number(1), a); }
  /// The slopes of a sigmoid and of a tanh, given their values, and the slopes of these slopes over themselves.
  [[nodiscard]] constexpr ir::node_id sigmoid_slope(ir::node_id s) const { return times({s, rest(s)}); }
  [[nodiscard]] constexpr ir::node_id tanh_slope(ir::node_id t) const { return rest(g.emit(square{}, t)); }
  [[nodiscard]] constexpr ir::node_id sigmoid_bend(ir::node_id s) const { return rest(g.emit(add{}, s, s)); }
  [[nodiscard]] constexpr ir::node_id tanh_bend(ir::node_id t) const { return times({number(-2), t}); }

  /// Column `i` of the gates, in columns of as many units as `state` has.
  [[nodiscard]] constexpr ir::node_id gate(ir::node_id all, int i, ir::node_id state) const {
    if (all == ir::no_node) return all;
    const extent units = g.g.spec(state).dims[1];
    return columns(g, all, i * units, (i + 1) * units);
  }
  /// Gates side by side; zeros like `state` where there is none.
  template <std::size_t N>
  [[nodiscard]] constexpr ir::node_id joined(const ir::node_id (&gates)[N], ir::node_id state) const {
    ir::node_id parts[N]{};
    bool some = false;
    for (std::size_t i = 0; i < N; ++i) {
      some = some || gates[i] != ir::no_node;
      parts[i] = gates[i] != ir::no_node ? gates[i] : g.emit(broadcast_like{}, number(0), state);
    }
    return some ? g.emit_over(concat{}, {parts, N}, ir::pack_attributes(1)) : ir::no_node;
  }
};

template <class Gradient>
cell_terms(Gradient&) -> cell_terms<Gradient>;

/// Emits an operation over those operands that there are.
template <class Op, std::size_t N>
constexpr ir::node_id emit_cell_gradient(auto& g, Op op, const ir::node_id (&operands)[N]) {
  ir::node_id there[N]{};
  std::size_t count = 0;
  ir::attribute absent = 0;
  for (std::size_t k = 0; k < N; ++k) {
    if (operands[k] != ir::no_node)
      there[count++] = operands[k];
    else
      absent |= ir::attribute{1} << k;
  }
  return g.emit_over(op, {there, count}, ir::pack_attributes(absent));
}

/// Gradients of `lstm_gates`, given its results gates = [i, j, f, o] and c', and what flows into each result:
///     t = dc' + dh * o * (1 - tanh(c')^2)
///     [(t * j + di) * i * (1 - i), (t * i + dj) * (1 - j^2), (t * c + df) * f * (1 - f),
///      (dh * tanh(c') + do) * o * (1 - o)]
/// Inputs: gates, c, c', dh, dc', dgates. Results: gradients by the product, as above, and by c, t * f.
struct lstm_gates_gradient : cell_operation {
  static constexpr const char* name = "lstm_gates_gradient";
  static constexpr int outputs = 2;
  static constexpr void takes(auto& t) { takes_flows(t, 3, 3); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = a.output == 0 ? a.in[0] : a.in[1];
    return check(a, {4, 1, 1, 1, 1, 4}, 1);
  }
  static constexpr void gradient(auto& g) {
    const cell_terms t{g};
    const ir::node_id c = g.in(1), dh = t.in(3), dgates = t.in(5);
    const ir::node_id i = t.gate(g.in(0), 0, c), j = t.gate(g.in(0), 1, c), f = t.gate(g.in(0), 2, c);
    const ir::node_id o = t.gate(g.in(0), 3, c), e = g.emit(tanh{}, g.in(2));
    const ir::node_id slope_i = t.sigmoid_slope(i), slope_j = t.tanh_slope(j), slope_f = t.sigmoid_slope(f);
    const ir::node_id slope_o = t.sigmoid_slope(o), slope_e = t.tanh_slope(e);
    const ir::node_id total = t.plus({t.in(4), t.times({dh, o, slope_e})});
    const ir::node_id all = g.upstream_of(0), into_c = g.upstream_of(1);
    const ir::node_id into_i = t.gate(all, 0, c), into_j = t.gate(all, 1, c), into_f = t.gate(all, 2, c);
    const ir::node_id into_o = t.gate(all, 3, c);
    const ir::node_id by_gates = t.plus({t.times({into_i, slope_i, j}), t.times({into_j, slope_j, i})});
    const ir::node_id into_total = t.plus({by_gates, t.plus({t.times({into_f, slope_f, c}), t.times({into_c, f})})});
    const ir::node_id of_i = t.plus({t.times({total, j}), t.gate(dgates, 0, c)});
    const ir::node_id of_j = t.plus({t.times({total, i}), t.gate(dgates, 1, c)});
    const ir::node_id of_f = t.plus({t.times({total, c}), t.gate(dgates, 2, c)});
    const ir::node_id of_o = t.plus({t.times({dh, e}), t.gate(dgates, 3, c)});
    t.set(0, t.joined({t.plus({t.times({into_i, of_i, t.sigmoid_bend(i)}), t.times({into_j, total, slope_j})}),
                       t.plus({t.times({into_i, total, slope_i}), t.times({into_j, of_j, t.tanh_bend(j)})}),
                       t.plus({t.times({into_f, of_f, t.sigmoid_bend(f)}), t.times({into_c, total})}),
                       t.plus({t.times({into_total, dh, slope_e}), t.times({into_o, of_o, t.sigmoid_bend(o)})})},
                      c));
    t.set(1, t.times({into_f, total, slope_f}));
    const ir::node_id by_e = t.plus({t.times({into_total, o, t.tanh_bend(e)}), t.times({into_o, slope_o})});
    t.set(2, t.times({dh, slope_e, by_e}));
    t.set(3, t.plus({t.times({into_total, o, slope_e}), t.times({into_o, e, slope_o})}));
    t.set(4, into_total);
    t.set(5, t.joined({t.times({into_i, slope_i}), t.times({into_j, slope_j}), t.times({into_f, slope_f}),
                       t.times({into_o, slope_o})},
                      c));
  }
};

/// With [i, j, f, o] = product + bias:
///     gates = [sigmoid(i), tanh(j), sigmoid(f + 1), sigmoid(o)]
///     c' = gates.f * c + gates.i * gates.j
///     h = tanh(c') * gates.o
/// Inputs: product [batch, 4 * units], c [batch, units], bias [4 * units]. Results: h, c', and for gradients the gates.
struct lstm_gates : cell_operation {
  static constexpr const char* name = "lstm_gates";
  static constexpr int outputs = 3;
  static constexpr void takes(auto& t) { t.floats(3); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = a.in[1];
    if (const char* problem = check(a, {4, 1, -4}, 1)) return problem;
    a.out = a.output == 2 ? a.in[0] : state_of(a, 0, 1);
    return nullptr;
  }
  static constexpr void gradient(auto& g) {
    const ir::node_id both =
        emit_cell_gradient(g, lstm_gates_gradient{},
                           {g.output(2), g.in(1), g.output(1), g.upstream_of(0), g.upstream_of(1), g.upstream_of(2)});
    set_product(g, 0, 2, g.g.emit_output(both, 0));
    g.set(1, g.g.emit_output(both, 1));
  }
};

/// Gradients of `gru_gates`. Inputs: its results u and r, h, and what flows into its results r * h, u and r. Results:
/// gradients by the product, [(dkept * h + dr) * r * (1 - r), du * u * (1 - u)], and by h, dkept * r.
struct gru_gates_gradient : cell_operation {
  static constexpr const char* name = "gru_gates_gradient";
  static constexpr int outputs = 2;
  static constexpr void takes(auto& t) { takes_flows(t, 3, 3); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = a.in[2];
    if (a.output == 0 && a.out.dims.rank == 2) a.out.dims[1] = a.out.dims[1] == dyn ? dyn : 2 * a.out.dims[1];
    return check(a, {1, 1, 1, 1, 1, 1}, 2);
  }
  static constexpr void gradient(auto& g) {
    const cell_terms t{g};
    const ir::node_id u = g.in(0), r = g.in(1), h = g.in(2), kept = t.in(3), update = t.in(4);
    const ir::node_id into_r = t.gate(g.upstream_of(0), 0, h), into_u = t.gate(g.upstream_of(0), 1, h);
    const ir::node_id into_h = g.upstream_of(1), slope_r = t.sigmoid_slope(r), slope_u = t.sigmoid_slope(u);
    const ir::node_id of_r = t.plus({t.times({kept, h}), t.in(5)});
    t.set(0, t.times({into_u, update, t.sigmoid_bend(u)}));
    t.set(1, t.plus({t.times({into_r, of_r, t.sigmoid_bend(r)}), t.times({into_h, kept})}));
    t.set(2, t.times({into_r, kept, slope_r}));
    t.set(3, t.plus({t.times({into_r, h, slope_r}), t.times({into_h, r})}));
    t.set(4, t.times({into_u, slope_u}));
    t.set(5, t.times({into_r, slope_r}));
  }
};

/// With [r, u] = sigmoid(product + bias). Inputs: product [batch, 2 * units], h [batch, units], bias [2 * units].
/// Results: r * h, u, and for gradients r.
struct gru_gates : cell_operation {
  static constexpr const char* name = "gru_gates";
  static constexpr int outputs = 3;
  static constexpr void takes(auto& t) { t.floats(3); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = a.in[1];
    if (const char* problem = check(a, {2, 1, -2}, 1)) return problem;
    a.out = state_of(a, 0, 1);
    return nullptr;
  }
  static constexpr void gradient(auto& g) {
    const ir::node_id both =
        emit_cell_gradient(g, gru_gates_gradient{},
                           {g.output(1), g.output(2), g.in(1), g.upstream_of(0), g.upstream_of(1), g.upstream_of(2)});
    set_product(g, 0, 2, g.g.emit_output(both, 0));
    g.set(1, g.g.emit_output(both, 1));
  }
};

/// Gradients of `gru_output`. Inputs: u, h, its result c, and what flows into its results. Results: gradients by u, h
/// and the product, d * (h - c), d * u and (d * (1 - u) + dc) * (1 - c^2).
struct gru_output_gradient : cell_operation {
  static constexpr const char* name = "gru_output_gradient";
  static constexpr int outputs = 3;
  static constexpr void takes(auto& t) { takes_flows(t, 3, 2); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = a.in[a.output];
    return check(a, {1, 1, 1, 1, 1}, 1);
  }
  static constexpr void gradient(auto& g) {
    const cell_terms t{g};
    const ir::node_id u = g.in(0), h = g.in(1), c = g.in(2), flow = t.in(3), slope = t.tanh_slope(c);
    const ir::node_id into_u = g.upstream_of(0), into_h = g.upstream_of(1), into_c = g.upstream_of(2);
    const ir::node_id of_c = t.plus({t.times({flow, t.rest(u)}), t.in(4)}), sloped = t.times({into_c, slope});
    t.set(0, t.times({flow, t.plus({into_h, t.minus(sloped)})}));
    t.set(1, t.times({into_u, flow}));
    t.set(2, t.plus({t.minus(t.times({into_u, flow})), t.times({into_c, of_c, t.tanh_bend(c)})}));
    const ir::node_id by_gates = t.plus({t.times({into_u, g.emit(subtract{}, h, c)}), t.times({into_h, u})});
    t.set(3, t.plus({by_gates, t.times({sloped, t.rest(u)})}));
    t.set(4, sloped);
  }
};

/// With c = tanh(product + bias): u * h + (1 - u) * c. Inputs: u, h, product, all [batch, units], bias [units].
/// Results: that, and for gradients c.
struct gru_output : cell_operation {
  static constexpr const char* name = "gru_output";
  static constexpr int outputs = 2;
  static constexpr void takes(auto& t) { t.floats(4); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = a.in[1];
    if (const char* problem = check(a, {1, 1, 1, -1}, 1)) return problem;
    a.out = state_of(a, 2, 1);
    return nullptr;
  }
  static constexpr void gradient(auto& g) {
    const ir::node_id all = emit_cell_gradient(g, gru_output_gradient{},
                                               {g.in(0), g.in(1), g.output(1), g.upstream_of(0), g.upstream_of(1)});
    for (int k = 0; k < 2; ++k) g.set(k, g.g.emit_output(all, k));
    set_product(g, 2, 3, g.g.emit_output(all, 2));
  }
};

}  // namespace tagma::op
