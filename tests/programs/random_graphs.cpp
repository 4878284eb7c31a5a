// SPDX-License-Identifier: BSL-1.0

// Graphs that are drawn from a seed, built when the test runs, and compared with a plain evaluation in double: values
// of any outputs, gradients, what updates leave behind, memory, one thread and two. TAGMA_RANDOM_GRAPHS says how many,
// 500 if it says nothing; TAGMA_RANDOM_SEED is the first.

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "support/cut_session.hpp"
#include "support/errors.hpp"
#include "support/other_devices.hpp"
#include "tagma/graph_builder.hpp"
#include "tagma/programs.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

using tg::dtype;
using tg::extent;
using tg::shape;

/// Elements in double, row by row.
struct array {
  shape dims;
  std::vector<double> at;
};
[[nodiscard]] std::size_t size_of(const shape& s) { return static_cast<std::size_t>(s.elements()); }
/// The position of element `i` of `out` in a tensor that is stretched to it.
[[nodiscard]] std::size_t stretched(const shape& in, const shape& out, std::size_t i) {
  std::size_t position = 0, stride = 1;
  for (int axis = out.rank - 1; axis >= 0; --axis) {
    const auto here = i % static_cast<std::size_t>(out[axis]);
    i /= static_cast<std::size_t>(out[axis]);
    const int own = axis - (out.rank - in.rank);
    if (own < 0) continue;
    if (in[own] != 1) position += here * stride;
    stride *= static_cast<std::size_t>(in[own]);
  }
  return position;
}
[[nodiscard]] std::vector<extent> place_of(const shape& s, std::size_t i) {
  std::vector<extent> at(static_cast<std::size_t>(s.rank));
  for (int axis = s.rank - 1; axis >= 0; --axis) {
    at[static_cast<std::size_t>(axis)] = static_cast<extent>(i) % s[axis];
    i /= static_cast<std::size_t>(s[axis]);
  }
  return at;
}
[[nodiscard]] std::size_t position_of(const shape& s, const std::vector<extent>& at) {
  extent position = 0;
  for (int axis = 0; axis < s.rank; ++axis) position = position * s[axis] + at[static_cast<std::size_t>(axis)];
  return static_cast<std::size_t>(position);
}

/// One node of a graph that was drawn.
struct drawn_node {
  std::string op;  ///< "placeholder", "variable", "constant", or the name of an operation
  std::vector<int> in, after;
  std::vector<std::int64_t> attributes;
  shape dims;
  double number = 0;
  int task = -1;  ///< the CPU that a scope asks for
};

/// What a comparison is of numbers so close that rounding decides.
constexpr double undecided = 0.5;

