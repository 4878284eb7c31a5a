// SPDX-License-Identifier: BSL-1.0
// Pipelines made at random, compared with vectors: all elements, the rest behind any position, interrupted calls.
#include "tagma/datasets.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "tagma/data.hpp"

namespace {

namespace tg = tagma;
using number = std::int64_t;
using item = std::optional<number>;  // none: an error
using items = std::vector<item>;

/// A pipeline, and what a pass of it must give.
struct both {
  tg::dataset<number> data;
  std::function<items(std::uint64_t epoch)> naive;
  std::string text;
};

class maker {
 public:
  explicit maker(unsigned seed) : random_(seed) {}

  both make(int stages) {
    both b = source();
    for (int i = 0; i < stages; ++i) b = behind(b);
    return b;
  }
  /// One whose elements come in any order, by stages to which that makes no difference.
  both make_without_order(int before, int behind_it) {
    const both b = make(before);
    const auto naive = b.naive;
    both last{b.data.map(failing, {.threads = 1 + below(3), .ordered = false, .ahead = below(4)}),
              [=](std::uint64_t e) { return failed(naive(e)); }, b.text + ".unordered"};
    constexpr int kinds[] = {0, 2, 6, 12, 15, 17};
    for (int i = 0; i < behind_it; ++i) {
      if (below(7) == 0) last = batched(behind(last, 16));  // a batch is lost with an error: first these are left out
      last = behind(last, kinds[below(6)]);
    }
    return last;
  }
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }

 private:
  both source() {
    const int n = below(40), step = 1 + below(3);
    switch (below(3)) {
      case 0: {
        std::vector<number> v;
        for (int i = 0; i < n; ++i) v.push_back(below(100));
        return {tg::datasets::from_slices(v), [=](std::uint64_t) { return items(v.begin(), v.end()); }, "slices"};
      }
      case 1:
        return {
            tg::datasets::generator([i = 0, n]() mutable { return i < n ? std::optional<number>(i++) : std::nullopt; }),
            [=](std::uint64_t) { return numbers(0, n, 1); }, "generator"};
      default:
        return {tg::datasets::range(0, n, step), [=](std::uint64_t) { return numbers(0, n, step); }, "range"};
    }
  }
  static items numbers(number first, number last, number step) {
    items all;
    for (number i = first; i < last; i += step) all.emplace_back(i);
    return all;
  }
  static number failing(number x) {
    if (x % 11 == 3) tg::fail(tg::status_code::invalid_argument, "a bad one");
    return x * 3 + 1;
  }
  static items failed(items all) {
    for (item& x : all) x = x && *x % 11 != 3 ? item(*x * 3 + 1) : std::nullopt;
    return all;
  }
  both batched(const both& b) {
    const int n = 1 + below(6);
    return {b.data.batch(n).unbatch().map([](const tg::tensor<number>& t) { return t[0]; }), b.naive,
            b.text + ".batched" + std::to_string(n)};
  }
  static items chunks(const items& in, int n, bool whole, bool sums) {
    items out;
    for (std::size_t i = 0; i < in.size(); i += static_cast<std::size_t>(n)) {
      const std::size_t end = std::min(in.size(), i + static_cast<std::size_t>(n));
      if (whole && end - i < static_cast<std::size_t>(n)) break;
      item sum = 0;
      for (std::size_t k = i; k < end; ++k) sum = sum && in[k] ? item(*sum + *in[k]) : std::nullopt;
      if (sums || !sum)
        out.push_back(sum);
      else
        out.insert(out.end(), in.begin() + static_cast<std::ptrdiff_t>(i),
                   in.begin() + static_cast<std::ptrdiff_t>(end));
    }
    return out;
  }
  static items turns(const items& in, int cycle, int block) {
    struct place {
      bool open = false;
      number next = 0, last = 0;
    };
    std::vector<place> places(static_cast<std::size_t>(cycle));
    items out;
    std::size_t input = 0, turn = 0;
    const auto any = [&] {
      for (const place& p : places)
        if (p.open) return true;
      return false;
    };
    const auto go_on = [&] { turn = (turn + 1) % places.size(); };
    while (input < in.size() || any()) {
      place& p = places[turn];
      if (!p.open) {
        if (input < in.size()) {
          const item x = in[input++];
          if (x)
            p = {true, *x, *x + (*x % 4 + 4) % 4};
          else
            out.push_back(std::nullopt);
        }
        if (!p.open) {
          go_on();
          continue;
        }
      }
      int given = 0;
      while (given < block && p.next < p.last) out.emplace_back(p.next++), ++given;
      if (given < block) p.open = false;
      go_on();
    }
    return out;
  }

