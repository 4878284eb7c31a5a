// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Convolutions on the CPU: by oneDNN for float, else as
/// products of matrices whose rows are the windows of the image.

#include "tagma/base/config.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/device/cpu/kernel/conv_direct.hpp"
#include "tagma/device/cpu/kernel/conv_onednn.hpp"
#include "tagma/device/cpu/kernel/conv_winograd.hpp"
#include "tagma/device/cpu/kernel/matmul_onednn.hpp"
#include "tagma/device/cpu/onednn_primitives.hpp"
#include "tagma/runtime/aligned_bytes.hpp"

/// 0 keeps convolutions of floats from Winograd's algorithm: each result is a sum of products.
#if !defined(TAGMA_WINOGRAD)
#define TAGMA_WINOGRAD 1
#endif

namespace tagma::device {
namespace cpu::detail {

/// Row by row, the window of each position of an image; what lies outside the image is zero.
template <class T>
void gather_windows(const conv_problem& p, std::int64_t group, const T* x, T* to) {
  const std::int64_t c = p.channels / p.groups, run = p.columns.size * c;
  const bool dense = p.columns.dilation == 1 && p.groups == 1;
  x += group * c;
  const auto bytes = [](std::int64_t n) { return static_cast<std::size_t>(n) * sizeof(T); };
  for (std::int64_t i = 0; i < p.rows.out; ++i) {
    std::int64_t top = 0, bottom = 0;
    p.rows.visible(i, top, bottom);
    for (std::int64_t j = 0; j < p.columns.out; ++j, to += p.rows.size * run) {
      std::int64_t left = 0, right = 0;
      p.columns.visible(j, left, right);
      std::memset(to, 0, bytes(top * run));
      std::memset(to + bottom * run, 0, bytes((p.rows.size - bottom) * run));
      for (std::int64_t a = top; a < bottom; ++a) {
        T* row = to + a * run;
        const std::int64_t y = i * p.rows.stride - p.rows.before + a * p.rows.dilation;
        const std::int64_t from = (y * p.columns.in + j * p.columns.stride - p.columns.before) * p.channels;
        std::memset(row, 0, bytes(left * c));
        std::memset(row + right * c, 0, bytes(run - right * c));
        const std::int64_t once = dense ? right - left : 1;  // columns that are neighbours in both
        for (std::int64_t b = left; b < right; b += once)
          std::memcpy(row + b * c, x + (from + b * p.columns.dilation * p.channels), bytes(once * c));
      }
    }
  }
}

/// The reverse: adds each window of `from` to the place in the image that it came from.
template <class T>
struct scatter_windows {
  TAGMA_INLINE static void add(T* to, const T* from, std::int64_t n) {
    std::int64_t i = 0;
    for (; i + 8 <= n; i += 8) store(to + i, load<8>(to + i) + load<8>(from + i));
    for (; i < n; ++i) to[i] += from[i];
  }
  TAGMA_INLINE static void run(const conv_problem* p, std::int64_t group, T* x, const T* from) {
    const std::int64_t c = p->channels / p->groups, run_length = p->columns.size * c;
    const bool dense = p->columns.dilation == 1 && p->groups == 1;
    x += group * c;
    for (std::int64_t i = 0; i < p->rows.out; ++i) {
      std::int64_t top = 0, bottom = 0;
      p->rows.visible(i, top, bottom);
      for (std::int64_t j = 0; j < p->columns.out; ++j, from += p->rows.size * run_length) {
        std::int64_t left = 0, right = 0;
        p->columns.visible(j, left, right);
        for (std::int64_t a = top; a < bottom; ++a) {
          const T* row = from + a * run_length;
          const std::int64_t y = i * p->rows.stride - p->rows.before + a * p->rows.dilation;
          const std::int64_t to = (y * p->columns.in + j * p->columns.stride - p->columns.before) * p->channels;
          const std::int64_t once = dense ? right - left : 1;  // columns that are neighbours in both
          for (std::int64_t b = left; b < right; b += once)
            add(x + (to + b * p->columns.dilation * p->channels), row + b * c, once * c);
        }
      }
    }
  }
};

/// y = y + bias, and then the activation, for rows of `n`.
template <class T>
struct add_bias {
  TAGMA_INLINE static void run(T* y, const T* bias, std::int64_t rows, std::int64_t n, bool relu, bool six) {
    const auto least = splat<pack<T, 8>>(relu ? T(0) : static_cast<T>(-__builtin_huge_val()));
    const auto most = splat<pack<T, 8>>(six ? T(6) : static_cast<T>(__builtin_huge_val()));
    for (std::int64_t r = 0; r < rows; ++r, y += n) {
      std::int64_t i = 0;
      for (; i + 8 <= n; i += 8) store(y + i, min(max(load<8>(y + i) + load<8>(bias + i), least), most));
      if (const int rest = static_cast<int>(n - i); rest > 0)
        store(y + i, min(max(load<8>(y + i, rest) + load<8>(bias + i, rest), least), most), rest);
    }
  }
};

template <class T>
class matrix_convolution {
 public:
  TAGMA_COLD matrix_convolution(const conv_problem& p, conv_role role) : p_(p), role_(role) {
    const std::int64_t window_elements = bounded_product(p.positions(), p.patch());
    // Small images are joined, so that the products are worth their calls.
    block_ = window_elements > 0 ? 131072 / window_elements : 1;
    if (block_ < 1) block_ = 1;
    if (block_ > p.images_per_part) block_ = p.images_per_part;
    const std::int64_t windows = bounded_product(block_, window_elements),
                       sums = plays(role, conv_role::filter_gradient) ? 2 * p.filter_elements() : 0;
    const std::int64_t each = bounded_product(bounded_sum(windows, sums), sizeof(T));
    scratch_ = runtime::aligned_bytes(static_cast<std::size_t>(bounded_product(each, p.parts)));
    windows_ = static_cast<std::size_t>(windows);
    sums_ = static_cast<std::size_t>(sums);
  }