/// Values of single nodes.
array evaluate(const drawn_node& n, const std::vector<const array*>& in) {
  array out{n.dims, std::vector<double>(size_of(n.dims))};
  const auto each = [&](const auto& f) {
    for (std::size_t i = 0; i < out.at.size(); ++i) {
      double x[3]{};
      for (std::size_t k = 0; k < in.size(); ++k) x[k] = in[k]->at[stretched(in[k]->dims, n.dims, i)];
      out.at[i] = f(x[0], x[1], x[2]);
    }
    return out;
  };
  if (n.op == "add") return each([](double a, double b, double) { return a + b; });
  if (n.op == "subtract") return each([](double a, double b, double) { return a - b; });
  if (n.op == "multiply") return each([](double a, double b, double) { return a * b; });
  if (n.op == "maximum") return each([](double a, double b, double) { return a > b ? a : b; });
  if (n.op == "minimum") return each([](double a, double b, double) { return a < b ? a : b; });
  if (n.op == "negate") return each([](double a, double, double) { return -a; });
  if (n.op == "abs") return each([](double a, double, double) { return std::fabs(a); });
  if (n.op == "square") return each([](double a, double, double) { return a * a; });
  if (n.op == "tanh") return each([](double a, double, double) { return std::tanh(a); });
  if (n.op == "sigmoid") return each([](double a, double, double) { return 1 / (1 + std::exp(-a)); });
  if (n.op == "relu") return each([](double a, double, double) { return a > 0 ? a : 0; });
  if (n.op == "greater")
    return each([](double a, double b, double) {
      const bool close = a != b && std::fabs(a - b) <= 1e-4 * std::max({1.0, std::fabs(a), std::fabs(b)});
      return close ? undecided : a > b ? 1.0 : 0.0;
    });
  if (n.op == "select") return each([](double c, double a, double b) { return c != 0 ? a : b; });
  if (n.op == "identity" || n.op == "reshape" || n.op == "expand_dims" || n.op == "stop_gradient")
    return {n.dims, in[0]->at};
  if (n.op == "assign_add" || n.op == "assign_sub") {
    for (std::size_t i = 0; i < out.at.size(); ++i)
      out.at[i] = n.op == "assign_add" ? in[0]->at[i] + in[1]->at[i] : in[0]->at[i] - in[1]->at[i];
    return out;
  }
  if (n.op == "assign") return {n.dims, in[1]->at};
  if (n.op == "broadcast_like") {
    for (std::size_t i = 0; i < out.at.size(); ++i) out.at[i] = in[0]->at[stretched(in[0]->dims, n.dims, i)];
    return out;
  }
  if (n.op == "sum" || n.op == "mean" || n.op == "reduce_max") {
    const shape& from = in[0]->dims;
    std::vector<int> filled(out.at.size());
    extent joined = 1;
    for (int axis = 0; axis < from.rank; ++axis)
      if (((n.attributes[0] >> axis) & 1) != 0) joined *= from[axis];
    for (std::size_t i = 0; i < in[0]->at.size(); ++i) {
      const std::vector<extent> at = place_of(from, i);
      std::vector<extent> to;
      for (int axis = 0; axis < from.rank; ++axis)
        if (((n.attributes[0] >> axis) & 1) == 0)
          to.push_back(at[static_cast<std::size_t>(axis)]);
        else if (((n.attributes[1] >> axis) & 1) != 0)
          to.push_back(0);
      const std::size_t p = position_of(n.dims, to);
      if (n.op == "reduce_max")
        out.at[p] = filled[p]++ == 0 ? in[0]->at[i] : std::max(out.at[p], in[0]->at[i]);
      else
        out.at[p] += in[0]->at[i] / (n.op == "mean" ? static_cast<double>(joined) : 1.0);
    }
    return out;
  }
  if (n.op == "matmul") {
    const bool ta = n.attributes[0] != 0, tb = n.attributes[1] != 0;
    const shape &a = in[0]->dims, &b = in[1]->dims;
    const extent depth = ta ? a[0] : a[1];
    for (extent i = 0; i < n.dims[0]; ++i)
      for (extent j = 0; j < n.dims[1]; ++j)
        for (extent k = 0; k < depth; ++k)
          out.at[static_cast<std::size_t>(i * n.dims[1] + j)] +=
              in[0]->at[static_cast<std::size_t>(ta ? k * a[1] + i : i * a[1] + k)] *
              in[1]->at[static_cast<std::size_t>(tb ? j * b[1] + k : k * b[1] + j)];
    return out;
  }
  if (n.op == "transpose") {
    for (std::size_t i = 0; i < out.at.size(); ++i) {
      const std::vector<extent> at = place_of(n.dims, i);
      std::vector<extent> from(at.size());
      for (std::size_t axis = 0; axis < at.size(); ++axis)
        from[static_cast<std::size_t>(n.attributes[axis])] = at[axis];
      out.at[i] = in[0]->at[position_of(in[0]->dims, from)];
    }
    return out;
  }
  if (n.op == "slice") {
    for (std::size_t i = 0; i < out.at.size(); ++i) {
      std::vector<extent> at = place_of(n.dims, i);
      for (std::size_t axis = 0; axis < at.size(); ++axis) at[axis] += n.attributes[2 * axis];
      out.at[i] = in[0]->at[position_of(in[0]->dims, at)];
    }
    return out;
  }
  if (n.op == "concat") {
    const auto axis = static_cast<std::size_t>(n.attributes[0]);
    for (std::size_t i = 0; i < out.at.size(); ++i) {
      std::vector<extent> at = place_of(n.dims, i);
      std::size_t k = 0;
      while (at[axis] >= in[k]->dims[static_cast<int>(axis)]) at[axis] -= in[k++]->dims[static_cast<int>(axis)];
      out.at[i] = in[k]->at[position_of(in[k]->dims, at)];
    }
    return out;
  }
  if (n.op == "softmax") {
    const auto columns = static_cast<std::size_t>(n.dims[n.dims.rank - 1]);
    for (std::size_t row = 0; row < out.at.size() / columns; ++row) {
      double most = -1e300, total = 0;
      for (std::size_t c = 0; c < columns; ++c) most = std::max(most, in[0]->at[row * columns + c]);
      for (std::size_t c = 0; c < columns; ++c)
        total += out.at[row * columns + c] = std::exp(in[0]->at[row * columns + c] - most);
      for (std::size_t c = 0; c < columns; ++c) out.at[row * columns + c] /= total;
    }
    return out;
  }
  FAIL("no reference for " << n.op);
  return out;
}

