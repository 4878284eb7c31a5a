// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Runs that read counted versions of variables and update each for itself. Only programs with containers of
/// `isolation::variables`, or with steps that wait, compile what is here.

#include "tagma/base/config.hpp"
#include "tagma/runtime/bound_plan.hpp"
#include "tagma/runtime/variable_access.hpp"

namespace tagma::runtime {

/// A template, so that other programs do not compile it: g++ compiles each class whose functions a virtual call may
/// reach.
/// @tparam Bound bound_plan
template <class Bound>
class pinned_variables final : public variable_access {
 public:
  [[nodiscard]] TAGMA_COLD static owned<variable_access> make(Bound& plan,
                                                              array_view<const counted<stored_variable>> variables) {
    return owned<variable_access>(new pinned_variables(plan, variables));
  }

  void begin_run() noexcept override {
    for (phase& p : phases()) {
      p.left.store(p.uses, memory_order::relaxed);
      p.pinned = nullptr;
    }
  }
  void read_now() override {
    for (phase& p : phases())
      if (p.first && p.uses > 0 && variables_[p.slot]->initialized()) pin(p);
  }
  void begin(std::size_t s) override {
    const array_view<use> all = uses_of(s);
    for (const use& u : all)
      if (!u.writes) read(phases_[u.phase]);
    begin_updates(all);
  }
  void end(std::size_t s, bool done) noexcept override {
    for (const use& u : uses_of(s)) {
      if (u.writes)
        end_update(u, done);
      else if (!u.in_loop)
        let_go(phases_[u.phase]);
    }
  }
  void end_loop(std::size_t l) noexcept override {
    for (const use& u : uses_of(plan_.step_count() + plan_.plan().fetches.size() + l)) let_go(phases_[u.phase]);
  }
  void begin_fetch(std::size_t f) override { begin(plan_.step_count() + f); }
  void end_fetch(std::size_t f) noexcept override { end(plan_.step_count() + f, true); }

  void begin_all() override {
    for (const use& u : whole_run_)
      if (!u.writes) read(phases_[u.phase]);
    begin_updates(whole_run_);
  }
  void end_all(bool done) noexcept override {
    for (const use& u : whole_run_)
      if (u.writes) {
        if (done)
          variable(u).end_update();
        else
          variable(u).abandon_update();
      }
  }
  void end_run() noexcept override {
    for (phase& p : phases())
      if (p.pinned != nullptr && p.left.load(memory_order::acquire) > 0) stored_variable::unpin(*p.pinned);
  }

 private:
  /// A variable between two updates of a run.
  struct phase {
    std::size_t slot = 0;
    std::int32_t uses = 0;  ///< steps and fetches that read it then
    bool first = false;     ///< before all updates
    atomic<std::int32_t> left{0};
    variable_version* pinned = nullptr;
    mutex one;  // of several steps that begin at once, one pins
  };
  /// A variable that a step or a fetch needs.
  struct use {
    std::size_t phase = 0;  ///< of one that it writes, the phase behind it
    bool writes = false;
    bool keep = false;     ///< it also reads what it writes
    bool in_loop = false;  ///< read in each iteration, so it is the loop that lets go of it
  };

