// SPDX-License-Identifier: BSL-1.0
// Programs that are data on a GPU, or where there is none with its kernels on the host: beside the same on the CPU.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "support/any_tensors.hpp"
#include "support/cuda.hpp"
#include "support/other_devices.hpp"
#include "tagma/gpu_programs.hpp"
#include "tagma/graph_builder.hpp"
#include "tagma/late.hpp"
#include "tagma/program_passes.hpp"
#include "tagma/programs.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using tg::dtype;
using tg::extent;
using tg::graph_node;
using tg::shape;

/// Draws loops of operations whose results are the same on all devices, to the last bit.
class drawing {
 public:
  explicit drawing(std::uint64_t seed) : seed_(seed) {}

  int below(int n) { return static_cast<int>(tg::random_block({seed_, 3, 5}, drawn_++)[0] % static_cast<unsigned>(n)); }

  /// An input, stretched in one way or another where the loop reads it.
  void add_input(dtype type) {
    static const shape shapes[] = {{}, {7}, {5, 1}, {5, 7}, {3, 5, 7}, {3, 1, 7}, {3, 1, 1}};
    const shape dims = shapes[below(7)];
    names_.push_back("in" + std::to_string(names_.size()));
    nodes_.push_back(b_.placeholder(names_.back(), type, dims));
    std::vector<float> numbers(static_cast<std::size_t>(dims.elements()));
    for (float& x : numbers) x = static_cast<float>(below(9) - (type == dtype::uint8 ? 0 : 4)) * 0.5f;
    values_.push_back(converted(numbers, type, dims));
  }
  void add_operation() {
    static const char* const of_two[] = {"add", "subtract", "multiply", "maximum", "minimum"};
    static const char* const of_one[] = {"negate", "abs", "square", "sign"};
    static const char* const tests[] = {"less", "equal", "greater_equal", "not_equal"};
    const graph_node x = any();
    const int kind = below(10);
    if (x.type() == dtype::boolean) {
      if (kind < 3) {
        nodes_.push_back(b_.add("logical_and", {x, any(dtype::boolean)}));
      } else if (kind < 5) {
        nodes_.push_back(b_.add("logical_not", {x}));
      } else {
        const graph_node y = any();
        nodes_.push_back(b_.add("select", {x, y, any(y.type())}));
      }
    } else if (kind < 5) {
      nodes_.push_back(b_.add(of_two[below(5)], {x, any(x.type())}));
    } else if (kind < 7) {
      nodes_.push_back(
          b_.add(of_one[below(x.type() == dtype::uint8 ? 1 : 4) + (x.type() == dtype::uint8 ? 2 : 0)], {x}));
    } else if (kind < 8) {
      nodes_.push_back(b_.add(tests[below(4)], {x, any(x.type())}));
    } else {
      nodes_.push_back(b_.add("cast", {x}, {types_[static_cast<std::size_t>(below(static_cast<int>(types_.size())))]}));
    }
  }
  void use_types(std::vector<dtype> types) { types_ = std::move(types); }
  /// What may be fed is an output as well.
  tg::any_program build() {
    std::vector<tg::named_output> outputs{{"last", nodes_.back()}};
    for (std::size_t i = 0; i < names_.size(); ++i) outputs.push_back({names_[i], nodes_[i]});
    return b_.build(outputs);
  }
  [[nodiscard]] std::vector<tg::named_feed> feeds() const {
    std::vector<tg::named_feed> all;
    for (std::size_t i = 0; i < names_.size(); ++i) all.push_back({names_[i], values_[i].view()});
    return all;
  }

 private:
  static tg::any_tensor converted(const std::vector<float>& numbers, dtype type, const shape& dims) {
    tg::graph_builder b;
    const auto x = b.placeholder("x", dtype::float32, dims);
    tg::session<tg::any_program> run(b.build({{"y", b.add("cast", {x}, {type})}}));
    return run.run(std::vector<tg::output_name>{"y"}, {{"x", {numbers.data(), dtype::float32, dims}}})[0];
  }
  /// A node, one of the last rather than any.
  graph_node any() {
    const auto count = static_cast<int>(nodes_.size());
    return nodes_[static_cast<std::size_t>(below(2) == 0 ? count - 1 - below(3) : below(count))];
  }
  /// One of this type, the last if none is met soon.
  graph_node any(dtype type) {
    for (int i = 0; i < 20; ++i)
      if (const graph_node found = any(); found.type() == type) return found;
    for (const graph_node& n : nodes_)
      if (n.type() == type) return n;
    return nodes_.back();
  }

