// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Sessions over a cluster with the handles of a program: what a run fetches and feeds is checked by the C++ compiler,
/// as in local sessions; what devices and kernels there are, the servers know.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/cluster/monitored_session.hpp"
#include "tagma/cluster/session.hpp"
#include "tagma/cluster/session_checkpoints.hpp"
#include "tagma/plan/compiled_plan.hpp"
#include "tagma/runtime/caught.hpp"
#include "tagma/runtime/run_check.hpp"
#include "tagma/runtime/session.hpp"

namespace tagma {

namespace detail {

/// A graph that runs elsewhere.
template <class Graph>
struct distant_graph : Graph {};

/// A program whose runs are those of a session by names.
template <class Program, class Runs>
struct distant_program {
  using graph = distant_graph<typename Program::graph>;
  Runs* runs;
};

/// Resources, kernels and devices are the servers'.
template <class Graph>
struct graph_tables<distant_graph<Graph>> {
  static constexpr bool is_late = true;
  static constexpr fixed_array<plan::plan_resource, 0> resources{};
};

/// The first placeholder that some outputs need and the feeds lack, or `no_node`.
/// @tparam Needs a `plan_needs`
template <class Needs, class... Traits>
[[nodiscard]] constexpr ir::node_id first_not_fed() {
  const ir::graph_view g = Needs::planned::view;
  const array_view<const ir::node_id> feeds[] = {Traits::nodes..., {}};
  for (ir::node_id i = 0; i < g.size(); ++i) {
    const bool read =
        wants_value(Needs::needs[i]) || (Needs::needs[i] != ir::need::nothing && !g[i].spec.dims.is_static());
    if (!g.info(i).is(ir::op_kind::placeholder) || !read) continue;
    bool fed = false;
    for (const auto& nodes : feeds)
      for (const ir::node_id f : nodes) fed = fed || f == i;
    if (!fed) return i;
  }
  return ir::no_node;
}

/// As of local sessions, without kernels, devices and the order of the steps.
template <class Graph, class... Arguments>
struct run_check<distant_graph<Graph>, Arguments...> : fetch_check {
  using fetch_check::find;

  template <class... E>
  static auto find(fetch_list<E...> list) {
    if constexpr (graph_tables<Graph>::is_late) {
      return run_check<Graph, Arguments...>::find(list);
    } else {
      using arguments = typename first_fault<fetch_traits<Graph, E>..., feed_traits<Graph, Arguments>...,
                                             repeated_feeds<Graph, Arguments...>>::type;
      if constexpr (std::is_void_v<arguments>)
        return find_missing<plan_needs<graph_of_run<Graph, Arguments...>, fetch_traits<Graph, E>::position...>>();
      else
        return arguments{};
    }
  }
  template <class Needs>
  static auto find_missing() {
    constexpr ir::node_id missing = first_not_fed<Needs, feed_traits<Graph, Arguments>...>();
    if constexpr (missing != ir::no_node) {
      static constexpr std::string_view name = Graph::view[missing].name;
      static constexpr tensor_spec declared = Graph::view[missing].spec;
      return diagnose::not_fed<spelled<fixed_copy<&name>()>, spec_of<declared>>{};
    }
  }
  template <class What>
  using fault = decltype(run_check::find(as_list(std::declval<const What&>())));
};

/// Throws the exception that is being handled, with the line of the run.
[[noreturn]] TAGMA_COLD inline void rethrow_of_run(const source_line& at) {
  const runtime::caught seen(std::current_exception());
  fail(seen.code, {runtime::without_code(seen.what), " (run at ", at.file, ":", at.line, ")"});
}

/// What a typed session hands over to the session by names.
struct distant_run {
  std::vector<int> outputs;
  std::vector<named_feed> feeds;
  std::vector<run_limits> limits;

  template <class Runs>
  [[nodiscard]] TAGMA_COLD std::vector<any_tensor> ask(Runs& runs, const source_line& at) {
    try {
      if (limits.empty()) return runs.run_outputs(outputs, feeds);
      if (limits.size() > 1) runtime::join({limits.data(), limits.size()});
      return runs.run_outputs(outputs, feeds, limits[0]);
    } catch (...) {
      rethrow_of_run(at);
    }
  }
};

template <class Program, class Runs>
class program_session<distant_program<Program, Runs>> {
 public:
  using graph = typename Program::graph;

  program_session(const distant_program<Program, Runs>& program, const session_options&) : runs_(program.runs) {}

