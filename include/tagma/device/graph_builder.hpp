// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Graphs that are written when a program runs: placeholders, variables, and operations by name. What a builder makes
/// are the records that handles stand for; from there on everything is as for compiled programs.

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/device/graph_node.hpp"
#include "tagma/device/named_attributes.hpp"
#include "tagma/expr/name.hpp"
#include "tagma/expr/on.hpp"
#include "tagma/expr/op/loop.hpp"
#include "tagma/nn/optimizers.hpp"
#include "tagma/place/device.hpp"
#include "tagma/plan/any_program.hpp"
#include "tagma/tensor/any_tensor.hpp"

namespace tagma {

/// Builds a graph, node by node, and makes a program of it:
///
///     graph_builder b;
///     const auto x = b.placeholder("x", dtype::float32, {dyn, 8});
///     const auto w = b.variable("w", dtype::float32, {8, 1}, glorot_uniform);
///     const auto y = b.add("matmul", {x, w}, {{"transpose_a", false}});
///     const auto loss = b.add("mean", {b.add("square", {y})}, {{"axes", {0, 1}}});
///     const any_program program = b.build({{"loss", loss}, {"train", b.minimize(loss, sgd{})}});
///
/// Types and shapes are inferred, and rules checked, where a node is added; every member that adds one throws
/// InvalidArgument with the number that the rule has in the compiler. Not for several threads at once.
class graph_builder {
 public:
  using node_list = std::vector<graph_node>;

  graph_builder() = default;
  graph_builder(const graph_builder&) = delete;
  graph_builder& operator=(const graph_builder&) = delete;

  /// An input with a name. Raises TAGMA-E001, E002, E160, and E060 if something has that name.
  /// @param dims `dyn` where an extent varies from run to run
  graph_node placeholder(std::string_view name, dtype type, const shape& dims = {}) {
    own_record& r = make(face_of<op::placeholder>(), {}, {}, {type, dims});
    call(r, name);
    return keep(r);
  }

  /// A variable with a name, inside the scopes of names that are open. Raises TAGMA-E003, E156, E160, and E060 if
  /// something has that name.
  /// @param initial how it begins: an initializer (`zeros`, `glorot_uniform`, `random_normal(0, 1)`), a number, or a
  /// tensor of its type and shape
  /// @param trainable false if optimizers leave it alone; they do so if it is no floating type
  template <class Initial>
  graph_node variable(std::string_view name, dtype type, const shape& dims, const Initial& initial,
                      bool trainable = true) {
    if constexpr (detail::is_static_initializer<Initial>)
      return add_variable(name, {type, dims}, static_cast<ir::attribute>(Initial::kind), trainable, nullptr);
    else
      return add_carried_variable(name, {type, dims}, trainable, initial_value({type, dims}, initial));
  }
  /// A variable that no session initialises, as `tagma::preloaded`.
  graph_node preloaded(std::string_view name, dtype type, const shape& dims) {
    return add_variable(name, {type, dims}, detail::preloaded_kind, false, nullptr);
  }

  /// A scalar that the program carries.
  template <class T>
    requires std::is_arithmetic_v<T> graph_node number(dtype type, T value) {
      const auto whole = static_cast<double>(value);
      const bool fits = std::is_integral_v<T> || (whole > -0x1p63 && whole < 0x1p63);
      const carried_value v{whole, fits ? static_cast<std::int64_t>(value) : 0};
      return keep(make(face_of<op::literal>(), {}, {}, {type, {}}, &v));
    }
  /// A scalar that the graph compiler knows, and may fold into operations.
  graph_node constant(dtype type, double value) {
    const ir::attribute bits[] = {ir::as_attribute(value)};
    return keep(make(face_of<ir::constant_op>(), {}, bits, {type, {}}));
  }

