// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Runs programs whose graphs are data: feeds and fetches by name, plans that are made when they are first asked for.

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/expr/placeholder.hpp"
#include "tagma/plan/any_program.hpp"
#include "tagma/runtime/device_kind.hpp"
#include "tagma/runtime/feed.hpp"
#include "tagma/runtime/late_steps.hpp"
#include "tagma/runtime/session.hpp"
#include "tagma/runtime/step_kernels.hpp"
#include "tagma/tensor/any_tensor.hpp"

namespace tagma {

/// A value for the placeholder, or the output, of this name; the elements outlive the run.
struct named_feed {
  std::string_view name;
  raw_view value;
};
/// `session.run("loss", feed_to("x", images), feed_to("rate", 0.1f))`
/// @{
template <class T>
[[nodiscard]] named_feed feed_to(std::string_view name, const view<T>& value) {
  return {name, erase(value)};
}
template <class T>
[[nodiscard]] named_feed feed_to(std::string_view name, const tensor<T>& value) {
  return {name, {value.data(), dtype_of<T>, value.dims()}};
}
[[nodiscard]] inline named_feed feed_to(std::string_view name, const any_tensor& value) { return {name, value.view()}; }
template <element T>
[[nodiscard]] named_feed feed_to(std::string_view name, const T& value) {
  return {name, {&value, dtype_of<T>, {}}};
}
/// @}

/// The name of an output, and the line of the program that asks for it.
class output_name {
 public:
  template <class Text>
    requires std::is_convertible_v<const Text&, std::string_view> output_name(const Text& name,
                                                                              source_line at = source_line::here())
        : name_(name), at_(at) {}
    /// The name of the output.
    [[nodiscard]] std::string_view name() const { return name_; }
    /// The line of the program that names it.
    [[nodiscard]] const source_line& at() const { return at_; }

   private:
    std::string_view name_;
    source_line at_;
};

namespace runtime {

/// A value for nodes of a graph: for placeholders, or for what is then not computed.
struct node_feed {
  array_view<const ir::node_id> nodes;
  raw_view value;
};

/// The plan of some outputs, for some tensors that are fed.
struct named_plan {
  /// @param fed nodes that are computed, and are fed instead; none twice
  /// @param others the devices besides CPUs, if a node of the program is on one; else nullptr
  named_plan(const any_program& program, const plan::plan_site& where, const device_kind* others,
             array_view<const int> outputs, array_view<const ir::node_id> fed)
      : graph(program.graph()),
        planned((feed_all(fed), graph.view())),
        made(planned, roots_of(outputs), where),
        view(made.view()),
        wanted(outputs.begin(), outputs.end()),
        replaced(fed.begin(), fed.end()) {
    if (made.contradictory())
      fail(status_code::invalid_argument,
           "TAGMA-E067 run: reads and updates of variables wait for one another; order them with tagma::after");
    const ir::graph_view g = graph.view();
    for (ir::node_id i = 0; i < g.size(); ++i)
      if (g.info(i).is(ir::op_kind::placeholder)) placeholders.push_back(i);
    needed.resize(placeholders.size());
    for (const plan::plan_node& n : view.nodes)
      if (n.is_in(plan::storage_kind::feed)) needed[static_cast<std::size_t>(n.slot)] = true;
    found = find_kernels(made);
    kernels.cpu = found->entries();
    const bool waits = starts_any(kernels.cpu);
    if (!view.loops.empty()) {
      kernels.loops = &started_loops<bound_plan>::make;
      kernels.run_loops = waits ? &run_around_loops<bound_plan, session_pools> : &run_loops<session_pools>;
    }
    if (others != nullptr) {
      if (others->find_kernels != nullptr) found_there = others->find_kernels(made);
      kernels.accelerator = found_there == nullptr ? kernels.cpu : found_there->entries();
      kernels.run_on_devices = waits ? &run_parked<accelerated_steps> : &run_on_devices<session_pools>;
      if (!view.loops.empty() && (waits || ir::has_late(g))) {
        kernels.loops = &started_loops<bound_plan>::make_joined;
        kernels.run_on_devices = &run_loops_on_devices<accelerated_steps, session_pools>;
      }
    }
    if (waits) kernels.waiting = &started_steps<bound_plan>::make;
    if (plan::finds_extents(view.nodes)) kernels.late = &late_steps<bound_plan>::make;
    if (has_rows(view.nodes, view.steps, view.attributes)) kernels.rows = &row_blocks<bound_plan>::make;
  }
  named_plan(const named_plan&) = delete;
  named_plan& operator=(const named_plan&) = delete;

