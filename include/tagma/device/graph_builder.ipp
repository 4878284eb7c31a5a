// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of graph_builder.hpp: in the compiled half, or else in each file that includes it.

#include <string>
#include <string_view>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/device/graph_builder.hpp"
#include "tagma/device/operations_to_build.hpp"
#include "tagma/device/own_operations.hpp"
#include "tagma/graph/verify.hpp"
#include "tagma/nn/value_check.hpp"
#include "tagma/plan/heap_program.hpp"

namespace tagma {

TAGMA_DECL any_program graph_builder::build(const std::vector<named_output>& outputs, bool soft) const {
  if (outputs.empty()) fail(status_code::invalid_argument, "TAGMA-E173 outputs: a program has an output or more");
  std::vector<const ir::record*> roots;
  std::vector<std::string_view> names;
  for (const named_output& o : outputs) roots.push_back(&record_of(o.node, "build")), names.push_back(o.name);
  for (const ir::record* r : roots)
    if (const ir::op_info& op = *r->op->info;
        op.is(ir::op_kind::loop) || op.is(ir::op_kind::close) || op.is(ir::op_kind::iterated) || op.outputs > 0)
      fail(status_code::invalid_argument, {"graph_builder: ", op.name, " is no output of a program"});
  const auto built = detail::build_sound_graph(roots, roots);
  ir::verify(built->view(), device::operations::all_operations(), built->owners().size());
  std::vector<tagma::carried> values;
  std::vector<const tagma::carried*> parts;
  for (const ir::record* owner : built->owners()) values.emplace_back(value_of(*owner));
  for (const tagma::carried& v : values) parts.push_back(&v);
  return {built->view(), parts.empty() ? tagma::carried() : tagma::carried::join(parts), soft, names};
}

TAGMA_DECL const ir::record& graph_builder::record_of(const graph_node& n, std::string_view who) const {
  if (n.record_ == nullptr || n.owner_ != this)
    fail(status_code::invalid_argument,
         {"graph_builder: ", who, ": a node is ", n.record_ == nullptr ? "none" : "of another builder"});
  return *n.record_;
}

TAGMA_DECL graph_builder::own_record& graph_builder::new_record(const ir::op_rules& rules, const tensor_spec& spec) {
  records_.push_back(make_owned<own_record>());
  own_record& r = *records_.back();
  r.op = &rules;
  r.spec = spec;
  r.scopes = devices_;
  return r;
}

TAGMA_DECL const ir::operation_face* graph_builder::face_called(std::string_view operation) {
  const ir::operation_face* const face = device::operations::find_face_to_build(operation);
  if (face == nullptr)
    fail(status_code::not_found, {"graph_builder: there is no operation ", operation, device::operations::how_to_list});
  return face;
}

TAGMA_DECL graph_builder::node_operands graph_builder::operands_of(const ir::op_info& op,
                                                                   const node_list& inputs) const {
  node_operands all;
  for (const graph_node& n : inputs) {
    const ir::record& r = record_of(n, op.name);
    const ir::op_info& of = *r.op->info;
    if (of.outputs > 0)
      fail(status_code::invalid_argument, {op.name, ": input ", all.from.size(), ", ", of.name,
                                           ", has several results: take one with result(node, i)"});
    all.from.push_back(&r), all.specs.push_back(n.spec());
    all.things.push_back(of.is(ir::op_kind::resource) ? ir::resource_input{of.name, r.attributes}
                                                      : ir::resource_input{});
  }
  return all;
}

TAGMA_DECL graph_builder::own_record& graph_builder::make(const ir::operation_face* face, const node_list& inputs,
                                                          array_view<const ir::attribute> attributes,
                                                          const tensor_spec& given, const carried_value* value) {
  const ir::op_info& op = face->info();
  const auto [from, specs, things] = operands_of(op, inputs);
  ir::infer_args args{specs, attributes, given};
  ir::input_roles roles;
  for (int k = 0; k < (op.outputs > 0 ? op.outputs : 1); ++k) {
    args.output = k;
    args.out = given;
    if (const ir::refusal r = check_arguments(*face, args, &roles, things))
      fail(status_code::invalid_argument, {to_string(r, op, args)});
  }
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (const char* const broken = broken_role(op, roles, i, *from[i]->op->info))
      fail(status_code::invalid_argument, {"TAGMA-E065 ", op.name, ": input ", i, " ", broken});
    for (std::size_t k = 0; k < i; ++k)
      if (from[k] == from[i] && ((roles.variables >> k) & (roles.variables >> i) & 1) != 0)
        fail(status_code::invalid_argument, {op.name, ": writes over input ", k, " twice"});
  }
  if (const char* const problem = detail::value_problem(op, attributes, args.out, value))
    fail(status_code::invalid_argument, {"graph_builder: ", op.name, ": ", problem});
  own_record& r = new_record(*face->rules, op.outputs > 0 ? tensor_spec{} : args.out);
  r.from = from;
  r.given.assign(attributes.begin(), attributes.end());
  if (value != nullptr) carry(r, *value);
  return r;
}

