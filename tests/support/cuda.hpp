// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Calls kernels of the GPU with the arguments of kernels of the CPU and compares what they write. Where there is a GPU
/// they run on it, elsewhere on the host, thread by thread; there too in programs with stand-ins for libraries.

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "support/cuda_stand_ins.hpp"
#include "tagma/base/random.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/cuda/kernel/kernel.hpp"

#if !TAGMA_CUDA_EMULATION
#error "tests of GPU kernels are compiled with -DTAGMA_CUDA_EMULATION=1"
#endif

namespace tagma::test {

/// Where the kernels of this program run; decided once.
inline bool on_gpu() {
  static const bool found = [] {
    int count = 0;
    const bool any = !has_stand_ins() && cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
    device::cuda::emulation::active() = !any;
    std::printf("kernels run on %s%s\n", any ? "the GPU" : "the host", has_stand_ins() ? ", libraries too" : "");
    return any;
  }();
  return found;
}

/// Counts what went wrong in this program.
inline int& failures() {
  static int count = 0;
  return count;
}
inline void check(bool good, const std::string& what) {
  if (good) return;
  ++failures();
  std::printf("failed: %s\n", what.c_str());
}

/// A tensor of some type in memory that host and device can reach.
class device_tensor {
 public:
  device_tensor() = default;
  device_tensor(dtype type, const shape& dims) : type_(type), dims_(dims) {
    bytes_ = static_cast<std::size_t>(dims.elements()) * size_of(type);
    if (on_gpu())
      device::cuda::check(cudaMallocManaged(&data_, bytes_ + 256), "cudaMallocManaged");
    else
      data_ = ::operator new (bytes_ + 256, std::align_val_t{256});
    std::memset(data_, 0x5a, bytes_ + 256);
  }
  template <class T>
  device_tensor(const shape& dims, const std::vector<T>& values) : device_tensor(dtype_of<T>, dims) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(dims.elements()); ++i) {
      const T value = values[i % values.size()];
      std::memcpy(static_cast<std::byte*>(data_) + i * sizeof(T), &value, sizeof value);
    }
  }
  device_tensor(const device_tensor& other) : device_tensor(other.type_, other.dims_) {
    if (bytes_ > 0) std::memcpy(data_, other.data_, bytes_);
  }
  device_tensor(device_tensor&& other) noexcept
      : type_(other.type_), dims_(other.dims_), data_(other.data_), bytes_(other.bytes_) {
    other.data_ = nullptr;
  }
  device_tensor& operator=(device_tensor other) noexcept {
    std::swap(type_, other.type_);
    std::swap(dims_, other.dims_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~device_tensor() {
    if (data_ == nullptr) return;
    if (on_gpu())
      cudaFree(data_);
    else
      ::operator delete (data_, std::align_val_t{256});
  }

  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(data_); }
  [[nodiscard]] runtime::operand operand() const { return {data(), type_, dims_}; }
  [[nodiscard]] dtype type() const { return type_; }
  [[nodiscard]] const shape& dims() const { return dims_; }
  /// Element `i` as a double.
  [[nodiscard]] double number(std::int64_t i) const {
    const auto as = [&](auto zero) {
      std::memcpy(&zero, data() + static_cast<std::size_t>(i) * sizeof zero, sizeof zero);
      return static_cast<double>(zero);
    };
    switch (type_) {
      case dtype::float64:
        return as(0.0);
      case dtype::float32:
        return as(0.0f);
      case dtype::float16:
        return as(float16());
      case dtype::bfloat16:
        return as(bfloat16());
      case dtype::int64:
        return as(std::int64_t{});
      case dtype::int32:
        return as(std::int32_t{});
      case dtype::int16:
        return as(std::int16_t{});
      case dtype::int8:
        return as(std::int8_t{});
      default:
        return as(std::uint8_t{});
    }
  }
  /// True if nothing behind the last element was written.
  [[nodiscard]] bool kept_its_bounds() const {
    for (std::size_t i = bytes_; i < bytes_ + 256; ++i)
      if (data()[i] != std::byte{0x5a}) return false;
    return true;
  }

 private:
  dtype type_ = dtype::none;
  shape dims_;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Numbers without a pattern, the same for the same seed.
template <class T>
[[nodiscard]] device_tensor random_tensor(const shape& dims, double low, double high, std::uint32_t seed) {
  std::vector<T> values(static_cast<std::size_t>(dims.elements()) + 1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const philox_block r = random_block({seed, 7, 9}, i);
    const double u = low + (high - low) * uniform01(r[0], r[1]);
    if constexpr (std::is_floating_point_v<T> || std::is_integral_v<T>)
      values[i] = static_cast<T>(u);
    else
      values[i] = T(static_cast<float>(u));
  }
  return {dims, values};
}

/// One call of a kernel.
struct call {
  std::vector<device_tensor> in;
  device_tensor out;
  std::vector<std::int64_t> attributes{};
  bool updates = false;  ///< the result is written over input 0
  std::vector<shape> declared{};
  shape declared_out{};
  const carried_value* value = nullptr;
};

/// Runs every part of a loop on this thread.
using one_thread = runtime::calling_thread;

/// The numbers of a run, in memory of the device.
inline device::cuda::run_parameters* run_numbers() {
  static const auto* const memory = new device::cuda::device_bytes(sizeof(device::cuda::run_parameters));
  return memory->as<device::cuda::run_parameters>();
}
/// The kernels of this program share what those of one stream share.
inline device::cuda::stream_resources& shared_resources() {
  static auto* all = new device::cuda::stream_resources(nullptr, run_numbers());
  return *all;
}

/// Runs a kernel on copies of the tensors; returns what they hold afterwards, the result first.
/// @param resources of the stream, for a kernel of the GPU; nullptr: those that this program shares
inline std::vector<device_tensor> run(const runtime::kernel_entry& entry, const call& c, bool cuda,
                                      device::cuda::stream_resources* resources = nullptr) {
  std::vector<device_tensor> tensors{c.updates ? c.in[0] : c.out};
  for (const device_tensor& t : c.in) tensors.push_back(t);
  std::vector<runtime::operand> in;
  std::vector<shape> declared = c.declared;
  for (std::size_t i = 1; i < tensors.size(); ++i) {
    in.push_back(tensors[i].operand());
    if (c.declared.empty()) declared.push_back(in.back().dims);
  }
  if (c.updates) in[0].data = tensors[0].data();
  runtime::kernel_args args;
  args.in = in;
  args.out = tensors[0].operand();
  args.attributes = {c.attributes.data(), c.attributes.size()};
  args.source = 3;
  args.declared = declared;
  args.declared_out = c.declared.empty() ? args.out.dims : c.declared_out;
  args.value = c.value;
  one_thread threads;
  runtime::run_context context;
  context.threads = &threads;
  context.seed = 0x123456789abcdefu;
  context.step = 41;
  if (cuda) {
    context.library = resources != nullptr ? resources : &shared_resources();
    const device::cuda::run_parameters numbers{context.seed, context.step, device::cuda::no_failure};
    device::cuda::upload(run_numbers(), &numbers, sizeof numbers, context);
  }
  owned<runtime::kernel_state> state;
  if (entry.prepare != nullptr) state = entry.prepare(args, context);
  args.state = state.get();
  entry.run(args, context);
  if (cuda && on_gpu()) device::cuda::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  return tensors;
}

/// The largest difference of two tensors, of large numbers in proportion to them; infinite where one is NaN alone.
inline double distance(const device_tensor& a, const device_tensor& b) {
  if (!(a.dims() == b.dims()) || a.type() != b.type()) return 1e300;
  double most = 0;
  for (std::int64_t i = 0; i < a.dims().elements(); ++i) {
    const double x = a.number(i), y = b.number(i);
    if (x == y || (x != x && y != y)) continue;
    const double scale = std::fabs(x) > 1 ? std::fabs(x) : 1, d = std::fabs(x - y) / scale;
    if (!(d <= most)) most = d == d ? d : 1e300;
  }
  return most;
}

/// Runs the kernels of both devices and compares all tensors.
inline void compare(const std::string& what, const runtime::kernel_entry& cpu, const runtime::kernel_entry& cuda,
                    const call& c, double tolerance = 0, device::cuda::stream_resources* resources = nullptr) {
  const auto expected = run(cpu, c, false), found = run(cuda, c, true, resources);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double d = distance(expected[i], found[i]);
    check(d <= tolerance, what + ", tensor " + std::to_string(i) + ": they differ by " + std::to_string(d));
    check(found[i].kept_its_bounds(), what + ": it writes out of bounds");
  }
}