  [[nodiscard]] bool is_for(array_view<const int> outputs, array_view<const ir::node_id> fed) const {
    bool same = outputs.size() == wanted.size() && fed.size() == replaced.size();
    for (std::size_t i = 0; same && i < wanted.size(); ++i) same = wanted[i] == outputs[i];
    for (std::size_t i = 0; same && i < replaced.size(); ++i) same = replaced[i] == fed[i];
    return same;
  }

  ir::heap_graph graph;
  plan::planned_heap_graph planned;
  plan::heap_plan made;
  plan::plan_view view;
  std::vector<int> wanted;
  std::vector<ir::node_id> replaced;
  std::vector<ir::node_id> placeholders;
  std::vector<bool> needed;  ///< of each placeholder, whether these outputs depend on it
  owned<step_kernels> found, found_there;
  kernel_tables kernels;

 private:
  void feed_all(array_view<const ir::node_id> fed) {
    for (const ir::node_id i : fed) graph.feed(i, ir::rules<op::placeholder>);
  }
  [[nodiscard]] std::vector<ir::node_id> roots_of(array_view<const int> outputs) const {
    std::vector<ir::node_id> roots;
    for (const int i : outputs) roots.push_back(graph.view().roots[i]);
    return roots;
  }
};

/// The variables of a graph that is data.
class heap_variables {
 public:
  heap_variables(const ir::graph_view& g, const plan::plan_site& where) {
    std::size_t count = 0;
    for (ir::node_id i = 0; i < g.size(); ++i) count += g.info(i).is(ir::op_kind::variable);
    list_.allocate(count);
    count = 0;
    for (ir::node_id i = 0; i < g.size(); ++i) {
      const ir::node& n = g[i];
      if (!n.op->info->is(ir::op_kind::variable)) continue;
      const auto a = g.attributes(i);
      const std::int16_t device = where.device.empty() || where.device[i] < 0 ? std::int16_t{0} : where.device[i];
      list_[count++] = {n.name, n.suffix, n.spec, a[0], a[1] != 0, device, ir::as_double(a[2]), n.value, i};
    }
  }
  [[nodiscard]] array_view<const plan::plan_variable> list() const { return list_; }

 private:
  heap_array<plan::plan_variable> list_;
};

/// Its resources.
class heap_resources {
 public:
  explicit heap_resources(const ir::graph_view& g) {
    std::size_t count = 0;
    for (ir::node_id i = 0; i < g.size(); ++i) count += g.info(i).is(ir::op_kind::resource);
    list_.allocate(count);
    count = 0;
    for (ir::node_id i = 0; i < g.size(); ++i)
      if (const ir::op_info& op = g.info(i); op.is(ir::op_kind::resource))
        list_[count++] = {op.key, op.name, g[i].name, g.attributes(i), i};
  }
  [[nodiscard]] array_view<const plan::plan_resource> list() const { return list_; }
  /// As `resource_finder`: those of a compiled program are found in the same way.
  [[nodiscard]] TAGMA_COLD static heap_array<counted<resource>> find(state_container& state, std::string_view prefix,
                                                                     array_view<const plan::plan_resource> named) {
    heap_array<counted<resource>> found(named.size());
    for (std::size_t k = 0; k < 2 * found.size(); ++k) {  // as in those, all are compared first
      const std::size_t i = k % found.size();
      const resource_functions& functions = find_resource(named[i]);
      const std::string name = name_in_container(prefix, named[i].name);
      const resource_request request{named[i].kind, name, named[i].attributes};
      found[i] = k < found.size() ? state.find(named[i].kind, name)
                                  : state.find_or_add(named[i].kind, name, [&] { return functions.make(request); });
      if (found[i]) functions.check(*found[i], request);
    }
    return found;
  }