  std::uint64_t seed_, drawn_ = 0;
  tg::graph_builder b_;
  std::vector<graph_node> nodes_;
  std::vector<std::string> names_;
  std::vector<tg::any_tensor> values_;
  std::vector<dtype> types_;
};

bool are_same(const tg::any_tensor& a, const tg::any_tensor& b) {
  const auto bytes = static_cast<std::size_t>(a.dims().elements()) * size_of(a.type());
  return a.type() == b.type() && a.dims() == b.dims() &&
         (bytes == 0 || std::memcmp(a.view().data, b.view().data, bytes) == 0);
}
double distance(const tg::any_tensor& a, const tg::any_tensor& b) {
  REQUIRE(a.dims() == b.dims());
  double most = 0;
  for (extent i = 0; i < a.dims().elements(); ++i) {
    const auto at = [i](const tg::any_tensor& t) { return static_cast<double>(t.as<float>().data()[i]); };
    const double scale = std::fmax(1.0, std::fabs(at(a)));
    most = std::fmax(most, std::fabs(at(a) - at(b)) / scale);
  }
  return most;
}
/// While it lives, loops are prepared to be done operation by operation.
struct operation_by_operation {
  operation_by_operation() { tg::device::cuda::emulation::lacks_loops() = true; }
  ~operation_by_operation() { tg::device::cuda::emulation::lacks_loops() = false; }
};
const std::vector<tg::output_name> last{"last"};

TEST_CASE("loops that are data give the bytes of the CPU, as one kernel and operation by operation") {
  const std::vector<std::vector<dtype>> all{{dtype::float32, dtype::boolean},
                                            {dtype::float64, dtype::boolean},
                                            {dtype::float32, dtype::float16, dtype::bfloat16, dtype::boolean},
                                            {dtype::int32, dtype::boolean},
                                            {dtype::int64, dtype::uint8},
                                            {dtype::float32, dtype::int32, dtype::uint8, dtype::boolean},
                                            {dtype::float64, dtype::float16, dtype::int64},
                                            {dtype::int16, dtype::int8, dtype::float32},
                                            {dtype::float16, dtype::int8, dtype::boolean},
                                            {dtype::boolean}};
  int loops = 0;
  for (std::size_t k = 0; k < all.size(); ++k)
    for (int i = 0; i < 24; ++i) {
      drawing d(100 * k + static_cast<std::size_t>(i));
      d.use_types(all[k]);
      for (const dtype t : all[k]) d.add_input(t), d.add_input(t), d.add_input(t);
      for (int o = 1 + d.below(i % 5 == 0 ? 30 : 8); o > 0; --o) d.add_operation();
      const tg::any_program program = d.build();
      INFO("types " << k << ", graph " << i);
      tg::session<tg::any_program> host(program), gpu(program, {}, tg::test::other_devices());
      const tg::any_tensor expected = host.run(last, d.feeds())[0];
      CHECK(are_same(gpu.run(last, d.feeds())[0], expected));
      const operation_by_operation apart;
      tg::session<tg::any_program> slow(program, {}, tg::test::other_devices());
      CHECK(are_same(slow.run(last, d.feeds())[0], expected));
      ++loops;
    }
  CHECK(loops == 240);
}

TEST_CASE("empty tensors, single elements and long rows") {
  for (const shape& dims : {shape{0, 7}, shape{1}, shape{1, 1}, shape{3, 4097}, shape{4099, 3}, shape{70001}}) {
    tg::graph_builder b;
    const auto x = b.placeholder("x", dtype::float32, dims);
    const auto row = b.placeholder("row", dtype::float32, {dims[dims.rank - 1]});
    const auto y = b.add("relu", {b.add("add", {b.add("multiply", {x, row}), row})});
    const tg::any_program program = b.build({{"last", b.add("subtract", {y, b.add("square", {y})})}});
    std::vector<float> in(static_cast<std::size_t>(dims.elements()) + 1), of(static_cast<std::size_t>(row.dims()[0]));
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 17) - 8;
    for (std::size_t i = 0; i < of.size(); ++i) of[i] = static_cast<float>(i % 5) - 2;
    const std::vector<tg::named_feed> fed{{"x", {in.data(), dtype::float32, dims}},
                                          {"row", {of.data(), dtype::float32, row.dims()}}};
    tg::session<tg::any_program> host(program), gpu(program, {}, tg::test::other_devices());
    INFO(tg::to_string(tg::tensor_spec{dtype::float32, dims}));
    CHECK(are_same(gpu.run(last, fed)[0], host.run(last, fed)[0]));
  }
}

