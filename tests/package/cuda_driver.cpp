// SPDX-License-Identifier: BSL-1.0
// The driver of CUDA's GPUs on a machine without one: functions of the CUDA runtime are stood in for on the host, where
// streams do at once what they are given, and graphs what was recorded. It shows that the driver asks for the right
// things and hands on what it is given; not when a GPU would do them.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <vector>

#include "tagma/device/cuda/driver.hpp"

// ---- the runtime

struct CUstream_st {
  int device = 0;
};
struct CUevent_st {
  int records = 0;
};
struct CUgraph_st {
  std::vector<std::function<void()>> work;
};
struct CUgraphExec_st {
  std::vector<std::function<void()>> work;
};

namespace {

struct machine {
  int current = 0;
  std::map<void*, std::size_t> device_memory, pinned_memory, registered;
  std::vector<std::function<void()>>* recording = nullptr;
  cudaStream_t origin = nullptr;
  int streams = 0, events = 0, graphs = 0;
  bool full = false;
  cudaError_t last = cudaSuccess;
} host;

cudaError_t did(cudaError_t status) { return host.last = status; }
void put(std::function<void()> work) {
  if (host.recording != nullptr)
    host.recording->push_back(std::move(work));
  else
    work();
}
cudaError_t take(std::map<void*, std::size_t>& from, void** data, std::size_t bytes) {
  if (host.full || bytes == 0) return did(cudaErrorMemoryAllocation);
  *data = std::malloc(bytes);
  from[*data] = bytes;
  return did(cudaSuccess);
}
cudaError_t give(std::map<void*, std::size_t>& to, void* data) {
  if (to.erase(data) == 0) return did(cudaErrorInvalidValue);
  std::free(data);
  return did(cudaSuccess);
}

}  // namespace

extern "C" {
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 3;
  return did(cudaSuccess);
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* to, int device) {
  std::snprintf(to->name, sizeof to->name, "stand-in %d", device);
  return did(cudaSuccess);
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = 1000 + static_cast<std::size_t>(host.current);
  *total = 2000;
  return did(cudaSuccess);
}
cudaError_t cudaGetDevice(int* device) {
  *device = host.current;
  return did(cudaSuccess);
}
cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device > 2) return did(cudaErrorInvalidDevice);
  host.current = device;
  return did(cudaSuccess);
}
cudaError_t cudaDeviceCanAccessPeer(int* possible, int, int) {
  *possible = 1;
  return did(cudaSuccess);
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return did(cudaErrorPeerAccessAlreadyEnabled); }
cudaError_t cudaMalloc(void** data, std::size_t bytes) { return take(host.device_memory, data, bytes); }
cudaError_t cudaFree(void* data) { return give(host.device_memory, data); }
cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned) { return take(host.pinned_memory, data, bytes); }
cudaError_t cudaFreeHost(void* data) { return give(host.pinned_memory, data); }
cudaError_t cudaHostRegister(void* data, std::size_t bytes, unsigned) {
  host.registered[data] = bytes;
  return did(cudaSuccess);
}
cudaError_t cudaHostUnregister(void* data) {
  return did(host.registered.erase(data) == 1 ? cudaSuccess : cudaErrorHostMemoryNotRegistered);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = new CUstream_st{host.current};
  ++host.streams;
  return did(cudaSuccess);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  --host.streams;
  return did(cudaSuccess);
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return did(cudaSuccess); }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return did(cudaSuccess); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = new CUevent_st;
  ++host.events;
  return did(cudaSuccess);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  --host.events;
  return did(cudaSuccess);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  put([event] { ++event->records; });
  return did(cudaSuccess);
}
cudaError_t cudaEventQuery(cudaEvent_t event) { return did(event->records > 0 ? cudaSuccess : cudaErrorNotReady); }
cudaError_t cudaEventSynchronize(cudaEvent_t event) { return cudaEventQuery(event); }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 1.5f;
  return did(cudaSuccess);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
  const bool from_device = host.device_memory.count(const_cast<void*>(from)) != 0;
  const bool to_device = host.device_memory.count(to) != 0;
  const cudaMemcpyKind is =
      to_device ? from_device ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
  if (is != kind) return did(cudaErrorInvalidMemcpyDirection);
  put([=] { std::memcpy(to, from, bytes); });
  return did(cudaSuccess);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                                cudaStream_t) {
  if (to_device == from_device) return did(cudaErrorInvalidValue);
  put([=] { std::memcpy(to, from, bytes); });
  return did(cudaSuccess);
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  if (stream->device != host.current) return did(cudaErrorInvalidResourceHandle);
  put([=] { std::memset(to, value, bytes); });
  return did(cudaSuccess);
}
cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t function, void* context) {
  put([=] { function(context); });
  return did(cudaSuccess);
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  if (host.recording != nullptr) return did(cudaErrorIllegalState);
  host.recording = new std::vector<std::function<void()>>;
  host.origin = stream;
  return did(cudaSuccess);
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  if (host.recording == nullptr || stream != host.origin) return did(cudaErrorIllegalState);
  *graph = new CUgraph_st{std::move(*host.recording)};
  delete host.recording;
  host.recording = nullptr;
  ++host.graphs;
  return did(cudaSuccess);
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  *status =
      host.recording != nullptr && stream == host.origin ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return did(cudaSuccess);
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* to, cudaGraph_t graph, unsigned long long) {
  *to = new CUgraphExec_st{graph->work};
  ++host.graphs;
  return did(cudaSuccess);
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  --host.graphs;
  return did(cudaSuccess);
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  delete graph;
  --host.graphs;
  return did(cudaSuccess);
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t) {
  for (const auto& work : graph->work) put(work);
  return did(cudaSuccess);
}
cudaError_t cudaGetLastError() {
  const cudaError_t status = host.last;
  host.last = cudaSuccess;
  return status;
}
const char* cudaGetErrorString(cudaError_t) { return "an error of the stand-in"; }
const char* cudaGetErrorName(cudaError_t) { return "name"; }
}

