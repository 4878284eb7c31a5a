// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Does the steps of plans with loops. A body is one piece of the plan that is done again; before each iteration,
/// operands are pointed at its rows. Nothing is copied and nothing allocated for an iteration.

#include <cstdint>
#include <cstring>

#include "tagma/base/config.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/runtime/bound_plan.hpp"
#include "tagma/runtime/session_pools.hpp"

namespace tagma::runtime {

/// The loops of a bound plan. A template, so that a program without loops does not compile it.
template <class Bound>
class started_loops final : public loop_steps {
 public:
  TAGMA_COLD static owned<loop_steps> make(Bound& bound) { return owned<loop_steps>(new started_loops(bound)); }

  /// Of a plan with steps that wait or find extents, whose steps devices may do.
  TAGMA_COLD static owned<loop_steps> make_joined(Bound& bound) {
    owned<loop_steps> made = make(bound);
    made->joined = true;
    return made;
  }

  TAGMA_COLD explicit started_loops(Bound& bound)
      : bound_(bound), plan_(bound.plan()), loops_(plan_.loops.size()), rows_(plan_.rows.size()) {
    for (std::size_t l = 0; l < loops_.size(); ++l) {
      count_iterations(l);
      const std::int16_t parent = plan_.loops[l].parent;
      loops_[l].decided = plan_.loops[l].ends != plan::loop_end::counted || (parent >= 0 && loops_[parent].decided);
    }
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      const plan::plan_row& row = plan_.rows[r];
      measure(r);
      rows_[r].base.data = nullptr;
      if (row.rule == plan::row_rule::start) copies_ = true;
      if (row.rule == plan::row_rule::number) loops_[row.loop].number = &rows_[r].base;
      if (row.rule == plan::row_rule::listed) loops_[row.loop].listed = true;
    }
    if (bound.late() == nullptr) check_carried([](std::size_t) { return true; });  // else where extents are known
    for (std::size_t r = 0; r < rows_.size(); ++r)
      if (const plan::plan_row& row = plan_.rows[r];
          (row.rule == plan::row_rule::carried || row.rule == plan::row_rule::all_carried) &&
          row.node == plan_.loops[row.loop].condition)
        follow(static_cast<std::int32_t>(r), &loops_[row.loop].test);
  }

  TAGMA_COLD void follow(std::int32_t row, std::byte** where) override {
    if (follower_count_ == followers_.size()) {
      heap_array<follower> more(2 * followers_.size() + 32);
      for (std::size_t i = 0; i < follower_count_; ++i) more[i] = followers_[i];
      followers_ = static_cast<heap_array<follower>&&>(more);
    }
    followers_[follower_count_++] = {where, row};
  }
  [[nodiscard]] operand& base(std::size_t row) override { return rows_[row].base; }

  TAGMA_COLD void join(plan::step_graph& steps) const override { steps.join_loops(); }

  /// Sorts those that follow by their loops, and puts down what is the same in all iterations.
  TAGMA_COLD void finish() override {
    const heap_array<follower> all(follower_count_);
    std::size_t count = 0;
    for (std::size_t l = 0; l < loops_.size(); ++l) {
      loops_[l].first_follower = count;
      for (std::size_t i = 0; i < follower_count_; ++i) {
        const follower& f = followers_[i];
        const plan::plan_row& row = plan_.rows[f.row];
        if (static_cast<std::size_t>(row.loop) == l && !is_still(row)) all[count++] = f;
      }
      loops_[l].followers = count - loops_[l].first_follower;
    }
    still_ = count;
    for (const follower& f : array_view<const follower>(followers_.data(), follower_count_))
      if (is_still(plan_.rows[f.row])) all[count++] = f;
    for (std::size_t i = 0; i < count; ++i) followers_[i] = all[i];
    point_still_ones([](std::size_t) { return true; });
    for (std::size_t l = 0; l < loops_.size(); ++l)
      for (std::int32_t s = plan_.loops[l].first; s < plan_.loops[l].end && !loops_[l].listed; ++s)
        bound_.call(static_cast<std::size_t>(s)).repeated = true;
    for (std::size_t s = 0; s < plan_.steps.size(); ++s)
      if (const plan::plan_node& n = plan_.nodes[plan_.steps[s].main_node()];
          n.op->stateful && plan_.outermost_loop(s) >= 0)
        ++random_count_;
    random_ = heap_array<random_step>(random_count_);
    random_count_ = 0;
    for (std::size_t s = 0; s < plan_.steps.size(); ++s)
      if (const plan::plan_node& n = plan_.nodes[plan_.steps[s].main_node()];
          n.op->stateful && plan_.outermost_loop(s) >= 0)
        random_[random_count_++] = {s, bound_.call(s).source};
  }