TEST_CASE("what is computed as wider numbers has room in working memory") {
  const shape dims{61, 83};
  tg::graph_builder b;
  const auto x = b.add("cast", {b.placeholder("x", dtype::float32, dims)}, {dtype::float16});
  const auto y = b.add("cast", {b.placeholder("y", dtype::float32, dims)}, {dtype::bfloat16});
  // Cut off, so that the loops behind read halves and give no larger elements.
  const auto apart = [&](const graph_node& of) { return b.add("concat", {of, of}, {0}); };
  const auto p = apart(x), q = apart(y);
  const auto bytes = b.add("subtract", {b.add("cast", {p}, {dtype::int8}), b.add("cast", {q}, {dtype::int8})});
  const auto test = b.add("logical_or", {b.add("less", {p, b.add("cast", {q}, {dtype::float16})}),
                                         b.add("equal", {p, b.add("square", {p})})});
  const tg::any_program program = b.build({{"bytes", bytes}, {"test", test}});
  std::vector<float> in(static_cast<std::size_t>(dims.elements())), of(in.size());
  for (std::size_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<float>(i % 91) - 45, of[i] = static_cast<float>(i % 37);
  const std::vector<tg::named_feed> fed{{"x", {in.data(), dtype::float32, dims}},
                                        {"y", {of.data(), dtype::float32, dims}}};
  const std::vector<tg::output_name> both{"bytes", "test"};
  const auto expected = tg::session<tg::any_program>(program).run(both, fed);
  const operation_by_operation slowly;
  const auto found = tg::session<tg::any_program>(program, {}, tg::test::other_devices()).run(both, fed);
  CHECK(are_same(found[0], expected[0]));
  CHECK(are_same(found[1], expected[1]));
}

TEST_CASE("pictures of bytes are numbers of a loop") {
  for (const dtype bytes : {dtype::uint8, dtype::int8, dtype::int16})
    for (const dtype type : {dtype::float32, dtype::float64, dtype::float16}) {
      tg::graph_builder b;
      const shape dims{9, 31, 3};
      const auto x = b.placeholder("x", bytes, dims);
      const auto mean = b.placeholder("mean", bytes, {3});
      const auto y = b.add("multiply", {b.add("subtract", {b.add("cast", {x}, {type}), b.add("cast", {mean}, {type})}),
                                        b.number(type, 0.25)});
      const tg::any_program program =
          b.build({{"last", b.add("select", {b.add("cast", {x}, {dtype::boolean}), y, b.add("negate", {y})})},
                   {"shorter", b.add("add", {x, mean})}});
      std::vector<std::int16_t> in(static_cast<std::size_t>(dims.elements()) + 8);
      for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::int16_t>(257 * (i % 113) + i % 5);
      const std::vector<tg::named_feed> fed{{"x", {in.data(), bytes, dims}}, {"mean", {in.data() + 1, bytes, {3}}}};
      tg::session<tg::any_program> host(program), gpu(program, {}, tg::test::other_devices());
      INFO(tg::to_string(bytes) << " as " << tg::to_string(type));
      CHECK(are_same(gpu.run(last, fed)[0], host.run(last, fed)[0]));
      CHECK(are_same(gpu.run("shorter", fed[0], fed[1]), host.run("shorter", fed[0], fed[1])));
    }
}

TEST_CASE("a product goes on with a bias, an activation, or another loop") {
  for (const dtype type : {dtype::float32, dtype::float64, dtype::float16, dtype::bfloat16})
    for (int kind = 0; kind < 6; ++kind) {
      tg::graph_builder b;
      const auto in = [&](const char* name, const shape& dims) {
        return b.add("cast", {b.placeholder(name, dtype::float32, dims)}, {type});
      };
      const auto x = in("x", {6, 9}), w = in("w", {9, 8}), bias = in("bias", {8});
      graph_node y = b.add("matmul", {x, w}, {false, false});
      if (kind == 1 || kind == 3) y = b.add("add", {y, bias});
      if (kind == 2) y = b.add("add", {bias, y});
      if (kind == 3 || kind == 4) y = b.add("relu", {y});
      if (kind == 5) y = b.add("tanh", {b.add("multiply", {y, bias})});
      const tg::any_program program =
          b.build({{"last", b.add("cast", {y}, {dtype::float32})}, {"bias of all", b.add("square", {bias})}});
      const auto some = [](const shape& dims, float seed) {
        std::vector<float> all(static_cast<std::size_t>(dims.elements()));
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::sin(seed + 1.3f * static_cast<float>(i));
        return all;
      };
      const auto a = some({6, 9}, 1), c = some({9, 8}, 2), d = some({8}, 3);
      const std::vector<tg::named_feed> fed{{"x", {a.data(), dtype::float32, {6, 9}}},
                                            {"w", {c.data(), dtype::float32, {9, 8}}},
                                            {"bias", {d.data(), dtype::float32, {8}}}};
      tg::session<tg::any_program> host(program), gpu(program, {}, tg::test::other_devices());
      INFO(tg::to_string(type) << ", " << kind);
      const bool half = type == dtype::float16 || type == dtype::bfloat16;
      CHECK(distance(host.run(last, fed)[0], gpu.run(last, fed)[0]) < (half ? 0.03 : 2e-5));
    }
}

tg::any_program trained() {
  tg::graph_builder b;
  const auto x = b.placeholder("x", dtype::float32, {tg::dyn, 8});
  const auto labels = b.placeholder("labels", dtype::int32, {tg::dyn});
  const auto w = b.variable("w", dtype::float32, {8, 16}, tg::glorot_uniform);
  const auto bias = b.variable("bias", dtype::float32, {16}, tg::zeros);
  const auto v = b.variable("v", dtype::float32, {16, 4}, tg::glorot_uniform);
  const auto hidden = b.add("relu", {b.add("add", {b.add("matmul", {x, w}, {false, false}), bias})});
  const auto logits = b.add("matmul", {hidden, v}, {false, false});
  const auto loss = b.add("mean", {b.add("sparse_softmax_cross_entropy", {logits, labels})}, {1, false});
  return b.build({{"loss", loss}, {"train", b.minimize(loss, tg::adam{.learning_rate = 0.05})}, {"logits", logits}});
}

TEST_CASE("a program that is data trains on a GPU") {
  const tg::any_program program = trained();
  tg::session<tg::any_program> host(program, {.seed = 3}), gpu(program, {.seed = 3}, tg::test::other_devices());
  float first = 0, end = 0;
  for (int i = 0; i < 12; ++i) {
    const extent n = 5 + i % 3;
    const auto in = tg::test::some({n, 8}, i % 3);
    tg::tensor<int> of(shape{n});
    for (extent k = 0; k < n; ++k) of[k] = static_cast<int>(k) % 4;
    const auto a = host.run({"loss", "train"}, tg::feed_to("x", in), tg::feed_to("labels", of));
    const auto c = gpu.run({"loss", "train"}, tg::feed_to("x", in), tg::feed_to("labels", of));
    CHECK(distance(a[0], c[0]) < 1e-4);
    if (i == 0) first = c[0].value<float>();
    end = c[0].value<float>();
  }
  CHECK(end < first);
  const std::string plan = tg::explain(program, {"loss", "train"}, 8, tg::test::other_devices());
  CHECK(plan.find("/device:GPU:0") != plan.npos);
}

TEST_CASE("a machine without a GPU runs the program on its CPU") {
  if (tg::test::on_gpu()) return;
  const tg::any_program program = trained();
  tg::session<tg::any_program> host(program, {.seed = 3}), session(program, {.seed = 3}, tg::gpus());
  const auto in = tg::test::some({4, 8}, 1);
  CHECK(are_same(host.run("logits", tg::feed_to("x", in)), session.run("logits", tg::feed_to("x", in))));
}

TEST_CASE("a typed program that is compiled late is on GPUs where there are any") {
  constexpr auto x = tg::placeholder<"late/x", float, tg::dyn, 8>();
  const auto w = tg::variable<"late/w", float, 8, 4>(tg::glorot_uniform);
  const auto y = tg::relu(tg::matmul(x, w) + 0.25f) * 2.0f;
  const auto outputs = [=] { return tg::outputs(y); };
  tg::session late(tg::compile(outputs, tg::late), {.seed = 3});
  tg::session compiled(tg::compile(outputs), {.seed = 3});
  const auto in = tg::test::some({4, 8}, 1);
  const tg::tensor<float> a = late.run(y, x = in), b = compiled.run(y, x = in);
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(std::fabs(a.data()[i] - b.data()[i]) < 1e-5f);
}

}  // namespace