/// The same for the kernels of an operation, by the element types of the result and the operands.
template <class Op, dtype... Types>
void compare_kernels(const std::string& what, const call& c, double tolerance = 0,
                     device::cuda::stream_resources* resources = nullptr) {
  using on_cpu = device::kernel<device::on_cpu, ir::key<Op>>;
  using on_cuda = device::kernel<device::on_cuda, ir::key<Op>>;
  compare(what, on_cpu::template entry<Types...>, on_cuda::template entry<Types...>, c, tolerance, resources);
}

/// The result of a kernel of the CPU.
template <class Op, dtype... Types>
device_tensor run_on_cpu(const call& c) {
  using on_cpu = device::kernel<device::on_cpu, ir::key<Op>>;
  return run(on_cpu::template entry<Types...>, c, false)[0];
}

/// The word in which kernels of the last run noted a wrong index.
inline std::uint64_t noted_failure() {
  std::uint64_t word = 0;
  const auto* from = &run_numbers()->failure;
  if (on_gpu())
    device::cuda::check(cudaMemcpy(&word, from, sizeof word, cudaMemcpyDeviceToHost), "cudaMemcpyAsync");
  else
    word = *from;
  return word;
}

/// The exit status of a program of checks.
inline int result() {
  std::printf("%d failed\n", failures());
  return failures() == 0 ? 0 : 1;
}

}  // namespace tagma::test
