// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Steps whose rows do not depend on each other, done block by block: all of them on some rows, which stay in the cache
/// meanwhile, then all of them on the next. Rows are those of the last axis, or samples, those of the first: images and
/// sequences, between whose convolutions and products no tensor goes to memory. Only programs with operations on rows
/// compile what is here.

#include <cstring>

#include "tagma/base/config.hpp"
#include "tagma/base/growing_array.hpp"
#include "tagma/runtime/bound_plan.hpp"
#include "tagma/runtime/has_rows.hpp"
#include "tagma/runtime/sum_parts.hpp"
#include "tagma/runtime/wait_word.hpp"

namespace tagma::runtime {

/// A template, so that other programs do not compile it: g++ compiles each class whose functions a virtual call may
/// reach.
///
/// A step on some rows is its kernel with fewer of them: operands with smaller extents that begin further behind. Sums
/// of columns go on from the rows before. So the bytes are those of whole steps. Where several threads share kernels,
/// each takes one block after the other, and adds its rows to a sum of columns when those of the block before are in
/// it.
///
/// Steps of a group keep their order within a block, but those of a block come before earlier steps of the next one. So
/// tensors that share memory must do so row by row. What only steps of a group read has no place but that of a block,
/// one for each thread: nothing of it goes to memory.
/// @tparam Bound bound_plan
template <class Bound>
class row_blocks final : public row_steps {
 public:
  /// What the tensors of a block may take of a cache, in bytes, and what they have as a whole at least: less stays in
  /// the cache of a processor between whole steps as well.
  static constexpr std::int64_t bytes_of_block = 256 * 1024, least_bytes = 2 * 1024 * 1024;
  /// The longest rows, in bytes of all tensors. Moments of more elements than these have would be found in parts, which
  /// depend on the number of rows.
  static constexpr std::int64_t longest_row = 64 * 1024;
  /// What a step has at a time of a block of samples, and the most that it may have, since those may be long.
  static constexpr std::int64_t bytes_of_samples = 1024 * 1024, most_of_samples = 8 * 1024 * 1024;
  /// Rows that make a block are a multiple of it: eight short rows are done at once, sixteen rows of columns.
  static constexpr std::int64_t least_rows = 16;
  /// Sums of fewer columns add eight rows at once.
  static constexpr std::int64_t narrow = 32;
  /// Of a group, whose steps are compared with each other.
  static constexpr std::size_t most_steps = 64;
  /// Sums of more rows than these have elements may be formed of parts.
  static constexpr std::int64_t most_of_sum = 65536;

  /// Gives the plan an object that does some of its steps, unless all are better done one by one.
  TAGMA_COLD static void make(Bound& plan, const run_context& context) {
    if (!plan.is_in_order()) return;
    owned<row_blocks> made(new row_blocks(plan, context));
    if (made->find_groups(context)) plan.set_rows(made.release());
  }

  bool run(std::size_t s, const run_context& context) override {
    group* const g = group_of_[s];
    if (g == nullptr) return false;
    if (g->first == s) run(*g, context);
    return true;
  }

 private:
  enum class form : std::uint8_t {
    none,
    rows,     ///< each row of the result comes from those of the operands
    columns,  ///< the sum of all rows
  };
  /// How a step is done on some rows.
  struct split {
    form how = form::none;
    int prefix = 0;  ///< axes that are the rows
    int axis = 0;    ///< the first of these that is longer than 1, which a block has its rows along
    step_rows of{1, ~std::size_t{0}};
  };
  /// The memory of an operand.
  struct access {
    const std::byte* from = nullptr;
    std::int64_t bytes = 0;
    std::int64_t row = 0;  ///< bytes of a row; 0: each block has all of it
    bool written = false;
    std::size_t step = 0;
    ir::node_id node = 0;
  };
  /// A step on the rows of a block.
  struct piece {
    kernel_args args;
    heap_array<operand> operands;  ///< `in`, then the result or all results
    owned<kernel_state> state;
  };
  struct member {
    split how;
    heap_array<std::int64_t> row;     ///< of each operand, bytes
    heap_array<std::int64_t> inside;  ///< where it is in the places of a thread; -1: where the whole tensor is
    std::int64_t part = 0;            ///< of a sum of columns, the rows of its parts
    std::int64_t own_sum = 0;         ///< where in `places` the sum of the part under way is, but of the first
  };
  struct group {
    std::size_t first = 0, steps = 0;
    bool samples = false;
    std::int64_t rows = 0, block = 0;
    std::int64_t threads = 0;    ///< that take a block each
    aligned_bytes places;        ///< of tensors that blocks alone have, those of each thread, and sums behind them
    std::int64_t of_thread = 0;  ///< bytes
    heap_array<member> members;
    heap_array<piece> pieces;  ///< of each thread all steps, and behind them those of the last block, if it is smaller
    heap_array<wait_word> turns;  ///< of sums of columns, how many blocks they have, from `begun` on
    heap_array<std::uint32_t> begun;
  };

