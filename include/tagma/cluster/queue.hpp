// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Queues of servers for C++ programs: the calls of `tagma::queue`, from another process.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/cluster/session.hpp"
#include "tagma/data/queue_arguments.hpp"
#include "tagma/device/graph_builder.hpp"
#include "tagma/ir/queue.hpp"

namespace tagma {

namespace detail {

/// A queue of a server, whatever its components are. Each way to use it is a program of one operation.
class cluster_queue_core {
 public:
  cluster_queue_core(transport::network& by, const cluster& members, const task_id& where, std::string_view name,
                     const queue_options& options, std::vector<tensor_spec> components, cluster_session_options how)
      : network_(by),
        members_(members),
        where_(where),
        name_(name),
        kind_(options),
        components_(std::move(components)),
        how_(std::move(how)) {
    how_.device_filters = {to_string(task_device(where_))};
    base_ = open([&](graph_builder& b, const graph_node& q) { return base_outputs(b, q); });
  }

  /// @param priority of a priority queue; nullptr of others
  void enqueue(array_view<const raw_view> tuple, const run_limits& limits, const std::int64_t* priority = nullptr) {
    check_priority(priority != nullptr);
    add("enqueue", "one", tuple, {priority, dtype::int64, {}}, limits);
  }
  void enqueue_many(array_view<const raw_view> rows, const run_limits& limits,
                    const array_view<const std::int64_t>* priorities = nullptr) {
    check_priority(priorities != nullptr);
    raw_view of_rows;
    if (priorities != nullptr)
      of_rows = {priorities->data(), dtype::int64, shape{static_cast<extent>(priorities->size())}};
    add("enqueue_many", "row", rows, of_rows, limits);
  }
  [[nodiscard]] std::vector<any_tensor> dequeue_batch(extent count, bool up_to, const run_limits& limits) {
    if (count < 0)
      fail(status_code::invalid_argument, {"queue '", name_, "': ", count, " elements cannot be dequeued"});
    return dequeue(count, up_to, limits);
  }
  /// @param count -1 for one tuple without a first axis
  [[nodiscard]] std::vector<any_tensor> dequeue(extent count, bool up_to, const run_limits& limits) {
    std::vector<output_name> results;
    for (std::size_t i = 0; i < components_.size(); ++i) results.emplace_back(result_names[i]);
    return session_of(count, up_to)->run(results, {}, limits);
  }
  [[nodiscard]] extent size(const run_limits& limits) {
    return base_->run(output_name("size"), limits).value<std::int64_t>();
  }
  void close(bool now, const run_limits& limits) { base_->run(output_name(now ? "close_now" : "close"), limits); }

 private:
  static constexpr std::size_t most_sessions = 16;
  static constexpr const char* result_names[] = {"0", "1", "2", "3", "4", "5", "6", "7"};
  using outputs = std::vector<std::pair<std::string, graph_node>>;

  [[nodiscard]] bool kind_is_priority() const { return kind_.kind == queue_kind::priority; }
  void check_priority(bool given) const {
    if (given != kind_is_priority())
      fail(status_code::invalid_argument,
           {"queue '", name_, "': ",
            given ? "its elements leave in another order than that of priorities" : "each element needs a priority"});
  }

