// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What an optimizer becomes: which variables it trains, their gradients and updates, and what layers learn beside it.

#include "tagma/base/config.hpp"
#include "tagma/base/growing_array.hpp"
#include "tagma/expr/op/control.hpp"
#include "tagma/graph/pass/differentiate_loops.hpp"
#include "tagma/ir/loops.hpp"
#include "tagma/ir/record.hpp"
#include "tagma/ir/training.hpp"

namespace tagma::ir::detail {

/// A layer that learns something beside its optimizer, as it was built.
struct learner {
  static constexpr std::size_t most_inputs = 8;
  const record* what = nullptr;
  node_id inputs[most_inputs]{};
  node_id reads[most_inputs]{};  ///< the same, variables as they are behind what the layer waits for
  node_id result = no_node;
  node_id first = 0, end = 0;  ///< the nodes that were added for it
  std::int16_t chain = 0;      ///< the scopes through which it was reached
};
/// The update of a layer, for all optimizers that wait for the same.
struct learner_update {
  std::size_t of = 0;        ///< which layer
  node_id behind = no_node;  ///< the update of another layer for which it waits
  node_id group = no_node;
};

/// `differentiate`, with loops where there is a table of them.
template <class Graph, class Loops>
constexpr void differentiate_with(Graph& g, [[maybe_unused]] Loops& loops, node_id y, array_view<const node_id> xs,
                                  array_view<node_id> result, const gradient_scratch& scratch, build_status& status) {
  if constexpr (std::is_same_v<Loops, loop_table>)
    loop_differentiator<Graph>(g, loops, scratch, status).run(y, xs, result);
  else
    differentiate(g, y, xs, result, scratch, status);
}

/// Where a trainer puts what it finds, each as large as the graph has variables at most.
struct training_scratch {
  gradient_scratch gradient;
  array_view<node_id> variables;
  array_view<node_id> gradients;
  array_view<variable_gradient> pairs;
};

/// Replaces one optimizer. `Around` knows the scopes: `inside(name)` is a name without the prefixes of the scopes
/// around the optimizer, `enter(chain)` lets nodes be asked for as by that chain.
template <class Graph, class Loops, class Around>
class trainer {
 public:
  constexpr trainer(Graph& g, Loops& loops, const record& r, array_view<const node_id> inputs, Around around,
                    const training_scratch& scratch, build_status& status)
      : g_(g),
        loops_(loops),
        r_(r),
        asked_(r.attributes),
        inputs_(inputs),
        around_(around),
        scratch_(scratch),
        status_(status) {}

  /// The node of the optimizer.
  constexpr node_id run(const growing_array<learner>& learners, growing_array<learner_update>& moved) {
    if (asked_.mode == training_mode::averages) return with_learners(no_node, learners, moved);
    asked_.pairs > 0 ? take_pairs() : find_variables();
    if (!status_.good()) return 0;
    keep_trained();
    if (!status_.good()) return 0;
    expand_args args{{g_}, inputs_.subspan(asked_.operands()), r_.attributes, scratch_.pairs.first(trained_)};
    r_.op->expand(args);
    if (g_.overflow()) return 0;
    // The numbers of batches that were seen before are applied without one.
    return asked_.mode == training_mode::apply ? args.result : with_learners(args.result, learners, moved);
  }

