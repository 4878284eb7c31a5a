// SPDX-License-Identifier: BSL-1.0
#include "conformance/suite.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <iomanip>
#include <map>
#include <memory>

#include "conformance/arguments.hpp"
#include "conformance/blocks.hpp"
#include "conformance/devices.hpp"
#include "tagma/graph/pass/differentiate.hpp"

namespace tagma::conformance {

array run_kernel(const device& on, const kernel_problem& p, std::vector<array>& in, const check_options& options) {
  check_arguments(*p.rules, {p.in, p.attributes}, 10);
  const ir::op_info& op = *p.rules->info;
  const bool writes = op.kind == ir::op_kind::update;
  std::vector<std::byte> before;
  std::vector<std::vector<std::byte>> written(in.size());
  array result;
  std::vector<array> after = in;
  for (const int pass : {0, 1}) {
    std::vector<block> blocks;
    for (std::size_t i = 0; i < in.size(); ++i) {
      blocks.emplace_back(p.in[i], pass == 0, garbage[pass]);
      // Of an operand whose shape alone counts, the elements stay garbage.
      if (!op.ignores_elements(static_cast<int>(i))) blocks.back().write(in[i]);
    }
    block own(p.out, pass == 0, garbage[1 - pass]);
    block& out = writes ? blocks[0] : own;
    std::vector<std::vector<std::byte>> contents;
    for (block& b : blocks) contents.push_back(b.content());

    kernel_call call;
    call.op = &op;
    call.attributes = p.attributes;
    call.value = p.value;
    call.seed = p.seed;
    call.step = p.step;
    call.source = p.source;
    call.several_threads = pass == 1;
    for (block& b : blocks) call.in.push_back(b.operand());
    call.out = out.operand();
    call.declared_out = p.out.dims;
    if (pass == 0) {
      for (const tensor_spec& s : p.in) call.declared.push_back(s.dims);
    } else {
      call.declared = unknown_extents(p);
      std::vector<tensor_spec> specs = p.in;
      for (std::size_t i = 0; i < specs.size(); ++i) specs[i].dims = call.declared[i];
      const tensor_spec unknown = infer(*p.rules, specs, p.attributes);
      CHECK(unknown.type == p.out.type);
      CHECK(compatible(unknown.dims, p.out.dims));
      call.declared_out = unknown.dims;
    }
    on.run(call);

    CHECK((own.guards_hold() && "nothing is written beside the result"));
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      INFO("input " << i);
      CHECK(blocks[i].guards_hold());
      const bool may_change = ((options.written >> i) & 1) != 0;
      if (!may_change) {
        CHECK(first_difference(blocks[i].content(), contents[i], p.in[i].type) == "");
      } else if (pass == 0) {
        written[i] = blocks[i].content();
        after[i] = blocks[i].read();
      } else {
        CHECK(first_difference(blocks[i].content(), written[i], p.in[i].type) == "");
      }
    }
    if (pass == 0) {
      before = out.content();
      result = out.read();
    } else {
      INFO(
          "memory that held something else before, other threads, dynamic extents: an element was not written, or "
          "depends on what it must not depend on");
      CHECK(first_difference(before, out.content(), p.out.type) == "");
    }
  }
  // Over the memory of an input, as a plan lets a result lie whose input ends there.
  for (std::size_t i = 0; i < in.size() && !writes; ++i) {
    if (((options.over >> i) & 1) == 0 || !(p.in[i].dims == p.out.dims) || size_of(p.in[i].type) != size_of(p.out.type))
      continue;
    std::vector<block> blocks;
    kernel_call call;
    for (std::size_t k = 0; k < in.size(); ++k) {
      blocks.emplace_back(p.in[k], true, garbage[0]);
      if (!op.ignores_elements(static_cast<int>(k))) blocks.back().write(in[k]);
      call.declared.push_back(p.in[k].dims);
    }
    for (block& b : blocks) call.in.push_back(b.operand());
    call.op = &op;
    call.attributes = p.attributes;
    call.out = {blocks[i].data(), p.out.type, p.out.dims};
    call.declared_out = p.out.dims;
    on.run(call);
    INFO("over the memory of input " << i);
    CHECK(blocks[i].guards_hold());
    CHECK(first_difference(before, blocks[i].content(), p.out.type) == "");
  }
  in = after;
  return result;
}

