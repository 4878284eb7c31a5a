// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Which stream does which step, and where one stream has to wait for another. Functions over tables; no device is
/// asked.

#include "tagma/base/config.hpp"
#include "tagma/device/stream/steps.hpp"

namespace tagma::device::stream {

/// What a stream of a device is for. Copies have a stream for each way, since devices copy both ways at once.
enum class stream_role : std::uint8_t { compute, to_device, to_host, between };

struct stream_place {
  std::int16_t device = 0;
  stream_role role = stream_role::compute;
  std::int16_t index = 0;  ///< among the compute streams of the device

  friend bool operator==(const stream_place&, const stream_place&) = default;
};

/// Streams and events of the steps of a range of a `step_list`. Arrays have an entry for each step of the range; steps
/// are named by their position in the list.
///
/// Whoever issues the steps walks them in order. Before a step of a device its stream waits for the events of
/// `waits_of`, before a step of the host the host does, which also waits for those of devices of other drivers; after a
/// step with an event the event is recorded. Then all steps of the range that a step waits for are done when it begins.
struct assignment {
  step_id first = 0;                   ///< the first step of the range
  heap_array<stream_place> streams;    ///< those that are used
  std::size_t stream_count = 0;        ///< of which there are so many
  heap_array<std::int32_t> stream_of;  ///< an entry of `streams`; -1 for a step of the host
  heap_array<std::int32_t> event_of;   ///< the event that is recorded behind a step, or -1
  std::int32_t events = 0;
  heap_array<std::int32_t> first_wait;
  heap_array<step_id> waits;
  heap_array<step_id> roots;  ///< for each stream its first step if that waits for nothing in the range, or -1
  heap_array<step_id> last;   ///< whoever waits for their events knows that all is done
  std::size_t last_count = 0;

  [[nodiscard]] array_view<const step_id> waits_of(step_id s) const {
    const std::int32_t* const begin = first_wait.data() + (s - first);
    return {waits.data() + begin[0], begin[1] - begin[0]};
  }
  [[nodiscard]] array_view<const step_id> final_waits() const { return {last.data(), last_count}; }
  [[nodiscard]] std::int32_t stream_at(step_id s) const { return stream_of[s - first]; }
  [[nodiscard]] std::int32_t event_at(step_id s) const { return event_of[s - first]; }
};

namespace detail {

/// Walks the steps once. Of every step it is known how far each stream has come by the time the step ends: a vector
/// clock (F. Mattern, Virtual Time and Global States of Distributed Systems, 1989). What the clock of a step covers
/// needs no event.
class assigner {
 public:
  assigner(const step_list& list, step_id first, step_id end, int compute_streams)
      : list_(list), first_(first), count_(end - first), compute_(compute_streams < 1 ? 1 : compute_streams) {
    int devices = 0;
    std::size_t edges = 0;
    for (step_id s = first; s < end; ++s) {
      if (list.steps[s].device >= devices) devices = list.steps[s].device + 1;
      edges += list.waits_of(s).size();
    }
    slots_ = devices * (compute_ + 3);
    clocks_ = heap_array<std::int32_t>((count_ + std::int64_t{2}) * slots_);
    place_ = heap_array<std::int32_t>(count_);
    slot_of_ = heap_array<std::int32_t>(count_);
    finish_ = heap_array<double>(count_);
    tails_ = heap_array<step_id>(slots_);
    dense_ = heap_array<std::int32_t>(slots_);
    candidates_ = heap_array<step_id>(edges + tails_.size());
    for (int t = 0; t < slots_; ++t) tails_[t] = dense_[t] = -1;
    out_.first = first;
    out_.streams = heap_array<stream_place>(slots_);
    out_.stream_of = heap_array<std::int32_t>(count_);
    out_.event_of = heap_array<std::int32_t>(count_);
    out_.first_wait = heap_array<std::int32_t>(count_ + 1);
    out_.waits = heap_array<step_id>(edges);
    out_.roots = heap_array<step_id>(slots_);
    out_.last = heap_array<step_id>(slots_);
    for (step_id i = 0; i < count_; ++i) out_.stream_of[i] = out_.event_of[i] = -1;
    for (int t = 0; t < slots_; ++t) out_.roots[t] = -1;
  }