/// A graph, and what is fed to it.
class drawn_graph {
 public:
  /// @param compares whether elements are compared: of float32 two that are nearly equal may come out either way
  drawn_graph(std::uint64_t seed, int size, bool compares) : random_(seed), compares_(compares) {
    const int inputs = 1 + below(4), variables = below(4);
    open_ = below(2) == 0;
    for (int i = 0; i < inputs; ++i) add_leaf("placeholder");
    for (int i = 0; i < variables; ++i) add_leaf("variable");
    devices_ = below(4) == 0;
    while (static_cast<int>(nodes.size()) < size) add_operation();
    for (int v = inputs; v < inputs + variables; ++v)
      if (below(2) == 0) add_update(v);
    for (int i = below(6); i > 0; --i) add_operation();
  }

  std::vector<drawn_node> nodes;
  std::vector<array> given;    ///< values of placeholders and variables, by node; else empty
  std::map<int, int> updates;  ///< of a variable
  bool open_ = false;          ///< extents of placeholders are open

  /// Values of all nodes of one run.
  [[nodiscard]] std::vector<array> run(const std::vector<array>& leaves) const {
    std::vector<array> values(nodes.size());
    const auto depends = dependences();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const drawn_node& n = nodes[i];
      if (n.op == "placeholder" || n.op == "variable")
        values[i] = leaves[i];
      else if (n.op == "constant")
        values[i] = {{}, {n.number}};
      else {
        std::vector<const array*> in;
        for (const int k : n.in) {
          const auto update = updates.find(k);
          const bool after = update != updates.end() && depends[i][static_cast<std::size_t>(update->second)];
          in.push_back(&values[static_cast<std::size_t>(after ? update->second : k)]);
        }
        values[i] = evaluate(n, in);
      }
    }
    return values;
  }
  /// True if no comparison is left to rounding.
  [[nodiscard]] bool decided(const std::vector<array>& values) const {
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (is_bool(static_cast<int>(i)))
        for (const double v : values[i].at)
          if (v == undecided) return false;
    return true;
  }
  /// For each node, on which it depends: entries for all nodes. Whose shape alone is read is not waited for, and not
  /// computed.
  [[nodiscard]] std::vector<std::vector<bool>> dependences() const {
    std::vector<std::vector<bool>> on(nodes.size(), std::vector<bool>(nodes.size()));
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto add = [&](int k) {
        on[i][static_cast<std::size_t>(k)] = true;
        for (std::size_t j = 0; j < i; ++j)
          if (on[static_cast<std::size_t>(k)][j]) on[i][j] = true;
      };
      for (std::size_t k = 0; k < nodes[i].in.size(); ++k)
        if (k == 0 || nodes[i].op != "broadcast_like") add(nodes[i].in[k]);
      for (const int k : nodes[i].after) add(k);
    }
    return on;
  }

  /// The same nodes in a builder.
  [[nodiscard]] std::vector<tg::graph_node> build(tg::graph_builder& b, dtype type) const {
    std::vector<tg::graph_node> built;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const drawn_node& n = nodes[i];
      const std::string name = (n.op == "placeholder" ? "x" : "v") + std::to_string(i);
      const auto add = [&] {
        if (n.op == "placeholder") {
          shape dims = n.dims;
          if (open_ && dims.rank > 0) dims[0] = tg::dyn;
          return b.placeholder(name, type, dims);
        }
        if (n.op == "variable") return b.variable(name, type, n.dims, tensor_of(given[i], type));
        if (n.op == "constant") return i % 2 == 0 ? b.constant(type, n.number) : b.number(type, n.number);
        std::vector<tg::graph_node> in, after;
        for (const int k : n.in) in.push_back(built[static_cast<std::size_t>(k)]);
        for (const int k : n.after) after.push_back(built[static_cast<std::size_t>(k)]);
        std::vector<tg::attribute_value> attributes;
        for (const std::int64_t a : n.attributes) attributes.emplace_back(a);
        // A shape that is told by extents would be known; told by a tensor, it may be open.
        const tg::graph_node plain = b.add(n.op, in, attributes);
        return after.empty() ? plain : b.after(after, plain);
      };
      if (n.task >= 0) {
        const auto inside = b.on("/device:CPU:" + std::to_string(n.task));
        built.push_back(add());
      } else {
        built.push_back(add());
      }
    }
    return built;
  }

  [[nodiscard]] static tg::any_tensor tensor_of(const array& a, dtype type) {
    if (type == dtype::float64) {
      tg::tensor<double> t(a.dims);
      std::copy(a.at.begin(), a.at.end(), t.data());
      return tg::any_tensor(std::move(t));
    }
    tg::tensor<float> t(a.dims);
    std::transform(a.at.begin(), a.at.end(), t.data(), [](double d) { return static_cast<float>(d); });
    return tg::any_tensor(std::move(t));
  }

  [[nodiscard]] int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  [[nodiscard]] bool is_bool(int i) const { return nodes[static_cast<std::size_t>(i)].op == "greater"; }

 private:
  [[nodiscard]] double number() {
    // Multiples of 1/64: float32 has them exactly.
    return static_cast<double>(below(257) - 128) / 64;
  }
  void add_leaf(const char* op) {
    shape dims;
    for (int rank = below(4); rank > 0; --rank) dims.push_back(1 + below(4));
    // An open extent does not stretch, and 1 would be one that has to.
    if (open_ && dims.rank > 0 && dims[0] == 1) dims[0] = 2;
    array a{dims, std::vector<double>(size_of(dims))};
    // No two are equal where gradients are compared: of equals, each may be the largest.
    for (double& x : a.at) x = number() + (compares_ ? 1e-9 * static_cast<double>(random_() % 1'000'003) : 0);
    nodes.push_back({op, {}, {}, {}, dims});
    given.push_back(a);
    values_.push_back(a);
  }
  [[nodiscard]] int any_value() {
    // What is near the end, mostly: graphs get deep.
    const int size = static_cast<int>(nodes.size());
    for (;;) {
      const int i = below(3) == 0 ? below(size) : size - 1 - below(std::min(size, 8));
      if (!is_bool(i) && values_[static_cast<std::size_t>(i)].at.size() <= 64) return i;
    }
  }
  [[nodiscard]] const shape& dims(int i) const { return nodes[static_cast<std::size_t>(i)].dims; }
  [[nodiscard]] bool is_variable(int i) const { return nodes[static_cast<std::size_t>(i)].op == "variable"; }

  void add_operation() {
    drawn_node n;
    const int a = any_value(), b = any_value();
    const shape x = dims(a), y = dims(b);
    switch (below(16)) {
      case 0:
      case 1:
      case 2: {
        static const char* const ops[] = {"add", "subtract", "multiply", "maximum", "minimum", "greater"};
        if (!tg::broadcastable(x, y)) return;
        n = {ops[below(compares_ ? 6 : 5)], {a, b}, {}, {}, tg::broadcast(x, y)};
        break;
      }
      case 3:
      case 4:
      case 5: {
        static const char* const ops[] = {"negate", "abs", "square", "tanh", "sigmoid", "relu", "tanh", "sigmoid"};
        n = {ops[below(8)], {a}, {}, {}, x};
        break;
      }
      case 6: {
        int condition = -1;
        for (int i = 0; i < static_cast<int>(nodes.size()); ++i)
          if (is_bool(i)) condition = i;
        if (condition < 0 || !tg::broadcastable(x, y)) return;
        const shape both = tg::broadcast(x, y);
        if (!tg::broadcastable(both, dims(condition))) return;
        n = {"select", {condition, a, b}, {}, {}, tg::broadcast(both, dims(condition))};
        break;
      }
      case 7:
      case 8: {
        static const char* const ops[] = {"sum", "mean", "reduce_max"};
        n = {ops[below(3)], {a}, {}, {0, 0}, {}};
        for (int axis = 0; axis < x.rank; ++axis)
          if (below(2) == 0) {
            n.attributes[0] |= std::int64_t{1} << axis;
            if (below(2) == 0) n.attributes[1] |= std::int64_t{1} << axis, n.dims.push_back(1);
          } else {
            n.dims.push_back(x[axis]);
          }
        break;
      }
      case 9:
        if (x.rank != 2) return;
        for (int i = 0; i < static_cast<int>(nodes.size()); ++i) {
          if (is_bool(i) || dims(i).rank != 2) continue;
          const bool ta = below(2) == 0, tb = below(2) == 0;
          const extent depth = ta ? x[0] : x[1];
          if ((tb ? dims(i)[1] : dims(i)[0]) != depth || (!n.op.empty() && below(3) != 0)) continue;
          n = {"matmul", {a, i}, {}, {ta, tb}, {ta ? x[1] : x[0], tb ? dims(i)[0] : dims(i)[1]}};
        }
        if (n.op.empty()) return;
        break;
      case 10: {
        if (is_variable(a)) return;
        std::vector<std::int64_t> order(static_cast<std::size_t>(x.rank));
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
        for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_() % i]);
        n = {"transpose", {a}, {}, order, {}};
        for (const std::int64_t axis : order) n.dims.push_back(x[static_cast<int>(axis)]);
        break;
      }
      case 11:
        if (is_variable(a)) return;
        n = {below(2) == 0 ? "identity" : "stop_gradient", {a}, {}, {}, x};
        if (below(2) == 0 && x.rank < 5) {
          const int axis = below(x.rank + 1);
          n = {"expand_dims", {a}, {}, {std::int64_t{1} << axis}, {}};
          for (int i = 0; i <= x.rank; ++i) n.dims.push_back(i < axis ? x[i] : i == axis ? 1 : x[i - 1]);
        }
        break;
      case 12: {
        if (x.rank == 0) return;
        n = {"slice", {a}, {}, {}, {}};
        for (int axis = 0; axis < x.rank; ++axis) {
          const extent first = below(static_cast<int>(x[axis])),
                       last = first + 1 + below(static_cast<int>(x[axis] - first));
          const bool all = open_ && axis == 0;  // an open extent is not cut
          n.attributes.push_back(all ? 0 : first);
          n.attributes.push_back(all ? INT64_MAX : last);
          n.dims.push_back(all ? x[axis] : last - first);
        }
        break;
      }
      case 13: {
        if (x.rank == 0 || x.rank != y.rank) return;
        const int axis = below(x.rank);
        n = {"concat", {a, b}, {}, {axis}, x};
        for (int i = 0; i < x.rank; ++i)
          if (i == axis)
            n.dims[i] = x[i] + y[i];
          else if (x[i] != y[i])
            return;
        break;
      }
      case 14:
        if (x.rank == 0) return;
        n = {"softmax", {a}, {}, {}, x};
        break;
      default:
        if (below(2) == 0) {
          nodes.push_back({"constant", {}, {}, {}, {}, number()});
          given.emplace_back();
          values_.push_back({{}, {nodes.back().number}});
          return;
        }
        // Whose shape alone is read is not computed, but waited for where it is.
        if (!updates.empty() || !tg::broadcastable(x, y) || !(tg::broadcast(x, y) == y)) return;
        n = {"broadcast_like", {a, b}, {}, {}, y};
    }
    push(std::move(n));
  }
  void push(drawn_node n) {
    if (size_of(n.dims) > 256) return;
    if (devices_ && below(3) == 0) n.task = below(2);
    if (below(12) == 0 && !updates.empty()) n.after.push_back(updates.begin()->second);
    if (below(16) == 0) n.after.push_back(any_value());
    std::erase_if(n.after, [&](int i) { return nodes[static_cast<std::size_t>(i)].in.empty(); });
    nodes.push_back(std::move(n));
    given.emplace_back();
    const std::vector<array> all = run(given);
    double most = 0;
    // What is nearly equal may come out either way.
    if (const drawn_node& last = nodes.back(); last.op == "greater")
      for (std::size_t i = 0; i < all.back().at.size(); ++i) {
        const auto side = [&](std::size_t k) {
          const array& a = all[static_cast<std::size_t>(last.in[k])];
          return a.at[stretched(a.dims, last.dims, i)];
        };
        if (std::fabs(side(0) - side(1)) < 1e-6) most = 1e9;
      }
    for (const double v : all.back().at) most = std::max(most, std::isfinite(v) ? std::fabs(v) : 1e9);
    if (most > 30) {
      nodes.pop_back(), given.pop_back();
      return;
    }
    values_.push_back(all.back());
  }
  void add_update(int v) {
    for (int tries = 0; tries < 20; ++tries) {
      const int value = any_value();
      if (!(dims(value) == dims(v)) || value == v) continue;
      static const char* const ops[] = {"assign_add", "assign_sub", "assign"};
      const std::size_t before = nodes.size();
      const bool devices = devices_;
      devices_ = false;
      push({ops[below(3)], {v, value}, {}, {}, dims(v)});
      devices_ = devices;
      if (nodes.size() > before) updates[v] = static_cast<int>(before);
      return;
    }
  }

  std::mt19937_64 random_;
  std::vector<array> values_;
  bool compares_;
  bool devices_ = false;
};

