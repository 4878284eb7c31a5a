// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What device scopes ask for, and what scopes of names call. While the graph is built, every node is reached through a
/// chain of scopes; here chains and requests are numbers, 0 being none.

#include "tagma/graph/pass/differentiate.hpp"
#include "tagma/ir/training.hpp"

namespace tagma::ir {

/// True for nodes that cannot be two: what has a name or a state is one, wherever it is asked for.
[[nodiscard]] constexpr bool is_single(const op_info& op) {
  switch (op.kind) {
    case op_kind::optimizer:
    case op_kind::placeholder:
    case op_kind::variable:
    case op_kind::literal:
    case op_kind::constant:
    case op_kind::resource:
      return true;
    default:
      return op.stateful || op.single;
  }
}

/// True for nodes that scopes of names make several of, even where these are equal: what has a name that they change,
/// or a state.
[[nodiscard]] constexpr bool is_named_by_scopes(const op_info& op) {
  return is_single(op) && !op.is(op_kind::placeholder) && !op.is(op_kind::literal) && !op.is(op_kind::constant);
}

namespace detail {

/// A position in the list of chains: the scopes around a node, innermost first.
using chain_id = std::int16_t;

/// Requests of a graph whose nodes are reached through scopes.
template <std::size_t Nodes>
class scope_context : public request_source {
 public:
  static constexpr std::size_t most_requests = 64;
  /// Requests 0 and 1 ask for nothing; 1 since scopes disagree about it.
  static constexpr std::int16_t nothing = 0, disputed = 1;

  /// @param room for so many nodes, where they are on the heap
  constexpr scope_context(graph& g, build_status& status, [[maybe_unused]] std::size_t room)
      : graph_(g), status_(status) {
    if constexpr (Nodes == heap_room) make_room(room, chain_of_, task_of_);
    ask = [](request_source& self, const op_info& op, const tensor_spec& spec, std::string_view name) {
      auto& me = static_cast<scope_context&>(self);
      int task = -1;
      return me.resolve(me.ambient_, op, spec, name, task);
    };
  }

  /// The chains of a record that is reached through `around`, and of its operands.
  struct chains {
    chain_id self = 0;
    chain_id operands = 0;
  };
  [[nodiscard]] constexpr chains enter(chain_id around, const record& r) {
    for (chain_id c = around; c != 0; c = links_[c].outer)
      for (const record* end : links_[c].layer->outside)
        if (end == &r) around = links_[c].outer;
    chains now{around, around};
    for (const scope* s = r.scopes; s != nullptr; s = s->inner) {
      const bool both = now.self == now.operands;
      now.self = link(now.self, *s);
      if (s->kind != scope_kind::colocate && !s->alone) now.operands = both ? now.self : link(now.operands, *s);
    }
    return now;
  }

  /// The request of a record's node, and the task that a setter chose for it.
  /// @param called the name of the node
  [[nodiscard]] constexpr std::int16_t request(chain_id chain, const record& r, std::string_view called, int& task) {
    if (chain == 0 || r.op->info->is(op_kind::constant)) return nothing;
    return resolve(chain, *r.op->info, r.spec, called, task);
  }
  /// The scopes of names of a chain.
  [[nodiscard]] constexpr chain_id names(chain_id chain) const { return links_[chain].names; }
  /// Where a node of a record is found that cannot be two, or that no device scope is around.
  [[nodiscard]] constexpr chain_id base(chain_id chain, const op_info& op) const {
    return is_single(op) && !is_named_by_scopes(op) ? chain_id{0} : names(chain);
  }
  /// True if handles of what is reached through this chain are not those from which its scopes of names were made.
  [[nodiscard]] constexpr bool hides(chain_id chain) const { return links_[chain].hides; }
  /// What a record is called; in a repeated block, in the copy that was chosen last.
  [[nodiscard]] constexpr std::string_view name(chain_id chain, const record& r) const {
    std::string_view text = r.name;
    if (!text.empty() && is_named_by_scopes(*r.op->info))
      for (chain_id c = names(chain); c != 0; c = links_[c].outer) text = renamed_by(c, text);
    return text;
  }
  /// The name of a variable as it is inside the scopes of names of a chain, if it is inside.
  [[nodiscard]] constexpr std::string_view inside(chain_id chain, std::string_view name) const {
    const chain_id c = names(chain);
    return c == 0 ? name : scope_list::without(inside(links_[c].outer, name), links_[c].layer->prefix);
  }
  /// The innermost scope of a chain that is around a repeated block; 0 if there is none.
  [[nodiscard]] constexpr chain_id repeated(chain_id chain) const {
    while (chain != 0 && links_[chain].layer->kind != scope_kind::repeated) chain = links_[chain].outer;
    return chain;
  }
  [[nodiscard]] constexpr chain_id around(chain_id chain) const { return links_[chain].outer; }
  [[nodiscard]] constexpr const scope& layer(chain_id chain) const { return *links_[chain].layer; }
  /// Chooses the copy of a repeated block that names are given for.
  constexpr void choose(chain_id chain, int copy) { links_[links_[chain].names].copy = copy; }