  TAGMA_COLD pinned_variables(Bound& plan, array_view<const counted<stored_variable>> variables)
      : plan_(plan), variables_(variables) {
    const plan::plan_view& tables = plan.plan();
    const std::size_t users = tables.steps.size() + tables.fetches.size() + tables.loops.size();
    std::size_t most = tables.fetches.size() + variables.size();
    for (const plan::plan_step& step : tables.steps) {
      most += 1;
      for (int k = 0; k < step.operands; ++k)
        tables.each_member(tables.operands[step.first_operand + k], [&](ir::node_id) { most += 2; });
    }
    first_use_ = heap_array<std::size_t>(users + 1);
    uses_ = heap_array<use>(most);
    phases_ = heap_array<phase>(most);
    current_ = heap_array<std::size_t>(variables.size());
    // A fetch is taken before the step that overwrites it, so its phase is that of then; its uses stand last.
    const heap_array<std::size_t> fetched(tables.fetches.size());
    for (std::size_t s = 0; s <= tables.steps.size(); ++s) {
      for (std::size_t f = 0; f < fetched.size(); ++f)
        if (static_cast<std::size_t>(tables.fetch_steps[f]) == s)
          if (const plan::plan_node& n = tables.nodes[tables.fetches[f]]; n.is_in(plan::storage_kind::variable))
            fetched[f] = phase_of(n.slot) + 1;
      if (s < tables.steps.size()) add_step(s, tables.steps[s]);
    }
    for (std::size_t f = 0; f < fetched.size(); ++f) {
      if (fetched[f] > 0) add({fetched[f] - 1, false, false});
      first_use_[tables.steps.size() + f + 1] = use_count_;
    }
    for (std::size_t l = 0; l < tables.loops.size(); ++l) {
      if (tables.loops[l].parent < 0) add_loop(tables.loops[l]);
      first_use_[tables.steps.size() + fetched.size() + l + 1] = use_count_;
    }
    list_whole_run();
  }

  [[nodiscard]] array_view<phase> phases() const { return {phases_.data(), phase_count_}; }
  [[nodiscard]] array_view<use> uses_of(std::size_t user) const {
    return array_view<use>(uses_).subspan(first_use_[user], first_use_[user + 1] - first_use_[user]);
  }
  [[nodiscard]] stored_variable& variable(const use& u) const { return *variables_[phases_[u.phase].slot]; }

  TAGMA_COLD void add_step(std::size_t s, const plan::plan_step& step) {
    const plan::plan_view& tables = plan_.plan();
    const std::size_t begin = use_count_;
    const bool in_loop = tables.outermost_loop(s) >= 0;
    each_written(tables, step, [&](std::int32_t slot, int k) {
      bool reads = k > 0 || !tables.nodes[step.node].op->overwrites;
      for (int j = 1; j < step.operands; ++j) reads = reads || is_variable(step, j, slot);
      static_cast<void>(phase_of(slot));
      add({new_phase(slot), true, reads});
    });
    sort(array_view<use>(uses_).subspan(begin, use_count_ - begin));
    for (int k = 0; k < step.operands; ++k) {
      tables.each_member(tables.operands[step.first_operand + k], [&](ir::node_id i) {
        const plan::plan_node& in = tables.nodes[i];
        if (!in.is_in(plan::storage_kind::variable)) return;
        bool known = false;
        for (std::size_t u = begin; u < use_count_; ++u)
          known = known || phases_[uses_[u].phase].slot == static_cast<std::size_t>(in.slot);
        if (!known) add({phase_of(in.slot), false, false, in_loop});
      });
    }
    first_use_[s + 1] = use_count_;
  }
  /// All that the steps of a loop read, once.
  TAGMA_COLD void add_loop(const plan::plan_loop& l) {
    const std::size_t begin = use_count_;
    for (std::size_t u = first_use_[l.first]; u < first_use_[l.end]; ++u) {
      bool known = !uses_[u].in_loop;
      for (std::size_t e = begin; e < use_count_; ++e) known = known || uses_[e].phase == uses_[u].phase;
      if (!known) add({uses_[u].phase, false, false});
    }
  }
  [[nodiscard]] bool is_variable(const plan::plan_step& step, int k, std::int32_t slot) const {
    const plan::plan_node& in = plan_.plan().nodes[plan_.plan().operands[step.first_operand + k]];
    return in.is_in(plan::storage_kind::variable) && in.slot == slot;
  }
  /// The phase that a variable is in now.
  [[nodiscard]] std::size_t phase_of(std::int32_t slot) {
    std::size_t& known = current_[slot];
    if (known == 0) {
      new_phase(slot);
      phases_[known - 1].first = true;
    }
    return known - 1;
  }
  std::size_t new_phase(std::int32_t slot) {
    phases_[phase_count_].slot = static_cast<std::size_t>(slot);
    current_[slot] = phase_count_ + 1;
    return phase_count_++;
  }
  void add(const use& u) {
    uses_[use_count_++] = u;
    if (!u.writes && !u.in_loop) ++phases_[u.phase].uses;
  }
  /// What locks several variables takes them in one order, whatever the program.
  void sort(array_view<use> all) const {
    for (std::size_t i = 1; i < all.size(); ++i)
      for (std::size_t k = i; k > 0 && &variable(all[k]) < &variable(all[k - 1]); --k) {
        const use u = all[k];
        all[k] = all[k - 1];
        all[k - 1] = u;
      }
  }
  /// Each variable of the plan once; written if any step writes it, and read if that is what is done with it first.
  TAGMA_COLD void list_whole_run() {
    std::size_t count = 0;
    for (const std::size_t known : current_) count += known > 0;
    whole_run_ = heap_array<use>(count);
    count = 0;
    for (const std::size_t known : current_)
      if (known > 0) whole_run_[count++] = {known - 1, !phases_[known - 1].first, true};
    for (use& all : whole_run_) {
      const std::size_t slot = phases_[all.phase].slot;
      std::size_t u = 0;
      while (phases_[uses_[u].phase].slot != slot) ++u;
      all.keep = !uses_[u].writes || uses_[u].keep;
      for (const phase& p : phases()) all.keep = all.keep || (p.slot == slot && p.first && p.uses > 0);
    }
    sort(whole_run_);
  }