  both behind(const both& b) { return behind(b, below(18)); }
  both behind(const both& b, int kind) {
    const auto naive = b.naive;
    const int n = 1 + below(6), m = below(3), threads = below(5);
    const auto seed = static_cast<std::uint64_t>(below(1000));
    const bool flag = below(2) == 0;
    const auto text = [&](std::string name) {
      return b.text + "." + name + std::to_string(n) + std::to_string(m) + "t" + std::to_string(threads) +
             (flag ? "f" : "");
    };
    const std::size_t size = naive(0).size();
    switch (kind) {
      case 0:
      case 1:
        return {b.data.map(failing, {.threads = threads, .ahead = flag ? n : 0}),
                [=](std::uint64_t e) { return failed(naive(e)); }, text("map")};
      case 2:
        return {b.data.filter([](number x) { return x % 3 != 0; }),
                [=](std::uint64_t e) {
                  items all;
                  for (const item& x : naive(e))
                    if (!x || *x % 3 != 0) all.push_back(x);
                  return all;
                },
                text("filter")};
      case 3:
        return {b.data.take(n * 5),
                [=](std::uint64_t e) {
                  items all = naive(e);
                  if (all.size() > static_cast<std::size_t>(n * 5)) all.resize(static_cast<std::size_t>(n * 5));
                  return all;
                },
                text("take")};
      case 4:
        return {b.data.skip(n),
                [=](std::uint64_t e) {
                  items all = naive(e);
                  all.erase(all.begin(), all.begin() + std::min<std::ptrdiff_t>(n, std::ssize(all)));
                  return all;
                },
                text("skip")};
      case 5:
        return {b.data.shard(n, std::min(m, n - 1)),
                [=](std::uint64_t e) {
                  const items in = naive(e);
                  items all;
                  for (std::size_t i = 0; i < in.size(); ++i)
                    if (static_cast<int>(i) % n == std::min(m, n - 1)) all.push_back(in[i]);
                  return all;
                },
                text("shard")};
      case 6:
        if (size > 150) return b;
        return {b.data.repeat(m),
                [=](std::uint64_t e) {
                  items all;
                  for (int i = 0; i < m; ++i) {
                    const items one = naive(e * static_cast<std::uint64_t>(m) + static_cast<std::uint64_t>(i));
                    if (one.empty()) break;
                    all.insert(all.end(), one.begin(), one.end());
                  }
                  return all;
                },
                text("repeat")};
      case 7: {
        const both other = source();
        return {b.data.concatenate(other.data),
                [=](std::uint64_t e) {
                  items all = naive(e);
                  const items more = other.naive(e);
                  all.insert(all.end(), more.begin(), more.end());
                  return all;
                },
                text("concatenate")};
      }
      case 8: {
        const both other = behind(source());
        return {tg::datasets::zip(b.data, other.data).map([](number x, number y) { return x + 2 * y; }),
                [=](std::uint64_t e) {
                  const items x = naive(e), y = other.naive(e);
                  items all;
                  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i)
                    all.push_back(x[i] && y[i] ? item(*x[i] + 2 * *y[i]) : std::nullopt);
                  return all;
                },
                text("zip(" + other.text + ")")};
      }
      case 9:
        if (size > 150) return b;
        return {b.data.interleave([](number x) { return tg::datasets::range(x, x + (x % 4 + 4) % 4); },
                                  {.cycle = n, .block = m + 1, .ahead = flag ? threads : 0}),
                [=](std::uint64_t e) { return turns(naive(e), n, m + 1); }, text("interleave")};
      case 10:
        return {b.data.batch(n, flag).map([](const tg::tensor<number>& t) {
                  number sum = 0;
                  for (const number x : t) sum += x;
                  return sum;
                }),
                [=](std::uint64_t e) { return chunks(naive(e), n, flag, true); }, text("batch")};
      case 11:
        return {b.data.batch(n, flag).unbatch().map([](const tg::tensor<number>& t) { return t[0]; }),
                [=](std::uint64_t e) { return chunks(naive(e), n, flag, false); }, text("unbatch")};
      case 12:
      case 13:
        return {b.data.shuffle(n * 3, seed, {.reshuffle = flag}),
                [=](std::uint64_t e) {
                  const items in = naive(e);
                  items all;
                  for (const tg::extent i : tg::shuffled_order(std::ssize(in), n * 3, seed, flag ? e : 0))
                    all.push_back(in[static_cast<std::size_t>(i)]);
                  return all;
                },
                text("shuffle")};
      case 14:
        if (!b.data.is_indexed()) return b;
        return {b.data.global_shuffle(seed, {.reshuffle = flag}),
                [=](std::uint64_t e) {
                  const items in = naive(e);
                  const tg::datasets::permutation order(std::ssize(in), seed, flag ? e : 0);
                  items all;
                  for (tg::extent i = 0; i < std::ssize(in); ++i) all.push_back(in[static_cast<std::size_t>(order(i))]);
                  return all;
                },
                text("global_shuffle")};
      case 15:
        return {b.data.cache(), [=](std::uint64_t) { return naive(0); }, text("cache")};
      case 16:
        return {b.data.ignore_errors(),
                [=](std::uint64_t e) {
                  items all;
                  for (const item& x : naive(e))
                    if (x) all.push_back(x);
                  return all;
                },
                text("ignore_errors")};
      default:
        return {b.data.prefetch(n), naive, text("prefetch")};
    }
  }

  std::mt19937 random_;
};

