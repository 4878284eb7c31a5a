// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Updates of optimizers on the CPU: one pass over a variable, its slots and its gradient, or over the rows
/// of a sparse gradient.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/copy.hpp"
#include "tagma/device/cpu/kernel/state.hpp"
#include "tagma/device/cpu/sparse_rows.hpp"
#include "tagma/device/update_rules.hpp"
#include "tagma/device/updates.hpp"

namespace tagma::device {
namespace cpu::detail {

// Some optimizers have no slots.
TAGMA_EMPTY_LOOPS_BEGIN

template <class Update, class T>
struct update_body {
  using C = compute_t<T>;
  using P = pack<C, 8>;
  static constexpr std::size_t slots = Update::slots.size();
  using pointers = T* const*;

  TAGMA_INLINE static T* move_rest(T* to, const T* from, std::int64_t n) {
    copy_padded<8, sizeof(T)>(to, from, n);
    return to;
  }
  TAGMA_INLINE static void run(T* v, pointers slot_pointers, const T* g, const update_numbers<C>* numbers,
                               std::int64_t n) {
    // Copies, which no store can change: what the loop does with them is done before it.
    const update_numbers<C> h = *numbers;
    T* slot[slots + 1]{};
    for (std::size_t k = 0; k < slots; ++k) slot[k] = slot_pointers[k];
    // What remains of the last pack goes through copies, as in loops (fused.hpp): one copy of the code.
    T rest_of[slots + 2][8];
    T* const value_end = v + n;
    const std::int64_t rest = n % 8;
    for (std::int64_t count = n - rest;;) {
      for (std::int64_t i = 0; i < count; i += 8) {
        P value = load<8>(v + i), s[slots + 1];
        for (std::size_t k = 0; k < slots; ++k) s[k] = load<8>(slot[k] + i);
        update_rule<Update>::apply(value, s, load<8>(g + i), h);
        for (std::size_t k = 0; k < slots; ++k) store(slot[k] + i, s[k]);
        store(v + i, value);
      }
      if (rest == 0) return;
      if (v == rest_of[0]) break;
      v = move_rest(rest_of[0], v + count, rest);
      for (std::size_t k = 0; k < slots; ++k) slot[k] = move_rest(rest_of[2 + k], slot[k] + count, rest);
      g = move_rest(rest_of[1], g + count, rest);
      count = 8;
    }
    copy_rest<sizeof(T)>(value_end - rest, v, rest);
    for (std::size_t k = 0; k < slots; ++k) copy_rest<sizeof(T)>(slot_pointers[k] + n - rest, slot[k], rest);
  }
};

/// The numbers of an update. Optimizing this for speed would cost the compiler more than a run gains.
template <class Update, class C>
[[nodiscard]] TAGMA_COLD update_numbers<C> numbers_at(const number_places& p) {
  return read_numbers<Update, C>(p);
}

/// Updates `n` elements from element `at` on, with the gradient of just these elements.
template <class Update, class T>
void update_piece(const kernel_args& args, const update_numbers<compute_t<T>>& h, std::int64_t at, const T* g,
                  std::int64_t n) {
  constexpr std::size_t slots = Update::slots.size();
  T* slot[slots + 1]{};
  for (std::size_t k = 0; k < slots; ++k) slot[k] = args.in[1 + k].template as<T>() + at;
  dispatch<update_body<Update, T>>(args.out.as<T>() + at, static_cast<T* const*>(slot), g, &h, n);
}

/// Elements that are a task of their own.
inline constexpr std::int64_t update_task = 65536;

template <class Update, class T>
void apply_update(const kernel_args& args, const run_context& context) {
  constexpr std::size_t slots = Update::slots.size();
  const auto h = numbers_at<Update, compute_t<T>>({args, slots, args.in.size()});
  const T* g = args.in[1 + slots].template as<const T>();
  const std::int64_t n = args.out.elements();
  const auto some = [&](std::int64_t t) {
    const std::int64_t first = t * update_task, rest = n - first;
    update_piece<Update, T>(args, h, first, g + first, rest < update_task ? rest : update_task);
  };
  const std::int64_t tasks = pieces(n, update_task);
  if (tasks == 1)
    some(0);
  else
    context.threads->parallel_for(tasks, some);
}

/// Updates by a sparse gradient. Rows are sorted by where they go; a task owns the rows of the variable whose first
/// gradient is in its share, so that neither writes nor the order of additions depend on the threads.
template <class Update, class T>
class row_updates {
 public:
  row_updates(const kernel_args& args, const run_context& context) : args_(args), table_(args.out.dims[0]) {
    const row_update_operands<Update> given{args};
    width_ = given.width();
    h_ = numbers_at<Update, compute_t<T>>(given.numbers());
    if (args.out.elements() == 0) return;
    auto& sorter = static_cast<row_sorter&>(*args.state);
    for (std::size_t p = 0; p < given.parts(); ++p) sorter.add(given.rows(p), given.indices(p), table_);
    rows_ = sorter.sorted(table_);
    count_ = static_cast<std::int64_t>(rows_.size());
    if constexpr (Update::moves_all_rows) {
      const std::int64_t rows = 1 + update_task / width_, tasks = pieces(table_, rows);
      context.threads->parallel_for(
          tasks, [&](std::int64_t t) { all_rows(t * rows, t + 1 < tasks ? (t + 1) * rows : table_); });
    } else {
      over_pieces(count_, width_ * static_cast<std::int64_t>(sizeof(T)), context,
                  [&](std::int64_t first, std::int64_t last) { some_rows(first, last); });
    }
  }

