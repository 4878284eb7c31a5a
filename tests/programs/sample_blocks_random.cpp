// SPDX-License-Identifier: BSL-1.0

// Graphs of convolutions and products over samples that are drawn from a seed: blocks of images and of sequences give
// the bytes of whole steps, on one thread and on several. TAGMA_SAMPLE_GRAPHS says how many; else 60, or 8 under a
// sanitizer.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "support/plan_of_rows.hpp"
#include "support/sanitizers.hpp"

namespace tg = tagma;

namespace {

using tg::attribute_value;
using tg::dtype;
using tg::extent;
using tg::graph_node;
using tg::shape;
using tg::test::bytes_of;
using tg::test::draws;
using tg::test::numbers;
using tg::test::plan_of_rows;

/// A graph over `x`, samples of `T`. What is drawn for it are images, or sequences as [samples, places, features].
template <class T>
class drawn_graph {
 public:
  drawn_graph(bool images, unsigned seed) : draw_(seed) {
    const extent wide = 8 << draw_(3), channels = 8 << draw_(4), place = images ? wide * wide : wide * 4;
    const extent wanted = (2'500'000 >> draw_(3)) / (place * channels * static_cast<extent>(sizeof(T)));
    const extent samples = 2 + (wanted < 70 ? wanted : 70) + draw_(5);
    x_ = images ? shape{samples, wide, wide, channels} : shape{samples, wide * 4, channels};
    nodes_.push_back(fed(x_, draw_(2) == 0));
    const int count = 3 + draw_(12);
    for (int i = 0; i < count; ++i) images ? add_to_images() : add_to_sequences();
    constexpr const char* numbered[] = {"0", "1", "2", "3"};
    std::vector<tg::named_output> outputs;
    for (std::size_t i = nodes_.size() > 4 ? nodes_.size() - 4 : 1; i < nodes_.size(); ++i)
      outputs.push_back({numbered[outputs.size()], nodes_[i]});
    outputs_ = static_cast<int>(outputs.size());
    program_.emplace(builder_.build(outputs));
  }

  /// Steps that were done in blocks.
  std::size_t check(int threads) const {
    std::vector<tg::named_feed> feeds;
    for (std::size_t i = 0; i < fed_.size(); ++i) feeds.push_back({names_[i].c_str(), bytes_of(fed_[i])});
    plan_of_rows plan(*program_, outputs_, feeds, threads);
    const std::vector<std::string> one_by_one = plan.run(false);
    for (int again = 0; again < 2; ++again) {
      const std::vector<std::string> found = plan.run(true);
      for (std::size_t i = 0; i < found.size(); ++i) {
        INFO("output " << i << ", " << threads << " threads, " << plan.in_blocks << " steps in blocks");
        CHECK((found[i] == one_by_one[i]));
      }
    }
    return plan.in_blocks;
  }

  [[nodiscard]] const shape& dims() const { return x_; }

 private:
  graph_node fed(const shape& dims, bool varies = false) {
    shape declared = dims;
    if (varies) declared[0] = tg::dyn;
    names_.push_back("x" + std::to_string(names_.size()));
    fed_.push_back(numbers<T>(dims, 7 + static_cast<unsigned>(fed_.size())));
    return builder_.placeholder(names_.back().c_str(), tg::dtype_of<T>, declared);
  }
  /// One of the last nodes, so that chains are long.
  std::size_t any() {
    const auto n = static_cast<int>(nodes_.size());
    return static_cast<std::size_t>(n - 1 - draw_(n < 3 ? n : 3));
  }
  void push(const graph_node& node, const shape& dims) {
    nodes_.push_back(node);
    shapes_of_.resize(nodes_.size());
    shapes_of_.back() = dims;
  }
  [[nodiscard]] shape dims_of(std::size_t i) const { return i == 0 ? x_ : shapes_of_[i]; }

  void add_loop(std::size_t i) {
    constexpr const char* one[] = {"tanh", "square", "negate", "relu"};
    constexpr const char* two[] = {"add", "multiply", "maximum"};
    const shape dims = dims_of(i);
    if (draw_(2) == 0) return push(builder_.add(one[draw_(4)], {nodes_[i]}), dims);
    for (std::size_t k = nodes_.size(); k-- > 0;)
      if (k != i && dims_of(k) == dims) return push(builder_.add(two[draw_(3)], {nodes_[i], nodes_[k]}), dims);
    push(builder_.add(two[draw_(3)], {nodes_[i], fed({dims[dims.rank - 1]})}), dims);
  }