  template <int... Output, class Take, class... Arguments>
  void run(const Take& take, const source_line& at, const Arguments&... arguments) {
    distant_run one{{Output...}, {}, {}};
    string_element texts[sizeof...(Arguments) + 1];
    [[maybe_unused]] string_element* text = texts;
    (take_argument(one, text, at, arguments), ...);
    const std::vector<any_tensor> results = one.ask(*runs_, at);
    for (std::size_t f = 0; f < results.size(); ++f) take(f, results[f].view());
  }

 private:
  template <class Id, class Value>
  static void take_argument(distant_run& to, string_element*& text, const source_line& at, const feed<Id, Value>& f) {
    using given = feed_traits<graph, feed<Id, Value>>;
    if (!find_record<Id>()->op->info->is(ir::op_kind::placeholder))
      fail(status_code::unimplemented,
           {"run: sessions over a cluster feed placeholders, and this is computed: ", given::about.operation, " ",
            given::about.name, " (run at ", at.file, ":", at.line, ")"});
    to.feeds.push_back({given::about.name, feed_view<given>(f.value, *text++, at)});
  }
  static void take_argument(distant_run& to, string_element*&, const source_line&, const run_limits& l) {
    to.limits.push_back(l);
  }

  Runs* runs_;
};

/// A program of any type as data.
/// @{
[[nodiscard]] inline const any_program& as_data(const any_program& program) { return program; }
template <class Closure>
[[nodiscard]] any_program as_data(const program<Closure>& of) {
  return any_program(of);
}
/// @}

/// Runs of a program by its handles, which a session by names does, `cluster_session` or `monitored_session`.
template <class Program, class Runs>
class typed_runs : session<distant_program<std::remove_const_t<Program>, Runs>> {
  using by_handles = session<distant_program<std::remove_const_t<Program>, Runs>>;

 public:
  /// `run(loss, x = images)`, `run(fetch(loss, train), x = images, timeout(500ms))`. Feeds are for placeholders;
  /// Unimplemented for a tensor that is computed.
  using by_handles::run;

 protected:
  explicit typed_runs(Runs& runs) : by_handles({&runs}) {}
};

/// What is of a cluster's session besides.
template <class Program>
class typed_cluster_runs : public typed_runs<Program, cluster_session> {
 public:
  /// As of `cluster_session`.
  /// @{
  saved_checkpoint save(const std::string& name, const save_options& how = {}) { return runs_.save(name, how); }
  restored_checkpoint restore(const std::string& name, std::int64_t pause_ns = save_options().pause_ns) {
    return runs_.restore(name, pause_ns);
  }
  [[nodiscard]] device_spec device_of(ir::node_id node) const { return runs_.device_of(node); }
  /// @}

 protected:
  explicit typed_cluster_runs(cluster_session& runs) : typed_runs<Program, cluster_session>(runs), runs_(runs) {}

 private:
  cluster_session& runs_;
};

/// Made before what refers to it.
template <class Runs>
struct session_by_names {
  Runs by_names;
};

}  // namespace detail

namespace diagnose {
template <class Graph, class Placed>
inline constexpr bool joins_devices<detail::distant_graph<Graph>, Placed> = true;
}  // namespace diagnose

/// A session over a cluster for a program with handles, compiled early or late: `typed_session session(network,
/// members, home, program)`. Runs are written as those of local sessions and refused by the compiler with the same
/// numbers, save what only servers know: devices, kernels, and the order of updates (TAGMA-E067) are errors of the
/// session and its runs, InvalidArgument. Everything else is as of `cluster_session`.
template <class Program>
class typed_session : detail::session_by_names<cluster_session>, public detail::typed_cluster_runs<Program> {
 public:
  /// As of `cluster_session`.
  typed_session(transport::network& by, const cluster& members, const task_id& home, const Program& program,
                cluster_session_options options = {})
      : detail::session_by_names<cluster_session>{{by, members, home, detail::as_data(program), std::move(options)}},
        detail::typed_cluster_runs<Program>(by_names) {}
};

/// `monitored_session` for a program with handles: runs that a loss of servers ends are done again, and are written and
/// checked as those of `typed_session`.
template <class Program>
class typed_monitored_session : detail::session_by_names<monitored_session>,
                                public detail::typed_runs<Program, monitored_session> {
 public:
  /// As of `monitored_session`.
  /// @{
  typed_monitored_session(transport::network& by, const cluster& members, const task_id& home, const Program& program,
                          cluster_session_options how = {}, monitored_options options = {},
                          std::vector<run_hooks> hooks = {})
      : detail::session_by_names<monitored_session>{{by, members, home, detail::as_data(program), std::move(how),
                                                     std::move(options), std::move(hooks)}},
        detail::typed_runs<Program, monitored_session>(by_names) {}
  saved_checkpoint save() { return by_names.save(); }
  [[nodiscard]] int sessions() const { return by_names.sessions(); }
  /// @}
};

}  // namespace tagma