  /// A node of an operation, by its name in docs/operations.md.
  /// @param attributes by name, in any order, flags that are false left out; or all in the order in which the operation
  /// takes them, as program files have them
  /// Throws NotFound if there is no operation of that name.
  /// @{
  graph_node add(std::string_view operation, const node_list& inputs = {},
                 std::initializer_list<attribute_value> attributes = {}) {
    return add(operation, inputs, std::vector<attribute_value>(attributes));
  }
  graph_node add(std::string_view operation, const node_list& inputs, const std::vector<attribute_value>& attributes) {
    const ir::operation_face* const face = face_called(operation);
    std::vector<ir::attribute> bits;
    for (const attribute_value& a : attributes) bits.push_back(a.bits());
    return keep(make(face, inputs, bits, {}));
  }
  graph_node add(std::string_view operation, const node_list& inputs, const named_attributes& attributes) {
    const ir::operation_face* const face = face_called(operation);
    const node_operands of = operands_of(face->info(), inputs);
    return keep(make(face, inputs, detail::attribute_sorter(*face, of.specs, of.things, attributes).sorted(), {}));
  }
  /// @}
  /// A thing of the session's container, such as a queue, by its name; the same one whenever it is asked for with the
  /// same attributes. Raises TAGMA-E160, and E060 if something else has that name.
  /// @param operation "queue", "reader" or another resource of docs/operations.md
  /// @{
  graph_node resource(std::string_view operation, std::string_view name,
                      std::initializer_list<attribute_value> attributes = {}) {
    return resource(operation, name, std::vector<attribute_value>(attributes));
  }
  graph_node resource(std::string_view operation, std::string_view name, const named_attributes& attributes) {
    return call_thing(add(operation, {}, attributes), name);
  }
  graph_node resource(std::string_view operation, std::string_view name,
                      const std::vector<attribute_value>& attributes) {
    return call_thing(add(operation, {}, attributes), name);
  }
  /// @}
  /// A result of an operation that has several.
  graph_node result(const graph_node& of, int index) {
    const ir::record& whole = record_of(of, "result");
    const int results = whole.op->info->outputs;
    const graph_node one = index < 0 || index >= results ? graph_node() : output_of(whole, index);
    if (one.record_ == nullptr || one.type() == dtype::none)
      fail(status_code::invalid_argument,
           {"graph_builder: ", whole.op->info->name, " has no result ", index, " of several"});
    return one;
  }

  /// Done when all of these are done: the usual output of several updates.
  graph_node group(const node_list& nodes) {
    own_record& r = make(face_of<op::group>(), {}, {}, {});
    for (const graph_node& n : nodes) r.waits_for.push_back(&record_of(n, "group"));
    return keep(r);
  }
  /// The same node once more, which waits until others are done.
  graph_node after(const node_list& before, const graph_node& node) {
    own_record& r = copy(record_of(node, "after"));
    for (const graph_node& b : before) r.waits_for.push_back(&record_of(b, "after"));
    return keep(r);
  }
  /// The same node once more, on the device of another, wherever that is; no device scope asks for it.
  graph_node colocate_with(const graph_node& with, const graph_node& node) {
    static constexpr ir::scope here{ir::scope_kind::colocate, {}, nullptr, {}, nullptr};
    own_record& r = copy(record_of(node, "colocate_with"));
    r.stays_with.push_back(&record_of(with, "colocate_with"));
    r.scopes = &here;
    return keep(r);
  }

  /// The learning rate of a schedule, a float64 scalar, as `tagma::scheduled_rate`.
  /// @param step updates done so far, an int64 scalar
  graph_node learning_rate(const rate& schedule, const graph_node& step) {
    return keep(make(face_of<op::scheduled_rate>(), {step}, {}, {}, &schedule.value()));
  }

  /// The gradient of the sum of `y` by `x`. Raises TAGMA-E014; `build` raises TAGMA-E061 and E064.
  graph_node gradient(const graph_node& y, const graph_node& x) {
    const ir::record &of = record_of(y, "gradient"), &by = record_of(x, "gradient");
    for (const ir::record* r : {&of, &by})
      if (!is_floating(r->spec.type))
        fail(status_code::invalid_argument,
             {"TAGMA-E014 gradient: ", to_string(r->spec), " needs to be of a floating element type"});
    own_record& r = new_record(ir::rules<op::gradient>, by.spec);
    r.from = {&of, &by};
    return keep(r);
  }