void compare(const array& found, const array& expected, dtype type, double slack, const std::string& what) {
  REQUIRE(found.dims == expected.dims);
  std::size_t wrong = 0, first = 0;
  for (std::size_t i = 0; i < expected.at.size(); ++i) {
    const double nearest = rounded(type, expected.at[i]), f = found.at[i];
    const double e = is_floating(type) && std::isfinite(nearest) ? expected.at[i] : nearest;
    const double allowed = slack * tolerance(type) * std::fmax(1.0, std::fabs(e));
    const bool good = std::isnan(e) ? std::isnan(f) : f == e || std::fabs(f - e) <= allowed;
    if (!good && wrong++ == 0) first = i;
  }
  INFO(std::setprecision(17) << what << ": " << wrong << " of " << expected.at.size() << " elements of "
                             << to_string(type) << " " << to_string(expected.dims) << ", the first is " << first << ": "
                             << (wrong > 0 ? found.at[first] : 0) << ", expected "
                             << (wrong > 0 ? expected.at[first] : 0));
  CHECK(wrong == 0);
}

namespace {

/// Computes nodes of a flat graph one by one, each by the kernel of a device.
class interpreter {
 public:
  interpreter(const device& on, const ir::graph& g, std::map<ir::node_id, array> given)
      : on_(on), g_(g), values_(std::move(given)) {}

  const array& value(ir::node_id id) {
    const auto known = values_.find(id);
    if (known != values_.end()) return known->second;
    return values_.emplace(id, compute(id)).first->second;
  }

 private:
  array compute(ir::node_id id) {
    const ir::op_info& op = g_.info(id);
    const dtype type = g_.spec(id).type;
    if (op.kind == ir::op_kind::output) return results(g_.input(id, 0))[static_cast<std::size_t>(g_.attributes(id)[0])];
    if (op.kind == ir::op_kind::constant) return array(shape{}, rounded(type, ir::as_double(g_.attributes(id)[0])));
    std::vector<array> in;
    kernel_problem p = problem_of(id, in);
    p.out = infer(*p.rules, p.in, p.attributes);
    INFO("in the gradient: " << op.name << " " << to_string(p.out));
    if (op.kind == ir::op_kind::view) return array(p.out.dims, in[0].at);
    return run_kernel(on_, p, in);
  }

  const std::vector<array>& results(ir::node_id id) {
    const auto known = several_.find(id);
    if (known != several_.end()) return known->second;
    std::vector<array> in;
    kernel_problem p = problem_of(id, in);
    p.outs = infer_all(*p.rules, p.in, p.attributes);
    INFO("in the gradient: " << p.rules->info->name << " " << to_string(p.outs[0]));
    return several_.emplace(id, run_several(on_, p, in, ~0u)).first->second;
  }
  kernel_problem problem_of(ir::node_id id, std::vector<array>& in) {
    kernel_problem p;
    p.rules = g_[id].op;
    for (const ir::node_id i : g_.inputs(id)) {
      in.push_back(value(i));
      p.in.push_back({g_.spec(i).type, in.back().dims});
    }
    const ir::attribute_list attributes = g_.attributes(id);
    p.attributes.assign(attributes.begin(), attributes.end());
    return p;
  }

  const device& on_;
  const ir::graph& g_;
  std::map<ir::node_id, array> values_;
  std::map<ir::node_id, std::vector<array>> several_;
};

/// The sum of the wanted results times their weights.
double weighted(const std::vector<array>& results, const std::vector<array>& weights, unsigned wanted) {
  double sum = 0;
  for (std::size_t k = 0; k < results.size(); ++k)
    for (std::size_t i = 0; i < results[k].at.size() && ((wanted >> k) & 1) != 0; ++i)
      sum += results[k].at[i] * weights[k].at[i];
  return sum;
}

/// The gradient of the sum of `weights` times the operation by input `k`, from central differences of the reference.
/// Where the two sides differ, the reference has a kink, and `smooth` is 0.
void difference_quotients(const reference_of_several& f, const kernel_problem& p, std::vector<array> in, std::size_t k,
                          const std::vector<array>& weights, unsigned wanted, array& quotient,
                          std::vector<char>& smooth) {
  constexpr double h = 1e-5;
  quotient = array(in[k].dims);
  smooth.assign(in[k].at.size(), 1);
  const auto value = [&] { return weighted(f(in, p.attributes, p.outs), weights, wanted); };
  const double middle = value();
  for (std::size_t i = 0; i < in[k].at.size(); ++i) {
    const double here = in[k].at[i];
    in[k].at[i] = here + h;
    const double above = (value() - middle) / h;
    in[k].at[i] = here - h;
    const double below = (middle - value()) / h;
    in[k].at[i] = here;
    quotient.at[i] = (above + below) / 2;
    if (!(std::fabs(above - below) <= 1e-3 * std::fmax(1.0, std::fabs(quotient.at[i])))) smooth[i] = 0;
  }
}

}  // namespace

