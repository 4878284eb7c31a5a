// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// From expressions to a flat graph: walks the records behind the handles once, each record one node however often it
/// is used, and replaces gradients and optimizers by the nodes that compute them.

#include "tagma/graph/scopes.hpp"
#include "tagma/graph/survey.hpp"

namespace tagma::ir {

/// The node that a record became where it was reached.
struct node_of_record {
  const record* what = nullptr;
  node_id node = no_node;
};

/// Storage of a graph under construction and what became of it.
template <std::size_t Nodes, std::size_t Roots, bool Scoped = false>
struct built_graph {
  graph_storage<Nodes> storage;
  int nodes = 0;
  int edges = 0;
  int attributes = 0;
  node_id roots[Roots > 0 ? Roots : 1]{};
  build_status status;
  node_of_record records[2 * Nodes]{};  ///< a record may be several nodes, if it is reached through several scopes
  int record_count = 0;
  int request_count = 0;
  device_spec requests[Scoped ? detail::scope_context<1>::most_requests : 1]{};
};

namespace detail {

/// Remembers the node of each record and the record of each name; with scopes, of each record in each chain.
template <bool Scoped>
struct record_memo {
  array_view<const record*> records;
  array_view<node_id> nodes;  ///< one more than the node; 0 in an empty slot
  array_view<const record*> names;
  array_view<bool> named;
  array_view<chain_id> chains;
  std::size_t count = 0;

  [[nodiscard]] constexpr std::size_t slot(const record& r, chain_id chain) const {
    std::size_t i = static_cast<std::size_t>(r.hash) & (records.size() - 1);
    if constexpr (Scoped) {
      i = (i + 7 * static_cast<std::size_t>(chain)) & (records.size() - 1);
      while (nodes[i] != 0 && (records[i] != &r || chains[i] != chain)) i = (i + 1) & (records.size() - 1);
    } else {
      while (nodes[i] != 0 && records[i] != &r) i = (i + 1) & (records.size() - 1);
    }
    return i;
  }
  [[nodiscard]] constexpr node_id find(const record& r, chain_id chain) const { return nodes[slot(r, chain)] - 1; }
  constexpr void set(const record& r, chain_id chain, node_id id) {
    const std::size_t i = slot(r, chain);
    records[i] = &r;
    nodes[i] = id + 1;
    if constexpr (Scoped) chains[i] = chain, ++count;
  }
  /// The record that has this record's name, after noting the name if it is new.
  constexpr const record& owner_of_name(const record& r) {
    std::size_t i = static_cast<std::size_t>(hash_text(r.name)) & (names.size() - 1);
    while (named[i] && names[i]->name != r.name) i = (i + 1) & (names.size() - 1);
    if (!named[i]) names[i] = &r, named[i] = true;
    return *names[i];
  }
};
static_assert(no_node == -1);

template <class Graph>
constexpr node_id expand_optimizer(Graph& g, const record& r, array_view<const node_id> inputs,
                                   const gradient_scratch& scratch, array_view<node_id> variables,
                                   array_view<node_id> gradients, array_view<variable_gradient> pairs,
                                   build_status& status) {
  std::size_t count = 0;
  const auto given = static_cast<std::size_t>(r.attributes[0]);
  array_view<const node_id> rest = inputs.subspan(given == 0 ? 1 : 2 * given);
  if (given == 0) {
    const node_id loss = inputs[0];
    for (node_id i = 0; i < loss; ++i) {
      if (!g.info(i).is(op_kind::variable) || g.attributes(i)[1] == 0) continue;
      if (count == variables.size()) {
        status.problem = build_problem::too_large;
        return 0;
      }
      variables[count] = i, gradients[count++] = no_node;
    }
    differentiate(g, loss, variables.first(count), gradients.first(count), scratch, status);
  } else {
    if (given > variables.size()) {
      status.problem = build_problem::too_large;
      return 0;
    }
    for (; count < given; ++count) variables[count] = inputs[2 * count], gradients[count] = inputs[2 * count + 1];
  }
  if (!status.good()) return 0;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (gradients[i] != no_node) pairs[kept++] = {variables[i], gradients[i]};
  if (kept == 0 && !g.overflow()) {
    status.problem = build_problem::nothing_to_train;
    return 0;
  }
  expand_args args{{g}, rest, r.attributes, pairs.first(kept)};
  r.op->expand(args);
  return args.result;
}

/// The numbers of the records that take a value of the running program.
class value_numbers {
 public:
  constexpr explicit value_numbers(array_view<const record* const> owners) : owners_(owners) {
    while (size_ < 2 * owners.size()) size_ *= 2;
    slots_ = new std::int32_t[size_]();
    for (std::size_t i = 0; i < owners.size(); ++i) slots_[slot(*owners[i])] = static_cast<std::int32_t>(i) + 1;
  }
  value_numbers(const value_numbers&) = delete;
  value_numbers& operator=(const value_numbers&) = delete;
  constexpr ~value_numbers() { delete[] slots_; }

