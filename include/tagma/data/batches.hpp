// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Passes over a data set in memory: `for (auto& [images, labels] : data.shuffle(60'000).batch(128).prefetch(2))`.

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

#include "tagma/base/atomic.hpp"
#include "tagma/base/error.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/data/dataset.hpp"
#include "tagma/data/make_dataset.hpp"
#include "tagma/tensor/tensor.hpp"
#include "tagma/tensor/view.hpp"

namespace tagma {

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
  /// Batches of `size` examples; the last one may be smaller, or is left out.
  [[nodiscard]] batches<Image, Label> batch(extent size, bool drop_remainder = false) const& {
    return batches<Image, Label>(*this).batch(size, drop_remainder);
  }
  void shuffle(extent, std::uint64_t = 0) const&& = delete;
  void batch(extent, bool = false) const&& = delete;
};

/// A way to go through a data set, batch by batch: a dataset of rows, which are copied once, from where the data
/// are. Each `begin()` is a
/// new pass; passes over the same data may run at the same time. Buffers of a pass are used for all its batches.
template <element Image, element Label>
class batches {
  using data_type = labelled<Image, Label>;
  using batch_of_rows = std::tuple<tensor<Image>, tensor<Label>>;

  /// The rows of these numbers, in the memory of a batch before.
  struct gather {
    const data_type* data;

    batch_of_rows operator()(const tensor<extent>& numbers) const {
      batch_of_rows to;
      assign(to, numbers);
      return to;
    }
    void assign(batch_of_rows& to, const tensor<extent>& numbers) const {
      copy(std::get<0>(to), data->images, numbers);
      copy(std::get<1>(to), data->labels, numbers);
    }

   private:
    template <class T>
    static void copy(tensor<T>& to, const tensor<T>& from, const tensor<extent>& numbers) {
      shape dims = from.dims();
      dims[0] = numbers.dims()[0];
      if (!(to.dims() == dims)) to = tensor<T>(dims);
      const std::size_t size = from.size() / static_cast<std::size_t>(from.dims()[0]);
      T* row = to.data();
      for (const extent i : numbers.span()) {
        datasets::detail::copy_bytes(row, from.data() + static_cast<std::size_t>(i) * size, size * sizeof(*row));
        row += size;
      }
    }
  };

  struct settings {
    const data_type* data;
    extent size = 1;
    extent shuffle_buffer = 0;
    extent prefetch = 0;
    std::uint64_t seed = 0;
    std::uint64_t epoch = 0;
    bool drop_remainder = false;
    bool fixed_epoch = false;

    [[nodiscard]] auto pipeline(std::uint64_t number) const {
      dataset<extent> rows = datasets::range(data->rows());
      if (shuffle_buffer > 0) rows = rows.shuffle(shuffle_buffer, seed).epoch(number);
      return rows.batch(size, drop_remainder).map(gather{data}).prefetch(prefetch);
    }
  };

 public:
  using batch_type = labelled_batch<Image, Label>;

  /// Single rows in order. Throws `invalid_argument` if there are not as many labels as images.
  explicit batches(const data_type& data) : settings_{&data} {
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
  [[nodiscard]] extent size() const {
    const extent n = settings_.data->rows();
    return n / settings_.size + (!settings_.drop_remainder && n % settings_.size != 0 ? 1 : 0);
  }

  /// The position of a pass; an input iterator that cannot be copied.
  class iterator {
   public:
    using value_type = batch_type;
    using difference_type = std::ptrdiff_t;

    explicit iterator(const settings& s, std::uint64_t epoch) : pass_(make_owned<pass>(s.pipeline(epoch).iterator())) {
      pass_->advance();
    }
    [[nodiscard]] batch_type& operator*() const { return pass_->views; }
    iterator& operator++() {
      pass_->advance();
      return *this;
    }
    void operator++(int) { pass_->advance(); }
    [[nodiscard]] friend bool operator==(const iterator& i, datasets::end_of_loop) { return i.pass_->done; }

   private:
    struct pass {
      explicit pass(dataset_iterator<batch_of_rows> p) : from(std::move(p)) {}
      void advance() {
        done = !from.next(value);
        if (done) return;
        const batch_of_rows& filled = value;
        const auto& [images, labels] = filled;
        views = {images.rows(0, images.dims()[0]), labels.rows(0, labels.dims()[0])};
      }
      dataset_iterator<batch_of_rows> from;
      batch_of_rows value;
      batch_type views;
      bool done = false;
    };
    owned<pass> pass_;
  };

  /// Starts a pass.
  [[nodiscard]] iterator begin() const {
    std::uint64_t epoch = settings_.epoch;
    if (settings_.shuffle_buffer > 0 && !settings_.fixed_epoch)
      epoch = fetch_add_shared(settings_.data->passes, std::uint64_t{1});
    return iterator(settings_, epoch);
  }
  [[nodiscard]] datasets::end_of_loop end() const { return {}; }

 private:
  settings settings_;
};

}  // namespace tagma