  /// One step of training, as `tagma::minimize`. Raises TAGMA-E062 and E302; `build` raises TAGMA-E061, E063 and E064.
  /// @param optimizer `sgd{}`, `adam{}` and so on
  /// @param clip of the gradients, with numbers as bounds: `clip_by_global_norm(1.0)`; `{}` for none
  /// @param variables that are trained; none: all that are trainable
  template <detail::optimizer Optimizer, class Clip = detail::clip_option<void>>
    requires detail::is_clip_option<Clip> graph_node minimize(const graph_node& loss, const Optimizer& optimizer,
                                                              const Clip& clip = {}, const node_list& variables = {}) {
      const ir::record& of = record_of(loss, "minimize");
      if (of.spec.dims.rank != 0 || !is_floating(of.spec.type))
        fail(status_code::invalid_argument,
             {"TAGMA-E062 minimize: the loss must be one floating number; use tagma::mean or tagma::sum: it is ",
              to_string(of.spec)});
      std::vector<const ir::record*> operands{&of};
      for (const graph_node& variable : variables)
        operands.push_back(&detail::check_trainable(record_of(variable, "minimize")));
      return optimize(optimizer, clip, 0, std::move(operands), of.spec.type);
    }
  /// Updates variables with given gradients, as `tagma::apply_gradients`. Raises TAGMA-E065 and E066.
  /// @param pairs of a variable and its gradient
  template <detail::optimizer Optimizer, class Clip = detail::clip_option<void>>
    requires detail::is_clip_option<Clip> graph_node
    apply_gradients(const Optimizer& optimizer, const std::vector<std::pair<graph_node, graph_node>>& pairs,
                    const Clip& clip = {}) {
      if (pairs.empty()) fail(status_code::invalid_argument, "graph_builder: apply_gradients takes a pair or more");
      std::vector<const ir::record*> operands;
      for (const auto& pair : pairs) {
        const ir::record &v = record_of(pair.first, "apply_gradients"), &g = record_of(pair.second, "apply_gradients");
        if (!v.op->info->is(ir::op_kind::variable))
          fail(status_code::invalid_argument,
               {"TAGMA-E065 apply_gradients: the first of each pair must be a variable, and is ", v.op->info->name});
        if (v.spec.type != g.spec.type || !compatible(v.spec.dims, g.spec.dims))
          fail(status_code::invalid_argument, {"TAGMA-E066 apply_gradients: the gradient of ", v.name, ", ",
                                               to_string(v.spec), ", is ", to_string(g.spec)});
        operands.push_back(&v), operands.push_back(&g);
      }
      return optimize(optimizer, clip, static_cast<int>(pairs.size()), operands, operands[1]->spec.type);
    }

  /// @name Loops
  /// A loop has a head; what is computed from elements and carried values of that head is its body, and `close_loop`
  /// ends it.
  /// @{

  /// The head of a loop that goes over the first axis of some sequences.
  /// @param iterations how many there are; `dyn`: as many as the sequences have elements
  /// @param reversed from the last element to the first
  graph_node loop(const node_list& sequences, extent iterations = dyn, bool reversed = false) {
    return keep(make(face_of<ir::loop_head>(), sequences, ir::pack_attributes(iterations, reversed).list(), {}));
  }
  /// The head of a loop that is done once if `condition`, a scalar bool, is true, and never if it is not.
  graph_node loop_if(const graph_node& condition) {
    return keep(make(face_of<ir::times_head>(), {condition}, ir::pack_attributes(1, false).list(), {}));
  }
  /// The head of a loop that goes on while the first value that it carries, a scalar bool, is true.
  /// @param begins_as what that value is before the first iteration
  /// @param most iterations; 0 if there is no such number: then it has no gradient
  graph_node loop_while(const graph_node& begins_as, extent most = 0) {
    return keep(make(face_of<ir::while_head>(), {begins_as}, ir::pack_attributes(most, false).list(), {}));
  }
  /// The element of a sequence that is the turn of the iteration.
  graph_node element(const graph_node& head, const graph_node& sequence) {
    const bool copied = detail::is_of_variable(&record_of(sequence, "element"));
    return keep(make(face_of<ir::loop_element>(), {head, copied ? loop_copy(sequence) : sequence}, {}, {}));
  }
  /// A value that iterations hand on.
  /// @param number of it, from 0 on, among those of the loop
  /// @param begins_as its value in the first iteration
  graph_node carried(const graph_node& head, int number, const graph_node& begins_as) {
    const ir::attribute attributes[] = {number};
    return keep(make(face_of<ir::loop_carried>(), {head, loop_copy(begins_as)}, attributes, {}));
  }
  /// Ends the body of a loop.
  /// @param carried all values that iterations hand on, by their numbers
  /// @param next what each is in the next iteration
  /// @param emitted values that are gathered from all iterations, along a new first axis; none where elements end the
  /// loop
  /// @return what was carried, behind the last iteration, and then what was gathered
  /// Raises TAGMA-E202 and E203.
  node_list close_loop(const graph_node& head, const node_list& carried, const node_list& next,
                       const node_list& emitted = {}) {
    const ir::record& begins = record_of(head, "close_loop");
    if (!begins.op->info->is(ir::op_kind::loop))
      fail(status_code::invalid_argument,
           {"graph_builder: close_loop: ", begins.op->info->name, " is no head of a loop"});
    if (carried.size() != next.size())
      fail(status_code::invalid_argument,
           {"TAGMA-E202 close_loop: ", next.size(), " next values for ", carried.size(), " that are carried"});
    if (!emitted.empty() && begins.op != &ir::rules<ir::loop_head>)
      fail(status_code::invalid_argument,
           {"graph_builder: close_loop: ", begins.op->info->name, " ends early, and gathers no values: carry them"});
    own_record& r = new_record(ir::rules<ir::loop_end>, {});
    r.from.push_back(&begins);
    for (std::size_t i = 0; i < carried.size(); ++i) {
      const ir::record &from = record_of(carried[i], "close_loop"), &to = record_of(next[i], "close_loop");
      if (from.op != &ir::rules<ir::loop_carried> || from.inputs[0] != &begins ||
          from.attributes[0] != static_cast<ir::attribute>(i))
        fail(status_code::invalid_argument,
             {"graph_builder: close_loop: value ", i, " is not number ", i, " of those that this loop carries"});
      if (!(from.spec == to.spec))
        fail(status_code::invalid_argument,
             {"TAGMA-E203 close_loop: the next value of ", to_string(from.spec), " is ", to_string(to.spec)});
      r.from.push_back(&from);
    }
    for (const node_list* list : {&next, &emitted})
      for (const graph_node& n : *list) {
        const ir::record& value = record_of(n, "close_loop");
        if (value.spec.type == dtype::none)
          fail(status_code::invalid_argument, {"graph_builder: close_loop: ", value.op->info->name, " has no value"});
        r.from.push_back(&value);
      }
    r.given = {static_cast<ir::attribute>(carried.size())};
    const ir::record& closed = *keep(r).record_;
    node_list results;
    for (std::size_t i = 0; i < carried.size() + emitted.size(); ++i)
      results.push_back(output_of(closed, static_cast<int>(i)));
    return results;
  }
  /// @}