  row_blocks(Bound& plan, const run_context& context) : plan_(plan), threads_(context.threads->threads()) {}

  [[nodiscard]] const plan::plan_node& node_of(std::size_t s) const {
    return plan_.plan().nodes[plan_.plan().steps[s].main_node()];
  }
  [[nodiscard]] static bool is(const plan::plan_node& n, const char& key) { return n.op->key == &key; }
  [[nodiscard]] static bool is_result(const kernel_args& args, std::size_t i) { return i >= args.in.size(); }
  [[nodiscard]] static std::size_t operands_of(const kernel_args& args) {
    return args.in.size() + (args.outs.size() == 0 ? 1 : args.outs.size());
  }
  [[nodiscard]] static const operand& operand_of(const kernel_args& args, std::size_t i) {
    if (i < args.in.size()) return args.in[i];
    return args.outs.size() == 0 ? args.out : args.outs[i - args.in.size()];
  }

  /// The node that operand `i` of step `s` is, or `no_node`.
  [[nodiscard]] ir::node_id node_at(std::size_t s, std::size_t i) const {
    const plan::plan_step& step = plan_.plan().steps[s];
    if (step.outputs == 0 && i == static_cast<std::size_t>(step.operands)) return step.node;
    return plan_.plan().operands[static_cast<std::size_t>(step.first_operand) + i];
  }
  /// The block of the arena that a node is in if only steps `first` to `end` use it, or -1.
  [[nodiscard]] std::int32_t block_inside(ir::node_id id, std::size_t first, std::size_t end) const {
    if (id == ir::no_node || !plan_.plan().nodes[id].is_in(plan::storage_kind::arena)) return -1;
    const std::int32_t slot = plan_.plan().nodes[id].slot;
    const plan::plan_block& b = plan_.plan().blocks[slot];
    const bool inside = b.first >= static_cast<std::int32_t>(first) && b.last < static_cast<std::int32_t>(end);
    return inside ? slot : -1;
  }

  /// The extents of the rows of a step.
  [[nodiscard]] static const shape& dims_of(const kernel_args& args, bool loop) {
    return loop ? args.out.dims : args.in[0].dims;
  }

  /// What a step of a block of samples does with them.
  [[nodiscard]] TAGMA_COLD split of_samples(std::size_t s) const {
    const plan::plan_node& n = node_of(s);
    const kernel_args& args = plan_.call(s);
    split found{form::rows, 1};
    if (const rows_function rows = plan_.kernel(s).rows; rows != nullptr) {
      found.of = rows(args, nullptr);
      return found.of.together > 0 ? found : split{};
    }
    if (is(n, ir::key<op::max_pool>) || is(n, ir::key<op::average_pool>) || is(n, ir::key<op::tile>) ||
        is(n, ir::key<op::concat>))
      return found;
    // Sums of one alone would be formed in another order.
    return is(n, ir::key<op::transpose>) && args.attributes[0] == 0 ? found : split{};
  }

  /// Of an operation that does eight short rows at once, and long ones in parts: each sample has whole eights.
  [[nodiscard]] TAGMA_COLD static split eight_at_once(const kernel_args& args, int axes, bool samples) {
    const shape& dims = args.in[0].dims;
    const bool fits = dims.elements(1, axes) % 8 == 0 && dims.elements(axes, dims.rank) * 8 <= longest_row;
    return !samples || (axes > 0 && fits) ? split{form::rows, axes} : split{};
  }

