// SPDX-License-Identifier: BSL-1.0
// Each call of a kernel is a program that the process builds: operands are placeholders, what is written variables.
#include <catch2/catch.hpp>
#include <cstring>
#include <deque>
#include <map>

#include "conformance/built/built.hpp"
#include "conformance/suite.hpp"
#include "support/other_devices.hpp"

namespace tagma::conformance {

std::vector<const device*> devices() { return {&built_programs()}; }

session_options options_with(int threads, std::uint64_t seed) {
  session_options options;
  options.seed = seed;
  options.intra_op_threads = threads;
  return options;
}

std::vector<any_tensor> run_with_both(const any_program& program, const std::vector<output_name>& outputs,
                                      const std::vector<named_feed>& feeds) {
  note_operations(program);
  session one(program, options_with(1), test::other_devices());
  session two(program, options_with(2), test::other_devices());
  std::vector<any_tensor> results = one.run(outputs, feeds);
  const std::vector<any_tensor> again = two.run(outputs, feeds);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const raw_view a = results[i].view(), b = again[i].view();
    INFO("output " << outputs[i].name() << " of one thread and of two");
    REQUIRE(a.dims == b.dims);
    const std::size_t bytes = static_cast<std::size_t>(a.dims.elements()) * size_of(a.type);
    if (a.type != dtype::string) CHECK((bytes == 0 || std::memcmp(a.data, b.data, bytes) == 0));
  }
  return results;
}

std::vector<std::byte> elements_of(const tensor_spec& spec, const array& a) {
  std::vector<std::byte> bytes(a.at.size() * size_of(spec.type));
  for (std::size_t i = 0; i < a.at.size(); ++i)
    write_element(bytes.data() + i * size_of(spec.type), spec.type, a.at[i]);
  return bytes;
}

array array_of(const raw_view& elements) {
  array a(elements.dims);
  const auto* const from = static_cast<const std::byte*>(elements.data);
  for (std::size_t i = 0; i < a.at.size(); ++i)
    a.at[i] = read_element(from + i * size_of(elements.type), elements.type);
  return a;
}

namespace {

/// A learning rate that a handle carries, as the optimizers take it.
rate rate_of(const carried_value& v) {
  const auto p = v.bytes.as<const double>();
  const auto made = [&]() -> rate {
    switch (static_cast<schedule_kind>(v.integer)) {
      case schedule_kind::exponential:
        return exponential_decay{p[1], p[2], p[3], p[4] != 0};
      case schedule_kind::polynomial:
        return polynomial_decay{p[1], p[2], p[3], p[4]};
      case schedule_kind::cosine:
        return cosine_decay{p[1], p[2], p[3]};
      case schedule_kind::piecewise: {
        const std::size_t boundaries = (p.size() - 2) / 2;
        const auto numbers = p.subspan(1);
        return piecewise_constant{numbers.first(boundaries), numbers.subspan(boundaries)};
      }
      default:
        return p[1];
    }
  }();
  return p[rate::warm_up_index] > 0 ? made.after_warm_up(p[rate::warm_up_index]) : made;
}

raw_view view_of(const runtime::operand& o) { return {o.data, o.type, o.dims}; }

/// The operands of a call as leaves of a graph.
class leaves {
 public:
  explicit leaves(graph_builder& b) : b_(b) {}

  graph_node fed(const raw_view& value, const shape& declared) {
    const graph_node node =
        b_.placeholder(names_.emplace_back("in" + std::to_string(names_.size())), value.type, declared);
    feeds_.push_back({names_.back(), value});
    return node;
  }
  graph_node variable(const raw_view& value) {
    return b_.variable(names_.emplace_back("in" + std::to_string(names_.size())), value.type, value.dims, value);
  }
  [[nodiscard]] const std::vector<named_feed>& feeds() const { return feeds_; }

