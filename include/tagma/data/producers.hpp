// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Queues that are filled from rows of tensors, in memory, for a number of passes.

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/data/permutation.hpp"
#include "tagma/data/queue.hpp"
#include "tagma/data/queue_runner.hpp"

namespace tagma {

/// A queue and the threads that fill it, which begin with `start`. It ends as its runner does.
template <class... Specs>
class filled_queue {
 public:
  filled_queue(tagma::queue<Specs...> q, queue_runner runner) : queue_(std::move(q)), runner_(std::move(runner)) {}

  /// The queue, for a session of C++.
  [[nodiscard]] const tagma::queue<Specs...>& queue() const { return queue_; }
  /// As those of `queue_runner`.
  /// @{
  int start() { return runner_.start(); }
  int start(coordinator& with) { return runner_.start(with); }
  void join() { runner_.join(); }
  [[nodiscard]] bool is_running() const { return runner_.is_running(); }
  /// @}
  /// As those of the queue.
  /// @{
  [[nodiscard]] dequeued<Specs...> dequeue(const run_limits& limits = {}) const { return queue_.dequeue(limits); }
  [[nodiscard]] dequeued_batch<Specs...> dequeue_many(extent count, const run_limits& limits = {}) const {
    return queue_.dequeue_many(count, limits);
  }
  [[nodiscard]] dequeued_batch<Specs...> dequeue_up_to(extent count, const run_limits& limits = {}) const {
    return queue_.dequeue_up_to(count, limits);
  }
  /// @}

 private:
  tagma::queue<Specs...> queue_;
  queue_runner runner_;
};

/// Where a queue is: of its own, or by its name in a container, where graphs find it as well. A name without a
/// container is refused with InvalidArgument: nobody would find the queue by it.
struct queue_place {
  std::optional<container> in = {};
  std::string_view name = {};
};

/// How producers of input fill their queue.
struct input_producer_options {
  std::optional<extent> num_epochs = {};  ///< passes over the rows; none: without end
  bool shuffle = true;                    ///< each pass in an order of its own, as of `shuffled_order`
  std::uint64_t seed = 0;
  extent capacity = 32;  ///< of the queue
  queue_place place = {};
};

namespace detail {

/// Throws InvalidArgument for a name without a container.
void check_place(const queue_place& place);

template <class... Specs>
[[nodiscard]] TAGMA_COLD tagma::queue<Specs...> queue_at(const queue_place& place, const queue_options& options) {
  check_place(place);
  if (place.in) return tagma::queue<Specs...>(*place.in, place.name, options);
  return tagma::queue<Specs...>(options);
}

[[nodiscard]] raw_view row_of(const raw_view& rows, extent r);

/// Throws InvalidArgument unless rows of a tensor of this shape are what a queue holds. Scalars have no rows.
void check_rows(std::string_view who, std::size_t component, const shape& all, const shape& declared);

/// The numbers of the rows, in the order of the passes.
class row_order {
 public:
  /// Throws InvalidArgument if there are no rows or no passes.
  row_order(std::string_view who, extent rows, const input_producer_options& options);
  /// Throws OutOfRange behind the last pass.
  [[nodiscard]] extent next();

 private:
  extent rows_, epochs_, epoch_ = 0, at_ = 0;
  bool shuffles_;
  std::uint64_t seed_;
  std::vector<extent> order_;
};

/// A tensor with the characters of its texts.
template <class T>
class owned_rows {
 public:
  explicit owned_rows(tensor<T> rows) : rows_(std::move(rows)) {
    if constexpr (std::is_same_v<T, string_element>) rows_.own_characters();
  }
  [[nodiscard]] extent count() const { return rows_.dims().rank > 0 ? rows_.dims()[0] : 0; }
  [[nodiscard]] raw_view row(extent r) const { return row_of(erase(rows_), r); }

