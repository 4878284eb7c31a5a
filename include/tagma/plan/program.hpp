// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The compiled program: a whole graph as constants of a short-named type, and the run-time values it carries.

#include <concepts>
#include <tuple>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/expr/on.hpp"
#include "tagma/expr/variable.hpp"
#include "tagma/graph/names.hpp"
#include "tagma/plan/compiled_plan.hpp"

namespace tagma {

namespace detail {
/// The outputs `Named` of a program inside device scopes, where they are `Scoped`.
template <class Named, class Scoped>
struct scoped_outputs;
}  // namespace detail

/// What a program computes; the operand of `compile`.
template <expression... E>
struct output_list {
  std::tuple<E...> handles;

  /// The same inside a device scope.
  template <class Layer>
  [[nodiscard]] constexpr auto inside() const {
    return detail::scoped_outputs<output_list, output_list>{*this}.template inside<Layer>();
  }
};

namespace detail {
template <class Named, expression... E>
struct scoped_outputs<Named, output_list<E...>> {
  Named outputs;

  template <class Layer>
  [[nodiscard]] constexpr auto inside() const {
    return scoped_outputs<Named, output_list<decltype(make_scoped<Layer>(std::declval<const E&>()))...>>{outputs};
  }
};
}  // namespace detail

namespace diagnose {
/// Stands for a result that was refused: nothing more is said about it.
struct refused {};
}  // namespace diagnose

/// Names the results of a program: tensors, and updates such as the result of `minimize`. Raises TAGMA-E173.
template <expression... E>
[[nodiscard]] TAGMA_INLINE constexpr output_list<E...> outputs(const E&... e) {
  return {{e...}};
}
template <class... E>
  requires(!diagnose::are_expressions<E...>)
auto outputs(const E&...) {
  static_assert(diagnose::are_expressions<E...>,
                "TAGMA-E173 outputs: takes expressions, such as what a layer, a loss or tagma::minimize returns");
  return diagnose::refused{};
}

namespace detail {

struct one_call {
  void operator()() const;
};
/// Calls of expressions that are as good as those of a generic closure: a compiler can choose neither.
struct generic_calls {
  struct chosen {};
  template <class A, class = int>
  chosen operator()(const A&) const;
  template <class A, class B, class = int>
  chosen operator()(const A&, const B&) const;
};
template <class Closure>
struct named_twice : Closure, one_call {};
template <class Closure>
struct called_twice : Closure, generic_calls {
  using Closure::operator();
  using generic_calls::operator();
};
/// True for a closure whose body has an error of its own, by which its call has no result. It has a call still, whose
/// name is found twice, without an address; and so has a generic closure, which is called by expressions.
template <class Closure>
inline constexpr bool has_broken_body = [] {
  using any = expr<tagma::spec<float>, void, false>;
  using chosen = generic_calls::chosen;
  if constexpr (!std::is_class_v<Closure> || std::is_final_v<Closure>)
    return false;
  else if constexpr (requires { &named_twice<Closure>::operator(); })
    return false;
  else if constexpr (requires { &Closure::operator(); })
    return false;
  else if constexpr (!requires(const called_twice<Closure>& twice, const any& e) {
                       { twice(e) } -> std::same_as<chosen>;
                       { twice(e, e) } -> std::same_as<chosen>;
                     })
    return false;
  else  // those that take numbers, or anything as it comes
    return !std::is_invocable_v<const Closure&, int> && !std::is_invocable_v<const Closure&, int, int> &&
           !std::is_invocable_v<const Closure&, any, int> && !std::is_invocable_v<const Closure&, int, any>;
}();

}  // namespace detail

namespace diagnose {
/// A graph was built without a problem of this kind; the other arguments are what the problem is about.
template <ir::build_problem Problem, class Name, class First, class Second>
inline constexpr bool one_type_per_name = ir::differ(Problem, ir::build_problem::name_clash);
template <ir::build_problem Problem, class Name, class First, class Second>
inline constexpr bool one_beginning_per_name = ir::differ(Problem, ir::build_problem::two_beginnings);
/// How a variable begins, and whether optimizers train it.
template <class Initializer, class Training>
struct begins_with {};
struct trainable {};
template <ir::build_problem Problem, class Operation>
inline constexpr bool has_gradient = ir::differ(Problem, ir::build_problem::no_gradient);
template <ir::build_problem Problem, class Y, class X>
inline constexpr bool depends_on = ir::differ(Problem, ir::build_problem::independent);
template <ir::build_problem Problem>
inline constexpr bool trains_something = ir::differ(Problem, ir::build_problem::nothing_to_train);
template <ir::build_problem Problem>
inline constexpr bool has_averages = ir::differ(Problem, ir::build_problem::no_averages);
/// A scope that says what is trained, or is not, has such a variable.
template <ir::build_problem Problem, class Scope>
inline constexpr bool scope_has_variables = ir::differ(Problem, ir::build_problem::empty_scope);
template <ir::build_problem Problem, class Operation>
inline constexpr bool stays_in_its_loop = ir::differ(Problem, ir::build_problem::beyond_loop);
/// No operation in the body of a loop finds extents: they are those of all iterations.
template <class Graph>
inline constexpr bool knows_its_extents = [] {
  if constexpr (requires { Graph::loops; })
    return Graph::loops == 0 || !ir::has_late_in_loop(Graph::view);
  else
    return true;
}();
template <ir::build_problem Problem>
inline constexpr bool has_few_loops = ir::differ(Problem, ir::build_problem::too_many_loops);
template <ir::build_problem Problem, class Operation>
inline constexpr bool updates_once = ir::differ(Problem, ir::build_problem::update_in_loop);
template <ir::build_problem Problem, class Operation>
inline constexpr bool block_keeps_variables = ir::differ(Problem, ir::build_problem::update_in_block);
template <ir::build_problem Problem, class Operation>
inline constexpr bool block_has_only_variables = ir::differ(Problem, ir::build_problem::resource_in_block);
template <ir::build_problem Problem>
inline constexpr bool states_its_most = ir::differ(Problem, ir::build_problem::endless_loop);
template <ir::build_problem Problem>
inline constexpr bool goes_back_once = ir::differ(Problem, ir::build_problem::second_while);
template <ir::build_problem Problem>
inline constexpr bool has_few_scopes = ir::differ(Problem, ir::build_problem::too_many_scopes);
template <ir::build_problem Problem>
inline constexpr bool is_small_enough = ir::differ(Problem, ir::build_problem::too_large);
/// No tensor has more bytes than can be addressed, and so not the result of `Operation`.
template <ir::build_problem Problem, class Operation, class Result>
inline constexpr bool tensors_are_addressable = ir::differ(Problem, ir::build_problem::oversized);
/// What a device function returned for `Operation` is the name of a device.
template <ir::build_problem Problem, class Operation, class Text>
inline constexpr bool function_names_a_device = ir::differ(Problem, ir::build_problem::malformed_device);
/// A program is text.
template <class Closure>
inline constexpr bool is_closure_printed = false;
/// What is compiled is called without arguments. Of a body with an error, which has no result, that error speaks.
template <class Closure>
inline constexpr bool is_closure = std::is_invocable_v<const Closure&> || detail::has_broken_body<Closure>;
/// It returns the outputs of a program, or something that was refused before.
template <class Result>
inline constexpr bool returns_outputs = std::is_same_v<Result, refused>;
/// There is no name that two variables have.
template <class Text>
inline constexpr bool names_are_of_one_variable = std::is_void_v<Text>;
}  // namespace diagnose

namespace detail {

template <class Outputs>
struct output_traits;
template <class... E>
struct output_traits<output_list<E...>> {
  static constexpr fixed_array<const ir::record*, sizeof...(E)> records{{find_record<typename E::id>()...}};
  static constexpr bool carries = (false || ... || E::carries);

