// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Sessions of programs that are compiled when a process begins: handles as in all sessions, plans as of programs that
/// are data.

#include "tagma/base/config.hpp"
#include "tagma/plan/late_program.hpp"
#include "tagma/runtime/data_runs.hpp"
#include "tagma/runtime/session.hpp"

namespace tagma {

namespace detail {

/// What the records of a program say of one.
struct record_use {
  bool is_behind = false;      ///< it is one of those behind the outputs
  bool is_waited_for = false;  ///< one of them waits for it
  std::int32_t position = -1;  ///< the record that has its nodes, among those of the program
};
/// True if two handles stand for one tensor that is fed.
[[nodiscard]] constexpr bool is_one_feed(const ir::record& a, const ir::record& b) {
  const bool inputs = a.op->info->is(ir::op_kind::placeholder) && b.op->info->is(ir::op_kind::placeholder);
  return &a == &b || (inputs && a.name == b.name && a.spec == b.spec);
}
/// @param records of the program
/// @param behind the first so many are behind the outputs
[[nodiscard]] constexpr record_use use_of(const ir::record& what, array_view<const ir::record* const> records,
                                          std::size_t behind) {
  record_use use;
  const bool is_input = what.op->info->is(ir::op_kind::placeholder);
  const bool by_bare = what.bare != nullptr && !what.is_renamed() && ir::is_single(*what.op->info);
  const auto is_it = [&](const ir::record& r) {
    return &r == &what || (is_input && r.op == what.op && is_one_feed(r, what));
  };
  std::int32_t bare = -1;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const ir::record& r = *records[i];
    const bool same = is_it(r);
    if (same && use.position < 0) use.position = static_cast<std::int32_t>(i);
    if (by_bare && &r == what.bare) bare = static_cast<std::int32_t>(i);
    if (i >= behind) continue;
    if (same || &r == what.bare || (r.bare != nullptr && is_it(*r.bare))) use.is_behind = true;
    if (r.controls.size() != 0)
      for (const ir::record* c : r.controls) use.is_waited_for = use.is_waited_for || is_it(*c);
  }
  if (use.position < 0) use.position = bare;
  return use;
}

/// A feed of a program whose graph is not known to the compiler.
template <class Closure, class Id, class Value>
struct feed_traits<late_graph<Closure>, feed<Id, Value>> {
  static constexpr const ir::record* fed = find_record<Id>();
  static constexpr tensor_spec declared = fed->spec;
  using spec_type = spec_of<declared>;
  static constexpr std::string_view operation = fed->op->info->name;
  static constexpr std::string_view fed_name = fed->name;
  static constexpr fed_node about{operation, fed_name, ir::no_node, declared.dims};
  static constexpr record_use use = use_of(*fed, late_graph<Closure>::list.records(), late_graph<Closure>::size.behind);

  static constexpr auto fault() {
    constexpr bool replaces = !fed->op->info->is(ir::op_kind::placeholder);
    if constexpr (!use.is_behind)
      return diagnose::not_in_program<spec_type>{};
    else if constexpr (replaces && !is_computed(*fed->op->info) && !fed->op->info->is(ir::op_kind::composition) &&
                       !fed->op->info->is(ir::op_kind::gradient))
      return diagnose::not_computed<spelled<fixed_copy<&operation>()>, spec_type>{};
    else if constexpr (replaces && use.is_waited_for)
      return diagnose::waited_for<spelled<fixed_copy<&operation>()>, spec_type>{};
    else
      return fault_of_value<spec_type, Value>();
  }
};

/// Whether one tensor is fed twice.
template <class... Arguments>
struct repeated_handles {
  static constexpr auto fault() {}
};
template <class First, class... Rest>
struct repeated_handles<First, Rest...> : repeated_handles<Rest...> {};
template <class Id, class Value, class... Rest>
struct repeated_handles<feed<Id, Value>, Rest...> {
  template <class Other>
  static constexpr bool is_again(const Other*) {
    return false;
  }
  template <class OtherId, class OtherValue>
  static constexpr bool is_again(const feed<OtherId, OtherValue>*) {
    return is_one_feed(*find_record<Id>(), *find_record<OtherId>());
  }

  static constexpr tensor_spec declared = find_record<Id>()->spec;
  static constexpr auto fault() {
    if constexpr ((false || ... || is_again(static_cast<const Rest*>(nullptr))))
      return diagnose::fed_twice<spec_of<declared>>{};
    else
      return repeated_handles<Rest...>::fault();
  }
};

template <class Closure, class... Arguments>
struct run_check<late_graph<Closure>, Arguments...> : fetch_check {
  using graph = late_graph<Closure>;
  using fetch_check::find;

  template <class... E>
  static auto find(fetch_list<E...>) {
    using arguments = typename first_fault<fetch_traits<graph, E>..., feed_traits<graph, Arguments>...,
                                           repeated_handles<Arguments...>>::type;
    if constexpr (!std::is_void_v<arguments>) return arguments{};
  }
  template <class What>
  using fault = decltype(run_check::find(as_list(std::declval<const What&>())));
};

/// Resources and devices are found when the session begins.
template <class Closure>
struct graph_tables<late_graph<Closure>> {
  static constexpr bool is_late = true;
  static constexpr fixed_array<plan::plan_resource, 0> resources{};
};

template <class Closure>
class program_session<late_program<Closure>> {
 public:
  using graph = late_graph<Closure>;
  using tables = graph_tables<graph>;

  program_session(const late_program<Closure>& program, const session_options& options)
      : program_(program),
        data_(runtime::begin_session(program.shared(), options, plan::kind_of_data<runtime::device_kind, graph>())) {}

  [[nodiscard]] runtime::session_core& core() { return data_->core(); }
  [[nodiscard]] TAGMA_COLD int resource_position(std::string_view kind, std::string_view name) const {
    return program_.shared().resource_position(kind, name);
  }

  template <int... Output, class Take, class... Arguments>
  void run(const Take& take, const source_line& at, const Arguments&... arguments) {
    const int outputs[] = {Output...};
    runtime::record_feed feeds[sizeof...(Arguments) + 1]{};
    string_element texts[sizeof...(Arguments) + 1];
    run_limits limits[sizeof...(Arguments) + 1];
    taken_arguments taken{feeds, texts, limits, at};
    (take_argument(taken, arguments), ...);
    data_->run(outputs, {feeds, taken.feeds - feeds}, {limits, taken.limits - limits}, at, take);
  }

 private:
  /// Where the arguments of a run go.
  struct taken_arguments {
    runtime::record_feed* feeds;
    string_element* text;
    run_limits* limits;
    const source_line& at;
  };
  template <class Id, class Value>
  void take_argument(taken_arguments& to, const feed<Id, Value>& f) {
    using given = feed_traits<graph, feed<Id, Value>>;
    *to.feeds++ = {given::use.position, given::operation, given::fed_name,
                   feed_view<given>(f.value, *to.text++, to.at)};
  }
  void take_argument(taken_arguments& to, const run_limits& l) { *to.limits++ = l; }

  late_program<Closure> program_;
  owned<runtime::data_runs> data_;
};

}  // namespace detail

namespace diagnose {
template <class Closure, class Placed>
inline constexpr bool joins_devices<detail::late_graph<Closure>, Placed> = true;
}  // namespace diagnose

}  // namespace tagma
