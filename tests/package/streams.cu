// SPDX-License-Identifier: BSL-1.0
// Kernels, copies and recorded segments on a GPU; 77 where there is none.
#include <cstdio>
#include <cstring>

#include "tagma/device/cuda/driver.hpp"
#include "tagma/streams.hpp"

namespace tg = tagma;
namespace stream = tg::device::stream;

__global__ void scale(float* x, float by, float plus) { x[threadIdx.x] = x[threadIdx.x] * by + plus; }

constexpr int count = 256;
constexpr std::size_t bytes = count * sizeof(float);

// To the device, two kernels in a chain, and back.
struct steps final : stream::step_functions {
  std::byte *host = nullptr, *device = nullptr;

  void launch(std::size_t s, tg::runtime::stream_ref to) override {
    scale<<<1, count, 0, tg::device::cuda::native(to)>>>(reinterpret_cast<float*>(device), 2.0f, s == 1 ? 1.0f : 3.0f);
    tg::device::cuda::check(cudaGetLastError(), "scale");
  }
  stream::copy_request copy(std::size_t s) override {
    const tg::runtime::memory_place here{host, tg::runtime::on_host}, there{device, 0};
    return s == 0 ? stream::copy_request{there, here, bytes} : stream::copy_request{here, there, bytes};
  }
  void run_host(std::size_t) override {}
  std::string describe(std::size_t s) const override { return tg::sentence({"step ", s}); }
  std::uint64_t arguments(std::size_t, std::size_t) const override { return 1; }
};

int run() {
  tg::device::cuda::driver driver;
  if (driver.devices() == 0) {
    std::printf("no GPU: the program was compiled and linked, and is not run\n");
    return 77;
  }
  stream::memory_pool pool(driver, 0, "/device:GPU:0", {.fraction = 0.01, .allow_growth = true});
  stream::pinned_pool pinned(driver);
  const stream::device_block device = pool.allocate(bytes, "a test");
  const stream::pinned_buffer host = pinned.allocate(bytes);
  steps functions;
  functions.device = device.data();
  functions.host = host.data();
  using stream::step_kind;
  const stream::step list[] = {{step_kind::to_device}, {step_kind::kernel}, {step_kind::kernel}, {step_kind::to_host}};
  const std::int32_t first[] = {0, 0, 1, 2, 3};
  const stream::step_id waits[] = {0, 1, 2};
  stream::dispatcher dispatcher(driver, {list, first, waits});
  auto* const values = reinterpret_cast<float*>(host.data());
  for (int i = 0; i < count; ++i) values[i] = static_cast<float>(i % 7);
  float expected[count];
  std::memcpy(expected, values, bytes);
  for (int n = 0; n < 4; ++n) {
    dispatcher.run(functions, tg::runtime::run_guard({}));
    for (int i = 0; i < count; ++i) {
      expected[i] = (expected[i] * 2 + 1) * 2 + 3;
      if (values[i] != expected[i]) return 1;
    }
  }
  std::printf("%s: %zu segment recorded\n", driver.name(0).c_str(), dispatcher.captured());
  return dispatcher.captured() == 1 ? 0 : 1;
}

int main() {
  try {
    return run();
  } catch (const tg::error& e) {
    std::printf("%s\n", e.what());
    return 1;
  }
}