  TAGMA_COLD void rebase(std::int32_t block) override {
    const auto is_there = [&](std::size_t r) {
      const plan::plan_row& row = plan_.rows[r];
      if (row.base == ir::no_node) return row.slot == block;
      const plan::plan_node& of = plan_.nodes[row.base];
      return of.is_in(plan::storage_kind::arena) && of.slot == block;
    };
    for (std::size_t r = 0; r < rows_.size(); ++r)
      if (is_there(r)) rows_[r].base.data = bound_.block_address(block);
    point_still_ones(is_there);
  }

  void run(run_control& control, run_steps& steps) override {
    control_ = &control;
    steps_ = &steps;
    at_ = 0;
    in_loop_ = no_loop;
    const std::size_t count = plan_.steps.size();
    try {
      const bool done = run_range(0, static_cast<std::int32_t>(count), no_loop, 0);
      if (!done && control.stopped()) name_steps(control, steps, at_, count);
    } catch (...) {
      control.failed(named(at_, std::current_exception()));
    }
  }
  TAGMA_COLD void run_one(std::size_t l, run_control& control, run_steps& steps, element_reader reader) override {
    control_ = &control;
    steps_ = &steps;
    reader_ = reader;
    at_ = static_cast<std::size_t>(plan_.loops[l].first);
    in_loop_ = static_cast<std::int32_t>(l);
    pointed_ = false;
    try {
      if (!run_loop(l)) name_step(control, steps, at_, run_control::list::not_finished);
    } catch (...) {
      std::rethrow_exception(named(at_, std::current_exception()));
    }
  }
  [[nodiscard]] Bound& bound() const { return bound_; }
  [[nodiscard]] std::int64_t iterations(std::size_t l) const override { return loops_[l].iterations; }
  void begin() override { pointed_ = false; }
  void point(array_view<const std::int32_t> iterations) override {
    bool moved = false;  // a loop around has: the rows of those inside are elsewhere
    for (std::size_t l = 0; l < loops_.size(); ++l) {
      if (loops_[l].decided) continue;  // `run_one` points them
      moved = moved || loops_[l].iteration != iterations[l] || !pointed_;
      if (!moved) continue;
      loops_[l].iteration = iterations[l];
      move(l, iterations[l]);
    }
    pointed_ = true;
    if (moved && random_count_ > 0)
      for (const plan::plan_loop& p : plan_.loops) draw_anew(p);
  }
  /// The error of step `s`, with the iteration in which it happened.
  [[nodiscard]] TAGMA_COLD std::exception_ptr named(std::size_t s, std::exception_ptr e) const noexcept {
    const std::exception_ptr error_of_step = steps_->named(s, static_cast<std::exception_ptr&&>(e));
    const caught seen(error_of_step);
    if (in_loop_ == no_loop || !seen.is_known) return error_of_step;
    try {
      std::string text(without_code(seen.what));
      for (std::int32_t l = in_loop_; l >= 0; l = plan_.loops[l].parent)
        if (plan_.loops[l].ends == plan::loop_end::by_test)
          append_parts(text, {" (in iteration ", loops_[l].iteration, " of loop #", source_of_head(l), ")"});
        else if (plan_.loops[l].ends == plan::loop_end::by_number && loops_[l].most == 1)
          append_parts(text, {" (in branch #", source_of_head(l), ")"});
        else
          append_parts(text, {" (in iteration ", loops_[l].iteration, " of ", loops_[l].iterations, " of loop #",
                              source_of_head(l), ")"});
      fail(seen.code, {text});
    } catch (...) {
      return std::current_exception();
    }
  }

 private:
  static constexpr std::int32_t no_loop = -1;
  struct follower {
    std::byte** where = nullptr;
    std::int32_t row = 0;
  };
  struct row_place {
    operand base;
    std::int64_t stride = 0;
  };
  struct loop_state {
    extent most = 0;
    extent iterations = 0;  ///< that are done; `most` as long as that is not known
    bool decided = false;   ///< by elements, how often it is done, or a loop around it
    bool listed = false;    ///< repeats layers: the kernels are those that they have where they are written out
    const operand* number = nullptr;
    std::byte* test = nullptr;
    extent iteration = 0;  ///< the one under way
    std::size_t first_follower = 0;
    std::size_t followers = 0;
  };
  struct random_step {
    std::size_t step = 0;
    std::int32_t source = 0;
  };