 private:
  graph_builder& b_;
  std::deque<std::string> names_;
  std::vector<named_feed> feeds_;
};

std::vector<attribute_value> values_of(const std::vector<ir::attribute>& bits) { return {bits.begin(), bits.end()}; }

/// The inputs that an operation writes.
std::uint64_t written_inputs(const kernel_call& call) {
  std::vector<tensor_spec> in;
  for (const runtime::operand& o : call.in) in.push_back({o.type, o.dims});
  ir::infer_args args{in, call.attributes, {}};
  ir::input_roles roles;
  static_cast<void>(check_arguments(*find_operation_face(call.op->name), args, &roles));
  return roles.variables;
}

/// An extent that the compiler must know is known: that of the axis of a split.
shape with_needed(const ir::op_info& of, const std::vector<ir::attribute>& attributes, shape declared,
                  const shape& dims) {
  if (of.key != &ir::key<op::split>) return declared;
  const auto axis = static_cast<int>(attributes[0]);
  declared[axis] = dims[axis];
  return declared;
}

void copy_out(const any_tensor& from, const runtime::operand& to) {
  const std::size_t bytes = static_cast<std::size_t>(from.dims().elements()) * size_of(to.type);
  if (bytes > 0) std::memcpy(to.data, from.view().data, bytes);
  if (to.type == dtype::string) use_own_texts(to.data, static_cast<std::size_t>(from.dims().elements()));
}
/// The same, of a result of these extents.
void copy_whole(const any_tensor& from, const runtime::operand& to) {
  if (from.type() != to.type || !(from.dims() == to.dims))
    fail(status_code::internal, {"a program computes ", to_string(tensor_spec{from.type(), from.dims()}), ", not ",
                                 to_string(tensor_spec{to.type, to.dims})});
  copy_out(from, to);
}

class programs final : public device {
 public:
  [[nodiscard]] std::string_view name() const override { return "built programs"; }
  /// Everything. Strings cannot be kept in variables.
  [[nodiscard]] bool has(const ir::op_info& op, const signature& types) const override {
    return types.element != dtype::string || op.kind != ir::op_kind::update;
  }
  [[nodiscard]] bool runs_programs() const override { return true; }
  /// Of what carries values, the builder knows schedules.
  [[nodiscard]] bool takes(const ir::op_info& op, const carried_value* value) const override {
    return value == nullptr || op.key == &ir::key<op::scheduled_rate>;
  }

  void run(const kernel_call& call) const override {
    if (call.value != nullptr) return run_rate(call);
    graph_builder b;
    leaves all(b);
    const std::uint64_t writes = call.op->kind == ir::op_kind::update ? written_inputs(call) : 0;
    std::vector<graph_node> in;
    std::vector<std::size_t> written;
    for (std::size_t i = 0; i < call.in.size(); ++i) {
      const raw_view value = view_of(call.in[i]);
      const bool variable = ((writes >> i) & 1) != 0;
      if (variable) written.push_back(i);
      in.push_back(variable ? all.variable(value) : all.fed(value, declared(call, i)));
      if (writes == 0 && call.out.data != nullptr && call.in[i].data == call.out.data)
        in.back() = computed(b, in.back());
    }
    const graph_node node = b.add(call.op->name, in, values_of(call.attributes));
    std::vector<named_output> outputs;
    std::vector<output_name> wanted, after;
    static const char* const results[] = {"result 0", "result 1", "result 2", "result 3",
                                          "result 4", "result 5", "result 6", "result 7"};
    static const char* const variables[] = {"after 0", "after 1", "after 2", "after 3"};
    if (call.outs.empty()) outputs.push_back({results[0], node}), wanted.emplace_back(results[0]);
    for (std::size_t k = 0; k < call.outs.size(); ++k) {
      if (call.outs[k].data == nullptr) continue;
      outputs.push_back({results[k], b.result(node, static_cast<int>(k))});
      wanted.emplace_back(results[k]);
    }
    for (std::size_t v = 0; v < written.size(); ++v)
      outputs.push_back({variables[v], in[written[v]]}), after.emplace_back(variables[v]);
    const any_program program = b.build(outputs);
    note_operations(program);

    session runner(program, options_with(call.several_threads ? 2 : 1, call.seed), test::other_devices());
    const std::vector<any_tensor> found = runner.run(wanted, all.feeds());
    std::size_t next = 0;
    if (call.outs.empty()) take(call, found[next++], call.out, 0);
    for (std::size_t k = 0; k < call.outs.size(); ++k)
      if (call.outs[k].data != nullptr) take(call, found[next++], call.outs[k], static_cast<int>(k));
    if (after.empty()) return;
    const std::vector<any_tensor> kept = runner.run(after);
    for (std::size_t v = 0; v < written.size(); ++v) copy_whole(kept[v], call.in[written[v]]);
  }

