// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Runs a program: typed feeds in, typed fetches out, variables kept between runs.

#include <tuple>

#include "tagma/base/config.hpp"
#include "tagma/runtime/run_check.hpp"
#include "tagma/runtime/session_core.hpp"
#include "tagma/runtime/waiting_steps.hpp"
#include "tagma/tensor/tensor.hpp"

namespace tagma {

namespace detail {

/// Throws the error of a range of `elements` that was fed.
[[noreturn]] void refuse_range(const fed_node& to, std::size_t elements, const source_line& at);

/// The extents of a node filled with the elements of a plain range: one dynamic extent is worked out.
[[nodiscard]] shape shape_for(const fed_node& to, std::size_t elements, const source_line& at);

/// What a run reads where `value` is fed to the node of `Feed`. `text` keeps what a string is looked at through.
template <class Feed, class T>
[[nodiscard]] raw_view feed_view(const T& value, string_element& text, [[maybe_unused]] const source_line& at) {
  constexpr dtype type = Feed::declared.type;
  if constexpr (text_like<T>)
    return text = value, raw_view{&text, type, {}};
  else if constexpr (tensor_like<T>)
    return {value.data(), type, value.dims()};
  else if constexpr (range_like<T>)
    return {value.data(), type, shape_for(Feed::about, value.size(), at)};
  else
    return {&value, type, {}};
}

/// A fetched value: a plain number or a text where the rank is 0, else a tensor, which owns its characters; or nothing.
template <class Spec>
struct fetched_value {
  using T = typename Spec::element_type;
  using type = std::conditional_t<Spec::value.dims.rank == 0, T, tensor<T>>;
  static void take(type& to, const raw_view& from) {
    if constexpr (Spec::value.dims.rank == 0)
      to = *static_cast<const T*>(from.data);
    else
      to = tensor<T>(view<const T>(static_cast<const T*>(from.data), from.dims));
    if constexpr (std::is_same_v<T, string_element>) to.own_characters();
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

/// A resource that a program names.
template <class Tables, std::size_t I>
struct named_resource {
  static constexpr std::string_view kind = Tables::resources[I].kind;
  using functions = runtime::resource_of<*Tables::resources[I].key>;
};
/// The kind of the first resource of a program that nothing makes, as a type; void if there is none.
template <class Tables, std::size_t I = 0>
constexpr auto find_unmade() {
  if constexpr (I < Tables::resources.size()) {
    using what = named_resource<Tables, I>;
    if constexpr (requires { sizeof(typename what::functions); })
      return find_unmade<Tables, I + 1>();
    else
      return spelled<fixed_copy<&what::kind>()>{};
  }
}

/// Finds the resources of a program, each by the functions of its operation.
template <class Tables, std::size_t... I>
TAGMA_COLD heap_array<counted<runtime::resource>> find_resources(runtime::state_container& state,
                                                                 std::string_view prefix, std::index_sequence<I...>) {
  constexpr runtime::resource_functions functions[] = {
      {&named_resource<Tables, I>::functions::make, &named_resource<Tables, I>::functions::check}...};
  heap_array<counted<runtime::resource>> found(sizeof...(I));
  for (std::size_t k = 0; k < 2 * sizeof...(I); ++k) {  // what is there is compared before anything is added
    const std::size_t i = k % sizeof...(I);
    const plan::plan_resource& named = Tables::resources[i];
    const std::string name = runtime::name_in_container(prefix, named.name);
    const runtime::resource_request request{named.kind, name, named.attributes};
    found[i] = state.find_or_add(
        named.kind, name, [&] { return k < sizeof...(I) ? counted<runtime::resource>() : functions[i].make(request); });
    if (found[i]) functions[i].check(*found[i], request);
  }
  return found;
}
template <class Tables>
[[nodiscard]] constexpr runtime::resource_finder finder_of_resources() {
  if constexpr (Tables::resources.size() == 0 || !std::is_void_v<decltype(find_unmade<Tables>())>)
    return nullptr;
  else
    return [](runtime::state_container& state, std::string_view prefix, array_view<const plan::plan_resource>) {
      return find_resources<Tables>(state, prefix, std::make_index_sequence<Tables::resources.size()>{});
    };
}

/// What a session does with its program: variables, devices, and runs by plans that are constants. <tagma/late.hpp> has
/// another for programs that a process compiles.
template <class Program>
class program_session {
 public:
  using graph = typename Program::graph;
  using tables = graph_tables<graph>;

  program_session(const Program& program, const session_options& options)
      : core_(tables::variables, runtime::devices_of<placed_graph<graph>>(), program.values(), options,
              runtime::start_accelerators<graph, placed_graph<graph>>(options.gpu, options.kinds),
              finder_of_resources<tables>()) {}

  [[nodiscard]] runtime::session_core& core() { return core_; }
  [[nodiscard]] static int resource_position(std::string_view kind, std::string_view name) {
    for (std::size_t i = 0; i < tables::resources.size(); ++i)
      if (tables::resources[i].name == name && tables::resources[i].kind == kind) return static_cast<int>(i);
    return -1;
  }

  /// Runs the plan of the outputs `Output`, by position.
  /// @param take called with the number and the value of each
  template <int... Output, class Take, class... Arguments>
  void run(const Take& take, [[maybe_unused]] const source_line& at, const Arguments&... arguments) {
    using run_graph = graph_of_run<graph, Arguments...>;
    using plan = compiled_plan<run_graph, Output...>;
    constexpr std::size_t placeholders = graph_tables<run_graph>::placeholders;
    constexpr std::size_t limit_count = (std::size_t{0} + ... + std::is_same_v<Arguments, run_limits>);
    raw_view feeds[placeholders + 1]{};
    string_element texts[sizeof...(Arguments) + 1];
    std::conditional_t<limit_count == 0, run_limits*, run_limits[limit_count + (limit_count == 0)]> limits{};
    [[maybe_unused]] taken_arguments taken{feeds, texts, limits, at};
    (take_argument<run_graph>(taken, arguments), ...);
    core_.run({plan::view,
               runtime::kernels_of<plan>(),
               {feeds, placeholders},
               {{limits, limit_count}, limit_count > 1 ? &runtime::join : nullptr},
               at},
              take);
  }

 private:
  /// Where the arguments of a run go.
  struct taken_arguments {
    raw_view* feeds;
    string_element* text;
    run_limits* limits;
    const source_line& at;
  };
  template <class RunGraph, class Id, class Value>
  static void take_argument(taken_arguments& to, const feed<Id, Value>& f) {
    using given = feed_traits<graph, feed<Id, Value>>;
    const raw_view value = feed_view<given>(f.value, *to.text++, to.at);
    for (const int i : given::template positions<RunGraph>) to.feeds[i] = value;
  }
  template <class RunGraph>
  static void take_argument(taken_arguments& to, const run_limits& l) {
    *to.limits++ = l;
  }

  runtime::session_core core_;
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

namespace diagnose {
/// A session is made of a program.
template <class What>
inline constexpr bool is_compiled = false;
/// Stands for the program of such a session.
template <class What>
struct no_program {};
/// There is no resource that nothing makes.
template <class Kind>
inline constexpr bool makes_resources = std::is_void_v<Kind>;
}  // namespace diagnose

/// Nothing is wrong with what a run fetches; with what it feeds; with all of it.
#define TAGMA_NEEDS_A_FETCH(...)                            \
  static_assert(diagnose::fetches_expressions<__VA_ARGS__>, \
                "TAGMA-E174 run: takes an output of the program, or several as tagma::fetch(loss, accuracy)")
#define TAGMA_NEEDS_FEEDS(...)                                                                                \
  static_assert(                                                                                              \
      diagnose::takes_feeds_behind_one_output<__VA_ARGS__>,                                                   \
      "TAGMA-E174 run: several outputs are one list: session.run(tagma::fetch(loss, accuracy), x = images)"); \
  static_assert(                                                                                              \
      diagnose::takes_feeds_and_limits<__VA_ARGS__>,                                                          \
      "TAGMA-E174 run: behind what is fetched stand feeds, x = images, y = labels, and limits, timeout(500ms)")

#define TAGMA_NEEDS_A_SOUND_RUN(Fault)                                                                                \
  TAGMA_NEEDS_A_FETCH(Fault);                                                                                         \
  static_assert(diagnose::fetches_outputs<Fault>, "TAGMA-E050 run: what is fetched is no output of this program");    \
  TAGMA_NEEDS_FEEDS(Fault);                                                                                           \
  static_assert(diagnose::feeds_tensors_of_the_program<Fault>,                                                        \
                "TAGMA-E054 run: what is fed is no part of this program");                                            \
  static_assert(diagnose::feeds_what_is_computed<Fault>,                                                              \
                "TAGMA-E149 run: placeholders and computed tensors can be fed; a variable is assigned instead");      \
  static_assert(diagnose::feeds_what_nothing_waits_for<Fault>,                                                        \
                "TAGMA-E150 run: what is fed is not computed, but tagma::after waits for its operation");             \
  static_assert(diagnose::feeds_once<Fault>, "TAGMA-E151 run: one tensor is fed twice");                              \
  static_assert(                                                                                                      \
      diagnose::feeds_have_elements<Fault>,                                                                           \
      "TAGMA-E311 run: a tensor, a view, or a range of elements in a row can be fed: std::span(array) for an array, " \
      "tagma::tensor<bool> for a std::vector<bool>");                                                                 \
  static_assert(diagnose::feeds_have_element_types<Fault>,                                                            \
                "TAGMA-E052 run: the value that is fed needs the element type of the placeholder");                   \
  static_assert(diagnose::feeds_have_ranks<Fault>, "TAGMA-E053 run: a plain number feeds a placeholder of rank 0");   \
  static_assert(diagnose::feeds_everything<Fault>, "TAGMA-E051 run: a placeholder that this fetch needs is not fed"); \
  static_assert(diagnose::has_an_order<Fault>,                                                                        \
                "TAGMA-E067 run: reads and updates of variables wait for one another; order them with tagma::after"); \
  static_assert(diagnose::has_kernels<Fault>, "TAGMA-E071 run: the CPU has no kernel for this operation");            \
  static_assert(diagnose::has_kernels_there<Fault>,                                                                   \
                "TAGMA-E071 run: the device that is asked for has no kernel for this operation");                     \
  static_assert(diagnose::devices_exist<Fault>, "TAGMA-E148 run: the device that is asked for does not exist");       \
  static_assert(diagnose::colocates_what_fits<Fault>,                                                                 \
                "TAGMA-E147 run: two operations that are bound to one device are asked for in different places")

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
  /// Throws InvalidArgument if a device that the program asks for is missing, or an option makes no sense. Raises
  /// TAGMA-E310 for what is no compiled program.
  template <class Unmade = decltype(detail::find_unmade<tables>())>
  explicit session(const Program& program, const session_options& options = {}) : own_(program, options) {
    static_assert(
        diagnose::makes_resources<Unmade>,
        "TAGMA-E182 session: nothing makes a resource of this program: specialise tagma::runtime::resource_of");
    static_assert(diagnose::joins_devices<graph, detail::placed_graph<graph>>,
                  "TAGMA-E272 session: a program on several kinds of devices takes kinds with streams, of which each "
                  "starts a tagma::device::stream::accelerator");
  }

  /// Computes one output, or several in one run: `run(loss, ...)`, `run(fetch(loss, accuracy), ...)`.
  /// @param what an output of the program, or a list of them
  /// @param first,rest feeds (`x = images`; a tensor that is computed may be fed too, its operation is then left out)
  /// and limits (`timeout(500ms)`, `stop_with(token)`, `on_pool(1)`, `on_caller_thread()`, `trace_to(timeline)`), in
  /// any order. A feed is a tensor, a view, or a range of elements in a row, such as a vector or an array, of exactly
  /// the element type, which takes the shape of the placeholder where at most one extent of that varies; for rank 0 a
  /// number of exactly that type (3.0f, not 3). Of several timeouts the shortest counts, of several tokens any one
  /// stops the run. Errors name the line of the call.
  /// @return a number, or a std::string, if its rank is 0, else a tensor; `no_value` for updates grouped together; a
  /// tuple for a list
  /// Raises TAGMA-E050 to TAGMA-E054, TAGMA-E067, E071, E147 to E151, E174 and E311 when compiled; throws
  /// InvalidArgument if a feed's extents do not fit, DeadlineExceeded, Cancelled, also if the session was closed, or
  /// what a kernel reports.
  /// @{
  template <class What, class Fault = check<What>>
  auto run(const What& what, source_line at = source_line::here()) {
    TAGMA_NEEDS_A_SOUND_RUN(Fault);
    return detail::unwrap<What>(run_all<Fault>(detail::as_list(what), at));
  }
  template <class What, class First, class... Rest, class Fault = check<What, First, Rest...>>
  auto run(const What& what, located<First> first, const Rest&... rest) {
    TAGMA_NEEDS_A_SOUND_RUN(Fault);
    return detail::unwrap<What>(run_all<Fault>(detail::as_list(what), first.at(), first.value(), rest...));
  }
  /// @}

  /// What is no run: TAGMA-E174.
  /// @{
  template <class What, class First, class... Rest>
    requires(!std::is_base_of_v<located<First>, First> && !std::is_same_v<First, source_line>)
  auto run(const What&, const First&, const Rest&...) {
    using fault = decltype(detail::no_feed<First>());
    TAGMA_NEEDS_FEEDS(fault);
  }
  template <class... Nothing>
  auto run() {
    TAGMA_NEEDS_A_FETCH(diagnose::no_fetch<Nothing...>);
  }
  template <class... Rest>
  auto run(detail::braced_list, const Rest&...) {
    TAGMA_NEEDS_FEEDS(diagnose::second_output<Rest...>);
  }
  template <class What, class... Rest>
  auto run(const What&, detail::braced_list, const Rest&...) {
    using fault = diagnose::no_feed<What, Rest...>;
    TAGMA_NEEDS_FEEDS(fault);
  }
  /// @}

  /// Ends the session before the object does. Runs under way are cancelled, and it waits until they have ended; `save`
  /// and `restore` are waited for. From then on these and `run` throw Cancelled. Closing again does nothing. The
  /// destructor closes. Not to be called by a kernel of a run of this session, which would wait for itself.
  void close() { core().close(-1); }
  /// The same, but it waits `patience` at most. False if something goes on by then; the destructor waits for it.
  template <duration_like Duration>
  [[nodiscard]] bool close(Duration patience) {
    const std::int64_t ns = time_limit(patience).ns();
    return core().close(ns < 0 ? 0 : ns);
  }

  /// What is the same for all programs; for the library.
  [[nodiscard]] runtime::session_core& core() { return own_.core(); }
  /// The position of a resource among those of the program, or -1.
  [[nodiscard]] int resource_position(std::string_view kind, std::string_view name) const {
    return own_.resource_position(kind, name);
  }

 private:
  template <class E>
  static constexpr int position_of = graph::traits::template position<typename E::id>();

  template <class Fault, class... E, class... Arguments>
  auto run_all(fetch_list<E...>, [[maybe_unused]] const source_line& at, const Arguments&... arguments) {
    std::tuple<typename detail::fetched_value<typename E::spec_type>::type...> results;
    if constexpr (std::is_void_v<Fault>)
      own_.template run<position_of<E>...>(
          [&results](std::size_t f, const raw_view& value) {
            take_result<E...>(results, f, value, std::index_sequence_for<E...>{});
          },
          at, arguments...);
    return results;
  }

  template <class... E, class Results, std::size_t... I>
  static void take_result(Results& results, std::size_t f, const raw_view& value, std::index_sequence<I...>) {
    ((I == f ? detail::fetched_value<typename E::spec_type>::take(std::get<I>(results), value) : void()), ...);
  }

  detail::program_session<std::remove_const_t<Program>> own_;
};

/// What is no program: TAGMA-E310.
template <class What>
class session<diagnose::no_program<What>> {
 public:
  explicit session(const What&, const session_options& = {}) {
    static_assert(diagnose::is_compiled<What>,
                  "TAGMA-E310 session: takes a compiled program: "
                  "tagma::session session(tagma::compile([=] { return tagma::outputs(loss, train); }))");
  }
  template <class... Arguments>
  diagnose::refused run(const Arguments&...) {
    return {};
  }
};
template <class What>
  requires(!requires { typename What::graph; })
session(const What&, const session_options& = {})
->session<diagnose::no_program<What>>;

}  // namespace tagma

#undef TAGMA_NEEDS_A_SOUND_RUN
#undef TAGMA_NEEDS_A_FETCH
#undef TAGMA_NEEDS_FEEDS

#ifndef TAGMA_COMPILED
#include "tagma/runtime/session.ipp"
#endif
