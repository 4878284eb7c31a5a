// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Batches of what functions make, through a queue: in order, or shuffled.

#include <tuple>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/data/producers.hpp"

namespace tagma {

/// How `batch` makes batches of single elements.
struct batch_options {
  extent batch_size = 32;
  int num_threads = 1;                     ///< for each source; with several, what they make is in no order
  extent capacity = 32;                    ///< of the queue, elements
  bool enqueue_many = false;               ///< a source makes many elements at once, along the first axis
  bool dynamic_pad = false;                ///< open extents are filled with zeros up to the largest of a batch
  bool allow_smaller_final_batch = false;  ///< else what is left at the end is dropped
  queue_place place = {};
};

/// How `shuffle_batch` makes batches in a random order.
struct shuffle_batch_options {
  extent batch_size = 32;
  int num_threads = 1;
  extent capacity = 1024;
  extent min_after_dequeue = 512;  ///< elements that stay to choose among, less than the capacity
  std::uint64_t seed = 0;
  bool enqueue_many = false;
  bool allow_smaller_final_batch = false;
  queue_place place = {};
};

/// Batches that threads of its own make; they begin with `start`.
template <class... Specs>
class batcher : public filled_queue<Specs...> {
 public:
  batcher(filled_queue<Specs...> q, extent size, bool smaller)
      : filled_queue<Specs...>(std::move(q)), size_(size), smaller_(smaller) {}
  /// The next batch: `auto [images, labels] = training.next()`. Throws OutOfRange behind the last one.
  [[nodiscard]] dequeued_batch<Specs...> next(const run_limits& limits = {}) const {
    return smaller_ ? this->dequeue_up_to(size_, limits) : this->dequeue_many(size_, limits);
  }

 private:
  extent size_;
  bool smaller_;
};

/// Keeps all.
struct keep_all {};

namespace detail {

template <class Value>
concept has_members = requires(const Value& v) {
  v.template get<0>();
};
template <class Value>
concept tuple_like = requires {
  std::tuple_size<Value>::value;
};

/// Calls `f` with the parts of what a source has made: of a tuple or of what has left a queue, or the value alone.
template <class Value, class F>
decltype(auto) with_parts(const Value& value, const F& f) {
  if constexpr (has_members<Value>) return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return f(value.template get<I>()...);
    }
  (std::make_index_sequence<std::tuple_size_v<Value>>{});
  else if constexpr (tuple_like<Value>) return std::apply(f, value);
  else return f(value);
}

template <class T>
[[nodiscard]] raw_view rows_of(const tensor<T>& t) {
  return erase(t);
}
template <class T>
[[nodiscard]] raw_view rows_of(const view<T>& v) {
  return erase(v);
}

template <class T>
concept has_rows_of = requires(const T& t) {
  rows_of(t);
};

/// Adds the rows that `mask` keeps.
template <class... Specs, class Mask, class... Parts>
void enqueue_kept(const tagma::queue<Specs...>& q, const run_limits& limits, const Mask& mask, const Parts&... parts) {
  const raw_view all[] = {rows_of(parts)...};
  for (const raw_view& t : all)
    if (t.dims.rank == 0 || t.dims[0] != static_cast<extent>(mask.size()))
      fail(status_code::invalid_argument, {"keep_input says of ", mask.size(), " rows whether to keep them, given are ",
                                           to_string(tensor_spec{t.type, t.dims})});
  std::size_t r = 0;
  for (const bool kept : mask) {
    if (kept) q.enqueue(row_of(rows_of(parts), static_cast<extent>(r))..., limits);
    ++r;
  }
}

/// What a thread does: asks a source, and adds what `keep` says.
template <class... Specs, class Source, class Keep>
void move_on(const tagma::queue<Specs...>& q, Source& source, const Keep& keep, bool many, const run_limits& limits) {
  const auto value = ask(source, limits);
  with_parts(value, [&]<class... Parts>(const Parts&... parts) {
    if constexpr (sizeof...(parts) == sizeof...(Specs)) {
      constexpr bool has_rows = (true && ... && has_rows_of<Parts>);
      const auto add = [&] {
        if constexpr (has_rows)
          if (many) return q.enqueue_many(parts..., limits);
        if (many) fail(status_code::invalid_argument, "batch: with enqueue_many a source returns tensors, not numbers");
        q.enqueue(parts..., limits);
      };
      if constexpr (std::is_same_v<Keep, keep_all>) {
        add();
      } else if constexpr (std::is_convertible_v<decltype(keep(parts...)), bool>) {
        if (keep(parts...)) add();
      } else {
        if (!many || !has_rows)
          fail(status_code::invalid_argument, "batch: keep_input tells rows apart, which are there with enqueue_many");
        if constexpr (has_rows) enqueue_kept(q, limits, keep(parts...), parts...);
      }
    }
  });
}

template <class... Specs, class Source, class Keep>
[[nodiscard]] batcher<Specs...> make_batcher(const queue_options& kind, const auto& options,
                                             std::vector<Source> sources, const Keep& keep) {
  if (options.batch_size < 1)
    fail(status_code::invalid_argument, {"batch: the batch size is ", options.batch_size, ", which must be 1 or more"});
  tagma::queue<Specs...> q = queue_at<Specs...>(options.place, kind);
  q.state().check_batches();
  std::vector<queue_runner::function> fill;
  for (Source& source : sources)
    fill.emplace_back([q, source = std::move(source), keep, many = options.enqueue_many](
                          const run_limits& limits) mutable { move_on(q, source, keep, many, limits); });
  queue_runner runner(q, std::move(fill), {.threads = options.num_threads});
  return {{std::move(q), std::move(runner)}, options.batch_size, options.allow_smaller_final_batch};
}
[[nodiscard]] queue_options kind_of(const batch_options& o);
/// Throws InvalidArgument if nothing ever leaves the queue.
[[nodiscard]] queue_options kind_of(const shuffle_batch_options& o);

/// How many components a source makes.
template <class Source>
inline constexpr std::size_t parts_made = [] {
  using value = std::remove_cvref_t<decltype(ask(std::declval<Source&>(), std::declval<const run_limits&>()))>;
  if constexpr (tuple_like<value>)
    return std::tuple_size_v<value>;
  else
    return std::size_t{1};
}();

/// A source that takes from a queue.
template <class... Specs>
struct dequeues {
  tagma::queue<Specs...> from;
  [[nodiscard]] dequeued<Specs...> operator()(const run_limits& limits) const { return from.dequeue(limits); }
};

}  // namespace detail

