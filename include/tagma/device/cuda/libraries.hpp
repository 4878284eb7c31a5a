// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What the kernels of one stream share: working memory, handles of libraries, and the few numbers that change from run
/// to run. `run_context::library` points to a `stream_resources`.
///
/// A graph of CUDA is recorded once and replayed, with the arguments of its kernels as they were. So the number of the
/// run is no argument: it is in memory of the device, written before each run or replay, and random kernels read it
/// there. Kernels that meet an index outside its axis cannot throw; they leave a note in the same memory, which is
/// looked at when the run is over. Entries of such kernels say `reads_run`.

#include "tagma/base/config.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/device/cuda/launch.hpp"
#include "tagma/device/stream/memory_pool.hpp"
#include "tagma/runtime/mutex.hpp"

/// 1 lets products and convolutions of float round their operands to 19 bits (TF32), which is several times as fast.
#if !defined(TAGMA_CUDA_TF32)
#define TAGMA_CUDA_TF32 0
#endif

namespace tagma::device::cuda {

/// Bytes of the device with one owner.
class device_bytes {
 public:
  device_bytes() = default;
  explicit device_bytes(std::size_t size) : size_(size) {
    if (size == 0) return;
    if (emulates())
      data_ = ::operator new (size, std::align_val_t{256});
    else
      check(cudaMalloc(&data_, size), "cudaMalloc");
  }
  device_bytes(device_bytes&& other) noexcept : data_(other.data_), size_(other.size_) {
    other.data_ = nullptr;
    other.size_ = 0;
  }
  device_bytes& operator=(device_bytes&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  device_bytes(const device_bytes&) = delete;
  device_bytes& operator=(const device_bytes&) = delete;
  ~device_bytes() {
    if (data_ == nullptr) return;
    if (emulates())
      ::operator delete (data_, std::align_val_t{256});
    else
      ignore(cudaFree(data_));
  }
  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(data_); }
  template <class T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(data_);
  }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Bytes of the host that the device can read while the host goes on, with one owner.
class pinned_bytes {
 public:
  explicit pinned_bytes(std::size_t size) {
    if (size == 0) return;
    if (emulates())
      data_ = ::operator new(size);
    else
      check(cudaMallocHost(&data_, size), "cudaMallocHost");
  }
  pinned_bytes(const pinned_bytes&) = delete;
  pinned_bytes& operator=(const pinned_bytes&) = delete;
  ~pinned_bytes() {
    if (data_ == nullptr) return;
    if (emulates())
      ::operator delete(data_);
    else
      ignore(cudaFreeHost(data_));
  }
  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  void* data_ = nullptr;
};

/// What changes from run to run, in memory of the device.
struct run_parameters {
  std::uint64_t seed = 0;     ///< of the session
  std::uint64_t step = 0;     ///< counts the runs of the session
  std::uint64_t failure = 0;  ///< of all wrong indices that kernels met, the one that comes first; all ones: none
};

/// The word that says that no kernel met a wrong index.
inline constexpr std::uint64_t no_failure = ~std::uint64_t{0};

/// Bits of such a word that hold a position; those above hold a node.
inline constexpr int position_bits = 40;
inline constexpr std::uint64_t last_position = (std::uint64_t{1} << position_bits) - 1;

/// Notes that the element at `position` of the indices of node `source` is not within its axis. Of several notes the
/// smallest stays, so that the message does not depend on which thread came first.
TAGMA_DEVICE void report_index(run_parameters* run, std::int32_t source, std::int64_t position) {
  const auto at = static_cast<std::uint64_t>(position);
  const std::uint64_t note =
      (static_cast<std::uint64_t>(source) << position_bits) | (at < last_position ? at : last_position);
#if defined(__CUDA_ARCH__)
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
  atomicMin(reinterpret_cast<unsigned long long*>(&run->failure), static_cast<unsigned long long>(note));
#else
  if (note < run->failure) run->failure = note;
#endif
}

/// Throws OutOfRange if kernels met a wrong index.
/// @param failure the word that `run_parameters::failure` holds at the end of a run
/// @param describe gives the text for a node of the program, such as "gather 'rows'"
template <class Describe>
void check_run(std::uint64_t failure, const Describe& describe) {
  if (failure == no_failure) return;
  fail(status_code::out_of_range,
       {describe(static_cast<std::int32_t>(failure >> position_bits)), ": the index at position ",
        failure & last_position, " is not within the axis of what it selects from"});
}

/// An object of a library with one owner.
/// @tparam Destroy the library's function that ends it
template <class Handle, auto Destroy>
class library_object {
 public:
  library_object() = default;
  library_object(const library_object&) = delete;
  library_object& operator=(const library_object&) = delete;
  ~library_object() {
    if (handle_ != nullptr) Destroy(handle_);
  }
  [[nodiscard]] Handle get() const { return handle_; }
  /// Where the library's function that makes it puts it.
  [[nodiscard]] Handle* place() { return &handle_; }

 private:
  Handle handle_ = nullptr;
};

/// The handle of a library on one GPU, for all plans of the process: it takes long to make and keeps memory of the GPU.
/// One call at a time has it. It is never destroyed, since plans may end after the driver of CUDA has shut down.
/// @tparam Make the library's function that makes one for the current GPU
template <class Handle, auto Make>
class shared_handle {
 public:
  shared_handle(const shared_handle&) = delete;
  shared_handle& operator=(const shared_handle&) = delete;