  /// What a step does with rows, and how many axes these may be.
  [[nodiscard]] TAGMA_COLD split most_of(std::size_t s, bool samples) const {
    const plan::plan_node& n = node_of(s);
    const kernel_args& args = plan_.call(s);
    const kernel_entry& kernel = plan_.kernel(s);
    if (kernel.run == nullptr || kernel.keeps || plan_.plan().steps[s].before != ir::no_node || n.op->stateful)
      return {};
    if (n.op->is(ir::op_kind::elementwise)) return {form::rows, args.out.dims.rank};
    if (is(n, ir::key<op::softmax>) || is(n, ir::key<op::log_softmax>))
      return eight_at_once(args, args.out.dims.rank - 1, samples);
    if (samples && !is(n, ir::key<op::moments>)) return of_samples(s);
    const bool sum = is(n, ir::key<op::sum>);
    if (!sum && !is(n, ir::key<op::moments>) && !is(n, ir::key<op::reduce_max>)) return {};
    const shape& dims = args.in[0].dims;
    const auto mask = static_cast<std::uint64_t>(args.attributes[0]), reduced = mask & 1;
    int axes = 0;
    while (axes < dims.rank && ((mask >> axes) & 1) == reduced) ++axes;
    if (reduced == 0) return eight_at_once(args, axes, samples);
    const extent columns = dims.elements(axes, dims.rank);
    const bool wide = args.out.type == dtype::float32 || args.out.type == dtype::float64;
    if (!sum || !wide || (mask >> axes) != 0 || columns < narrow || columns > most_of_sum) return {};
    return {form::columns, axes};
  }

  /// How step `s` is done on some of `rows` rows.
  [[nodiscard]] TAGMA_COLD split split_of(std::size_t s, std::int64_t rows, bool samples) const {
    const kernel_args& args = plan_.call(s);
    split found = most_of(s, samples);
    if (found.how == form::none || (samples && (found.how == form::columns || rows < 2 * found.of.together))) return {};
    const bool loop = is_loop(s);
    const shape& dims = dims_of(args, loop);
    if (found.how == form::rows)
      while (found.prefix > 1 && dims.elements(0, found.prefix - 1) >= rows) --found.prefix;
    if (dims.elements(0, found.prefix) != rows) return {};
    while (found.axis + 1 < found.prefix && dims[found.axis] == 1) ++found.axis;
    std::int64_t own = 0, same = 0;  // bytes
    for (std::size_t i = 0; i < operands_of(args); ++i) {
      const operand& o = operand_of(args, i);
      if (is_result(args, i) && (o.data == nullptr || found.how == form::columns)) continue;
      const bool shared = is_shared(args, i, found);
      const std::int64_t row = shared ? 0 : row_of(o, dims, found, loop, rows);
      if (o.type == dtype::none || row < (is_result(args, i) || (!loop && !shared))) return {};
      (row == 0 ? same : own) += static_cast<std::int64_t>(o.bytes());
    }
    // What each block reads once more.
    return samples && (same > bytes_of_samples || 8 * same > own) ? split{} : found;
  }
  /// Whether operand `i` is the same for all rows because the kernel says so.
  [[nodiscard]] static bool is_shared(const kernel_args& args, std::size_t i, const split& how) {
    return i >= how.of.operands && !is_result(args, i);
  }
  [[nodiscard]] bool is_loop(std::size_t s) const { return node_of(s).op->is(ir::op_kind::elementwise); }

  /// Bytes of a row of an operand that has the rows of a step, one behind the other; 0 of one of a loop that is the
  /// same for all rows, and -1 of any other.
  [[nodiscard]] static std::int64_t row_of(const operand& o, const shape& dims, const split& how, bool loop,
                                           std::int64_t rows) {
    bool follows = o.dims.rank >= how.prefix && (!loop || o.dims.rank == dims.rank), same = loop;
    for (int a = 0; a < how.prefix; ++a) {
      const int own = a + o.dims.rank - dims.rank;
      follows = follows && o.dims[a] == dims[a];
      same = same && (own < 0 || o.dims[own] == 1);
    }
    return follows ? static_cast<std::int64_t>(o.bytes()) / rows : same ? 0 : -1;
  }
  /// The same of operand `i` of a step that is done so.
  [[nodiscard]] std::int64_t row_of(std::size_t s, std::size_t i, const split& how, std::int64_t rows) const {
    const kernel_args& args = plan_.call(s);
    if ((how.how == form::columns && is_result(args, i)) || is_shared(args, i, how)) return 0;
    const bool loop = is_loop(s);
    return row_of(operand_of(args, i), dims_of(args, loop), how, loop, rows);
  }