/// A node as text: what is wrong with a graph is looked for in the list of all.
[[nodiscard]] std::string text_of(const drawn_graph& g) {
  std::string text;
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    const drawn_node& n = g.nodes[i];
    text += std::to_string(i) + " " + n.op + " " + to_string(n.dims) + ":";
    for (const int k : n.in) text += " " + std::to_string(k);
    for (const int k : n.after) text += " after " + std::to_string(k);
    for (const std::int64_t a : n.attributes) text += " (" + std::to_string(a) + ")";
    text += n.task >= 0 ? " on " + std::to_string(n.task) + "\n" : "\n";
  }
  return text;
}

/// Where the values of a run differ from the reference; empty if nowhere.
std::string difference(const tg::any_tensor& found, const array& expected, dtype type, double slack = 1) {
  if (!(found.dims() == expected.dims)) return "shape " + to_string(found.dims());
  double scale = 1;
  for (const double v : expected.at) scale = std::max(scale, std::fabs(v));
  const double allowed = slack * scale * (type == dtype::float64 ? 1e-9 : 2e-3);
  for (std::size_t i = 0; i < expected.at.size(); ++i) {
    const double f = type == dtype::float64 ? found.as<double>()[static_cast<extent>(i)]
                                            : static_cast<double>(found.as<float>()[static_cast<extent>(i)]);
    if (!(std::fabs(f - expected.at[i]) <= allowed))
      return "element " + std::to_string(i) + " is " + std::to_string(f) + ", not " + std::to_string(expected.at[i]);
  }
  return {};
}

