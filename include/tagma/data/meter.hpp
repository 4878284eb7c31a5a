// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a pass that is measured counts of each of its stages.

#include <cstddef>
#include <cstdint>
#include <string>

#include "tagma/base/atomic.hpp"
#include "tagma/base/counted.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/tensor/shape.hpp"

namespace tagma::datasets {

/// The number of elements where nobody knows it, and of a dataset without end.
inline constexpr extent unknown_size = -1, endless = too_many;

/// A stage of a dataset, whatever its elements are.
class any_stage : public counted_object {
 public:
  /// The number of elements of a pass, `unknown_size` or `endless`.
  [[nodiscard]] virtual extent size() const { return unknown_size; }
  /// Whether any element can be had by its number. Then the size is known.
  [[nodiscard]] bool indexed() const { return indexed_; }
  /// Whether a cursor has threads, which `get` would not use.
  [[nodiscard]] bool threaded() const { return threaded_; }
  /// Whether elements may come in another order each time, as those of a map without order.
  [[nodiscard]] bool in_any_order() const { return in_any_order_; }
  /// Appends what tells this pipeline from another one.
  virtual void describe(std::string& to) const = 0;
  /// The stages that this one reads, one by one; nullptr behind the last.
  [[nodiscard]] virtual const any_stage* input_stage(std::size_t) const { return nullptr; }

 protected:
  /// Said where a stage is made, as they never change.
  bool indexed_ = false, threaded_ = false, in_any_order_ = false;
};

/// What a stage did in a pass so far. Threads count at once; each number is right by itself.
struct stage_counters {
  using number = atomic<std::int64_t>;

  number elements{0};    ///< given, errors among them
  number bytes{0};       ///< of these elements
  number own_ns{0};      ///< its own work, all threads together
  number empty_ns{0};    ///< that were waited for an element of it which was not ready
  number full_ns{0};     ///< that a thread of it waited for room
  number held_bytes{0};  ///< of the elements that it keeps
  number most_bytes{0};  ///< the most of these
  number threads{0};     ///< that it has; 0: whoever asks for the element does the work

  static void add(number& to, std::int64_t n) { to.fetch_add(n, memory_order::relaxed); }
  /// Elements are kept, or no longer: below 0.
  void hold(std::int64_t n);
};

/// The counters of the stages of a pass, and a clock.
class meter final : public counted_object {
 public:
  using clock = std::int64_t (*)();

  /// Counts nothing of stages that it is not told of.
  meter(clock time, std::size_t count) : now_(time), count_(count), stages_(count), counters_(count) {}

  [[nodiscard]] std::int64_t now() const { return now_(); }
  [[nodiscard]] std::size_t size() const { return count_; }
  /// Of the stages the one that is read by whoever asks is number 0.
  void watch(std::size_t i, const any_stage* stage) { stages_[i] = stage; }
  [[nodiscard]] const any_stage* stage(std::size_t i) const { return stages_[i]; }
  [[nodiscard]] const stage_counters& counters(std::size_t i) const { return counters_[i]; }
  /// nullptr for a stage that is not watched, such as those of datasets that a function makes.
  [[nodiscard]] stage_counters* find(const any_stage* stage) const;

  /// From the first call for an element to the end of the last one.
  /// @{
  void asked(const stage_counters& of, std::int64_t begun, std::int64_t ended);
  [[nodiscard]] std::int64_t elapsed_ns() const;
  /// Of that, the time inside these calls.
  [[nodiscard]] std::int64_t asked_ns() const { return asked_ns_.load(memory_order::relaxed); }
  /// @}

 private:
  static constexpr std::int64_t never = INT64_MIN;

  clock now_;
  std::size_t count_;
  heap_array<const any_stage*> stages_;
  heap_array<stage_counters> counters_;
  atomic<std::int64_t> begun_{never}, ended_{0}, asked_ns_{0};
};

/// What all threads of a pass share.
struct pass_services {
  counted<meter> measured;        ///< nullptr: nothing is measured
  int threads = 0;                ///< that stages which find their numbers have at most; 0: as many as processors
  std::int64_t bytes = 0;         ///< that these stages keep at most; 0: `default_bytes` of autotune.hpp
  counted<counted_object> tuner;  ///< of these stages; the first one makes it
};

}  // namespace tagma::datasets

#ifndef TAGMA_COMPILED
#include "tagma/data/meter.ipp"
#endif
