// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Sorts on the CPU, by the digits of ordered words: the least significant one first, each leaving what it finds equal
/// as it was.

#include "tagma/device/cpu/copy.hpp"
#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/cpu/short_rows.hpp"
#include "tagma/device/ordered.hpp"
#include "tagma/device/rows.hpp"
#include "tagma/expr/op/sort.hpp"

namespace tagma::device {
namespace cpu::detail {

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

/// The same for a row with at most 2^32 positions: 32 bits of each word, its key, go with its position, so that all
/// memory is read in a row. Of wider words these are the upper bits of what they are above the least one. Only as many
/// upper digits are looked at as leave hardly any elements out of place, which are then moved one by one. Threads share
/// a long row: each counts and moves the digits of its part.
template <class T>
class row_order {
  using word = word_of<T>;
  using placed = std::uint64_t;  ///< a key, and its position below it
  static constexpr std::size_t values = 256;
  static constexpr std::int64_t most_parts = 16;
  static constexpr int word_bits = 8 * static_cast<int>(sizeof(word)), key_bits = 32;
  static constexpr int digits = word_bits < key_bits ? word_bits / 8 : key_bits / 8;  ///< of keys
  static constexpr bool has_range = word_bits > key_bits;

 public:
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
    if constexpr (has_range)
      if (std::is_integral_v<T> || seem_close()) find_range();
    auto* from = reinterpret_cast<placed*>(order);
    auto* to = reinterpret_cast<placed*>(other);
    if (parts_ == 1 ? order_alone(from, to, order) : order_together(from, to, order)) return;
    order_by([this](std::int64_t i) { return word_at(i); }, n_, order, other);  // keys that say little
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
  [[nodiscard]] word word_at(std::int64_t i) const { return static_cast<word>(ordered_word(row_[i]) ^ flip_); }
  [[nodiscard]] placed place(std::int64_t i) const {
    std::uint64_t key = word_at(i);
    if constexpr (has_range)
      key = (key - least_) << left_ >> (word_bits - key_bits);
    else
      key <<= key_bits - word_bits;
    return key << 32 | static_cast<std::uint64_t>(i);
  }
  /// Digit 0 is the uppermost one.
  static std::size_t digit(placed p, int d) { return static_cast<std::size_t>(p >> (56 - 8 * d)) & (values - 1); }

  /// Whether floats have a sign and an exponent in common, as far as some tell: their range is that of all otherwise.
  [[nodiscard]] bool seem_close() const {
    word differ = 0;
    for (std::int64_t i = 0; i < 8; ++i) differ |= word_at(0) ^ word_at(n_ / 8 * i);
    return differ >> (word_bits - 12) == 0;
  }
  /// The least word, and how far what words are above it is moved for the uppermost bit of any to be the first one.
  void find_range() {
    word least[most_parts], most[most_parts];
    share([&](std::int64_t part, std::int64_t first, std::int64_t last) {
      word low = static_cast<word>(~word{0}), high = 0;
      for (std::int64_t i = first; i < last; ++i) {
        const word own = word_at(i);
        low = own < low ? own : low;
        high = own > high ? own : high;
      }
      least[part] = low, most[part] = high;
    });
    for (std::int64_t part = 1; part < parts_; ++part) {
      if (least[part] < least[0]) least[0] = least[part];
      if (most[part] > most[0]) most[0] = most[part];
    }
    least_ = least[0];
    const std::uint64_t range = most[0] - least[0];
    left_ = range != 0 ? __builtin_clzll(range) : 0;
    exact_ = left_ >= word_bits - key_bits;
  }