  void add_to_images() {
    const std::size_t i = any();
    const shape dims = dims_of(i);
    const auto strides = [](int step) { return attribute_value(tg::window_steps(step).bits()); };
    switch (draw_(9)) {
      case 0:
      case 1:
      case 2: {
        const bool apart = draw_(4) == 0;
        const extent size = 1 + 2 * draw_(3), filters = apart ? dims[3] : 8 * (1 + draw_(6));
        const int step = dims[1] >= 8 && draw_(4) == 0 ? 2 : 1;
        const graph_node filter = fed({size, size, apart ? 1 : dims[3], filters});
        const attribute_value groups(static_cast<int>(apart ? dims[3] : 1)), same(tg::same_padding);
        const graph_node y = draw_(2) == 0 ? builder_.add("conv2d", {nodes_[i], filter}, {strides(step), same, groups})
                                           : builder_.add("conv2d_bias", {nodes_[i], filter, fed({filters})},
                                                          {strides(step), same, groups, draw_(3)});
        return push(y, y.spec().dims[1] == tg::dyn
                           ? dims
                           : shape{dims[0], (dims[1] + step - 1) / step, (dims[2] + step - 1) / step, filters});
      }
      case 3: {
        if (dims[1] < 4) return add_loop(i);
        const char* const pool = draw_(2) == 0 ? "max_pool" : "average_pool";
        return push(builder_.add(pool, {nodes_[i]}, {strides(2), tg::same_padding, 2, 2}),
                    {dims[0], (dims[1] + 1) / 2, (dims[2] + 1) / 2, dims[3]});
      }
      case 4: {
        const std::size_t k = any();
        const shape other = dims_of(k);
        if (other[1] != dims[1] || other[3] + dims[3] > 160) return add_loop(i);
        return push(builder_.add("concat", {nodes_[i], nodes_[k]}, {3}),
                    {dims[0], dims[1], dims[2], dims[3] + other[3]});
      }
      case 5:
        if (dims[3] > 64) return add_loop(i);
        return push(builder_.add("tile", {nodes_[i]}, {1, 1, 1, 2}), {dims[0], dims[1], dims[2], 2 * dims[3]});
      case 6:
        if (draw_(3) > 0) return add_loop(i);
        return push(builder_.add("transpose", {nodes_[i]}, {0, 2, 1, 3}), {dims[0], dims[2], dims[1], dims[3]});
      case 7:
        // The sum of each image, beside what goes on.
        push(builder_.add("multiply",
                          {nodes_[i], builder_.add("tanh", {builder_.add("sum", {nodes_[i]}, {0b0110, 0b0110})})}),
             dims);
        return;
      default:
        return add_loop(i);
    }
  }

  void add_to_sequences() {
    const std::size_t i = any();
    const shape dims = dims_of(i);
    switch (draw_(8)) {
      case 0:
      case 1:
      case 2: {
        const extent features = 8 << draw_(5);
        const bool turned = draw_(3) == 0;
        const graph_node by = fed(turned ? shape{features, dims[2]} : shape{dims[2], features});
        return push(builder_.add("matmul", {nodes_[i], by}, {false, turned}), {dims[0], dims[1], features});
      }
      case 3: {
        // Attention without its scale.
        const graph_node scores = builder_.add("matmul", {nodes_[i], nodes_[i]}, {false, true});
        return push(builder_.add("matmul", {builder_.add("softmax", {scores}), nodes_[i]}, {false, false}), dims);
      }
      case 4: {
        const graph_node found = builder_.add("moments", {nodes_[i]}, {0b100, 0b100});
        return push(builder_.add("subtract", {nodes_[i], builder_.result(found, draw_(2))}), dims);
      }
      case 5: {
        const graph_node turned = builder_.add("transpose", {nodes_[i]}, {0, 2, 1});
        return push(builder_.add("transpose", {builder_.add("square", {turned})}, {0, 2, 1}), dims);
      }
      case 6:
        return push(builder_.add(draw_(2) == 0 ? "softmax" : "log_softmax", {nodes_[i]}), dims);
      default:
        return add_loop(i);
    }
  }

  draws draw_;
  shape x_;
  tg::graph_builder builder_;
  std::vector<graph_node> nodes_;
  std::vector<shape> shapes_of_;
  std::vector<std::string> names_;
  std::vector<tg::tensor<T>> fed_;
  int outputs_ = 0;
  std::optional<tg::any_program> program_;
};

TEST_CASE("blocks of samples give the bytes of whole steps") {
  std::size_t in_blocks = 0;
  const char* const asked = std::getenv("TAGMA_SAMPLE_GRAPHS");
  const auto count = static_cast<unsigned>(asked == nullptr ? (tg::test::is_sanitized ? 8 : 60) : std::atoi(asked));
  for (unsigned seed = 1; seed <= count; ++seed) {
    const auto check = [&](const auto& graph) {
      INFO("seed " << seed << ", " << tg::to_string(graph.dims()));
      in_blocks += graph.check(1);
      in_blocks += graph.check(3);
    };
    if (seed % 5 == 0)
      check(drawn_graph<double>(seed % 2 == 0, seed));
    else
      check(drawn_graph<float>(seed % 2 == 0, seed));
  }
  CHECK(in_blocks > 3 * count);
}

}  // namespace
