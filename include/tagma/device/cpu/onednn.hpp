// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What kernels share that call primitives of oneDNN through its C interface: handles that release what they own, the
/// engine, and errors that throw.

#include "tagma/device/cpu/gemm.hpp"

/// 1 where primitives are used beside the plain products of oneDNN: their interface differs between major versions.
#if defined(TAGMA_WITH_ONEDNN) && TAGMA_WITH_ONEDNN && DNNL_VERSION_MAJOR == 2
#define TAGMA_ONEDNN_PRIMITIVES 1

namespace tagma::device::cpu::detail {

/// A handle of oneDNN with one owner.
template <class Handle, auto Destroy>
class dnnl_handle {
 public:
  dnnl_handle(Handle handle = nullptr) : handle_(handle) {}
  dnnl_handle(dnnl_handle&& other) noexcept : handle_(other.handle_) { other.handle_ = nullptr; }
  dnnl_handle& operator=(dnnl_handle&& other) noexcept {
    Handle const mine = handle_;
    handle_ = other.handle_;
    other.handle_ = mine;
    return *this;
  }
  dnnl_handle(const dnnl_handle&) = delete;
  dnnl_handle& operator=(const dnnl_handle&) = delete;
  ~dnnl_handle() {
    if (handle_ != nullptr) Destroy(handle_);
  }

  [[nodiscard]] Handle get() const { return handle_; }
  [[nodiscard]] bool operator==(decltype(nullptr)) const { return handle_ == nullptr; }

 private:
  Handle handle_ = nullptr;
};
using dnnl_owned_primitive = dnnl_handle<dnnl_primitive_t, &dnnl_primitive_destroy>;
using dnnl_owned_desc = dnnl_handle<dnnl_primitive_desc_t, &dnnl_primitive_desc_destroy>;
using dnnl_owned_memory = dnnl_handle<dnnl_memory_t, &dnnl_memory_destroy>;
using dnnl_owned_stream = dnnl_handle<dnnl_stream_t, &dnnl_stream_destroy>;
using dnnl_owned_attr = dnnl_handle<dnnl_primitive_attr_t, &dnnl_primitive_attr_destroy>;

inline void check_dnnl(dnnl_status_t status, const char* what) {
  if (status != dnnl_success)
    fail(status_code::internal, {"oneDNN refused ", what, ", status ", static_cast<int>(status)});
}

/// The CPU as oneDNN sees it; lives as long as the process.
[[nodiscard]] inline dnnl_engine_t dnnl_processor() {
  static const dnnl_engine_t engine = [] {
    dnnl_engine_t e = nullptr;
    check_dnnl(dnnl_engine_create(&e, dnnl_cpu, 0), "an engine");
    return e;
  }();
  return engine;
}

[[nodiscard]] TAGMA_COLD inline dnnl_owned_stream make_dnnl_stream() {
  dnnl_stream_t s = nullptr;
  check_dnnl(dnnl_stream_create(&s, dnnl_processor(), dnnl_stream_default_flags), "a stream");
  return dnnl_owned_stream(s);
}
[[nodiscard]] TAGMA_COLD inline dnnl_owned_memory make_dnnl_memory(const dnnl_memory_desc_t& layout,
                                                                   void* data = DNNL_MEMORY_NONE) {
  dnnl_memory_t m = nullptr;
  check_dnnl(dnnl_memory_create(&m, &layout, dnnl_processor(), data), "a memory object");
  return dnnl_owned_memory(m);
}
[[nodiscard]] TAGMA_COLD inline dnnl_owned_primitive make_dnnl_primitive(const dnnl_owned_desc& d, const char* what) {
  dnnl_primitive_t made = nullptr;
  check_dnnl(dnnl_primitive_create(&made, d.get()), what);
  return dnnl_owned_primitive(made);
}
[[nodiscard]] inline const dnnl_memory_desc_t& dnnl_layout_of(const dnnl_owned_desc& d, dnnl_query_t what) {
  return *dnnl_primitive_desc_query_md(d.get(), what, 0);
}
inline void set_dnnl_data(const dnnl_owned_memory& m, const float* data) {
  check_dnnl(dnnl_memory_set_data_handle(m.get(), const_cast<float*>(data)), "an address");
}

}  // namespace tagma::device::cpu::detail

#else
#define TAGMA_ONEDNN_PRIMITIVES 0
#endif