  [[nodiscard]] constexpr std::int32_t number(const record& owner) const { return slots_[slot(owner)] - 1; }

 private:
  [[nodiscard]] constexpr std::size_t slot(const record& r) const {
    std::size_t i = static_cast<std::size_t>(r.hash) & (size_ - 1);
    while (slots_[i] != 0 && owners_[slots_[i] - 1] != &r) i = (i + 1) & (size_ - 1);
    return i;
  }

  array_view<const record* const> owners_;
  std::size_t size_ = 1;
  std::int32_t* slots_ = nullptr;
};

/// A record on its way into the graph, and the scopes through which it was reached.
template <bool Scoped>
struct pending_record {
  const record* what = nullptr;
};
template <>
struct pending_record<true> {
  const record* what = nullptr;
  chain_id chain = 0;
};

struct no_scopes {
  constexpr no_scopes(graph&, build_status&) {}
};

/// True for a variable that may be the step of an optimizer, by its type and its name. Two such of one name that begin
/// in two ways are refused when all variables are known, as what they are (`find_shared_name`).
[[nodiscard]] constexpr bool is_called_like_step(const tensor_spec& spec, std::string_view name) {
  return spec.type == dtype::int64 && name.ends_with("/step");
}

/// The walk behind `build_graph`, with its scratch space.
template <std::size_t Nodes, std::size_t Roots, bool Scoped>
class graph_builder {
 public:
  /// @param owners of the numbers of the running program
  /// @param gradients that are asked for
  constexpr graph_builder(built_graph<Nodes, Roots, Scoped>& built, array_view<const record* const> owners,
                          array_view<const record* const> asked)
      : built_(built),
        status_(built.status),
        g_(built.storage.view()),
        scopes_(g_, built.status),
        values_(owners),
        asked_(asked) {
    if constexpr (Scoped) g_.ask(&scopes_);
  }

  /// Adds the nodes behind a record, operands first, and returns its own.
  constexpr node_id build(const record& root) {
    std::size_t depth = 0;
    stack_[depth++] = {&root};
    while (depth > 0 && good()) {
      const pending top = stack_[depth - 1];
      const record& r = *top.what;
      reached at = reach(top);
      if (at.id != no_node) {
        --depth;
        continue;
      }
      const std::size_t before = depth;
      if constexpr (Scoped) push(r.colocated, 0, depth);
      push(r.controls, is_group(r) ? at.operands : chain_id{0}, depth);
      push(r.inputs, at.operands, depth);
      if (!status_.good()) return 0;
      if (depth != before) continue;
      --depth;
      set(r, at, emit(r, at));
    }
    return good() ? reach({&root}).id : 0;
  }

  constexpr void finish() {
    if (g_.overflow()) status_ = {build_problem::too_large, nullptr, {}, {}, {}};
    built_.nodes = g_.size();
    built_.edges = g_.edge_count();
    built_.attributes = g_.attribute_count();
    if constexpr (Scoped) {
      built_.request_count = scopes_.request_count();
      for (int i = 0; i < built_.request_count; ++i) built_.requests[i] = scopes_[i];
    }
  }