  [[nodiscard]] ir::node_id source_of_head(std::int32_t l) const { return plan_.nodes[plan_.loops[l].head].source; }
  [[nodiscard]] static bool is_still(const plan::plan_row& row) {
    return row.rule == plan::row_rule::second || row.rule == plan::row_rule::behind_all ||
           row.rule == plan::row_rule::fixed;
  }
  /// Those that are at one row all the time, of the rows that are `wanted`.
  template <class Wanted>
  TAGMA_COLD void point_still_ones(const Wanted& wanted) {
    for (std::size_t i = still_; i < follower_count_; ++i) {
      if (!wanted(static_cast<std::size_t>(followers_[i].row))) continue;
      const plan::plan_row& row = plan_.rows[followers_[i].row];
      const extent at = row.rule == plan::row_rule::second  ? 1
                        : row.rule == plan::row_rule::fixed ? row.at
                                                            : loops_[row.loop].most;
      const row_place& of = rows_[followers_[i].row];
      *followers_[i].where = of.base.data + of.stride * at;
    }
  }
  TAGMA_COLD void count_iterations(std::size_t l) {
    const extent most = bound_.dims_of(plan_.loops[l].head)[0];
    const bool endless = plan_.loops[l].ends == plan::loop_end::by_test && most == 0;
    loops_[l].iterations = loops_[l].most = endless ? INT64_MAX : most;
  }
  TAGMA_COLD void measure(std::size_t r) {
    const plan::plan_row& row = plan_.rows[r];
    rows_[r].stride = bound_.bytes_of(row.base == ir::no_node ? plan_.blocks[row.slot].node : row.node);
  }
  /// Extents have been found, or memory has moved. What is not of this loop somebody else may change meanwhile.
  TAGMA_COLD void enter(std::size_t l) {
    if (!bound_.late()->enter_loop(l)) return;
    const auto is_inside = [&](std::size_t i) {
      return plan_.loops[i].first >= plan_.loops[l].first && plan_.loops[i].end <= plan_.loops[l].end;
    };
    const auto is_here = [&](std::size_t r) {
      const plan::plan_row& row = plan_.rows[r];
      return row.rule != plan::row_rule::fixed && is_inside(static_cast<std::size_t>(row.loop));
    };
    for (std::size_t i = 0; i < loops_.size(); ++i)
      if (is_inside(i)) count_iterations(i);
    for (std::size_t r = 0; r < rows_.size(); ++r)
      if (is_here(r)) measure(r);
    check_carried(is_here);
    point_still_ones(is_here);
  }
  /// Copies what is carried to where it begins.
  void copy_starts(std::size_t l) {
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      const plan::plan_row& start = plan_.rows[r];
      if (start.rule != plan::row_rule::start || static_cast<std::size_t>(start.loop) != l) continue;
      const auto bytes = static_cast<std::size_t>(rows_[r].stride);
      // The place behind it is that of the carried value.
      const plan::plan_row& to = plan_.rows[r + 1];
      const extent at = to.rule == plan::row_rule::all_carried && plan_.loops[l].reversed ? loops_[l].most : 0;
      std::byte* const carried = rows_[r + 1].base.data + rows_[r + 1].stride * at;
      if (bytes == 0) continue;
      if (reader_.move == nullptr)
        std::memcpy(carried, rows_[r].base.data, bytes);
      else
        reader_.move(reader_.self, start.node, rows_[r].base.data, carried, bytes);
    }
  }
  /// The next value of what is carried has the extents that it had.
  template <class Wanted>
  TAGMA_COLD void check_carried(const Wanted& wanted) const {
    for (std::size_t r = 0; r < plan_.rows.size(); ++r) {
      const plan::plan_row& next = plan_.rows[r];
      if ((next.rule != plan::row_rule::next && next.rule != plan::row_rule::all_next) || !wanted(r)) continue;
      for (const plan::plan_row& row : plan_.rows) {
        if (row.rule != plan::row_rule::carried && row.rule != plan::row_rule::all_carried) continue;
        const shape &is = bound_.dims_of(next.node), &was = bound_.dims_of(row.node);
        if (row.slot == next.slot && !(is == was))
          fail(status_code::invalid_argument,
               {"loop: what is carried has shape ", to_string(was), ", its next value, ",
                detail::describe(plan_.nodes[next.node]), ", has shape ", to_string(is)});
      }
    }
  }

  /// Steps `first` to `end` - 1, which are in loop `inside`; `next` is the first loop that may be among them. False if
  /// the run is stopped.
  bool run_range(std::int32_t first, std::int32_t end, std::int32_t inside, std::size_t next) {
    std::int32_t s = first;
    for (;;) {
      while (next < loops_.size() && plan_.loops[next].parent != inside) ++next;
      const std::int32_t until = next < loops_.size() && plan_.loops[next].first < end ? plan_.loops[next].first : end;
      for (; s < until; ++s) {
        at_ = static_cast<std::size_t>(s);
        if (control_->stopping()) return false;
        steps_->step(at_);
      }
      if (until == end) return true;
      if (!run_loop(next)) return false;
      s = plan_.loops[next++].end;
      in_loop_ = inside;
    }
  }
  bool run_loop(std::size_t l) {
    loop_state& own = loops_[l];
    const plan::plan_loop& p = plan_.loops[l];
    if (p.parent < 0 && bound_.late() != nullptr) enter(l);
    if (copies_) copy_starts(l);
    if (p.ends != plan::loop_end::counted) own.iterations = p.ends == plan::loop_end::by_test ? own.most : number(l);
    for (extent n = 0; n < own.iterations; ++n) {
      own.iteration = n;
      in_loop_ = static_cast<std::int32_t>(l);
      move(l, n);
      if (p.ends == plan::loop_end::by_test && !is_true(plan_.loops[l].condition, own.test)) {
        own.iterations = n;
        break;
      }
      if (random_count_ > 0) draw_anew(p);
      if (!run_range(p.first, p.end, static_cast<std::int32_t>(l), l + 1)) return false;
    }
    move(l, own.iterations);
    if (variable_access* const access = bound_.step_access(); p.parent < 0 && access != nullptr) access->end_loop(l);
    return true;
  }
  template <class T>
  [[nodiscard]] T element(ir::node_id node, const std::byte* from) const {
    T value{};
    if (reader_.copy == nullptr)
      std::memcpy(&value, from, sizeof value);
    else
      reader_.copy(reader_.self, node, from, reinterpret_cast<std::byte*>(&value), sizeof value);
    return value;
  }
  [[nodiscard]] bool is_true(ir::node_id node, const std::byte* from) const {
    return element<std::uint8_t>(node, from) != 0;
  }
  /// How often loop `l` is done, as an element says.
  [[nodiscard]] extent number(std::size_t l) const {
    const loop_state& own = loops_[l];
    const ir::node_id node = plan_.loops[l].condition;
    const std::byte* const from = own.number->data;
    if (own.number->type == dtype::boolean) return is_true(node, from) && own.most > 0 ? 1 : 0;
    const auto n = element<std::int64_t>(node, from);
    return n < 0 ? 0 : n < own.most ? n : own.most;
  }
  /// Points operands at the rows of iteration `n`; behind the last, carried values are the results.
  void move(std::size_t l, extent n) {
    const loop_state& own = loops_[l];
    const bool reversed = plan_.loops[l].reversed, behind = n == own.iterations;
    const extent back = own.iterations - n;
    for (const follower& f : array_view<const follower>(followers_.data() + own.first_follower, own.followers)) {
      extent at = 0;
      switch (plan_.rows[f.row].rule) {
        case plan::row_rule::element:
          if (behind) continue;
          at = reversed ? back - 1 : n;
          break;
        case plan::row_rule::carried:
          at = n & 1;
          break;
        case plan::row_rule::next:
          at = (n + 1) & 1;
          break;
        case plan::row_rule::listed:
          if (!behind) *f.where = rows_[f.row + 1 + static_cast<std::int32_t>(reversed ? back - 1 : n)].base.data;
          continue;
        case plan::row_rule::all_carried:
          at = reversed ? own.most - n : n;
          break;
        default:
          if (behind) continue;
          at = reversed ? back - 1 : n + 1;
          break;
      }
      *f.where = rows_[f.row].base.data + at * rows_[f.row].stride;
    }
  }
  /// Random steps of a body draw other numbers in each iteration.
  void draw_anew(const plan::plan_loop& p) {
    for (const random_step& r : random_) {
      if (static_cast<std::int32_t>(r.step) < p.first || static_cast<std::int32_t>(r.step) >= p.end) continue;
      std::uint64_t h = 0;
      for (std::size_t l = 0; l < loops_.size(); ++l)
        if (plan_.loops[l].first <= static_cast<std::int32_t>(r.step) &&
            static_cast<std::int32_t>(r.step) < plan_.loops[l].end)
          h = hash_combine(h, static_cast<std::uint64_t>(loops_[l].iteration) + 1);
      bound_.call(r.step).source = r.source ^ static_cast<std::int32_t>(h & 0x7fffffff);
    }
  }

  Bound& bound_;
  const plan::plan_view& plan_;
  heap_array<loop_state> loops_;
  heap_array<row_place> rows_;
  heap_array<follower> followers_;
  std::size_t follower_count_ = 0;
  std::size_t still_ = 0;  // from here on those that stay where they are
  bool copies_ = false;    // what is carried begins elsewhere, since extents are found late
  heap_array<random_step> random_;
  std::size_t random_count_ = 0;
  run_control* control_ = nullptr;
  run_steps* steps_ = nullptr;
  element_reader reader_;
  std::size_t at_ = 0;
  bool pointed_ = false;
  std::int32_t in_loop_ = no_loop;
};