// ---- the test

namespace tg = tagma;
using tg::runtime::on_host;

int failures = 0;
void check(bool good, const char* what) {
  if (good) return;
  ++failures;
  std::printf("failed: %s\n", what);
}

int main() {
  {
    tg::device::cuda::driver driver("2,0");
    check(driver.devices() == 2, "two GPUs are visible");
    check(driver.name(0) == "stand-in 2" && driver.name(1) == "stand-in 0", "in the order of the list");
    check(driver.memory(0).free == 1002 && driver.memory(1).free == 1000, "memory is that of the GPU asked for");
    check(host.current == 0, "the current GPU is what it was");
    driver.connect(0, 1);
    check(host.last == cudaSuccess, "what is connected already is no error that stays");

    std::byte* const device = driver.allocate(0, 64);
    std::byte* const other = driver.allocate(1, 64);
    std::byte* const pinned = driver.allocate_pinned(64);
    std::byte* const nothing = driver.allocate(0, 0);
    check(device != nullptr && host.device_memory.count(device) == 1, "memory of a GPU is what the runtime gave");
    check(pinned != nullptr && host.pinned_memory.count(pinned) == 1, "so is memory of the host");
    check(nothing != nullptr, "no bytes have a place too");
    host.full = true;
    check(driver.allocate(0, 64) == nullptr && driver.allocate_pinned(64) == nullptr, "no memory is a null pointer");
    host.full = false;
    check(host.last == cudaSuccess, "and no error that stays");
    check(driver.pin(pinned, 8) && host.registered.count(pinned) == 1, "memory is pinned");
    driver.unpin(pinned);

    const auto stream = driver.make_stream(0);
    check(stream.device == 0 && tg::device::cuda::native(stream)->device == 2, "a stream is on its GPU");
    const auto event = driver.make_event(0);
    check(!driver.reached(event) && !driver.host_wait(event, 1000), "nothing was recorded");
    check(host.last == cudaSuccess, "an event that is not reached is no error that stays");
    driver.record(event, stream);
    check(driver.reached(event) && driver.host_wait(event, -1), "an event is reached");
    check(driver.elapsed_ns(event, event) == 1'500'000, "milliseconds are told as nanoseconds");

    driver.fill(stream, device, 7, 64);
    driver.copy(stream, {pinned, on_host}, {device, 0}, 64);
    check(pinned[63] == std::byte{7}, "a copy to the host");
    pinned[0] = std::byte{9};
    driver.copy(stream, {device, 0}, {pinned, on_host}, 64);
    driver.copy(stream, {other, 1}, {device, 0}, 64);
    check(other[0] == std::byte{9} && other[1] == std::byte{7}, "copies to a GPU, and from one to another");

    driver.begin_capture(stream);
    driver.fill(stream, device, 3, 64);
    driver.copy(stream, {pinned, on_host}, {device, 0}, 64);
    const auto graph = driver.end_capture(stream);
    check(pinned[1] == std::byte{7}, "what is recorded is not done");
    driver.launch(graph, stream);
    check(pinned[1] == std::byte{3}, "a graph does what was recorded");
    driver.begin_capture(stream);
    driver.fill(stream, device, 4, 64);
    driver.abandon_capture(stream);
    driver.abandon_capture(stream);
    check(host.recording == nullptr && device[0] == std::byte{3}, "what is abandoned is never done");
    try {
      static_cast<void>(driver.allocate(5, 1));
      check(false, "a GPU that is not there");
    } catch (const tg::error& e) {
      check(e.code() == tg::status_code::invalid_argument, "a GPU that is not there is an invalid argument");
    }
    driver.destroy(graph);
    driver.destroy(event);
    driver.destroy(stream);
    for (std::byte* const data : {device, other, nothing}) driver.deallocate(0, data);
    driver.deallocate_pinned(pinned);
  }
  check(host.device_memory.empty() && host.pinned_memory.empty() && host.registered.empty() && host.streams == 0 &&
            host.events == 0 && host.graphs == 0,
        "everything was given back");
  std::printf("%d failed\n", failures);
  return failures == 0 ? 0 : 1;
}