  /// The position of an output, or -1.
  template <class Id>
  static constexpr int position() {
    int at = -1, i = 0;
    ((at = at < 0 && std::is_same_v<typename E::id, Id> ? i : at, ++i), ...);
    // An expression with a number in it that is written again has an identity of its own.
    if constexpr (!is_structural<Id>)
      for (i = 0; at < 0 && i < static_cast<int>(records.size()); ++i)
        if (ir::is_one_node(*records[i], *find_record<Id>())) at = i;
    return at;
  }
  /// The records of the handles themselves.
  static constexpr const auto& named = records;

  /// What the handles carry.
  template <class Closure>
  TAGMA_INLINE static carried values(const Closure& closure) {
    const auto list = closure();
    return [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
      return joined(join_values(std::get<I>(list.handles).values...));
    }
    (std::index_sequence_for<E...>{});
  }
  TAGMA_INLINE static carried joined(carried values) { return values; }
  TAGMA_INLINE static carried joined(no_values) { return {}; }
};
template <expression E>
struct output_traits<E> : output_traits<output_list<E>> {
  template <class Closure>
  TAGMA_INLINE static carried values(const Closure& closure) {
    return output_traits<output_list<E>>::joined(join_values(closure().values));
  }
};

template <class Named, class Scoped>
struct output_traits<scoped_outputs<Named, Scoped>> : output_traits<Named> {
  static constexpr const auto& records = output_traits<Scoped>::records;
  static constexpr const auto& named = output_traits<Named>::records;