  /// Nodes that passes add from now on are asked for by this chain.
  constexpr void set_ambient(chain_id chain) { ambient_ = chain; }

  /// A node that cannot be two, reached once more: it is asked for what all scopes agree on. A chain that asks for
  /// nothing has no opinion.
  constexpr void agree(node_id id, chain_id chain, const record& r) {
    if (chain == 0 || chain == chain_of_.values[id] || !status_.good()) return;
    chain_of_.values[id] = chain;
    int task = task_of_.values[id];
    const std::int16_t before = graph_[id].request, now = request(chain, r, name(chain, r), task);
    if (now == nothing || now == before) return;
    if (before == nothing) {
      task_of_.values[id] = static_cast<std::int16_t>(task);
      graph_.set_request(id, now);
      return;
    }
    const device_spec a = requests_[before], b = requests_[now];
    device_spec common;
    if (a.job == b.job) common.job = a.job;
    if (a.replica == b.replica) common.replica = a.replica;
    if (a.task == b.task && a.job == b.job) common.task = a.task;
    if (a.type == b.type) common.type = a.type;
    if (a.id == b.id && a.type == b.type) common.id = a.id;
    graph_.set_request(id, common.empty() ? disputed : number(common));
  }
  /// Notes how a node that cannot be two was first reached.
  constexpr void note(node_id id, chain_id chain, int task) {
    chain_of_.values[id] = chain;
    task_of_.values[id] = static_cast<std::int16_t>(task);
  }

  [[nodiscard]] constexpr int request_count() const { return request_count_; }
  [[nodiscard]] constexpr const device_spec& operator[](int request) const { return requests_[request]; }

 private:
  static constexpr int most_links = 1024, most_functions = 16;
  static constexpr std::size_t most_places = 2 * most_links;
  struct link_of_chain {
    const scope* layer = nullptr;
    chain_id outer = 0;
    chain_id names = 0;
    std::int16_t tables = 0;  ///< the first that belongs to these names
    bool hides = false;
    int copy = 0;
  };
  struct name_table {
    const scope* layer = nullptr;
    std::int16_t next = 0;
  };
  struct counter {
    device_function function = nullptr;
    device_counts counts;
  };

