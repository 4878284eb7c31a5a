// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Random orders on the CPU. They depend on the seed, the node, the run and the number of elements alone.

#include "tagma/base/config.hpp"
#include "tagma/base/random_blocks.hpp"
#include "tagma/device/cpu/few_rows.hpp"
#include "tagma/device/cpu/kernel/sort.hpp"
#include "tagma/device/run_values.hpp"
#include "tagma/expr/op/shuffle.hpp"

namespace tagma::device {
namespace cpu::detail {

/// The upper halves of the words of positions `first`, which is even, to `last`, each with its position below it.
template <bool Wide>
struct placed_words_of {
  static constexpr std::int64_t at_once = 16;  ///< two words are one block
  TAGMA_INLINE static void run(std::uint64_t* to, const random_key* key, std::int64_t first, std::int64_t last) {
    std::int64_t i = first;
    for (; i + at_once <= last; i += at_once) some(*key, static_cast<std::uint64_t>(i), to + i);
    if (i == last) return;
    std::uint64_t rest[at_once];
    some(*key, static_cast<std::uint64_t>(i), rest);
    for (std::int64_t k = i; k < last; ++k) to[k] = rest[k - i];
  }

 private:
  TAGMA_INLINE static void some(const random_key& key, std::uint64_t first, std::uint64_t* to) {
    if constexpr (Wide) {
      using lanes = tagma::detail::eight_blocks::lanes;
      tagma::detail::eight_blocks blocks(key, first / 2, 0);
      tagma::detail::ten_rounds(key, blocks);
      const lanes even = lanes{0, 2, 4, 6, 8, 10, 12, 14} + first;
      const lanes x = (blocks.b << 32) | even, y = (blocks.d << 32) | (even + 1);
      const lanes one = __builtin_shufflevector(x, y, 0, 8, 1, 9, 2, 10, 3, 11);
      const lanes other = __builtin_shufflevector(x, y, 4, 12, 5, 13, 6, 14, 7, 15);
      __builtin_memcpy(to, &one, 64);
      __builtin_memcpy(to + 8, &other, 64);
    } else {
      std::uint32_t words[2 * at_once];
      random_blocks<at_once / 2>(key, first / 2, 0, words);
      for (std::uint64_t k = 0; k < at_once; ++k) to[k] = std::uint64_t{words[2 * k + 1]} << 32 | (first + k);
    }
  }
};
using placed_words = with_wide<placed_words_of<false>, placed_words_of<true>>;

/// Puts positions in the order of their random words: by as many of the upper bits of these, a digit after the other,
/// as leave hardly any two equal. What is out of place then is moved one by one, after it was found by vectors; only
/// where upper halves are equal are whole words looked at.
struct random_order {
  using word = std::uint64_t;
  /// Positions that fit beside half a word.
  static constexpr std::int64_t longest = std::int64_t{1} << 32;
  static constexpr int digit_bits = 10;
  /// The first digit of a long order, by which threads share the others: so few bits that each of the places to which
  /// elements go has its page at hand.
  static constexpr int first_bits = 6;
  static constexpr std::int64_t parts = 8, few_to_share = 16384;

  /// What `place` does, on any processor: shifts by what is known late are one instruction on newer ones alone.
  struct placing {
    using digit_counts = std::uint32_t[std::size_t{1} << digit_bits];
    TAGMA_INLINE static void run(const random_order* of, word* words, word* other, std::int64_t n, word* order,
                                 int used) {
      int bits = 2;
      while (bits < 32 - used && (n >> (bits - 2)) > 0) ++bits;
      const int rounds = n <= few_to_order ? 0 : (bits + digit_bits - 1) / digit_bits;
      int each = digit_bits;  // with up to two bits more: hardly anything is out of place then
      while (rounds > 0 && (rounds * each > 32 - used || each > (bits + rounds - 1) / rounds + 2)) --each;
      digit_counts places[2];
      for (int r = 0; r < rounds; r += 2) {
        const int shift = 64 - used - (rounds - r) * each;
        const bool two = r + 1 < rounds;
        count(words, n, shift, each, places);
        move(words, other, n, shift, each, places[0]);
        if (two) move(other, words, n, shift + each, each, places[1]);
        if (!two) std::swap(words, other);
      }
      finish(*of, words, n);
      for (std::int64_t i = 0; i < n; ++i) order[i] = words[i] & 0xffffffffu;
    }

