// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// How work gets onto a stream. The code of a kernel is a body: a type with `struct arguments` and
/// `TAGMA_DEVICE static void run(const place&, const arguments&)`, which one thread of a grid runs. A body is a
/// function of the host as well. With TAGMA_CUDA_EMULATION=1 a program without a GPU runs it there, thread by thread.

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstring>

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/scalar.hpp"
#include "tagma/device/cuda/status.hpp"
#include "tagma/device/kernel.hpp"

#if !defined(TAGMA_CUDA_EMULATION)
#define TAGMA_CUDA_EMULATION 0
#endif
#if TAGMA_CUDA_EMULATION
#include "tagma/device/cuda/emulation.hpp"
#endif

namespace tagma::device::cuda {

/// The stream of a run.
[[nodiscard]] inline cudaStream_t stream_of(const run_context& context) {
  return static_cast<cudaStream_t>(context.stream);
}

/// True where kernels run on the host.
[[nodiscard]] inline bool emulates() {
#if TAGMA_CUDA_EMULATION
  return emulation::active();
#else
  return false;
#endif
}

/// True where cuBLASLt and cuDNN can be called: on a GPU, or where a test stands in for them.
[[nodiscard]] inline bool libraries_answer() {
#if TAGMA_CUDA_EMULATION
  return !emulation::active() || emulation::has_libraries();
#else
  return true;
#endif
}

/// Where a thread is in its grid.
struct place {
  std::int64_t block = 0;
  std::int64_t blocks = 1;
  int thread = 0;
  int threads = 1;
  std::byte* shared = nullptr;  ///< memory of the block, as much as the launch asked for

  /// The number of this thread among all.
  [[nodiscard]] TAGMA_DEVICE std::int64_t index() const { return block * threads + thread; }
  /// All threads of the grid.
  [[nodiscard]] TAGMA_DEVICE std::int64_t count() const { return blocks * threads; }

  /// Waits for the other threads of the block.
  TAGMA_DEVICE void wait() const {
#if defined(__CUDA_ARCH__)
    __syncthreads();
#elif TAGMA_CUDA_EMULATION
    emulation::wait();
#endif
  }
  /// The value of the thread whose number differs by the bits of `mask`, below 32. All threads of a block call it.
  template <class T>
  [[nodiscard]] TAGMA_DEVICE T exchange(T value, int mask) const {
#if defined(__CUDA_ARCH__)
    if constexpr (sizeof(T) < 4) {
      int word = 0;
      memcpy(&word, &value, sizeof value);
      word = __shfl_xor_sync(0xffffffffu, word, mask);
      memcpy(&value, &word, sizeof value);
    } else {
      constexpr int words = static_cast<int>(sizeof(T) / 4);
      int word[words];
      memcpy(word, &value, sizeof value);
      for (int w = 0; w < words; ++w) word[w] = __shfl_xor_sync(0xffffffffu, word[w], mask);
      memcpy(&value, word, sizeof value);
    }
    return value;
#elif TAGMA_CUDA_EMULATION
    return emulation::exchange(value, thread, mask);
#else
    static_cast<void>(mask);
    return value;
#endif
  }
};

/// Threads of a block; no kernel has more.
inline constexpr int block_threads = 256;

/// The size of a grid.
struct geometry {
  std::int64_t blocks = 1;
  int threads = block_threads;
  std::size_t shared = 0;  ///< bytes of memory of each block

  /// One thread for each of `count` things, as long as the grid stays small enough that its threads are all at work at
  /// once on a large device; else each thread takes several.
  [[nodiscard]] static constexpr geometry over(std::int64_t count, int threads = block_threads) {
    constexpr std::int64_t most = 4096;
    const std::int64_t blocks = pieces(count, threads);
    return {blocks < 1 ? 1 : blocks < most ? blocks : most, threads, 0};
  }
  /// A block for each of `count` pieces of work, as long as they are not very many; else each block takes several.
  [[nodiscard]] static constexpr geometry blocks_for(std::int64_t count, std::size_t shared) {
    constexpr std::int64_t most = std::int64_t{1} << 20;
    return {count < most ? count : most, block_threads, shared};
  }
};

/// One thread of a grid.
template <class Body>
__global__ void __launch_bounds__(block_threads) run_body(const __grid_constant__ typename Body::arguments a) {
#if defined(__CUDA_ARCH__)
  extern __shared__ uint4 shared_memory[];
  Body::run(place{blockIdx.x, gridDim.x, static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x),
                  reinterpret_cast<std::byte*>(shared_memory)},
            a);
#else
  static_cast<void>(a);
#endif
}

/// Throws what came of a launch. The runtime takes a kernel that nvcc did not make for a bad handle.
inline void check_launch(cudaError_t status) {
  if (status == cudaErrorInvalidResourceHandle || status == cudaErrorInvalidDeviceFunction) {
    ignore(status);
    fail(status_code::unimplemented,
         {"the program has no kernel for this step: it was compiled for another GPU, or nvcc's front end took two "
          "expressions for one that are equal but for numbers written in place; then give one of the numbers a name, "
          "as in tagma::constant<\"two\">(2.0f)"});
  }
  check(status, "cudaLaunchKernel");
}

/// Runs a body in every thread of a grid.
template <class Body>
void launch(const geometry& g, const run_context& context, const typename Body::arguments& a) {
#if TAGMA_CUDA_EMULATION
  if (emulates()) {
    struct task {
      const typename Body::arguments& a;
      std::int64_t blocks;
      int threads;
    };
    const task whole{a, g.blocks, g.threads};
    emulation::run_grid(g.blocks, g.threads, g.shared, &whole,
                        [](const void* t, std::int64_t block, int thread, std::byte* shared) {
                          const task& one = *static_cast<const task*>(t);
                          Body::run(place{block, one.blocks, thread, one.threads, shared}, one.a);
                        });
    return;
  }
#endif
  void* arguments[] = {const_cast<void*>(static_cast<const void*>(&a))};
  check_launch(cudaLaunchKernel(reinterpret_cast<const void*>(&run_body<Body>), dim3(static_cast<unsigned>(g.blocks)),
                                dim3(static_cast<unsigned>(g.threads)), static_cast<void**>(arguments), g.shared,
                                stream_of(context)));
}

/// Copies bytes between two places of the device.
inline void copy_on_device(void* to, const void* from, std::size_t bytes, const run_context& context) {
  if (bytes == 0 || to == from) return;
  if (emulates())
    std::memcpy(to, from, bytes);
  else
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_of(context)), "cudaMemcpyAsync");
}

/// Copies bytes of the host to the device and waits for that; for `prepare`, never for a run.
inline void upload(void* to, const void* from, std::size_t bytes, const run_context& context) {
  if (bytes == 0) return;
  if (emulates()) {
    std::memcpy(to, from, bytes);
    return;
  }
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_of(context)), "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream_of(context)), "cudaStreamSynchronize");
}

/// Sets bytes of the device to zero.
inline void clear_on_device(void* to, std::size_t bytes, const run_context& context) {
  if (bytes == 0) return;
  if (emulates())
    std::memset(to, 0, bytes);
  else
    check(cudaMemsetAsync(to, 0, bytes, stream_of(context)), "cudaMemsetAsync");
}

/// Sets every element to zero.
inline void clear_on_device(const operand& o, const run_context& context) {
  clear_on_device(o.data, o.bytes(), context);
}

}  // namespace tagma::device::cuda
