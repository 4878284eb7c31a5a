// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// From expressions to a flat graph: walks the records behind the handles once, each record one node however often it
/// is used, and replaces gradients and optimizers by the nodes that compute them.

#include "tagma/graph/built_graph.hpp"
#include "tagma/graph/pass/branches.hpp"
#include "tagma/graph/pass/train.hpp"
#include "tagma/graph/record_memo.hpp"
#include "tagma/graph/survey.hpp"
#include "tagma/graph/value_numbers.hpp"
#include "tagma/ir/loops.hpp"

namespace tagma::ir {

namespace detail {

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
  constexpr no_scopes(graph&, build_status&, std::size_t) {}
};

/// True for a variable that may be the step of an optimizer, by its type and its name. Two such of one name that begin
/// in two ways are refused when all variables are known, as what they are (`find_shared_name`).
[[nodiscard]] constexpr bool is_called_like_step(const tensor_spec& spec, std::string_view name) {
  return spec.type == dtype::int64 && name.ends_with("/step");
}

struct no_loop_table {};

/// The walk behind `build_graph`, with its scratch space.
template <std::size_t Nodes, std::size_t Roots, bool Scoped, bool Looped>
class graph_builder {
 public:
  /// @param owners of the numbers of the running program
  /// @param gradients that are asked for
  constexpr graph_builder(built_graph<Nodes, Roots, Scoped, Looped>& built, array_view<const record* const> owners,
                          array_view<const record* const> asked)
      : built_(built),
        status_(built.status),
        g_(built.storage.view()),
        scopes_(g_, built.status, built.room()),
        values_(owners),
        asked_(asked) {
    if constexpr (Nodes == heap_room) allocate(built.room());
    if constexpr (Scoped) g_.ask(&scopes_);
    if constexpr (Looped) g_.observe(&loops_);
  }

  /// Adds the nodes behind a record, operands first, and returns its own.
  constexpr node_id build(const record& root) {
    std::size_t depth = 0;
    stack_.values[depth++] = {&root};
    while (depth > 0 && good()) {
      const pending top = stack_.values[depth - 1];
      const record& r = *top.what;
      reached at = reach(top);
      if (at.id != no_node) {
        --depth;
        continue;
      }
      const std::size_t before = depth;
      if constexpr (Scoped) push(r.colocated, around_others(at), depth);
      if constexpr (Scoped && Looped)
        for (chain_id c = of_block(r, at); c != 0; c = scopes_.repeated(scopes_.around(c)))
          push(scopes_.layer(c).outside.first(1), scopes_.around(c), depth);
      push(r.controls, is_group(r) ? at.operands : around_others(at), depth);
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
    if constexpr (Looped)
      if (good()) finish_loops();
  }

  /// Builds what stands in scopes before everything else, so that a node without a scope can be one that is there.
  constexpr void build_scoped_parts(const fixed_array<const record*, Roots>& roots) {
    const std::size_t room = built_.room();
    scratch_array<const record*, 1> seen(4 * room), waiting(4 * room);
    const auto first_time = [&](const record& r) {
      std::size_t i = static_cast<std::size_t>(r.hash) & (4 * room - 1);
      while (seen[i] != nullptr && seen[i] != &r) i = (i + 1) & (4 * room - 1);
      const bool is_new = seen[i] == nullptr;
      seen[i] = &r;
      return is_new;
    };
    std::size_t depth = 0, count = 0;
    const auto wait = [&](array_view<const record* const> list) {
      for (std::size_t i = list.size(); i-- > 0;)
        if (count < 2 * room && first_time(*list[i])) waiting[depth++] = list[i], ++count;
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
    if (count == 2 * room) status_.stop(build_problem::too_large);
  }

 private:
  using pending = pending_record<Scoped>;
  /// What is known of a record where it is reached: its node, if it has one, and the chains of scopes.
  struct reached {
    node_id id = no_node;
    chain_id self = 0;
    chain_id operands = 0;
    bool hidden = false;  ///< its handle is not that of the node
  };

  /// What a node waits for or runs beside is inside the same names, but no part of the expression.
  [[nodiscard]] constexpr chain_id around_others([[maybe_unused]] const reached& at) const {
    if constexpr (Scoped)
      return scopes_.names(at.operands);
    else
      return 0;
  }
  [[nodiscard]] constexpr std::string_view name_of(const record& r, [[maybe_unused]] const reached& at) const {
    if constexpr (Scoped)
      return scopes_.name(at.self, r);
    else
      return r.name;
  }
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
      const node_id id = memo_.find(key, single ? scopes_.base(chains.self, *key.op->info) : chains.self);
      if (id != no_node && single) scopes_.agree(id, chains.self, key);
      return {id, chains.self, chains.operands, scopes_.hides(p.chain)};
    } else {
      return {memo_.find(*p.what, 0), 0, 0};
    }
  }
  constexpr void push(array_view<const record* const> list, chain_id chain, std::size_t& depth) {
    for (std::size_t i = list.size(); i-- > 0;) {
      if (memo_find(*list[i], chain) != no_node) continue;
      if (depth == 4 * built_.room()) {
        status_.stop(build_problem::too_large);
        return;
      }
      if constexpr (Scoped)
        stack_.values[depth++] = {list[i], chain};
      else
        stack_.values[depth++] = {list[i]};
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
      // A reader outside of all device scopes takes the node that is there.
      const chain_id base = scopes_.base(at.self, *key.op->info);
      if (memo_.find(key, base) == no_node) memo_.set(key, base, id);
      if (at.self != base && !is_single(*key.op->info)) memo_.set(key, at.self, id);
      if (memo_.count > 3 * built_.room()) status_.stop(build_problem::too_large);
      if (&key != &r && !scopes_.hides(at.self)) note(key, id);
      if (!at.hidden) note(r, id);
    } else {
      memo_.set(r, 0, id);
      note(r, id);
    }
  }
  constexpr void note(const record& r, node_id id) {
    if (built_.record_count == static_cast<int>(2 * built_.room())) {
      status_.stop(build_problem::too_large);
      return;
    }
    built_.records.values[built_.record_count++] = {&r, id};
  }