  TAGMA_COLD void run(const T* a, const T* b, const T* bias, const conv_epilogue& after, T* out,
                      runtime::executor& threads) {
    // The time goes by in what this calls.
    const auto task = [&](std::int64_t t) __attribute__((cold)) {
      T* windows = scratch(t) + sums_;
      const std::int64_t first = t * p_.images_per_part, last = first + p_.count(t);
      for (std::int64_t i = first; i < last; i += block_) {
        const std::int64_t count = last - i < block_ ? last - i : block_;
        if (is(conv_role::forward))
          forward(a + i * p_.input_size(), b, bias, after, out + i * p_.output_size(), count, windows);
        else if (is(conv_role::input_gradient))
          input_gradient(a + i * p_.output_size(), b, out + i * p_.input_size(), count, windows);
        else
          filter_gradient(a + i * p_.input_size(), b + i * p_.output_size(), scratch(t), count, windows, i == first);
      }
    };
    if (p_.parts == 1)
      task(0);
    else
      threads.parallel_for(p_.parts, task);
    if (is(conv_role::filter_gradient))
      dispatch<sum_vectors<T>>(out, static_cast<const T*>(scratch(0)), p_.filter_elements(), p_.parts,
                               static_cast<std::int64_t>(windows_ + sums_));
  }

 private:
  [[nodiscard]] T* scratch(std::int64_t t) const {
    return reinterpret_cast<T*>(scratch_.data()) + static_cast<std::size_t>(t) * (windows_ + sums_);
  }
  /// The windows of so many images: the images themselves, where a window is one element of each channel, or `windows`.
  TAGMA_COLD const T* gather(const T* x, std::int64_t count, std::int64_t group, T* windows) const {
    if (p_.sees_elements()) return x;
    for (std::int64_t i = 0; i < count; ++i)
      gather_windows(p_, group, x + i * p_.input_size(), windows + i * p_.positions() * p_.patch());
    return windows;
  }