/// All steps of a plan with loops as one.
class steps_of_loops final : public run_steps {
 public:
  steps_of_loops(loop_steps& loops, run_control& control, run_steps& host)
      : loops_(loops), control_(control), host_(host) {}
  void step(std::size_t) override { loops_.run(control_, host_); }
  void start(std::size_t, completion) override {}
  void enter() override { host_.enter(); }
  void leave() override { host_.leave(); }
  void read_variables() override { host_.read_variables(); }
  [[nodiscard]] std::exception_ptr named(std::size_t, std::exception_ptr e) noexcept override { return e; }

 private:
  loop_steps& loops_;
  run_control& control_;
  run_steps& host_;
};

/// The steps of a plan in any order: each loop is one of them, its first.
/// @tparam Bound bound_plan
template <class Bound>
class steps_around_loops final : public run_steps {
 public:
  steps_around_loops(started_loops<Bound>& loops, run_control& control, run_steps& host)
      : loops_(loops), control_(control), host_(host) {}
  void step(std::size_t s) override {
    const plan::plan_view& tables = loops_.bound().plan();
    const std::int32_t l = tables.outermost_loop(s);
    if (l < 0) return host_.step(s);
    if (s == static_cast<std::size_t>(tables.loops[l].first)) run_loop(s, static_cast<std::size_t>(l));
  }
  void start(std::size_t s, completion done) override { host_.start(s, done); }
  void enter() override { host_.enter(); }
  void leave() override { host_.leave(); }
  void read_variables() override { host_.read_variables(); }
  [[nodiscard]] std::exception_ptr named(std::size_t s, std::exception_ptr e) noexcept override {
    return s == failed_loop_.load() ? e : host_.named(s, static_cast<std::exception_ptr&&>(e));
  }

