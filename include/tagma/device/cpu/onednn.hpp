// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What kernels share that call primitives of oneDNN through its C interface: handles that release what they own, the
/// engine, errors that throw, and what its version 2 needs to look like version 3, for which the rest is written.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/gemm.hpp"
#include "tagma/device/cpu/onednn_primitives.hpp"

#if TAGMA_ONEDNN_PRIMITIVES

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
  /// Where a function of oneDNN writes the handle that it makes, while this is null.
  [[nodiscard]] Handle* place() { return &handle_; }
  [[nodiscard]] bool operator==(decltype(nullptr)) const { return handle_ == nullptr; }

 private:
  Handle handle_ = nullptr;
};
using dnnl_owned_primitive = dnnl_handle<dnnl_primitive_t, &dnnl_primitive_destroy>;
using dnnl_owned_desc = dnnl_handle<dnnl_primitive_desc_t, &dnnl_primitive_desc_destroy>;
using dnnl_owned_memory = dnnl_handle<dnnl_memory_t, &dnnl_memory_destroy>;
using dnnl_owned_stream = dnnl_handle<dnnl_stream_t, &dnnl_stream_destroy>;
using dnnl_owned_attr = dnnl_handle<dnnl_primitive_attr_t, &dnnl_primitive_attr_destroy>;

#if DNNL_VERSION_MAJOR < 3
// Version 2 in the words of version 3. A layout is a structure there; a primitive is described in two steps, the first
// of which writes an operation.
/// A layout that somebody else owns.
using dnnl_layout = const dnnl_memory_desc_t*;
class dnnl_owned_layout {
 public:
  [[nodiscard]] dnnl_layout get() const { return &layout_; }
  [[nodiscard]] dnnl_memory_desc_t* place() { return &layout_; }

 private:
  dnnl_memory_desc_t layout_{};
};

inline dnnl_status_t dnnl_memory_desc_create_with_strides(dnnl_memory_desc_t* made, int rank, const dnnl_dims_t dims,
                                                          dnnl_data_type_t type, const dnnl_dims_t strides) {
  return dnnl_memory_desc_init_by_strides(made, rank, dims, type, strides);
}
inline dnnl_status_t dnnl_memory_desc_create_with_tag(dnnl_memory_desc_t* made, int rank, const dnnl_dims_t dims,
                                                      dnnl_data_type_t type, dnnl_format_tag_t order) {
  return dnnl_memory_desc_init_by_tag(made, rank, dims, type, order);
}
inline dnnl_status_t dnnl_post_ops_append_eltwise(dnnl_post_ops_t ops, dnnl_alg_kind_t what, float a, float b) {
  return ::dnnl_post_ops_append_eltwise(ops, 1.0f, what, a, b);
}
inline dnnl_status_t dnnl_post_ops_append_sum(dnnl_post_ops_t ops, float scale, std::int32_t, dnnl_data_type_t) {
  return ::dnnl_post_ops_append_sum(ops, scale);
}
TAGMA_COLD inline dnnl_status_t dnnl_matmul_primitive_desc_create(dnnl_primitive_desc_t* made, dnnl_engine_t engine,
                                                                  dnnl_layout a, dnnl_layout b, dnnl_layout bias,
                                                                  dnnl_layout c, dnnl_primitive_attr_t attributes) {
  dnnl_matmul_desc_t operation;
  const dnnl_status_t status = dnnl_matmul_desc_init(&operation, a, b, bias, c);
  return status != dnnl_success ? status : dnnl_primitive_desc_create(made, &operation, attributes, engine, nullptr);
}
TAGMA_COLD inline dnnl_status_t dnnl_convolution_forward_primitive_desc_create(
    dnnl_primitive_desc_t* made, dnnl_engine_t engine, dnnl_prop_kind_t purpose, dnnl_alg_kind_t algorithm,
    dnnl_layout x, dnnl_layout filter, dnnl_layout bias, dnnl_layout y, const dnnl_dims_t strides,
    const dnnl_dims_t dilations, const dnnl_dims_t before, const dnnl_dims_t after, dnnl_primitive_attr_t attributes) {
  dnnl_convolution_desc_t operation;
  const dnnl_status_t status = dnnl_dilated_convolution_forward_desc_init(&operation, purpose, algorithm, x, filter,
                                                                          bias, y, strides, dilations, before, after);
  return status != dnnl_success ? status : dnnl_primitive_desc_create(made, &operation, attributes, engine, nullptr);
}
TAGMA_COLD inline dnnl_status_t dnnl_convolution_backward_data_primitive_desc_create(
    dnnl_primitive_desc_t* made, dnnl_engine_t engine, dnnl_alg_kind_t algorithm, dnnl_layout x, dnnl_layout filter,
    dnnl_layout y, const dnnl_dims_t strides, const dnnl_dims_t dilations, const dnnl_dims_t before,
    const dnnl_dims_t after, const_dnnl_primitive_desc_t forward, dnnl_primitive_attr_t attributes) {
  dnnl_convolution_desc_t operation;
  const dnnl_status_t status = dnnl_dilated_convolution_backward_data_desc_init(&operation, algorithm, x, filter, y,
                                                                                strides, dilations, before, after);
  return status != dnnl_success ? status : dnnl_primitive_desc_create(made, &operation, attributes, engine, forward);
}
TAGMA_COLD inline dnnl_status_t dnnl_convolution_backward_weights_primitive_desc_create(
    dnnl_primitive_desc_t* made, dnnl_engine_t engine, dnnl_alg_kind_t algorithm, dnnl_layout x, dnnl_layout filter,
    dnnl_layout bias, dnnl_layout y, const dnnl_dims_t strides, const dnnl_dims_t dilations, const dnnl_dims_t before,
    const dnnl_dims_t after, const_dnnl_primitive_desc_t forward, dnnl_primitive_attr_t attributes) {
  dnnl_convolution_desc_t operation;
  const dnnl_status_t status = dnnl_dilated_convolution_backward_weights_desc_init(
      &operation, algorithm, x, filter, bias, y, strides, dilations, before, after);
  return status != dnnl_success ? status : dnnl_primitive_desc_create(made, &operation, attributes, engine, forward);
}
#else
using dnnl_layout = const_dnnl_memory_desc_t;
using dnnl_owned_layout = dnnl_handle<dnnl_memory_desc_t, &dnnl_memory_desc_destroy>;
#endif