/// Whether blocks of a plan that live at one time have memory of their own, and live while they are read.
std::string check_memory(const tg::any_program& program) {
  using namespace tg;
  const plan::heap_site site(program.graph(), true);
  const plan::planned_heap_graph planned(program.graph());
  const plan::heap_plan made(planned, planned.view().roots, site.view());
  const plan::plan_view p = made.view();
  for (std::size_t s = 0; s < p.steps.size(); ++s) {
    const plan::plan_step& step = p.steps[s];
    for (int k = 0; k < step.operands; ++k) {
      const plan::plan_node& n = p.nodes[p.operands[step.first_operand + k]];
      if (!n.is_in(plan::storage_kind::arena)) continue;
      const plan::plan_block& b = p.blocks[n.slot];
      if (b.first > static_cast<int>(s) || b.last < static_cast<int>(s))
        return "step " + std::to_string(s) + " reads a block that does not live";
    }
  }
  std::vector<std::int64_t> bytes, offsets(p.blocks.size());
  std::vector<std::int32_t> live(p.blocks.size());
  for (const plan::plan_block& b : p.blocks)
    bytes.push_back(p.nodes[b.node].spec.dims.with_dyn(3).elements() *
                    static_cast<std::int64_t>(tagma::size_of(p.nodes[b.node].spec.type)));
  for (std::size_t d = 0; d < p.devices.size(); ++d) {
    (void)plan::plan_memory(p.blocks, bytes, offsets, live, static_cast<std::int16_t>(d));
    for (std::size_t i = 0; i < p.blocks.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const plan::plan_block &a = p.blocks[i], &b = p.blocks[j];
        if (a.device != static_cast<std::int16_t>(d) || b.device != a.device || a.first > b.last || b.first > a.last)
          continue;
        if (offsets[i] < offsets[j] + bytes[j] && offsets[j] < offsets[i] + bytes[i])
          return "blocks " + std::to_string(i) + " and " + std::to_string(j) + " overlap";
      }
  }
  return {};
}

