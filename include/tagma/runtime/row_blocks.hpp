// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Steps whose rows do not depend on each other, done block by block: all of them on some rows, which stay in the cache
/// meanwhile, then all of them on the next. Only programs with operations on rows compile what is here.

#include "tagma/base/config.hpp"
#include "tagma/base/growing_array.hpp"
#include "tagma/expr/op/moments.hpp"
#include "tagma/expr/op/reduce.hpp"
#include "tagma/expr/op/softmax.hpp"
#include "tagma/runtime/bound_plan.hpp"

namespace tagma::runtime {

/// True if a plan has an operation on rows, between which and loops tensors may stay in the cache.
template <class Nodes, class Steps, class Attributes>
[[nodiscard]] constexpr bool has_rows(const Nodes& nodes, const Steps& steps, const Attributes& attributes) {
  for (const plan::plan_step& step : steps) {
    const plan::plan_node& n = nodes[step.main_node()];
    const char* const key = n.op->key;
    if (key == &ir::key<op::softmax> || key == &ir::key<op::log_softmax> || key == &ir::key<op::moments>) return true;
    // A sum along the last axes, of more than one result.
    if (key == &ir::key<op::sum> && n.spec.dims.rank > 0 && (attributes[n.first_attribute] & 1) == 0) return true;
  }
  return false;
}

/// Runs kernels on the thread that calls.
class calling_thread final : public executor {
 public:
  void parallel_for(std::int64_t count, void (*task)(void*, std::int64_t), void* context) override {
    for (std::int64_t i = 0; i < count; ++i) task(context, i);
  }
  bool offer(shared_work&) override { return false; }
  void call_helpers(int) override {}
  void withdraw(shared_work&) override {}
  [[nodiscard]] int threads() const override { return 1; }
  [[nodiscard]] int step_threads() const override { return 1; }
};

/// A template, so that other programs do not compile it: g++ compiles each class whose functions a virtual call may
/// reach.
///
/// A step on some rows is its kernel with fewer of them: operands with smaller extents that begin further behind. Sums
/// of columns go on from the rows before. So the bytes are those of whole steps. Where several threads share kernels,
/// each takes a block, and they share the columns of a sum behind them.
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
  /// Rows that make a block are a multiple of it: eight short rows are done at once, sixteen rows of columns.
  static constexpr std::int64_t least_rows = 16;
  /// Sums of fewer columns have parts of their own.
  static constexpr std::int64_t narrow = 256;

  /// Nothing if the steps of the plan are better done one by one.
  [[nodiscard]] TAGMA_COLD static owned<row_steps> make(Bound& plan, const run_context& context) {
    owned<row_blocks> made(new row_blocks(plan, context));
    if (!made->find_groups(context)) return {};
    return made;
  }

  bool run(std::size_t s, const run_context& context) override {
    const group* const g = group_of_[s];
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
    heap_array<std::int64_t> inside;  ///< where it is in `places`; -1: where the whole tensor is
  };
  struct group {
    std::size_t first = 0, steps = 0;
    std::int64_t rows = 0, block = 0;
    std::int64_t threads = 0;  ///< that take a block each
    aligned_bytes places;      ///< of tensors that blocks alone have, the rows of all threads
    heap_array<member> members;
    heap_array<piece> pieces;  ///< of each thread all steps, and behind them those of the last block, if it is smaller
  };

  row_blocks(Bound& plan, const run_context& context)
      : plan_(plan), alone_in_blocks_(context.threads->threads() == 1) {}

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

