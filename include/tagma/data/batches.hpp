// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Passes over a data set in memory: `for (auto& [images, labels] : data.shuffle(60'000).batch(128).prefetch(2))`.

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "tagma/base/error.hpp"
#include "tagma/base/random.hpp"
#include "tagma/tensor/tensor.hpp"
#include "tagma/tensor/view.hpp"

namespace tagma {

/// The order in which a shuffled pass visits `count` rows, the same in every process for the same four numbers. As in
/// TensorFlow the next row is drawn from a buffer that holds `buffer` rows and is refilled in order; a buffer of
/// `count` rows or more gives every permutation the same chance.
[[nodiscard]] inline std::vector<extent> shuffled_order(extent count, extent buffer, std::uint64_t seed,
                                                        std::uint64_t epoch) {
  const auto low = [](std::uint64_t bits) { return static_cast<std::uint32_t>(bits); };
  const auto high = [](std::uint64_t bits) { return static_cast<std::uint32_t>(bits >> 32); };
  std::uint64_t drawn = 0;
  const auto draw = [&] {
    const philox_block block = philox(low(seed), high(seed), {low(drawn), high(drawn), low(epoch), high(epoch)});
    ++drawn;
    return std::uint64_t{block[1]} << 32 | block[0];
  };
  const auto below = [&](std::uint64_t n) {
    const std::uint64_t limit = UINT64_MAX - UINT64_MAX % n;
    std::uint64_t bits = draw();
    while (bits >= limit) bits = draw();
    return static_cast<std::size_t>(bits % n);
  };
  std::vector<extent> order, waiting;
  order.reserve(static_cast<std::size_t>(count));
  extent next = 0;
  while (next < count && next < buffer) waiting.push_back(next++);
  while (!waiting.empty()) {
    extent& slot = waiting[below(waiting.size())];
    order.push_back(slot);
    if (next < count) {
      slot = next++;
    } else {
      slot = waiting.back();
      waiting.pop_back();
    }
  }
  return order;
}

/// What a loop over `batches` sees; the views are valid until the loop goes on.
template <element Image, element Label>
struct labelled_batch {
  view<const Image> images;
  view<const Label> labels;
};

template <element Image, element Label>
class batches;

/// Images and their labels: row i of one belongs to row i of the other. The rows are the outermost axis.
template <element Image, element Label>
struct labelled {
  tensor<Image> images;
  tensor<Label> labels;
  /// Shuffled passes that have begun; each takes the next number as its epoch.
  mutable std::uint64_t passes = 0;

  /// The number of images.
  [[nodiscard]] extent rows() const { return images.dims().rank > 0 ? images.dims()[0] : 0; }

  /// A pass, to be configured further. The data must outlive it. Throws as the functions of `batches` do.
  [[nodiscard]] batches<Image, Label> shuffle(extent buffer, std::uint64_t seed = 0) const& {
    return batches<Image, Label>(*this).shuffle(buffer, seed);
  }
  [[nodiscard]] batches<Image, Label> batch(extent size, bool drop_remainder = false) const& {
    return batches<Image, Label>(*this).batch(size, drop_remainder);
  }
  void shuffle(extent, std::uint64_t = 0) const&& = delete;
  void batch(extent, bool = false) const&& = delete;
};

/// A way to go through a data set, batch by batch. Each `begin()` is a new pass; passes over the same data may run at
/// the same time. Rows are copied into buffers that one pass allocates when it begins and uses for all its batches.
template <element Image, element Label>
class batches {
  struct settings {
    const labelled<Image, Label>* data;
    extent size = 1;
    extent shuffle_buffer = 0;
    extent prefetch = 0;
    std::uint64_t seed = 0;
    std::uint64_t epoch = 0;
    bool drop_remainder = false;
    bool fixed_epoch = false;

    [[nodiscard]] extent count() const {
      return data->rows() / size + (!drop_remainder && data->rows() % size != 0 ? 1 : 0);
    }
  };

 public:
  using batch_type = labelled_batch<Image, Label>;

  /// Single rows in order. Throws `invalid_argument` if there are not as many labels as images.
  explicit batches(const labelled<Image, Label>& data) : settings_{&data} {
    const shape &x = data.images.dims(), &y = data.labels.dims();
    if (x.rank == 0 || y.rank == 0 || x[0] != y[0])
      fail(status_code::invalid_argument,
           "images " + to_string(x) + " and labels " + to_string(y) + " do not have as many rows");
  }

  /// Shuffles as `shuffled_order` does, each pass in another order. Throws `invalid_argument` if `buffer` is not
  /// positive.
  [[nodiscard]] batches shuffle(extent buffer, std::uint64_t seed = 0) const {
    if (buffer <= 0) fail(status_code::invalid_argument, "shuffle: a buffer of " + std::to_string(buffer) + " rows");
    batches next = *this;
    next.settings_.shuffle_buffer = buffer;
    next.settings_.seed = seed;
    return next;
  }
  /// Shuffles as the pass of this number instead of the next one: to go on where an earlier process stopped.
  [[nodiscard]] batches epoch(std::uint64_t number) const {
    batches next = *this;
    next.settings_.epoch = number;
    next.settings_.fixed_epoch = true;
    return next;
  }
  /// Groups `size` rows; the last batch has fewer if they do not divide the data, and is left out with
  /// `drop_remainder`. Throws `invalid_argument` if `size` is not positive.
  [[nodiscard]] batches batch(extent size, bool drop_remainder = false) const {
    if (size <= 0) fail(status_code::invalid_argument, "batch: a batch of " + std::to_string(size) + " rows");
    batches next = *this;
    next.settings_.size = size;
    next.settings_.drop_remainder = drop_remainder;
    return next;
  }
  /// Copies up to `count` batches ahead, in a thread of its own; 0 copies each when the loop asks for it, and so does a
  /// pass for which the system starts no thread. Throws `invalid_argument` if `count` is negative.
  [[nodiscard]] batches prefetch(extent count) const {
    if (count < 0) fail(status_code::invalid_argument, "prefetch: " + std::to_string(count) + " batches");
    batches next = *this;
    next.settings_.prefetch = count;
    return next;
  }

