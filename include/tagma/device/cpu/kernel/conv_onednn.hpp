// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Convolutions by oneDNN, in its C interface. Images keep the layout [batch, height, width, channels]; filters are
/// brought into the layout that oneDNN prefers on every call, or when they have changed where that is known.

#include "tagma/base/config.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/device/cpu/kernel/conv_problem.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/cpu/onednn.hpp"
#include "tagma/device/cpu/onednn_primitives.hpp"
#include "tagma/runtime/aligned_bytes.hpp"
#include "tagma/runtime/stored_variable.hpp"

#if TAGMA_ONEDNN_PRIMITIVES

namespace tagma::device::cpu::detail {

/// One convolution, its batch or the rows of its images split into tasks that run at once. A template, so that programs
/// without convolutions do not compile it.
/// @tparam T float
template <class T>
class onednn_convolution final : public image_convolution {
 public:
  /// A null pointer if oneDNN has nothing better than a reference implementation.
  /// @param lasting the filter is the same until `writes` of the context is another number
  /// @param threads that may have some images each
  static owned<image_convolution> make(const conv_problem& p, conv_role role, const conv_epilogue& after, bool lasting,
                                       std::int64_t threads);

  void begin(const T* filter, const T* bias, const run_context& context);
  void run(const T* a, const T* b, const T* bias, T* out, const kernel_args& args, const run_context& context);

 private:
  /// What parts have in common: images of so many rows.
  struct kind {
    std::int64_t images = 0;
    conv_axis rows;
    dnnl_owned_desc desc;
    dnnl_owned_primitive primitive;
  };
  /// What does one part of a kind after the other; tasks share primitives, never memory.
  struct worker {
    dnnl_owned_stream stream;
    dnnl_owned_memory a, b, bias, out, scratch;
    dnnl_exec_arg_t args[5]{};
    int arg_count = 0;
  };
  /// Elements of the operands in front of those of a part.
  struct offsets {
    std::int64_t a = 0, b = 0, out = 0;
  };

  onednn_convolution(const conv_problem& p, conv_role role, bool bias);

  [[nodiscard]] T* arranged() const { return reinterpret_cast<T*>(arranged_.data()); }
  [[nodiscard]] T* partial(std::int64_t t) const;
  /// The number of the kind of a part, `most_kinds` if there are too many.
  [[nodiscard]] std::size_t kind_of(std::int64_t t);
  [[nodiscard]] offsets before(std::int64_t t) const;
  /// The implementation that oneDNN picks for a kind; a null handle if it has only a reference.
  [[nodiscard]] dnnl_owned_desc describe(const kind& k, const conv_epilogue& after) const;

  void create(std::int64_t threads);

  void reorder(dnnl_memory_t from, dnnl_memory_t to);
  void arrange_filter(const T* filter);
  void collect_filter(T* out);

  [[nodiscard]] bool is(conv_role role) const { return plays(role_, role); }

