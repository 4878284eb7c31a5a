// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Pooling on the CPU: one task for each image or a few, vectors along the channels.

#include <cstring>

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/windows.hpp"

namespace tagma::device {
namespace cpu::detail {

/// Calls `step(channel, count)` for vectors of 8 channels; the last may have fewer.
template <class Step>
TAGMA_INLINE void over_channels(std::int64_t channels, const Step& step) {
  std::int64_t c = 0;
  for (; c + 8 <= channels; c += 8) step(c, 8);
  if (c < channels) step(c, static_cast<int>(channels - c));
}

template <class T>
TAGMA_INLINE pack<compute_t<T>, 8> load_some(const T* from, int n) {
  return n == 8 ? load<8>(from) : load<8>(from, n);
}
template <class T>
TAGMA_INLINE void store_some(T* to, const pack<compute_t<T>, 8>& p, int n) {
  if (n == 8)
    store(to, p);
  else
    store(to, p, n);
}

template <class T>
struct max_pool_body {
  TAGMA_INLINE static void run(const pool_problem* p, const T* x, T* y) {
    for (std::int64_t i = 0; i < p->rows.out; ++i)
      for (std::int64_t j = 0; j < p->columns.out; ++j, y += p->channels) {
        const pool_window w(*p, i, j);
        over_channels(
            p->channels, [&](std::int64_t c, int n) __attribute__((always_inline)) {
              auto top = splat<pack<compute_t<T>, 8>>(static_cast<compute_t<T>>(-__builtin_huge_val()));
              for (std::int64_t a = w.top; a < w.bottom; ++a)
                for (std::int64_t b = w.left; b < w.right; ++b)
                  top = max(load_some(x + (a * p->columns.in + b) * p->channels + c, n), top);
              store_some(y + c, top, n);
            });
      }
  }
};

/// Walks the windows; calls `hit(at, place in y, mask, n)` with the lanes whose first maximum is at `at`.
template <class T, class Hit>
TAGMA_INLINE void over_maxima(const pool_problem* p, const T* x, const T* y, const Hit& hit) {
  using P = pack<compute_t<T>, 8>;
  std::int64_t to = 0;
  for (std::int64_t i = 0; i < p->rows.out; ++i)
    for (std::int64_t j = 0; j < p->columns.out; ++j, to += p->channels) {
      const pool_window w(*p, i, j);
      over_channels(
          p->channels, [&](std::int64_t c, int n) __attribute__((always_inline)) {
            const P top = load_some(y + to + c, n);
            auto open = top == top;
            open = open | !open;
            for (std::int64_t a = w.top; a < w.bottom; ++a)
              for (std::int64_t b = w.left; b < w.right; ++b) {
                const std::int64_t at = (a * p->columns.in + b) * p->channels + c;
                const P value = load_some(x + at, n);
                // The maximum of a window with a NaN is NaN, and that is where the gradient goes.
                const auto found = open & ((value == top) | (value != value));
                open = open & !found;
                hit(at, to + c, found, n);
              }
          });
    }
}

template <class T>
struct max_pool_gradient_body {
  TAGMA_INLINE static void run(const pool_problem* p, const T* x, const T* y, const T* dy, compute_t<T>* dx) {
    using P = pack<compute_t<T>, 8>;
    const P zero = splat<P>(0);
    // Where windows neither overlap nor leave gaps, every element is written once.
    const bool once = p->rows.stride == p->rows.size && p->columns.stride == p->columns.size && p->rows.before == 0 &&
                      p->columns.before == 0 && p->rows.out * p->rows.stride >= p->rows.in &&
                      p->columns.out * p->columns.stride >= p->columns.in;
    if (!once && p->input_size() > 0)
      std::memset(static_cast<void*>(dx), 0, static_cast<std::size_t>(p->input_size()) * sizeof(*dx));
    over_maxima(
        p, x, y, [&](std::int64_t at, std::int64_t from, const auto& found, int n) __attribute__((always_inline)) {
          P sum = select(found, load_some(dy + from, n), zero);
          if (!once) sum = load_some(static_cast<const compute_t<T>*>(dx + at), n) + sum;
          store_some(dx + at, sum, n);
        });
  }
};

template <class T>
struct max_pool_select_body {
  TAGMA_INLINE static void run(const pool_problem* p, const T* x, const T* y, const T* u, T* out) {
    if (p->output_size() > 0)
      std::memset(static_cast<void*>(out), 0, static_cast<std::size_t>(p->output_size()) * sizeof(T));
    over_maxima(
        p, x, y, [&](std::int64_t at, std::int64_t to, const auto& found, int n) __attribute__((always_inline)) {
          store_some(out + to, select(found, load_some(u + at, n), load_some(out + to, n)), n);
        });
  }
};

template <class T>
struct average_pool_body {
  TAGMA_INLINE static void run(const pool_problem* p, const T* x, T* y) {
    using P = pack<compute_t<T>, 8>;
    for (std::int64_t i = 0; i < p->rows.out; ++i)
      for (std::int64_t j = 0; j < p->columns.out; ++j, y += p->channels) {
        const pool_window w(*p, i, j);
        const P share = splat<P>(compute_t<T>(1) / static_cast<compute_t<T>>(w.count()));
        std::int64_t first = 0;
        for (; first + 32 <= p->channels; first += 32) {  // few windows are so large that to walk them costs nothing
          P q = splat<P>(0), r = q, s = q, t = q;
          for (std::int64_t a = w.top; a < w.bottom; ++a)
            for (std::int64_t b = w.left; b < w.right; ++b) {
              const T* const from = x + (a * p->columns.in + b) * p->channels + first;
              q = q + load<8>(from), r = r + load<8>(from + 8);
              s = s + load<8>(from + 16), t = t + load<8>(from + 24);
            }
          store(y + first, q * share), store(y + first + 8, r * share);
          store(y + first + 16, s * share), store(y + first + 24, t * share);
        }
        over_channels(
            p->channels - first, [&](std::int64_t channel, int n) __attribute__((always_inline)) {
              const std::int64_t c = first + channel;
              P total = splat<P>(0);
              for (std::int64_t a = w.top; a < w.bottom; ++a)
                for (std::int64_t b = w.left; b < w.right; ++b)
                  total = total + load_some(x + (a * p->columns.in + b) * p->channels + c, n);
              store_some(y + c, total * share, n);
            });
      }
  }
};

template <class T>
struct average_pool_gradient_body {
  TAGMA_INLINE static void run(const pool_problem* p, const T* dy, compute_t<T>* dx) {
    using P = pack<compute_t<T>, 8>;
    if (p->input_size() > 0)
      std::memset(static_cast<void*>(dx), 0, static_cast<std::size_t>(p->input_size()) * sizeof(*dx));
    for (std::int64_t i = 0; i < p->rows.out; ++i)
      for (std::int64_t j = 0; j < p->columns.out; ++j, dy += p->channels) {
        const pool_window w(*p, i, j);
        const P share = splat<P>(compute_t<T>(1) / static_cast<compute_t<T>>(w.count()));
        over_channels(
            p->channels, [&](std::int64_t c, int n) __attribute__((always_inline)) {
              const P part = load_some(dy + c, n) * share;
              for (std::int64_t a = w.top; a < w.bottom; ++a)
                for (std::int64_t b = w.left; b < w.right; ++b) {
                  compute_t<T>* to = dx + (a * p->columns.in + b) * p->channels + c;
                  store_some(to, load_some(static_cast<const compute_t<T>*>(to), n) + part, n);
                }
            });
      }
  }
};

/// Runs `task(image)` for every image, several to a thread's turn where they are small.
template <class Task>
TAGMA_COLD void over_images(const pool_problem& p, const run_context& context, const Task& task) {
  if (p.images == 0 || p.input_size() == 0) return;
  const std::int64_t per_turn = 1 + 65536 / p.input_size(), turns = pieces(p.images, per_turn);
  const auto turn = [&](std::int64_t t) __attribute__((noinline)) {
    for (std::int64_t i = t * per_turn; i < (t + 1) * per_turn && i < p.images; ++i) task(i);
  };
  if (turns <= 2)
    for (std::int64_t t = 0; t < turns; ++t) turn(t);
  else
    context.threads->parallel_for(turns, turn);
}

/// The maxima of windows, or their means.
template <class Body, class T>
void pool(const kernel_args& args, const run_context& context) {
  const pool_problem p(pool_kind::maximum, args);
  over_images(p, context, [&](std::int64_t i) {
    dispatch<Body>(&p, args.in[0].as<const T>() + i * p.input_size(), args.out.as<T>() + i * p.output_size());
  });
}

template <class T>
void max_pool_gradient(const kernel_args& args, const run_context& context) {
  const pool_problem p(pool_kind::maximum_gradient, args);
  const std::int64_t x = p.input_size(), y = p.output_size();
  over_images(p, context, [&](std::int64_t i) {
    dispatch<max_pool_gradient_body<T>>(&p, args.in[0].as<const T>() + i * x, args.in[1].as<const T>() + i * y,
                                        args.in[2].as<const T>() + i * y, wide_result<T>(args) + i * x);
    round_result<T>(args, i * x, x);
  });
}

template <class T>
void max_pool_select(const kernel_args& args, const run_context& context) {
  const pool_problem p(pool_kind::select, args);
  const std::int64_t x = p.input_size(), y = p.output_size();
  over_images(p, context, [&](std::int64_t i) {
    dispatch<max_pool_select_body<T>>(&p, args.in[0].as<const T>() + i * x, args.in[1].as<const T>() + i * y,
                                      args.in[2].as<const T>() + i * x, args.out.as<T>() + i * y);
  });
}

template <class T>
void average_pool_gradient(const kernel_args& args, const run_context& context) {
  const pool_problem p(pool_kind::mean_gradient, args);
  const std::int64_t x = p.input_size(), y = p.output_size();
  over_images(p, context, [&](std::int64_t i) {
    dispatch<average_pool_gradient_body<T>>(&p, args.in[0].as<const T>() + i * y, wide_result<T>(args) + i * x);
    round_result<T>(args, i * x, x);
  });
}

}  // namespace cpu::detail

template <>
struct kernel<on_cpu, ir::key<op::max_pool>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::pool<cpu::detail::max_pool_body<stored<Out>>, stored<Out>>};
};
template <>
struct kernel<on_cpu, ir::key<op::max_pool_gradient>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry = cpu::wide_entry<stored<Out>>(&cpu::detail::max_pool_gradient<stored<Out>>);
};
template <>
struct kernel<on_cpu, ir::key<op::max_pool_select>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::max_pool_select<stored<Out>>};
};
template <>
struct kernel<on_cpu, ir::key<op::average_pool>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::pool<cpu::detail::average_pool_body<stored<Out>>, stored<Out>>};
};
template <>
struct kernel<on_cpu, ir::key<op::average_pool_gradient>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry = cpu::wide_entry<stored<Out>>(&cpu::detail::average_pool_gradient<stored<Out>>);
};

}  // namespace tagma::device