 private:
  void run_loop(std::size_t s, std::size_t l) {
    const mutex_lock lock(mutex_);
    try {
      loops_.run_one(l, control_, host_, {});
    } catch (...) {
      failed_loop_.store(s);  // what it throws has a name
      throw;
    }
  }

  started_loops<Bound>& loops_;
  run_control& control_;
  run_steps& host_;
  mutex mutex_;  // threads of a pool do one loop at a time
  atomic<std::size_t> failed_loop_{static_cast<std::size_t>(-1)};
};

/// Runs a plan with steps that wait around its loops.
template <class Bound, class Pools>
TAGMA_COLD void run_around_loops(loop_steps& loops, run_control& control, run_steps& steps, const Pools&,
                                 step_pool* pool) {
  auto& own = static_cast<started_loops<Bound>&>(loops);
  steps_around_loops<Bound> all(own, control, steps);
  own.bound().shared_steps()->run(control, pool, pool == nullptr, all);
}

/// The same on devices, also where only extents are found late. A template so that other programs do not compile it.
template <class Steps, class Pools>
TAGMA_COLD void run_loops_on_devices(Steps& steps, run_control&, run_steps& host, const run_context& context,
                                     const Pools& pools, step_pool* pool) {
  steps.run_around_loops(host, context, pools, pool);
}

template <class Pools>
TAGMA_COLD void run_loops(loop_steps& loops, run_control& control, run_steps& steps, const Pools& pools,
                          step_pool* pool) {
  if (pool == nullptr) return loops.run(control, steps);
  steps_of_loops all(loops, control, steps);
  pools.run(*pool, control, all, 1);
}

}  // namespace tagma::runtime
