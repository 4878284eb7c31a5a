// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Updates of optimizers on the GPU: one pass over a variable, its slots and its gradient, or over the rows of a sparse
/// gradient.

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/kernel/state.hpp"
#include "tagma/device/update_rules.hpp"
#include "tagma/device/updates.hpp"

namespace tagma::device {
namespace cuda::detail {

/// Reads the numbers once for all threads of a block.
template <class Update, class C>
TAGMA_DEVICE update_numbers<C> share_numbers(const place& at, const number_places& p) {
  auto* shared = reinterpret_cast<update_numbers<C>*>(at.shared);
  if (at.thread == 0) *shared = read_numbers<Update, C>(p);
  at.wait();
  return *shared;
}

/// The elements that an update writes.
template <class Update, class T>
struct update_target {
  using C = compute_t<T>;
  static constexpr int slots = static_cast<int>(Update::slots.size());
  T* variable = nullptr;
  T* slot[slots + 1u]{};

  explicit update_target(const kernel_args& args) : variable(args.out.as<T>()) {
    for (int k = 0; k < slots; ++k) slot[k] = args.in[1 + k].template as<T>();
  }
  TAGMA_DEVICE void update(std::int64_t i, C g, const update_numbers<C>& h) const {
    C v = widen(variable[i]), s[slots + 1u];
    TAGMA_UNROLL
    for (int k = 0; k < slots; ++k) s[k] = widen(slot[k][i]);
    update_rule<Update>::apply(v, s, g, h);
    TAGMA_UNROLL
    for (int k = 0; k < slots; ++k) slot[k][i] = narrow<T>(s[k]);
    variable[i] = narrow<T>(v);
  }
};

template <class Update, class T>
struct update_body {
  using C = compute_t<T>;
  struct arguments {
    update_target<Update, T> target;
    const T* gradient;
    std::int64_t count;
    number_places numbers;
  };
  TAGMA_DEVICE static void run(const place& at, const arguments& a) {
    const update_numbers<C> h = share_numbers<Update, C>(at, a.numbers);
    for (std::int64_t i = at.index(); i < a.count; i += at.count()) a.target.update(i, widen(a.gradient[i]), h);
  }
};

template <class C>
[[nodiscard]] constexpr geometry update_geometry(std::int64_t count) {
  geometry g = geometry::over(count);
  g.shared = sizeof(update_numbers<C>);
  return g;
}

template <class Update, class T>
void apply_update(const kernel_args& args, const run_context& context) {
  constexpr std::size_t slots = Update::slots.size();
  const std::int64_t n = args.out.elements();
  if (n == 0) return;
  launch<update_body<Update, T>>(update_geometry<compute_t<T>>(n), context,
                                 {update_target<Update, T>(args), args.in[1 + slots].template as<const T>(), n,
                                  number_places(args, slots, args.in.size())});
}

/// Updates the rows that a sparse gradient goes to, or all rows.
template <class Update, class T>
struct row_update_body {
  using C = compute_t<T>;
  struct arguments {
    update_target<Update, T> target;
    row_parts parts;
    sorted_rows sorted;
    std::int64_t width;
    number_places numbers;
  };
  TAGMA_DEVICE static void run(const place& at, const arguments& a) {
    const update_numbers<C> h = share_numbers<Update, C>(at, a.numbers);
    const sorted_rows& sorted = a.sorted;
    const std::int64_t count = (Update::moves_all_rows ? sorted.table : sorted.count) * a.width;
    for (std::int64_t i = at.index(); i < count; i += at.count()) {
      std::int64_t position = quotient(i, a.width), row = position;
      const std::int64_t e = i - position * a.width;
      bool found = true;
      if constexpr (Update::moves_all_rows) {
        position = sorted.find(row);
        found = position < sorted.count && sorted.to[position] == row;
      } else {
        if (!sorted.begins(position)) continue;
        row = sorted.to[position];
      }
      const C g = found ? sorted.template add_from<T>(position, a.parts, a.width, e, C(0)) : C(0);
      a.target.update(row * a.width + e, g, h);
    }
  }
};

template <class Update>
[[nodiscard]] row_parts parts_of(const row_update_operands<Update>& given) {
  row_parts all;
  for (std::size_t p = 0; p < given.parts(); ++p) all.add(given.rows(p), given.indices(p));
  return all;
}

template <class Update>
owned<kernel_state> prepare_rows(const kernel_args& args, const run_context& context) {
  reserve_sort(parts_of(row_update_operands<Update>{args}).total(), args.out.dims[0], context);
  return nullptr;
}

template <class Update, class T>
void apply_rows(const kernel_args& args, const run_context& context) {
  static_assert(op::sparse_gradient::limit <= row_parts::most);
  if (args.out.elements() == 0) return;
  const row_update_operands<Update> given{args};
  const std::int64_t width = given.width();
  const row_parts parts = parts_of(given);
  const sorted_rows sorted = sort_rows(parts, args.out.dims[0], args, context);
  const std::int64_t count = (Update::moves_all_rows ? sorted.table : sorted.count) * width;
  if (count == 0) return;
  launch<row_update_body<Update, T>>(update_geometry<compute_t<T>>(count), context,
                                     {update_target<Update, T>(args), parts, sorted, width, given.numbers()});
}

/// A schedule of a learning rate, in memory of the device.
struct rate_state final : kernel_state {
  explicit rate_state(std::size_t size) : numbers(size) {}
  device_bytes numbers;
};

struct rate_body {
  struct arguments {
    double* to;
    const std::int64_t* step;
    const double* numbers;
    std::int64_t count;
    schedule_kind kind;
  };
  TAGMA_DEVICE static void run(const place& at, const arguments& a) {
    if (at.index() == 0) *a.to = evaluate(a.kind, a.numbers, a.count, static_cast<double>(*a.step));
  }
};

inline owned<kernel_state> prepare_rate(const kernel_args& args, const run_context& context) {
  const auto numbers = args.value->bytes.as<const double>();
  auto state = make_owned<rate_state>(numbers.size() * sizeof(double));
  upload(state->numbers.data(), numbers.data(), numbers.size() * sizeof(double), context);
  return state;
}

inline void scheduled_rate(const kernel_args& args, const run_context& context) {
  const auto& numbers = static_cast<const rate_state*>(args.state)->numbers;
  launch<rate_body>(
      {1, 1, 0}, context,
      {args.out.as<double>(), args.in[0].as<const std::int64_t>(), numbers.as<const double>(),
       static_cast<std::int64_t>(numbers.size() / sizeof(double)), static_cast<schedule_kind>(args.value->integer)});
}

}  // namespace cuda::detail

template <class Update>
struct update_kernel<on_cuda, Update> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cuda::detail::apply_update<Update, stored<Out>>};
};
template <class Update>
struct row_update_kernel<on_cuda, Update> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{.run = &cuda::detail::apply_rows<Update, stored<Out>>,
                                      .prepare = &cuda::detail::prepare_rows<Update>,
                                      .reads_run = true};
};
template <>
struct kernel<on_cuda, ir::key<op::scheduled_rate>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{&cuda::detail::scheduled_rate, &cuda::detail::prepare_rate};
};

}  // namespace tagma::device