  static void let_go(phase& p) {
    if (p.left.fetch_sub(1, memory_order::acq_rel) == 1 && p.pinned != nullptr) stored_variable::unpin(*p.pinned);
  }
  void read(phase& p) {
    const mutex_lock lock(p.one);
    if (p.pinned == nullptr) pin(p);
  }
  void pin(phase& p) {
    stored_variable& v = *variables_[p.slot];
    if (!v.initialized()) v.refuse_to_read();
    p.pinned = &v.pin();
    plan_.move_variable(p.slot, p.pinned->data());
  }
  void begin_updates(array_view<use> all) {
    std::size_t begun = 0;
    try {
      for (; begun < all.size(); ++begun) {
        const use& u = all[begun];
        if (!u.writes) continue;
        stored_variable& v = variable(u);
        if (u.keep && !v.initialized()) v.refuse_to_read();
        plan_.move_variable(phases_[u.phase].slot, v.begin_update(u.keep));
      }
    } catch (...) {
      while (begun-- > 0)
        if (all[begun].writes) variable(all[begun]).abandon_update();
      throw;
    }
  }
  void end_update(const use& u, bool done) noexcept {
    phase& behind = phases_[u.phase];
    if (!done)
      variable(u).abandon_update();
    else if (behind.uses > 0)
      behind.pinned = &variable(u).end_update_pinned();
    else
      variable(u).end_update();
  }

  Bound& plan_;
  array_view<const counted<stored_variable>> variables_;
  heap_array<phase> phases_;
  heap_array<use> uses_;  // of each step, then of each fetch, then of each loop
  heap_array<std::size_t> first_use_;
  heap_array<std::size_t> current_;  // of each variable, one more than its phase
  std::size_t phase_count_ = 0, use_count_ = 0;
  heap_array<use> whole_run_;
};

}  // namespace tagma::runtime

namespace tagma {

template <class Bound>
container::container(isolation kept_apart)
    : state_(new runtime::state_container(kept_apart == isolation::variables ? &runtime::pinned_variables<Bound>::make
                                                                             : nullptr)) {}

TAGMA_COLD inline std::size_t container::bytes() const {
  std::size_t sum = 0;
  state_->each([&](runtime::resource& r) {
    if (r.kind() == "variable") sum += static_cast<runtime::stored_variable&>(r).held_bytes();
  });
  return sum;
}

}  // namespace tagma
