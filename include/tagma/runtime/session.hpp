// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Runs a program: typed feeds in, typed fetches out, variables kept between runs.

#include <tuple>

#include "tagma/plan/program.hpp"
#include "tagma/runtime/initialize.hpp"
#include "tagma/tensor/tensor.hpp"

namespace tagma {

/// Several results of one run: `auto [loss, accuracy] = session.run(fetch(loss, accuracy), ...)`.
template <expression... E>
struct fetch_list {};
template <expression... E>
[[nodiscard]] constexpr fetch_list<E...> fetch(const E&...) {
  return {};
}

namespace diagnose {
/// What is fetched is among the outputs of the program.
template <class Spec, int Position>
inline constexpr bool is_output = Position >= 0;
/// Every placeholder that a fetch needs is fed; the arguments are the first one that is not.
template <bool Fed, fixed_string Placeholder, class Spec>
inline constexpr bool every_placeholder_is_fed = Fed;
/// The device has a kernel for every operation that a fetch needs; `Operation` is the first one that has none.
template <bool Found, fixed_string Operation>
inline constexpr bool device_has_kernel = Found;
/// A node that is pinned to a device has a kernel there.
template <bool Found, fixed_string Operation, fixed_string Device>
inline constexpr bool asked_device_has_kernel = Found;
/// What is fed is a placeholder of the program.
template <class Id, int Position>
inline constexpr bool feeds_a_placeholder = Position >= 0;
/// A fed value has the element type of its placeholder.
template <class Placeholder, class Value>
inline constexpr bool feed_has_element_type = std::is_same_v<typename Placeholder::element_type, Value>;
/// A fed value can have the rank of its placeholder.
template <class Placeholder, int Rank>
inline constexpr bool feed_has_rank = Rank < 0 || Rank == Placeholder::value.dims.rank;
}  // namespace diagnose

namespace detail {

template <class T>
struct fed_value;  // how a C++ value becomes a tensor

template <class T>
concept tensor_like = requires(const T& t) {
  t.data();
  t.dims();
  t.span();
};
template <class T>
concept text_like = std::is_convertible_v<const T&, std::string_view>;
template <class T>
concept range_like = !tensor_like<T> && !text_like<T> && requires(const T& t) {
  t.data();
  t.size();
};

/// The element type of a value that can be fed; void if there is none.
template <class T>
constexpr auto fed_element() {
  if constexpr (text_like<T>)
    return string_element{};
  else if constexpr (tensor_like<T> || range_like<T>)
    return std::remove_cvref_t<decltype(*std::declval<const T&>().data())>{};
  else if constexpr (scalar<T>)
    return T{};
}

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

/// Placeholders and variables of a graph, in its order.
template <class Graph>
struct graph_tables {
  static constexpr std::size_t count(ir::op_kind kind) {
    std::size_t n = 0;
    for (const ir::node& node : Graph::flat.nodes) n += node.op->info->kind == kind;
    return n;
  }
  static constexpr std::size_t placeholders = count(ir::op_kind::placeholder);

  static constexpr auto make_variables() {
    std::array<plan::plan_variable, count(ir::op_kind::variable)> list{};
    std::size_t n = 0;
    for (int i = 0; i < Graph::view.size(); ++i) {
      const ir::node& node = Graph::view[i];
      if (node.op->info->kind != ir::op_kind::variable) continue;
      const auto a = Graph::view.attributes(i);
      list[n++] = {node.name, node.suffix, node.spec, a[0], a[1] != 0, ir::as_double(a[2]), node.key, i};
    }
    return list;
  }
  static constexpr auto variables = make_variables();