struct tally {
  int graphs = 0, refused = 0, gradients = 0, elements = 0;
};

/// The placeholders of a program, with their values.
class fed_values {
 public:
  fed_values(const drawn_graph& g, const std::vector<array>& leaves, dtype type, const tg::any_program& program) {
    for (std::size_t i = 0; i < g.nodes.size(); ++i) {
      if (g.nodes[i].op != "placeholder") continue;
      names_.push_back("x" + std::to_string(i));
      const auto nodes = program.graph().nodes;
      const bool there =
          std::any_of(nodes.begin(), nodes.end(), [&](const auto& n) { return n.name == names_.back(); });
      if (there)
        held_.push_back(drawn_graph::tensor_of(leaves[i], type));
      else
        names_.pop_back();
    }
  }
  [[nodiscard]] std::vector<tg::named_feed> list() const {
    std::vector<tg::named_feed> feeds;
    for (std::size_t i = 0; i < held_.size(); ++i) feeds.push_back(tg::feed_to(names_[i], held_[i]));
    return feeds;
  }

 private:
  std::vector<std::string> names_;
  std::vector<tg::any_tensor> held_;
};

/// A task for each node of a program, updates with their variables.
std::vector<std::int16_t> random_tasks(drawn_graph& g, const tg::ir::graph_view& all, int tasks) {
  std::vector<std::int16_t> task;
  for (tg::ir::node_id i = 0; i < all.size(); ++i) {
    // Neighbours are together more often than not.
    const bool anew = task.empty() || g.below(3) == 0;
    task.push_back(anew ? static_cast<std::int16_t>(g.below(tasks)) : task.back());
    if (!all.info(i).is(tg::ir::op_kind::update)) continue;
    tg::ir::node_id variable = i;
    while (all.info(variable).shares_bytes()) variable = all.inputs(variable)[0];
    task.back() = task[static_cast<std::size_t>(variable)];
  }
  return task;
}