  TAGMA_COLD void forward(const T* x, const T* filter, const T* bias, const conv_epilogue& after, T* y,
                          std::int64_t count, T* windows) const {
    const std::int64_t own = p_.filters / p_.groups, rows = count * p_.positions();
    for (std::int64_t g = 0; g < p_.groups; ++g) {
      gemm(gemm_args<T>{false, false, rows, own, p_.patch(), gather(x, count, g, windows), p_.patch(), filter + g * own,
                        p_.filters, y + g * own, p_.filters});
    }
    if (bias != nullptr) dispatch<add_bias<T>>(y, bias, rows, p_.filters, after.relu, after.six);
  }
  TAGMA_COLD void input_gradient(const T* dy, const T* filter, T* dx, std::int64_t count, T* windows) const {
    const std::int64_t own = p_.filters / p_.groups;
    if (count * p_.input_size() > 0) std::memset(dx, 0, static_cast<std::size_t>(count * p_.input_size()) * sizeof(T));
    for (std::int64_t g = 0; g < p_.groups; ++g) {
      gemm(gemm_args<T>{false, true, count * p_.positions(), p_.patch(), own, dy + g * own, p_.filters,
                        filter + g * own, p_.filters, windows, p_.patch()});
      for (std::int64_t i = 0; i < count; ++i)
        dispatch<scatter_windows<T>>(&p_, g, dx + i * p_.input_size(),
                                     static_cast<const T*>(windows + i * p_.positions() * p_.patch()));
    }
  }
  TAGMA_COLD void filter_gradient(const T* x, const T* dy, T* sum, std::int64_t count, T* windows, bool starts) const {
    const std::int64_t own = p_.filters / p_.groups;
    T* to = starts ? sum : sum + p_.filter_elements();
    for (std::int64_t g = 0; g < p_.groups; ++g) {
      gemm(gemm_args<T>{true, false, p_.patch(), own, count * p_.positions(), gather(x, count, g, windows), p_.patch(),
                        dy + g * own, p_.filters, to + g * own, p_.filters});
    }
    if (!starts)
      dispatch<sum_vectors<T>>(sum, static_cast<const T*>(sum), p_.filter_elements(), std::int64_t{2},
                               p_.filter_elements());
  }

  [[nodiscard]] bool is(conv_role role) const { return role_ == role; }

  conv_problem p_;
  conv_role role_;
  std::int64_t block_ = 1;
  std::size_t windows_ = 0, sums_ = 0;
  runtime::aligned_bytes scratch_;
};

/// Numbers as the type that they are computed in.
template <class T>
struct widened_copy {
  static const T* widen(const operand& o) { return o.as<const T>(); }
  static T* room(const operand& o) { return o.as<T>(); }
  static void narrow(const operand&) {}
};
template <class T>
  requires(!std::is_same_v<T, compute_t<T>>)
struct widened_copy<T> {
  using C = compute_t<T>;
  heap_array<C> values;

  const C* widen(const operand& o) {
    dispatch<convert_elements>(o.as<const T>(), room(o), o.elements());
    return values.data();
  }
  C* room(const operand& o) {
    const auto size = static_cast<std::size_t>(o.elements());
    if (values.size() < size) values = heap_array<C>(size);
    return values.data();
  }
  void narrow(const operand& o) const {
    dispatch<convert_elements>(static_cast<const C*>(values.data()), o.as<T>(), o.elements());
  }
};

/// A convolution of bfloat16 images whose windows are single elements, as a product of matrices that are not widened.
/// There is none for other element types.
template <class T>
struct element_product {
  static constexpr bool exists = false;
};
#if TAGMA_ONEDNN_PRIMITIVES
template <class T>
  requires(std::is_same_v<T, bfloat16>)
struct element_product<T> {
  static constexpr bool exists = true;
  gemm_args<T> g;
  owned<bfloat_product<T>> product;

