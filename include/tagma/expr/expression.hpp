// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The handle of a node: a small copyable value whose type has a constant length however large the graph is.

#include <tuple>
#include <type_traits>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/base/fixed_string.hpp"
#include "tagma/base/located.hpp"
#include "tagma/expr/carried.hpp"
#include "tagma/ir/graph.hpp"
#include "tagma/ir/record.hpp"

namespace tagma {

/// The identity of a node that is known by structure alone: equal structure is the same node.
template <std::uint64_t Hash>
struct structural_id {};

/// The identity of a node that holds a value written in place: the place tells it apart. clang numbers places file by
/// file, and gives them names for the linker. So there the hash of the structure is part of the identity: what two
/// files call by one name stands for equal graphs.
template <class Place, int Index = 0, std::uint64_t Structure = 0>
struct place_id {};

namespace detail {

/// The place of one step of an operation that is composed of several.
template <class Place, int Index>
struct part_of {};
template <class Place, int Index>
struct choose_part {
  using type = part_of<Place, Index>;
};
template <int Index>
struct choose_part<void, Index> {
  using type = void;
};
template <std::uint64_t Hash, int Index>
struct choose_part<seen_place<Hash>, Index> {
  using type = seen_place<hash_combine(Hash, static_cast<std::uint64_t>(Index))>;
};
template <class Place, int Index>
using part = typename choose_part<Place, Index>::type;

TAGMA_FRIEND_INJECTION_BEGIN
/// Declares the function that leads from a short identity to the record behind it; `definition` defines it. This is
/// what keeps the types of handles short: a handle names an identity, never its operands.
template <class Id>
struct declaration {
  friend constexpr const ir::record* record_of(declaration<Id>);
};
TAGMA_FRIEND_INJECTION_END

template <class Id, class Definition>
struct binding {
  using id = Id;
  friend constexpr const ir::record* record_of(declaration<Id>) { return &Definition::value; }
};

/// The identity of a node of a structure at a place.
template <class Place, std::uint64_t Structure>
#if TAGMA_NAMES_PLACES
using id_of_place = place_id<Place, 0, Structure>;
#else
using id_of_place = place_id<Place>;
#endif

template <class Id>
inline constexpr bool is_structural = false;
template <std::uint64_t Hash>
inline constexpr bool is_structural<structural_id<Hash>> = true;

struct no_values {};

}  // namespace detail

template <class Spec, class Id, bool Carries>
struct expr;

/// A value bound to a node for one run: `x = images`.
template <class Id, class Value>
struct [[nodiscard]] feed : located<feed<Id, Value>> {
  constexpr explicit feed(const Value& v) : value(v) {}
  const Value& value;
};

/// True for handles.
template <class T>
inline constexpr bool is_expression = false;
template <class Spec, class Id, bool Carries>
inline constexpr bool is_expression<expr<Spec, Id, Carries>> = true;
/// A handle of a tensor in a graph: what placeholders, variables, operations and layers return.
template <class T>
concept expression = is_expression<std::remove_cvref_t<T>>;

namespace diagnose {
/// What is assigned to a handle is a value.
template <class Value>
inline constexpr bool is_value_for_a_run = !is_expression<Value>;
/// All of them are expressions.
template <class... Operands>
inline constexpr bool are_expressions = (true && ... && expression<Operands>);
}  // namespace diagnose

namespace detail {
/// Stands for a feed that was refused.
struct refused_feed : located<refused_feed> {
  constexpr explicit refused_feed(const auto&) {}
};
template <class Id, class Value>
using feed_of = std::conditional_t<expression<Value>, refused_feed, feed<Id, Value>>;
}  // namespace detail

/// A handle: the type of the tensor, the identity of the node, and the run-time values it carries, if any.
template <class Spec, class Id, bool Carries>
struct expr {
  using spec_type = Spec;
  using element_type = typename Spec::element_type;
  using id = Id;
  static constexpr bool carries = Carries;
  static constexpr tensor_spec spec = Spec::value;
  static constexpr int rank = Spec::value.dims.rank;

  [[no_unique_address]] std::conditional_t<Carries, carried, detail::no_values> values{};

  /// What the compiler knows of the node.
  [[nodiscard]] static constexpr const ir::record& record() { return *record_of(detail::declaration<Id>{}); }

