// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Runs a program: typed feeds in, typed fetches out, variables kept between runs.

#include <tuple>

#include "tagma/runtime/initialize.hpp"
#include "tagma/runtime/run_check.hpp"
#include "tagma/runtime/waiting_steps.hpp"
#include "tagma/tensor/tensor.hpp"

namespace tagma {

namespace detail {

/// A placeholder's extents filled with the elements of a plain range: one dynamic extent is worked out.
[[nodiscard]] inline shape shape_for(const shape& declared, std::size_t elements) {
  extent known = 1;
  int open = -1;
  for (int i = 0; i < declared.rank; ++i) {
    if (declared[i] == dyn && open >= 0)
      fail(status_code::invalid_argument,
           "a plain range was fed where several extents are dynamic: feed a tagma::tensor");
    if (declared[i] == dyn)
      open = i;
    else
      known *= declared[i];
  }
  shape s = declared;
  if (open >= 0) s[open] = known == 0 ? 0 : static_cast<extent>(elements) / known;
  if (s.elements() != static_cast<extent>(elements))
    fail(status_code::invalid_argument,
         {"a range of ", elements, " elements was fed, which does not fit ", to_string(declared)});
  return s;
}

/// What a run reads where `value` is fed. `text` keeps what a string is looked at through.
template <class Spec, class T>
[[nodiscard]] raw_view feed_view(const T& value, string_element& text) {
  constexpr dtype type = Spec::value.type;
  if constexpr (text_like<T>)
    return text = value, raw_view{&text, type, {}};
  else if constexpr (tensor_like<T>)
    return {value.data(), type, value.dims()};
  else if constexpr (range_like<T>)
    return {value.data(), type, shape_for(Spec::value.dims, value.size())};
  else
    return {&value, type, {}};
}

/// A fetched value: a plain number where the rank is 0, else a tensor, or nothing.
template <class Spec>
struct fetched_value {
  using T = typename Spec::element_type;
  using type = std::conditional_t<Spec::value.dims.rank == 0, T, tensor<T>>;
  static void take(type& to, const raw_view& from) {
    if constexpr (Spec::value.dims.rank == 0)
      to = *static_cast<const T*>(from.data);
    else
      to = tensor<T>(view<const T>(static_cast<const T*>(from.data), from.dims));
  }
};
template <>
struct fetched_value<spec<no_value>> {
  using type = no_value;
  static void take(type&, const raw_view&) {}
};
template <>
struct fetched_value<spec<string_element>> {
  using type = std::string;
  static void take(type& to, const raw_view& from) { to = *static_cast<const string_element*>(from.data); }
};

/// The result of a run: a tuple for a list, its only element for a single output.
template <class What, class Results>
[[nodiscard]] constexpr auto unwrap(Results&& results) {
  if constexpr (expression<What>)
    return std::get<0>(std::forward<Results>(results));
  else
    return std::forward<Results>(results);
}

}  // namespace detail

/// A program with its variables. Several threads may call `run` at once: runs that only read variables go together,
/// runs that update variables go one at a time.
template <class Program>
class session {
  /// What is wrong with a run, as a type; void if nothing is.
  template <class What, class... Arguments>
  using check = typename detail::run_check<typename Program::graph, Arguments...>::template fault<What>;

 public:
  using graph = typename Program::graph;
  using tables = detail::graph_tables<graph>;

  /// Finds the devices, allocates the variables and runs their initializers.
  /// Throws InvalidArgument if a device that the program asks for is missing, or an option makes no sense.
  explicit session(const Program& program, const session_options& options = {})
      : core_(tables::variables, runtime::devices_of<detail::placed_graph<graph>>(), program.values(), options,
              runtime::start_accelerator<graph, detail::placed_graph<graph>::is_accelerated>(options.gpu)) {}