  [[nodiscard]] static bool overlap(const access& a, std::int64_t skipped, const access& b) {
    if (a.from == nullptr || b.from == nullptr) return false;  // feeds have their places later
    return a.from + skipped < b.from + b.bytes && b.from < a.from + a.bytes;
  }
  /// True if `b`, of a later step, must not come before `a` of the next block. The steps begin with `first`.
  [[nodiscard]] bool conflict(const access& a, const access& b, std::size_t first) const {
    if ((!a.written && !b.written) || block_inside(a.node, first, b.step) >= 0) return false;
    if (a.row > 0 && b.row > 0) {
      // Shorter rows in the place of longer ones reach no rows behind their own; before them are other threads' rows.
      const bool apart = a.from == b.from && (threads_ == 1 ? b.row <= a.row : b.row == a.row);
      return !apart && overlap(a, 0, b);
    }
    // A sum of columns is written when the rows of the first block are done.
    return overlap(a, b.written && b.row == 0 ? least_rows * a.row : 0, b);
  }

  /// Adds what step `s` reads and writes. False if that does not go with the steps before it.
  [[nodiscard]] TAGMA_COLD bool add(std::size_t s, const split& how, std::int64_t rows, std::size_t first) {
    const kernel_args& args = plan_.call(s);
    const std::size_t before = accesses_.size();
    for (std::size_t i = 0; i < operands_of(args); ++i) {
      const operand& o = operand_of(args, i);
      if (o.data == nullptr && is_result(args, i)) continue;  // nobody reads it
      const access a{o.data,       static_cast<std::int64_t>(o.bytes()), row_of(s, i, how, rows), is_result(args, i), s,
                     node_at(s, i)};
      for (std::size_t k = 0; k < before; ++k)
        if (conflict(accesses_[k], a, first)) return false;
      accesses_.push(a);
    }
    return true;
  }

  /// Steps from `s` on that can be done in blocks of `rows` rows, or samples.
  [[nodiscard]] TAGMA_COLD std::size_t steps_from(std::size_t s, std::int64_t rows, bool samples) {
    accesses_.clear();
    const std::size_t first = s;
    for (; s < plan_.step_count() && s - first < most_steps; ++s) {
      const split how = split_of(s, rows, samples);
      if (how.how == form::none || !add(s, how, rows, first)) break;
    }
    return s - first;
  }

  /// Samples of a block of the steps whose tensors are in `accesses_`, so that no thread waits long for others at the
  /// end; 0 if blocks gain nothing.
  [[nodiscard]] TAGMA_COLD std::int64_t samples_of_block(std::int64_t rows, std::size_t end) const {
    std::int64_t most = 1, together = 1;
    for (std::size_t i = 0; i < accesses_.size() && accesses_[i].step < end;) {
      const std::size_t s = accesses_[i].step;
      std::int64_t bytes = 0;
      for (; i < accesses_.size() && accesses_[i].step == s; ++i) bytes += accesses_[i].row;
      most = bytes > most ? bytes : most;
      const std::int64_t of = most_of(s, true).of.together;
      for (const std::int64_t all = together; together % of != 0; together += all)
        if (together > rows) return 0;
    }
    if (together > most_of_samples / most) return 0;
    std::int64_t block = bytes_of_samples / most / together * together;
    if (block < together) block = together;
    for (; block > 0; block -= together) {
      const std::int64_t blocks = (rows + block - 1) / block, turns = (blocks + threads_ - 1) / threads_;
      if (blocks >= 2 && 4 * blocks >= 3 * turns * threads_) break;
    }
    return block;
  }