  conv_problem p_;
  conv_role role_;
  bool biased_;
  bool lasting_ = false;
  std::uint64_t arranged_of_ = ~std::uint64_t{0};  // `writes` of the filter that is arranged
  dnnl_owned_layout filter_, any_filter_;
  dnnl_owned_primitive reorder_;
  dnnl_owned_stream stream_;
  dnnl_owned_memory inner_memory_, outer_memory_;
  runtime::aligned_bytes arranged_, scratch_;
  std::size_t arranged_bytes_ = 0;
  heap_array<worker> workers_;  // for each that is at work at once, one for each kind
  static constexpr std::size_t most_kinds = 6;
  kind kinds_[most_kinds];  // whole parts and the last one, or bands by the padding that they see
  std::size_t kinds_used_ = 0;
};

template <class T>
TAGMA_COLD owned<image_convolution> onednn_convolution<T>::make(const conv_problem& p, conv_role role,
                                                                const conv_epilogue& after, bool lasting,
                                                                std::int64_t threads) {
  use_one_openmp_thread();  // oneDNN plans for as many threads as there are now
  auto made = owned<onednn_convolution>(new onednn_convolution(p, role, after.biased));
  // All parts share one arranged filter, or sum theirs: they must agree on its layout.
  const dnnl_query_t filter =
      plays(role, conv_role::filter_gradient) ? dnnl_query_diff_weights_md : dnnl_query_weights_md;
  for (std::int64_t t = 0; t < p.parts; ++t) {
    const std::size_t number = made->kind_of(t);
    if (number == most_kinds) return nullptr;
    kind& k = made->kinds_[number];
    if (k.desc == nullptr) k.desc = made->describe(k, after);
    if (k.desc == nullptr || !equal(layout_of(made->kinds_[0].desc, filter), layout_of(k.desc, filter))) return nullptr;
  }
  made->create(threads);
  made->lasting_ = lasting, made->together = p.images_per_part;
  made->template becomes<onednn_convolution>();
  if (lasting) runtime::stored_variable::count_writes();
  return made;
}

template <class T>
TAGMA_COLD void onednn_convolution<T>::begin(const T* filter, const T*, const run_context& context) {
  use_one_openmp_thread();
  if (!(lasting_ && arranged_of_ == context.writes)) arrange_filter(filter);
  arranged_of_ = context.writes;
}

template <class T>
TAGMA_COLD void onednn_convolution<T>::run(const T* a, const T* b, const T* bias, T* out, const kernel_args& args,
                                           const run_context& context) {
  const bool sums = is(conv_role::filter_gradient), some = args.all > 0;
  if (!sums && !some) begin(b, bias, context);
  const std::int64_t first = args.first / p_.images_per_part * p_.bands, tasks = some ? 1 : p_.tasks;
  const std::int64_t parts = some ? pieces(args.in[0].dims[0], p_.images_per_part) * p_.bands : p_.parts;
  const offsets start = before(first);
  // What is around the primitives is worth no more code than this.
  const auto task = [&](std::int64_t i) __attribute__((cold)) {
    use_one_openmp_thread();
    const auto at = static_cast<std::size_t>(some ? args.worker : i) * kinds_used_;
    for (std::int64_t t = first + i * parts / tasks; t < first + (i + 1) * parts / tasks; ++t) {
      const offsets o = before(t);
      const std::size_t number = kind_of(t);
      worker& one = workers_[at + number];
      set_dnnl_data(one.a, a + (o.a - start.a));
      set_dnnl_data(one.b, sums ? b + o.b : reorder_ == nullptr ? b : arranged());
      set_dnnl_data(one.out, !sums ? out + (o.out - start.out) : parts == 1 && reorder_ == nullptr ? out : partial(t));
      if (biased_) set_dnnl_data(one.bias, bias);
      check_dnnl(dnnl_primitive_execute(kinds_[number].primitive.get(), one.stream.get(), one.arg_count, one.args),
                 "a convolution");
      check_dnnl(dnnl_stream_wait(one.stream.get()), "a convolution");
    }
  };
  if (tasks == 1)
    task(0);
  else
    context.threads->parallel_for(tasks, task, p_.is_small() ? runtime::helpers::awake : runtime::helpers::woken);
  if (sums) collect_filter(out);
}

template <class T>
TAGMA_COLD onednn_convolution<T>::onednn_convolution(const conv_problem& p, conv_role role, bool bias)
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

template <class T>
T* onednn_convolution<T>::partial(std::int64_t t) const {
  return reinterpret_cast<T*>(arranged_.data() + static_cast<std::size_t>(t) * arranged_bytes_);
}

template <class T>
TAGMA_COLD std::size_t onednn_convolution<T>::kind_of(std::int64_t t) {
  const bool banded = p_.bands > 1;
  const std::int64_t images = banded ? 1 : p_.count(t);
  const conv_axis rows = banded ? p_.band_of(t % p_.bands).rows : p_.rows;
  for (std::size_t i = 0; i < kinds_used_; ++i)
    if (const conv_axis& r = kinds_[i].rows; kinds_[i].images == images && r.in == rows.in && r.out == rows.out &&
                                             r.before == rows.before && r.after == rows.after)
      return i;
  if (kinds_used_ == most_kinds) return most_kinds;
  kinds_[kinds_used_].images = images;
  kinds_[kinds_used_].rows = rows;
  return kinds_used_++;
}

template <class T>
TAGMA_COLD typename onednn_convolution<T>::offsets onednn_convolution<T>::before(std::int64_t t) const {
  const std::int64_t image = t / p_.bands * p_.images_per_part, x = image * p_.input_size(),
                     y = image * p_.output_size();
  if (is(conv_role::filter_gradient)) return {x, y, 0};
  if (is(conv_role::input_gradient)) return {y, 0, x};
  if (p_.bands == 1) return {x, 0, y};
  const conv_problem::band rows = p_.band_of(t % p_.bands);
  return {x + rows.first_in * p_.columns.in * p_.channels, 0, y + rows.first_out * p_.columns.out * p_.filters};
}

template <class T>
TAGMA_COLD dnnl_owned_desc onednn_convolution<T>::describe(const kind& k, const conv_epilogue& after) const {
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

template <class T>
TAGMA_COLD void onednn_convolution<T>::create(std::int64_t threads) {
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

  const std::int64_t blocks = is(conv_role::forward) ? threads + 1 : 0;
  workers_ = heap_array<worker>(static_cast<std::size_t>(p_.tasks < blocks ? blocks : p_.tasks) * kinds_used_);
  std::size_t each = 0;
  for (std::size_t i = 0; i < kinds_used_; ++i) {
    kinds_[i].primitive = make_dnnl_primitive(kinds_[i].desc, "a convolution");
    const std::size_t scratch = (bytes_of(layout_of(kinds_[i].desc, dnnl_query_scratchpad_md)) + 63) / 64 * 64;
    each = scratch > each ? scratch : each;
  }
  scratch_ = runtime::aligned_bytes(each * (workers_.size() / kinds_used_));

  for (std::size_t i = 0; i < workers_.size(); ++i) {
    worker& one = workers_[i];
    const dnnl_owned_desc& d = kinds_[i % kinds_used_].desc;
    one.stream = make_dnnl_stream();
    const auto add = [&one](int arg, dnnl_owned_memory& kept, dnnl_owned_memory made) {
      kept = std::move(made);
      one.args[one.arg_count++] = {arg, kept.get()};
    };
    add(a_arg, one.a, make_dnnl_memory(layout_of(d, a_query)));
    add(b_arg, one.b, make_dnnl_memory(layout_of(d, b_query)));
    add(out_arg, one.out, make_dnnl_memory(layout_of(d, out_query)));
    add(DNNL_ARG_SCRATCHPAD, one.scratch,
        make_dnnl_memory(layout_of(d, dnnl_query_scratchpad_md), scratch_.data() + i / kinds_used_ * each));
    if (biased_) add(DNNL_ARG_BIAS, one.bias, make_dnnl_memory(layout_of(d, dnnl_query_weights_md, 1)));
  }
  for (kind& k : kinds_) k.desc = nullptr;
}

template <class T>
TAGMA_COLD void onednn_convolution<T>::reorder(dnnl_memory_t from, dnnl_memory_t to) {
  const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
  check_dnnl(dnnl_primitive_execute(reorder_.get(), stream_.get(), 2, args), "a reordering");
  check_dnnl(dnnl_stream_wait(stream_.get()), "a reordering");
}

template <class T>
TAGMA_COLD void onednn_convolution<T>::arrange_filter(const T* filter) {
  if (reorder_ == nullptr) return;
  set_dnnl_data(outer_memory_, filter);
  reorder(outer_memory_.get(), inner_memory_.get());
}

template <class T>
TAGMA_COLD void onednn_convolution<T>::collect_filter(T* out) {
  if (p_.parts == 1 && reorder_ == nullptr) return;
  const auto stride = static_cast<std::int64_t>(arranged_bytes_ / sizeof(T));
  if (p_.parts > 1)
    dispatch<sum_vectors<T>>(reorder_ == nullptr ? out : arranged(), static_cast<const T*>(arranged()),
                             reorder_ == nullptr ? p_.filter_elements() : stride, p_.parts, stride);
  if (reorder_ == nullptr) return;
  set_dnnl_data(outer_memory_, out);
  reorder(inner_memory_.get(), outer_memory_.get());
}

}  // namespace tagma::device::cpu::detail

#endif
