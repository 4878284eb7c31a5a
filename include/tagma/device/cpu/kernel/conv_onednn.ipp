// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of conv_onednn.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/conv_onednn.hpp"
#include "tagma/device/cpu/onednn_primitives.hpp"

namespace tagma::device::cpu::detail {

#if TAGMA_ONEDNN_PRIMITIVES

TAGMA_COLD TAGMA_DECL owned<onednn_convolution> onednn_convolution::make(const conv_problem& p, conv_role role,
                                                                         const conv_epilogue& after, bool lasting) {
  use_one_openmp_thread();  // oneDNN plans for as many threads as there are now
  auto made = owned<onednn_convolution>(new onednn_convolution(p, role, after.biased));
  // All parts share one arranged filter, or sum theirs: they must agree on its layout.
  const dnnl_query_t filter =
      plays(role, conv_role::filter_gradient) ? dnnl_query_diff_weights_md : dnnl_query_weights_md;
  for (std::int64_t t = 0; t < p.parts; ++t) {
    kind* const k = made->kind_of(t);
    if (k == nullptr) return nullptr;
    if (k->desc == nullptr) k->desc = made->describe(*k, after);
    if (k->desc == nullptr || !equal(layout_of(made->kinds_[0].desc, filter), layout_of(k->desc, filter)))
      return nullptr;
  }
  made->create();
  made->lasting_ = lasting;
  if (lasting) runtime::stored_variable::count_writes();
  return made;
}

TAGMA_COLD TAGMA_DECL void onednn_convolution::run(const float* a, const float* b, const float* bias, float* out,
                                                   const run_context& context) {
  use_one_openmp_thread();
  const bool sums = is(conv_role::filter_gradient);
  if (!sums && !(lasting_ && arranged_of_ == context.writes)) arrange_filter(b);
  arranged_of_ = context.writes;
  // What is around the primitives is worth no more code than this.
  const auto task = [&](std::int64_t t) __attribute__((cold)) {
    use_one_openmp_thread();
    part& one = parts_[t];
    set_dnnl_data(one.a, a + one.first_a);
    if (sums) {
      set_dnnl_data(one.b, b + one.first_b);
      set_dnnl_data(one.out, parts_.size() == 1 && reorder_ == nullptr ? out : partial(t));
    } else {
      set_dnnl_data(one.b, reorder_ == nullptr ? b : arranged());
      set_dnnl_data(one.out, out + one.first_out);
      if (biased_) set_dnnl_data(one.bias, bias);
    }
    check_dnnl(dnnl_primitive_execute(one.primitive, one.stream.get(), one.arg_count, one.args), "a convolution");
    check_dnnl(dnnl_stream_wait(one.stream.get()), "a convolution");
  };
  if (parts_.size() == 1)
    task(0);
  else
    context.threads->parallel_for(static_cast<std::int64_t>(parts_.size()), task,
                                  p_.is_small() ? runtime::helpers::awake : runtime::helpers::woken);
  if (sums) collect_filter(out);
}

TAGMA_COLD TAGMA_DECL onednn_convolution::onednn_convolution(const conv_problem& p, conv_role role, bool bias)
    : p_(p), role_(role), biased_(bias) {
  const dnnl_dim_t g = p.groups, c = p.channels / g, f = p.filters, h = p.rows.size, w = p.columns.size;
  if (g == 1) {
    const dnnl_dims_t dims = {f, c, h, w}, strides = {1, f, w * c * f, c * f};
    filter_ = make_dnnl_layout(4, dims, strides);
    any_filter_ = make_dnnl_layout(4, dims, dnnl_format_tag_any);
  } else {
    const dnnl_dims_t dims = {g, f / g, c, h, w}, strides = {f / g, 1, f, w * c * f, c * f};
    filter_ = make_dnnl_layout(5, dims, strides);
    any_filter_ = make_dnnl_layout(5, dims, dnnl_format_tag_any);
  }
}

TAGMA_DECL float* onednn_convolution::partial(std::int64_t t) const {
  return reinterpret_cast<float*>(arranged_.data() + static_cast<std::size_t>(t) * arranged_bytes_);
}

TAGMA_COLD TAGMA_DECL onednn_convolution::kind* onednn_convolution::kind_of(std::int64_t t) {
  const bool banded = p_.bands > 1;
  const std::int64_t images = banded ? 1 : p_.count(t);
  const conv_axis rows = banded ? p_.band_of(t % p_.bands).rows : p_.rows;
  for (std::size_t i = 0; i < kinds_used_; ++i)
    if (const conv_axis& r = kinds_[i].rows; kinds_[i].images == images && r.in == rows.in && r.out == rows.out &&
                                             r.before == rows.before && r.after == rows.after)
      return &kinds_[i];
  if (kinds_used_ == most_kinds) return nullptr;
  kinds_[kinds_used_].images = images;
  kinds_[kinds_used_].rows = rows;
  return &kinds_[kinds_used_++];
}

TAGMA_COLD TAGMA_DECL dnnl_owned_desc onednn_convolution::describe(const kind& k, const conv_epilogue& after) const {
  const dnnl_dims_t x_dims = {k.images, p_.channels, k.rows.in, p_.columns.in};
  const dnnl_dims_t y_dims = {k.images, p_.filters, k.rows.out, p_.columns.out}, bias_dims = {p_.filters};
  const dnnl_owned_layout x = make_dnnl_layout(4, x_dims, dnnl_nhwc), y = make_dnnl_layout(4, y_dims, dnnl_nhwc);
  const dnnl_owned_layout bias = make_dnnl_layout(1, bias_dims, dnnl_a);
  const dnnl_convolution what{x.get(),
                              any_filter_.get(),
                              biased_ ? bias.get() : nullptr,
                              y.get(),
                              {p_.rows.stride, p_.columns.stride},
                              {p_.rows.dilation - 1, p_.columns.dilation - 1},
                              {k.rows.before, p_.columns.before},
                              {k.rows.after, p_.columns.after}};
  const dnnl_owned_attr attributes = make_dnnl_attributes(after.relu, after.six);
  dnnl_owned_desc chosen = describe_dnnl_convolution(what, attributes);
  if (chosen == nullptr) return chosen;
  if (!is(conv_role::forward)) {
    const dnnl_owned_desc forward = std::move(chosen);
    chosen = is(conv_role::input_gradient) ? describe_dnnl_input_gradient(what, forward, attributes)
                                           : describe_dnnl_filter_gradient(what, forward, attributes);
  }
  if (chosen == nullptr || implementation_of(chosen).starts_with("ref")) return nullptr;
  return chosen;
}

TAGMA_COLD TAGMA_DECL void onednn_convolution::create() {
  const bool sums = is(conv_role::filter_gradient);
  const dnnl_query_t a_query = is(conv_role::input_gradient) ? dnnl_query_diff_dst_md : dnnl_query_src_md;
  const dnnl_query_t b_query = sums ? dnnl_query_diff_dst_md : dnnl_query_weights_md;
  const dnnl_query_t out_query = sums                     ? dnnl_query_diff_weights_md
                                 : is(conv_role::forward) ? dnnl_query_dst_md
                                                          : dnnl_query_diff_src_md;
  const int a_arg = is(conv_role::input_gradient) ? DNNL_ARG_DIFF_DST : DNNL_ARG_SRC;
  const int b_arg = sums ? DNNL_ARG_DIFF_DST : DNNL_ARG_WEIGHTS;
  const int out_arg = sums ? DNNL_ARG_DIFF_WEIGHTS : is(conv_role::forward) ? DNNL_ARG_DST : DNNL_ARG_DIFF_SRC;

  const dnnl_layout inner = layout_of(kinds_[0].desc, sums ? out_query : b_query), outer = filter_.get();
  arranged_bytes_ = (bytes_of(inner) + 63) / 64 * 64;
  arranged_ = runtime::aligned_bytes(arranged_bytes_ * static_cast<std::size_t>(sums ? p_.parts : 1));
  stream_ = make_dnnl_stream();
  if (!equal(inner, outer)) {
    inner_memory_ = make_dnnl_memory(inner, arranged_.data());
    outer_memory_ = make_dnnl_memory(outer);
    dnnl_owned_desc desc;
    check_dnnl(dnnl_reorder_primitive_desc_create(desc.place(), sums ? inner : outer, dnnl_processor(),
                                                  sums ? outer : inner, dnnl_processor(), nullptr),
               "a reordering");
    reorder_ = make_dnnl_primitive(desc, "a reordering");
  }

  std::size_t each = 0;
  for (std::size_t i = 0; i < kinds_used_; ++i) {
    kinds_[i].primitive = make_dnnl_primitive(kinds_[i].desc, "a convolution");
    const std::size_t scratch = (bytes_of(layout_of(kinds_[i].desc, dnnl_query_scratchpad_md)) + 63) / 64 * 64;
    each = scratch > each ? scratch : each;
  }
  scratch_ = runtime::aligned_bytes(each * static_cast<std::size_t>(p_.parts));

  const std::int64_t image_of_a = is(conv_role::input_gradient) ? p_.output_size() : p_.input_size();
  const std::int64_t image_of_out = is(conv_role::forward) ? p_.output_size() : p_.input_size();
  parts_ = heap_array<part>(p_.parts);
  for (std::size_t t = 0; t < parts_.size(); ++t) {
    part& one = parts_[t];
    const auto number = static_cast<std::int64_t>(t), image = number / p_.bands * p_.images_per_part;
    one.first_a = image * image_of_a, one.first_b = image * p_.output_size(), one.first_out = image * image_of_out;
    if (p_.bands > 1) {
      const conv_problem::band rows = p_.band_of(number % p_.bands);
      one.first_a += rows.first_in * p_.columns.in * p_.channels;
      one.first_out += rows.first_out * p_.columns.out * p_.filters;
    }
    const kind& k = *kind_of(number);
    const dnnl_owned_desc& d = k.desc;
    one.primitive = k.primitive.get();
    one.stream = make_dnnl_stream();
    const auto add = [&one](int arg, dnnl_owned_memory& place, dnnl_owned_memory made) {
      place = std::move(made);
      one.args[one.arg_count++] = {arg, place.get()};
    };
    add(a_arg, one.a, make_dnnl_memory(layout_of(d, a_query)));
    add(b_arg, one.b, make_dnnl_memory(layout_of(d, b_query)));
    add(out_arg, one.out, make_dnnl_memory(layout_of(d, out_query)));
    add(DNNL_ARG_SCRATCHPAD, one.scratch,
        make_dnnl_memory(layout_of(d, dnnl_query_scratchpad_md), scratch_.data() + t * each));
    if (biased_) add(DNNL_ARG_BIAS, one.bias, make_dnnl_memory(layout_of(d, dnnl_query_weights_md, 1)));
  }
  for (kind& k : kinds_) k.desc = nullptr;
}

TAGMA_COLD TAGMA_DECL void onednn_convolution::reorder(dnnl_memory_t from, dnnl_memory_t to) {
  const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
  check_dnnl(dnnl_primitive_execute(reorder_.get(), stream_.get(), 2, args), "a reordering");
  check_dnnl(dnnl_stream_wait(stream_.get()), "a reordering");
}

TAGMA_COLD TAGMA_DECL void onednn_convolution::arrange_filter(const float* filter) {
  if (reorder_ == nullptr) return;
  set_dnnl_data(outer_memory_, filter);
  reorder(outer_memory_.get(), inner_memory_.get());
}

TAGMA_COLD TAGMA_DECL void onednn_convolution::collect_filter(float* out) {
  if (parts_.size() == 1 && reorder_ == nullptr) return;
  const auto stride = static_cast<std::int64_t>(arranged_bytes_ / sizeof(float));
  if (parts_.size() > 1)
    dispatch<sum_vectors<float>>(reorder_ == nullptr ? out : arranged(), static_cast<const float*>(arranged()),
                                 reorder_ == nullptr ? p_.filter_elements() : stride, p_.parts, stride);
  if (reorder_ == nullptr) return;
  set_dnnl_data(outer_memory_, out);
  reorder(inner_memory_.get(), outer_memory_.get());
}

#endif

}  // namespace tagma::device::cpu::detail