 private:
  heap_array<plan::plan_resource> list_;
};

}  // namespace runtime

/// A session over a program that is data. Everything else is as in sessions of compiled programs, with the same bytes.
/// Programs that have one link the registry of kernels, `tagma::registry`.
template <>
class session<any_program> {
 public:
  /// Throws InvalidArgument if a device that the program asks for is missing, or an option makes no sense.
  explicit session(const any_program& program, const session_options& options = {})
      : session(program, options, nullptr) {}
  /// A session with devices besides CPUs, such as `tagma::gpus()` or `tagma::fake_gpus()`, which outlive it. Placement
  /// is that of a compiled program which knows of such devices.
  /// @{
  session(const any_program& program, const session_options& options, const runtime::device_kind& others)
      : session(program, options, &others) {}
  session(const any_program& program, const session_options& options, const runtime::device_kind* others)
      : others_(others),
        program_(program),
        graph_(program.graph()),
        site_(graph_, program.soft(), others, homes_in(options, others)),
        variables_(graph_, site_.view()),
        resources_(graph_),
        core_(
            variables_.list(),
            site_.view().devices.size() > 1 ? runtime::wanted_devices(site_.view().devices) : runtime::wanted_devices(),
            program.values(), options, start(others, options), &runtime::heap_resources::find, resources_.list()) {}
  /// @}

  /// Computes one output, or several in one run.
  /// @param output,outputs names of outputs of the program
  /// @param arguments `feed_to(name, value)` for placeholders, or for outputs, whose operations are then left out; and
  /// limits, such as `timeout(500ms)`
  /// Throws InvalidArgument for a name that the program does not know, an element type or extents that do not fit, or a
  /// placeholder that is needed and not fed; else as sessions of compiled programs.
  /// @{
  template <class... Arguments>
  any_tensor run(const output_name& output, const Arguments&... arguments) {
    any_tensor result;
    run_all({&output, 1}, {&result, 1}, arguments...);
    return result;
  }
  template <class... Arguments>
  std::vector<any_tensor> run(std::initializer_list<output_name> outputs, const Arguments&... arguments) {
    std::vector<any_tensor> results(outputs.size());
    run_all({outputs.begin(), outputs.size()}, results, arguments...);
    return results;
  }
  template <class... Arguments>
  std::vector<any_tensor> run(const std::vector<output_name>& outputs, const Arguments&... arguments) {
    std::vector<any_tensor> results(outputs.size());
    run_all(outputs, results, arguments...);
    return results;
  }
  /// With feeds whose number only the process knows: `run(outputs, feeds, timeout(500ms))`.
  template <class... Limits>
    requires(std::is_same_v<Limits, run_limits>&&...)
  std::vector<any_tensor> run(const std::vector<output_name>& outputs, const std::vector<named_feed>& feeds,
                              const Limits&... given) {
    std::vector<any_tensor> results(outputs.size());
    std::vector<named_feed> list(feeds);
    run_limits limits[sizeof...(Limits) + 1];
    sorted_arguments all{list.data(), limits, list.size()};
    (all.take(given), ...);
    run_named(outputs, results, all);
    return results;
  }
  /// @}

  /// As of sessions of compiled programs.
  /// @{
  void close() { core_.close(-1); }
  template <duration_like Duration>
  [[nodiscard]] bool close(Duration patience) {
    const std::int64_t ns = time_limit(patience).ns();
    return core_.close(ns < 0 ? 0 : ns);
  }
  [[nodiscard]] runtime::session_core& core() { return core_; }
  /// @}

  /// Computes outputs by their positions, with values for nodes: what runs by names and by handles are made of.
  /// @param feeds each node is fed once, by a value of its element type
  /// @param take called with the number of each output and its value
  /// @param numbers what comes with the request of a part of a run; nullptr: it is no part
  template <class Take>
  void run_nodes(array_view<const int> outputs, array_view<const runtime::node_feed> feeds,
                 array_view<run_limits> limits, const source_line& at, const Take& take,
                 const runtime::run_numbers* numbers = nullptr) {
    const std::vector<ir::node_id> replaced = replaced_by(feeds);
    const runtime::named_plan& plan = find_plan(outputs, replaced);
    scratch_array<raw_view, 8> values(plan.placeholders.size());
    for (const runtime::node_feed& f : feeds)
      for (std::size_t p = 0; p < plan.placeholders.size(); ++p)
        for (const ir::node_id i : f.nodes)
          if (plan.placeholders[p] == i) values[p] = f.value;
    for (std::size_t p = 0; p < plan.placeholders.size(); ++p)
      if (plan.needed[p] && values[p].type == dtype::none)
        fail(status_code::invalid_argument,
             {"TAGMA-E051 run: a placeholder that this fetch needs is not fed: ", graph_[plan.placeholders[p]].name});
    core_.run({plan.view,
               plan.kernels,
               values.view(),
               {{limits.data(), limits.size()}, limits.size() > 1 ? &runtime::join : nullptr},
               at,
               numbers},
              take);
  }

