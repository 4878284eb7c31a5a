// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What the graph compiler and the runtime know of an operation: plain values, no templates to walk.

#include <bit>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "tagma/base/array_view.hpp"
#include "tagma/base/hash.hpp"
#include "tagma/tensor/spec.hpp"

namespace tagma::ir {

/// Position of a node in a flat graph.
using node_id = std::int32_t;
inline constexpr node_id no_node = -1;

/// A static property of a node (an axis, a stride, a flag); a double travels as its bits.
using attribute = std::int64_t;
using attribute_list = array_view<const attribute>;

/// What the compiler may do with a node.
enum class op_kind : std::uint8_t {
  compute,      ///< one kernel writes one buffer
  elementwise,  ///< one output element from one element of each (broadcast) input; may be fused
  view,         ///< the bytes of its first input under another shape
  placeholder,  ///< fed in every run
  variable,     ///< lives in the session
  literal,      ///< a run-time scalar that the program object carries
  constant,     ///< a scalar that the compiler knows; attribute 0 holds the bits of a double
  update,       ///< writes the variable that is its first input, and hands out the new value
  control,      ///< no value, only an order
  output,       ///< a result of input 0, which has several; attribute 0 says which
  resource,     ///< a thing of the container that has no elements, such as a queue; kernels take it as an operand
  gradient,     ///< the gradient of input 0 by input 1; the graph compiler replaces it
  optimizer,    ///< updates of all trainable variables behind input 0; the graph compiler replaces it
  composition,  ///< several nodes, of which one is the result; the graph compiler replaces it
  loop,         ///< the head of a loop: nodes that depend on what it iterates are its body
  iterated,     ///< what a body reads in each iteration: an element of input 1, or a value that begins as input 1
  iterations,   ///< of a loop behind its end: input 0 in the last iteration, or of all of them
  close,        ///< ends the body of a loop; the graph compiler replaces it
};

/// The most results of one operation.
inline constexpr int most_outputs = 8;

/// Arguments of shape inference: the compiler calls it with static specs, a session with the extents of a run.
struct infer_args {
  array_view<const tensor_spec> in;
  attribute_list attributes;
  tensor_spec out;
  int output = 0;  ///< of an operation with several results: which one is asked for
};

/// Fills `out`; returns a sentence if the inputs do not fit, else nullptr.
using infer_function = const char* (*)(infer_args&);

/// Names the operation with tag `Op` among template arguments: kernels are registered by it. Its `info` would do, but a
/// compiler computes that where it is named, for every kernel that there is.
template <class Op>
inline constexpr char key = 0;

/// The run-time face of an operation.
struct op_info {
  const char* key = nullptr;
  std::string_view name;
  std::uint64_t id = 0;
  op_kind kind = op_kind::compute;
  bool stateful = false;         ///< two equal nodes are two different values (random numbers, updates)
  std::uint64_t shape_only = 0;  ///< bit i: only the shape of input i is read, never its elements
  std::uint64_t in_place = 0;    ///< bit i: the kernel may write its output over input i
  int unstretched = -1;          ///< trailing axes along which no input stretches; -1: inputs do not broadcast at all
  bool single = false;           ///< one node wherever device scopes ask for it, as what is stateful is
  bool unasked = false;          ///< it is where others are, whatever device scopes ask
  int outputs = 0;               ///< results, if there are several, each a node of kind `output`
  bool overwrites = false;       ///< an update that reads nothing of the variable that it writes
  bool on_host = false;          ///< only a host has a kernel for it
  bool late = false;             ///< its kernel finds extents of what it makes, which `infer` leaves dynamic
  infer_function infer = nullptr;
  infer_function bound = nullptr;  ///< of what is late: the same with the largest extents; nullptr: nobody knows them
  double (*work)(const infer_args&) = nullptr;  ///< multiplications of one call; nullptr: about one an element

