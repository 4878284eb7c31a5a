// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Queues for C++ programs: typed tuples of tensors, of a container or of their own.

#include <tuple>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/data/queue_arguments.hpp"
#include "tagma/runtime/container.hpp"
#include "tagma/runtime/event.hpp"
#include "tagma/runtime/queue.hpp"
#include "tagma/runtime/run_limits.hpp"
#include "tagma/tensor/tensor.hpp"

namespace tagma {

namespace detail {

/// An attempt for which a thread waits.
class awaited_attempt final : public runtime::queue_attempt {
 public:
  [[gnu::noinline]] awaited_attempt() {}
  [[gnu::noinline]] ~awaited_attempt() {}
  /// Returns when it has ended; throws what went wrong, also if the limits end it.
  void wait(runtime::queue& of, const runtime::run_guard& guard);

 private:
  TAGMA_DECL void ended(std::exception_ptr error) noexcept override;
  std::exception_ptr error_;
  runtime::event done_;
};

/// What the functions of `queue` do, whatever its components are.
/// @{
void enqueue(runtime::queue& to, runtime::queue_elements&& elements, const run_limits& limits);
[[nodiscard]] runtime::queue_elements dequeue(runtime::queue& from, extent count, bool up_to, const run_limits& limits);
void close(runtime::queue& q, const run_limits& limits);
/// @}

/// The elements of one component, one behind the other along a new first axis.
template <class Spec>
[[nodiscard]] tensor<typename Spec::element_type> batch_of(const runtime::queue_elements& elements, std::size_t i) {
  const shape dims = runtime::dims_of_batch(elements, i, Spec::value.dims);
  tensor<typename Spec::element_type> batch(dims);
  runtime::write_batch(elements, i, dims, reinterpret_cast<std::byte*>(batch.data()));
  return batch;
}

}  // namespace detail

/// A tuple that has left a queue. Views of its tensors are good as long as it lives; it takes part in structured
/// bindings: `auto [image, label] = q.dequeue()`.
template <class... Specs>
class dequeued {
 public:
  dequeued(const counted<runtime::queue>& from, runtime::queue_elements&& element)
      : from_(from), element_(static_cast<runtime::queue_elements&&>(element)) {}
  dequeued(dequeued&&) noexcept = default;
  dequeued& operator=(dequeued&&) noexcept = default;
  /// The queue uses its memory again.
  ~dequeued() {
    if (from_) from_->reuse(static_cast<runtime::queue_elements&&>(element_));
  }

  /// Component `I` as a view; a number or a text is its element 0.
  template <std::size_t I>
  [[nodiscard]] auto get() const {
    using type = typename std::tuple_element_t<I, std::tuple<Specs...>>::element_type;
    return element_.front().component(I).template as<type>();
  }

 private:
  counted<runtime::queue> from_;
  runtime::queue_elements element_;
};
/// Several tuples that have left a queue: of each component one tensor, with the tuples along its first axis.
template <class... Specs>
class dequeued_batch {
 public:
  template <std::size_t... I>
  dequeued_batch(const counted<runtime::queue>& from, runtime::queue_elements&& elements, std::index_sequence<I...>)
      : from_(from),
        elements_(static_cast<runtime::queue_elements&&>(elements)),
        tensors_(detail::batch_of<Specs>(elements_, I)...) {}
  dequeued_batch(dequeued_batch&&) noexcept = default;
  dequeued_batch& operator=(dequeued_batch&&) noexcept = default;
  ~dequeued_batch() {
    if (from_) from_->reuse(static_cast<runtime::queue_elements&&>(elements_));
  }

  /// The tensor of component `I`.
  template <std::size_t I>
  [[nodiscard]] const auto& get() const {
    return std::get<I>(tensors_);
  }

 private:
  counted<runtime::queue> from_;
  runtime::queue_elements elements_;  // texts are views of theirs
  std::tuple<tensor<typename Specs::element_type>...> tensors_;
};

/// A queue of tuples, `queue<spec<float, 28, 28>, spec<std::int64_t>>`; an extent `dyn` may be another one in each.
/// Copies are the same queue. Calls wait until they have done what they were to do; `run_limits` as the last argument
/// limit that: `q.dequeue(timeout(1s))`. One that is late throws DeadlineExceeded, one that is cancelled Cancelled, and
/// nothing is lost then. Any number of threads may call it at once.
template <class... Specs>
class queue {
 public:
  static_assert(sizeof...(Specs) > 0, "a tuple has at least one component");