 private:
  /// The devices besides CPUs, if a node is on one of them and the machine has any.
  [[nodiscard]] TAGMA_COLD owned<runtime::accelerator> start(const runtime::device_kind* kind,
                                                             const session_options& options) const {
    if (kind == nullptr || !site_.is_accelerated()) return {};
    const device_text types[] = {device_text(kind->type), ir::local_device_types[0]};
    runtime::check_kinds(options.kinds, types);
    owned<runtime::accelerator> started = kind->start(runtime::options_of(kind->type, options.gpu, options.kinds));
    if (started->devices() == 0) return {};
    return started;
  }

  /// Where the container of a session has the variables of the program already.
  [[nodiscard]] TAGMA_COLD heap_array<device_spec> homes_in(const session_options& options,
                                                            const runtime::device_kind* kind) const {
    if (kind == nullptr || options.state.state().get() == nullptr) return {};
    heap_array<device_spec> homes(graph_.nodes.size());
    for (ir::node_id i = 0; i < graph_.size(); ++i) {
      if (!graph_.info(i).is(ir::op_kind::variable)) continue;
      const std::string name = runtime::name_in_container(options.variable_prefix, graph_[i].name, graph_[i].suffix);
      const counted<runtime::resource> found = options.state.state()->find("variable", name);
      if (found.get() == nullptr) continue;
      const auto& v = static_cast<const runtime::stored_variable&>(*found);
      const device_spec asked = graph_.request(i);
      if (v.is_on(kind->type, v.device()))
        homes[i] = ir::local_device(kind->type, v.device());
      else if (v.device() < 0)
        homes[i] = ir::local_device("CPU", asked.type == ir::local_device_types[0] && asked.id > 0 ? asked.id : 0);
    }
    return homes;
  }

  /// What is fed and computed otherwise, in the order of the graph.
  [[nodiscard]] std::vector<ir::node_id> replaced_by(array_view<const runtime::node_feed> feeds) const {
    std::vector<ir::node_id> nodes;
    for (const runtime::node_feed& f : feeds)
      for (const ir::node_id node : f.nodes) {
        if (graph_.info(node).is(ir::op_kind::placeholder)) continue;
        std::size_t at = 0;
        while (at < nodes.size() && nodes[at] < node) ++at;
        if (at == nodes.size() || nodes[at] != node)
          nodes.insert(nodes.begin() + static_cast<std::ptrdiff_t>(at), node);
      }
    return nodes;
  }

  /// The arguments of a run, sorted into memory of the caller.
  struct sorted_arguments {
    named_feed* feeds;
    run_limits* limits;
    std::size_t feed_count = 0, limit_count = 0;

    void take(const named_feed& f) { feeds[feed_count++] = f; }
    void take(const run_limits& l) { limits[limit_count++] = l; }
    [[nodiscard]] array_view<const named_feed> all_feeds() const { return {feeds, feed_count}; }
  };

  template <class... Arguments>
  void run_all(array_view<const output_name> outputs, array_view<any_tensor> results, const Arguments&... arguments) {
    named_feed feeds[sizeof...(Arguments) + 1]{};
    run_limits limits[sizeof...(Arguments) + 1];
    sorted_arguments all{feeds, limits};
    (all.take(arguments), ...);
    run_named(outputs, results, all);
  }

