// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What kernels share that call primitives of oneDNN through its C interface: handles that release what they own, the
/// engine, and errors that throw.

#include "tagma/device/cpu/gemm.hpp"

/// 1 where primitives are used beside the plain products of oneDNN: their interface differs between major versions.
#if defined(TAGMA_WITH_ONEDNN) && TAGMA_WITH_ONEDNN && DNNL_VERSION_MAJOR == 2
#define TAGMA_ONEDNN_PRIMITIVES 1

#include <memory>

namespace tagma::device::cpu::detail {

template <auto Destroy>
struct dnnl_deleter {
  template <class T>
  void operator()(T* handle) const {
    Destroy(handle);
  }
};
template <class Handle, auto Destroy>
using dnnl_handle = std::unique_ptr<std::remove_pointer_t<Handle>, dnnl_deleter<Destroy>>;
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