  [[nodiscard]] assignment work() {
    for (step_id i = 0; i < count_; ++i) {
      collect(i);
      if (list_.steps[first_ + i].kind == step_kind::host) {
        wait_for_candidates(i, host(), host());
        out_.first_wait[i + 1] = wait_count_;
      } else {
        place(i);
      }
    }
    candidate_count_ = 0;
    for (int t = 0; t < slots_; ++t)
      if (tails_[t] >= 0) add_candidate(tails_[t]);
    wait_for_candidates(count_, host(), host());
    return static_cast<assignment&&>(out_);
  }

 private:
  [[nodiscard]] std::int32_t* clock(step_id i) const { return clocks_.data() + std::int64_t{i} * slots_; }
  [[nodiscard]] std::int32_t* host() const { return clock(count_); }
  [[nodiscard]] std::int32_t* ready() const { return clock(count_ + 1); }
  void join(std::int32_t* to, const std::int32_t* from) const {
    for (int t = 0; t < slots_; ++t)
      if (from[t] > to[t]) to[t] = from[t];
  }

  /// The steps of devices that step `i` waits for, the latest first, each once.
  void collect(step_id i) {
    candidate_count_ = 0;
    for (const step_id p : list_.waits_of(first_ + i))
      if (p >= first_ && list_.steps[p].kind != step_kind::host) add_candidate(p);
  }
  void add_candidate(step_id p) {
    std::size_t k = candidate_count_;
    for (; k > 0 && candidates_[k - 1] <= p; --k)
      if (candidates_[k - 1] == p) return;
    for (std::size_t m = candidate_count_++; m > k; --m) candidates_[m] = candidates_[m - 1];
    candidates_[k] = p;
  }

  /// Notes the waits for those candidates that are not covered by `known` or by one another. An order that keeps all
  /// edges lists a step before those that wait for it, so the latest candidates cover the earlier ones.
  void wait_for_candidates(step_id i, const std::int32_t* known, std::int32_t* reached) {
    if (known != reached) join(reached, known);
    for (std::size_t k = 0; k < candidate_count_; ++k) {
      const step_id p = candidates_[k];
      const step_id before = p - first_;
      if (reached[slot_of_[before]] >= place_[before]) continue;
      join(reached, clock(before));
      if (out_.event_of[before] < 0) out_.event_of[before] = out_.events++;
      if (i == count_)
        out_.last[out_.last_count++] = p;
      else
        out_.waits[wait_count_++] = p;
    }
  }

  /// The host waits for the candidates that are steps of other drivers, and knows of them from then on.
  void meet_on_host(std::uint8_t driver) {
    for (std::size_t k = 0; k < candidate_count_; ++k) {
      const step_id before = candidates_[k] - first_;
      if (list_.steps[candidates_[k]].driver == driver || host()[slot_of_[before]] >= place_[before]) continue;
      join(host(), clock(before));
      if (out_.event_of[before] < 0) out_.event_of[before] = out_.events++;
      out_.waits[wait_count_++] = candidates_[k];
    }
  }

  void place(step_id i) {
    const step& s = list_.steps[first_ + i];
    meet_on_host(s.driver);
    double begin = 0;
    std::int32_t* const known = ready();
    for (int t = 0; t < slots_; ++t) known[t] = host()[t];
    for (std::size_t k = 0; k < candidate_count_; ++k) {
      const step_id before = candidates_[k] - first_;
      join(known, clock(before));
      if (finish_[before] > begin) begin = finish_[before];
    }
    const int slot = s.kind == step_kind::kernel ? (s.first_stream ? s.device * (compute_ + 3) : compute_slot(s.device))
                                                 : s.device * (compute_ + 3) + compute_ + static_cast<int>(s.kind) - 2;
    const step_id tail = tails_[slot];
    std::int32_t* const own = clock(i);
    join(own, host());
    if (tail >= 0) {
      join(own, clock(tail - first_));
      if (finish_[tail - first_] > begin) begin = finish_[tail - first_];
    }
    wait_for_candidates(i, own, own);
    out_.first_wait[i + 1] = wait_count_;
    place_[i] = tail < 0 ? 1 : place_[tail - first_] + 1;
    own[slot] = place_[i];
    slot_of_[i] = slot;
    finish_[i] = begin + static_cast<double>(s.cost);
    tails_[slot] = first_ + i;
    if (dense_[slot] < 0) open(slot, i);
    out_.stream_of[i] = dense_[slot];
  }