 private:
  constexpr void take_pairs() {
    count_ = static_cast<std::size_t>(asked_.pairs);
    if (count_ > scratch_.variables.size()) return status_.stop(build_problem::too_large);
    for (std::size_t i = 0; i < count_; ++i)
      scratch_.variables[i] = inputs_[2 * i], scratch_.gradients[i] = inputs_[2 * i + 1];
  }
  constexpr void find_variables() {
    const node_id loss = inputs_[0];
    if (asked_.chosen > 0) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(asked_.chosen); ++i) add_once(inputs_[1 + i]);
    } else {
      scratch_array<bool, 256> reached(asked_.scopes == scope_choice_kind::except ? g_.size() : 0);
      if (asked_.scopes == scope_choice_kind::except) mark_reached(reached.view());
      for (node_id i = 0; i <= loss; ++i) {
        if (!g_.info(i).is(op_kind::variable)) continue;
        const std::uint64_t inside = asked_.scopes == scope_choice_kind::all ? 0 : scopes_around(i);
        if (asked_.scopes == scope_choice_kind::except && reached[i]) found_ |= inside;
        if (g_.attributes(i)[1] == 0) continue;
        if (asked_.scopes == scope_choice_kind::all || (asked_.scopes == scope_choice_kind::only) == (inside != 0))
          add(i);
      }
    }
    if (!status_.good()) return;
    differentiate_with(g_, loops_, loss, scratch_.variables.first(count_), scratch_.gradients.first(count_),
                       scratch_.gradient, status_);
  }
  [[nodiscard]] constexpr std::uint64_t scopes_around(node_id variable) const {
    return scope_list(r_.name).around(around_.inside(g_[variable].name));
  }
  constexpr void add_once(node_id variable) {
    for (std::size_t i = 0; i < count_; ++i)
      if (scratch_.variables[i] == variable) return;
    add(variable);
  }
  constexpr void add(node_id variable) {
    if (count_ == scratch_.variables.size()) return status_.stop(build_problem::too_large);
    scratch_.variables[count_] = variable, scratch_.gradients[count_++] = no_node;
  }

  /// Keeps the variables that have a gradient, and checks that what was asked for is among them.
  constexpr void keep_trained() {
    const scope_list scopes(r_.name);
    for (std::size_t i = 0; i < count_; ++i) {
      const node_id variable = scratch_.variables[i];
      if (scratch_.gradients[i] == no_node) {
        if (asked_.chosen == 0) continue;
        status_ = {build_problem::independent, nullptr, r_.inputs[0]->spec, g_.spec(variable), g_[variable].name};
        return;
      }
      scratch_.pairs[trained_++] = {variable, scratch_.gradients[i]};
      if (asked_.scopes == scope_choice_kind::only) found_ |= scopes_around(variable);
    }
    if (g_.overflow()) return;
    for (int i = 0; i < scopes.size(); ++i)
      if (((found_ >> i) & 1) == 0) {
        status_ = {build_problem::empty_scope, nullptr, {}, {}, scopes[i]};
        return;
      }
    if (trained_ == 0) status_.stop(build_problem::nothing_to_train);
  }

  /// A node that is done when `done` is, and what layers learn beside it.
  constexpr node_id with_learners(node_id done, const growing_array<learner>& learners,
                                  growing_array<learner_update>& moved) {
    if (learners.size() == 0 && done != no_node) return done;
    scratch_array<bool, 256> reached(static_cast<std::size_t>(g_.size()));
    mark_reached(reached.view());
    growing_array<node_id> all(4);
    if (done != no_node) all.push(done);
    const std::size_t others = all.size();
    growing_array<node_id> updates(4);
    for (std::size_t i = 0; i < learners.size() && !g_.overflow(); ++i) {
      const learner& l = learners[i];
      if (!is_trained(l) || !is_reached(l, reached.view()) || is_known(learners, i, reached.view())) continue;
      all.push(move(l, i, moved, updates));
    }
    if (g_.overflow()) return 0;
    if (asked_.mode == training_mode::averages && all.size() == others) {
      status_.stop(build_problem::no_averages);
      return 0;
    }
    if (all.size() == others) return done;
    around_.enter(around_.own());
    return g_.emit_as(rules<op::group>, {}, {}, {}, {all.view()});
  }
  /// Marks what the loss, or the gradients, depend on; in loops, in any iteration.
  constexpr void mark_reached(array_view<bool> reached) const {
    for (std::size_t i = 0; i < reached.size(); ++i) reached[i] = false;
    if (asked_.pairs > 0)
      for (std::size_t i = 0; i < trained_; ++i) reached[scratch_.pairs[i].gradient] = true;
    else
      reached[inputs_[0]] = true;
    for (bool again = true; again;) {
      again = false;
      for (node_id i = static_cast<node_id>(reached.size()); i-- > 0;) {
        if (!reached[i]) continue;
        for (const node_id in : g_.inputs(i)) reached[in] = true;
        for (const node_id before : g_.controls(i)) reached[before] = true;
      }
      if constexpr (std::is_same_v<Loops, loop_table>)
        for (int e = 0; e < loops_.edge_count(); ++e)
          if (const auto [carried, next] = loops_.edge(e); reached[carried] && !reached[next])
            reached[next] = again = true;
    }
  }
  /// True if the optimizer trains a parameter of a layer; in a repeated block, of one of its copies.
  [[nodiscard]] constexpr bool is_trained(const learner& l) const {
    if (asked_.mode == training_mode::averages) return true;
    for (std::size_t k = 0; k < l.what->inputs.size(); ++k) {
      if (((l.what->op->parameters >> k) & 1) == 0) continue;
      node_id of = l.inputs[k];
      while (g_.info(of).shares_bytes()) of = g_.input(of, 0);
      for (std::size_t i = 0; i < trained_; ++i) {
        if (scratch_.pairs[i].variable == of) return true;
        if (g_[of].op != &rules<loop_member>) continue;
        for (const node_id copy : g_.inputs(of))
          if (scratch_.pairs[i].variable == copy) return true;
      }
    }
    return false;
  }
  /// True if the loss, or a gradient, depends on a layer.
  [[nodiscard]] constexpr bool is_reached(const learner& l, array_view<const bool> reached) const {
    if (reached[l.result]) return true;
    for (node_id i = l.first; i < l.end && asked_.pairs > 0; ++i)
      if (reached[i]) return true;
    return false;
  }
  /// True if a layer before this one was the same, on another device.
  [[nodiscard]] constexpr bool is_known(const growing_array<learner>& learners, std::size_t i,
                                        array_view<const bool> reached) const {
    const learner& l = learners[i];
    for (std::size_t k = 0; k < i; ++k) {
      const learner& other = learners[k];
      bool same = other.what->op == l.what->op && is_reached(other, reached);
      for (std::size_t n = 0; n < l.what->inputs.size() && same; ++n) same = other.inputs[n] == l.inputs[n];
      if (same) return true;
    }
    return false;
  }
  /// The update of a layer. Variables that a layer before it has changed, or what the optimizer waits for, it reads as
  /// they are behind that: `inputs` are those of the layer, and then the same as they are read.
  constexpr node_id move(const learner& l, std::size_t which, growing_array<learner_update>& moved,
                         growing_array<node_id>& updates) {
    const std::size_t count = l.what->inputs.size();
    const array_view<const node_id> before = g_.updates_wait_for();
    node_id behind = no_node;  // the last update of one of its variables
    for (std::size_t u = 0; u < updates.size(); ++u)
      for (std::size_t k = 0; k < count; ++k)
        if (g_.input(updates[u], 0) == l.inputs[k]) behind = updates[u];
    for (std::size_t m = 0; m < moved.size(); ++m)
      if (moved[m].of == which && moved[m].behind == behind && waits_for(moved[m].group, before))
        return noted(moved[m].group, updates);
    around_.enter(l.chain);
    scratch_array<node_id, 16> in(2 * count);
    for (std::size_t k = 0; k < count; ++k) {
      in[k] = l.inputs[k], in[count + k] = l.reads[k];
      if (!g_.info(l.inputs[k]).is(op_kind::variable)) continue;
      growing_array<node_id> first(0);
      for (std::size_t u = 0; u < updates.size(); ++u)
        if (g_.input(updates[u], 0) == l.inputs[k]) first.push(updates[u]);
      // What the layer was applied to is what it was then.
      if (k > 0)
        for (const node_id b : before) first.push(b);
      if (first.size() > 0)
        in[count + k] = g_.emit_as(rules<op::identity>, g_.spec(l.inputs[k]), {&l.reads[k], 1}, {}, {first.view()});
    }
    expand_args args{{g_}, in.view(), l.what->attributes, {}};
    l.what->op->learn(args);
    if (g_.overflow()) return 0;
    moved.push({which, behind, args.result});
    return noted(args.result, updates);
  }
  /// True if the updates of a layer wait for these.
  [[nodiscard]] constexpr bool waits_for(node_id group, array_view<const node_id> before) const {
    const array_view<const node_id> all = g_.controls(g_.controls(group)[0]);
    bool same = all.size() == before.size();
    for (std::size_t i = 0; i < all.size() && same; ++i) same = all[i] == before[i];
    return same;
  }
  constexpr node_id noted(node_id group, growing_array<node_id>& updates) const {
    for (const node_id u : g_.controls(group)) updates.push(u);
    return group;
  }

  Graph& g_;
  Loops& loops_;
  const record& r_;
  training_request asked_;
  array_view<const node_id> inputs_;
  Around around_;
  training_scratch scratch_;
  build_status& status_;
  std::size_t count_ = 0, trained_ = 0;
  std::uint64_t found_ = 0;
};

}  // namespace tagma::ir::detail
