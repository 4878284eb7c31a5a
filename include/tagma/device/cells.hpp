// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What the operations of recurrent cells compute for one unit, for kernels of all devices: over values of type P,
/// packs of elements on the CPU, single elements on a GPU; and where these values are.

#include "tagma/base/config.hpp"
#include "tagma/device/functions.hpp"
#include "tagma/device/kernel.hpp"
#include "tagma/expr/op/cell.hpp"

namespace tagma::device {

/// A value of one unit: of which operand or result, and of which of its gates.
struct cell_part {
  int operand = 0;
  int gate = 0;
};

/// Elements of one such value: where they are in the first row, and the way to the next. No elements: they are zero, or
/// nobody wants them.
template <class T>
struct cell_elements {
  T* first = nullptr;
  std::int64_t step = 0;

  /// @param all the operand; a vector is the same in each row
  cell_elements() = default;
  cell_elements(const operand& all, int gate, std::int64_t units) {
    if (all.data == nullptr) return;
    first = all.as<T>() + gate * units;
    if (all.dims.rank == 2) step = all.dims[1];
  }
};

TAGMA_FORMULAS_BEGIN

/// What becomes of the values `in` of a unit, and where they are. What is in between is an argument of a function, as
/// in update_rules.hpp.
template <class Op>
struct cell_rule;

template <>
struct cell_rule<op::lstm_gates> {
  static constexpr int state = 1;
  static constexpr cell_part in[] = {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 0}, {2, 0}, {2, 1}, {2, 2}, {2, 3}};
  static constexpr cell_part out[] = {{0, 0}, {1, 0}, {2, 0}, {2, 1}, {2, 2}, {2, 3}};
  template <class P>
  TAGMA_DEVICE static void apply(const P* v, P* r) {
    r[2] = sigmoid(v[0] + v[5]);
    r[3] = tanh(v[1] + v[6]);
    r[4] = sigmoid(v[2] + v[7] + 1);
    r[5] = sigmoid(v[3] + v[8]);
    r[1] = r[4] * v[4] + r[2] * r[3];
    r[0] = tanh(r[1]) * r[5];
  }
};
template <>
struct cell_rule<op::lstm_gates_gradient> {
  static constexpr int state = 1;
  static constexpr cell_part in[] = {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 0}, {2, 0},
                                     {3, 0}, {4, 0}, {5, 0}, {5, 1}, {5, 2}, {5, 3}};
  static constexpr cell_part out[] = {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 0}};
  template <class P>
  TAGMA_DEVICE static void apply(const P* v, P* r) {
    by_output(v, r, tanh(v[5]));
  }

 private:
  template <class P>
  TAGMA_DEVICE static void by_output(const P* v, P* r, const P& e) {
    r[3] = (v[6] * e + v[11]) * (v[3] * (1 - v[3]));
    by_state(v, r, v[7] + v[6] * v[3] * (1 - e * e));
  }
  template <class P>
  TAGMA_DEVICE static void by_state(const P* v, P* r, const P& total) {
    r[0] = (total * v[1] + v[8]) * (v[0] * (1 - v[0]));
    r[1] = (total * v[0] + v[9]) * (1 - v[1] * v[1]);
    r[2] = (total * v[4] + v[10]) * (v[2] * (1 - v[2]));
    r[4] = total * v[2];
  }
};

template <>
struct cell_rule<op::gru_gates> {
  static constexpr int state = 1;
  static constexpr cell_part in[] = {{0, 0}, {0, 1}, {1, 0}, {2, 0}, {2, 1}};
  static constexpr cell_part out[] = {{0, 0}, {1, 0}, {2, 0}};
  template <class P>
  TAGMA_DEVICE static void apply(const P* v, P* r) {
    r[2] = sigmoid(v[0] + v[3]);
    r[0] = r[2] * v[2];
    r[1] = sigmoid(v[1] + v[4]);
  }
};
template <>
struct cell_rule<op::gru_gates_gradient> {
  static constexpr int state = 2;
  static constexpr cell_part in[] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}};
  static constexpr cell_part out[] = {{0, 0}, {0, 1}, {1, 0}};
  template <class P>
  TAGMA_DEVICE static void apply(const P* v, P* r) {
    r[0] = (v[3] * v[2] + v[5]) * (v[1] * (1 - v[1]));
    r[1] = v[4] * (v[0] * (1 - v[0]));
    r[2] = v[3] * v[1];
  }
};

template <>
struct cell_rule<op::gru_output> {
  static constexpr int state = 1;
  static constexpr cell_part in[] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}};
  static constexpr cell_part out[] = {{0, 0}, {1, 0}};
  template <class P>
  TAGMA_DEVICE static void apply(const P* v, P* r) {
    r[1] = tanh(v[2] + v[3]);
    r[0] = r[1] + v[0] * (v[1] - r[1]);
  }
};
template <>
struct cell_rule<op::gru_output_gradient> {
  static constexpr int state = 1;
  static constexpr cell_part in[] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}};
  static constexpr cell_part out[] = {{0, 0}, {1, 0}, {2, 0}};
  template <class P>
  TAGMA_DEVICE static void apply(const P* v, P* r) {
    r[0] = v[3] * (v[1] - v[2]);
    r[1] = v[3] * v[0];
    r[2] = (v[3] * (1 - v[0]) + v[4]) * (1 - v[2] * v[2]);
  }
};

TAGMA_FORMULAS_END

/// The values of a call: `in` and `out` of the rule.
template <class Op, class T>
struct cell_call {
  using rule = cell_rule<Op>;
  static constexpr std::size_t ins = sizeof(rule::in) / sizeof(cell_part);
  static constexpr std::size_t outs = sizeof(rule::out) / sizeof(cell_part);

  std::int64_t rows = 0, units = 0;
  cell_elements<const T> in[ins];
  cell_elements<T> out[outs];

  explicit cell_call(const kernel_args& args) {
    const shape& state = args.in[rule::state].dims;
    rows = state[0];
    units = state[1];
    for (std::size_t k = 0; k != ins; ++k)
      if (const int at = Op::place(args.attributes, rule::in[k].operand); at >= 0)
        in[k] = {args.in[at], rule::in[k].gate, units};
    for (std::size_t k = 0; k != outs; ++k) out[k] = {args.outs[rule::out[k].operand], rule::out[k].gate, units};
  }
};

}  // namespace tagma::device