  /// The number of batches in one pass.
  [[nodiscard]] extent size() const { return settings_.count(); }

 private:
  /// A ring of buffers. Batch k lies in slot k modulo their number; the loop holds batch `taken`, and the thread fills
  /// at most the slots that the loop does not hold.
  class pass {
   public:
    pass(const settings& s, std::uint64_t epoch) : settings_(s), count_(s.count()) {
      const auto& data = *s.data;
      const extent slots = s.prefetch < count_ ? s.prefetch + 1 : count_;
      for (extent i = 0; i < slots; ++i) {
        shape x = data.images.dims(), y = data.labels.dims();
        x[0] = y[0] = s.size < data.rows() ? s.size : data.rows();
        slots_.push_back({tensor<Image>(x), tensor<Label>(y), {}});
      }
      if (s.shuffle_buffer > 0) order_ = shuffled_order(data.rows(), s.shuffle_buffer, s.seed, epoch);
      if (count_ > 0 && s.prefetch > 0) start();
      if (count_ > 0 && !thread_.joinable()) fill(0);
      wait();
    }
    pass(const pass&) = delete;
    pass& operator=(const pass&) = delete;
    ~pass() {
      if (!thread_.joinable()) return;
      {
        const std::lock_guard lock(mutex_);
        stopped_ = true;
      }
      changed_.notify_all();
      thread_.join();
    }

    [[nodiscard]] bool done() const { return taken_ == count_; }
    [[nodiscard]] batch_type& current() { return slot(taken_).value; }
    void advance() {
      if (!thread_.joinable()) {
        if (++taken_ < count_) fill(taken_);
        return;
      }
      {
        const std::lock_guard lock(mutex_);
        ++taken_;
      }
      changed_.notify_all();
      wait();
    }

   private:
    struct buffers {
      tensor<Image> images;
      tensor<Label> labels;
      batch_type value;
    };

    [[nodiscard]] buffers& slot(extent k) { return slots_[static_cast<std::size_t>(k) % slots_.size()]; }
    void fill(extent k) {
      buffers& target = slot(k);
      const extent first = k * settings_.size, rows = settings_.data->rows() - first;
      const extent n = rows < settings_.size ? rows : settings_.size;
      for (extent i = 0; i < n; ++i) {
        const extent row = order_.empty() ? first + i : order_[static_cast<std::size_t>(first + i)];
        copy_row(target.images, i, settings_.data->images, row);
        copy_row(target.labels, i, settings_.data->labels, row);
      }
      const tensor<Image>& images = target.images;
      const tensor<Label>& labels = target.labels;
      target.value = {images.rows(0, n), labels.rows(0, n)};
    }
    template <class T>
    static void copy_row(tensor<T>& to, extent i, const tensor<T>& from, extent row) {
      const std::size_t elements = from.size() / static_cast<std::size_t>(from.dims()[0]);
      if (elements == 0) return;
      std::memcpy(static_cast<void*>(to.data() + static_cast<std::size_t>(i) * elements),
                  from.data() + static_cast<std::size_t>(row) * elements, elements * sizeof(T));
    }
    /// The pass goes on without a thread where the system has none.
    void start() {
      try {
        thread_ = std::thread([this] { run(); });
      } catch (const std::system_error&) {
      }
    }
    void run() {
      for (extent k = 0; k < count_; ++k) {
        {
          std::unique_lock lock(mutex_);
          changed_.wait(lock, [&] { return stopped_ || k - taken_ < static_cast<extent>(slots_.size()); });
          if (stopped_) return;
        }
        fill(k);
        {
          const std::lock_guard lock(mutex_);
          filled_ = k + 1;
        }
        changed_.notify_all();
      }
    }
    void wait() {
      if (!thread_.joinable()) return;
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return taken_ == count_ || filled_ > taken_; });
    }

    settings settings_;
    extent count_;
    std::vector<extent> order_;
    std::vector<buffers> slots_;
    extent taken_ = 0, filled_ = 0;
    bool stopped_ = false;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::thread thread_;
  };

 public:
  /// The position of a pass; an input iterator that cannot be copied.
  class iterator {
   public:
    using value_type = batch_type;
    using difference_type = std::ptrdiff_t;

    explicit iterator(std::unique_ptr<pass> p) : pass_(std::move(p)) {}
    [[nodiscard]] batch_type& operator*() const { return pass_->current(); }
    iterator& operator++() {
      pass_->advance();
      return *this;
    }
    void operator++(int) { pass_->advance(); }
    [[nodiscard]] friend bool operator==(const iterator& i, std::default_sentinel_t) { return i.pass_->done(); }

   private:
    std::unique_ptr<pass> pass_;
  };

  /// Starts a pass.
  [[nodiscard]] iterator begin() const {
    std::uint64_t epoch = settings_.epoch;
    if (settings_.shuffle_buffer > 0 && !settings_.fixed_epoch)
      epoch = std::atomic_ref<std::uint64_t>(settings_.data->passes).fetch_add(1);
    return iterator(std::make_unique<pass>(settings_, epoch));
  }
  [[nodiscard]] std::default_sentinel_t end() const { return {}; }

 private:
  settings settings_;
};

}  // namespace tagma