  /// Builds what stands in scopes before everything else, so that a node without a scope can be one that is there.
  constexpr void build_scoped_parts(const fixed_array<const record*, Roots>& roots) {
    scratch_array<const record*, 1> seen(4 * Nodes), waiting(4 * Nodes);
    const auto first_time = [&](const record& r) {
      std::size_t i = static_cast<std::size_t>(r.hash) & (4 * Nodes - 1);
      while (seen[i] != nullptr && seen[i] != &r) i = (i + 1) & (4 * Nodes - 1);
      const bool is_new = seen[i] == nullptr;
      seen[i] = &r;
      return is_new;
    };
    std::size_t depth = 0, count = 0;
    const auto wait = [&](array_view<const record* const> list) {
      for (std::size_t i = list.size(); i-- > 0;)
        if (count < 2 * Nodes && first_time(*list[i])) waiting[depth++] = list[i], ++count;
    };
    wait(roots);
    while (depth > 0 && good()) {
      const record& r = *waiting[--depth];
      if (r.scopes != nullptr) {
        build(r);
        continue;
      }
      wait(r.inputs), wait(r.controls), wait(r.colocated);
    }
    if (count == 2 * Nodes) status_.problem = build_problem::too_large;
  }

 private:
  using pending = pending_record<Scoped>;
  /// What is known of a record where it is reached: its node, if it has one, and the chains of scopes.
  struct reached {
    node_id id = no_node;
    chain_id self = 0;
    chain_id operands = 0;
  };

  [[nodiscard]] constexpr bool good() const { return !g_.overflow() && status_.good(); }
  [[nodiscard]] static constexpr bool is_group(const record& r) { return r.op->info->is(op_kind::control); }
  /// True if two variables of one name and type are one, or may be two as far as is known here (names.hpp).
  [[nodiscard]] static constexpr bool begin_alike(const record& a, const record& b) {
    for (std::size_t i = 0; i < a.attributes.size(); ++i)
      if (a.attributes[i] != b.attributes[i]) return is_called_like_step(a.spec, a.name);
    return true;
  }
  [[nodiscard]] static constexpr const record& identity(const record& r) { return r.bare == nullptr ? r : *r.bare; }

  [[nodiscard]] constexpr reached reach(const pending& p) {
    if constexpr (Scoped) {
      const auto chains = scopes_.enter(p.chain, *p.what);
      const record& key = identity(*p.what);
      const bool single = is_single(*key.op->info);
      const node_id id = memo_.find(key, single ? chain_id{0} : chains.self);
      if (id != no_node && single) scopes_.agree(id, chains.self, key);
      return {id, chains.self, chains.operands};
    } else {
      return {memo_.find(*p.what, 0), 0, 0};
    }
  }
  constexpr void push(array_view<const record* const> list, chain_id chain, std::size_t& depth) {
    for (std::size_t i = list.size(); i-- > 0;) {
      if (memo_find(*list[i], chain) != no_node) continue;
      if (depth == 4 * Nodes) {
        status_.problem = build_problem::too_large;
        return;
      }
      if constexpr (Scoped)
        stack_[depth++] = {list[i], chain};
      else
        stack_[depth++] = {list[i]};
    }
  }
  constexpr node_id memo_find(const record& r, chain_id chain) {
    if constexpr (Scoped)
      return reach({&r, chain}).id;
    else
      return memo_.find(r, 0);
  }
  constexpr void set(const record& r, const reached& at, node_id id) {
    if constexpr (Scoped) {
      const record& key = identity(r);
      // A reader outside of all scopes takes the node that is there.
      if (memo_.find(key, 0) == no_node) memo_.set(key, 0, id);
      if (at.self != 0 && !is_single(*key.op->info)) memo_.set(key, at.self, id);
      if (memo_.count > 3 * Nodes) status_.problem = build_problem::too_large;
      if (&key != &r) note(key, id);
    } else {
      memo_.set(r, 0, id);
    }
    note(r, id);
  }
  constexpr void note(const record& r, node_id id) {
    if (built_.record_count == static_cast<int>(2 * Nodes)) {
      status_.problem = build_problem::too_large;
      return;
    }
    built_.records[built_.record_count++] = {&r, id};
  }