  /// Computes one output, or several in one run: `run(loss, ...)`, `run(fetch(loss, accuracy), ...)`.
  /// @param what an output of the program, or a list of them
  /// @param a1,a2 and so on: feeds (`x = images`; a tensor that is computed may be fed too, its operation is then left
  /// out) and limits (`timeout(500ms)`, `stop_with(token)`, `on_pool(1)`, `on_caller_thread()`,
  /// `trace_to(timeline)`), up to eight
  /// @param at where the call stands; errors name it
  /// @return a number if its rank is 0, else a tensor; `no_value` for updates grouped together; a tuple for a list
  /// Raises TAGMA-E050 to TAGMA-E054, TAGMA-E067, E071 and E147 to E151 when compiled; throws InvalidArgument if a
  /// feed's extents do not fit, DeadlineExceeded, Cancelled, or what a kernel reports.
  /// @{
  template <class What, class Fault = check<What>>
  auto run(const What& what, source_line at = source_line::here()) {
    TAGMA_NEEDS_A_SOUND_RUN(Fault);
    return detail::unwrap<What>(run_all<Fault>(detail::as_list(what), at));
  }
  template <class What, class A1, class Fault = check<What, A1>>
  auto run(const What& what, const A1& a1, source_line at = source_line::here()) {
    TAGMA_NEEDS_A_SOUND_RUN(Fault);
    return detail::unwrap<What>(run_all<Fault>(detail::as_list(what), at, a1));
  }
  template <class What, class A1, class A2, class Fault = check<What, A1, A2>>
  auto run(const What& what, const A1& a1, const A2& a2, source_line at = source_line::here()) {
    TAGMA_NEEDS_A_SOUND_RUN(Fault);
    return detail::unwrap<What>(run_all<Fault>(detail::as_list(what), at, a1, a2));
  }
  template <class What, class A1, class A2, class A3, class Fault = check<What, A1, A2, A3>>
  auto run(const What& what, const A1& a1, const A2& a2, const A3& a3, source_line at = source_line::here()) {
    TAGMA_NEEDS_A_SOUND_RUN(Fault);
    return detail::unwrap<What>(run_all<Fault>(detail::as_list(what), at, a1, a2, a3));
  }
  template <class What, class A1, class A2, class A3, class A4, class Fault = check<What, A1, A2, A3, A4>>
  auto run(const What& what, const A1& a1, const A2& a2, const A3& a3, const A4& a4,
           source_line at = source_line::here()) {
    TAGMA_NEEDS_A_SOUND_RUN(Fault);
    return detail::unwrap<What>(run_all<Fault>(detail::as_list(what), at, a1, a2, a3, a4));
  }
  template <class What, class A1, class A2, class A3, class A4, class A5, class Fault = check<What, A1, A2, A3, A4, A5>>
  auto run(const What& what, const A1& a1, const A2& a2, const A3& a3, const A4& a4, const A5& a5,
           source_line at = source_line::here()) {
    TAGMA_NEEDS_A_SOUND_RUN(Fault);
    return detail::unwrap<What>(run_all<Fault>(detail::as_list(what), at, a1, a2, a3, a4, a5));
  }
  template <class What, class A1, class A2, class A3, class A4, class A5, class A6,
            class Fault = check<What, A1, A2, A3, A4, A5, A6>>
  auto run(const What& what, const A1& a1, const A2& a2, const A3& a3, const A4& a4, const A5& a5, const A6& a6,
           source_line at = source_line::here()) {
    TAGMA_NEEDS_A_SOUND_RUN(Fault);
    return detail::unwrap<What>(run_all<Fault>(detail::as_list(what), at, a1, a2, a3, a4, a5, a6));
  }
  template <class What, class A1, class A2, class A3, class A4, class A5, class A6, class A7,
            class Fault = check<What, A1, A2, A3, A4, A5, A6, A7>>
  auto run(const What& what, const A1& a1, const A2& a2, const A3& a3, const A4& a4, const A5& a5, const A6& a6,
           const A7& a7, source_line at = source_line::here()) {
    TAGMA_NEEDS_A_SOUND_RUN(Fault);
    return detail::unwrap<What>(run_all<Fault>(detail::as_list(what), at, a1, a2, a3, a4, a5, a6, a7));
  }
  template <class What, class A1, class A2, class A3, class A4, class A5, class A6, class A7, class A8,
            class Fault = check<What, A1, A2, A3, A4, A5, A6, A7, A8>>
  auto run(const What& what, const A1& a1, const A2& a2, const A3& a3, const A4& a4, const A5& a5, const A6& a6,
           const A7& a7, const A8& a8, source_line at = source_line::here()) {
    TAGMA_NEEDS_A_SOUND_RUN(Fault);
    return detail::unwrap<What>(run_all<Fault>(detail::as_list(what), at, a1, a2, a3, a4, a5, a6, a7, a8));
  }
  /// @}

  [[nodiscard]] runtime::session_core& core() { return core_; }

 private:
  template <class E>
  static constexpr int position_of = graph::traits::template position<typename E::id>();

  template <class RunGraph, class Id, class Value>
  static void take_argument(raw_view* feeds, run_limits&, const feed<Id, Value>& f, string_element& text) {
    using given = detail::feed_traits<graph, feed<Id, Value>>;
    feeds[given::template position<RunGraph>] = detail::feed_view<typename given::spec_type>(f.value, text);
  }
  template <class RunGraph>
  static void take_argument(raw_view*, run_limits& limits, const run_limits& l, string_element&) {
    if (l.timeout_ns != 0) limits.timeout_ns = l.timeout_ns;
    if (l.stopped != nullptr) limits.stop = l.stop, limits.stopped = l.stopped, limits.wakes = l.wakes;
    if (l.pool != 0) limits.pool = l.pool;
    if (l.trace != nullptr) limits.trace = l.trace;
  }

  template <class Fault, class... E, class... Arguments>
  auto run_all(fetch_list<E...>, [[maybe_unused]] const source_line& at, const Arguments&... arguments) {
    std::tuple<typename detail::fetched_value<typename E::spec_type>::type...> results;
    if constexpr (std::is_void_v<Fault>) {
      using run_graph = detail::graph_of_run<graph, Arguments...>;
      using plan = detail::compiled_plan<run_graph, position_of<E>...>;
      constexpr std::size_t placeholders = detail::graph_tables<run_graph>::placeholders;
      raw_view feeds[placeholders + 1]{};
      run_limits limits;
      string_element texts[sizeof...(Arguments) + 1];
      [[maybe_unused]] std::size_t n = 0;
      (take_argument<run_graph>(feeds, limits, arguments, texts[n++]), ...);
      core_.run(plan::view, runtime::kernels_of<plan>(), {feeds, placeholders}, limits, at,
                [&results](std::size_t f, const raw_view& value) {
                  take_result<E...>(results, f, value, std::index_sequence_for<E...>{});
                });
    }
    return results;
  }

  template <class... E, class Results, std::size_t... I>
  static void take_result(Results& results, std::size_t f, const raw_view& value, std::index_sequence<I...>) {
    ((I == f ? detail::fetched_value<typename E::spec_type>::take(std::get<I>(results), value) : void()), ...);
  }

  runtime::session_core core_;
};

}  // namespace tagma

#undef TAGMA_NEEDS_A_SOUND_RUN