void check_dnnl(dnnl_status_t status, const char* what);

/// The CPU as oneDNN sees it; lives as long as the process.
[[nodiscard]] dnnl_engine_t dnnl_processor();

[[nodiscard]] dnnl_owned_stream make_dnnl_stream();

/// Floats, or elements of another type, whose neighbours along each axis are `strides` elements apart.
[[nodiscard]] dnnl_owned_layout make_dnnl_layout(int rank, const dnnl_dims_t dims, const dnnl_dims_t strides,
                                                 dnnl_data_type_t type = dnnl_f32);
/// The same, in an order that has a name, or in the one that a primitive likes best.
[[nodiscard]] dnnl_owned_layout make_dnnl_layout(int rank, const dnnl_dims_t dims, dnnl_format_tag_t order);
[[nodiscard]] inline bool equal(dnnl_layout a, dnnl_layout b) { return dnnl_memory_desc_equal(a, b) != 0; }
[[nodiscard]] inline std::size_t bytes_of(dnnl_layout layout) { return dnnl_memory_desc_get_size(layout); }

[[nodiscard]] dnnl_owned_memory make_dnnl_memory(dnnl_layout layout, void* data = DNNL_MEMORY_NONE);
void set_dnnl_data(const dnnl_owned_memory& m, const void* data);

/// Attributes of a primitive whose working memory its caller provides.
/// @param relu the result goes through max(x, 0)
/// @param six  and then through min(x, 6)
[[nodiscard]] dnnl_owned_attr make_dnnl_attributes(bool relu = false, bool six = false);
/// Those of a primitive whose result is added to what is there.
[[nodiscard]] dnnl_owned_attr make_dnnl_sum();

/// c = a * b as oneDNN would compute it; a null handle if it would not.
[[nodiscard]] dnnl_owned_desc describe_dnnl_product(dnnl_layout a, dnnl_layout b, dnnl_layout c,
                                                    const dnnl_owned_attr& attributes);

/// What the three convolutions of a layer have in common. `bias` may be null.
struct dnnl_convolution {
  dnnl_layout x, filter, bias, y;
  dnnl_dims_t strides, dilations, before, after;
};

/// y = x * filter + bias as oneDNN would compute it; a null handle if it would not. Its gradients take it as a hint.
[[nodiscard]] dnnl_owned_desc describe_dnnl_convolution(const dnnl_convolution& c, const dnnl_owned_attr& attributes);
/// The gradient by x.
[[nodiscard]] dnnl_owned_desc describe_dnnl_input_gradient(const dnnl_convolution& c, const dnnl_owned_desc& forward,
                                                           const dnnl_owned_attr& attributes);
/// The gradient by the filter.
[[nodiscard]] dnnl_owned_desc describe_dnnl_filter_gradient(const dnnl_convolution& c, const dnnl_owned_desc& forward,
                                                            const dnnl_owned_attr& attributes);

/// The name of the implementation that oneDNN has chosen.
[[nodiscard]] std::string_view implementation_of(const dnnl_owned_desc& desc);
/// One of the layouts that it wants.
[[nodiscard]] dnnl_layout layout_of(const dnnl_owned_desc& desc, dnnl_query_t what, int index = 0);
[[nodiscard]] dnnl_owned_primitive make_dnnl_primitive(const dnnl_owned_desc& d, const char* what);

}  // namespace tagma::device::cpu::detail

#endif

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/onednn.ipp"
#endif
