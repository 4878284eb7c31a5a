// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of onednn.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/onednn.hpp"
#include "tagma/device/cpu/onednn_primitives.hpp"

namespace tagma::device::cpu::detail {

#if TAGMA_ONEDNN_PRIMITIVES

TAGMA_DECL void check_dnnl(dnnl_status_t status, const char* what) {
  if (status != dnnl_success)
    fail(status_code::internal, {"oneDNN refused ", what, ", status ", static_cast<int>(status)});
}

TAGMA_COLD TAGMA_DECL dnnl_engine_t dnnl_processor() {
  static const dnnl_engine_t engine = [] {
    dnnl_engine_t e = nullptr;
    check_dnnl(dnnl_engine_create(&e, dnnl_cpu, 0), "an engine");
    return e;
  }();
  return engine;
}

TAGMA_COLD TAGMA_DECL dnnl_owned_stream make_dnnl_stream() {
  dnnl_owned_stream made;
  check_dnnl(dnnl_stream_create(made.place(), dnnl_processor(), dnnl_stream_default_flags), "a stream");
  return made;
}

TAGMA_COLD TAGMA_DECL dnnl_owned_layout make_dnnl_layout(int rank, const dnnl_dims_t dims, const dnnl_dims_t strides,
                                                         dnnl_data_type_t type) {
  dnnl_owned_layout made;
  check_dnnl(dnnl_memory_desc_create_with_strides(made.place(), rank, dims, type, strides), "a layout");
  return made;
}

TAGMA_COLD TAGMA_DECL dnnl_owned_layout make_dnnl_layout(int rank, const dnnl_dims_t dims, dnnl_format_tag_t order) {
  dnnl_owned_layout made;
  check_dnnl(dnnl_memory_desc_create_with_tag(made.place(), rank, dims, dnnl_f32, order), "a layout");
  return made;
}

TAGMA_COLD TAGMA_DECL dnnl_owned_memory make_dnnl_memory(dnnl_layout layout, void* data) {
  dnnl_owned_memory made;
  check_dnnl(dnnl_memory_create(made.place(), layout, dnnl_processor(), data), "a memory object");
  return made;
}

TAGMA_COLD TAGMA_DECL void set_dnnl_data(const dnnl_owned_memory& m, const void* data) {
  check_dnnl(dnnl_memory_set_data_handle(m.get(), const_cast<void*>(data)), "an address");
}

TAGMA_COLD TAGMA_DECL dnnl_owned_attr make_dnnl_attributes(bool relu, bool six) {
  dnnl_owned_attr made;
  check_dnnl(dnnl_primitive_attr_create(made.place()), "attributes");
  check_dnnl(dnnl_primitive_attr_set_scratchpad_mode(made.get(), dnnl_scratchpad_mode_user), "attributes");
  if (!relu) return made;
  dnnl_handle<dnnl_post_ops_t, &dnnl_post_ops_destroy> after;
  check_dnnl(dnnl_post_ops_create(after.place()), "attributes");
  check_dnnl(
      dnnl_post_ops_append_eltwise(after.get(), six ? dnnl_eltwise_clip : dnnl_eltwise_relu, 0.0f, six ? 6.0f : 0.0f),
      "attributes");
  check_dnnl(dnnl_primitive_attr_set_post_ops(made.get(), after.get()), "attributes");
  return made;
}

TAGMA_COLD TAGMA_DECL dnnl_owned_attr make_dnnl_sum() {
  dnnl_owned_attr made = make_dnnl_attributes();
  dnnl_handle<dnnl_post_ops_t, &dnnl_post_ops_destroy> after;
  check_dnnl(dnnl_post_ops_create(after.place()), "attributes");
  check_dnnl(dnnl_post_ops_append_sum(after.get(), 1.0f, 0, dnnl_f32), "attributes");
  check_dnnl(dnnl_primitive_attr_set_post_ops(made.get(), after.get()), "attributes");
  return made;
}

TAGMA_COLD TAGMA_DECL dnnl_owned_desc describe_dnnl_product(dnnl_layout a, dnnl_layout b, dnnl_layout c,
                                                            const dnnl_owned_attr& attributes) {
  dnnl_owned_desc made;
  const dnnl_status_t status =
      dnnl_matmul_primitive_desc_create(made.place(), dnnl_processor(), a, b, nullptr, c, attributes.get());
  return status == dnnl_success ? std::move(made) : dnnl_owned_desc();
}

TAGMA_COLD TAGMA_DECL dnnl_owned_desc describe_dnnl_convolution(const dnnl_convolution& c,
                                                                const dnnl_owned_attr& attributes) {
  dnnl_owned_desc made;
  const dnnl_status_t status = dnnl_convolution_forward_primitive_desc_create(
      made.place(), dnnl_processor(), dnnl_forward_training, dnnl_convolution_direct, c.x, c.filter, c.bias, c.y,
      c.strides, c.dilations, c.before, c.after, attributes.get());
  return status == dnnl_success ? std::move(made) : dnnl_owned_desc();
}

TAGMA_COLD TAGMA_DECL dnnl_owned_desc describe_dnnl_input_gradient(const dnnl_convolution& c,
                                                                   const dnnl_owned_desc& forward,
                                                                   const dnnl_owned_attr& attributes) {
  dnnl_owned_desc made;
  const dnnl_status_t status = dnnl_convolution_backward_data_primitive_desc_create(
      made.place(), dnnl_processor(), dnnl_convolution_direct, c.x, c.filter, c.y, c.strides, c.dilations, c.before,
      c.after, forward.get(), attributes.get());
  return status == dnnl_success ? std::move(made) : dnnl_owned_desc();
}

TAGMA_COLD TAGMA_DECL dnnl_owned_desc describe_dnnl_filter_gradient(const dnnl_convolution& c,
                                                                    const dnnl_owned_desc& forward,
                                                                    const dnnl_owned_attr& attributes) {
  dnnl_owned_desc made;
  const dnnl_status_t status = dnnl_convolution_backward_weights_primitive_desc_create(
      made.place(), dnnl_processor(), dnnl_convolution_direct, c.x, c.filter, nullptr, c.y, c.strides, c.dilations,
      c.before, c.after, forward.get(), attributes.get());
  return status == dnnl_success ? std::move(made) : dnnl_owned_desc();
}

TAGMA_COLD TAGMA_DECL std::string_view implementation_of(const dnnl_owned_desc& desc) {
  const char* name = "";
  dnnl_primitive_desc_query(desc.get(), dnnl_query_impl_info_str, 0, &name);
  return name;
}

TAGMA_COLD TAGMA_DECL dnnl_layout layout_of(const dnnl_owned_desc& desc, dnnl_query_t what, int index) {
  return dnnl_primitive_desc_query_md(desc.get(), what, index);
}

TAGMA_COLD TAGMA_DECL dnnl_owned_primitive make_dnnl_primitive(const dnnl_owned_desc& d, const char* what) {
  dnnl_owned_primitive made;
  check_dnnl(dnnl_primitive_create(made.place(), d.get()), what);
  return made;
}

#endif

}  // namespace tagma::device::cpu::detail