  constexpr node_id emit(const record& r, const reached& at) {
    scratch_array<node_id, 8> inputs(r.inputs.size()), controls(r.controls.size()), colocated(r.colocated.size());
    for (std::size_t i = 0; i < r.inputs.size(); ++i) inputs[i] = memo_find(*r.inputs[i], at.operands);
    for (std::size_t i = 0; i < r.controls.size(); ++i)
      controls[i] = memo_find(*r.controls[i], is_group(r) ? at.operands : chain_id{0});
    if constexpr (Scoped)
      for (std::size_t i = 0; i < r.colocated.size(); ++i) colocated[i] = memo_find(*r.colocated[i], 0);
    const array_view<const node_id> in = inputs.view(), after = controls.view();
    if constexpr (Scoped) scopes_.set_ambient(at.self);
    switch (r.op->info->kind) {
      case op_kind::output:
        if (!after.empty() || !colocated.view().empty()) return output_behind(in[0], r, after, colocated.view());
        break;
      case op_kind::gradient:
        return add_gradient(r, at, in);
      case op_kind::optimizer:
        return expand_optimizer(g_, r, in, {adjoint_, wanted_}, variables_, gradients_, pairs_, status_);
      case op_kind::composition:
        return compose(r, in, after, colocated.view());
      case op_kind::placeholder:
      case op_kind::variable: {
        const record& owner = memo_.owner_of_name(r);
        if (&owner != &r) {
          if (!(owner.spec == r.spec && owner.op == r.op))
            status_ = {build_problem::name_clash, r.op->info, owner.spec, r.spec, r.name, &owner, &r};
          else if (!begin_alike(owner, r))
            status_ = {build_problem::two_beginnings, r.op->info, owner.spec, r.spec, r.name, &owner, &r};
        }
        [[fallthrough]];
      }
      default:
        break;
    }
    node_extras extras{after, r.name, {}, r.valued ? values_.number(r.value_owner()) : -1, 0, colocated.view()};
    if constexpr (Scoped) {
      int task = -1;
      extras.request = scopes_.request(at.self, r, task);
      if (!status_.good()) return 0;
      const node_id id = r.op->fold != nullptr && after.empty() && colocated.view().empty()
                             ? g_.emit(*r.op, in, r.attributes, extras)
                             : g_.emit_as(*r.op, r.spec, in, r.attributes, extras);
      if (!g_.overflow() && is_single(*r.op->info)) scopes_.note(id, at.self, task);
      return id;
    } else {
      return r.op->fold != nullptr && after.empty() ? g_.emit(*r.op, in, r.attributes)
                                                    : g_.emit_as(*r.op, r.spec, in, r.attributes, extras);
    }
  }

  /// The gradient `r`, and with it all gradients of the same node that are asked for, in the same scopes if in any:
  /// they share a walk backwards.
  constexpr node_id add_gradient(const record& r, const reached& at, array_view<const node_id> in) {
    scratch_array<const record*, 8> records(asked_.size() + 1);
    scratch_array<node_id, 8> by(asked_.size() + 1), results(asked_.size() + 1);
    records[0] = &r, by[0] = in[1], results[0] = no_node;
    std::size_t count = 1;
    for (const record* other : asked_) {
      if (other == &r || other->inputs[0] != r.inputs[0] || !other->controls.empty()) continue;
      if constexpr (Scoped) {
        // What a gradient without scopes of its own is reached through is not known here.
        const auto chains = scopes_.enter(0, *other);
        if ((at.self != 0 && other->scopes == nullptr) || !other->colocated.empty() || chains.self != at.self ||
            chains.operands != at.operands)
          continue;
      }
      const node_id x = memo_find(*other->inputs[1], at.operands);
      if (x == no_node || memo_find(*other, 0) != no_node) continue;
      records[count] = other, by[count] = x, results[count++] = no_node;
    }
    differentiate(g_, in[0], by.view().first(count), results.view().first(count), {adjoint_, wanted_}, status_);
    if (!good()) return 0;
    if (results[0] == no_node) {
      status_ = {build_problem::independent, nullptr, r.inputs[0]->spec, r.inputs[1]->spec, {}};
      return 0;
    }
    for (std::size_t i = 1; i < count; ++i)
      if (results[i] != no_node) set(*records[i], at, results[i]);
    return results[0];
  }

