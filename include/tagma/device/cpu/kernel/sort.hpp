// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Sorts on the CPU, by the digits of ordered words: the least significant one first, each leaving what it finds equal
/// as it was.

#include "tagma/device/cpu/copy.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/ordered.hpp"
#include "tagma/device/rows.hpp"
#include "tagma/expr/op/sort.hpp"

namespace tagma::device {
namespace cpu::detail {

/// Rows of so many elements are put in order by comparisons.
inline constexpr std::int64_t few_to_order = 32;

/// Puts the positions 0 to n - 1 in the order of their words, the lower position first of equal ones.
/// @param word gives the word of a position
/// @param order room for n positions, where they are put
/// @param other room for as many
template <class Word>
void order_by(const Word& word, std::int64_t n, std::int64_t* order, std::int64_t* other) {
  constexpr std::size_t digits = sizeof(word(0));
  if (n <= few_to_order) {
    for (std::int64_t i = 0; i < n; ++i) {
      const auto own = word(i);
      std::int64_t at = i;
      for (; at > 0 && word(order[at - 1]) > own; --at) order[at] = order[at - 1];
      order[at] = i;
    }
    return;
  }
  const auto digit = [&word](std::int64_t i, std::size_t d) {
    return static_cast<std::size_t>(word(i) >> (8 * d)) & 255;
  };
  std::int64_t counts[digits][256]{};
  for (std::int64_t i = 0; i < n; ++i)
    for (std::size_t d = 0; d < digits; ++d) ++counts[d][digit(i, d)];
  std::int64_t* const result = order;
  for (std::int64_t i = 0; i < n; ++i) order[i] = i;
  for (std::size_t d = 0; d < digits; ++d) {
    if (counts[d][digit(0, d)] == n) continue;  // all have the same
    std::int64_t next = 0;
    for (std::int64_t& count : counts[d]) {
      const std::int64_t first = next;
      next += count;
      count = first;
    }
    for (std::int64_t i = 0; i < n; ++i) other[counts[d][digit(order[i], d)]++] = order[i];
    std::swap(order, other);
  }
  if (order != result) std::memcpy(result, order, static_cast<std::size_t>(n) * sizeof(std::int64_t));
}

/// The same for a row whose words have at most 32 bits, and its positions as well: each word goes with its position, so
/// that all memory is read in a row. Threads share a long row: each counts and moves the digits of its part.
template <class T>
class row_order {
  using word = word_of<T>;
  struct placed {
    word key;
    std::uint32_t position;
  };
  static constexpr std::size_t values = 256;
  static constexpr std::int64_t most_parts = 16;

 public:
  static constexpr bool possible = sizeof(word) <= 4;
  static constexpr std::int64_t longest = UINT32_MAX;

  /// How many parts a row is taken in: one, unless more threads have something to do in a part of a row each than in
  /// rows of their own.
  static std::int64_t parts_of(std::int64_t rows, std::int64_t n, const run_context& context) {
    constexpr std::int64_t worth = 32768;
    const std::int64_t threads = context.threads->threads(), most = threads < most_parts ? threads : most_parts;
    const std::int64_t parts = n / worth < most ? n / worth : most;
    return parts > rows ? parts : 1;
  }

  row_order(const T* row, word flip, std::int64_t n, std::int64_t parts, const run_context& context)
      : row_(row), flip_(flip), n_(n), parts_(parts), context_(context) {}

  /// @param order, other as above
  void run(std::int64_t* order, std::int64_t* other) {
    static_assert(sizeof(placed) == sizeof(std::int64_t));
    auto* from = reinterpret_cast<placed*>(order);
    auto* to = reinterpret_cast<placed*>(other);
    share([&](std::int64_t, std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i)
        from[i] = {static_cast<word>(ordered_word(row_[i]) ^ flip_), static_cast<std::uint32_t>(i)};
    });
    for (std::size_t d = 0; d < sizeof(word); ++d) {
      const auto digit = [d](const placed& p) { return static_cast<std::size_t>(p.key >> (8 * d)) & (values - 1); };
      share([&](std::int64_t part, std::int64_t first, std::int64_t last) {
        std::memset(counts_[part], 0, sizeof counts_[part]);
        for (std::int64_t i = first; i < last; ++i) ++counts_[part][digit(from[i])];
      });
      if (!find_places()) continue;
      share([&](std::int64_t part, std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) to[counts_[part][digit(from[i])]++] = from[i];
      });
      std::swap(from, to);
    }
    share([&](std::int64_t, std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) {
        const std::int64_t position = from[i].position;
        std::memcpy(order + i, &position, sizeof position);
      }
    });
  }

 private:
  template <class Some>
  void share(const Some& some) {
    if (parts_ == 1) return some(0, 0, n_);
    const std::int64_t each = pieces(n_, parts_);
    context_.threads->parallel_for(parts_, [&](std::int64_t part) {
      const std::int64_t first = part * each, last = first + each;
      some(part, first < n_ ? first : n_, last < n_ ? last : n_);
    });
  }
  /// Makes of the counts where each part puts its elements. False if all have the same digit.
  bool find_places() {
    std::int64_t next = 0;
    for (std::size_t value = 0; value < values; ++value) {
      const std::int64_t before = next;
      for (std::int64_t part = 0; part < parts_; ++part) {
        const std::int64_t first = next;
        next += counts_[part][value];
        counts_[part][value] = first;
      }
      if (next - before == n_) return false;
    }
    return true;
  }

  const T* row_;
  word flip_;
  std::int64_t n_, parts_;
  const run_context& context_;
  std::int64_t counts_[most_parts][values];
};

template <class T>
void argsort(const kernel_args& args, const run_context& context) {
  const row_extents in(args.in[0].dims);
  const std::int64_t rows = in.rows, n = in.n;
  const auto flip = static_cast<word_of<T>>(args.attributes[0] != 0 ? ~std::uint64_t{0} : 0);
  std::int64_t* const other = static_cast<scratch<std::int64_t>*>(args.state)->data();
  const T* const from = args.in[0].as<const T>();
  std::int64_t* const to = args.out.as<std::int64_t>();
  if constexpr (row_order<T>::possible) {
    if (n > few_to_order && n <= row_order<T>::longest) {
      const std::int64_t parts = row_order<T>::parts_of(rows, n, context);
      const auto some = [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t r = first; r < last; ++r)
          row_order<T>(from + r * n, flip, n, parts, context).run(to + r * n, other + r * n);
      };
      return parts > 1 ? some(0, rows) : over_pieces(rows, 128 * n, context, some);
    }
  }
  over_pieces(rows, 128 * n, context, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t r = first; r < last; ++r)
      order_by([row = from + r * n, flip](std::int64_t i) { return word_of<T>(ordered_word(row[i]) ^ flip); }, n,
               to + r * n, other + r * n);
  });
}

}  // namespace cpu::detail

template <>
struct kernel<on_cpu, ir::key<op::argsort>> {
  template <dtype, dtype In, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::argsort<stored<In>>,
                                      [](const kernel_args& args, const run_context&) -> owned<kernel_state> {
                                        return make_owned<cpu::scratch<std::int64_t>>(args.out.elements());
                                      }};
};

}  // namespace tagma::device