 private:
  tensor<T> rows_;
};

template <class... Specs>
[[nodiscard]] filled_queue<Specs...> produce_rows(std::string_view who, const input_producer_options& options,
                                                  tensor<typename Specs::element_type>... tensors) {
  using all_rows = std::tuple<owned_rows<typename Specs::element_type>...>;
  struct source {
    all_rows rows;
    row_order order;
  };
  const extent counts[] = {(tensors.dims().rank > 0 ? tensors.dims()[0] : 0)...};
  for (const extent n : counts)
    if (n != counts[0])
      fail(status_code::invalid_argument, {who, ": tensors have ", counts[0], " and ", n, " rows, not as many each"});
  std::size_t component = 0;
  (detail::check_rows(who, component++, tensors.dims(), Specs::value.dims), ...);
  auto from = std::make_shared<source>(
      source{all_rows(owned_rows<typename Specs::element_type>(std::move(tensors))...), {who, counts[0], options}});
  tagma::queue<Specs...> q = queue_at<Specs...>(options.place, {.capacity = options.capacity});
  queue_runner runner(q, [q, from](const run_limits& limits) {
    const extent r = from->order.next();
    std::apply([&](const auto&... rows) { q.enqueue(rows.row(r)..., limits); }, from->rows);
  });
  return {std::move(q), std::move(runner)};
}

}  // namespace detail

/// Rows of tensors that belong together, row i of each at once. The characters of texts are copied.
///
///     auto rows = tg::slice_input_producer<tg::spec<float, 784>, tg::spec<int>>({.num_epochs = 2}, images, labels);
///
/// @tparam Specs of a row of each
/// Throws InvalidArgument if there are no rows, or not as many of each, or no passes, and for rows of another shape.
template <class... Specs>
[[nodiscard]] filled_queue<Specs...> slice_input_producer(const input_producer_options& options,
                                                          tensor<typename Specs::element_type>... tensors) {
  return detail::produce_rows<Specs...>("slice_input_producer", options, std::move(tensors)...);
}
/// Rows of one tensor. Throws as `slice_input_producer`.
/// @tparam Spec of a row
template <class Spec>
[[nodiscard]] filled_queue<Spec> input_producer(tensor<typename Spec::element_type> rows,
                                                const input_producer_options& options = {}) {
  return detail::produce_rows<Spec>("input_producer", options, std::move(rows));
}
/// Texts, such as names of files. Throws InvalidArgument if there are none.
[[nodiscard]] filled_queue<spec<string_element>> string_input_producer(const std::vector<std::string>& texts,
                                                                       const input_producer_options& options = {});
/// The numbers 0 to `limit` - 1. Throws InvalidArgument for a limit below 1.
[[nodiscard]] filled_queue<spec<std::int64_t>> range_input_producer(extent limit,
                                                                    const input_producer_options& options = {});

namespace detail {

/// Asks a source for what it makes.
template <class Source>
[[nodiscard]] decltype(auto) ask(Source& source, [[maybe_unused]] const run_limits& limits) {
  if constexpr (std::is_invocable_v<Source&, const run_limits&>)
    return source(limits);
  else
    return source();
}

}  // namespace detail

/// A value, or what a function returns, for a number of calls; then they throw OutOfRange. Copies count together.
template <class Source>
class limited_epochs {
 public:
  /// Throws InvalidArgument for fewer than one.
  limited_epochs(Source source, extent num_epochs)
      : source_(std::move(source)), epochs_(num_epochs), begun_(std::make_shared<std::atomic<extent>>(0)) {
    if (num_epochs < 1)
      fail(status_code::invalid_argument, {"limit_epochs: num_epochs is ", num_epochs, ", which must be 1 or more"});
  }
  /// The value, or what the function returns, which is called with the limits if it takes them. Throws OutOfRange when
  /// all epochs are over.
  [[nodiscard]] auto operator()(const run_limits& limits = {}) {
    extent begun = begun_->load();
    do {
      if (begun == epochs_) fail(status_code::out_of_range, {"all ", epochs_, " epochs are over"});
    } while (!begun_->compare_exchange_weak(begun, begun + 1));
    if constexpr (std::is_invocable_v<Source&, const run_limits&> || std::is_invocable_v<Source&>)
      return detail::ask(source_, limits);
    else
      return source_;
  }

 private:
  Source source_;
  extent epochs_;
  std::shared_ptr<std::atomic<extent>> begun_;
};
/// `limit_epochs(file_names, 2)()` returns them twice, then throws OutOfRange.
template <class Source>
[[nodiscard]] limited_epochs<Source> limit_epochs(Source source, extent num_epochs) {
  return {std::move(source), num_epochs};
}

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/data/producers.ipp"
#endif
