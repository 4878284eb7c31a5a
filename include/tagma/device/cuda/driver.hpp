// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The GPUs of this machine, through the CUDA runtime.

#include <cuda_runtime_api.h>
#include <time.h>

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/status.hpp"
#include "tagma/device/stream/memory_options.hpp"
#include "tagma/runtime/gate.hpp"
#include "tagma/runtime/mutex.hpp"
#include "tagma/runtime/stream_driver.hpp"

namespace tagma::device::cuda {

/// The stream of a driver as CUDA has it.
[[nodiscard]] inline cudaStream_t native(runtime::stream_ref stream) {
  return static_cast<cudaStream_t>(stream.native);
}

/// Device i is the GPU with the i-th number of a list; within CUDA_VISIBLE_DEVICES, as everything in CUDA. Nothing is
/// asked of CUDA before the first use, and a GPU takes a context with the first use of that one.
class driver final : public runtime::stream_driver {
 public:
  /// @param visible such as "5,3": device 0 is GPU 5; empty: all GPUs. Its errors are thrown at the first use.
  TAGMA_COLD explicit driver(std::string_view visible = {}) : visible_(visible) {}

  /// 0 where there is no GPU, or no driver for it.
  [[nodiscard]] TAGMA_COLD int devices() override {
    const mutex_lock lock(mutex_);
    find_devices();
    return static_cast<int>(gpus_.size());
  }
  [[nodiscard]] TAGMA_COLD std::string name(int device) override {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, gpu(device)), "cudaGetDeviceProperties");
    return properties.name;
  }
  [[nodiscard]] TAGMA_COLD runtime::device_memory memory(int device) override {
    const current_device current(gpu(device));
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return {static_cast<std::int64_t>(free), static_cast<std::int64_t>(total)};
  }

  int make_current(int device) override {
    const int wanted = gpu(device);
    int before = 0;
    check(cudaGetDevice(&before), "cudaGetDevice");
    check(cudaSetDevice(wanted), "cudaSetDevice");
    return before;
  }
  void restore(int before) noexcept override { ignore(cudaSetDevice(before)); }

  /// Lets the GPUs reach each other's memory where the machine can do that. Copies go through the host otherwise.
  TAGMA_COLD void connect(int from, int to) override {
    const int a = gpu(from), b = gpu(to);
    if (a == b) return;
    for (const auto& [self, peer] : {pair{a, b}, pair{b, a}}) {
      int possible = 0;
      check(cudaDeviceCanAccessPeer(&possible, self, peer), "cudaDeviceCanAccessPeer");
      if (possible == 0) continue;
      const current_device current(self);
      const cudaError_t status = cudaDeviceEnablePeerAccess(peer, 0);
      if (status == cudaErrorPeerAccessAlreadyEnabled || status == cudaErrorTooManyPeers)
        ignore(status);
      else
        check(status, "cudaDeviceEnablePeerAccess");
    }
  }

  [[nodiscard]] TAGMA_COLD std::byte* allocate(int device, std::size_t bytes) override {
    const current_device current(gpu(device));
    void* data = nullptr;
    const cudaError_t status = cudaMalloc(&data, bytes == 0 ? 1 : bytes);
    return allocated(status, "cudaMalloc", data);
  }
  TAGMA_COLD void deallocate(int, std::byte* data) noexcept override { ignore(cudaFree(data)); }
  [[nodiscard]] TAGMA_COLD std::byte* allocate_pinned(std::size_t bytes) override {
    void* data = nullptr;
    const cudaError_t status = cudaHostAlloc(&data, bytes == 0 ? 1 : bytes, cudaHostAllocPortable);
    return allocated(status, "cudaHostAlloc", data);
  }
  TAGMA_COLD void deallocate_pinned(std::byte* data) noexcept override { ignore(cudaFreeHost(data)); }
  [[nodiscard]] TAGMA_COLD bool pin(std::byte* data, std::size_t bytes) override {
    const cudaError_t status = cudaHostRegister(data, bytes, cudaHostRegisterPortable);
    if (status != cudaSuccess) ignore(status);
    return status == cudaSuccess;
  }
  TAGMA_COLD void unpin(std::byte* data) noexcept override { ignore(cudaHostUnregister(data)); }

  [[nodiscard]] TAGMA_COLD runtime::stream_ref make_stream(int device) override {
    const current_device current(gpu(device));
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    return {stream, device};
  }
  TAGMA_COLD void destroy(runtime::stream_ref stream) noexcept override { ignore(cudaStreamDestroy(native(stream))); }
  [[nodiscard]] TAGMA_COLD runtime::event_ref make_event(int device) override {
    return make_event(device, cudaEventDisableTiming | cudaEventBlockingSync);
  }
  [[nodiscard]] TAGMA_COLD runtime::event_ref make_timer(int device) override {
    return make_event(device, cudaEventBlockingSync);
  }
  [[nodiscard]] TAGMA_COLD std::int64_t elapsed_ns(runtime::event_ref from, runtime::event_ref to) override {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, native(from), native(to)), "cudaEventElapsedTime");
    return static_cast<std::int64_t>(static_cast<double>(milliseconds) * 1e6);
  }
  TAGMA_COLD void destroy(runtime::event_ref event) noexcept override { ignore(cudaEventDestroy(native(event))); }

  void record(runtime::event_ref event, runtime::stream_ref stream) override {
    check(cudaEventRecord(native(event), native(stream)), "cudaEventRecord");
  }
  void wait(runtime::stream_ref stream, runtime::event_ref event) override {
    check(cudaStreamWaitEvent(native(stream), native(event), 0), "cudaStreamWaitEvent");
  }
  [[nodiscard]] bool reached(runtime::event_ref event) override {
    const cudaError_t status = cudaEventQuery(native(event));
    if (status == cudaErrorNotReady) {
      ignore(status);
      return false;
    }
    check(status, "cudaEventQuery");
    return true;
  }
  /// Looks at the event for some microseconds. Then, without a limit, the thread sleeps until the GPU wakes it; with
  /// one, it looks again after ever longer naps, as CUDA has no wait that ends by itself.
  [[nodiscard]] bool host_wait(runtime::event_ref event, std::int64_t ns) override {
    const std::int64_t begin = runtime::now_ns();
    for (;;) {
      if (reached(event)) return true;
      const std::int64_t spent = runtime::now_ns() - begin;
      if (ns >= 0 && spent >= ns) return false;
      if (spent < awake_ns) continue;
      if (ns < 0) {
        check(cudaEventSynchronize(native(event)), "cudaEventSynchronize");
        return true;
      }
      std::int64_t nap = spent / 8 < longest_nap_ns ? spent / 8 : longest_nap_ns;
      if (nap > ns - spent) nap = ns - spent;
      const timespec length{0, static_cast<long>(nap)};
      nanosleep(&length, nullptr);
    }
  }
  TAGMA_COLD void drain(runtime::stream_ref stream) noexcept override { ignore(cudaStreamSynchronize(native(stream))); }

  void copy(runtime::stream_ref stream, runtime::memory_place to, runtime::memory_place from,
            std::size_t bytes) override {
    if (bytes == 0) return;
    if (to.device != runtime::on_host && from.device != runtime::on_host && to.device != from.device)
      return check(cudaMemcpyPeerAsync(to.data, gpu(to.device), from.data, gpu(from.device), bytes, native(stream)),
                   "cudaMemcpyPeerAsync");
    const cudaMemcpyKind kind = to.device == runtime::on_host     ? cudaMemcpyDeviceToHost
                                : from.device == runtime::on_host ? cudaMemcpyHostToDevice
                                                                  : cudaMemcpyDeviceToDevice;
    check(cudaMemcpyAsync(to.data, from.data, bytes, kind, native(stream)), "cudaMemcpyAsync");
  }
  void fill(runtime::stream_ref stream, std::byte* to, unsigned char value, std::size_t bytes) override {
    if (bytes == 0) return;
    const current_device current(gpu(stream.device));
    check(cudaMemsetAsync(to, value, bytes, native(stream)), "cudaMemsetAsync");
  }
  void call_host(runtime::stream_ref stream, void (*function)(void*), void* context) override {
    check(cudaLaunchHostFunc(native(stream), function, context), "cudaLaunchHostFunc");
  }

  /// Other threads may go on using CUDA meanwhile.
  TAGMA_COLD void begin_capture(runtime::stream_ref origin) override {
    check(cudaStreamBeginCapture(native(origin), cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  }
  [[nodiscard]] TAGMA_COLD runtime::graph_ref end_capture(runtime::stream_ref origin) override {
    cudaGraph_t recorded = nullptr;
    check(cudaStreamEndCapture(native(origin), &recorded), "cudaStreamEndCapture");
    cudaGraphExec_t graph = nullptr;
    const cudaError_t status = cudaGraphInstantiate(&graph, recorded, 0);
    ignore(cudaGraphDestroy(recorded));
    check(status, "cudaGraphInstantiate");
    return {graph};
  }
  TAGMA_COLD void abandon_capture(runtime::stream_ref origin) noexcept override {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    ignore(cudaStreamIsCapturing(native(origin), &status));
    if (status == cudaStreamCaptureStatusNone) return;
    cudaGraph_t recorded = nullptr;
    ignore(cudaStreamEndCapture(native(origin), &recorded));
    if (recorded != nullptr) ignore(cudaGraphDestroy(recorded));
  }
  void launch(runtime::graph_ref graph, runtime::stream_ref stream) override {
    check(cudaGraphLaunch(native(graph), native(stream)), "cudaGraphLaunch");
  }
  TAGMA_COLD void destroy(runtime::graph_ref graph) noexcept override { ignore(cudaGraphExecDestroy(native(graph))); }

 private:
  [[nodiscard]] TAGMA_COLD runtime::event_ref make_event(int device, unsigned flags) {
    const current_device current(gpu(device));
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, flags), "cudaEventCreateWithFlags");
    return {event, device};
  }
  static constexpr std::int64_t awake_ns = 50'000;
  static constexpr std::int64_t longest_nap_ns = 200'000;

  struct pair {
    int self, peer;
  };

  /// Makes a GPU the current one of this thread while it lives.
  class current_device {
   public:
    explicit current_device(int gpu) : gpu_(gpu) {
      check(cudaGetDevice(&before_), "cudaGetDevice");
      if (before_ != gpu_) check(cudaSetDevice(gpu_), "cudaSetDevice");
    }
    current_device(const current_device&) = delete;
    current_device& operator=(const current_device&) = delete;
    ~current_device() {
      if (before_ != gpu_) ignore(cudaSetDevice(before_));
    }

   private:
    int gpu_;
    int before_ = 0;
  };

  [[nodiscard]] static cudaStream_t native(runtime::stream_ref s) { return cuda::native(s); }
  [[nodiscard]] static cudaEvent_t native(runtime::event_ref e) { return static_cast<cudaEvent_t>(e.native); }
  [[nodiscard]] static cudaGraphExec_t native(runtime::graph_ref g) { return static_cast<cudaGraphExec_t>(g.native); }

  [[nodiscard]] static std::byte* allocated(cudaError_t status, std::string_view call, void* data) {
    if (status == cudaErrorMemoryAllocation) {
      ignore(status);
      return nullptr;
    }
    check(status, call);
    return static_cast<std::byte*>(data);
  }

  /// The number that CUDA has for a device.
  [[nodiscard]] int gpu(int device) {
    if (!found_.load(memory_order::acquire)) {
      const mutex_lock lock(mutex_);
      find_devices();
    }
    if (device < 0 || static_cast<std::size_t>(device) >= gpus_.size()) no_such_device(device);
    return gpus_[device];
  }
  TAGMA_COLD void find_devices() {
    if (found_.load(memory_order::relaxed)) return;
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver) {
      ignore(status);
      count = 0;
    } else {
      check(status, "cudaGetDeviceCount");
    }
    gpus_ = stream::parse_visible_devices(visible_, count);
    found_.store(true, memory_order::release);
  }
  [[noreturn]] TAGMA_COLD void no_such_device(int device) const {
    if (gpus_.size() == 0) fail(status_code::unavailable, "this process sees no GPU");
    fail(status_code::invalid_argument, {"GPU ", device, ", where this process sees ", gpus_.size(), ", from 0 on"});
  }

  const std::string visible_;
  mutex mutex_;
  atomic<bool> found_{false};
  heap_array<int> gpus_;
};

}  // namespace tagma::device::cuda