  /// An output that waits, or runs beside others: all of its operation does. Outputs of one node that wait for the same
  /// are those of one node again.
  constexpr node_id output_behind(node_id of, const record& r, array_view<const node_id> after,
                                  array_view<const node_id> colocated) {
    node_id whole = no_node;
    for (int i = 0; i < behind_count_ && whole == no_node; ++i)
      if (behind_[i].of == of && are_equal(g_.controls(behind_[i].whole), after) &&
          are_equal(g_.colocated(behind_[i].whole), colocated))
        whole = behind_[i].whole;
    if (whole == no_node) {
      const node bound = g_[of];
      whole = g_.emit_as(*bound.op, bound.spec, g_.inputs(of), g_.attributes(of),
                         {after, bound.name, bound.suffix, bound.value, bound.request, colocated});
      if (behind_count_ < most_behind) behind_[behind_count_++] = {of, whole};
    }
    return g_.emit_output(whole, static_cast<int>(r.attributes[0]));
  }
  [[nodiscard]] static constexpr bool are_equal(array_view<const node_id> a, array_view<const node_id> b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (a[i] != b[i]) return false;
    return true;
  }

  /// The nodes of a composition. What it waits for, or runs beside, is for its result.
  constexpr node_id compose(const record& r, array_view<const node_id> in, array_view<const node_id> after,
                            array_view<const node_id> colocated) {
    expand_args args{{g_}, in, r.attributes, {}};
    r.op->expand(args);
    if (g_.overflow() || (after.empty() && colocated.empty())) return args.result;
    const node bound = g_[args.result];
    return g_.emit_as(*bound.op, bound.spec, g_.inputs(args.result), g_.attributes(args.result),
                      {after, bound.name, bound.suffix, bound.value, bound.request, colocated});
  }

