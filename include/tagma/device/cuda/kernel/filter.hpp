// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Kernels of the GPU that find how large their result is. What they find they write to memory of the host, from which
/// the runtime reads it.

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/kernel/scan.hpp"
#include "tagma/device/cuda/order.hpp"
#include "tagma/expr/op/filter.hpp"

namespace tagma::device {
namespace cuda::detail {

/// Says that extent 0 of some results is 0.
struct nothing_found_body {
  struct arguments {
    extent* extents;
    std::int64_t results;
  };
  TAGMA_DEVICE static void run(const place& at, const arguments& a) {
    for (std::int64_t r = at.index(); r < a.results; r += at.count()) a.extents[r * max_rank] = 0;
  }
};

/// Running sums of `count` numbers.
/// @param sums room for one number of each part
/// @param total takes on the sum of all; may be nullptr
inline void scan_numbers(const std::int64_t* from, std::int64_t* to, std::int64_t count, bool exclusive,
                         std::int64_t* sums, std::int64_t* total, const run_context& context) {
  const scan_plan plan(1, count, 1);
  if (plan.splits == 1) {
    launch_scan<std::int64_t>({from, to, total, nullptr, plan, exclusive, false}, context);
    return;
  }
  launch_scan<std::int64_t>({from, nullptr, sums, nullptr, plan, exclusive, false}, context);
  launch_scan<std::int64_t>({sums, sums, total, nullptr, scan_plan::of_sums(plan), true, false}, context);
  launch_scan<std::int64_t>({from, to, nullptr, sums, plan, exclusive, false}, context);
}
[[nodiscard]] inline std::size_t scan_bytes(std::int64_t count) {
  return workspace_part(static_cast<std::size_t>(scan_plan(1, count, 1).splits) * sizeof(std::int64_t));
}
[[nodiscard]] inline std::size_t array_bytes(std::int64_t count) {
  return workspace_part(static_cast<std::size_t>(count) * sizeof(std::int64_t));
}

/// Elements that one thread counts, and then writes.
inline constexpr std::int64_t filter_piece = 32;

template <class T>
TAGMA_DEVICE bool is_nonzero(const T& x) {
  if constexpr (std::is_same_v<T, bool>)
    return x;
  else
    return widen(x) != compute_t<T>(0);
}

template <class T>
struct count_nonzero_body {
  struct arguments {
    const T* from;
    std::int64_t* counts;
    std::int64_t n, pieces;
  };
  TAGMA_DEVICE static void run(const place& at, const arguments& a) {
    for (std::int64_t p = at.index(); p < a.pieces; p += at.count()) {
      const std::int64_t first = p * filter_piece, last = first + filter_piece < a.n ? first + filter_piece : a.n;
      std::int64_t count = 0;
      for (std::int64_t i = first; i < last; ++i) count += is_nonzero(a.from[i]) ? 1 : 0;
      a.counts[p] = count;
    }
  }
};
template <class T>
struct write_nonzero_body {
  struct arguments {
    const T* from;
    const std::int64_t* before;
    std::int64_t* to;
    std::int64_t n, pieces;
    std::int64_t extents[max_rank];
    int rank;  ///< of the positions; 0: they are those among all elements
  };
  TAGMA_DEVICE static void run(const place& at, const arguments& a) {
    for (std::int64_t p = at.index(); p < a.pieces; p += at.count()) {
      const std::int64_t first = p * filter_piece, last = first + filter_piece < a.n ? first + filter_piece : a.n;
      std::int64_t* to = a.to + a.before[p] * (a.rank == 0 ? 1 : a.rank);
      for (std::int64_t i = first; i < last; ++i) {
        if (!is_nonzero(a.from[i])) continue;
        if (a.rank == 0) {
          *to++ = i;
          continue;
        }
        std::int64_t rest = i;
        for (int axis = a.rank - 1; axis > 0; --axis) {
          const std::int64_t above = quotient(rest, a.extents[axis]);
          to[axis] = rest - above * a.extents[axis];
          rest = above;
        }
        to[0] = rest;
        to += a.rank;
      }
    }
  }
};

inline owned<kernel_state> prepare_nonzero(const kernel_args& args, const run_context& context) {
  const std::int64_t count = pieces(args.in[0].elements(), filter_piece);
  return reserve_workspace(context, 2 * array_bytes(count) + scan_bytes(count));
}

template <class T>
void nonzero(const kernel_args& args, const run_context& context) {
  const shape& mask = args.in[0].dims;
  const std::int64_t n = args.in[0].elements(), count = pieces(n, filter_piece);
  if (n == 0) return launch<nothing_found_body>(geometry::over(1), context, {args.late->extents, 1});
  std::byte* const memory = resources_of(context).workspace();
  auto* const counts = reinterpret_cast<std::int64_t*>(memory);
  auto* const before = reinterpret_cast<std::int64_t*>(memory + array_bytes(count));
  auto* const sums = reinterpret_cast<std::int64_t*>(memory + 2 * array_bytes(count));
  launch<count_nonzero_body<T>>(geometry::over(count), context, {args.in[0].as<const T>(), counts, n, count});
  scan_numbers(counts, before, count, true, sums, args.late->extents, context);
  typename write_nonzero_body<T>::arguments a{
      args.in[0].as<const T>(), before, args.out.as<std::int64_t>(), n, count, {}, 0};
  if (args.attributes[0] == 0) {
    a.rank = mask.rank;
    for (int axis = 0; axis < mask.rank; ++axis) a.extents[axis] = mask[axis];
  }
  launch<write_nonzero_body<T>>(geometry::over(count), context, a);
}

/// Of elements in their order, which differ from the one before.
template <class T>
struct heads_body {
  struct arguments {
    const T* from;
    const std::uint32_t* order;
    std::int64_t* heads;
    std::int64_t* at_first;  ///< of positions: cleared
    std::int64_t n;
  };
  TAGMA_DEVICE static void run(const place& at, const arguments& a) {
    for (std::int64_t i = at.index(); i < a.n; i += at.count()) {
      const bool same = i > 0 && widen(a.from[a.order[i]]) == widen(a.from[a.order[i - 1]]);
      a.heads[i] = same ? 0 : 1;
      a.at_first[i] = 0;
    }
  }
};
/// Where each run of equal elements begins, and which positions are the first of theirs: sorts leave equal ones in
/// their order.
struct firsts_body {
  struct arguments {
    const std::uint32_t* order;
    const std::int64_t* heads;
    const std::int64_t* runs;  ///< how many runs have begun
    std::int64_t* begin;
    std::int64_t* at_first;
    std::int64_t n;
  };
  TAGMA_DEVICE static void run(const place& at, const arguments& a) {
    for (std::int64_t i = at.index(); i < a.n; i += at.count()) {
      if (a.heads[i] == 0) continue;
      a.begin[a.runs[i] - 1] = i;
      a.at_first[a.order[i]] = 1;
    }
  }
};
template <class T>
struct write_unique_body {
  struct arguments {
    const T* from;
    const std::uint32_t* order;
    const std::int64_t* runs;
    const std::int64_t* begin;
    const std::int64_t* place_of;  ///< of positions that are the first of theirs, among those
    T* values;
    std::int64_t* at;
    std::int64_t* counts;
    extent* extents;
    std::int64_t n;
  };
  TAGMA_DEVICE static void run(const place& at, const arguments& a) {
    const std::int64_t found = a.runs[a.n - 1];
    for (std::int64_t i = at.index(); i < a.n; i += at.count()) {
      const std::int64_t run = a.runs[i] - 1, begin = a.begin[run];
      const std::uint32_t first = a.order[begin];
      const std::int64_t value = a.place_of[first];
      if (a.at != nullptr) a.at[a.order[i]] = value;
      if (i == 0) a.extents[0] = a.extents[2 * max_rank] = found;
      if (i != begin) continue;
      if (a.values != nullptr) a.values[value] = a.from[first];
      if (a.counts != nullptr) a.counts[value] = (run + 1 < found ? a.begin[run + 1] : a.n) - begin;
    }
  }
};

[[nodiscard]] inline std::size_t unique_bytes(std::int64_t n) { return 4 * array_bytes(n) + scan_bytes(n); }

inline owned<kernel_state> prepare_unique(const kernel_args& args, const run_context& context) {
  const std::int64_t n = args.in[0].elements();
  ordered_positions::reserve(n, context, unique_bytes(n));
  return nullptr;
}

template <class T>
void unique(const kernel_args& args, const run_context& context) {
  const std::int64_t n = args.in[0].elements();
  if (n == 0) return launch<nothing_found_body>(geometry::over(3), context, {args.late->extents, 3});
  const auto* const from = args.in[0].as<const T>();
  std::byte* const memory = resources_of(context).workspace() + workspace_part(sort_memory{n}.bytes());
  const auto array = [&](std::size_t i) { return reinterpret_cast<std::int64_t*>(memory + i * array_bytes(n)); };
  std::int64_t *const heads = array(0), *const runs = array(1), *const at_first = array(2), *const begin = array(3),
                      *const sums = array(4), *const place_of = heads;
  ordered_positions order(n, context);
  order.sort_elements(from, false);
  launch<heads_body<T>>(geometry::over(n), context, {from, order.get(), heads, at_first, n});
  scan_numbers(heads, runs, n, false, sums, nullptr, context);
  launch<firsts_body>(geometry::over(n), context, {order.get(), heads, runs, begin, at_first, n});
  scan_numbers(at_first, place_of, n, true, sums, nullptr, context);
  launch<write_unique_body<T>>(
      geometry::over(n), context,
      {from, order.get(), runs, begin, place_of, args.outs[0].as<T>(), args.outs[1].as<std::int64_t>(),
       args.outs[2].as<std::int64_t>(), args.late->extents, n});
}

}  // namespace cuda::detail

template <>
struct kernel<on_cuda, ir::key<op::nonzero>> {
  template <dtype, dtype In, dtype...>
  static constexpr kernel_entry entry{&cuda::detail::nonzero<stored<In>>, &cuda::detail::prepare_nonzero};
};
template <>
struct kernel<on_cuda, ir::key<op::unique>> {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{&cuda::detail::unique<stored<Out>>, &cuda::detail::prepare_unique};
};

}  // namespace tagma::device