  template <class Closure>
  TAGMA_INLINE static carried values(const Closure& closure) {
    return output_traits<Named>::values([&closure] { return closure().outputs; });
  }
};

struct no_operation {
  static constexpr const char* name = "none";
  static constexpr ir::op_kind kind = ir::op_kind::control;
  TAGMA_COLD static constexpr const char* infer(ir::infer_args&) { return nullptr; }
};

/// The name of an operation as a type, for messages; void if there is none.
template <const std::string_view* Name>
constexpr auto find_operation_name() {
  if constexpr (!Name->empty()) return spelled<fixed_copy<Name>()>{};
}

/// How the variable of a record begins, as a type.
template <ir::attribute Kind, bool Trainable>
using beginning = diagnose::begins_with<std::conditional_t<Kind == carried_kind, carried_initializer,
                                                           static_initializer<static_cast<initializer_kind>(Kind)>>,
                                        std::conditional_t<Trainable, diagnose::trainable, not_trainable_tag>>;

/// One of the two things that a problem of a graph is about, as a type.
template <const ir::build_status* Status, bool Second>
auto find_subject() {
  constexpr const ir::record *one = Second ? Status->other : Status->one, *other = Second ? Status->one : Status->other;
  if constexpr (Status->problem == ir::build_problem::two_beginnings) {
    return beginning<one->attributes[0], one->attributes[1] != 0>{};
  } else if constexpr (one != nullptr && one->op->info != other->op->info && one->spec == other->spec) {
    static constexpr std::string_view name = one->op->info->name;
    return spelled<fixed_copy<&name>()>{};
  } else {
    static constexpr tensor_spec spec = Second ? Status->second : Status->first;
    return spec_of<spec>{};
  }
}

/// A closure whose program is placed softly.
template <class Closure>
struct placed_softly {
  Closure closure;
  [[nodiscard]] constexpr auto operator()() const { return closure(); }
};
template <class Closure>
inline constexpr bool is_placed_softly = false;
template <class Closure>
inline constexpr bool is_placed_softly<placed_softly<Closure>> = true;

/// The graph of a closure as its runs have it; <tagma/passes.hpp> rewrites it where the closure asks for that.
template <class Closure, class First>
struct last_graph {
  static constexpr const auto& built = First::built;
};

/// True for a closure whose program keeps values from run to run.
template <class Closure>
inline constexpr bool keeps_values = false;

/// What is wrong with a graph that was built: what its builder found, or else the first tensor that is too large.
[[nodiscard]] constexpr ir::build_status status_of(const ir::build_status& built, const ir::graph_view& g) {
  for (int i = 0; i < g.size() && built.good(); ++i)
    if (!is_addressable(g[i].spec)) return {ir::build_problem::oversized, g[i].op->info, g[i].spec, {}, {}};
  return built;
}

/// Everything the compiler worked out about the graph behind a closure.
template <class Closure>
struct compiled_graph {
  static constexpr bool soft = is_placed_softly<Closure>;
  static constexpr bool keeps = keeps_values<Closure>;
  using traits = output_traits<std::remove_cvref_t<decltype(std::declval<const Closure&>()())>>;
  static constexpr std::size_t output_count = traits::records.size();