  /// What ends with an open scope. Scopes end in the opposite order of their beginnings.
  class [[nodiscard]] scope_guard {
   public:
    scope_guard(const scope_guard&) = delete;
    scope_guard& operator=(const scope_guard&) = delete;
    ~scope_guard() {
      if (devices_ != nullptr) *devices_ = before_;
      if (names_ != nullptr) names_->resize(length_);
    }

   private:
    friend class graph_builder;
    scope_guard(const ir::scope** devices, const ir::scope* before) : devices_(devices), before_(before) {}
    explicit scope_guard(std::string* names, std::size_t length) : names_(names), length_(length) {}
    const ir::scope** devices_ = nullptr;
    const ir::scope* before_ = nullptr;
    std::string* names_ = nullptr;
    std::size_t length_ = 0;
  };
  /// `const auto inside = b.on("/device:CPU:1");`: nodes that are added while it lives are asked for there, as far as
  /// scopes inside leave it open. Raises TAGMA-E070 for what is no device.
  scope_guard on(std::string_view device) {
    const parsed_device parsed = parse_device(device);
    if (!parsed) fail(status_code::invalid_argument, {"TAGMA-E070 on: '", device, "' is no name of a device"});
    return open(ir::scope_kind::request, parsed.spec);
  }
  /// The same by a function that decides for each node.
  template <auto Function>
  scope_guard on() {
    return open(ir::scope_kind::function, {}, &detail::call_device_function<Function>);
  }
  /// No scope around this one is asked.
  scope_guard on(none) { return open(ir::scope_kind::clear); }
  /// Names of variables that are added while it lives have `prefix/` before them.
  scope_guard name_scope(std::string_view prefix) {
    if (!is_name(prefix)) fail(status_code::invalid_argument, {"TAGMA-E160 name_scope: '", prefix, "' is no name"});
    const std::size_t before = prefix_.size();
    append_parts(prefix_, {prefix, "/"});
    return scope_guard(&prefix_, before);
  }

  /// The program of some outputs. Gradients and optimizers become nodes, and the graph is checked: raises what
  /// `compile` raises, as InvalidArgument with the same numbers, and what is wrong with loops. The builder may go on.
  /// @param soft as `soft_placement`
  [[nodiscard]] any_program build(const std::vector<named_output>& outputs, bool soft = false) const;

 private:
  /// A record with the lists that it refers to.
  struct own_record final : ir::record {
    std::vector<const ir::record*> from, waits_for, stays_with;
    std::vector<ir::attribute> given;
    std::string called;
    carried_value number;
  };

  template <class Op>
  [[nodiscard]] static const ir::operation_face* face_of() {
    return &ir::face<Op>;
  }
  graph_node loop_copy(const graph_node& of) { return keep(make(face_of<ir::loop_copy>(), {of}, {}, {})); }
  [[nodiscard]] const ir::record& record_of(const graph_node& n, std::string_view who) const;