namespace diagnose {
/// A source makes a value for each component.
template <class Source, class... Specs>
inline constexpr bool makes_components = detail::parts_made<Source> == sizeof...(Specs);
}  // namespace diagnose

#define TAGMA_NEEDS_COMPONENTS(Who)                             \
  static_assert((diagnose::makes_components<Source, Specs...>), \
                "TAGMA-E235 " Who ": a source returns a value for each component, several as a std::tuple")

/// Batches of what a function makes, until it throws OutOfRange:
///
///     auto training = tg::batch<tg::spec<float, 8>, tg::spec<std::int64_t>>([&] { return std::tuple(row(), label());
///     },
///                                                                          {.batch_size = 64});
///     training.start(coord);
///     auto [rows, labels] = training.next();
///
/// @tparam Specs of one element
/// @param source called as source() or source(limits), by `num_threads` threads at once; returns tensors, views and
/// numbers, one for each component, several as a std::tuple; the limits are for what it waits for
/// @param keep_input `keep_all`, or a function of what the source returns: whether to keep it, or with `enqueue_many`
/// which of its rows, a range of bool
/// Throws InvalidArgument for a batch size or a number of threads below 1, and for open extents without `dynamic_pad`.
/// Raises TAGMA-E235 for another number of values than Specs.
/// @{
template <class... Specs, class Source, class Keep = keep_all>
[[nodiscard]] batcher<Specs...> batch(Source source, const batch_options& options = {}, const Keep& keep_input = {}) {
  TAGMA_NEEDS_COMPONENTS("batch");
  std::vector<Source> one;
  one.push_back(std::move(source));
  return detail::make_batcher<Specs...>(detail::kind_of(options), options, std::move(one), keep_input);
}
/// Of several sources, each with threads of its own.
template <class... Specs, class Source, class Keep = keep_all>
[[nodiscard]] batcher<Specs...> batch_join(std::vector<Source> sources, const batch_options& options = {},
                                           const Keep& keep_input = {}) {
  TAGMA_NEEDS_COMPONENTS("batch_join");
  return detail::make_batcher<Specs...>(detail::kind_of(options), options, std::move(sources), keep_input);
}
/// In an order that is drawn. Throws InvalidArgument for a capacity that is not above `min_after_dequeue`, too.
template <class... Specs, class Source, class Keep = keep_all>
[[nodiscard]] batcher<Specs...> shuffle_batch(Source source, const shuffle_batch_options& options = {},
                                              const Keep& keep_input = {}) {
  TAGMA_NEEDS_COMPONENTS("shuffle_batch");
  std::vector<Source> one;
  one.push_back(std::move(source));
  return detail::make_batcher<Specs...>(detail::kind_of(options), options, std::move(one), keep_input);
}
template <class... Specs, class Source, class Keep = keep_all>
[[nodiscard]] batcher<Specs...> shuffle_batch_join(std::vector<Source> sources,
                                                   const shuffle_batch_options& options = {},
                                                   const Keep& keep_input = {}) {
  TAGMA_NEEDS_COMPONENTS("shuffle_batch_join");
  return detail::make_batcher<Specs...>(detail::kind_of(options), options, std::move(sources), keep_input);
}
/// @}
#undef TAGMA_NEEDS_COMPONENTS
/// Batches of what a queue has: `tg::batch_of(rows.queue(), {.batch_size = 64})`.
/// @{
template <class... Specs>
[[nodiscard]] batcher<Specs...> batch_of(const queue<Specs...>& from, const batch_options& options = {}) {
  return batch<Specs...>(detail::dequeues<Specs...>{from}, options);
}
template <class... Specs>
[[nodiscard]] batcher<Specs...> shuffle_batch_of(const queue<Specs...>& from,
                                                 const shuffle_batch_options& options = {}) {
  return shuffle_batch<Specs...>(detail::dequeues<Specs...>{from}, options);
}
/// @}

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/data/batch.ipp"
#endif