  void run_named(array_view<const output_name> names, array_view<any_tensor> results, const sorted_arguments& given) {
    if (names.empty()) fail(status_code::invalid_argument, "TAGMA-E174 run: takes the name of an output, or several");
    scratch_array<int, 8> outputs(names.size());
    for (std::size_t f = 0; f < names.size(); ++f) outputs[f] = find_output(names[f].name());
    const array_view<const named_feed> named = given.all_feeds();
    std::vector<ir::node_id> nodes;
    scratch_array<std::size_t, 8> ends(named.size());
    scratch_array<runtime::node_feed, 8> feeds(named.size());
    for (std::size_t f = 0; f < named.size(); ++f) add_nodes(named, f, nodes), ends[f] = nodes.size();
    for (std::size_t f = 0; f < named.size(); ++f) {
      const std::size_t first = f == 0 ? 0 : ends[f - 1];
      feeds[f] = {array_view<const ir::node_id>(nodes).subspan(first, ends[f] - first), named[f].value};
    }
    run_nodes(outputs.view(), feeds.view(), {given.limits, given.limit_count}, names[0].at(),
              [results](std::size_t f, const raw_view& value) {
                if (value.type != dtype::none) results[f] = any_tensor::copy_of(value);
              });
  }

  [[nodiscard]] int find_output(std::string_view name) const {
    const int found = program_.find_output(name);
    if (found >= 0) return found;
    std::string known;
    for (const std::string& output : program_.outputs()) append_parts(known, {known.empty() ? "" : ", ", output});
    fail(status_code::invalid_argument,
         {"TAGMA-E050 run: what is fetched is no output of this program: ", name, "; it has ", known});
  }
  /// The nodes that a feed is for: a placeholder may be several nodes, one on each device that asks for it.
  [[nodiscard]] bool is_placeholder(ir::node_id i, std::string_view name) const {
    return graph_[i].name == name && graph_.info(i).is(ir::op_kind::placeholder);
  }
  /// Adds the nodes that feed number `f` is for.
  void add_nodes(array_view<const named_feed> feeds, std::size_t f, std::vector<ir::node_id>& nodes) const {
    const named_feed& fed = feeds[f];
    for (std::size_t g = 0; g < f; ++g)
      if (fed.name == feeds[g].name)
        fail(status_code::invalid_argument, {"TAGMA-E151 run: one tensor is fed twice: ", fed.name});
    const std::size_t before = nodes.size();
    for (ir::node_id i = 0; i < graph_.size(); ++i)
      if (is_placeholder(i, fed.name)) nodes.push_back(i);
    if (nodes.size() == before) {
      const int output = program_.find_output(fed.name);
      if (output < 0)
        fail(status_code::invalid_argument, {"TAGMA-E054 run: what is fed is no part of this program: ", fed.name});
      nodes.push_back(graph_.roots[output]);
      const ir::op_info& op = graph_.info(nodes.back());
      if (!detail::is_computed(op) || op.outputs > 0)
        fail(status_code::invalid_argument,
             {"TAGMA-E149 run: placeholders and computed tensors can be fed; a variable is assigned instead: ",
              fed.name});
    }
    const tensor_spec& wanted = graph_[nodes.back()].spec;
    if (fed.value.type != wanted.type)
      fail(status_code::invalid_argument,
           {"TAGMA-E052 run: the value that is fed needs the element type of the placeholder: ", fed.name, " is ",
            to_string(wanted), ", fed is ", to_string(fed.value.type)});
  }

  const runtime::named_plan& find_plan(array_view<const int> outputs, array_view<const ir::node_id> fed) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const owned<runtime::named_plan>& p : plans_)
      if (p->is_for(outputs, fed)) return *p;
    const runtime::device_kind* const others = site_.is_accelerated() ? others_ : nullptr;
    plans_.push_back(make_owned<runtime::named_plan>(program_, site_.view(), others, outputs, fed));
    return *plans_.back();
  }

  const runtime::device_kind* others_;
  any_program program_;
  ir::graph_view graph_;
  plan::heap_site site_;
  runtime::heap_variables variables_;
  runtime::heap_resources resources_;
  std::mutex mutex_;
  std::vector<owned<runtime::named_plan>> plans_;
  runtime::session_core core_;  // last: it ends its plans first
};

session(const any_program&)->session<any_program>;
session(const any_program&, const session_options&)->session<any_program>;
session(const any_program&, const session_options&, const runtime::device_kind&)->session<any_program>;
session(const any_program&, const session_options&, const runtime::device_kind*)->session<any_program>;

}  // namespace tagma