  template <class Make>
  [[nodiscard]] std::unique_ptr<cluster_session> open(const Make& make) const {
    std::vector<attribute_value> words{static_cast<int>(kind_.kind), kind_.capacity, kind_.min_after_dequeue,
                                       static_cast<std::int64_t>(kind_.seed)};
    add_components(words);
    graph_builder b;
    const outputs made = make(b, b.resource("queue", name_, words));
    std::vector<named_output> named;
    for (const auto& [name, node] : made) named.push_back({name, node});
    return std::make_unique<cluster_session>(network_, members_, where_, b.build(named), how_);
  }
  void add_components(std::vector<attribute_value>& to) const {
    for (const tensor_spec& s : components_) {
      ir::attribute words[ir::queue_component_words];
      ir::write_component(words, s);
      to.insert(to.end(), std::begin(words), std::end(words));
    }
  }
  [[nodiscard]] outputs base_outputs(graph_builder& b, const graph_node& q) const {
    outputs made{{"size", b.add("queue_size", {q})},
                 {"close", b.add("queue_close", {q}, {false})},
                 {"close_now", b.add("queue_close", {q}, {true})}};
    graph_builder::node_list one{q}, rows{q};
    bool has_rows = true;
    if (kind_is_priority()) {
      one.push_back(b.placeholder("one_priority", dtype::int64, {}));
      rows.push_back(b.placeholder("row_priority", dtype::int64, shape{dyn}));
    }
    for (std::size_t i = 0; i < components_.size(); ++i) {
      const tensor_spec& s = components_[i];
      one.push_back(b.placeholder("one_" + std::to_string(i), s.type, s.dims));
      has_rows = has_rows && s.dims.rank < max_rank;
      if (!has_rows) continue;
      shape dims{dyn};
      for (const extent e : s.dims.span()) dims.push_back(e);
      rows.push_back(b.placeholder("row_" + std::to_string(i), s.type, dims));
    }
    made.emplace_back("enqueue", b.add("enqueue", one, {false, kind_is_priority()}));
    if (has_rows) made.emplace_back("enqueue_many", b.add("enqueue", rows, {true, kind_is_priority()}));
    return made;
  }
  void add(const char* output, const std::string& prefix, array_view<const raw_view> tensors, const raw_view& priority,
           const run_limits& limits) {
    std::vector<std::string> names;
    std::vector<named_feed> feeds;
    names.reserve(tensors.size() + 1);
    if (kind_is_priority()) feeds.push_back({names.emplace_back(prefix + "_priority"), priority});
    for (std::size_t i = 0; i < tensors.size(); ++i)
      feeds.push_back({names.emplace_back(prefix + "_" + std::to_string(i)), tensors[i]});
    base_->run(std::vector<output_name>{output}, feeds, limits);
  }
  /// The session that takes so many; those of some counts are kept. It is made without a lock: others go on meanwhile.
  [[nodiscard]] std::shared_ptr<cluster_session> session_of(extent count, bool up_to) {
    const std::pair<extent, bool> key(count, up_to);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (const auto found = taking_.find(key); found != taking_.end()) return found->second;
    }
    std::shared_ptr<cluster_session> made = open_to_take(count, up_to);
    std::map<std::pair<extent, bool>, std::shared_ptr<cluster_session>> gone;  // it ends without the lock
    const std::lock_guard<std::mutex> lock(mutex_);
    if (taking_.size() >= most_sessions) gone.swap(taking_);
    return taking_.emplace(key, std::move(made)).first->second;
  }
  [[nodiscard]] std::unique_ptr<cluster_session> open_to_take(extent count, bool up_to) const {
    bool open_extents = false;
    for (const tensor_spec& s : components_) open_extents = open_extents || !s.dims.is_static();
    std::vector<attribute_value> words{count};
    add_components(words);
    words.emplace_back(up_to);
    const char* const operation = open_extents ? "dequeue_open" : up_to ? "dequeue_up_to" : "dequeue";
    return open([&](graph_builder& b, const graph_node& q) {
      const graph_node all = b.add(operation, {q}, words);
      outputs results;
      for (std::size_t i = 0; i < components_.size(); ++i)
        results.emplace_back(result_names[i], b.result(all, static_cast<int>(i)));
      return results;
    });
  }

  transport::network& network_;
  cluster members_;
  task_id where_;
  std::string name_;
  queue_options kind_;
  std::vector<tensor_spec> components_;
  cluster_session_options how_;
  std::unique_ptr<cluster_session> base_;
  std::mutex mutex_;  // of what follows
  std::map<std::pair<extent, bool>, std::shared_ptr<cluster_session>> taking_;
};

}  // namespace detail

/// A tuple, or several along a first axis, that has left a queue of a server. It takes part in structured bindings:
/// `auto [image, label] = q.dequeue()`; views are good as long as it lives.
template <class... Specs>
class received_tuple {
 public:
  explicit received_tuple(std::vector<any_tensor> all) : all_(std::move(all)) {}
  /// Component `I` as a view; a number or a text is its element 0.
  template <std::size_t I>
  [[nodiscard]] auto get() const {
    return all_[I].template as<typename std::tuple_element_t<I, std::tuple<Specs...>>::element_type>();
  }
  /// The tensor, which may be kept.
  [[nodiscard]] const any_tensor& tensor(std::size_t i) const { return all_.at(i); }

 private:
  std::vector<any_tensor> all_;
};