  bool order_alone(placed* from, placed* to, std::int64_t* order) {
    std::memset(counts_, 0, static_cast<std::size_t>(digits) * sizeof counts_[0]);
    for (std::int64_t i = 0; i < n_; ++i) {
      const placed p = place(i);
      from[i] = p;
      ++counts_[0][digit(p, 0)];
      if constexpr (digits > 1) ++counts_[1][digit(p, 1)];
      if constexpr (digits > 2) ++counts_[2][digit(p, 2)], ++counts_[3][digit(p, 3)];
    }
    // How many pairs are out of order if digits have nothing to do with each other.
    double pairs = 0.25 * static_cast<double>(n_) * static_cast<double>(n_);
    int some = 0;
    bool moves[4]{};
    for (; some < digits && pairs > static_cast<double>(n_) / 16; ++some) {
      const double equal = chance_of_equal(counts_[some]);
      moves[some] = equal < 1;
      pairs *= equal;
    }
    for (int d = some; d-- > 0;)
      if (moves[d]) move(from, to, d);
    const bool whole = some == digits;
    if (whole && exact_) return put(from, order, 0, n_), true;
    if (finish(from, order, whole ? 4 : 1)) return true;
    if (whole) return false;
    for (int d = digits; d-- > 0;) {
      std::memset(counts_[d], 0, sizeof counts_[d]);
      for (std::int64_t i = 0; i < n_; ++i) ++counts_[d][digit(from[i], d)];
      move(from, to, d);
    }
    if (exact_) return put(from, order, 0, n_), true;
    return finish(from, order, 4);
  }
  /// That two elements have the same digit.
  [[nodiscard]] double chance_of_equal(const std::uint32_t* counts) const {
    double squares = 0;
    for (std::size_t value = 0; value < values; ++value) {
      const double count = static_cast<std::int32_t>(counts[value]);
      squares += count * count;
    }
    return squares / (static_cast<double>(n_) * static_cast<double>(n_));
  }
  void move(placed*& from, placed*& to, int d) {
    find_places(&counts_[d], 1);
    for (std::int64_t i = 0; i < n_; ++i) to[counts_[d][digit(from[i], d)]++] = from[i];
    std::swap(from, to);
  }
  bool order_together(placed* from, placed* to, std::int64_t* order) {
    share([&](std::int64_t, std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) from[i] = place(i);
    });
    for (int d = digits; d-- > 0;) {
      share([&](std::int64_t part, std::int64_t first, std::int64_t last) {
        std::memset(counts_[part], 0, sizeof counts_[part]);
        for (std::int64_t i = first; i < last; ++i) ++counts_[part][digit(from[i], d)];
      });
      if (!find_places(counts_, parts_)) continue;
      share([&](std::int64_t part, std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) to[counts_[part][digit(from[i], d)]++] = from[i];
      });
      std::swap(from, to);
    }
    if (!exact_) return finish(from, order, 4);
    share([&](std::int64_t, std::int64_t first, std::int64_t last) { put(from, order, first, last); });
    return true;
  }
  /// Makes of the counts of some parts where each puts its elements. False if all have the same digit.
  bool find_places(std::uint32_t (*counts)[values], std::int64_t parts) const {
    std::uint32_t next = 0;
    for (std::size_t value = 0; value < values; ++value) {
      const std::uint32_t before = next;
      for (std::int64_t part = 0; part < parts; ++part) {
        const std::uint32_t first = next;
        next += counts[part][value];
        counts[part][value] = first;
      }
      if (next - before == n_) return false;
    }
    return true;
  }

  [[nodiscard]] bool before(placed a, placed b) const {
    if constexpr (word_bits > key_bits)
      if (!exact_ && (a ^ b) >> 32 == 0) {
        const word x = word_at(a & 0xffffffffu), y = word_at(b & 0xffffffffu);
        if (x != y) return x < y;
      }
    return a < b;
  }
  /// Puts what is nearly in order in order, and the positions alone to `order`, which may be the same memory. False,
  /// with elements of equal keys as they were, if that takes more than `most` moves for each one.
  bool finish(placed* words, std::int64_t* order, std::int64_t most) const {
    std::int64_t left = 64 + most * n_;
    for (std::int64_t i = 1; i < n_; ++i) {
      const placed own = words[i];
      if (!before(own, words[i - 1])) continue;
      std::int64_t at = i;
      do words[at] = words[at - 1];
      while (--at > 0 && before(own, words[at - 1]));
      words[at] = own;
      left -= i - at;
      if (left < 0) return false;
    }
    put(words, order, 0, n_);
    return true;
  }
  static void put(const placed* words, std::int64_t* order, std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) order[i] = words[i] & 0xffffffffu;
  }

  const T* row_;
  word flip_;
  std::int64_t n_, parts_;
  const run_context& context_;
  word least_ = 0;
  int left_ = 0;
  bool exact_ = word_bits <= key_bits;        ///< keys are whole words
  std::uint32_t counts_[most_parts][values];  ///< of digits, or of parts
};

template <class T>
void argsort(const kernel_args& args, const run_context& context) {
  const row_extents in(args.in[0].dims);
  const std::int64_t rows = in.rows, n = in.n;
  const auto flip = static_cast<word_of<T>>(args.attributes[0] != 0 ? ~std::uint64_t{0} : 0);
  std::int64_t* const other = static_cast<scratch<std::int64_t>*>(args.state)->data();
  const T* const from = args.in[0].as<const T>();
  std::int64_t* const to = args.out.as<std::int64_t>();
  if (n > few_to_order && n <= row_order<T>::longest) {
    const std::int64_t parts = row_order<T>::parts_of(rows, n, context);
    const auto some = [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t r = first; r < last; ++r)
        row_order<T>(from + r * n, flip, n, parts, context).run(to + r * n, other + r * n);
    };
    return parts > 1 ? some(0, rows) : over_pieces(rows, 128 * n, context, some);
  }
  over_pieces(rows, 128 * n, context, [&](std::int64_t first, std::int64_t last) {
    if (n <= few_to_order)
      return dispatch<order_of_short_rows<T>>(from + first * n, last - first, n, flip, n, to + first * n);
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