  constexpr node_id emit(const record& r, const reached& at) {
    scratch_array<node_id, 8> inputs(r.inputs.size()), controls(r.controls.size() + 1), colocated(r.colocated.size());
    std::size_t waits = r.controls.size();
    for (std::size_t i = 0; i < r.inputs.size(); ++i) inputs[i] = memo_find(*r.inputs[i], at.operands);
    for (std::size_t i = 0; i < r.controls.size(); ++i)
      controls[i] = memo_find(*r.controls[i], is_group(r) ? at.operands : around_others(at));
    if constexpr (Scoped)
      for (std::size_t i = 0; i < r.colocated.size(); ++i) colocated[i] = memo_find(*r.colocated[i], around_others(at));
    if constexpr (Scoped) scopes_.set_ambient(at.self);
    if constexpr (Scoped && Looped)
      if (const chain_id block = of_block(r, at); block != 0) {
        if (r.op->info->is(op_kind::variable)) return emit_members(r, at, block);
        if (r.op->info->is(op_kind::resource))
          status_ = {build_problem::resource_in_block, r.op->info, r.spec, {}, {}};
        else if (const node_id carried = carried_by(block); !is_iterated(inputs.view(), carried))
          controls[waits++] = carried;  // drawn anew for each block, whatever it depends on
      }
    const array_view<const node_id> in = inputs.view(), after = controls.view().first(waits);
    const std::string_view name = name_of(r, at);
    switch (r.op->info->kind) {
      case op_kind::output:
        if constexpr (Looped)
          if (g_.info(in[0]).is(op_kind::loop)) return loops_.result(loops_.of_head(in[0]), r.attributes[0]);
        if (!after.empty() || !colocated.view().empty()) return output_behind(in[0], r, after, colocated.view());
        break;
      case op_kind::close:
        if constexpr (Looped) return close_loop(r, in);
        break;
      case op_kind::gradient:
        return add_gradient(r, at, in);
      case op_kind::optimizer:
        return train(r, at, in, after);
      case op_kind::composition:
        return compose(r, at, in, after, colocated.view());
      case op_kind::placeholder:
      case op_kind::variable:
        check_owner(r, name);
        [[fallthrough]];
      default:
        break;
    }
    node_extras extras{after, name, {}, r.valued ? values_.number(r.value_owner()) : -1, 0, colocated.view()};
    if constexpr (Scoped) {
      int task = -1;
      extras.request = scopes_.request(at.self, r, name, task);
      if (!status_.good()) return 0;
      const node_id id = (r.op->fold != nullptr || lifts(r)) && after.empty() && colocated.view().empty()
                             ? g_.emit(*r.op, in, r.attributes, extras)
                             : g_.emit_as(*r.op, r.spec, in, r.attributes, extras);
      if (!g_.overflow() && is_single(*r.op->info)) scopes_.note(id, at.self, task);
      return id;
    } else {
      return (r.op->fold != nullptr || lifts(r)) && after.empty() ? g_.emit(*r.op, in, r.attributes)
                                                                  : g_.emit_as(*r.op, r.spec, in, r.attributes, extras);
    }
  }