/// Up to `most` elements; `interrupt` tells before each call whether it is given no time.
template <class Interrupt>
items read(tg::dataset_iterator<number>& from, std::size_t most, const Interrupt& interrupt) {
  items all;
  number x = 0;
  while (all.size() < most) {
    try {
      if (!(interrupt() ? from.next(x, tg::timeout(std::chrono::nanoseconds(1))) : from.next(x))) break;
      all.emplace_back(x);
    } catch (const tg::error& e) {
      if (e.code() != tg::status_code::deadline_exceeded) all.emplace_back();
    }
  }
  return all;
}
const auto never = [] { return false; };

TEST_CASE("a pipeline gives what vectors give, from any position on, whoever interrupts it") {
  constexpr unsigned rounds = 400;
  for (unsigned seed = 0; seed < rounds; ++seed) {
    maker make(seed);
    const both b = make.make(1 + make.below(6));
    CAPTURE(seed, b.text);
    const items expected = b.naive(0);
    if (b.data.size() >= 0) CHECK(static_cast<std::size_t>(b.data.size()) == expected.size());
    tg::dataset_iterator<number> whole = b.data.iterator();
    REQUIRE(read(whole, SIZE_MAX, never) == expected);
    number x = 0;
    CHECK_FALSE(whole.next(x));

    const auto at = static_cast<std::size_t>(make.below(static_cast<int>(expected.size()) + 1));
    tg::dataset_iterator<number> first = b.data.iterator();
    const auto sometimes = [&] { return make.below(3) == 0; };
    const items head = read(first, at, sometimes);
    CHECK(head == items(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(at)));
    if (at % 2 == 0) {
      // The position of a call that was interrupted is that before it.
      try {
        const tg::datasets::position before = first.state();
        if (!first.next(x, tg::timeout(std::chrono::nanoseconds(1)))) CHECK(at == expected.size());
        first = b.data.resume(before);
      } catch (const tg::error& e) {
        if (e.code() != tg::status_code::deadline_exceeded) first = b.data.resume(b.data.resume(first.state()).state());
        if (e.code() != tg::status_code::deadline_exceeded) continue;  // an element that is an error was read
      }
    }
    const tg::datasets::position state = first.state();
    tg::dataset_iterator<number> second = b.data.resume(state);
    const items tail(expected.begin() + static_cast<std::ptrdiff_t>(at), expected.end());
    REQUIRE(read(second, SIZE_MAX, never) == tail);
    REQUIRE(read(first, SIZE_MAX, sometimes) == tail);
    const auto further = static_cast<std::size_t>(make.below(static_cast<int>(tail.size()) + 1));
    tg::dataset_iterator<number> third = b.data.resume(state);
    (void)read(third, further, never);
    tg::dataset_iterator<number> fourth = b.data.resume(third.state());
    REQUIRE(read(fourth, SIZE_MAX, never) == items(tail.begin() + static_cast<std::ptrdiff_t>(further), tail.end()));
  }
}

TEST_CASE("a pipeline with a map without order gives each element once, whoever interrupts it") {
  constexpr unsigned rounds = 200;
  for (unsigned seed = 1000; seed < 1000 + rounds; ++seed) {
    maker make(seed);
    const both b = make.make_without_order(make.below(3), make.below(4));
    CAPTURE(seed, b.text);
    items expected = b.naive(0);
    std::sort(expected.begin(), expected.end());
    const auto sometimes = [&] { return make.below(3) == 0; };
    tg::dataset_iterator<number> whole = b.data.iterator();
    items all = read(whole, SIZE_MAX, never);
    std::sort(all.begin(), all.end());
    REQUIRE(all == expected);
    tg::dataset_iterator<number> pass = b.data.iterator();
    all = read(pass, static_cast<std::size_t>(make.below(20)), sometimes);
    if (!all.empty()) {
      std::string refused;
      try {
        (void)pass.state();
      } catch (const tg::error& e) {
        refused = e.what();
      }
      CHECK(refused == "FailedPrecondition: a map whose results come in any order has no position to go on from");
    }
    const items rest = read(pass, SIZE_MAX, sometimes);
    all.insert(all.end(), rest.begin(), rest.end());
    std::sort(all.begin(), all.end());
    REQUIRE(all == expected);
  }
}

}  // namespace
