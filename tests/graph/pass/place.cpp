// SPDX-License-Identifier: BSL-1.0
#include "tagma/graph/pass/place.hpp"

#include <catch2/catch.hpp>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "tagma/graph/placement.hpp"

// The scenarios of TensorFlow's placer, with made-up operations and devices: what an operation has kernels for is the
// end of its name. GPUs are preferred.

namespace {

using namespace tagma;
using ir::need, ir::node_id, ir::op_kind, ir::place_problem, ir::place_reason;

inline constexpr std::size_t room = 16;

/// An operation that runs where its name says: "_cpu", "_gpu", "_both", "_none".
template <fixed_string Name, op_kind Kind>
struct made_up {
  static constexpr fixed_string text = Name;
  static constexpr std::string_view name = text.view();
  static constexpr op_kind kind = Kind;
  static constexpr bool stateful = true;
  static constexpr const char* infer(ir::infer_args& a) {
    a.out = {dtype::float32, {}};
    return nullptr;
  }
};
using input_cpu = made_up<"input_cpu", op_kind::compute>;
using constant_both = made_up<"constant_both", op_kind::compute>;
using relu_both = made_up<"relu_both", op_kind::elementwise>;
using relu_cpu = made_up<"relu_cpu", op_kind::elementwise>;
using relu_gpu = made_up<"relu_gpu", op_kind::elementwise>;
using relu_none = made_up<"relu_none", op_kind::elementwise>;
using reshape_both = made_up<"reshape_both", op_kind::view>;
using variable_cpu = made_up<"variable_cpu", op_kind::variable>;
using variable_gpu = made_up<"variable_gpu", op_kind::variable>;
using variable_both = made_up<"variable_both", op_kind::variable>;
using assign_cpu = made_up<"assign_cpu", op_kind::update>;
using assign_gpu = made_up<"assign_gpu", op_kind::update>;
using assign_both = made_up<"assign_both", op_kind::update>;
struct rank_both : made_up<"rank_both", op_kind::compute> {
  static constexpr std::uint64_t shape_only = 1;
};

constexpr bool has_kernel(const ir::op_info& op, dtype, std::string_view type) {
  return op.name.ends_with("_both") || (op.name.ends_with("_cpu") && type == "CPU") ||
         (op.name.ends_with("_gpu") && type == "GPU");
}

constexpr device_text types[] = {device_text("GPU"), device_text("CPU")};

constexpr device_spec device(std::string_view text) { return *parse_device(text); }

/// Ten CPUs and ten GPUs in job a.
constexpr auto twenty = [] {
  fixed_array<device_entry, 20> all;
  for (int i = 0; i < 10; ++i) {
    all[i] = {{device_text("a"), 0, 0, device_text("CPU"), i}, memory_kind::host};
    all[10 + i] = {{device_text("a"), 0, 0, device_text("GPU"), i}, memory_kind::own};
  }
  return all;
}();
constexpr ir::device_set cluster{twenty, types, has_kernel};
constexpr device_entry cpu_only[] = {{device("/job:a/replica:0/task:0/cpu:0")}};
/// Only the first task of job b has a GPU.
constexpr device_entry two_tasks[] = {{device("/job:b/replica:0/task:0/cpu:0")},
                                      {device("/job:b/replica:0/task:0/gpu:0"), memory_kind::own},
                                      {device("/job:b/replica:0/task:1/cpu:0")}};

/// A graph that a test writes node by node.
class drawing {
 public:
  template <class Op>
  constexpr node_id add(std::initializer_list<node_id> inputs = {}, std::string_view asked = {},
                        std::initializer_list<node_id> colocated = {}) {
    ir::node_extras extras;
    extras.colocated = {colocated.begin(), colocated.size()};
    if (!asked.empty()) {
      requests_[count_] = device(asked);
      extras.request = static_cast<std::int16_t>(count_++);
    }
    return g_.emit_as(ir::rules<Op>, {dtype::float32, {}}, {inputs.begin(), inputs.size()}, {}, extras);
  }
  [[nodiscard]] constexpr ir::graph_view view() const {
    const auto count = [](int n) { return static_cast<std::size_t>(n); };
    return {{storage_.nodes.data(), count(g_.size())},
            {storage_.edges.data(), count(g_.edge_count())},
            {storage_.attributes.data(), 0},
            {},
            {requests_, count(count_)}};
  }
  [[nodiscard]] constexpr ir::placement<room> place(bool soft = false, const ir::device_set& set = cluster) const {
    fixed_array<need, room> needs{};
    for (int i = 0; i < g_.size(); ++i) needs[i] = need::value;
    return ir::place<room>(view(), needs, set, soft, {assigned_, room});
  }
  /// The device of a node, as "GPU:0"; of a node that is not placed, what is wrong.
  [[nodiscard]] std::string where(node_id i, bool soft = false, const ir::device_set& set = cluster) const {
    const auto p = place(soft, set);
    if (p.failure.problem != place_problem::none) return why_not(soft, set);
    const device_spec& d = set.devices[p.device[i]].name;
    return std::string(d.type.view()) + ":" + std::to_string(d.id);
  }
  [[nodiscard]] std::string why_not(bool soft = false, const ir::device_set& set = cluster) const {
    return to_string(place(soft, set).failure, view(), set);
  }
  constexpr void assign(node_id i, std::string_view name) { assigned_[i] = name; }