  /// A name has one owner, or several that agree.
  constexpr void check_owner(const record& r, std::string_view name) {
    const record& owner = memo_.owner_of_name(r, name);
    if (&owner == &r) return;
    if (!(owner.spec == r.spec && owner.op == r.op))
      status_ = {build_problem::name_clash, r.op->info, owner.spec, r.spec, name, &owner, &r};
    else if (!begin_alike(owner, r))
      status_ = {build_problem::two_beginnings, r.op->info, owner.spec, r.spec, name, &owner, &r};
  }

  /// The innermost repeated block that a record is part of, if it is one that each copy of the block has for itself;
  /// else 0.
  [[nodiscard]] constexpr chain_id of_block(const record& r, const reached& at) const {
    const op_info& info = *r.op->info;
    const bool own =
        info.is(op_kind::variable) || info.is(op_kind::resource) || (info.is(op_kind::compute) && info.stateful);
    return own ? scopes_.repeated(at.self) : chain_id{0};
  }
  /// What the loop of a block carries.
  [[nodiscard]] constexpr node_id carried_by(chain_id block) {
    return memo_find(*scopes_.layer(block).outside[0], scopes_.around(block));
  }
  /// True if one of some nodes sees the iterations of the loop of `carried`.
  [[nodiscard]] constexpr bool is_iterated(array_view<const node_id> nodes, node_id carried) const {
    const int l = loops_.of_head(g_.input(carried, 0));
    for (const node_id i : nodes)
      if (l >= 0 && ((loops_.mask_of(i) >> l) & 1) != 0) return true;
    return false;
  }
  /// The variables that a variable of a block is by turns, each with the name that it has where the block is written
  /// out.
  constexpr node_id emit_members(const record& r, const reached& at, chain_id block) {
    if (!good()) return 0;
    if (block == 0) {
      const std::string_view name = name_of(r, at);
      check_owner(r, name);
      int task = -1;
      const std::int16_t request = scopes_.request(at.self, r, name, task);
      if (!status_.good()) return 0;
      const node_extras extras{{}, name, {}, r.valued ? values_.number(r.value_owner()) : -1, request};
      const node_id id = g_.emit_as(*r.op, r.spec, {}, r.attributes, extras);
      if (!g_.overflow()) scopes_.note(id, at.self, task);
      return id;
    }
    const int copies = scopes_.layer(block).copies;
    scratch_array<node_id, 16> all(copies + 1);
    all[0] = g_.input(carried_by(block), 0);
    for (int copy = 0; copy < copies; ++copy) {
      scopes_.choose(block, copy);
      all[copy + 1] = emit_members(r, at, scopes_.repeated(scopes_.around(block)));
    }
    scopes_.choose(block, 0);
    const node_id id = g_.emit_plain(rules<loop_member>, all.view(), {}, no_extras);
    if (!g_.overflow()) scopes_.note(id, at.self, -1);
    return id;
  }

  [[nodiscard]] static constexpr bool lifts(const record& r) { return Looped && r.op->lift != nullptr; }