  /// The rank of a placeholder among all, by its record, or -1.
  static constexpr int placeholder_position(const ir::record* record) {
    int n = 0;
    for (const ir::node& node : Graph::flat.nodes) {
      if (node.op->info->kind != ir::op_kind::placeholder) continue;
      if (node.name == record->name && node.spec == record->spec) return n;
      ++n;
    }
    return -1;
  }
};

[[nodiscard]] constexpr bool any_of(array_view<const bool> flags) {
  for (const bool f : flags)
    if (f) return true;
  return false;
}

template <expression E>
[[nodiscard]] constexpr fetch_list<E> as_list(const E&) {
  return {};
}
template <class... E>
[[nodiscard]] constexpr fetch_list<E...> as_list(const fetch_list<E...>& list) {
  return list;
}
/// The result of a run: a tuple for a list, its only element for a single output.
template <class What, class Results>
[[nodiscard]] constexpr auto unwrap(Results&& results) {
  if constexpr (expression<What>)
    return std::get<0>(std::forward<Results>(results));
  else
    return std::forward<Results>(results);
}

/// The first placeholder that a plan needs and `fed` lacks, as a node of the plan; -1 if there is none.
template <class Plan, std::size_t Count>
[[nodiscard]] constexpr int first_missing(const std::array<int, Count>& fed) {
  for (std::size_t i = 0; i < Plan::nodes.size(); ++i) {
    const plan::plan_node& n = Plan::nodes[i];
    if (n.op->kind != ir::op_kind::placeholder) continue;
    if (Plan::needs[n.source] != ir::need::value && n.spec.dims.is_static()) continue;  // its extents are known
    bool found = false;
    for (const int f : fed) found = found || f == n.slot;
    if (!found) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace detail

/// A program with its variables. Several threads may call `run` at once: runs that only read variables go together,
/// runs that update variables go one at a time.
template <class Program>
class session {
 public:
  using graph = typename Program::graph;
  using tables = detail::graph_tables<graph>;

  /// Allocates the variables and runs their initializers.
  explicit session(const Program& program, const session_options& options = {})
      : core_(tables::variables, program.values(), options) {}

  /// Computes one output, or several in one run: `run(loss, ...)`, `run(fetch(loss, accuracy), ...)`.
  /// @param what an output of the program, or a list of them
  /// @param a1,a2 and so on: feeds (`x = images`) and limits (`timeout(500ms)`, `stop_with(token)`), up to eight
  /// @param at where the call stands; errors name it
  /// @return a number if its rank is 0, else a tensor; `no_value` for updates grouped together; a tuple for a list
  /// Raises TAGMA-E050 to TAGMA-E054, TAGMA-E067 and TAGMA-E071 when compiled; throws InvalidArgument if a feed's
  /// extents do not fit, DeadlineExceeded, Cancelled, or what a kernel reports.
  /// @{
  template <class What>
  auto run(const What& what, source_line at = source_line::here()) {
    return detail::unwrap<What>(run_all(detail::as_list(what), at));
  }
  template <class What, class A1>
  auto run(const What& what, const A1& a1, source_line at = source_line::here()) {
    return detail::unwrap<What>(run_all(detail::as_list(what), at, a1));
  }
  template <class What, class A1, class A2>
  auto run(const What& what, const A1& a1, const A2& a2, source_line at = source_line::here()) {
    return detail::unwrap<What>(run_all(detail::as_list(what), at, a1, a2));
  }
  template <class What, class A1, class A2, class A3>
  auto run(const What& what, const A1& a1, const A2& a2, const A3& a3, source_line at = source_line::here()) {
    return detail::unwrap<What>(run_all(detail::as_list(what), at, a1, a2, a3));
  }
  template <class What, class A1, class A2, class A3, class A4>
  auto run(const What& what, const A1& a1, const A2& a2, const A3& a3, const A4& a4,
           source_line at = source_line::here()) {
    return detail::unwrap<What>(run_all(detail::as_list(what), at, a1, a2, a3, a4));
  }
  template <class What, class A1, class A2, class A3, class A4, class A5>
  auto run(const What& what, const A1& a1, const A2& a2, const A3& a3, const A4& a4, const A5& a5,
           source_line at = source_line::here()) {
    return detail::unwrap<What>(run_all(detail::as_list(what), at, a1, a2, a3, a4, a5));
  }
  template <class What, class A1, class A2, class A3, class A4, class A5, class A6>
  auto run(const What& what, const A1& a1, const A2& a2, const A3& a3, const A4& a4, const A5& a5, const A6& a6,
           source_line at = source_line::here()) {
    return detail::unwrap<What>(run_all(detail::as_list(what), at, a1, a2, a3, a4, a5, a6));
  }
  template <class What, class A1, class A2, class A3, class A4, class A5, class A6, class A7>
  auto run(const What& what, const A1& a1, const A2& a2, const A3& a3, const A4& a4, const A5& a5, const A6& a6,
           const A7& a7, source_line at = source_line::here()) {
    return detail::unwrap<What>(run_all(detail::as_list(what), at, a1, a2, a3, a4, a5, a6, a7));
  }
  template <class What, class A1, class A2, class A3, class A4, class A5, class A6, class A7, class A8>
  auto run(const What& what, const A1& a1, const A2& a2, const A3& a3, const A4& a4, const A5& a5, const A6& a6,
           const A7& a7, const A8& a8, source_line at = source_line::here()) {
    return detail::unwrap<What>(run_all(detail::as_list(what), at, a1, a2, a3, a4, a5, a6, a7, a8));
  }
  /// @}

  [[nodiscard]] runtime::session_core& core() { return core_; }

 private:
  template <class E>
  static constexpr int position_of = graph::traits::template position<typename E::id>();

  template <class Argument>
  struct feed_position {
    static constexpr int value = -1;
  };
  template <class Id, class Value>
  struct feed_position<feed<Id, Value>> {
    static constexpr int value = tables::placeholder_position(detail::find_record<Id>());
  };

  // One function for each rule, so that what compilers print around its sentence is what it is about.
  template <class Output, int Position>
  static constexpr bool check_output() {
    static_assert(diagnose::is_output<Output, Position>,
                  "TAGMA-E050 run: what is fetched is no output of this program");
    return diagnose::is_output<Output, Position>;
  }
  template <fixed_string Placeholder, class Spec, bool Fed>
  static constexpr bool check_fed() {
    static_assert(diagnose::every_placeholder_is_fed<Fed, Placeholder, Spec>,
                  "TAGMA-E051 run: a placeholder that this fetch needs is not fed");
    return Fed;
  }
  template <class Spec, int Position, class Value>
  static constexpr bool check_feed() {
    if constexpr (std::is_void_v<Spec>)
      return true;  // a limit
    else {
      using T = decltype(detail::fed_element<Value>());
      constexpr int rank = detail::tensor_like<Value> || detail::range_like<Value> ? -1 : 0;
      static_assert(diagnose::feeds_a_placeholder<Spec, Position>,
                    "TAGMA-E054 run: what is fed is no placeholder of this program");
      static_assert(Position < 0 || diagnose::feed_has_element_type<Spec, T>,
                    "TAGMA-E052 run: the value that is fed needs the element type of the placeholder");
      constexpr bool comparable = Position >= 0 && diagnose::feed_has_element_type<Spec, T>;
      static_assert(!comparable || diagnose::feed_has_rank<Spec, rank>,
                    "TAGMA-E053 run: a plain number feeds a placeholder of rank 0");
      return comparable && diagnose::feed_has_rank<Spec, rank>;
    }
  }
  template <fixed_string Operation, bool Found>
  static constexpr bool check_kernel() {
    static_assert(diagnose::device_has_kernel<Found, Operation>,
                  "TAGMA-E071 run: the CPU has no kernel for this operation");
    return Found;
  }

  template <class Argument>
  struct feed_of {
    using spec_type = void;
    using value_type = void;
  };
  template <class Id, class Value>
  struct feed_of<feed<Id, Value>> {
    static constexpr tensor_spec declared = detail::find_record<Id>()->spec;
    using spec_type = spec_of<declared>;
    using value_type = Value;
  };
  using feed_list = std::array<raw_view, tables::placeholders + 1>;

  template <class Id, class Value>
  static void take_argument(feed_list& feeds, run_limits&, const feed<Id, Value>& f, string_element& text) {
    using given = feed_of<feed<Id, Value>>;
    feeds[static_cast<std::size_t>(feed_position<feed<Id, Value>>::value)] =
        detail::feed_view<typename given::spec_type>(f.value, text);
  }
  static void take_argument(feed_list&, run_limits& limits, const run_limits& l, string_element&) {
    if (l.timeout_ns != 0) limits.timeout_ns = l.timeout_ns;
    if (l.stopped != nullptr) limits.stop = l.stop, limits.stopped = l.stopped;
  }

  template <class Plan, class... Arguments>
  struct missing_feed {
    static constexpr int node =
        detail::first_missing<Plan>(std::array<int, sizeof...(Arguments) + 1>{feed_position<Arguments>::value..., -1});
    static constexpr tensor_spec declared = node < 0 ? tensor_spec{} : Plan::nodes[node < 0 ? 0 : node].spec;
    using spec_type = spec_of<declared>;
    static constexpr std::string_view text = node < 0 ? std::string_view{} : Plan::nodes[node < 0 ? 0 : node].name;
    static constexpr auto name = fixed_copy<&text>();
  };

  template <class... E, class... Arguments>
  auto run_all(fetch_list<E...>, [[maybe_unused]] const source_line& at, const Arguments&... arguments) {
    std::tuple<typename detail::fetched_value<typename E::spec_type>::type...> results;
    // Every check is made, so that one run shows everything that is wrong with it.
    constexpr bool faults[] = {false, !check_output<typename E::spec_type, position_of<E>>()...,
                               !check_feed<typename feed_of<Arguments>::spec_type, feed_position<Arguments>::value,
                                           typename feed_of<Arguments>::value_type>()...};
    if constexpr (!detail::any_of(faults)) {
      using plan = detail::compiled_plan<graph, position_of<E>...>;
      using missing = missing_feed<plan, Arguments...>;
      static_assert(
          diagnose::has_an_order<plan>,
          "TAGMA-E067 run: reads and updates of variables wait for one another; order them with tagma::after");
      if constexpr (diagnose::has_an_order<plan> &&
                    check_fed<missing::name, typename missing::spec_type, (missing::node < 0)>()) {
        using kernels = runtime::kernel_table<plan>;
        constexpr bool complete = kernels::missing == nullptr;
        static constexpr std::string_view lacking = complete ? std::string_view{} : kernels::missing->name;
        constexpr int misplaced = kernels::misplaced;
        static constexpr std::string_view pinned = plan::nodes[misplaced < 0 ? 0 : misplaced].op->name;
        static constexpr std::string_view device = plan::nodes[misplaced < 0 ? 0 : misplaced].device;
        static_assert(diagnose::asked_device_has_kernel<(misplaced < 0), fixed_copy<&pinned>(), fixed_copy<&device>()>,
                      "TAGMA-E071 run: the device that is asked for has no kernel for this operation");
        if constexpr (check_kernel<fixed_copy<&lacking>(), complete>() && misplaced < 0) {
          feed_list feeds{};
          run_limits limits;
          string_element texts[sizeof...(Arguments) + 1];
          [[maybe_unused]] std::size_t n = 0;
          (take_argument(feeds, limits, arguments, texts[n++]), ...);
          core_.run(plan::view, kernels::entries, {feeds.data(), tables::placeholders}, limits, at,
                    [&results](std::size_t f, const raw_view& value) {
                      take_result<E...>(results, f, value, std::index_sequence_for<E...>{});
                    });
        }
      }
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