namespace {

/// What a compiler knows of the operands of a gradient.
std::vector<shape> declared_operands(const kernel_problem& p, const check_options& options, bool known) {
  std::vector<shape> declared = unknown_extents(p);
  for (std::size_t i = 0; i < declared.size(); ++i)
    for (int a = p.in[i].dims.rank - options.known_axes; a < p.in[i].dims.rank; ++a)
      if (a >= 0) declared[i][a] = p.in[i].dims[a];
  for (std::size_t i = 0; known && i < declared.size(); ++i) declared[i] = p.in[i].dims;
  return declared;
}

/// The gradients of a flat graph, node by node with the kernels of a device.
std::vector<array> interpreted_gradients(const device& on, const gradient_call& call) {
  using std::size_t;
  const auto storage = std::make_unique<ir::graph_storage<512>>();
  ir::graph g = storage->view();
  static const char* const names[] = {"0", "1", "2", "3", "4", "5", "6", "7"};
  static const char* const weight_names[] = {"w0", "w1", "w2", "w3", "w4", "w5", "w6", "w7"};
  std::vector<ir::node_id> inputs, xs;
  std::map<ir::node_id, array> given;
  for (size_t i = 0; i < call.in.size(); ++i) {
    ir::node_extras extras;
    extras.name = names[i];
    inputs.push_back(g.emit_as(ir::rules<op::placeholder>, {call.in[i].type, call.declared[i]}, {}, {}, extras));
    given.emplace(inputs.back(), call.operands[i]);
  }
  for (const size_t i : call.by) xs.push_back(inputs[i]);
  const ir::node_id self = g.emit(*call.rules, inputs, call.attributes);
  ir::node_id y = ir::no_node;
  for (size_t k = 0; k < call.out.size(); ++k) {
    if (((call.wanted >> k) & 1) == 0) continue;
    const ir::node_id one = call.rules->info->outputs > 0 ? g.emit_output(self, static_cast<int>(k)) : self;
    ir::node_extras extras;
    extras.name = weight_names[k];
    const ir::node_id factor = g.emit_as(ir::rules<op::placeholder>, g.spec(one), {}, {}, extras);
    given.emplace(factor, call.weights[k]);
    const ir::node_id pair[] = {one, factor};
    ir::node_id term = g.emit(ir::rules<op::multiply>, pair);
    if (call.out.size() > 1) {  // of one shape, none
      const ir::attribute axes[] = {(1 << g.spec(term).dims.rank) - 1, 0};
      term = g.emit(ir::rules<op::sum>, {&term, 1}, axes);
    }
    const ir::node_id terms[] = {y, term};
    y = y == ir::no_node ? term : g.emit(ir::rules<op::add>, terms);
  }
  std::vector<ir::node_id> results(xs.size(), ir::no_node), adjoint(512);
  bool needed[512]{};
  ir::build_status status;
  ir::differentiate(g, y, xs, results, {adjoint, needed}, status);
  REQUIRE(status.problem == ir::build_problem::none);
  REQUIRE_FALSE(g.overflow());
  interpreter values(on, g, std::move(given));
  std::vector<array> found;
  for (size_t x = 0; x < xs.size(); ++x)
    found.push_back(results[x] == ir::no_node ? array(call.in[call.by[x]].dims) : values.value(results[x]));
  return found;
}

}  // namespace

void check_gradient(const device& on, const kernel_problem& p, const std::vector<array>& in,
                    const reference_of_several& f, const check_options& options, bool known, unsigned wanted) {
  using std::size_t;
  gradient_call call{p.rules, p.attributes, p.in, declared_operands(p, options, known), p.outs, in, {}, wanted, {}};
  for (size_t i = 0; i < in.size(); ++i)
    if (is_floating(p.in[i].type) && !p.rules->info->ignores_elements(static_cast<int>(i)) &&
        ((options.differentiate >> i) & 1) != 0)
      call.by.push_back(i);
  for (size_t k = 0; k < p.outs.size(); ++k)
    call.weights.push_back(scattered(p.outs[k].type, p.outs[k].dims, -1, 1, 99 + k));
  const std::vector<array> gradients = on.runs_programs() ? on.differentiate(call) : interpreted_gradients(on, call);
  for (size_t x = 0; x < call.by.size(); ++x) {
    array quotient;
    std::vector<char> smooth;
    difference_quotients(f, p, in, call.by[x], call.weights, wanted, quotient, smooth);
    const array& found = gradients[x];
    REQUIRE(found.dims == quotient.dims);
    double scale = 1;
    size_t wrong = 0, first = 0, checked = 0;
    for (size_t i = 0; i < smooth.size(); ++i)
      if (smooth[i] != 0) scale = std::fmax(scale, std::fabs(quotient.at[i]));
    for (size_t i = 0; i < smooth.size(); ++i) {
      if (smooth[i] == 0) continue;
      ++checked;
      const double rounding = std::fmax(tolerance(p.outs[0].type), tolerance(p.in[call.by[x]].type));
      const double allowed = (options.gradient_slack * rounding + 1e-7) * scale;
      if (!(std::fabs(found.at[i] - quotient.at[i]) <= allowed) && wrong++ == 0) first = i;
    }
    INFO("gradient by input " << call.by[x] << (known ? "" : " of unknown extents") << ": " << wrong << " of "
                              << checked << " elements, the first is " << first << ": "
                              << (wrong > 0 ? found.at[first] : 0) << ", difference quotient "
                              << (wrong > 0 ? quotient.at[first] : 0));
    CHECK(wrong == 0);
    CHECK(10 * checked >= 8 * smooth.size());  // a test of kinks alone would test nothing
  }
}