/// The gradient of the sum of one node by a placeholder, beside central differences.
void check_gradient(drawn_graph& g, tg::graph_builder& b, const std::vector<tg::graph_node>& built, tally& all) {
  const auto of = static_cast<std::size_t>(g.below(static_cast<int>(g.nodes.size())));
  std::size_t x = 0;
  while (g.nodes[x].op != "placeholder" || g.below(2) == 0) x = (x + 1) % g.nodes.size();
  const std::vector<bool> on = g.dependences()[of];
  if (!on[x] || g.is_bool(static_cast<int>(of)) || !g.decided(g.run(g.given))) return;
  // What stops gradients, and updates, which have none.
  for (std::size_t i = 0; i < g.nodes.size(); ++i)
    if ((on[i] || i == of) && (g.nodes[i].op == "stop_gradient" || g.nodes[i].op.find("assign") == 0)) return;
  const std::int64_t axes = (std::int64_t{1} << g.nodes[of].dims.rank) - 1;
  tg::any_program program = [&] {
    const tg::graph_node total = b.add("sum", {built[of]}, {axes, 0});
    try {
      return b.build({{"slope", b.gradient(total, built[x])}}, true);
    } catch (const tg::error& e) {
      INFO(e.what());
      REQUIRE(std::string(e.what()).find("TAGMA-E064") != std::string::npos);
      return b.build({{"total", total}}, true);  // it depends on the shape alone
    }
  }();
  if (program.outputs()[0] == "total") return;
  tg::session<tg::any_program> session(program, {.cpu_devices = 2}, tg::test::other_devices());
  const fed_values fed(g, g.given, dtype::float64, program);
  const tg::any_tensor found = session.run(std::vector<tg::output_name>{"slope"}, fed.list())[0];
  REQUIRE(found.dims() == g.nodes[x].dims);
  std::vector<array> leaves = g.given;
  const auto total = [&] {
    const std::vector<array> values = g.run(leaves);
    double sum = 0;
    for (const double v : values[of].at) sum += v;
    return sum;
  };
  constexpr double h = 1e-5;
  const double middle = total();
  ++all.gradients;
  for (std::size_t i = 0; i < leaves[x].at.size(); ++i) {
    const double here = leaves[x].at[i];
    leaves[x].at[i] = here + h;
    const double above = (total() - middle) / h;
    leaves[x].at[i] = here - h;
    const double below = (middle - total()) / h;
    leaves[x].at[i] = here;
    const double expected = (above + below) / 2, scale = std::fmax(1.0, std::fabs(expected));
    if (!(std::fabs(above - below) <= 2e-3 * scale)) continue;  // a kink
    INFO("gradient of node " << of << " by element " << i << " of node " << x);
    const double slope = found.as<double>()[static_cast<extent>(i)];
    INFO("is " << slope << ", expected " << expected);
    CHECK(std::fabs(slope - expected) <= 1e-3 * scale);
  }
}

/// True if reads and updates wait for one another, whatever the loops are.
bool waits_for_itself(const tg::any_program& program, const std::vector<tg::output_name>& fetches) {
  const tg::ir::graph_view g = program.graph();
  std::vector<tg::ir::node_id> wanted;
  for (const tg::output_name& o : fetches)
    wanted.push_back(g.roots[static_cast<std::size_t>(program.find_output(o.name()))]);
  return !tg::plan::has_order(g, wanted);
}