  /// How step `s` is done on some of `rows` rows.
  [[nodiscard]] TAGMA_COLD split split_of(std::size_t s, std::int64_t rows) const {
    const kernel_entry& kernel = plan_.kernel(s);
    const plan::plan_node& n = node_of(s);
    const kernel_args& args = plan_.call(s);
    if (kernel.run == nullptr || plan_.plan().steps[s].before != ir::no_node || n.op->stateful) return {};
    const bool loop = n.op->is(ir::op_kind::elementwise);
    const shape& dims = loop ? args.out.dims : args.in[0].dims;
    int most = dims.rank;  // axes that may be rows
    split found{form::rows};
    if (!loop) {
      if (is(n, ir::key<op::softmax>) || is(n, ir::key<op::log_softmax>)) {
        most = dims.rank - 1;
      } else if (is(n, ir::key<op::moments>) || is(n, ir::key<op::sum>) || is(n, ir::key<op::reduce_max>)) {
        const auto mask = static_cast<std::uint64_t>(args.attributes[0]);
        most = 0;
        while (most < dims.rank && ((mask >> most) & 1) == 0) ++most;
        if (most == 0 && is(n, ir::key<op::sum>) && kernel.prepare == nullptr) {
          while (most < dims.rank && ((mask >> most) & 1) != 0) ++most;
          if ((mask >> most) != 0 || dims.elements(0, most) != rows || dims.elements(most, dims.rank) <= narrow)
            return {};
          found.how = form::columns;
        }
      } else {
        return {};
      }
    }
    while (found.prefix < most && dims.elements(0, found.prefix) < rows) ++found.prefix;
    if (dims.elements(0, found.prefix) != rows) return {};
    if (found.how == form::columns) found.prefix = most;
    while (found.axis + 1 < found.prefix && dims[found.axis] == 1) ++found.axis;
    for (std::size_t i = 0; i < operands_of(args); ++i) {
      const operand& o = operand_of(args, i);
      if (is_result(args, i) && o.data == nullptr) continue;  // nobody reads it
      const bool whole = is_result(args, i) ? found.how == form::columns : loop && is_same(o, found, dims);
      if (o.type == dtype::none || !(whole || has_rows(o, found, dims, loop))) return {};
    }
    return found;
  }
  /// True if an operand has the rows of a step, one behind the other.
  [[nodiscard]] static bool has_rows(const operand& o, const split& how, const shape& dims, bool loop) {
    if (o.dims.rank < how.prefix || (loop && o.dims.rank != dims.rank)) return false;
    for (int a = 0; a < how.prefix; ++a)
      if (o.dims[a] != dims[a]) return false;
    return true;
  }
  /// True if an operand of a loop is the same for all rows.
  [[nodiscard]] static bool is_same(const operand& o, const split& how, const shape& dims) {
    for (int a = 0; a < how.prefix; ++a) {
      const int own = a + o.dims.rank - dims.rank;
      if (own >= 0 && o.dims[own] != 1) return false;
    }
    return true;
  }

  [[nodiscard]] static bool overlap(const access& a, std::int64_t skipped, const access& b) {
    return a.from + skipped < b.from + b.bytes && b.from < a.from + a.bytes;
  }
  /// True if `b`, of a later step, must not come before `a` of the next block. The steps begin with `first`.
  [[nodiscard]] bool conflict(const access& a, const access& b, std::size_t first) const {
    if ((!a.written && !b.written) || block_inside(a.node, first, b.step) >= 0) return false;
    if (a.row > 0 && b.row > 0) {
      // Shorter rows in the place of longer ones reach no rows behind their own; before them are other threads' rows.
      const bool apart = a.from == b.from && (alone_in_blocks_ ? b.row <= a.row : b.row == a.row);
      return !apart && overlap(a, 0, b);
    }
    // A sum of columns is written when all rows of the first blocks are done.
    return overlap(a, b.written && b.row == 0 ? least_rows * a.row : 0, b);
  }

  /// Adds what step `s` reads and writes. False if that does not go with the steps before it.
  [[nodiscard]] TAGMA_COLD bool add(std::size_t s, const split& how, std::int64_t rows, std::size_t first) {
    const kernel_args& args = plan_.call(s);
    const std::size_t before = accesses_.size();
    const bool loop = node_of(s).op->is(ir::op_kind::elementwise);
    const shape& dims = loop ? args.out.dims : args.in[0].dims;
    for (std::size_t i = 0; i < operands_of(args); ++i) {
      const operand& o = operand_of(args, i);
      if (o.data == nullptr && is_result(args, i)) continue;  // feeds have their places later
      const auto bytes = static_cast<std::int64_t>(o.bytes());
      access a{o.data, bytes, has_rows(o, how, dims, loop) ? bytes / rows : 0, is_result(args, i), s, node_at(s, i)};
      if (how.how == form::columns && a.written) a.row = 0;
      for (std::size_t k = 0; k < before; ++k)
        if (conflict(accesses_[k], a, first)) return false;
      accesses_.push(a);
    }
    return true;
  }