  [[nodiscard]] static owned<kernel_state> prepare(const kernel_args& args, const run_context&) {
    std::int64_t count = 0;
    const row_update_operands<Update> given{args};
    for (std::size_t p = 0; p < given.parts(); ++p) count += given.indices(p).elements();
    return owned<kernel_state>(new row_sorter(static_cast<std::size_t>(count)));
  }
  static void run(const kernel_args& args, const run_context& context) { row_updates(args, context); }

 private:
  /// Elements of a sum of gradients, or of a gradient of zero, that are made at a time.
  static constexpr std::int64_t piece = 1024;

  [[nodiscard]] const T* gradient(std::int64_t i) const { return reinterpret_cast<const T*>(at(i).from); }
  [[nodiscard]] const gradient_row& at(std::int64_t i) const { return rows_[i]; }

  /// Updates the row that gradient `i` and perhaps its successors go to; the first gradient that goes elsewhere.
  std::int64_t one_row(std::int64_t i) const {
    const std::int64_t row = at(i).row;
    std::int64_t end = i + 1;
    while (end < count_ && at(end).row == row) ++end;
    if (end == i + 1) {
      update_piece<Update, T>(args_, h_, row * width_, gradient(i), width_);
      return end;
    }
    // 16-bit floats are summed in wider ones and rounded once.
    using C = compute_t<T>;
    C sum[piece];
    for (std::int64_t from = 0; from < width_; from += piece) {
      const std::int64_t n = from + piece < width_ ? piece : width_ - from;
      for (std::int64_t k = 0; k < n; ++k) sum[k] = static_cast<C>(gradient(i)[from + k]);
      for (std::int64_t j = i + 1; j < end; ++j)
        dispatch<accumulate_body<T, true, C>>(static_cast<C*>(sum), gradient(j) + from, n);
      if constexpr (std::is_same_v<T, C>) {
        update_piece<Update, T>(args_, h_, row * width_ + from, sum, n);
      } else {
        T once[piece];
        dispatch<convert_elements>(static_cast<const C*>(sum), static_cast<T*>(once), n);
        update_piece<Update, T>(args_, h_, row * width_ + from, once, n);
      }
    }
    return end;
  }
  /// The rows whose first gradient is one of `first` to `last` - 1.
  void some_rows(std::int64_t first, std::int64_t last) const {
    while (first < last && first > 0 && at(first).row == at(first - 1).row) ++first;
    while (first < last) first = one_row(first);
  }
  /// The rows `first` to `last` - 1 of the variable, whether there is a gradient for them or not.
  void all_rows(std::int64_t first, std::int64_t last) const {
    const T zeros[piece]{};
    std::int64_t i = first_gradient_at(first);
    for (std::int64_t row = first; row < last; ++row) {
      const std::int64_t next = i < count_ && at(i).row < last ? at(i).row : last;
      for (std::int64_t e = row * width_; e < next * width_; e += piece)
        update_piece<Update, T>(args_, h_, e, zeros, e + piece < next * width_ ? piece : next * width_ - e);
      if (next < last) i = one_row(i);
      row = next;
    }
  }
  [[nodiscard]] std::int64_t first_gradient_at(std::int64_t row) const {
    std::int64_t low = 0, high = count_;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (at(middle).row < row)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  const kernel_args& args_;
  std::int64_t width_ = 0, table_, count_ = 0;
  update_numbers<compute_t<T>> h_;
  array_view<const gradient_row> rows_;
};

TAGMA_EMPTY_LOOPS_END

void scheduled_rate(const kernel_args& args, const run_context&);

}  // namespace cpu::detail

template <class Update>
struct update_kernel<on_cpu, Update> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::apply_update<Update, stored<Out>>};
};
template <class Update>
struct row_update_kernel<on_cpu, Update> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::row_updates<Update, stored<Out>>::run,
                                      &cpu::detail::row_updates<Update, stored<Out>>::prepare};
};
template <>
struct kernel<on_cpu, ir::key<op::scheduled_rate>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::scheduled_rate};
};

}  // namespace tagma::device

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/kernel/optimizers.ipp"
#endif