  own_record& new_record(const ir::op_rules& rules, const tensor_spec& spec);
  [[nodiscard]] static const ir::operation_face* face_called(std::string_view operation);
  struct node_operands {
    std::vector<const ir::record*> from;
    std::vector<tensor_spec> specs;
    std::vector<ir::resource_input> things;
  };
  [[nodiscard]] node_operands operands_of(const ir::op_info& op, const node_list& inputs) const;
  /// A record of an operation whose arguments have been checked.
  /// @param given its type, where that is given
  /// @param value what the program carries for it; nullptr if nothing
  own_record& make(const ir::operation_face* face, const node_list& inputs, array_view<const ir::attribute> attributes,
                   const tensor_spec& given, const carried_value* value = nullptr);
  /// A record that is another one, with the same value.
  own_record& copy(const ir::record& of);
  /// Lets the record see its lists, which stay as they are from now on.
  graph_node keep(own_record& r);
  graph_node output_of(const ir::record& whole, int index);

  /// The node that was added last, under a name, if it stands for a thing of a container.
  graph_node call_thing(const graph_node& added, std::string_view name);
  void call(own_record& r, std::string_view name);
  void carry(own_record& r, const carried_value& value) {
    r.number = value;
    r.valued = r.carries = true;
    r.hash = records_.size();
  }
  [[nodiscard]] static const carried_value& value_of(const ir::record& owner) {
    return static_cast<const own_record&>(owner).number;
  }

  graph_node add_variable(std::string_view name, const tensor_spec& spec, ir::attribute kind, bool trainable,
                          const carried_value* initial);
  graph_node add_carried_variable(std::string_view name, const tensor_spec& spec, bool trainable,
                                  const carried_value& initial) {
    return add_variable(name, spec, detail::carried_kind, trainable, &initial);
  }
  [[nodiscard]] static carried_value initial_value(const tensor_spec&, const carried_initializer& initial) {
    return initial.value;
  }
  [[nodiscard]] static carried_value initial_value(const tensor_spec&, double number) {
    return detail::number_value(number);
  }
  [[nodiscard]] static carried_value initial_value(const tensor_spec& spec, const raw_view& from);
  [[nodiscard]] static carried_value initial_value(const tensor_spec& spec, const any_tensor& from) {
    return initial_value(spec, from.view());
  }
  template <class T>
  [[nodiscard]] static carried_value initial_value(const tensor_spec& spec, const tensor<T>& from) {
    return initial_value(spec, raw_view{from.data(), dtype_of<T>, from.dims()});
  }

  template <class Optimizer, class Clip, class... Bound>
  graph_node optimize(const Optimizer& optimizer, const detail::clip_option<Clip, Bound...>& clip, int pairs,
                      std::vector<const ir::record*> operands, dtype bounded) {
    using traits = detail::optimizer_traits<Optimizer>;
    std::string name(traits::step.view());
    const std::size_t chosen = pairs == 0 ? operands.size() - 1 : 0;
    if (chosen > 0) name = detail::name_of_choice({operands.data() + 1, chosen}, prefix_, name);
    const auto add_number = [&](dtype type, double value) { operands.push_back(number(type, value).record_); };
    std::apply([&](const auto&... bound) { (add_number(bounded, static_cast<double>(bound)), ...); }, clip.bounds);
    const graph_node step = step_of(name);
    operands.push_back(learning_rate(optimizer.learning_rate, step).record_), operands.push_back(step.record_);
    const auto numbers = traits::numbers(optimizer);
    for (std::size_t i = 0; i < numbers.size(); ++i) add_number(dtype::float64, numbers[i]);
    own_record& r =
        new_record(ir::rules<op::optimizer<typename traits::update, Clip, static_cast<int>(sizeof...(Bound))>>, {});
    r.from = std::move(operands);
    r.given = {pairs, static_cast<ir::attribute>(chosen), 0, 0};
    return keep(r);
  }
  /// The variable that counts the steps of an optimizer; all of a kind share it.
  [[nodiscard]] graph_node step_of(std::string_view name);

  scope_guard open(ir::scope_kind kind, const device_spec& spec = {}, device_function function = nullptr);

  std::vector<owned<own_record>> records_;
  std::vector<owned<ir::scope>> scopes_;
  std::map<std::string_view, const ir::record*> named_;
  const ir::scope* devices_ = nullptr;  ///< the open ones, the outermost first
  std::string prefix_;
};

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/device/graph_builder.ipp"
#endif