 private:
  ir::graph_storage<room> storage_;
  ir::graph g_ = storage_.view();
  device_spec requests_[room]{};
  int count_ = 2;  // the first two ask for nothing
  std::string_view assigned_[room]{};
};

/// What the sentences about a cluster end with.
const std::string there = ". Available devices: " + ir::detail::devices_text(cluster);

/// The same in a constant expression.
constexpr bool places_while_compiling() {
  drawing d;
  const node_id in = d.add<input_cpu>(), relu = d.add<relu_both>({in}), pinned = d.add<relu_both>({in}, "/cpu:3");
  const auto p = d.place();
  return p.failure.problem == place_problem::none &&
         cluster.devices[p.device[in]].name == device("/job:a/replica:0/task:0/cpu:0") &&
         cluster.devices[p.device[relu]].name == device("/job:a/replica:0/task:0/gpu:0") &&
         cluster.devices[p.device[pinned]].name.id == 3 && p.reason[pinned] == place_reason::asked &&
         p.reason[relu] == place_reason::first_choice &&
         d.place(false, {cpu_only, types, has_kernel}).failure.problem == place_problem::no_such_device;
}
static_assert(places_while_compiling());

TEST_CASE("placement without constraints prefers GPUs") {
  drawing d;
  const node_id in = d.add<input_cpu>(), a = d.add<relu_both>({in}), b = d.add<relu_both>({in});
  CHECK(d.where(in) == "CPU:0");
  CHECK(d.where(a) == "GPU:0");
  CHECK(d.where(b) == "GPU:0");
}

TEST_CASE("updates are placed with their variable, on a device that has kernels for both") {
  drawing d;
  const node_id in = d.add<input_cpu>(), v = d.add<variable_cpu>(), va = d.add<assign_both>({v, in});
  const node_id w = d.add<variable_both>(), wa = d.add<assign_gpu>({w, in});
  CHECK(d.where(v) == "CPU:0");
  CHECK(d.where(va) == "CPU:0");
  CHECK(d.where(w) == "GPU:0");
  CHECK(d.where(wa) == "GPU:0");
  CHECK(d.place().reason[va] == place_reason::first_choice);
}

TEST_CASE("a source without inputs follows all its readers to one device") {
  drawing d;
  const node_id c = d.add<constant_both>(), one = d.add<relu_both>({c}, "/cpu:4"),
                two = d.add<relu_both>({c}, "/cpu:4");
  CHECK(d.where(c) == "CPU:4");
  CHECK(d.where(one) == d.where(two));
  CHECK(d.place().reason[c] == place_reason::with_readers);
  d.add<relu_both>({c}, "/cpu:5");
  CHECK(d.where(c) == "GPU:0");
}

TEST_CASE("a source stays where it is asked for, whatever its readers do") {
  drawing d;
  const node_id c = d.add<constant_both>({}, "/cpu:1"), v = d.add<variable_cpu>(), a = d.add<assign_cpu>({v, c});
  CHECK(d.where(c) == "CPU:1");
  CHECK(d.where(v) == "CPU:0");
  CHECK(d.where(a) == "CPU:0");
}

TEST_CASE("what reads no elements, and a view, are placed with their input") {
  drawing d;
  const node_id in = d.add<input_cpu>(), relu = d.add<relu_both>({in}, "/cpu:6"), rank = d.add<rank_both>({relu});
  const node_id view = d.add<reshape_both>({relu}), other = d.add<relu_both>({relu});
  CHECK(d.where(rank) == "CPU:6");
  CHECK(d.where(view) == "CPU:6");
  CHECK(d.where(other) == "GPU:0");
  CHECK(d.place().reason[rank] == place_reason::with_input);
}

TEST_CASE("a job alone leaves the device open") {
  drawing d;
  const node_id in = d.add<input_cpu>({}, "/job:a"), relu = d.add<relu_both>({in}, "/job:a");
  CHECK(d.where(in) == "CPU:0");
  CHECK(d.where(relu) == "GPU:0");
  CHECK(to_string(d.place(), d.view(), cluster)
            .starts_with("input_cpu #0: (input_cpu): /job:a/replica:0/task:0/device:CPU:0\n"));
}

TEST_CASE("a node stays where earlier runs had it") {
  drawing d;
  const node_id in = d.add<input_cpu>(), relu = d.add<relu_both>({in}, "/gpu:1");
  d.assign(relu, "/job:a/replica:0/task:0/device:CPU:7");
  CHECK(d.where(relu) == "CPU:7");
  CHECK(d.place().reason[relu] == place_reason::assigned);
  CHECK(d.where(in) == "CPU:7");
}

TEST_CASE("an update comes to where its variable was") {
  drawing d;
  const node_id in = d.add<input_cpu>(), v = d.add<variable_both>(), a = d.add<assign_both>({v, in});
  d.assign(v, "/job:a/replica:0/task:0/device:GPU:5");
  CHECK(d.where(a) == "GPU:5");
  CHECK(d.place().reason[a] == place_reason::with_group);
}

TEST_CASE("earlier placements that cannot be are internal errors") {
  const auto problem = [](std::string_view name) {
    drawing d;
    d.assign(d.add<input_cpu>(), name);
    CHECK(code_of(d.place().failure.problem) == status_code::internal);
    return d.why_not();
  };
  CHECK(problem("/foo:bar") == "Malformed assigned device '/foo:bar' of 'input_cpu #0'");
  CHECK(problem("/job:b/cpu:0") ==
        "Assigned device '/job:b/cpu:0' of 'input_cpu #0' does not match any device" + there);
  CHECK_THAT(problem("/job:a"), Catch::EndsWith("does not match any device" + there));
  CHECK_THAT(problem("/gpu:0"), Catch::EndsWith("does not have registered OpKernel support for input_cpu" + there));
}

TEST_CASE("soft placement moves a CPU operation off the GPU, and only that") {
  drawing d;
  const node_id in = d.add<input_cpu>({}, "/job:a/gpu:0"), v = d.add<variable_both>({}, "/job:a/gpu:0");
  CHECK(d.where(in, true) == "CPU:0");
  CHECK(d.where(v, true) == "GPU:0");
  CHECK(d.place(true).reason[in] == place_reason::softened);
  CHECK(d.place(true).reason[v] == place_reason::asked);
  CHECK(d.place().failure.problem == place_problem::no_kernel_there);
}

TEST_CASE("a GPU that does not exist is the first GPU under soft placement, and else an error") {
  drawing d;
  const node_id in = d.add<input_cpu>(), relu = d.add<relu_both>({in}, "/gpu:11");
  CHECK(d.where(relu, true) == "GPU:0");
  CHECK(d.why_not() ==
        "Cannot assign a device for operation 'relu_both #1': Operation was explicitly assigned to /device:GPU:11 but "
        "available devices are " +
            ir::detail::devices_text(cluster) + ". Make sure the device specification refers to a valid device.");
  CHECK(code_of(d.place().failure.problem) == status_code::invalid_argument);
}

TEST_CASE("soft placement keeps job and task") {
  drawing d;
  d.add<input_cpu>({}, "/job:b/gpu:0");
  CHECK(d.place(true).failure.problem == place_problem::no_such_device);
}

TEST_CASE("a GPU variable asked for on a CPU is moved under soft placement, and else an error") {
  drawing d;
  const node_id v = d.add<variable_gpu>({}, "/cpu:0");
  CHECK(d.where(v, true) == "GPU:0");
  CHECK(d.why_not() ==
        "Cannot assign a device for operation 'variable_gpu #0': Could not satisfy explicit device specification "
        "'/device:CPU:0' because no supported kernel for CPU devices is available. Registered kernels: device='GPU'" +
            there);
}

TEST_CASE("a variable comes to where its update is asked for") {
  drawing d;
  const node_id in = d.add<input_cpu>(), v = d.add<variable_both>(), a = d.add<assign_both>({v, in}, "/cpu:0");
  CHECK(d.where(v) == "CPU:0");
  CHECK(d.where(a) == "CPU:0");
  CHECK(d.place().reason[v] == place_reason::with_group);
}

TEST_CASE("an update that is asked for elsewhere stays with its variable") {
  drawing d;
  const node_id in = d.add<input_cpu>(), v = d.add<variable_both>({}, "/gpu:3"),
                a = d.add<assign_both>({v, in}, "/cpu:0");
  CHECK(d.where(v) == "GPU:3");
  CHECK(d.where(a) == "GPU:3");
  CHECK(d.place().reason[a] == place_reason::with_group);
}

TEST_CASE("a CPU variable with a GPU update has no device") {
  drawing d;
  const node_id in = d.add<input_cpu>(), v = d.add<variable_cpu>();
  d.add<assign_gpu>({v, in});
  CHECK(
      d.why_not() ==
      "Cannot colocate nodes 'variable_cpu #1' and 'assign_gpu #2' because no device type supports both of those nodes "
      "and the other nodes colocated with them. Kernels: variable_cpu: CPU; assign_gpu: GPU" +
          there);
}

TEST_CASE("nodes are placed together with those they are colocated with") {
  drawing d;
  const node_id in = d.add<input_cpu>(), with = d.add<relu_both>({in}, {}, {in}), without = d.add<relu_both>({in});
  CHECK(d.where(with) == d.where(in));
  CHECK(d.where(without) == "GPU:0");
}

TEST_CASE("colocated nodes that are asked for in two places are an error, and softly drop what differs") {
  drawing d;
  const node_id in = d.add<input_cpu>(), a = d.add<relu_both>({in}, "/gpu:1"),
                b = d.add<relu_both>({in}, "/gpu:2", {a});
  CHECK(d.why_not() ==
        "Cannot colocate nodes 'relu_both #1' and 'relu_both #2': cannot merge devices with incompatible ids: "
        "'/device:GPU:1' and '/device:GPU:2'" +
            there);
  CHECK(d.where(a, true) == "GPU:0");
  CHECK(d.where(b, true) == "GPU:0");
}

TEST_CASE("a group that is asked for where no kernel is tells the kernels of its nodes") {
  const ir::device_set set{two_tasks, types, has_kernel};
  drawing d;
  const node_id in = d.add<input_cpu>(), v = d.add<variable_gpu>();
  d.add<assign_both>({v, in}, "/job:b/task:1");
  CHECK(d.why_not(false, set) ==
        "Cannot assign a device for operation 'variable_gpu #1': the node was colocated with a group of nodes that "
        "required incompatible device '/job:b/task:1'. Kernels: variable_gpu: GPU; assign_both: GPU CPU. Available "
        "devices: "
        "[ /job:b/replica:0/task:0/device:CPU:0, /job:b/replica:0/task:0/device:GPU:0, "
        "/job:b/replica:0/task:1/device:CPU:0 ]");
}

TEST_CASE("an operation without kernels, and a GPU operation where there is no GPU") {
  drawing none, gpu;
  none.add<relu_none>({none.add<input_cpu>()});
  CHECK_THAT(none.why_not(), Catch::Contains("No OpKernel was registered to support Op 'relu_none' of float32") &&
                                 Catch::EndsWith("<no registered kernels>"));
  gpu.add<relu_gpu>({gpu.add<input_cpu>()});
  CHECK(gpu.where(1) == "GPU:0");
  CHECK(gpu.why_not(false, {cpu_only, types, has_kernel}) ==
        "Cannot assign a device for operation 'relu_gpu #1': No OpKernel was registered to support Op 'relu_gpu' of "
        "float32. Registered devices: [ /job:a/replica:0/task:0/device:CPU:0 ], registered kernels: device='GPU'");
}

TEST_CASE("a set of no devices is a failed precondition") {
  drawing d;
  d.add<input_cpu>();
  CHECK(d.why_not(false, {{}, types, has_kernel}) == "No devices are registered");
  CHECK(code_of(d.place(false, {{}, types, has_kernel}).failure.problem) == status_code::failed_precondition);
}

TEST_CASE("numbers of devices count as numbers, and the caller's own task comes first") {
  const device_entry gpus[] = {{device("/job:a/replica:0/task:10/gpu:0")},
                               {device("/job:a/replica:0/task:2/gpu:10")},
                               {device("/job:a/replica:0/task:2/gpu:2")}};
  drawing d;
  const node_id relu = d.add<relu_gpu>({d.add<relu_gpu>()});
  CHECK(d.place(false, {gpus, types, has_kernel}).device[relu] == 2);
  const device_spec home = device("/job:a/replica:0/task:10");
  CHECK(d.place(false, {gpus, types, has_kernel, home}).device[relu] == 0);
}

TEST_CASE("what no run needs is not placed") {
  drawing d;
  const node_id in = d.add<input_cpu>();
  d.add<relu_none>({in});
  fixed_array<need, room> needs{};
  needs[in] = need::value;
  const auto p = ir::place<room>(d.view(), needs, cluster);
  CHECK(p.failure.problem == place_problem::none);
  CHECK(p.device[1] == -1);
  CHECK(p.reason[1] == place_reason::not_placed);
}

using relu_npu = made_up<"relu_npu", op_kind::elementwise>;

constexpr device_text three_types[] = {device_text("NPU"), device_text("GPU"), device_text("CPU")};
constexpr bool has_kernel_of_three(const ir::op_info& op, dtype type, std::string_view device_type) {
  return has_kernel(op, type, device_type) || (op.name.ends_with("_npu") && device_type == "NPU");
}

/// Devices of three kinds, given where the test runs.
std::vector<device_entry> random_cluster(std::mt19937& random) {
  std::vector<device_entry> list;
  for (const char* job : {"a", "b"})
    for (std::int32_t task = 0; task < static_cast<std::int32_t>(1 + random() % 3); ++task)
      for (const device_text& type : three_types)
        for (std::int32_t id = 0; id < static_cast<std::int32_t>(random() % 3); ++id)
          list.push_back(
              {{device_text(job), 0, task, type, id}, type.view() == "CPU" ? memory_kind::host : memory_kind::own});
  for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random() % i]);
  return list;
}