  /// Steps from `s` on that can be done in blocks of `rows` rows.
  [[nodiscard]] TAGMA_COLD std::size_t steps_from(std::size_t s, std::int64_t rows) {
    accesses_.clear();
    const std::size_t first = s;
    for (; s < plan_.step_count(); ++s) {
      const split how = split_of(s, rows);
      if (how.how == form::none || !add(s, how, rows, first)) break;
    }
    return s - first;
  }

  /// Rows of a block of the steps whose tensors are in `accesses_`; 0 if blocks gain nothing.
  [[nodiscard]] TAGMA_COLD std::int64_t block_of(std::int64_t rows, std::size_t end) const {
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
    if (!used_again || bytes > longest_row || rows < least_bytes / bytes) return 0;
    std::int64_t block = bytes_of_block / bytes / least_rows * least_rows;
    if (block < least_rows) block = least_rows;
    if (rows < 2 * block) return 0;
    while (block > least_rows && rows % block > 0 && rows % block < 8) block -= least_rows;
    return rows % block > 0 && rows % block < 8 ? 0 : block;
  }

  /// The number of rows of step `s` that others may have as well, or 0.
  [[nodiscard]] TAGMA_COLD std::int64_t rows_of(std::size_t s) const {
    const plan::plan_node& n = node_of(s);
    const kernel_args& args = plan_.call(s);
    if (n.op->is(ir::op_kind::elementwise) || args.in.size() == 0) return 0;
    const shape& dims = args.in[0].dims;
    if (is(n, ir::key<op::softmax>) || is(n, ir::key<op::log_softmax>)) return dims.elements(0, dims.rank - 1);
    if (!is(n, ir::key<op::moments>) && !is(n, ir::key<op::sum>)) return 0;
    const auto mask = static_cast<std::uint64_t>(args.attributes[0]);
    int axis = 0;
    while (axis < dims.rank && ((mask >> axis) & 1) == (mask & 1)) ++axis;
    return dims.elements(0, axis);
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
      std::int64_t block = 0, rows = 0;
      for (std::size_t t = s; t < steps && t < s + 16; ++t) {
        const std::int64_t tried = rows_of(t);
        if (tried < 2 * least_rows || tried == rows) continue;
        const std::size_t length = steps_from(s, tried);
        if (length <= longest || s + length <= t) continue;
        const std::int64_t of = block_of(tried, s + length);
        if (of > 0) longest = length, block = of, rows = tried;
      }
      if (longest < 2) {
        ++s;
        continue;
      }
      group& g = groups_[found++];
      g.first = s;
      g.steps = longest;
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

  TAGMA_COLD void prepare(group& g, const run_context& context) {
    const std::int64_t rest = g.rows % g.block, blocks = g.rows / g.block;
    const std::int64_t threads = context.threads->threads();
    g.threads = threads < blocks ? threads : blocks;
    g.members.allocate(g.steps);
    heap_array<std::int64_t> inside(plan_.plan().blocks.size());  // one more than where it is
    std::int64_t bytes = 0;
    g.pieces.allocate(static_cast<std::size_t>(g.threads + (rest > 0)) * g.steps);
    for (std::size_t i = 0; i < g.steps; ++i) {
      const std::size_t s = g.first + i;
      const kernel_args& args = plan_.call(s);
      const bool loop = node_of(s).op->is(ir::op_kind::elementwise);
      const shape& dims = loop ? args.out.dims : args.in[0].dims;
      member& m = g.members[i];
      m.how = split_of(s, g.rows);
      m.row.allocate(operands_of(args));
      m.inside.allocate(m.row.size());
      for (std::size_t k = 0; k < m.row.size(); ++k) {
        const operand& o = operand_of(args, k);
        const bool whole = m.how.how == form::columns && is_result(args, k);
        m.row[k] = !whole && has_rows(o, m.how, dims, loop) ? static_cast<std::int64_t>(o.bytes()) / g.rows : 0;
        const std::int32_t block = block_inside(node_at(s, k), g.first, g.first + g.steps);
        m.inside[k] = -1;
        if (whole || block < 0) continue;
        if (inside[block] == 0) {
          inside[block] = bytes + 1;
          bytes += (m.row[k] * g.block * g.threads + 63) / 64 * 64;
        }
        m.inside[k] = inside[block] - 1;
      }
      for (std::size_t p = i; p < g.pieces.size(); p += g.steps)
        prepare(g.pieces[p], m, s, static_cast<std::int64_t>(p / g.steps) < g.threads ? g.block : rest, context);
    }
    g.places = aligned_bytes(static_cast<std::size_t>(bytes));
  }

  TAGMA_COLD void prepare(piece& p, const member& m, std::size_t s, std::int64_t rows, const run_context& context) {
    const kernel_args& whole = plan_.call(s);
    p.args = whole;
    p.operands.allocate(m.row.size());
    for (std::size_t i = 0; i < m.row.size(); ++i) p.operands[i] = operand_of(whole, i);
    point(p, m, whole, 0, rows, 0, nullptr);  // kernels prepare by extents alone
    run_context alone = context;
    alone.threads = &alone_;
    if (m.how.how == form::columns || plan_.kernel(s).prepare == nullptr) return;
    p.state = plan_.kernel(s).prepare(p.args, alone);
    p.args.state = p.state.get();
  }

  /// Makes rows `first` to `first + rows` the operands of a piece.
  /// @param own the first of these rows among those that all threads have at a time
  static void point(piece& p, const member& m, const kernel_args& whole, std::int64_t first, std::int64_t rows,
                    std::int64_t own, std::byte* places) {
    const std::size_t inputs = whole.in.size();
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

  /// Steps `i` to `end` of a group on block `b`.
  void run_block(const group& g, std::size_t i, std::size_t end, std::int64_t b, run_context& alone) {
    const std::int64_t first = b * g.block, rows = g.rows - first < g.block ? g.rows - first : g.block;
    const std::int64_t of = rows < g.block ? g.threads : b % g.threads;
    for (; i < end; ++i) {
      piece& p = g.pieces[static_cast<std::size_t>(of) * g.steps + i];
      point(p, g.members[i], plan_.call(g.first + i), first, rows, b % g.threads * g.block, g.places.data());
      plan_.kernel(g.first + i).run(p.args, alone);
    }
  }

  void run(const group& g, const run_context& context) {
    run_context alone = context;
    alone.threads = &alone_;
    const std::int64_t blocks = (g.rows + g.block - 1) / g.block;
    for (std::int64_t b = 0; b < blocks && !context.cancelled(); b += g.threads) {
      const std::int64_t count = blocks - b < g.threads ? blocks - b : g.threads;
      for (std::size_t i = 0; i < g.steps;) {
        std::size_t end = i;
        if (g.members[i].how.how == form::columns) {
          piece& p = g.pieces[i];
          const std::int64_t first = b * g.block, last = first + count * g.block;
          point(p, g.members[i], plan_.call(g.first + i), first, (last < g.rows ? last : g.rows) - first, 0,
                g.places.data());
          p.args.continued = b > 0;
          plan_.kernel(g.first + i).run(p.args, context);
          ++i;
          continue;
        }
        while (end < g.steps && g.members[end].how.how == form::rows) ++end;
        if (count == 1)
          run_block(g, i, end, b, alone);
        else
          context.threads->parallel_for(count, [&](std::int64_t t) { run_block(g, i, end, b + t, alone); });
        i = end;
      }
    }
  }

  Bound& plan_;
  bool alone_in_blocks_;  ///< one block is done at a time
  calling_thread alone_;
  growing_array<access> accesses_{0};
  heap_array<const group*> group_of_;
  heap_array<group> groups_;
};

}  // namespace tagma::runtime