   private:
    /// Counts the values of two digits that follow each other.
    TAGMA_INLINE static void count(const word* words, std::int64_t n, int shift, int each, digit_counts* counts) {
      const word last = (word{1} << each) - 1;
      std::memset(counts[0], 0, (last + 1) * sizeof counts[0][0]);
      std::memset(counts[1], 0, (last + 1) * sizeof counts[0][0]);
      for (std::int64_t i = 0; i < n; ++i) {
        const word digits = words[i] >> shift;
        ++counts[0][digits & last];
        ++counts[1][digits >> each & last];
      }
    }
    TAGMA_INLINE static void move(const word* words, word* to, std::int64_t n, int shift, int each,
                                  std::uint32_t* places) {
      const word last = (word{1} << each) - 1;
      std::uint32_t next = 0;
      for (word v = 0; v <= last; ++v) {
        const std::uint32_t count = places[v];
        places[v] = next;
        next += count;
      }
      for (std::int64_t i = 0; i < n; ++i) to[places[words[i] >> shift & last]++] = words[i];
    }
    /// Puts what is nearly in order in order.
    TAGMA_INLINE static void finish(const random_order& of, word* words, std::int64_t n) {
      using vector = typename plain_vectors<word>::type;
      constexpr std::int64_t lanes = plain_vectors<word>::lanes, at_once = 4 * lanes;
      for (std::int64_t i = 1, end = 0; i < n; i = end) {
        end = i + at_once < n ? i + at_once : n;
        if (end == i + at_once) {
          vector behind{};  // the uppermost bit of a lane: an upper half is not above the one before it
          for (std::int64_t k = i; k < end; k += lanes)
            behind |= (*reinterpret_cast<const vector*>(words + k) >> 32) -
                      (*reinterpret_cast<const vector*>(words + k - 1) >> 32) - 1;
          word any = 0;
          for (std::int64_t k = 0; k < lanes; ++k) any |= behind[k];
          if (any >> 63 == 0) continue;
        }
        for (std::int64_t k = i; k < end; ++k) {
          const word own = words[k];
          std::int64_t at = k;
          for (; at > 0 && of.before(own, words[at - 1]); --at) words[at] = words[at - 1];
          words[at] = own;
        }
      }
    }
  };

  random_key key;

  [[nodiscard]] TAGMA_INLINE bool before(word a, word b) const {
    if (((a ^ b) >> 32) != 0) [[likely]]
      return a < b;
    return is_before(a, b);
  }
  [[nodiscard]] TAGMA_COLD bool is_before(word a, word b) const {
    const word x = order_word(key, a & 0xffffffffu), y = order_word(key, b & 0xffffffffu);
    return x != y ? x < y : a < b;
  }
  /// Orders words that are equal in their upper `used` bits.
  /// @param other room for as many
  void place(word* words, word* other, std::int64_t n, word* order, int used) const {
    dispatch<placing>(this, words, other, n, order, used);
  }
  void run(word* order, word* other, std::int64_t n, const run_context& context) const {
    if (n < few_to_share) {
      dispatch<placed_words>(other, &key, std::int64_t{0}, n);
      return place(other, order, n, order, 0);
    }
    constexpr std::int64_t values = std::int64_t{1} << first_bits;
    const std::int64_t each = pieces(n, 16 * parts) * 16;
    std::uint32_t places[parts][values]{};
    const auto of_part = [order, each, n](std::int64_t part, const auto& some) {
      const std::int64_t first = part * each, last = first + each < n ? first + each : n;
      if (first < last) some(first, last, order);
    };
    context.threads->parallel_for(parts, [&](std::int64_t part) {
      of_part(part, [&](std::int64_t first, std::int64_t last, word* words) {
        dispatch<placed_words>(words, &key, first, last);
        for (std::int64_t i = first; i < last; ++i) ++places[part][words[i] >> (64 - first_bits)];
      });
    });
    std::uint32_t next = 0;
    std::int64_t ends[values];
    for (std::int64_t v = 0; v < values; ++v) {
      for (auto& row : places) {
        const std::uint32_t count = row[v];
        row[v] = next;
        next += count;
      }
      ends[v] = v + 1 < values ? std::int64_t{next} : n;
    }
    context.threads->parallel_for(parts, [&](std::int64_t part) {
      of_part(part, [to = other, place = places[part]](std::int64_t first, std::int64_t last, const word* words) {
        for (std::int64_t i = first; i < last; ++i) to[place[words[i] >> (64 - first_bits)]++] = words[i];
      });
    });
    context.threads->parallel_for(values, [&](std::int64_t v) {
      const std::int64_t first = v > 0 ? ends[v - 1] : 0;
      place(other + first, order + first, ends[v] - first, order + first, first_bits);
    });
  }
};

inline void random_permutation(const kernel_args& args, const run_context& context) {
  const std::int64_t n = args.out.elements();
  std::int64_t* const other = static_cast<scratch<std::int64_t>*>(args.state)->data();
  const random_key key = key_of_run(context.seed, args.source, context.step);
  if (n <= random_order::longest)
    random_order{key}.run(args.out.as<std::uint64_t>(), reinterpret_cast<std::uint64_t*>(other), n, context);
  else
    order_by([&key](std::int64_t i) { return order_word(key, static_cast<std::uint64_t>(i)); }, n,
             args.out.as<std::int64_t>(), other);
}

}  // namespace cpu::detail

template <>
struct kernel<on_cpu, ir::key<op::random_permutation>> {
  template <dtype, dtype...>
  static constexpr kernel_entry entry{&cpu::detail::random_permutation,
                                      [](const kernel_args& args, const run_context&) -> owned<kernel_state> {
                                        return make_owned<cpu::scratch<std::int64_t>>(args.out.elements());
                                      }};
};

}  // namespace tagma::device