  /// By a function, since a comparison of enumerations takes clang ten times as long to read as a call.
  [[nodiscard]] constexpr bool is(op_kind k) const { return kind == k; }
  /// True if its result lies where its first input is: a view, or an update of a variable.
  [[nodiscard]] constexpr bool shares_bytes() const { return is(op_kind::view) || is(op_kind::update); }
  /// True if its result is a number that no step writes.
  [[nodiscard]] constexpr bool is_number() const { return is(op_kind::literal) || is(op_kind::constant); }
  /// True if a step of a plan runs it.
  [[nodiscard]] constexpr bool has_step() const {
    return is(op_kind::compute) || is(op_kind::elementwise) || is(op_kind::update);
  }
  /// True if only the shape of input `i` is read.
  [[nodiscard]] constexpr bool ignores_elements(int i) const { return i < 64 && ((shape_only >> i) & 1) != 0; }
  /// True if the kernel may write its output over input `i`.
  [[nodiscard]] constexpr bool writes_over(int i) const { return i < 64 && ((in_place >> i) & 1) != 0; }
};

class graph;
struct gradient_args;
struct expand_args;
struct fold_args;
struct lift_args;

/// The compile-time face of an operation; it never reaches the binary of a program that the compiler compiles.
struct op_rules {
  const op_info* info = nullptr;
  void (*gradient)(gradient_args&) = nullptr;  ///< nullptr: not differentiable
  void (*expand)(expand_args&) = nullptr;      ///< set on operations that the graph compiler replaces by others
  void (*fold)(fold_args&) = nullptr;          ///< algebraic simplification, tried before a node is added
  bool stops_gradient = false;                 ///< the gradient through this op is zero by definition
  int (*weight)(attribute_list) = nullptr;     ///< nodes that it becomes, roughly; nullptr: one
  void (*lift)(lift_args&) = nullptr;          ///< does it once for all elements of a loop, in front of it
  void (*learn)(expand_args&) = nullptr;  ///< of a composition: what it learns beside the optimizer of its parameters
  std::uint64_t parameters = 0;           ///< bit i: input i is a parameter whose training means that
  bool in_registry = false;               ///< `is_in_registry`
};

namespace detail {

template <class Op>
constexpr op_info make_info() {
  // An assignment to `name` would be overload resolution among the assignments of a string view, for every operation.
  op_info info{.key = &key<Op>, .name = Op::name, .id = hash_text(Op::name), .kind = Op::kind, .infer = &Op::infer};
  if constexpr (requires { Op::stateful; }) info.stateful = Op::stateful;
  if constexpr (requires { Op::shape_only; }) info.shape_only = Op::shape_only;
  if constexpr (requires { Op::in_place; }) info.in_place = Op::in_place;
  if (info.is(op_kind::elementwise)) info.unstretched = 0;
  if constexpr (requires { Op::unstretched; }) info.unstretched = Op::unstretched;
  if constexpr (requires { Op::single; }) info.single = Op::single;
  if constexpr (requires { Op::unasked; }) info.unasked = Op::unasked;
  if constexpr (requires { Op::outputs; }) info.outputs = Op::outputs;
  if constexpr (requires { Op::overwrites; }) info.overwrites = Op::overwrites;
  if constexpr (requires { Op::on_host; }) info.on_host = Op::on_host;
  if constexpr (requires { Op::late; }) info.late = Op::late;
  if constexpr (requires { &Op::bound; }) info.bound = &Op::bound;
  if constexpr (requires { &Op::work; }) info.work = &Op::work;
  return info;
}

}  // namespace detail

/// The run-time face of the operation with tag `Op`.
template <class Op>
inline constexpr op_info info = detail::make_info<Op>();

namespace detail {

/// True for a type of the namespaces of the library's operations, by what the compiler calls it: base classes and
/// arguments do not count.
template <class Op>
[[nodiscard]] constexpr bool is_of_library() {
  const char* const text = __PRETTY_FUNCTION__;  // "... [with Op = tagma::op::add]", "... [Op = tagma::op::add]"
  const char* at = text;
  while (*at != '=') ++at;
  const char *in_op = " tagma::op::", *in_ir = " tagma::ir::";
  const char *a = at + 1, *b = at + 1;
  while (*in_op != '\0' && *a == *in_op) ++a, ++in_op;
  while (*in_ir != '\0' && *b == *in_ir) ++b, ++in_ir;
  for (; *at != '\0'; ++at)
    if (*at == '<') return false;
  return *in_op == '\0' || *in_ir == '\0';
}

}  // namespace detail

/// True for operations that the registry finds by their keys (device/operations_of_records.hpp): those of the library.
/// Programs that are compiled late say them by their keys, and others with all their rules. Templates of the library
/// specialise it, where they do not have somebody's own arguments.
template <class Op>
inline constexpr bool is_in_registry = detail::is_of_library<Op>();

namespace detail {

template <class Op>
constexpr op_rules make_rules() {
  op_rules rules{.info = &info<Op>, .in_registry = is_in_registry<Op>};
  if constexpr (requires(gradient_args & g) { Op::gradient(g); }) rules.gradient = &Op::gradient;
  if constexpr (requires(expand_args & e) { Op::expand(e); }) rules.expand = &Op::expand;
  if constexpr (requires(fold_args & f) { Op::fold(f); }) rules.fold = &Op::fold;
  if constexpr (requires { Op::stops_gradient; }) rules.stops_gradient = Op::stops_gradient;
  if constexpr (requires { &Op::weight; }) rules.weight = &Op::weight;
  if constexpr (requires(lift_args & l) { Op::lift(l); }) rules.lift = &Op::lift;
  if constexpr (requires(expand_args & e) { Op::learn(e); })
    rules.learn = &Op::learn, rules.parameters = Op::parameters;
  return rules;
}

}  // namespace detail

/// The compile-time face of the operation with tag `Op`.
template <class Op>
inline constexpr op_rules rules = detail::make_rules<Op>();

/// Their address, in a template. With an argument of that template, nothing is formed before the template is used.
template <class Op, class Argument>
inline constexpr const op_rules* rules_for = &rules<Op>;

/// Attributes of one node as a template argument.
template <std::size_t Count>
struct attributes {
  attribute values[Count > 0 ? Count : 1]{};

  [[nodiscard]] constexpr attribute_list list() const { return {values, Count}; }
  constexpr operator attribute_list() const { return list(); }
};

/// An integer as it is, a floating value as bits of a double.
template <class T>
[[nodiscard]] constexpr attribute as_attribute(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return std::bit_cast<attribute>(static_cast<double>(value));
  else
    return static_cast<attribute>(value);
}

/// `pack_attributes(1, 2.5)`
template <class... T>
[[nodiscard]] constexpr auto pack_attributes(T... value) {
  return attributes<sizeof...(T)>{{as_attribute(value)...}};
}

/// The double whose bits an attribute holds.
[[nodiscard]] constexpr double as_double(attribute a) { return std::bit_cast<double>(a); }

}  // namespace tagma::ir