TAGMA_DECL graph_builder::own_record& graph_builder::copy(const ir::record& of) {
  own_record& r = new_record(*of.op, of.spec);
  r.from.assign(of.inputs.begin(), of.inputs.end());
  r.waits_for.assign(of.controls.begin(), of.controls.end());
  r.stays_with.assign(of.colocated.begin(), of.colocated.end());
  r.given.assign(of.attributes.begin(), of.attributes.end());
  r.called = of.name;
  r.valued = of.valued;
  r.carries = of.carries;
  r.scopes = of.scopes;
  r.copied = &of;
  r.hash = 1;
  return r;
}

TAGMA_DECL graph_node graph_builder::keep(own_record& r) {
  r.inputs = r.from, r.controls = r.waits_for, r.colocated = r.stays_with, r.attributes = r.given;
  r.name = r.called;
  std::uint64_t h = hash_combine(hash_combine(r.op->info->id, r.from.size()), r.hash);
  h = hash_combine(hash_combine(h, hash_text(r.name)), static_cast<std::uint64_t>(r.spec.type));
  for (const ir::attribute a : r.given) h = hash_combine(h, static_cast<std::uint64_t>(a));
  for (const auto* list : {&r.from, &r.waits_for, &r.stays_with})
    for (const ir::record* other : *list) h = hash_combine(h, other->hash);
  r.hash = h;
  return {&r, this};
}

TAGMA_DECL graph_node graph_builder::output_of(const ir::record& whole, int index) {
  std::vector<tensor_spec> in;
  for (const ir::record* r : whole.inputs) in.push_back(r->spec);
  ir::infer_args args{in, whole.attributes, {}, index};
  if (const char* const problem = whole.op->info->infer(args))
    fail(status_code::invalid_argument, {whole.op->info->name, ": ", problem});
  own_record& r = new_record(ir::rules<ir::output_op>, args.out);
  r.from = {&whole};
  r.given = {index};
  return keep(r);
}

TAGMA_DECL graph_node graph_builder::call_thing(const graph_node& added, std::string_view name) {
  own_record& r = *records_.back();
  if (!r.op->info->is(ir::op_kind::resource))
    fail(status_code::invalid_argument, {"graph_builder: ", added.operation(), " is no thing of a container"});
  call(r, prefix_.empty() ? std::string(name) : sentence({prefix_, name}));
  return keep(r);
}

TAGMA_DECL void graph_builder::call(own_record& r, std::string_view name) {
  if (!is_name(name))
    fail(status_code::invalid_argument, {"TAGMA-E160 ", r.op->info->name, ": '", name, "' is no name"});
  r.called = name;
  if (!named_.emplace(r.called, &r).second)
    fail(status_code::invalid_argument, {"TAGMA-E060 ", r.op->info->name, ": '", name, "' is there already"});
}

TAGMA_DECL graph_node graph_builder::add_variable(std::string_view name, const tensor_spec& spec, ir::attribute kind,
                                                  bool trainable, const carried_value* initial) {
  const ir::attribute attributes[] = {kind, trainable && is_floating(spec.type), 0};
  own_record& r = make(face_of<op::variable>(), {}, attributes, spec, initial);
  call(r, prefix_.empty() ? std::string(name) : sentence({prefix_, name}));
  return keep(r);
}

TAGMA_DECL carried_value graph_builder::initial_value(const tensor_spec& spec, const raw_view& from) {
  if (from.type != spec.type || !(from.dims == spec.dims))
    fail(status_code::invalid_argument,
         {"variable: its initial value is ", to_string(tensor_spec{from.type, from.dims}), ", not ", to_string(spec)});
  const std::size_t bytes = static_cast<std::size_t>(from.dims.elements()) * size_of(from.type);
  const array_view<const char> all(static_cast<const char*>(from.data), bytes);
  return detail::data_value<char>(all, from.dims, spec.dims);
}

TAGMA_DECL graph_node graph_builder::step_of(std::string_view name) {
  const auto known = named_.find(sentence({prefix_, name}));
  if (known != named_.end() && known->second->op->info->is(ir::op_kind::variable)) return {known->second, this};
  const auto kind = static_cast<ir::attribute>(initializer_kind::zeros);
  return add_variable(name, {dtype::int64, {}}, kind, false, nullptr);
}

TAGMA_DECL graph_builder::scope_guard graph_builder::open(ir::scope_kind kind, const device_spec& spec,
                                                          device_function function) {
  scopes_.push_back(make_owned<ir::scope>());
  ir::scope& s = *scopes_.back();
  s.kind = kind;
  s.spec = spec;
  s.function = function;
  s.alone = true;
  s.hash = hash_combine(static_cast<std::uint64_t>(s.kind), hash_of(s.spec));
  // The scope of a record is the outermost; so the scopes that are open are written anew around this one.
  const ir::scope* const before = devices_;
  std::vector<const ir::scope*> around;
  for (const ir::scope* o = before; o != nullptr; o = o->inner) around.push_back(o);
  const ir::scope* inner = &s;
  for (std::size_t i = around.size(); i-- > 0;) {
    scopes_.push_back(make_owned<ir::scope>(*around[i]));
    scopes_.back()->inner = inner;
    inner = scopes_.back().get();
  }
  devices_ = inner;
  return {&devices_, before};
}

}  // namespace tagma