  /// Rows of a block of the steps whose tensors are in `accesses_`; 0 if blocks gain nothing.
  [[nodiscard]] TAGMA_COLD std::int64_t block_of(std::int64_t rows, std::size_t end, bool samples) const {
    std::int64_t bytes = 0;
    bool used_again = false;
    for (std::size_t i = 0; i < accesses_.size(); ++i) {
      const access& a = accesses_[i];
      if (a.row == 0 || a.step >= end) continue;
      bool known = false;
      for (std::size_t k = 0; k < i && !known; ++k) {
        const access& b = accesses_[k];
        known = a.row == b.row && a.from == b.from && (a.from != nullptr || a.node == b.node);
      }
      if (!known) bytes += a.row;
      used_again = used_again || (known && a.row > 64);
    }
    if (!used_again || rows < least_bytes / bytes) return 0;
    if (samples) return samples_of_block(rows, end);
    if (bytes > longest_row) return 0;
    std::int64_t block = bytes_of_block / bytes / least_rows * least_rows;
    if (block < least_rows) block = least_rows;
    if (rows < 2 * block) return 0;
    while (block > least_rows && rows % block > 0 && rows % block < 8) block -= least_rows;
    return rows % block > 0 && rows % block < 8 ? 0 : block;
  }

  /// True if there are any.
  [[nodiscard]] TAGMA_COLD bool find_groups(const run_context& context) {
    const std::size_t steps = plan_.step_count();
    group_of_.allocate(steps);
    groups_.allocate(steps / 2 + 1);
    std::size_t found = 0;
    for (std::size_t s = 0; s < steps;) {
      // The longest of those that begin here, with the rows of a step that is not far behind.
      std::size_t longest = 0;
      std::int64_t block = 0, rows = 0, seen = 0;
      bool samples = false, seen_samples = false;
      for (std::size_t t = s; t < steps && t < s + 16; ++t) {
        const bool of_samples = plan_.kernel(t).rows != nullptr;
        const split most = is_loop(t) ? split{} : most_of(t, of_samples);
        if (most.how == form::none) continue;
        const std::int64_t tried = plan_.call(t).in[0].dims.elements(0, most.prefix);
        if (tried < (of_samples ? 2 : 2 * least_rows) || (tried == seen && of_samples == seen_samples)) continue;
        seen = tried, seen_samples = of_samples;
        const std::size_t length = steps_from(s, tried, of_samples);
        if (length <= longest) continue;
        const std::int64_t of = block_of(tried, s + length, of_samples);
        if (of > 0) longest = length, block = of, rows = tried, samples = of_samples;
      }
      if (longest < 2) {
        ++s;
        continue;
      }
      group& g = groups_[found++];
      g.first = s;
      g.steps = longest;
      g.samples = samples;
      g.rows = rows;
      g.block = block;
      prepare(g, context);
      for (std::size_t i = 0; i < longest; ++i) group_of_[s + i] = &g;
      s += longest;
    }
    return found > 0;
  }

  /// The extents of an operand that has `rows` rows.
  [[nodiscard]] static shape with_rows(shape dims, const split& how, std::int64_t rows) {
    for (int a = 0; a < how.prefix; ++a) dims[a] = a == how.axis ? rows : 1;
    return dims;
  }

  /// A place that is free from the first step on that uses `b`.
  [[nodiscard]] TAGMA_COLD std::int64_t place_for(std::int64_t bytes, const plan::plan_block& b) {
    std::int64_t at = 0;
    for (std::size_t i = 0; i < placed_.size(); ++i)
      if (const place& p = placed_[i]; p.last >= b.first && at < p.end && p.begin < at + bytes) {
        at = p.end;
        i = ~std::size_t{0};  // once more from the beginning
      }
    placed_.push({at, at + bytes, b.last});
    return at;
  }