  [[nodiscard]] std::vector<array> differentiate(const gradient_call& call) const override {
    graph_builder b;
    leaves all(b);
    std::deque<std::vector<std::byte>> memory;
    const auto leaf = [&](const tensor_spec& s, const array& value, const shape& known) {
      memory.push_back(elements_of(s, value));
      return all.fed({memory.back().data(), s.type, s.dims}, known);
    };
    std::vector<graph_node> in;
    for (std::size_t i = 0; i < call.in.size(); ++i)
      in.push_back(leaf(call.in[i], call.operands[i],
                        with_needed(*call.rules->info, call.attributes, call.declared[i], call.in[i].dims)));
    const graph_node node = b.add(call.rules->info->name, in, values_of(call.attributes));
    const bool several = call.rules->info->outputs > 0;
    graph_node loss;
    bool first = true;
    for (std::size_t k = 0; k < call.out.size(); ++k) {
      if (((call.wanted >> k) & 1) == 0) continue;
      const graph_node one = several ? b.result(node, static_cast<int>(k)) : node;
      graph_node term = b.add("multiply", {one, leaf(call.out[k], call.weights[k], one.dims())});
      if (several) term = b.add("sum", {term}, {(1 << term.dims().rank) - 1, false});
      loss = first ? term : b.add("add", {loss, term});
      first = false;
    }
    std::deque<std::string> names;
    std::vector<named_output> outputs;
    std::vector<output_name> wanted;
    std::vector<array> found;
    std::vector<std::size_t> places;
    for (std::size_t x = 0; x < call.by.size(); ++x) {
      const std::size_t i = call.by[x];
      found.emplace_back(call.in[i].dims);
      const graph_node slope = b.gradient(loss, in[i]);
      note_operation(slope.operation());
      if (!exists(b, slope)) continue;
      outputs.push_back({names.emplace_back("by " + std::to_string(i)), slope});
      wanted.emplace_back(names.back());
      places.push_back(x);
    }
    if (outputs.empty()) return found;
    const std::vector<any_tensor> slopes = run_with_both(b.build(outputs), wanted, all.feeds());
    for (std::size_t k = 0; k < places.size(); ++k) found[places[k]] = array_of(slopes[k].view());
    return found;
  }

  void write_more(std::ostream& to) const override { write_notes(to); }

 private:
  /// False where nothing flows from the loss to an operand: there the suite expects zeros.
  static bool exists(const graph_builder& b, const graph_node& slope) {
    try {
      static_cast<void>(b.build({{"slope", slope}}));
      return true;
    } catch (const error& e) {
      if (std::string_view(e.what()).find("TAGMA-E064") == std::string_view::npos) throw;
      return false;
    }
  }
  /// What the graph compiler knows of an operand. Where extents are found late, nothing, by turns.
  static shape declared(const kernel_call& call, std::size_t i) {
    shape dims = with_needed(*call.op, call.attributes, call.declared[i], call.in[i].dims);
    if (call.late != nullptr && call.several_threads)
      for (int a = 0; a < dims.rank; ++a) dims[a] = dyn;
    return dims;
  }
  /// The same elements as the result of a kernel, whose memory may be that of the reader's result.
  static graph_node computed(graph_builder& b, const graph_node& x) {
    if (x.dims().rank == 0) return x;
    const graph_node twice = b.add("concat", {x, x}, {0});
    std::vector<attribute_value> ranges;
    for (int a = 0; a < x.dims().rank; ++a) ranges.emplace_back(0), ranges.emplace_back(x.dims()[a]);
    return b.add("slice", {twice}, ranges);
  }
  static void take(const kernel_call& call, const any_tensor& from, const runtime::operand& to, int k) {
    if (call.late == nullptr) return copy_whole(from, to);
    for (int a = 0; a < from.dims().rank; ++a) call.late->set(a, from.dims()[a], k);
    copy_out(from, to);
  }
  /// A rate that moves a variable of 0, whose gradient is 1.
  static void run_rate(const kernel_call& call) {
    graph_builder b;
    static_cast<void>(b.variable("sgd/step", dtype::int64, {}, view_of(call.in[0]), false));
    const graph_node moved = b.variable("moved", dtype::float64, {}, zeros);
    const graph_node train = b.minimize(moved, sgd{.learning_rate = rate_of(*call.value)});
    const any_program program = b.build({{"train", train}, {"moved", moved}});
    note_operations(program);
    session runner(program, options_with(call.several_threads ? 2 : 1), test::other_devices());
    static_cast<void>(runner.run("train"));
    const double rate = -runner.run("moved").value<double>();
    std::memcpy(call.out.data, &rate, sizeof rate);
  }
};

}  // namespace

const device& built_programs() {
  static const programs instance;
  return instance;
}

}  // namespace tagma::conformance