/// A queue of tuples on a task of a cluster, `cluster_queue<spec<float, 28, 28>, spec<std::int64_t>>`, which programs
/// and other processes have by the same name. Calls are those of `queue`: they wait until they have done what they were
/// to do, for `cluster_session_options::run_ns` at most, and `run_limits` as the last argument limit that. One that is
/// late or cancelled takes nothing with it. A connection that is lost is made again, and what was asked for is done
/// once. Errors are those of a queue and of a `cluster_session`. For several threads.
template <class... Specs>
class cluster_queue {
 public:
  static_assert(sizeof...(Specs) > 0 && sizeof...(Specs) <= ir::most_outputs,
                "TAGMA-E220 cluster_queue: a tuple has one to eight components");

  /// The queue of this name in the container of `how`, which is made if there is none.
  /// Throws InvalidArgument that names both sides if there is another one of this name, Unavailable if the task does
  /// not come.
  /// @param by outlives the queue
  /// @param where the task that has it
  TAGMA_COLD cluster_queue(transport::network& by, const cluster& members, const task_id& where, std::string_view name,
                           const queue_options& options = {}, const cluster_session_options& how = {})
      : core_(std::make_unique<detail::cluster_queue_core>(by, members, where, name, options,
                                                           std::vector<tensor_spec>{Specs::value...}, how)) {}

  /// Adds a tuple: for each component a tensor, or a number for a scalar. Throws InvalidArgument for a priority queue.
  template <class... T>
  void enqueue(const T&... tensors) const {
    static_assert(arguments::template fit<T...>,
                  "TAGMA-E315 enqueue: takes a tensor, a view or a number for each component of the queue, and then "
                  "perhaps limits; a number without a point where elements are integers");
    if constexpr (arguments::template fit<T...>)
      arguments::with_limits(
          [&](const run_limits& limits, array_view<const raw_view> all) { core_->enqueue(all, limits); }, tensors...);
  }
  /// The same with a priority, the smallest of which leave first: of a priority queue alone.
  template <class... T>
  void enqueue_at(std::int64_t priority, const T&... tensors) const {
    static_assert(arguments::template fit<T...>,
                  "TAGMA-E315 enqueue: takes a tensor, a view or a number for each component of the queue, and then "
                  "perhaps limits; a number without a point where elements are integers");
    if constexpr (arguments::template fit<T...>)
      arguments::with_limits(
          [&](const run_limits& limits, array_view<const raw_view> all) { core_->enqueue(all, limits, &priority); },
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
          [&](const run_limits& limits, array_view<const raw_view> all) { core_->enqueue_many(all, limits); },
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
                                 array_view<const raw_view> all) { core_->enqueue_many(all, limits, &priorities); },
                             tensors...);
  }
  /// Takes a tuple. Throws OutOfRange if the queue is closed and empty.
  [[nodiscard]] received_tuple<Specs...> dequeue(const run_limits& limits = {}) const {
    return received_tuple<Specs...>(core_->dequeue(-1, false, limits));
  }
  /// Takes `count` tuples. Throws OutOfRange if it is closed and has fewer.
  [[nodiscard]] received_tuple<Specs...> dequeue_many(extent count, const run_limits& limits = {}) const {
    return received_tuple<Specs...>(core_->dequeue_batch(count, false, limits));
  }
  /// The same, but those that are left where a closed queue has fewer, at least one.
  [[nodiscard]] received_tuple<Specs...> dequeue_up_to(extent count, const run_limits& limits = {}) const {
    return received_tuple<Specs...>(core_->dequeue_batch(count, true, limits));
  }
  /// Elements in it.
  [[nodiscard]] extent size(const run_limits& limits = {}) const { return core_->size(limits); }
  /// Closes it behind those who wait to enqueue already. Throws Cancelled if it is closed.
  void close(const run_limits& limits = {}) const { core_->close(false, limits); }
  /// Closes it at once; who waits to enqueue is cancelled.
  void close_now(const run_limits& limits = {}) const { core_->close(true, limits); }

 private:
  using arguments = detail::queue_arguments<Specs...>;

  std::unique_ptr<detail::cluster_queue_core> core_;
};

}  // namespace tagma

template <class... Specs>
struct std::tuple_size<tagma::received_tuple<Specs...>> : std::integral_constant<std::size_t, sizeof...(Specs)> {};
template <std::size_t I, class... Specs>
struct std::tuple_element<I, tagma::received_tuple<Specs...>> {
  using type = tagma::view<const typename std::tuple_element_t<I, std::tuple<Specs...>>::element_type>;
};