drawn_operands draw_operands(const problem& given, const signature& types, std::uint64_t seed) {
  drawn_operands drawn;
  std::vector<array>& in = drawn.in;
  for (std::size_t i = 0; i < given.in.size(); ++i) {
    const operand_rule& rule = given.in[i];
    const dtype type = rule.type != dtype::none ? rule.type : types.input(i);
    drawn.specs.push_back({type, rule.dims});
    drawn.text += (i > 0 ? ", " : "") + to_string(drawn.specs.back());
    double low = rule.low, high = rule.high;
    if (type == dtype::uint8 && low < 0) low = 0;
    if (type == dtype::boolean || type == dtype::string) low = 0, high = type == dtype::boolean ? 2 : 60;
    in.push_back(scattered(type, rule.dims, low, high, seed + 17 * i));
    if (rule.values.empty()) continue;
    REQUIRE(rule.values.size() == in.back().at.size());
    for (std::size_t k = 0; k < rule.values.size(); ++k) in.back().at[k] = rounded(type, rule.values[k]);
  }
  if (given.prepare) given.prepare(in);
  return drawn;
}

namespace {

void check_one(const device& on, const ir::op_rules& rules, const signature& types, const problem& given,
               std::uint64_t seed, const reference& expected, const check_options& options, bool& differentiated) {
  kernel_problem p;
  p.rules = &rules;
  p.attributes = given.attributes;
  p.value = given.value;
  p.source = static_cast<std::int32_t>(given.in.size());  // as in a program, where operands come before
  if (given.type_attribute >= 0)
    p.attributes[static_cast<std::size_t>(given.type_attribute)] = static_cast<ir::attribute>(types.out);
  const drawn_operands drawn = draw_operands(given, types, seed);
  const std::vector<array>& in = drawn.in;
  p.in = drawn.specs;
  p.out = infer(rules, p.in, p.attributes);
  INFO(on.name() << ": " << rules.info->name << " of " << drawn.text << " to " << to_string(p.out));
  for (const ir::attribute a : given.attributes) UNSCOPED_INFO("attribute " << a);
  REQUIRE(p.out.type == types.out);
  std::vector<array> used = in;
  const bool view = rules.info->kind == ir::op_kind::view && !on.runs_programs();
  if (view) check_arguments(rules, {p.in, p.attributes});
  compare(view ? array(p.out.dims, in[0].at) : run_kernel(on, p, used, options), expected(in, p.attributes, p.out),
          p.out.type, options.slack, "values");
  if (!given.has_gradient || rules.gradient == nullptr || !is_floating(p.out.type) || !is_floating(types.element))
    return;
  p.outs = {p.out};
  const reference_of_several one = [&](const std::vector<array>& from, const std::vector<ir::attribute>& attributes,
                                       const std::vector<tensor_spec>& out) {
    return std::vector<array>{expected(from, attributes, out[0])};
  };
  check_gradient(on, p, in, one, options, true, 1);
  check_gradient(on, p, in, one, options, false, 1);
  differentiated = true;
}

}  // namespace

void check(const ir::op_rules& rules, const std::vector<problem>& problems, const reference& expected,
           const check_options& options) {
  const operation& row = find_operation(rules);
  for (const device* on : devices())
    for (const signature& types : row.signatures) {
      const bool view = rules.info->kind == ir::op_kind::view && !on->runs_programs();
      if (!on->has(*rules.info, types)) continue;
      check_options all = options;
      if (rules.info->kind == ir::op_kind::update) all.written |= 1;
      if (rules.info->kind == ir::op_kind::elementwise) all.over = ~0u;
      all.over |= static_cast<unsigned>(rules.info->in_place);
      bool differentiated = false;
      std::uint64_t seed = 1;
      for (const problem& p : problems)
        if ((p.applies == nullptr || p.applies(types)) && on->takes(*rules.info, p.value))
          check_one(*on, rules, types, p, seed += 100, expected, all, differentiated);
      if (!view) record_values(*on, *rules.info, types);
      if (differentiated) record_gradient(*on, *rules.info, types);
    }
}

}  // namespace tagma::conformance
