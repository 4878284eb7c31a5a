// SPDX-License-Identifier: BSL-1.0
#include <cstring>
#include <memory>

#include "conformance/cpu/kernels.hpp"
#include "tagma/device/cpu/executor.hpp"
#include "tagma/device/fake/driver.hpp"

namespace tagma::conformance {

namespace {

/// The memory of an operand on the fake device, and what the host sends and fetches. It begins as far behind a boundary
/// of 64 bytes as the operand of the host, between two guards.
class mirrored {
 public:
  mirrored(tagma::device::fake::driver& driver, const runtime::operand& of)
      : driver_(driver), host_(of.data), bytes_(static_cast<std::size_t>(of.elements()) * size_of(of.type)) {
    const std::size_t behind = reinterpret_cast<std::uintptr_t>(host_) % 64;
    block_ = driver.allocate(0, bytes_ + behind + 2 * guard);
    pinned_ = driver.allocate_pinned(bytes_ + 2 * guard);
    data_ = block_ + guard + behind;
    std::memcpy(pinned_ + guard, host_, bytes_);
  }
  mirrored(const mirrored&) = delete;
  mirrored& operator=(const mirrored&) = delete;
  ~mirrored() {
    driver_.deallocate(0, block_);
    driver_.deallocate_pinned(pinned_);
  }
  void send(runtime::stream_ref stream) const {
    driver_.copy(stream, {data_, 0}, {pinned_ + guard, runtime::on_host}, bytes_);
  }
  void fetch(runtime::stream_ref stream) const {
    driver_.copy(stream, {pinned_, runtime::on_host}, {data_ - guard, 0}, bytes_ + 2 * guard);
  }
  /// Gives the host what was fetched.
  void finish(std::string_view kernel) const {
    for (std::size_t i = 0; i < guard; ++i)
      if (pinned_[i] != poison || pinned_[guard + bytes_ + i] != poison)
        fail(status_code::internal, {kernel, " writes beside an operand on the fake GPU"});
    std::memcpy(host_, pinned_ + guard, bytes_);
  }
  [[nodiscard]] bool is_of(const runtime::operand& o) const { return host_ == o.data; }
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] tagma::device::fake::access access(bool writes) const { return {data_, bytes_, writes}; }

 private:
  static constexpr std::size_t guard = 256;
  static constexpr std::byte poison{tagma::device::fake::memory_table::poison};
  tagma::device::fake::driver& driver_;
  std::byte* host_;
  std::size_t bytes_;
  std::byte *block_ = nullptr, *pinned_ = nullptr, *data_ = nullptr;
};

class fake_gpu final : public device {
 public:
  [[nodiscard]] std::string_view name() const override { return "fake GPU"; }
  /// Strings stay on the host.
  [[nodiscard]] bool has(const ir::op_info& op, const signature& types) const override {
    return types.element != dtype::string && has_kernel(cpu_kernels(), op, types);
  }
  void run(const kernel_call& call) const override {
    kernel_call there = call;
    std::vector<std::unique_ptr<mirrored>> blocks;
    std::vector<tagma::device::fake::access> accesses;
    const auto mirror = [&](runtime::operand& o, bool reads, bool writes) {
      const mirrored* found = nullptr;
      for (const auto& b : blocks)
        if (b->is_of(o)) found = b.get();
      if (found == nullptr) found = blocks.emplace_back(std::make_unique<mirrored>(driver_, o)).get();
      o.data = found->data();
      if ((reads || writes) && o.elements() > 0) accesses.push_back(found->access(writes));
    };
    // Which of its operands an update writes beside the result, the call does not say.
    const bool update = call.op->kind == ir::op_kind::update;
    for (std::size_t i = 0; i < there.in.size(); ++i)
      mirror(there.in[i], !call.op->ignores_elements(static_cast<int>(i)), update);
    if (there.outs.empty()) mirror(there.out, false, true);
    for (runtime::operand& o : there.outs)
      if (o.data != nullptr) mirror(o, false, true);

    driver_.make_current(0);
    driver_.hold();  // until the kernel is prepared, which must not look at operands
    for (const auto& b : blocks) b->send(copies_.get());
    driver_.record(sent_.get(), copies_.get());
    driver_.wait(kernels_.get(), sent_.get());
    const prepared_call prepared(cpu_kernels(), there, {threads_.get()});
    driver_.launch_kernel(
        kernels_.get(), [&prepared] { prepared.run(); }, std::move(accesses), std::string(call.op->name));
    driver_.record(done_.get(), kernels_.get());
    driver_.wait(copies_.get(), done_.get());
    for (const auto& b : blocks) b->fetch(copies_.get());
    driver_.record(fetched_.get(), copies_.get());
    driver_.release();
    static_cast<void>(driver_.host_wait(fetched_.get(), -1));
    for (const auto& b : blocks) b->finish(call.op->name);
  }

 private:
  mutable tagma::device::fake::driver driver_;
  runtime::owned_stream copies_{driver_, driver_.make_stream(0)}, kernels_{driver_, driver_.make_stream(0)};
  runtime::owned_event sent_{driver_, driver_.make_event(0)}, done_{driver_, driver_.make_event(0)},
      fetched_{driver_, driver_.make_event(0)};
  owned<runtime::executor> threads_ = runtime::make_cpu_executor(1, 1);
};

}  // namespace

const device& fake_gpu_device() {
  static const fake_gpu instance;
  return instance;
}

}  // namespace tagma::conformance