  /// Leaves `product` empty where it would not be quick, or where a sum is not what is rounded.
  TAGMA_COLD void make(const conv_problem& p, conv_role role, const conv_epilogue& after, bool repeated) {
    if (!p.sees_elements() || after.biased) return;
    const std::int64_t positions = bounded_product(p.images, p.positions()), c = p.channels, f = p.filters;
    if (plays(role, conv_role::forward))
      g = {false, false, positions, f, c, nullptr, c, nullptr, f, nullptr, f};
    else if (plays(role, conv_role::input_gradient))
      g = {false, true, positions, c, f, nullptr, f, nullptr, f, nullptr, c};
    else
      g = {true, false, c, f, positions, nullptr, c, nullptr, f, nullptr, f};
    product = bfloat_product<T>::make(g, repeated);
  }
  void run(const kernel_args& args, const run_context& context) const {
    gemm_args<T> all = g;
    all.a = args.in[0].as<const T>(), all.b = args.in[1].as<const T>(), all.c = args.out.as<T>();
    product->run(all, context);
  }
};
#endif

template <class T>
struct conv_state final : kernel_state {
  using C = compute_t<T>;
  explicit conv_state(const conv_epilogue& epilogue) : after(epilogue) {}
  element_product<T> elements;
  owned<matrix_convolution<C>> matrices;
  owned<image_convolution> floats;  ///< better than products of windows
  widened_copy<T> a, b, bias, out;
  conv_epilogue after;
};

/// Which of our own convolutions are compiled: none for large windows; those that add products; Winograd's, too.
enum class own_kinds : unsigned char { none, sums, all };

using make_convolution = owned<image_convolution> (*)(const conv_problem&, conv_role, const conv_epilogue&, bool,
                                                      std::int64_t);

/// Our own convolutions of small windows; a null pointer where there is none, or none as good as the library's.
/// @tparam T float
template <class T, bool Winograd>
TAGMA_COLD owned<image_convolution> own_convolution(const conv_problem& p, conv_role role, const conv_epilogue& after,
                                                    bool lasting, std::int64_t threads) {
  owned<image_convolution> found;
  if constexpr (Winograd) found = winograd_convolution<T>::make(p, role, after, lasting, threads);
#if defined(__x86_64__)
  if (found == nullptr && plays(role, conv_role::forward) && direct_convolution<T>::suits_processor())
    found = direct_convolution<T>::make(p, after, lasting);
#endif
  return found;
}

/// The best that there is for a convolution of floats, or a null pointer.
/// @tparam T  float
/// @param own null if no window is small
template <class T>
TAGMA_COLD owned<image_convolution> convolution_of_floats(const conv_problem& p, conv_role role,
                                                          const conv_epilogue& after, bool lasting,
                                                          std::int64_t threads, make_convolution own) {
  if (p.filter_elements() == 0 || p.input_size() == 0 || p.output_size() == 0) return nullptr;
  owned<image_convolution> found;
  if (own != nullptr) found = own(p, role, after, lasting, threads);
#if TAGMA_ONEDNN_PRIMITIVES
  if (found != nullptr) return found;
  conv_problem parts = p;
  if (!plays(role, conv_role::filter_gradient)) parts.split_finely(1e6);
  conv_problem banded = parts;
  // Windows of one channel have little to multiply for what is read.
  if (plays(role, conv_role::forward)) banded.split_rows(8, p.groups > 1 ? 5e5 : 2e6);
  found = onednn_convolution<T>::make(banded, role, after, lasting, threads);
  if (found == nullptr && banded.bands > 1) found = onednn_convolution<T>::make(parts, role, after, lasting, threads);
#endif
  return found;
}

/// For all roles, since a program that trains has each.
template <class T>
TAGMA_COLD owned<kernel_state> prepare_convolution_as(conv_role role, const kernel_args& args,
                                                      [[maybe_unused]] const run_context& context,
                                                      [[maybe_unused]] make_convolution own) {
  using C = compute_t<T>;
  conv_problem p(role, args);
  auto state = make_owned<conv_state<T>>(conv_epilogue(role, args));
  if (p.images == 0 || args.out.elements() == 0) return state;
  if constexpr (element_product<T>::exists) {
    state->elements.make(p, role, state->after, args.repeated);
    if (state->elements.product != nullptr) return state;
  }
  p.split(plays(role, conv_role::filter_gradient) ? 8 : 16, 4e6);
  [[maybe_unused]] const bool lasting = plays(role, conv_role::forward) && (args.lasting & 2) != 0;
  if constexpr (std::is_same_v<C, float>) {
    state->floats = convolution_of_floats<C>(p, role, state->after, lasting, context.threads->threads(), own);
    if (state->floats != nullptr) return state;
  }
  state->matrices = make_owned<matrix_convolution<C>>(p, role);
  return state;
}
template <class T, conv_role Role, own_kinds Own>
owned<kernel_state> prepare_convolution(const kernel_args& args, const run_context& context) {
  if constexpr (Own != own_kinds::none && std::is_same_v<compute_t<T>, float>)
    return prepare_convolution_as<T>(Role, args, context, &own_convolution<float, Own == own_kinds::all>);
  else
    return prepare_convolution_as<T>(Role, args, context, nullptr);
}

/// @copydoc runtime::step_rows
template <class T>
TAGMA_COLD runtime::step_rows images_of_step(const kernel_args& args, const run_context* now) {
  auto& s = *static_cast<conv_state<T>*>(args.state);
  if constexpr (std::is_same_v<T, float>)
    if (s.floats != nullptr) {
      if (now != nullptr)
        s.floats->begin(args.in[1].as<const T>(), s.after.biased ? args.in[2].as<const T>() : nullptr, *now);
      return {s.floats->together};
    }
  return {};
}

template <class T>
TAGMA_COLD void convolve(const kernel_args& args, const run_context& context) {
  using C = compute_t<T>;
  auto& s = *static_cast<conv_state<T>*>(args.state);
  if constexpr (element_product<T>::exists)
    if (s.elements.product != nullptr) return s.elements.run(args, context);
  C* out = s.out.room(args.out);
  const C* a = s.a.widen(args.in[0]);
  const C* b = s.b.widen(args.in[1]);
  const C* bias = s.after.biased ? s.bias.widen(args.in[2]) : nullptr;
  if constexpr (std::is_same_v<C, float>)
    if (s.floats != nullptr) s.floats->run(a, b, bias, out, args, context);
  if (s.matrices != nullptr)
    s.matrices->run(a, b, bias, s.after, out, *context.threads);
  else if (s.floats == nullptr && args.out.elements() > 0)
    std::memset(out, 0, static_cast<std::size_t>(args.out.elements()) * sizeof(C));
  s.out.narrow(args.out);
}

template <class T, conv_role Role, own_kinds Own>
inline constexpr kernel_entry convolution_entry{.run = &convolve<T>,
                                                .prepare = &prepare_convolution<T, Role, Own>,
                                                .rows = plays(Role, conv_role::forward) ? &images_of_step<T> : nullptr};

template <conv_role Role>
struct convolution_kernel {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry =
      convolution_entry<stored<Out>, Role, TAGMA_WINOGRAD != 0 ? own_kinds::all : own_kinds::sums>;
  /// The kernel of windows that are known to be larger, for which less is compiled.
  static constexpr bool makes_filter = plays(Role, conv_role::filter_gradient);
  template <dtype Out, dtype...>
  static constexpr kernel_entry large_windows_entry = convolution_entry<stored<Out>, Role, own_kinds::none>;
};

}  // namespace cpu::detail

template <>
struct kernel<on_cpu, ir::key<op::conv2d>> : cpu::detail::convolution_kernel<conv_role::forward> {};
template <>
struct kernel<on_cpu, ir::key<op::conv2d_bias>> : cpu::detail::convolution_kernel<conv_role::forward> {};
template <>
struct kernel<on_cpu, ir::key<op::conv2d_input_gradient>> : cpu::detail::convolution_kernel<conv_role::input_gradient> {
};
template <>
struct kernel<on_cpu, ir::key<op::conv2d_filter_gradient>>
    : cpu::detail::convolution_kernel<conv_role::filter_gradient> {};

}  // namespace tagma::device