TEST_CASE("random graphs on random clusters: requests and bonds hold, in arrays of the compiler and of the heap") {
  int placed = 0, refused = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const std::vector<device_entry> devices = random_cluster(random);
    const ir::device_set set{devices, three_types, has_kernel_of_three, device("/job:b/replica:0/task:1")};
    const bool soft = random() % 2 == 0;
    drawing d;
    std::vector<std::string> asked;
    std::vector<std::vector<node_id>> bound;
    const auto add = [&]<class Op>(Op, std::initializer_list<node_id> in) {
      const std::string requests[] = {"", "", "", "", "/gpu:0", "/device:NPU:1", "/job:a", "/job:b/task:1", "/cpu:0"};
      asked.push_back(requests[random() % 9]);
      bound.emplace_back();
      if (asked.size() > 1 && random() % 4 == 0) {
        const auto with = static_cast<node_id>(random() % (asked.size() - 1));
        bound.back().push_back(with);
        return d.add<Op>(in, asked.back(), {with});
      }
      return d.add<Op>(in, asked.back());
    };
    add(constant_both{}, {});
    while (asked.size() < room - 1) {
      const auto any = static_cast<node_id>(random() % asked.size());
      switch (random() % 6) {
        case 0:
          add(relu_npu{}, {any});
          break;
        case 1:
          add(relu_gpu{}, {any});
          break;
        case 2:
          add(relu_cpu{}, {any});
          break;
        case 3:
          add(constant_both{}, {});
          break;
        default:
          add(relu_both{}, {any});
      }
    }
    const auto p = d.place(soft, set);
    std::vector<need> needs(asked.size(), need::value);
    const ir::graph_view g = d.view();
    const ir::heap_placement same = ir::place_on_heap(g, needs, set, soft);
    REQUIRE(same.failure.problem == p.failure.problem);
    if (p.failure.problem != place_problem::none) {
      ++refused;
      const std::string why = to_string(same.failure, g, set);
      CHECK(why == to_string(p.failure, g, set));
      if (!devices.empty()) {
        CHECK_THAT(why, Catch::Contains(to_string(devices[0].name)));
        CHECK_THAT(why, Catch::Contains(std::string(g.info(p.failure.node).name)));
      }
      continue;
    }
    ++placed;
    CHECK(to_string(same, g, set) == to_string(p, g, set));
    for (node_id i = 0; i < g.size(); ++i) {
      REQUIRE(same.device[i] == p.device[i]);
      REQUIRE(same.reason[i] == p.reason[i]);
      const device_spec& where = devices[static_cast<std::size_t>(p.device[i])].name;
      CHECK(has_kernel_of_three(g.info(i), dtype::float32, where.type.view()));
      device_spec wanted = device(asked[static_cast<std::size_t>(i)]);
      if (soft) wanted.type = {}, wanted.id = -1;
      CHECK(covers(wanted, where));
      for (const node_id with : bound[static_cast<std::size_t>(i)]) CHECK(p.device[with] == p.device[i]);
    }
  }
  CHECK(placed > 20);
  CHECK(refused > 20);
}

}  // namespace
