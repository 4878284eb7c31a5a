// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Programs that are compiled when a process begins: the C++ compiler checks handles, feeds and fetches, the process
/// builds the graph, its gradients and its plans.

#include <string>

#include "tagma/base/config.hpp"
#include "tagma/base/counted.hpp"
#include "tagma/graph/record_table.hpp"
#include "tagma/plan/passes.hpp"
#include "tagma/plan/site_kind.hpp"

namespace tagma {

class any_program;

namespace detail {

/// The records behind the outputs of a closure, listed anew with more room where there was too little.
template <class Closure, std::size_t Room>
struct records_in_room {
  using traits = output_traits<closure_result<Closure>>;
  static constexpr auto list = ir::list_records<Room>(traits::records, traits::named);
};
template <class Closure, std::size_t Room = 1024, bool Whole = records_in_room<Closure, Room>::list.is_whole()>
struct listed_records : records_in_room<Closure, Room> {};
template <class Closure, std::size_t Room>
struct listed_records<Closure, Room, false> : listed_records<Closure, 8 * Room> {};

/// What the C++ compiler knows of the graph behind a closure that a process compiles: its outputs, and the records
/// behind them.
template <class Closure>
struct late_graph {
  using traits = output_traits<closure_result<Closure>>;

  /// For the compiler alone: what the process has of them is the table.
  static constexpr const auto& list = listed_records<Closure>::list;
  static constexpr ir::record_table_size size = list.size;
  static constexpr auto arrays = ir::write_records<size.words, size.characters, size.operations, size.functions>(
      list, traits::records, traits::named);
  static constexpr ir::record_table table{arrays.words,
                                          arrays.text,
                                          arrays.operations,
                                          arrays.functions,
                                          static_cast<std::int32_t>(size.records),
                                          static_cast<std::int32_t>(size.scopes),
                                          static_cast<std::int32_t>(size.lists),
                                          static_cast<std::int32_t>(size.names)};
};

/// What copies of such a program share. The registry has the rest (runtime/late_runs.hpp), so that it is compiled once
/// and not in each file that has a program.
class shared_late_program : public counted_object {
 public:
  /// As of `any_program`, and its text.
  /// @{
  [[nodiscard]] virtual const any_program& data() const = 0;
  [[nodiscard]] virtual const carried& values() const = 0;
  [[nodiscard]] virtual std::size_t node_count() const = 0;
  [[nodiscard]] virtual std::int64_t peak_bytes(extent batch) const = 0;
  [[nodiscard]] virtual std::uint64_t fingerprint() const = 0;
  [[nodiscard]] virtual std::string explain(extent batch, const plan::site_kind* others) const = 0;
  [[nodiscard]] virtual std::string explain(array_view<const int> outputs, extent batch,
                                            const plan::site_kind* others) const = 0;
  [[nodiscard]] virtual std::string to_dot(const plan::site_kind* others) const = 0;
  /// @}
  /// The position of a thing of a container among all that the program names, or -1.
  [[nodiscard]] virtual int resource_position(std::string_view kind, std::string_view name) const = 0;
};

/// Builds a graph. Defined by the registry. Throws what `compile` says of a type, InvalidArgument.
/// @param table the records behind the outputs
/// @param values what the named carry
/// @param soft as `soft_placement`
/// @param passes that rewrite the graph
[[nodiscard]] counted<shared_late_program> build_late_program(const ir::record_table& table, const carried& values,
                                                              bool soft,
                                                              array_view<void (*const)(ir::rewriter&)> passes);

}  // namespace detail

/// A program whose graph is made when the process begins. Copies share it.
template <class Closure>
class late_program {
 public:
  using graph = detail::late_graph<Closure>;

  late_program(const Closure& closure, bool soft, array_view<void (*const)(ir::rewriter&)> passes = {})
      : shared_(detail::build_late_program(graph::table, graph::traits::values(closure), soft, passes)) {}

  /// The program as data: for `write_program` and whatever takes programs of any type, whose headers define it.
  [[nodiscard]] const any_program& data() const { return shared_->data(); }
  operator const any_program&() const { return data(); }

  /// As of a program that the C++ compiler compiles.
  /// @{
  [[nodiscard]] const carried& values() const { return shared_->values(); }
  [[nodiscard]] std::size_t node_count() const { return shared_->node_count(); }
  [[nodiscard]] std::int64_t peak_bytes(extent batch = 1) const { return shared_->peak_bytes(batch); }
  [[nodiscard]] std::uint64_t fingerprint() const { return shared_->fingerprint(); }
  /// @}

  /// For sessions and text.
  [[nodiscard]] const detail::shared_late_program& shared() const { return *shared_; }

 private:
  counted<detail::shared_late_program> shared_;
};

/// An option of `compile`, the last: the graph is built, differentiated and planned when the process begins, and runs
/// by kernels of the registry (<tagma/registry.hpp>). For large models, and for quick builds while one develops. What
/// the C++ compiler says of a graph is an error of `compile` then, InvalidArgument with the same number; it still
/// checks handles, feeds and fetches, except that a placeholder which is not fed is an error of `run` (TAGMA-E051).
struct late_option {};
/// The option of `compile` that has the process compile the program when it begins: `compile(closure, late)`.
inline constexpr late_option late{};

/// Raises TAGMA-E172, and TAGMA-E212 for what is no pass, when compiled.
/// @{
template <class Closure>
[[nodiscard]] auto compile(const Closure& closure, late_option) {
  if constexpr (detail::closure_of_outputs<Closure>)
    return late_program<Closure>(closure, false);
  else
    return early::compile(closure);
}
template <class Closure>
[[nodiscard]] auto compile(const Closure& closure, soft_placement_option, late_option) {
  if constexpr (detail::closure_of_outputs<Closure>)
    return late_program<Closure>(closure, true);
  else
    return early::compile(closure);
}
template <class Closure, class... Pass>
[[nodiscard]] auto compile(const Closure& closure, passes_option<Pass...> what, late_option) {
  if constexpr (detail::closure_of_outputs<Closure> && (true && ... && diagnose::is_pass<Pass>))
    return late_program<Closure>(closure, false, detail::visits_of<Pass...>);
  else
    return early::compile(closure, what);
}
template <class Closure, class... Pass>
[[nodiscard]] auto compile(const Closure& closure, soft_placement_option, passes_option<Pass...> what, late_option) {
  if constexpr (detail::closure_of_outputs<Closure> && (true && ... && diagnose::is_pass<Pass>))
    return late_program<Closure>(closure, true, detail::visits_of<Pass...>);
  else
    return early::compile(closure, what);
}
/// @}

#if defined(TAGMA_LATE)
inline namespace late_files {

/// In a file with TAGMA_LATE all programs are compiled late.
/// @{
template <class Closure>
[[nodiscard]] auto compile(const Closure& closure) {
  return tagma::compile(closure, late);
}
template <class Closure>
[[nodiscard]] auto compile(const Closure& closure, soft_placement_option soft) {
  return tagma::compile(closure, soft, late);
}
template <class Closure, class... Pass>
[[nodiscard]] auto compile(const Closure& closure, passes_option<Pass...> what) {
  return tagma::compile(closure, what, late);
}
template <class Closure, class... Pass>
[[nodiscard]] auto compile(const Closure& closure, soft_placement_option soft, passes_option<Pass...> what) {
  return tagma::compile(closure, soft, what, late);
}
/// @}

}  // namespace late_files
#endif

}  // namespace tagma