  static constexpr ir::survey_result survey = ir::survey(traits::records, traits::named);
  static constexpr auto surveyed =
      ir::write_survey<survey.places, survey.parts, survey.values, survey.gradients>(traits::records, traits::named);
  static constexpr value_places places{surveyed.places, surveyed.parts, surveyed.root, survey.values};

  template <std::size_t Capacity>
  static constexpr auto built_at =  // clang is out of steps? -fconstexpr-steps=2000000000, docs/compile_time.md
      ir::build_graph<Capacity, output_count, survey.scoped, survey.looped>(traits::records, surveyed.owners,
                                                                            surveyed.gradients);
  /// Built anew with twice the room where there was too little; not where the compiler gave up.
  template <std::size_t Capacity,
            bool Full = Capacity<TAGMA_MAX_NODES &&
                                 built_at<Capacity>.status.problem == ir::build_problem::too_large> struct with_room {
    static constexpr const auto& built = built_at<Capacity>;
  };
  template <std::size_t Capacity>
  struct with_room<Capacity, true> : with_room<2 * Capacity> {};
  using last = last_graph<Closure, with_room<ir::expected_nodes(survey, TAGMA_MAX_NODES)>>;
  static constexpr const auto& built = last::built;

  static constexpr std::size_t nodes = built.nodes;
  static constexpr std::size_t edges = built.edges;
  static constexpr std::size_t attributes = built.attributes;
  static constexpr std::size_t requests = built.request_count;
  static constexpr std::size_t loops = built.loop_count;
  static constexpr std::size_t back_edges = built.back_edge_count;
  static constexpr auto flat = ir::trim<nodes, edges, attributes, requests, loops, back_edges>(built);
  static constexpr ir::graph_view view{flat.nodes,    flat.edges, flat.attributes, flat.roots,
                                       flat.requests, flat.loops, flat.back_edges, flat.loop_of};

  static constexpr ir::build_status status = status_of(built.status, view);
  static constexpr ir::build_problem problem = status.problem;
  static constexpr std::string_view operation = status.op == nullptr ? std::string_view{} : status.op->name;
  using operation_type = decltype(find_operation_name<&operation>());
  static constexpr std::string_view text = status.text;
  using first_type = decltype(find_subject<&status, false>());
  using second_type = decltype(find_subject<&status, true>());
  using text_type = decltype(find_operation_name<&text>());

  static constexpr std::string_view shared_name = ir::find_shared_name(view);
  using shared_name_type = decltype(find_operation_name<&shared_name>());
};

/// What a closure returns.
template <class Closure>
using closure_result = std::remove_cvref_t<decltype(std::declval<const Closure&>()())>;
/// True for a closure whose result has outputs.
template <class Closure>
concept closure_of_outputs = requires {
  sizeof(output_traits<closure_result<Closure>>);
};

/// Stands for the graph of what is no closure of outputs.
template <class Result>
struct no_graph {
  static constexpr ir::build_problem problem = ir::build_problem::none;
  using operation_type = void;
  using first_type = Result;
  using second_type = void;
  using text_type = void;
  using shared_name_type = void;
};
template <class Closure>
constexpr auto choose_graph() {
  if constexpr (closure_of_outputs<Closure>)
    return std::type_identity<compiled_graph<Closure>>{};
  else if constexpr (requires { typename closure_result<Closure>; })
    return std::type_identity<no_graph<closure_result<Closure>>>{};
  else
    return std::type_identity<no_graph<void>>{};
}

}  // namespace detail

/// A compiled program: its graph is part of its type, the numbers written into it are its value.
template <class Closure>
class program {
 public:
  using graph = detail::compiled_graph<Closure>;
  using full_plan = decltype(detail::plan_of_all<graph>(std::make_index_sequence<graph::output_count>{}));