  /// Feeds this node in one run. The value must outlive the call of `run`. Raises TAGMA-E170 for another expression.
  template <class Value>
  constexpr detail::feed_of<Id, Value> operator=(const Value& value) const {
    static_assert(diagnose::is_value_for_a_run<Value>,
                  "TAGMA-E170 =: a handle is one expression for good and is fed with values; give the other expression "
                  "a name of its own: auto h2 = ...");
    return detail::feed_of<Id, Value>(value);
  }
};

namespace detail {

/// What may be taken for an expression by mistake: elements, text, and what layers return that has an `output`.
template <class T>
concept mistaken_operand = !expression<T> && (
                                                 std::is_array_v<T> || requires(const T& t) { t.data(); } ||
                                                 requires(const T& t) { t.output; });

[[nodiscard]] TAGMA_INLINE constexpr const carried* carried_by(const carried& values) { return &values; }
[[nodiscard]] TAGMA_INLINE constexpr const carried* carried_by(const no_values&) { return nullptr; }

/// What all operands carry, in the shape that ir::survey expects: nothing, what one of them carries, or a list. It is
/// a template of whether they carry anything, not of what they are: a few of it serve every graph.
template <class... Values>
[[nodiscard]] constexpr auto join_values(const Values&... values) {
  constexpr std::size_t count = (std::size_t{0} + ... + std::size_t{std::is_same_v<Values, carried>});
  if constexpr (count == 0) {
    return no_values{};
  } else {
    const carried* parts[count]{};
    std::size_t n = 0;
    for (const carried* each : {carried_by(values)...})
      if (each != nullptr) parts[n++] = each;
    if constexpr (count == 1)
      return carried(*parts[0]);
    else
      return carried::join(parts);
  }
}

template <class Id>
[[nodiscard]] constexpr const ir::record* find_record() {
  return record_of(declaration<Id>{});
}

template <class... Ids>
struct id_list {};

/// What the compiler knows of one result of an operation on these operands.
template <class Op, std::size_t Inputs>
[[nodiscard]] constexpr ir::infer_args infer_node(const fixed_array<const ir::record*, Inputs>& inputs,
                                                  ir::attribute_list attributes, int output) {
  fixed_array<tensor_spec, Inputs + 1> in{};
  std::size_t count = 0;
  for (const ir::record* r : inputs) in[count++] = r->spec;
  ir::infer_args args{{in.data(), Inputs}, attributes, {}, output};
  if (const char* problem = Op::infer(args)) throw problem;
  return {{}, {}, args.out};
}
[[nodiscard]] constexpr std::uint64_t hash_node(std::uint64_t op, array_view<const ir::record* const> inputs,
                                                array_view<const ir::record* const> controls,
                                                ir::attribute_list attributes) {
  std::uint64_t h = hash_combine(op, inputs.size());
  for (const ir::attribute a : attributes) h = hash_combine(h, static_cast<std::uint64_t>(a));
  for (const ir::record* r : inputs) h = hash_combine(h, r->hash);
  for (const ir::record* r : controls) h = hash_combine(h, r->hash);
  return h;
}
[[nodiscard]] constexpr bool any_carries(array_view<const ir::record* const> records) {
  bool any = false;
  for (const ir::record* r : records) any = any || r->carries;
  return any;
}

/// What a node with operands stands for. `Place` tells apart equal nodes that are not one.
template <class Op, auto Attributes, class Inputs, class Controls = id_list<>, class Place = void>
struct node_definition;

template <class Op, auto Attributes, class... Inputs, class... Controls, class Place>
struct node_definition<Op, Attributes, id_list<Inputs...>, id_list<Controls...>, Place> {
  static constexpr fixed_array<const ir::record*, sizeof...(Inputs)> inputs{{record_of(declaration<Inputs>{})...}};
  static constexpr fixed_array<const ir::record*, sizeof...(Controls)> controls{
      {record_of(declaration<Controls>{})...}};
  static constexpr auto attributes = Attributes;