  /// The queue of this name in a container, which is made if there is none.
  /// Throws InvalidArgument that names both sides if the container has another one of this name.
  TAGMA_COLD queue(const container& in, std::string_view name, const queue_options& options = {}) {
    const container_option state(in);
    const counted<runtime::resource> found =
        state.state()->find_or_add("queue", name, [&] { return counted<runtime::resource>(make(name, options)); });
    queue_ = counted<runtime::queue>(static_cast<runtime::queue*>(found.get()));
    queue_->check(options, {specs, sizeof...(Specs)});
  }
  /// One of its own.
  TAGMA_COLD explicit queue(const queue_options& options = {}) : queue_(make("", options)) {}

  /// Elements in it.
  [[nodiscard]] extent size() const { return queue_->size(); }
  /// True after `close`.
  [[nodiscard]] bool is_closed() const { return queue_->is_closed(); }
  /// What runs and kernels know it as.
  [[nodiscard]] runtime::queue& state() const { return *queue_; }

  /// Adds a tuple: for each component a tensor, or a number for a scalar.
  /// Throws Cancelled if the queue is closed, InvalidArgument for a tuple that is another one.
  template <class... T>
  void enqueue(const T&... tensors) const {
    enqueue_at(0, tensors...);
  }
  /// The same with a priority, the smallest of which leave first.
  template <class... T>
  void enqueue_at(std::int64_t priority, const T&... tensors) const {
    arguments::with_limits(
        [&](const run_limits& limits, array_view<const raw_view> all) { add(queue_->make(all, priority), limits); },
        tensors...);
  }
  /// Adds a tuple for each row of the tensors, as there is room.
  template <class... T>
  void enqueue_many(const T&... tensors) const {
    arguments::with_limits(
        [&](const run_limits& limits, array_view<const raw_view> all) { add(queue_->make_rows(all), limits); },
        tensors...);
  }
  /// Takes a tuple. Throws OutOfRange if the queue is closed and empty.
  [[nodiscard]] dequeued<Specs...> dequeue(const run_limits& limits = {}) const {
    return dequeued<Specs...>(queue_, take(1, false, limits));
  }
  /// Takes `count` tuples, which may be more than the queue holds at once. Throws OutOfRange if it is closed and has
  /// fewer; InvalidArgument for a queue other than a padding one whose components have open extents.
  [[nodiscard]] dequeued_batch<Specs...> dequeue_many(extent count, const run_limits& limits = {}) const {
    return {queue_, take(count, false, limits), std::index_sequence_for<Specs...>{}};
  }
  /// The same, but those that are left where a closed queue has fewer, at least one.
  [[nodiscard]] dequeued_batch<Specs...> dequeue_up_to(extent count, const run_limits& limits = {}) const {
    return {queue_, take(count, true, limits), std::index_sequence_for<Specs...>{}};
  }
  /// Closes it behind those who wait to enqueue already: nobody enqueues any more, what is there can be dequeued.
  /// Throws Cancelled if it is closed.
  void close(const run_limits& limits = {}) const { detail::close(*queue_, limits); }
  /// Closes it at once; who waits to enqueue is cancelled.
  void close_now() const { queue_->close_now(); }

 private:
  using arguments = detail::queue_arguments<Specs...>;

  static constexpr tensor_spec specs[] = {Specs::value...};

  [[nodiscard]] TAGMA_COLD static counted<runtime::queue> make(std::string_view name, const queue_options& options) {
    return counted<runtime::queue>(new runtime::queue(sentence({name}), options, {specs, sizeof...(Specs)}));
  }
  void add(runtime::queue_elements&& elements, const run_limits& limits) const {
    detail::enqueue(*queue_, static_cast<runtime::queue_elements&&>(elements), limits);
  }
  [[nodiscard]] runtime::queue_elements take(extent count, bool up_to, const run_limits& limits) const {
    return detail::dequeue(*queue_, count, up_to, limits);
  }

  counted<runtime::queue> queue_;
};

}  // namespace tagma

template <class... Specs>
struct std::tuple_size<tagma::dequeued<Specs...>> : std::integral_constant<std::size_t, sizeof...(Specs)> {};
template <std::size_t I, class... Specs>
struct std::tuple_element<I, tagma::dequeued<Specs...>> {
  using type = tagma::view<const typename std::tuple_element_t<I, std::tuple<Specs...>>::element_type>;
};
template <class... Specs>
struct std::tuple_size<tagma::dequeued_batch<Specs...>> : std::integral_constant<std::size_t, sizeof...(Specs)> {};
template <std::size_t I, class... Specs>
struct std::tuple_element<I, tagma::dequeued_batch<Specs...>> {
  using type = const tagma::tensor<typename std::tuple_element_t<I, std::tuple<Specs...>>::element_type>;
};

#ifndef TAGMA_COMPILED
#include "tagma/data/queue.ipp"
#endif
