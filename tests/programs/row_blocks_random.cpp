// SPDX-License-Identifier: BSL-1.0

// Graphs of operations on rows that are drawn from a seed: blocks of rows give the bytes of whole steps, on one thread
// and on several. TAGMA_ROW_GRAPHS says how many; else 150, or 15 under a sanitizer.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "support/plan_of_rows.hpp"
#include "support/sanitizers.hpp"

namespace tg = tagma;

namespace {

using tg::dtype;
using tg::extent;
using tg::graph_node;
using tg::shape;
using tg::test::bytes_of;
using tg::test::draws;
using tg::test::numbers;
using tg::test::plan_of_rows;

/// A graph over `x`, `y` (of `dims`), `c` (a number for each row) and `r` (one for each column).
template <class T>
class drawn_graph {
 public:
  drawn_graph(const shape& dims, unsigned seed) : dims_(dims), draw_(seed) {
    shape column = dims;
    column[dims.rank - 1] = 1;
    const shape row{dims[dims.rank - 1]};
    const shape of[] = {dims, dims, column, row};
    for (unsigned i = 0; i < 4; ++i) {
      shape declared = of[i];
      if (i < 3 && draw_(2) == 0) declared[0] = tg::dyn;
      fed_.push_back(numbers<T>(of[i], seed + i));
      const graph_node n = builder_.placeholder(placeholders[i], tg::dtype_of<T>, declared);
      (i < 2 ? whole_ : i < 3 ? columns_ : rows_).push_back(n);
    }
    const int count = 4 + draw_(24);
    for (int i = 0; i < count; ++i) add();
    constexpr const char* numbered[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8"};
    std::vector<tg::named_output> outputs;
    const auto take = [&](const std::vector<graph_node>& from) {
      for (std::size_t i = from.size() > 3 ? from.size() - 3 : 0; i < from.size(); ++i)
        outputs.push_back({numbered[outputs.size()], from[i]});
    };
    take(whole_), take(columns_), take(rows_);
    outputs_ = static_cast<int>(outputs.size());
    program_.emplace(builder_.build(outputs));
  }

  /// Steps that were done in blocks.
  std::size_t check(int threads) const {
    std::vector<tg::named_feed> feeds;
    for (std::size_t i = 0; i < fed_.size(); ++i) feeds.push_back({placeholders[i], bytes_of(fed_[i])});
    plan_of_rows plan(*program_, outputs_, feeds, threads);
    const std::vector<std::string> one_by_one = plan.run(false);
    for (int again = 0; again < 2; ++again) {
      const std::vector<std::string> found = plan.run(true);
      for (std::size_t i = 0; i < found.size(); ++i) {
        INFO("output " << i << ", " << threads << " threads");
        CHECK((found[i] == one_by_one[i]));
      }
    }
    return plan.in_blocks;
  }

 private:
  const graph_node& any(const std::vector<graph_node>& of) {
    return of[static_cast<std::size_t>(draw_(static_cast<int>(of.size())))];
  }
  std::uint64_t last() const { return std::uint64_t{1} << (dims_.rank - 1); }

  void add() {
    constexpr const char* two[] = {"add", "subtract", "multiply", "maximum"};
    constexpr const char* one[] = {"tanh", "square", "negate", "abs"};
    const char* const joins = two[draw_(4)];
    const auto mask = static_cast<std::int64_t>(last());
    switch (draw_(13)) {
      case 0:
        return whole_.push_back(builder_.add(joins, {any(whole_), any(whole_)}));
      case 1:
        return whole_.push_back(builder_.add(joins, {any(whole_), any(columns_)}));
      case 2:
        return whole_.push_back(builder_.add(joins, {any(rows_), any(whole_)}));
      case 3:
        return whole_.push_back(builder_.add(joins, {any(columns_), any(rows_)}));
      case 4:
        return whole_.push_back(builder_.add(one[draw_(4)], {any(whole_)}));
      case 5:
        return columns_.push_back(builder_.add(joins, {any(columns_), any(columns_)}));
      case 6:
        return columns_.push_back(builder_.add("multiply", {builder_.add("sum", {any(whole_)}, {mask, mask}),
                                                            builder_.constant(tg::dtype_of<T>, 1.0 / 1024)}));
      case 7:
        return columns_.push_back(builder_.add("reduce_max", {any(whole_)}, {mask, mask}));
      case 8:
        return whole_.push_back(builder_.add(draw_(2) == 0 ? "softmax" : "log_softmax", {any(whole_)}));
      case 9: {
        const graph_node found = builder_.add("moments", {any(whole_)}, {mask, mask});
        const auto wanted = draw_(3);
        if (wanted != 1) columns_.push_back(builder_.result(found, 0));
        if (wanted != 0) columns_.push_back(builder_.result(found, 1));
        return;
      }
      case 10:
        return rows_.push_back(builder_.add("sum", {any(whole_)}, {mask - 1, false}));
      case 11: {
        // What is no operation on rows.
        std::vector<tg::attribute_value> turn;
        for (int axis = dims_.rank; axis-- > 0;) turn.emplace_back(axis);
        const graph_node turned = builder_.add("transpose", {any(whole_)}, turn);
        return whole_.push_back(builder_.add("transpose", {builder_.add("square", {turned})}, turn));
      }
      default: {
        const graph_node all = builder_.add("sum", {any(whole_)}, {2 * mask - 1, false});
        return whole_.push_back(builder_.add("add", {any(whole_), builder_.add("tanh", {all})}));
      }
    }
  }

  static constexpr const char* placeholders[] = {"x", "y", "c", "r"};
  shape dims_;
  draws draw_;
  tg::graph_builder builder_;
  std::vector<graph_node> whole_, columns_, rows_;
  std::vector<tg::tensor<T>> fed_;
  int outputs_ = 0;
  std::optional<tg::any_program> program_;
};

shape drawn_shape(draws& draw) {
  const extent columns = (extent{8} << draw(8)) + draw(3) - 1;
  const extent rows = 500'000 / columns + draw(40);
  switch (draw(4)) {
    case 0:
      return {3, rows / 3, columns};
    case 1:
      return {1, rows, columns};
    case 2:
      return {rows / 4, 2, 2, columns};
    default:
      return {rows, columns};
  }
}

TEST_CASE("blocks of rows give the bytes of whole steps") {
  std::size_t in_blocks = 0;
  const char* const asked = std::getenv("TAGMA_ROW_GRAPHS");
  const auto count = static_cast<unsigned>(asked == nullptr ? (tg::test::is_sanitized ? 15 : 150) : std::atoi(asked));
  for (unsigned seed = 1; seed <= count; ++seed) {
    draws draw(seed);
    const shape dims = drawn_shape(draw);
    INFO("seed " << seed << ", " << tg::to_string(dims));
    const auto check = [&](const auto& graph) {
      const std::size_t alone = graph.check(1), shared = graph.check(3);
      in_blocks += alone + shared;
    };
    if (seed % 4 == 0)
      check(drawn_graph<double>(dims, seed));
    else
      check(drawn_graph<float>(dims, seed));
  }
  CHECK(in_blocks > 5 * count);
}

}  // namespace
