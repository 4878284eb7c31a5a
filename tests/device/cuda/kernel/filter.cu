// SPDX-License-Identifier: BSL-1.0
// Kernels of the GPU that find how large their result is, against those of the CPU; and sessions that go on behind
// them.
#include "tagma/device/cuda/kernel/filter.hpp"

#include "support/cuda_sessions.hpp"
#include "tagma/device/cpu/kernel/filter.hpp"
#include "tagma/filter.hpp"

namespace {

namespace tg = tagma;
namespace op = tagma::op;
namespace device = tagma::device;
using tg::dtype, tg::extent, tg::shape;
using tg::test::check, tg::test::device_tensor, tg::test::random_tensor;

/// Words that host and device can reach.
struct found_extents final : tg::runtime::late_results {
  found_extents() : words(dtype::int64, {3 * tg::max_rank}) {
    extents = reinterpret_cast<extent*>(words.data());
    for (int i = 0; i < 3 * tg::max_rank; ++i) extents[i] = -1;
  }
  [[nodiscard]] std::byte* allocate(int, const shape&) override { return nullptr; }
  device_tensor words;
};

/// What a kernel makes of a tensor: its results, with room for the largest, and what it says of their extents.
struct outcome {
  std::vector<device_tensor> results;
  std::vector<extent> found;
};
outcome run(const tg::runtime::kernel_entry& entry, const tg::runtime::run_context& context, const device_tensor& in,
            const std::vector<tg::tensor_spec>& out, bool flat, unsigned unread = 0) {
  outcome made;
  found_extents found;
  std::vector<tg::runtime::operand> ins{in.operand()}, outs;
  for (std::size_t r = 0; r < out.size(); ++r) {
    made.results.emplace_back(out[r].type, out[r].dims);
    outs.push_back(made.results.back().operand());
    if (((unread >> r) & 1) != 0) outs.back().data = nullptr;
  }
  tg::runtime::kernel_args args;
  const tg::ir::attribute attribute = flat;
  args.in = {ins.data(), ins.size()};
  args.out = outs[0];
  args.outs = {outs.data(), outs.size()};
  args.attributes = {&attribute, 1};
  args.late = &found;
  const auto state = entry.prepare(args, context);
  args.state = state.get();
  entry.run(args, context);
  if (tg::test::on_gpu()) device::cuda::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  for (std::size_t r = 0; r < out.size(); ++r) {
    made.found.push_back(found.extents[r * tg::max_rank]);
    check(made.results[r].kept_its_bounds(), "nothing is written behind a result");
  }
  return made;
}
/// @param late which results have as many rows as was found; the others are whole
void compare(const std::string& what, const outcome& a, const outcome& b, unsigned late, unsigned unread = 0) {
  for (std::size_t r = 0; r < a.results.size(); ++r) {
    const bool is_late = ((late >> r) & 1) != 0;
    if (is_late) check(a.found[r] == b.found[r] && a.found[r] >= 0, what + ": as many are found");
    if (((unread >> r) & 1) != 0 || a.found[r] != b.found[r]) continue;
    const shape& dims = a.results[r].dims();
    const std::int64_t row = dims.elements(1, dims.rank), rows = is_late ? a.found[r] : dims[0];
    const auto size = static_cast<std::size_t>(row * rows) * tg::size_of(a.results[r].type());
    check(std::memcmp(a.results[r].data(), b.results[r].data(), size) == 0, what + ": result " + std::to_string(r));
  }
}

tg::runtime::run_context on_host() {
  static const auto threads = tg::runtime::make_cpu_executor(1, 1);
  tg::runtime::run_context context;
  context.threads = threads.get();
  return context;
}
tg::runtime::run_context on_device() {
  tg::runtime::run_context context;
  context.library = &tg::test::shared_resources();
  return context;
}

template <class Device, class Op, dtype... Types>
tg::runtime::kernel_entry entry_of() {
  return device::kernel<Device, tg::ir::key<Op>>::template entry<Types...>;
}

template <class T>
void nonzero(const std::string& what, const shape& dims) {
  constexpr dtype d = tg::dtype_of<T>;
  const device_tensor in = random_tensor<T>(dims, std::is_unsigned_v<T> ? 0 : -1.4, 1.9, 7);
  for (const bool flat : {false, true}) {
    shape out{dims.elements()};
    if (!flat) out.push_back(dims.rank);
    const std::vector<tg::tensor_spec> specs{{dtype::int64, out}};
    compare(what, run(entry_of<device::on_cpu, op::nonzero, dtype::int64, d>(), on_host(), in, specs, flat),
            run(entry_of<device::on_cuda, op::nonzero, dtype::int64, d>(), on_device(), in, specs, flat), 1);
  }
}
template <class T>
void unique(const std::string& what, const device_tensor& in, unsigned unread = 0) {
  constexpr dtype d = tg::dtype_of<T>;
  const std::vector<tg::tensor_spec> specs{{d, in.dims()}, {dtype::int64, in.dims()}, {dtype::int64, in.dims()}};
  compare(what, run(entry_of<device::on_cpu, op::unique, d, d>(), on_host(), in, specs, false, unread),
          run(entry_of<device::on_cuda, op::unique, d, d>(), on_device(), in, specs, false, unread), 5, unread);
}
template <class T>
void unique() {
  const double low = std::is_unsigned_v<T> ? 0 : -9;
  unique<T>("many equal", random_tensor<T>({3000}, low, 30, 5));
  unique<T>("one", random_tensor<T>({1}, low, 30, 5));
  unique<T>("none", random_tensor<T>({0}, low, 30, 5));
}

void kernels() {
  nonzero<bool>("a mask", {1000});
  nonzero<bool>("a mask of three axes", {7, 30, 11});
  nonzero<bool>("one", {1});
  nonzero<bool>("nothing", {0, 3});
  nonzero<bool>("many", {300, 1000});
  nonzero<float>("float", {70, 3});
  nonzero<tg::float16>("float16", {70, 3});
  nonzero<std::int64_t>("int64", {70, 3});
  nonzero<std::uint8_t>("uint8", {70, 3});
  unique<float>();
  unique<double>();
  unique<tg::bfloat16>();
  unique<std::int64_t>();
  unique<std::int32_t>();
  unique<std::uint8_t>();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  unique<float>("special", device_tensor({7}, std::vector<float>{nan, 0.0f, -0.0f, nan, 1, -0.0f, 1}));
  unique<std::int32_t>("many, in parts", random_tensor<std::int32_t>({60000}, -5000, 5000, 3));
  unique<float>("values alone", random_tensor<float>({500}, -9, 30, 5), 6);
  unique<float>("places alone", random_tensor<float>({500}, -9, 30, 5), 5);
}

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();
constexpr auto m = tg::placeholder<"m", bool, tg::dyn>();

void sessions() {
  const auto w = tg::variable<"w", float, 4, 3>(tg::glorot_uniform);
  const auto kept = tg::boolean_mask(x, m);
  const auto guess = tg::tanh(tg::matmul(kept, w));
  const auto loss = tg::mean(tg::square(guess));
  const auto slope = tg::gradient(loss, x);
  const auto train = tg::minimize(loss, tg::sgd{.learning_rate = 0.1});
  const auto best = std::get<0>(tg::unique(tg::argmax(kept)));
  const auto on_gpu = tg::compile([=] { return tg::on<tg::gpu<0>>(tg::outputs(kept, loss, slope, train, best, w)); });
  const auto on_cpu = tg::compile([=] { return tg::on<tg::cpu<0>>(tg::outputs(kept, loss, slope, train, best, w)); });
  for (const bool graphs : {false, true}) {
    auto options = tg::test::modest_gpu;
    options.graphs = graphs;
    tg::session found(on_gpu, {.seed = 5, .gpu = options});
    tg::session expected(on_cpu, {.seed = 5, .gpu = options});
    for (const unsigned bits : {11u, 11u, 11u, 11u, 31u, 4u, 11u, 0u, 11u}) {
      tg::tensor<float> in({5, 4});
      for (extent i = 0; i < 20; ++i) in.data()[i] = static_cast<float>(i * 7 % 11) / 11 - 0.4f;
      tg::tensor<bool> mask({5});
      for (extent i = 0; i < 5; ++i) mask.data()[i] = ((bits >> i) & 1) != 0;
      const auto a = expected.run(tg::fetch(kept, best), x = in, m = mask);
      const auto b = found.run(tg::fetch(kept, best), x = in, m = mask);
      check(a == b, "what is kept is the same on both devices");
      if (bits == 0) continue;
      const auto near = [](const tg::tensor<float>& p, const tg::tensor<float>& q) {
        bool all = p.dims() == q.dims();
        for (std::size_t i = 0; i < p.size() && all; ++i) all = std::fabs(p.data()[i] - q.data()[i]) < 1e-5f;
        return all;
      };
      check(near(expected.run(slope, x = in, m = mask), found.run(slope, x = in, m = mask)), "slopes are near");
      expected.run(train, x = in, m = mask);
      found.run(train, x = in, m = mask);
      check(near(expected.run(w), found.run(w)), "weights are near");
    }
  }
}

}  // namespace

int main() {
  tg::test::on_gpu();
  kernels();
  sessions();
  return tg::test::result();
}
