// SPDX-License-Identifier: BSL-1.0
#include <memory>

#include "conformance/kernels.hpp"
#include "support/cuda.hpp"
#include "tagma/device/cuda/all_kernels.hpp"
#include "tagma/device/operation_faces.hpp"

namespace tagma::conformance {

namespace {

namespace cuda = tagma::device::cuda;

void transfer(void* to, const void* from, std::size_t bytes) {
  if (cuda::emulates())
    std::memcpy(to, from, bytes);
  else
    cuda::check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "cudaMemcpy");
}

/// The memory of an operand on the device, between two guards. It begins as far behind a boundary of 64 bytes as the
/// operand of the host; but libraries take it that operands are aligned, as plans have them, so where these answer all
/// are.
class mirrored {
 public:
  explicit mirrored(const runtime::operand& of)
      : host_(of.data),
        bytes_(static_cast<std::size_t>(of.elements()) * size_of(of.type)),
        begin_(guard + (cuda::libraries_answer() ? 0 : reinterpret_cast<std::uintptr_t>(host_) % 64)),
        whole_(begin_ + bytes_ + guard, poison),
        block_(whole_.size()) {
    std::memcpy(whole_.data() + begin_, host_, bytes_);
    transfer(block_.data(), whole_.data(), whole_.size());
  }
  /// Gives the host what a kernel has made of it.
  void finish(std::string_view kernel) {
    transfer(whole_.data(), block_.data(), whole_.size());
    for (std::size_t i = 0; i < whole_.size(); ++i)
      if ((i < begin_ || i >= begin_ + bytes_) && whole_[i] != poison)
        fail(status_code::internal, {kernel, " writes beside an operand on the GPU"});
    std::memcpy(host_, whole_.data() + begin_, bytes_);
  }
  [[nodiscard]] bool is_of(const runtime::operand& o) const { return host_ == o.data; }
  [[nodiscard]] std::byte* data() const { return block_.data() + begin_; }

 private:
  static constexpr std::size_t guard = 256;
  static constexpr std::byte poison{0xff};
  std::byte* host_;
  std::size_t bytes_, begin_;
  std::vector<std::byte> whole_;
  cuda::device_bytes block_;
};

/// Where a kernel writes what it finds: memory of the host that a GPU reaches.
class found_on_gpu final : public runtime::late_results {
 public:
  explicit found_on_gpu(runtime::late_results* of) : of_(of) {
    if (of == nullptr) return;
    if (cuda::emulates())
      extents = of->extents;
    else
      cuda::check(cudaHostAlloc(reinterpret_cast<void**>(&extents), size, cudaHostAllocPortable), "cudaHostAlloc");
    if (extents != of->extents) std::memcpy(extents, of->extents, size);
  }
  ~found_on_gpu() override {
    if (of_ != nullptr && !cuda::emulates()) cudaFreeHost(extents);
  }
  [[nodiscard]] std::byte* allocate(int, const shape&) override { return nullptr; }
  void finish() const {
    if (of_ != nullptr && extents != of_->extents) std::memcpy(of_->extents, extents, size);
  }

 private:
  static constexpr std::size_t size = 3 * max_rank * sizeof(extent);
  runtime::late_results* of_;
};

using tagma::device::kernel_registry, tagma::device::registered_kernel;

/// Operations of loops are loops of one, as data: of floats and doubles by the kernel of all such loops and by that of
/// the operation, by turns.
class cuda_gpu final : public device {
 public:
  cuda_gpu() {
    test::on_gpu();  // or on the host, which is decided here
    for (const ir::operation_face* const f : tagma::device::operations::operation_faces())
      for (const registered_kernel& k : cuda::all_kernels().find(f->info().key))
        if (k.entry.run != nullptr) kernels_.push_back({k.key, k.types, 0, k.entry});
  }
  [[nodiscard]] std::string_view name() const override { return "GPU (CUDA)"; }
  /// Strings stay on the host.
  [[nodiscard]] bool has(const ir::op_info& op, const signature& types) const override {
    return types.element != dtype::string &&
           (op.kind == ir::op_kind::elementwise ? has_body(op, types) : has_kernel(kernels_, op, types));
  }
  void run(const kernel_call& call) const override {
    kernel_call there = call;
    std::vector<std::unique_ptr<mirrored>> blocks;
    const auto mirror = [&](runtime::operand& o) {
      const mirrored* found = nullptr;
      for (const auto& b : blocks)
        if (b->is_of(o)) found = b.get();
      if (found == nullptr) found = blocks.emplace_back(std::make_unique<mirrored>(o)).get();
      o.data = found->data();
    };
    for (runtime::operand& o : there.in) mirror(o);
    if (there.outs.empty()) mirror(there.out);
    for (runtime::operand& o : there.outs)
      if (o.data != nullptr) mirror(o);
    found_on_gpu found(call.late);
    if (call.late != nullptr) there.late = &found;

    cuda::stream_resources& shared = test::shared_resources();
    runtime::run_context context;
    context.library = &shared;
    const cuda::run_parameters numbers{call.seed, call.step, cuda::no_failure};
    transfer(test::run_numbers(), &numbers, sizeof numbers);
    tagma::device::loop_recipe recipe;
    const loops_apart_by_turns turn;
    const prepared_call prepared(there, context, [&](const kernel_call& c) {
      if (c.op->kind != ir::op_kind::elementwise) return find_kernel(kernels_, c);
      recipe = recipe_of(c);
      return cuda::interpreted(recipe);
    });
    const std::vector<std::byte> garbage(shared.workspace_size(), std::byte{0xff});
    transfer(shared.workspace(), garbage.data(), garbage.size());
    prepared.run();
    if (!cuda::emulates()) cuda::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    cuda::check_run(test::noted_failure(), [&](std::int32_t) { return std::string(call.op->name); });
    for (const auto& b : blocks) b->finish(call.op->name);
    found.finish();
  }

 private:
  struct loops_apart_by_turns {
    loops_apart_by_turns() { cuda::emulation::lacks_loops() = calls++ % 2 == 0; }
    ~loops_apart_by_turns() { cuda::emulation::lacks_loops() = false; }
    static inline int calls = 0;
  };

  static bool has_body(const ir::op_info& op, const signature& types) {
    using tagma::device::detail::computed_as;
    for (const registered_kernel& k : cuda::all_kernels().find(op.key))
      if (k.body != nullptr && k.types.out == computed_as(types.out) && k.types.in[0] == computed_as(types.in[0]) &&
          k.types.in[1] == computed_as(types.in[1]))
        return true;
    return false;
  }
  static tagma::device::loop_recipe recipe_of(const kernel_call& call) {
    const unsigned stretched = stretched_loads(call);
    std::vector<plan::loop_load> loads;
    for (std::size_t i = 0; i < call.in.size(); ++i) loads.push_back({0, call.in[i].type, ((stretched >> i) & 1) == 0});
    const plan::loop_operation operations[] = {{call.op, call.out.type, {0, 1, 2}}};
    return tagma::device::detail::recipe_maker(cuda::all_kernels(), loads, operations).make();
  }

  kernel_values kernels_;
};

}  // namespace

const device& cuda_device() {
  static const cuda_gpu instance;
  return instance;
}

std::vector<const device*> devices() { return {&cuda_device()}; }

}  // namespace tagma::conformance