  static constexpr tensor_spec infer_output(int output) {
    return infer_node<Op>(inputs, attributes.list(), output).out;
  }
  static constexpr tensor_spec spec = requires { Op::outputs; }
  ? tensor_spec{} : infer_node<Op>(inputs, attributes.list(), 0).out;
  static constexpr ir::record value{
      &ir::rules<Op>,
      with_seen_hash<Place>(hash_node(ir::info<Op>.id, inputs, controls, attributes.list())),
      spec,
      inputs,
      controls,
      attributes.list(),
      {},
      false,
      any_carries(inputs) || any_carries(controls)};
};

/// The handle with identity `Id`, behind which is `Definition`. Its type is made of the identity as it is, not of a
/// name inside the definition: nvcc's front end keeps such names in types, and would follow them from each operation to
/// its operands, by every way through the graph.
template <class Id, class Definition, class Spec, bool Carries, class Values>
[[nodiscard]] TAGMA_INLINE constexpr auto bind_handle(Values&& values) {
  static_assert(sizeof(binding<Id, Definition>) != 0);
  return expr<Spec, Id, Carries>{std::forward<Values>(values)};
}

/// The handle of a definition. `Place` tells it apart where structure does not: where a number was written in place,
/// and for random numbers and updates, of which two equal ones are two.
template <class Definition, class Place, class... E>
[[nodiscard]] TAGMA_INLINE constexpr auto make_handle(const E&... operands) {
  constexpr bool structural =
      is_no_place<Place> || ((true && ... && is_structural<typename E::id>)&&!Definition::value.op->info->stateful);
  constexpr bool carries = (false || ... || E::carries);
  using spec_type = spec_of<Definition::spec>;
  if constexpr (structural) {
    using id = structural_id<Definition::value.hash>;
    static_assert(sizeof(binding<id, Definition>) != 0);
    return expr<spec_type, id, carries>{join_values(operands.values...)};
  } else {
    using id = id_of_place<Place, Definition::value.hash>;
    static_assert(sizeof(binding<id, Definition>) != 0);
    return expr<spec_type, id, carries>{join_values(operands.values...)};
  }
}

/// A node of operation `Op` over handles.
template <class Op, auto Attributes = ir::attributes<0>{}, class Place = void, class... E>
[[nodiscard]] TAGMA_INLINE constexpr auto make_node(const E&... operands) {
  using own_place = std::conditional_t<ir::info<Op>.stateful, Place, void>;
  return make_handle<node_definition<Op, Attributes, id_list<typename E::id...>, id_list<>, own_place>, Place>(
      operands...);
}

/// Result `Output` of the node behind `Id`, of which `Whole` is the definition.
template <class Whole, class Id, int Output>
struct output_definition {
  static constexpr const ir::record* whole = find_record<Id>();
  static constexpr const ir::record* inputs[] = {whole};
  static constexpr auto attributes = ir::pack_attributes(Output);
  static constexpr tensor_spec spec = Whole::infer_output(Output);
  static constexpr ir::record value{ir::rules_for<ir::output_op, Id>,
                                    hash_combine(ir::info<ir::output_op>.id + Output, whole->hash),
                                    spec,
                                    inputs,
                                    {},
                                    attributes.list(),
                                    {},
                                    false,
                                    whole->carries};
};
/// Tells the results of one node apart where structure does not.
template <class Id, int Output>
struct result_of {};

template <class Whole, class Node, int... Output>
[[nodiscard]] constexpr auto split_results(const Node& node, std::integer_sequence<int, Output...>) {
  using id = typename Node::id;
  return std::tuple{make_handle<output_definition<Whole, id, Output>,
                                std::conditional_t<is_structural<id>, void, result_of<id, Output>>>(node)...};
}

/// The results of an operation that has several, over handles.
template <class Op, auto Attributes = ir::attributes<0>{}, class Place = void, class... E>
[[nodiscard]] constexpr auto make_nodes(const E&... operands) {
  using own_place = std::conditional_t<ir::info<Op>.stateful, Place, void>;
  static_assert(Op::outputs > 1 && Op::outputs <= ir::most_outputs && Op::kind == ir::op_kind::compute);
  using whole = node_definition<Op, Attributes, id_list<typename E::id...>, id_list<>, own_place>;
  return split_results<whole>(make_handle<whole, Place>(operands...), std::make_integer_sequence<int, Op::outputs>{});
}

}  // namespace detail

/// A node of an operation over handles: what functions such as `tagma::tanh` return, for operations of one's own.
/// @tparam Op a tag with a name, a kind, `infer`, and `gradient` if there is one; it needs a kernel in the device that
///            runs it
/// @tparam Attributes static properties of the node, from `ir::pack_attributes`
/// @tparam Place of the calling function, `class Place = TAGMA_FRESH_TYPE(E)`: tells apart equal calls where an operand
///               carries numbers written in place, or the operation is stateful
/// @param operands what `Op::infer` and the kernel take, in their order; check them before, with sentences of one's own
/// @return a handle; a tuple of them if the tag says by `outputs` that it has several results, at most eight. Then
/// `infer` is asked for each, which `infer_args::output` names; `gradient` asks `upstream_of(i)` what flows into which,
/// and the kernel writes those of `kernel_args::outs` that have data.
template <class Op, auto Attributes = ir::attributes<0>{}, class Place = void, expression... E>
[[nodiscard]] constexpr auto make_operation(const E&... operands) {
  if constexpr (requires { Op::outputs; })
    return detail::make_nodes<Op, Attributes, Place>(operands...);
  else
    return detail::make_node<Op, Attributes, Place>(operands...);
}

}  // namespace tagma
