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
[[nodiscard]] runtime::queue_elements dequeue(runtime::queue& from, const run_limits& limits);
[[nodiscard]] runtime::queue_elements dequeue_batch(runtime::queue& from, extent count, bool up_to,
                                                    const run_limits& limits);
void close(runtime::queue& q, const run_limits& limits);
void check_name_of_queue(std::string_view name);
/// @}

/// Elements that go back to their queue unless somebody has taken them.
class elements_on_loan {
 public:
  elements_on_loan(runtime::queue& of, runtime::queue_elements&& elements)
      : of_(of), elements_(static_cast<runtime::queue_elements&&>(elements)) {}
  elements_on_loan(const elements_on_loan&) = delete;
  elements_on_loan& operator=(const elements_on_loan&) = delete;
  ~elements_on_loan();
  [[nodiscard]] const runtime::queue_elements& operator*() const { return elements_; }
  [[nodiscard]] runtime::queue_elements&& take() { return static_cast<runtime::queue_elements&&>(elements_); }

 private:
  runtime::queue& of_;
  runtime::queue_elements elements_;
};

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
  dequeued_batch(const counted<runtime::queue>& from, detail::elements_on_loan&& elements, std::index_sequence<I...>)
      : from_(from), tensors_(detail::batch_of<Specs>(*elements, I)...), elements_(elements.take()) {}
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
  std::tuple<tensor<typename Specs::element_type>...> tensors_;
  runtime::queue_elements elements_;  // texts are views of theirs
};

/// A queue of tuples, `queue<spec<float, 28, 28>, spec<std::int64_t>>`; an extent `dyn` may be another one in each.
/// Copies are the same queue. Calls wait until they have done what they were to do; `run_limits` as the last argument
/// limit that: `q.dequeue(timeout(1s))`. One that is late throws DeadlineExceeded, one that is cancelled Cancelled, and
/// nothing is lost then. Any number of threads may call it at once.
template <class... Specs>
class queue {
 public:
  static_assert(sizeof...(Specs) > 0, "TAGMA-E220 queue: a tuple has one component at least");
  static_assert((true && ... && diagnose::has_extents<Specs>),
                "TAGMA-E002 queue: a tensor has at most six extents, each a number or tagma::dyn");
  static_assert((true && ... && (Specs::value.type != dtype::none)), "TAGMA-E001 queue: tensors have no such elements");

  /// The queue of this name in a container, which is made if there is none.
  /// Throws InvalidArgument that names both sides if the container has another one of this name, and for what is no
  /// name: letters, digits and "_.-/", of which the first is a letter, a digit or ".".
  TAGMA_COLD queue(const container& in, std::string_view name, const queue_options& options = {}) {
    detail::check_name_of_queue(name);
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
  /// Throws Cancelled if the queue is closed, InvalidArgument for a tuple that is another one, a number that the type
  /// of its component does not have, and for a priority queue. Raises TAGMA-E315 for another number of components, and
  /// for what is no tensor, view or number of a component.
  template <class... T>
  void enqueue(const T&... tensors) const {
    static_assert(arguments::template fit<T...>,
                  "TAGMA-E315 enqueue: takes a tensor, a view or a number for each component of the queue, and then "
                  "perhaps limits; a number without a point where elements are integers");
    if constexpr (arguments::template fit<T...>)
      arguments::with_limits(
          [&](const run_limits& limits, array_view<const raw_view> all) { add(queue_->make(all), limits); },
          tensors...);
  }
  /// The same with a priority, the smallest of which leave first: of a priority queue alone.
  template <class... T>
  void enqueue_at(std::int64_t priority, const T&... tensors) const {
    static_assert(arguments::template fit<T...>,
                  "TAGMA-E315 enqueue: takes a tensor, a view or a number for each component of the queue, and then "
                  "perhaps limits; a number without a point where elements are integers");
    if constexpr (arguments::template fit<T...>)
      arguments::with_limits(
          [&](const run_limits& limits, array_view<const raw_view> all) { add(queue_->make(all, &priority), limits); },
          tensors...);
  }
  /// Adds a tuple for each row of the tensors, as there is room.
  template <class... T>
  void enqueue_many(const T&... tensors) const {
    static_assert(arguments::template fit<T...>,
                  "TAGMA-E315 enqueue: takes a tensor, a view or a number for each component of the queue, and then "
                  "perhaps limits; a number without a point where elements are integers");
    if constexpr (arguments::template fit<T...>)
      arguments::with_limits(
          [&](const run_limits& limits, array_view<const raw_view> all) { add(queue_->make_rows(all), limits); },
          tensors...);
  }
  /// The same with the priorities of the rows.
  template <class... T>
  void enqueue_many_at(array_view<const std::int64_t> priorities, const T&... tensors) const {
    static_assert(arguments::template fit<T...>,
                  "TAGMA-E315 enqueue: takes a tensor, a view or a number for each component of the queue, and then "
                  "perhaps limits; a number without a point where elements are integers");
    if constexpr (arguments::template fit<T...>)
      arguments::with_limits([&](const run_limits& limits,
                                 array_view<const raw_view> all) { add(queue_->make_rows(all, &priorities), limits); },
                             tensors...);
  }
  /// Takes a tuple. Throws OutOfRange if the queue is closed and empty.
  [[nodiscard]] dequeued<Specs...> dequeue(const run_limits& limits = {}) const {
    return dequeued<Specs...>(queue_, detail::dequeue(*queue_, limits));
  }
  /// Takes `count` tuples, which may be more than the queue holds at once. Throws OutOfRange if it is closed and has
  /// fewer; InvalidArgument for a queue other than a padding one whose components have open extents; ResourceExhausted
  /// if there is no memory for the batch, whose tuples stay.
  /// Raises TAGMA-E002 for components of six axes.
  [[nodiscard]] dequeued_batch<Specs...> dequeue_many(extent count, const run_limits& limits = {}) const {
    return take(count, false, limits);
  }
  /// The same, but those that are left where a closed queue has fewer, at least one.
  [[nodiscard]] dequeued_batch<Specs...> dequeue_up_to(extent count, const run_limits& limits = {}) const {
    return take(count, true, limits);
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
  [[nodiscard]] dequeued_batch<Specs...> take(extent count, bool up_to, const run_limits& limits) const {
    static_assert((true && ... && (Specs::value.dims.rank < max_rank)),
                  "TAGMA-E002 dequeue_many: a tensor has at most six axes; a batch of components with six would have "
                  "seven");
    return {queue_, detail::elements_on_loan(*queue_, detail::dequeue_batch(*queue_, count, up_to, limits)),
            std::index_sequence_for<Specs...>{}};
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