  TAGMA_COLD void prepare(group& g, const run_context& context) {
    const std::int64_t rest = g.rows % g.block, blocks = g.rows / g.block;
    g.threads = threads_ < blocks ? threads_ : blocks;
    g.members.allocate(g.steps);
    g.turns.allocate(g.steps);
    g.begun.allocate(g.steps);
    heap_array<std::int64_t> inside(plan_.plan().blocks.size());  // one more than where it is
    placed_.clear();
    std::int64_t sums = 0;
    g.pieces.allocate(static_cast<std::size_t>(g.threads + (rest > 0)) * g.steps);
    for (std::size_t i = 0; i < g.steps; ++i) {
      const std::size_t s = g.first + i;
      const kernel_args& args = plan_.call(s);
      member& m = g.members[i];
      m.how = split_of(s, g.rows, g.samples);
      m.row.allocate(operands_of(args));
      m.inside.allocate(m.row.size());
      for (std::size_t k = 0; k < m.row.size(); ++k) {
        m.row[k] = row_of(s, k, m.how, g.rows);
        const std::int32_t block = block_inside(node_at(s, k), g.first, g.first + g.steps);
        m.inside[k] = -1;
        if (m.row[k] == 0 || block < 0) continue;
        if (inside[block] == 0)
          inside[block] = 1 + place_for((m.row[k] * g.block + 63) / 64 * 64, plan_.plan().blocks[block]);
        m.inside[k] = inside[block] - 1;
      }
      if (m.how.how == form::columns) {
        m.part = rows_of_part(g.rows, args.out.elements());
        m.own_sum = sums;
        sums += (static_cast<std::int64_t>(args.out.bytes()) + 63) / 64 * 64;
      }
    }
    for (std::size_t i = 0; i < placed_.size(); ++i)
      if (placed_[i].end > g.of_thread) g.of_thread = placed_[i].end;
    g.places = aligned_bytes(static_cast<std::size_t>(g.of_thread * g.threads + sums));
    for (std::size_t p = 0; p < g.pieces.size(); ++p)
      prepare(g, p, static_cast<std::int64_t>(p / g.steps) < g.threads ? g.block : rest, context);
  }

  /// @param rows of the block of piece `number`
  TAGMA_COLD void prepare(const group& g, std::size_t number, std::int64_t rows, const run_context& context) {
    piece& p = g.pieces[number];
    const member& m = g.members[number % g.steps];
    const std::size_t s = g.first + number % g.steps;
    const kernel_args& whole = plan_.call(s);
    p.args = whole;
    p.operands.allocate(m.row.size());
    for (std::size_t i = 0; i < m.row.size(); ++i) p.operands[i] = operand_of(whole, i);
    point(p, m, whole, 0, rows, 0, g.places.data());
    p.args.continued = m.how.how == form::columns;
    if (plan_.kernel(s).rows != nullptr) p.args.all = g.rows;
    p.args.worker = static_cast<std::int64_t>(number / g.steps);
    if (p.args.all > 0 || m.how.how == form::columns || plan_.kernel(s).prepare == nullptr) return;
    run_context alone = context;
    alone.threads = &alone_;
    p.state = plan_.kernel(s).prepare(p.args, alone);
    p.args.state = p.state.get();
  }

  /// Makes rows `first` to `first + rows` the operands of a piece.
  /// @param own the first of these rows in the block
  /// @param places those of the thread
  static void point(piece& p, const member& m, const kernel_args& whole, std::int64_t first, std::int64_t rows,
                    std::int64_t own, std::byte* places) {
    const std::size_t inputs = whole.in.size();
    p.args.first = first;
    for (std::size_t i = 0; i < m.row.size(); ++i) {
      const operand& from = operand_of(whole, i);
      if (m.inside[i] >= 0)
        p.operands[i].data = places + m.inside[i] + own * m.row[i];
      else if (from.data != nullptr)
        p.operands[i].data = from.data + first * m.row[i];
      if (m.row[i] > 0) p.operands[i].dims = with_rows(from.dims, m.how, rows);
    }
    p.args.in = {p.operands.data(), inputs};
    if (whole.outs.size() == 0)
      p.args.out = p.operands[inputs];
    else
      p.args.outs = {p.operands.data() + inputs, whole.outs.size()};
  }

  template <class T>
  static void add_row(const operand& to, const std::byte* from) {
    for (extent i = 0; i < to.elements(); ++i) to.as<T>()[i] += reinterpret_cast<const T*>(from)[i];
  }
  static void add_row(const operand& to, const std::byte* from) {
    to.type == dtype::float32 ? add_row<float>(to, from) : add_row<double>(to, from);
  }