  /// Each record in a scope has one of its own; what counts is what it asks for and where it ends.
  [[nodiscard]] static constexpr bool is_one_scope(const scope& a, const scope& b) {
    if (&a == &b) return true;
    if (a.kind != b.kind || a.alone != b.alone || a.function != b.function || !(a.spec == b.spec) ||
        a.outside.size() != b.outside.size())
      return false;
    for (std::size_t i = 0; i < a.outside.size(); ++i)
      if (a.outside[i] != b.outside[i]) return false;
    return a.prefix == b.prefix;
  }
  constexpr chain_id link(chain_id outer, const scope& layer) {
    std::size_t i = (static_cast<std::size_t>(layer.hash) + 7919 * static_cast<std::size_t>(outer)) % most_places;
    for (; places_[i] != 0; i = (i + 1) % most_places) {
      const link_of_chain& found = links_[places_[i]];
      if (found.outer != outer || !is_one_scope(*found.layer, layer)) continue;
      if (layer.renames()) keep_names(found.names, layer);
      return places_[i];
    }
    if (link_count_ == most_links) return too_many();
    const auto id = static_cast<chain_id>(link_count_++);
    places_[i] = id;
    const link_of_chain& around = links_[outer];
    links_[id] = {&layer, outer, around.names, 0,
                  around.hides || (layer.renames() && layer.kind != scope_kind::all_names)};
    if (layer.renames()) {
      links_[id].names = around.names == outer ? id : link(around.names, layer);
      keep_names(links_[id].names, layer);
    }
    return id;
  }
  /// Scopes of one prefix that begin at different nodes know different names.
  constexpr void keep_names(chain_id chain, const scope& layer) {
    for (int i = links_[chain].tables; i != 0; i = tables_[i].next)
      if (tables_[i].layer == &layer) return;
    if (table_count_ == most_links) {
      too_many();
      return;
    }
    tables_[table_count_] = {&layer, links_[chain].tables};
    links_[chain].tables = static_cast<std::int16_t>(table_count_++);
  }
  [[nodiscard]] constexpr std::string_view renamed_by(chain_id chain, std::string_view name) const {
    const std::uint64_t hash = hash_text(name);
    for (int i = links_[chain].tables; i != 0; i = tables_[i].next)
      if (const std::string_view known = tables_[i].layer->renamed_to(name, hash, links_[chain].copy); !known.empty())
        return known;
    return name;
  }
  constexpr std::int16_t number(const device_spec& spec) {
    if (spec.empty()) return nothing;
    for (int i = 2; i < request_count_; ++i)
      if (requests_[i] == spec) return static_cast<std::int16_t>(i);
    if (request_count_ == static_cast<int>(most_requests)) return too_many();
    requests_[request_count_] = spec;
    return static_cast<std::int16_t>(request_count_++);
  }
  constexpr std::int16_t too_many() {
    status_.stop(build_problem::too_many_scopes);
    return 0;
  }
  constexpr device_counts* counts_of(device_function function) {
    int i = 0;
    while (i < counter_count_ && counters_[i].function != function) ++i;
    if (i == most_functions) return nullptr;
    if (i == counter_count_) counters_[counter_count_++].function = function;
    return &counters_[i].counts;
  }
  constexpr std::int16_t resolve(chain_id chain, const op_info& op, const tensor_spec& spec, std::string_view name,
                                 int& task) {
    if (!status_.good() || op.unasked || chain == names(chain)) return nothing;
    tagma::op_info about{op.name, name, op.is(op_kind::variable), op.is(op_kind::placeholder), spec, {}};
    for (chain_id c = chain; c != 0; c = links_[c].outer) {
      const scope& layer = *links_[c].layer;
      if (layer.kind == scope_kind::clear || layer.kind == scope_kind::colocate) break;
      if (layer.renames()) continue;
      if (layer.kind == scope_kind::request) {
        about.device = fill_from(about.device, layer.spec);
        continue;
      }
      device_counts* const counts = counts_of(layer.function);
      if (counts == nullptr) return too_many();
      const device_answer answer = layer.function(about, *counts, task);
      if (answer.malformed) {
        status_ = {build_problem::malformed_device, &op, spec, {}, answer.text};
        return nothing;
      }
      about.device = answer.spec;
    }
    return number(about.device);
  }

  graph& graph_;
  build_status& status_;
  link_of_chain links_[most_links]{};
  chain_id places_[most_places]{};  // links by their hashes; 0 is none
  name_table tables_[most_links]{};
  device_spec requests_[most_requests]{};
  counter counters_[most_functions]{};
  node_table<chain_id, Nodes> chain_of_{};
  node_table<std::int16_t, Nodes> task_of_{};
  int link_count_ = 1;
  int table_count_ = 1;
  int request_count_ = 2;
  int counter_count_ = 0;
  chain_id ambient_ = 0;
};

}  // namespace detail
}  // namespace tagma::ir
