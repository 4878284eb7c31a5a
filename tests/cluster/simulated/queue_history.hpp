// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What was done with a queue, and whether that can be: every number comes out once at most, and was put in; none is
/// lost but with a server or by a run of which nobody knows what it came to; numbers come out in the order in which
/// they went in, or those of the least priority first; who waits does not do so beside numbers that it could have.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tagma/tensor/shape.hpp"

namespace tagma::test {

class queue_history {
 public:
  /// In which order numbers come out.
  enum class order : std::uint8_t { any, as_put, by_priority };
  using complain = std::function<void(const std::string&)>;

  /// A run that has begun; it fails until it is known to be well.
  struct deed {
    bool puts = false;
    int wanted = 1;             ///< numbers that it takes
    std::int64_t priority = 0;  ///< of what it puts
    bool through = false;       ///< what it takes goes to another process, so that it may be lost on its way
    std::int64_t begun = 0, ended = INT64_MAX;
    bool well = false;
    std::vector<float> numbers{};
  };

  [[nodiscard]] std::size_t begin(const deed& what) {
    deeds_.push_back(what);
    return deeds_.size() - 1;
  }
  void end(std::size_t which, std::int64_t when, bool well, std::vector<float> numbers = {}) {
    deed& d = deeds_[which];
    d.ended = when;
    d.well = well;
    if (!d.puts) d.numbers = std::move(numbers);
  }

  /// @param since when the server began anew for the last time
  /// @param calm nothing went wrong in this world: only what runs say of themselves was lost
  void judge(std::int64_t since, order how, bool calm, extent capacity, const complain& wrong) const {
    std::map<float, const deed*> put, taken;
    for (const deed& d : deeds_)
      if (d.puts) put[d.numbers.at(0)] = &d;
    for (const deed& d : deeds_) {
      if (d.puts || !d.well) continue;
      if (static_cast<int>(d.numbers.size()) != d.wanted) wrong("a run has taken too many or too few");
      for (const float n : d.numbers) {
        const std::string name = "number " + std::to_string(static_cast<int>(n));
        if (put.count(n) == 0 || put[n]->begun > d.ended) wrong(name + " comes from nowhere");
        if (!taken.emplace(n, &d).second) wrong(name + " was taken twice");
        if (put.count(n) != 0 && put[n]->well && put[n]->ended < since && d.begun > since)
          wrong(name + " was in a queue that is no more");
      }
    }
    // What nobody has although it was there.
    std::size_t lost = 0, may_be_lost = 0;
    std::string which;
    for (const auto& [n, d] : put)
      if (d->well && d->begun > since && taken.count(n) == 0)
        ++lost, which += " " + std::to_string(static_cast<int>(n));
    for (const deed& d : deeds_)
      if (!d.puts && !d.well && d.ended >= since && (!calm || d.through))
        may_be_lost += static_cast<std::size_t>(d.wanted);
    if (lost > may_be_lost) wrong("of a queue" + which + " are lost, and " + std::to_string(may_be_lost) + " could be");
    if (how != order::any)
      for (const auto& [a, a_taken] : taken)
        for (const auto& [b, b_taken] : taken)
          if (put.count(a) != 0 && put.count(b) != 0 && goes_before(*put[a], *put[b], *b_taken, how) &&
              b_taken->ended < a_taken->begun)
            wrong("number " + std::to_string(static_cast<int>(b)) + " left before " +
                  std::to_string(static_cast<int>(a)));
    if (calm) judge_waits(put, taken, capacity, wrong);
  }

 private:
  static constexpr std::int64_t way_ns = 500'000'000;  // enough to have been there

  /// Whether number `a` was there to be taken before `b` when somebody began to take `b`.
  [[nodiscard]] static bool goes_before(const deed& a, const deed& b, const deed& b_taken, order how) {
    if (!a.well) return false;
    const bool was_first = a.ended < b.begun;
    if (how == order::as_put) return was_first;
    return a.ended < b_taken.begun && (a.priority < b.priority || (a.priority == b.priority && was_first));
  }

  using by_number = std::map<float, const deed*>;

  /// Who has waited in vain, has there been what it waited for all the time?
  void judge_waits(const by_number& put, const by_number& taken, extent capacity, const complain& wrong) const {
    for (const deed& d : deeds_) {
      if (d.well || d.ended == INT64_MAX || d.ended - d.begun < way_ns) continue;
      int there = 0, inside = 0;
      for (const auto& [n, p] : put) {
        const auto t = taken.find(n);
        if (p->well && p->ended < d.begun && t != taken.end() && t->second->begun > d.ended) ++there;
        if (p != &d && p->begun <= d.ended && (t == taken.end() || t->second->ended >= d.begun)) ++inside;
      }
      // Who waits for two keeps one from others meanwhile.
      for (const deed& o : deeds_)
        if (&o != &d && !o.puts && !o.well && o.begun <= d.ended && o.ended >= d.begun) there -= o.wanted - 1;
      if (!d.puts && there >= d.wanted) wrong("a run waits for what is there");
      if (d.puts && inside < capacity) wrong("a run waits for room that is there");
    }
  }

  std::vector<deed> deeds_;
};

}  // namespace tagma::test