  /// Adds rows `first` to `last` of a block, as a whole step would: in parts that are added in their order.
  /// @param t the thread that has the block
  void sum_columns(const group& g, std::size_t i, std::int64_t first, std::int64_t last, std::int64_t t,
                   run_context& alone) {
    const member& m = g.members[i];
    piece& p = g.pieces[static_cast<std::size_t>(t) * g.steps + i];
    std::byte* const own = g.places.data() + g.of_thread * g.threads + m.own_sum;
    for (std::int64_t row = first, end = 0; row < last; row = end) {
      const std::int64_t begin = row / m.part * m.part, most = most_of_sum / p.operands[1].elements();
      end = begin + m.part < last ? begin + m.part : last;
      if (end - row > most) end = row + most;
      point(p, m, plan_.call(g.first + i), row, end - row, row - first, g.places.data() + t * g.of_thread);
      const operand total = p.args.out;
      if (begin > 0) p.args.out.data = own;
      if (row == begin) std::memset(p.args.out.data, 0, total.bytes());
      if (end - row > 1)
        plan_.kernel(g.first + i).run(p.args, alone);
      else
        add_row(p.args.out, p.args.in[0].data);  // which a kernel would copy
      if (begin > 0 && (end == begin + m.part || end == g.rows)) add_row(total, own);
    }
  }

  /// What the threads of a run of a group share.
  struct shared_run {
    const group& of;
    atomic<std::int64_t> next{0};  ///< block
    atomic<bool> ended{false};     ///< some block will not be done
  };

  /// All steps on block `b`; false if the blocks before it will not be done.
  bool run_block(shared_run& r, std::int64_t b, std::int64_t t, run_context& alone) {
    const group& g = r.of;
    const std::int64_t first = b * g.block, rows = g.rows - first < g.block ? g.rows - first : g.block;
    const std::int64_t of = rows < g.block ? g.threads : t;
    for (std::size_t i = 0; i < g.steps; ++i) {
      if (g.members[i].how.how == form::columns) {
        if (!comes_to(r, i, b)) return false;
        sum_columns(g, i, first, first + rows, t, alone);
        g.turns[i].change(true);
        continue;
      }
      piece& p = g.pieces[static_cast<std::size_t>(of) * g.steps + i];
      point(p, g.members[i], plan_.call(g.first + i), first, rows, 0, g.places.data() + t * g.of_thread);
      plan_.kernel(g.first + i).run(p.args, alone);
    }
    return true;
  }
  /// Waits until sum `i` has the rows before block `b`: whoever has the block before was here first.
  [[nodiscard]] bool comes_to(shared_run& r, std::size_t i, std::int64_t b) {
    const std::uint32_t wanted = r.of.begun[i] + static_cast<std::uint32_t>(b);
    for (;;) {
      const std::uint32_t seen = r.of.turns[i].load(memory_order::acquire);
      if (seen == wanted) return true;
      if (r.ended.load()) return false;
      r.of.turns[i].wait(seen);
    }
  }
  void end(shared_run& r) {
    r.ended.store(true);
    for (wait_word& turn : r.of.turns) turn.change(true);
  }

  /// Does blocks until all are taken, as thread `t`.
  void run_blocks(shared_run& r, std::int64_t t, const run_context& context) {
    run_context alone = context;
    alone.threads = &alone_;
    const group& g = r.of;
    const std::int64_t blocks = (g.rows + g.block - 1) / g.block;
    try {
      for (std::int64_t b = 0; (b = r.next.fetch_add(1)) < blocks;)
        if (context.cancelled() || !run_block(r, b, t, alone)) return end(r);
    } catch (...) {
      end(r);
      throw;
    }
  }

  void run(group& g, const run_context& context) {
    for (std::size_t i = 0; i < g.steps; ++i) g.begun[i] = g.turns[i].load(memory_order::relaxed);
    for (std::size_t s = g.first; g.samples && s < g.first + g.steps; ++s)
      if (const rows_function rows = plan_.kernel(s).rows; rows != nullptr) (void)rows(plan_.call(s), &context);
    shared_run r{g};
    if (g.threads == 1) return run_blocks(r, 0, context);
    context.threads->parallel_for(g.threads, [&](std::int64_t t) { run_blocks(r, t, context); });
  }

  Bound& plan_;
  std::int64_t threads_;  ///< of these each has a block at a time
  calling_thread alone_;
  growing_array<access> accesses_{0};
  /// A part of the memory of a block until the last step that uses it.
  struct place {
    std::int64_t begin = 0, end = 0;
    std::int32_t last = 0;
  };
  growing_array<place> placed_{0};
  heap_array<group*> group_of_;
  heap_array<group> groups_;
};

}  // namespace tagma::runtime