  /// That of the current GPU, made if it is not there; so `prepare` asks for it before a run does.
  [[nodiscard]] TAGMA_COLD static shared_handle& of_current_gpu() {
    static mutex adding;
    static shared_handle* first = nullptr;
    int gpu = 0;
    if (!emulates()) check(cudaGetDevice(&gpu), "cudaGetDevice");
    const mutex_lock lock(adding);
    for (shared_handle* h = first; h != nullptr; h = h->next_)
      if (h->gpu_ == gpu) return *h;
    auto made = owned<shared_handle>(new shared_handle(gpu, first));
    Make(&made->handle_);
    return *(first = made.release());
  }

  /// The handle while this lives.
  class use {
   public:
    explicit use(shared_handle& shared) : lock_(shared.one_call_), handle_(shared.handle_) {}
    [[nodiscard]] Handle get() const { return handle_; }

   private:
    mutex_lock lock_;
    Handle handle_;
  };

 private:
  shared_handle(int gpu, shared_handle* next) : gpu_(gpu), next_(next) {}

  int gpu_;
  shared_handle* next_;
  Handle handle_ = nullptr;
  mutex one_call_;
};

/// The factors 1 and 0 by which libraries multiply what they compute and what was there before, in the type that they
/// compute elements of `type` in.
class library_factors {
 public:
  explicit library_factors(dtype type) : wide_(type == dtype::float64) {}
  [[nodiscard]] const void* one() const { return wide_ ? static_cast<const void*>(&wide_one_) : &one_; }
  [[nodiscard]] const void* zero() const { return wide_ ? static_cast<const void*>(&wide_zero_) : &zero_; }

 private:
  bool wide_;
  float one_ = 1, zero_ = 0;
  double wide_one_ = 1, wide_zero_ = 0;
};

/// Bytes of a part of working memory, so that the next one begins where a library wants its own.
[[nodiscard]] constexpr std::size_t workspace_part(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

/// What the kernels of one stream share; used by one thread at a time, while the stream's GPU is current. A recorded
/// graph holds addresses of this memory, so it is replayed on the stream that it was recorded from.
class stream_resources {
 public:
  /// @param parameters of the runs, in memory of the device; may be missing if no kernel reads them
  /// @param pool what working memory is taken from; nullptr: CUDA
  stream_resources(void* stream, run_parameters* parameters, stream::memory_pool* pool = nullptr)
      : stream_(stream), parameters_(parameters), pool_(pool) {}

  /// The stream, as `run_context` has it.
  [[nodiscard]] void* stream() const { return stream_; }

  /// Makes the working memory at least this large. Memory that it had before stays valid for graphs that use it.
  /// Throws ResourceExhausted where the device has no room.
  void reserve(std::size_t bytes) {
    if (bytes > size_ && !grows_twofold(bytes)) grow(bytes);
  }
  /// The same for a caller that can do with less: false where the device has no room.
  [[nodiscard]] bool try_reserve(std::size_t bytes) {
    return bytes <= size_ || grows_twofold(bytes) || try_grow(bytes);
  }
  /// Memory for one kernel call; what is in it is lost at the next.
  [[nodiscard]] std::byte* workspace() const { return workspace_ == nullptr ? nullptr : workspace_->data(); }
  [[nodiscard]] std::size_t workspace_size() const { return size_; }

  [[nodiscard]] run_parameters* parameters() const {
    if (parameters_ == nullptr)
      fail(status_code::internal, "a kernel reads numbers of the run, and its entry does not say so");
    return parameters_;
  }

 private:
  struct block {
    block(std::size_t size, stream::memory_pool* pool) : bytes(size) {
      if (pool != nullptr)
        of_pool = pool->allocate(static_cast<std::int64_t>(size), "working memory of kernels");
      else
        own = device_bytes(size);
    }
    [[nodiscard]] std::byte* data() const { return own.size() > 0 ? own.data() : of_pool.data(); }
    std::size_t bytes;
    device_bytes own;
    stream::device_block of_pool;
    owned<block> before;
  };

  void grow(std::size_t bytes) {
    auto grown = make_owned<block>(bytes, pool_);
    size_ = bytes;
    grown->before = std::move(workspace_);
    workspace_ = std::move(grown);
  }
  [[nodiscard]] TAGMA_COLD bool try_grow(std::size_t bytes) {
    try {
      grow(bytes);
      return true;
    } catch (const error& e) {
      if (e.code() != status_code::resource_exhausted) throw;
      return false;
    }
  }
  /// Memory that grows little by little would leave many blocks behind.
  [[nodiscard]] bool grows_twofold(std::size_t bytes) { return bytes < 2 * size_ && try_grow(2 * size_); }

  void* stream_;
  run_parameters* parameters_;
  stream::memory_pool* pool_;
  owned<block> workspace_;
  std::size_t size_ = 0;
};

/// What the stream of a run shares.
[[nodiscard]] inline stream_resources& resources_of(const run_context& context) {
  return *static_cast<stream_resources*>(context.library);
}

/// The state of a kernel that a library may compute.
template <class Library>
struct library_state final : kernel_state {
  owned<Library> library;  ///< nullptr: the kernel's own body does
};
/// What computes a kernel with such a state, or nullptr.
template <class Library>
[[nodiscard]] const Library* library_of(const kernel_args& args) {
  return static_cast<const library_state<Library>*>(args.state)->library.get();
}

/// The state of a kernel that needs working memory on its stream.
[[nodiscard]] inline owned<kernel_state> reserve_workspace(const run_context& context, std::size_t bytes) {
  resources_of(context).reserve(bytes);
  return nullptr;
}

}  // namespace tagma::device::cuda