  /// Gathers the numbers written into the expressions. Throws InvalidArgument if one place has two.
  explicit program(const Closure& closure) : values_(gather_values(graph::places, graph::traits::values(closure))) {}

  /// The run-time values written into the expressions, by number.
  [[nodiscard]] const carried& values() const { return values_; }

  /// Nodes of the whole graph, gradients and updates included.
  static constexpr std::size_t node_count() { return graph::nodes; }

  /// Bytes that one run of all outputs needs for intermediate tensors, a constant of the compiler. A run whose steps
  /// share threads or use streams may take more. A session has this for each run under way and, in its cache
  /// (`session_options::plan_cache_bytes`), for runs with other extents or of other outputs; variables come on top.
  /// @param batch the value of every dynamic extent
  static constexpr std::int64_t peak_bytes(extent batch = 1) { return detail::peak_bytes<full_plan>(batch); }

  /// A hash of the flat graph (operations, types, shapes, names, edges, outputs), equal in every process and with every
  /// compiler.
  static constexpr std::uint64_t fingerprint() {
    constexpr std::uint64_t value = ir::fingerprint(graph::view);
    return value;
  }

 private:
  carried values_;
};

/// An option of `compile`.
struct soft_placement_option {};
/// Behind the closure of `compile`: what has no kernel on the device that is asked for runs where there is one; the job
/// stays.
inline constexpr soft_placement_option soft_placement{};

/// A program is printed by <tagma/explain.hpp>: TAGMA-E171.
template <class Stream, class Closure>
Stream& operator<<(Stream& stream, const program<Closure>&) {
  static_assert(diagnose::is_closure_printed<Closure>,
                "TAGMA-E171 <<: what prints a program is tagma::explain(program), of <tagma/explain.hpp>");
  return stream;
}

/// Programs whose graphs the C++ compiler builds. A file with TAGMA_LATE has others (plan/late_program.hpp).
namespace early {

/// What is compiled has no outputs.
#define TAGMA_REFUSES_CLOSURE(Closure)                                                                               \
  static_assert(diagnose::is_closure<Closure>,                                                                       \
                "TAGMA-E172 compile: takes a closure: tagma::compile([=] { return tagma::outputs(loss, train); })"); \
  if constexpr (requires { typename detail::closure_result<Closure>; })                                              \
  static_assert(diagnose::returns_outputs<detail::closure_result<Closure>>,                                          \
                "TAGMA-E172 compile: the closure must return tagma::outputs(...)")

/// Compiles a graph: everything about it is checked and planned here, by the C++ compiler. Template arguments are
/// worked out; beside the closure's they say what a message is about.
/// @param closure returns `outputs(...)`; a closure, so that no long type appears in the name of the program
/// Raises TAGMA-E060, E061, E063, E064, E080, E081, E146, E161, E172, E204 to E207, E209, E219, E264, E265, E273,
/// E300 and E306.
template <class Closure, class Graph = typename decltype(detail::choose_graph<Closure>())::type,
          class Operation = typename Graph::operation_type, class First = typename Graph::first_type,
          class Second = typename Graph::second_type, class Text = typename Graph::text_type,
          class Shared = typename Graph::shared_name_type>
[[nodiscard]] auto compile(const Closure& closure) {
  static_assert(diagnose::one_type_per_name<Graph::problem, Text, First, Second>,
                "TAGMA-E060 compile: two variables or placeholders of one name have different types");
  static_assert(
      diagnose::one_beginning_per_name<Graph::problem, Text, First, Second>,
      "TAGMA-E060 compile: two variables of one name begin in different ways, or only one of them is trained");
  static_assert(diagnose::has_gradient<Graph::problem, Operation>,
                "TAGMA-E061 gradient: an operation between the loss and a variable has no gradient");
  static_assert(diagnose::trains_something<Graph::problem>,
                "TAGMA-E063 minimize: the loss depends on no trainable variable");
  static_assert(diagnose::has_averages<Graph::problem>,
                "TAGMA-E306 update_averages: the expression depends on no layer that keeps averages, as batch_norm for "
                "training");
  static_assert(
      diagnose::scope_has_variables<Graph::problem, Text>,
      "TAGMA-E300 minimize: a scope that says what is trained, or is not, has no such variable behind the loss");
  static_assert(diagnose::depends_on<Graph::problem, First, Second>,
                "TAGMA-E064 gradient: the first operand does not depend on the second");
  static_assert(
      diagnose::stays_in_its_loop<Graph::problem, Operation>,
      "TAGMA-E204 compile: a value of the body of a loop is used behind the loop; hand it out of the body with "
      "tagma::next(...).emit(value)");
  static_assert(diagnose::knows_its_extents<Graph>,
                "TAGMA-E207 compile: an operation in the body of a loop cannot find extents, as boolean_mask, nonzero "
                "and unique do");
  static_assert(diagnose::has_few_loops<Graph::problem>,
                "TAGMA-E205 compile: a graph has at most 64 loops, with those of its gradients");
  static_assert(
      diagnose::updates_once<Graph::problem, Operation>,
      "TAGMA-E206 compile: the body of a loop or a branch cannot update a variable, as a batch_norm that is trained "
      "does");
  static_assert(diagnose::block_keeps_variables<Graph::problem, Operation>,
                "TAGMA-E264 repeat: a block that updates its variables is written out: repeat<\"block\", 12>(block, "
                "tagma::unrolled)");
  static_assert(diagnose::block_has_only_variables<Graph::problem, Operation>,
                "TAGMA-E265 repeat: a block with a queue or another resource of its own is written out: "
                "repeat<\"block\", 12>(block, tagma::unrolled)");
  static_assert(diagnose::states_its_most<Graph::problem>,
                "TAGMA-E209 compile: the gradient of a while_loop needs the most iterations that there may be: "
                "while_loop<100>(...)");
  static_assert(diagnose::goes_back_once<Graph::problem>,
                "TAGMA-E219 compile: the gradient of a while_loop has no gradient itself");
  static_assert(diagnose::is_small_enough<Graph::problem>,
                "TAGMA-E080 compile: the graph has more nodes than TAGMA_MAX_NODES");
  static_assert(diagnose::has_few_scopes<Graph::problem>,
                "TAGMA-E273 compile: scopes ask for more than 62 devices, have more than 16 functions, or are around "
                "nodes in more than 1,023 ways");
  static_assert(diagnose::tensors_are_addressable<Graph::problem, Operation, First>,
                "TAGMA-E081 compile: a tensor has at most 2^56 bytes");
  static_assert(diagnose::function_names_a_device<Graph::problem, Operation, Text>,
                "TAGMA-E146 on: a device function returned a text that names no device, such as \"/job:ps/task:1\"");
  static_assert(
      diagnose::names_are_of_one_variable<Shared>,
      "TAGMA-E161 compile: two variables have one name, which is that of a slot or of the step of an optimizer");
  if constexpr (!detail::closure_of_outputs<Closure>) {
    TAGMA_REFUSES_CLOSURE(Closure);
  } else if constexpr (Graph::problem == ir::build_problem::none && std::is_void_v<Shared>) {
    return program<Closure>(closure);
  }
}

/// The same, but a node may be elsewhere where the device that a scope asks for has no kernel for it, or is of a type
/// that the program does not know: type and number are dropped, job, replica and task hold.
template <class Closure>
[[nodiscard]] auto compile(const Closure& closure, soft_placement_option) {
  if constexpr (detail::closure_of_outputs<Closure>) {
    return compile(detail::placed_softly<Closure>{closure});
  } else {
    TAGMA_REFUSES_CLOSURE(Closure);
  }
}

}  // namespace early

#if !defined(TAGMA_LATE)
using early::compile;
#endif

}  // namespace tagma

#undef TAGMA_REFUSES_CLOSURE