  built_graph<Nodes, Roots, Scoped>& built_;
  build_status& status_;
  graph g_;
  std::conditional_t<Scoped, scope_context<Nodes>, no_scopes> scopes_;
  value_numbers values_;
  array_view<const record* const> asked_;
  const record* memo_records_[4 * Nodes]{};
  const record* memo_names_[2 * Nodes]{};
  node_id memo_nodes_[4 * Nodes]{};
  chain_id memo_chains_[Scoped ? 4 * Nodes : 1]{};
  bool memo_named_[2 * Nodes]{};
  record_memo<Scoped> memo_{memo_records_, memo_nodes_, memo_names_, memo_named_, memo_chains_};
  node_id adjoint_[Nodes]{}, variables_[Nodes / 2]{}, gradients_[Nodes / 2]{};
  variable_gradient pairs_[Nodes / 2]{};
  bool wanted_[Nodes]{};
  pending stack_[4 * Nodes]{};
  /// Copies of nodes with several outputs that wait.
  struct copy_behind {
    node_id of = no_node;
    node_id whole = no_node;
  };
  static constexpr int most_behind = 64;
  copy_behind behind_[most_behind]{};
  int behind_count_ = 0;
};

}  // namespace detail

/// Builds the flat graph of the given records. Capacity is a template argument because the compiler wants arrays.
/// @tparam Scoped whether some record has a device scope, as `survey` says
/// @param owners whose numbers the running program has, in their order
/// @param gradients that are asked for somewhere behind the roots
template <std::size_t Nodes, std::size_t Roots, bool Scoped = false>
[[nodiscard]] constexpr built_graph<Nodes, Roots, Scoped> build_graph(const fixed_array<const record*, Roots>& roots,
                                                                      array_view<const record* const> owners = {},
                                                                      array_view<const record* const> gradients = {}) {
  built_graph<Nodes, Roots, Scoped> built;
  detail::graph_builder<Nodes, Roots, Scoped> builder{built, owners, gradients};
  if constexpr (Scoped) builder.build_scoped_parts(roots);
  for (std::size_t root = 0; root < Roots; ++root)
    if (built.status.good()) built.roots[root] = builder.build(*roots[root]);
  builder.finish();
  return built;
}

/// Which record became which node.
template <std::size_t Nodes, std::size_t Roots, bool Scoped>
[[nodiscard]] constexpr array_view<const node_of_record> nodes_of(const built_graph<Nodes, Roots, Scoped>& built) {
  return {built.records, built.record_count};
}

/// A finished flat graph, exactly as large as it must be.
template <std::size_t Nodes, std::size_t Edges, std::size_t Attributes, std::size_t Roots, std::size_t Requests = 0>
struct flat_graph {
  fixed_array<node, Nodes> nodes{};
  fixed_array<node_id, Edges> edges{};
  fixed_array<attribute, Attributes> attributes{};
  fixed_array<node_id, Roots> roots{};
  fixed_array<device_spec, Requests> requests{};  ///< what device scopes ask for; the first two ask for nothing
};

/// A view of a finished graph; what passes read.
struct graph_view {
  array_view<const node> nodes;
  array_view<const node_id> edges;
  array_view<const attribute> attribute_pool;
  array_view<const node_id> roots;
  array_view<const device_spec> requests{};

  [[nodiscard]] constexpr int size() const { return static_cast<int>(nodes.size()); }
  [[nodiscard]] constexpr const node& operator[](node_id id) const { return nodes[id]; }
  [[nodiscard]] constexpr const op_info& info(node_id id) const { return *(*this)[id].op->info; }
  [[nodiscard]] constexpr array_view<const node_id> inputs(node_id id) const {
    const node& n = (*this)[id];
    return edges.subspan(n.first_edge, n.inputs);
  }
  [[nodiscard]] constexpr array_view<const node_id> controls(node_id id) const {
    const node& n = (*this)[id];
    return edges.subspan(n.first_edge + n.inputs, n.controls);
  }
  /// The nodes on whose devices `id` shall run.
  [[nodiscard]] constexpr array_view<const node_id> colocated(node_id id) const {
    const node& n = (*this)[id];
    return edges.subspan(n.first_edge + n.inputs + n.controls, n.colocated);
  }
  /// What is asked for a node; empty if nothing is.
  [[nodiscard]] constexpr device_spec request(node_id id) const {
    return (*this)[id].request == 0 ? device_spec{} : requests[(*this)[id].request];
  }
  [[nodiscard]] constexpr attribute_list attributes(node_id id) const {
    const node& n = (*this)[id];
    return attribute_pool.subspan(n.first_attribute, n.attribute_count);
  }
};

/// Copies the used part of a built graph.
template <std::size_t N, std::size_t E, std::size_t A, std::size_t Q = 0, std::size_t Capacity, std::size_t Roots,
          bool Scoped>
[[nodiscard]] constexpr flat_graph<N, E, A, Roots, Q> trim(const built_graph<Capacity, Roots, Scoped>& built) {
  flat_graph<N, E, A, Roots, Q> flat;
  for (std::size_t i = 0; i < N; ++i) flat.nodes[i] = built.storage.nodes[i];
  for (std::size_t i = 0; i != E; ++i) flat.edges[i] = built.storage.edges[i];
  for (std::size_t i = 0; i != A; ++i) flat.attributes[i] = built.storage.attributes[i];
  for (std::size_t i = 0; i < Roots; ++i) flat.roots[i] = built.roots[i];
  const device_spec* request = built.requests;
  for (device_spec& r : flat.requests) r = *request++;
  return flat;
}

}  // namespace tagma::ir