  /// Ends a loop. Its node stands for all its results.
  constexpr node_id close_loop(const record& r, array_view<const node_id> in) {
    const auto carried = static_cast<std::size_t>(r.attributes[0]);
    const array_view<const node_id> values = in.subspan(1), next = values.subspan(carried, carried),
                                    other = values.subspan(2 * carried);
    scratch_array<node_id, 8> results(next.size() + other.size());
    const int l = loops_.of_head(in[0]);
    if (l < 0) {
      status_.stop(build_problem::too_many_loops);
      return 0;
    }
    if (!loops_.close(g_, l, values.first(carried), next, other, results.view()))
      status_ = {build_problem::beyond_loop, g_[in[0]].op->info, g_.spec(in[0]), {}, {}};
    if (good()) loops_.keep_results(l, results.view());
    return in[0];
  }
  constexpr void finish_loops() {
    if (loops_.overflow()) status_.stop(build_problem::too_many_loops);
    if (loops_.edge_count() > static_cast<int>(built_.room() / 2)) status_.stop(build_problem::too_large);
    if (!good()) return;
    for (node_id i = 0; i < g_.size(); ++i)
      if (g_.info(i).is(op_kind::update) && loops_.loop_of(i) >= 0)
        status_ = {g_[g_.input(i, 0)].op == &rules<loop_member> ? build_problem::update_in_block
                                                                : build_problem::update_in_loop,
                   &g_.info(i),
                   g_.spec(i),
                   {},
                   {}};
    write_loops(g_, loops_, built_);
    for (const node_id root : built_.roots)
      if (good() && loops_.loop_of(root) >= 0)
        status_ = {build_problem::beyond_loop, &g_.info(root), g_.spec(root), {}, {}};
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
    differentiate_with(g_, loops_, in[0], by.view().first(count), results.view().first(count), {adjoint_, wanted_},
                       status_);
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

  /// The nodes of a composition. What it waits for, or runs beside, is for its result; and for variables that it reads,
  /// which it reads as one operation would. A layer that learns beside its optimizer is kept until that is known.
  constexpr node_id compose(const record& r, [[maybe_unused]] const reached& at, array_view<const node_id> in,
                            array_view<const node_id> after, array_view<const node_id> colocated) {
    if (after.empty() && colocated.empty() && r.op->learn == nullptr) return expanded(r, in);
    scratch_array<node_id, 8> waited(in.size());
    for (std::size_t k = 0; k < in.size(); ++k)
      waited[k] = !after.empty() && is_of_variable(in[k]) ? waiting(in[k], after, {}) : in[k];
    const node_id before = g_.size(), result = expanded_behind(r, waited.view(), after, colocated);
    if (r.op->learn == nullptr) return result;
    if (in.size() > learner::most_inputs) throw "an operation that learns has 8 inputs at most";
    learner l{.what = &r, .result = result, .first = before, .end = g_.size()};
    for (std::size_t k = 0; k < in.size(); ++k) l.inputs[k] = in[k], l.reads[k] = waited[k];
    if constexpr (Scoped) l.chain = at.self;
    learners_.push(l);
    return result;
  }
  constexpr node_id expanded_behind(const record& r, array_view<const node_id> in, array_view<const node_id> after,
                                    array_view<const node_id> colocated) {
    const node_id before = g_.size(), result = expanded(r, in);
    if (g_.overflow()) return 0;
    if (after.empty() && colocated.empty()) return result;
    if (result < before) return waiting(result, after, colocated);
    const node bound = g_[result];
    return g_.emit_as(*bound.op, bound.spec, g_.inputs(result), g_.attributes(result),
                      {after, bound.name, bound.suffix, bound.value, bound.request, colocated});
  }
  /// What an optimizer becomes. Its updates wait for what it waits for; so does what counts batches, by which sums of
  /// gradients are read.
  constexpr node_id train(const record& r, const reached& at, array_view<const node_id> in,
                          array_view<const node_id> after) {
    const training_request asked(r.attributes);
    scratch_array<node_id, 16> inputs(in.size());
    for (std::size_t k = 0; k < in.size(); ++k) inputs[k] = in[k];
    if (asked.mode == training_mode::apply && !after.empty())
      inputs[asked.operands()] = waiting(in[asked.operands()], after, {});
    g_.let_updates_wait(after);
    const node_id id =
        trainer<graph, decltype(loops_), scopes_around>(g_, loops_, r, inputs.view(), {*this, at.self},
                                                        {{adjoint_, wanted_}, variables_, gradients_, pairs_}, status_)
            .run(learners_, learner_updates_);
    g_.let_updates_wait({});
    return id;
  }
  constexpr node_id expanded(const record& r, array_view<const node_id> in) {
    expand_args args{{g_}, in, r.attributes, {}};
    r.op->expand(args);
    return args.result;
  }
  /// A node as it is behind others.
  constexpr node_id waiting(node_id of, array_view<const node_id> after, array_view<const node_id> colocated) {
    return g_.emit_as(rules<op::identity>, g_.spec(of), {&of, 1}, {}, {after, {}, {}, -1, 0, colocated});
  }
  /// True for a variable, and for what shares its bytes.
  [[nodiscard]] constexpr bool is_of_variable(node_id id) const {
    while (g_.info(id).shares_bytes()) id = g_.input(id, 0);
    return g_.info(id).is(op_kind::variable);
  }

  /// What an optimizer asks of the scopes around it.
  struct scopes_around {
    graph_builder& builder;
    std::int16_t chain;

    [[nodiscard]] constexpr std::int16_t own() const { return chain; }
    [[nodiscard]] constexpr std::string_view inside(std::string_view name) const {
      if constexpr (Scoped)
        return builder.scopes_.inside(chain, name);
      else
        return name;
    }
    constexpr void enter([[maybe_unused]] std::int16_t other) const {
      if constexpr (Scoped) builder.scopes_.set_ambient(other);
    }
  };

  built_graph<Nodes, Roots, Scoped, Looped>& built_;
  build_status& status_;
  graph g_;
  std::conditional_t<Scoped, scope_context<Nodes>, no_scopes> scopes_;
  std::conditional_t<Looped, loop_table, no_loop_table> loops_;
  value_numbers values_;
  array_view<const record* const> asked_;
  /// A table that is there only with scopes.
  template <class T, std::size_t Times>
  using table_of_scopes = std::conditional_t<Scoped, node_table<T, Nodes, Times>, fixed_array<T, 0>>;

  constexpr void allocate(std::size_t room) {
    make_room(4 * room, memo_records_, memo_nodes_, stack_);
    make_room(2 * room, memo_names_, memo_named_);
    if constexpr (Scoped) make_room(4 * room, memo_chains_), make_room(2 * room, memo_texts_);
    make_room(room, adjoint_, wanted_);
    make_room(room / 2, variables_, gradients_, pairs_);
    memo_ = memo();
  }
  [[nodiscard]] constexpr record_memo<Scoped> memo() {
    return {memo_records_, memo_nodes_, memo_names_, memo_named_, memo_chains_, memo_texts_};
  }

  node_table<const record*, Nodes, 4> memo_records_{};
  node_table<const record*, Nodes, 2> memo_names_{};
  node_table<node_id, Nodes, 4> memo_nodes_{};
  table_of_scopes<chain_id, 4> memo_chains_{};
  node_table<bool, Nodes, 2> memo_named_{};
  table_of_scopes<std::string_view, 2> memo_texts_{};
  record_memo<Scoped> memo_ = memo();
  node_table<node_id, Nodes> adjoint_{};
  node_table<node_id, Nodes, 1, 2> variables_{}, gradients_{};
  node_table<variable_gradient, Nodes, 1, 2> pairs_{};
  node_table<bool, Nodes> wanted_{};
  node_table<pending, Nodes, 4> stack_{};
  /// Copies of nodes with several outputs that wait.
  struct copy_behind {
    node_id of = no_node;
    node_id whole = no_node;
  };
  static constexpr int most_behind = 64;
  copy_behind behind_[most_behind]{};
  int behind_count_ = 0;
  growing_array<learner> learners_{0};
  growing_array<learner_update> learner_updates_{0};
};

}  // namespace detail

/// Builds the flat graph of the given records. Capacity is a template argument because the compiler wants arrays.
/// @tparam Scoped whether some record has a device scope, as `survey` says
/// @tparam Looped whether some record is a loop
/// @param owners whose numbers the running program has, in their order
/// @param gradients that are asked for somewhere behind the roots
/// @param room for so many nodes, a power of two, where the graph is on the heap
template <std::size_t Nodes, std::size_t Roots, bool Scoped = false, bool Looped = false>
[[nodiscard]] constexpr auto build_graph(const fixed_array<const record*, Roots>& roots,
                                         array_view<const record* const> owners = {},
                                         array_view<const record* const> gradients = {},
                                         [[maybe_unused]] std::size_t room = Nodes) {
  built_graph<Nodes, Roots, Scoped, Looped> built;
  if constexpr (Nodes == heap_room) built.allocate(room, roots.size());
  detail::graph_builder<Nodes, Roots, Scoped, Looped> builder{built, owners, gradients};
  if constexpr (Scoped) builder.build_scoped_parts(roots);
  for (std::size_t root = 0; root < roots.size(); ++root)
    if (built.status.good()) built.roots.values[root] = builder.build(*roots[root]);
  builder.finish();
  return built;
}

}  // namespace tagma::ir