void check(std::uint64_t seed, tally& all) {
  const dtype type = seed % 3 == 0 ? dtype::float32 : dtype::float64;
  drawn_graph g(seed, 8 + static_cast<int>(seed % 7 == 0 ? 180 : seed % 40), type == dtype::float64);
  INFO("seed " << seed << ", " << g.nodes.size() << " nodes of " << tg::to_string(type));
  tg::graph_builder b;
  INFO(text_of(g));
  const std::vector<tg::graph_node> built = g.build(b, type);
  for (std::size_t i = 0; i < built.size(); ++i) {
    INFO("node " << i << ", " << g.nodes[i].op);
    REQUIRE(tg::compatible(built[i].dims(), g.nodes[i].dims));
  }
  std::vector<tg::named_output> outputs;
  std::vector<std::size_t> which;
  std::vector<std::string> names;
  names.reserve(built.size());
  for (std::size_t i = 0; i < built.size(); ++i) {
    const std::string& op = g.nodes[i].op;
    if (op == "placeholder" || op == "variable" || op == "constant" || g.is_bool(static_cast<int>(i))) continue;
    if (g.below(3) != 0 && op.find("assign") != 0 && i + 3 < built.size()) continue;
    names.push_back("n" + std::to_string(i));
    outputs.push_back({names.back(), built[i]});
    which.push_back(i);
  }
  if (outputs.empty()) return;
  const tg::any_program program = b.build(outputs, true);
  CHECK(check_memory(program) == "");
  ++all.graphs;

  tg::session<tg::any_program> one(program, {.intra_op_threads = 1, .inter_op_threads = 1, .cpu_devices = 2},
                                   tg::test::other_devices());
  tg::session<tg::any_program> two(program, {.intra_op_threads = 2, .inter_op_threads = 2, .cpu_devices = 2},
                                   tg::test::other_devices());
  const int tasks = 2 + g.below(3);
  tg::test::cut_session parts(program, random_tasks(g, program.graph(), tasks), tasks,
                              g.below(2) == 0 ? tg::isolation::runs : tg::isolation::variables);
  std::vector<array> leaves = g.given;
  for (int run = 0; run < 3; ++run) {
    const std::vector<array> expected = g.run(leaves);
    // What variables become may grow from run to run.
    double most = 0;
    for (const array& a : expected)
      for (const double v : a.at) most = std::max(most, std::isfinite(v) ? std::fabs(v) : 1e9);
    if (most > 1e3 || !g.decided(expected)) break;
    // All outputs, or some of them.
    std::vector<std::size_t> fetched;
    for (std::size_t o = 0; o < outputs.size(); ++o)
      if (run == 0 || g.below(2) == 0) fetched.push_back(o);
    if (fetched.empty()) continue;
    std::vector<tg::output_name> fetches;
    for (const std::size_t o : fetched) fetches.emplace_back(names[o]);
    const fed_values fed(g, leaves, type, program);
    std::vector<tg::any_tensor> found;
    try {
      found = one.run(fetches, fed.list());
    } catch (const tg::error& e) {
      INFO(e.what());
      REQUIRE(std::string(e.what()).find("TAGMA-E067") != std::string::npos);
      CHECK(waits_for_itself(program, fetches));
      ++all.refused;
      return;
    }
    const std::vector<tg::any_tensor> again = two.run(fetches, fed.list());
    const std::vector<tg::any_tensor> joined = parts.run(fetches, fed.list());
    for (std::size_t f = 0; f < fetched.size(); ++f) {
      const std::size_t i = which[fetched[f]];
      INFO("run " << run << ", node " << i << ", " << g.nodes[i].op);
      CHECK(difference(found[f], expected[i], type) == "");
      all.elements += static_cast<int>(expected[i].at.size());
      REQUIRE(again[f].dims() == found[f].dims());
      REQUIRE(joined[f].dims() == found[f].dims());
      const std::size_t bytes = size_of(found[f].dims()) * tg::size_of(type);
      CHECK(std::memcmp(again[f].view().data, found[f].view().data, bytes) == 0);
      if (tg::test::other_devices() == nullptr)  // what parts compute on CPUs, others round otherwise
        CHECK(std::memcmp(joined[f].view().data, found[f].view().data, bytes) == 0);
      else
        CHECK(difference(joined[f], expected[i], type) == "");
    }
    // What was fetched may have changed variables.
    const auto depends = g.dependences();
    for (const auto& [v, u] : g.updates) {
      bool done = false;
      for (const std::size_t o : fetched)
        done = done || which[o] == static_cast<std::size_t>(u) || depends[which[o]][static_cast<std::size_t>(u)];
      if (done) leaves[static_cast<std::size_t>(v)] = expected[static_cast<std::size_t>(u)];
    }
  }
  if (type == dtype::float64) check_gradient(g, b, built, all);
}

TEST_CASE("random graphs that are built when the process runs") {
  const char* const count = std::getenv("TAGMA_RANDOM_GRAPHS");
  const char* const first = std::getenv("TAGMA_RANDOM_SEED");
  const int graphs = count == nullptr ? 500 : std::atoi(count);
  const auto begin = first == nullptr ? std::uint64_t{1} : static_cast<std::uint64_t>(std::atoll(first));
  tally all;
  for (int i = 0; i < graphs; ++i) check(begin + static_cast<std::uint64_t>(i), all);
  WARN(all.graphs << " graphs, " << all.refused << " refused, " << all.gradients << " gradients, " << all.elements
                  << " elements");
  CHECK(10 * all.refused <= graphs);
}

}  // namespace