  void open(int slot, step_id i) {
    const int per_device = compute_ + 3, within = slot % per_device;
    stream_place& p = out_.streams[out_.stream_count];
    p.device = static_cast<std::int16_t>(slot / per_device);
    p.role = within < compute_ ? stream_role::compute : static_cast<stream_role>(within - compute_ + 1);
    p.index = static_cast<std::int16_t>(within < compute_ ? within : 0);
    if (out_.first_wait[i] == out_.first_wait[i + 1]) out_.roots[out_.stream_count] = first_ + i;
    dense_[slot] = static_cast<std::int32_t>(out_.stream_count++);
  }

  /// The compute stream for a kernel that waits for the candidates: one that ends with such a step, or else one where
  /// nothing is left to do by then, or else the one that is free first.
  [[nodiscard]] int compute_slot(int device) const {
    int best = device * (compute_ + 3);
    int best_rank = -1;
    double best_finish = 0;
    for (int t = best, end = best + compute_; t < end; ++t) {
      const step_id tail = tails_[t];
      const double finish = tail < 0 ? 0 : finish_[tail - first_];
      int rank = 0;
      if (tail < 0 || ready()[t] >= place_[tail - first_]) rank = is_candidate(tail) ? 2 : 1;
      const bool better = rank != best_rank ? rank > best_rank
                          : rank == 2       ? finish > best_finish
                                            : rank == 0 && finish < best_finish;
      if (!better) continue;
      best = t;
      best_rank = rank;
      best_finish = finish;
    }
    return best;
  }
  [[nodiscard]] bool is_candidate(step_id tail) const {
    for (std::size_t k = 0; k < candidate_count_; ++k)
      if (candidates_[k] == tail) return true;
    return false;
  }

  const step_list& list_;
  step_id first_, count_;
  int compute_, slots_ = 0;
  heap_array<std::int32_t> clocks_;   // a row for each step, one for the host, one for a moment
  heap_array<std::int32_t> place_;    // in its stream, from 1 on
  heap_array<std::int32_t> slot_of_;  // a stream, used or not
  heap_array<double> finish_;
  heap_array<step_id> tails_;  // the last step of each slot so far
  heap_array<std::int32_t> dense_;
  heap_array<step_id> candidates_;
  std::size_t candidate_count_ = 0;
  std::int32_t wait_count_ = 0;
  assignment out_;
};

}  // namespace detail

/// Assigns the steps [first, end) of a list. What they wait for before `first` is taken as done.
///
/// A kernel takes the stream of a step that it waits for, so that chains stay on one stream; a second step that waits
/// for the same one takes another. Where all streams are busy with other branches it takes the one that is free first,
/// by the costs. An edge becomes an event only if it leads from one stream to another, or to the host, and is implied
/// neither by the order of streams nor by other events nor by what the host has waited for: for the streams chosen
/// there is no smaller set of waits.
/// @param compute_streams the most streams for kernels, of each device
[[nodiscard]] TAGMA_COLD inline assignment assign_streams(const step_list& list, std::size_t first, std::size_t end,
                                                          int compute_streams) {
  return detail::assigner(list, static_cast<step_id>(first), static_cast<step_id>(end), compute_streams).work();
}
[[nodiscard]] TAGMA_COLD inline assignment assign_streams(const step_list& list, int compute_streams) {
  return assign_streams(list, 0, list.size(), compute_streams);
}

}  // namespace tagma::device::stream
