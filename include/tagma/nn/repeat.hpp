// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Equal blocks behind one another, each with variables of its own.

#include <tuple>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/expr/op/loop.hpp"
#include "tagma/expr/rules.hpp"
#include "tagma/expr/scope.hpp"

namespace tagma {

namespace detail {

/// What a block returns, as a tuple.
template <class... R>
[[nodiscard]] constexpr std::tuple<R...> block_results(const std::tuple<R...>& results) {
  return results;
}
template <expression R>
[[nodiscard]] constexpr std::tuple<R> block_results(const R& result) {
  return {result};
}
template <class Function, class... E>
using results_of_block = decltype(block_results(std::declval<std::invoke_result_t<const Function&, const E&...>>()));

}  // namespace detail

namespace diagnose {
/// A function of expressions is repeated, and how often is stated.
template <extent Count, class Block>
inline constexpr bool is_repeated = Count >= 1 && Count <= 4096 && !is_expression<Block>;
/// What a block returns takes the place of its first operands.
template <class Operands, class Results>
inline constexpr bool block_keeps_types = false;
template <class... E, class... R>
  requires(sizeof...(R) > 0 && sizeof...(R) <= sizeof...(E))
inline constexpr bool block_keeps_types<std::tuple<E...>, std::tuple<R...>> =
    []<std::size_t... I>(std::index_sequence<I...>) {
  return (true && ... &&
          std::is_same_v<typename std::tuple_element_t<I, std::tuple<E...>>::spec_type, typename R::spec_type>);
}
(std::index_sequence_for<R...>{});
}  // namespace diagnose

namespace detail {

/// The scope of a block that is the body of a loop: its names are those of all copies.
template <fixed_string Name, extent Count>
struct repeated_layer {
  static constexpr ir::scope_kind kind = ir::scope_kind::repeated;
  static constexpr device_spec spec{};
  static constexpr device_function function = nullptr;
  static constexpr bool structural = true;
  static constexpr int copies = static_cast<int>(Count);
  static constexpr std::uint64_t hash =
      hash_combine(hash_combine(hash_text("repeat"), hash_text(Name.view())), static_cast<std::uint64_t>(Count));
  static constexpr std::string_view prefix = Name.view();
  template <class Id, class... Outside>
  static constexpr array_view<const ir::renamed> names =
      prefixed_names<Name, static_cast<std::size_t>(Count), Id, Outside...>::list;
};

/// "block_7"
template <fixed_string Name, std::size_t Copy>
inline constexpr auto numbered_name = [] {
  fixed_string<Name.view().size() + 2 + digits_of(Copy)> name;
  char* to = name.text;
  for (const char c : Name.view()) *to++ = c;
  write_number(to, Copy);
  return name;
}();

/// What a block returns, in a scope that ends at its operands; an operand that it returns is what it was.
template <class Layer, class... E, class... R>
[[nodiscard]] constexpr auto scope_block(const std::tuple<R...>& results) {
  [[maybe_unused]] const auto scoped = []<class One>(const One& one) {
    if constexpr ((false || ... || std::is_same_v<One, E>))
      return one;
    else
      return make_scoped<Layer, E...>(one);
  };
  return std::apply([&](const R&... one) { return std::make_tuple(scoped(one)...); }, results);
}

template <std::size_t First, class Tuple, std::size_t... I>
[[nodiscard]] constexpr auto some_of(const Tuple& all, std::index_sequence<I...>) {
  return std::make_tuple(std::get<First + I>(all)...);
}

template <fixed_string Name, extent Count, std::size_t Copy, class Block, class... C, class... Fixed>
[[nodiscard]] constexpr auto unroll_blocks(const Block& block, const std::tuple<C...>& carried,
                                           const std::tuple<Fixed...>& fixed) {
  if constexpr (Copy == static_cast<std::size_t>(Count)) {
    return carried;
  } else {
    const auto results = block_results(std::apply(block, std::tuple_cat(carried, fixed)));
    return unroll_blocks<Name, Count, Copy + 1>(
        block, scope_block<name_layer<numbered_name<Name, Copy>>, C..., Fixed...>(results), fixed);
  }
}

template <fixed_string Name, extent Count, class Place, class Block, class... C, class... Fixed>
[[nodiscard]] constexpr auto loop_blocks(const Block& block, const std::tuple<C...>& carried,
                                         const std::tuple<Fixed...>& fixed) {
  const auto begun = begin_scan<Count, false, Place>(carry_list<C...>{carried}, sequence_list<0>{},
                                                     std::index_sequence_for<C...>{}, std::index_sequence<>{});
  const auto results = block_results(std::apply(block, std::tuple_cat(std::get<1>(begun), fixed)));
  return std::apply(
      [&](const auto&... h) {
        const auto scoped =
            scope_block<repeated_layer<Name, Count>, std::remove_cvref_t<decltype(h)>..., Fixed...>(results);
        return std::apply(
            [&](const auto&... r) { return close_scan<0, sizeof...(C), Place>(std::get<0>(begun), h..., r...); },
            scoped);
      },
      std::get<1>(begun));
}

/// Tells the loops over different operands apart.
template <class Place, class... Ids>
struct repeated_place {};

/// Blocks that wait for their operands.
template <fixed_string Name, extent Count, bool Unrolled, class Block, class Place>
struct repeated_call {
  Block block;

  template <expression... E, class Results = results_of_block<Block, E...>>
  [[nodiscard]] constexpr auto operator()(const E&... e) const {
    static_assert(
        diagnose::block_keeps_types<std::tuple<E...>, Results>,
        "TAGMA-E263 repeat: what a block returns takes the place of its first operands, so it must have their "
        "types and shapes");
    if constexpr (diagnose::block_keeps_types<std::tuple<E...>, Results>) {
      constexpr std::size_t carries = std::tuple_size_v<Results>;
      const auto all = std::make_tuple(e...);
      const auto carried = some_of<0>(all, std::make_index_sequence<carries>{});
      const auto fixed = some_of<carries>(all, std::make_index_sequence<sizeof...(E) - carries>{});
      if constexpr (Unrolled)
        return one_or_all<expression<std::invoke_result_t<const Block&, const E&...>>>(
            unroll_blocks<Name, Count, 0>(block, carried, fixed));
      else
        return one_or_all<expression<std::invoke_result_t<const Block&, const E&...>>>(
            loop_blocks<Name, Count, repeated_place<Place, typename E::id...>>(block, carried, fixed));
    }
  }

 private:
  template <bool One, class Results>
  [[nodiscard]] static constexpr auto one_or_all(const Results& results) {
    if constexpr (One)
      return std::get<0>(results);
    else
      return results;
  }
};

}  // namespace detail

#define TAGMA_NEEDS_REPEATED(Name, Count, Block)                                                                 \
  TAGMA_NEEDS_NAME("repeat", Name);                                                                              \
  static_assert(                                                                                                 \
      ::tagma::diagnose::is_repeated<Count, Block>,                                                              \
      "TAGMA-E266 repeat: is put around a function of expressions, and done 1 to 4096 times: repeat<\"block\", " \
      "12>(block)(x)")

/// `Count` equal blocks behind one another: `repeat<"block", 12>(block)(x)` is `block(block(...(x)))`, where each block
/// has variables of its own. Those of block i, from 0 on, are called as in `scope<"block_i">(block)`. A block may take
/// further operands, `repeat<"block", 12>(block)(x, mask)`, which are the same for all; what it returns, an expression
/// or a tuple of several, takes the place of the first.
///
/// The blocks are a loop, whose body is compiled once; with `unrolled` behind the block, they are written out. The
/// variables are the same ones, by their names, so that one form reads what the other has saved, and both may be in one
/// program. What draws random numbers draws other ones in each block, not the same in both forms.
/// @tparam Name begins the names of the variables
/// @tparam Count 1 to 4096
/// @param block takes expressions
/// Raises TAGMA-E263 if what a block returns does not fit its next call, TAGMA-E266 for another count or what is no
/// function; and when a loop is compiled TAGMA-E264 for a block that updates its variables, TAGMA-E265 for one with
/// queues or other resources of its own: these are written out.
/// @{
template <fixed_string Name, extent Count, class Block, class Place = TAGMA_FRESH_TYPE(Block)>
[[nodiscard]] constexpr auto repeat(const Block& block) {
  TAGMA_NEEDS_REPEATED(Name, Count, Block);
  if constexpr (is_name(Name.view()) && diagnose::is_repeated<Count, Block>)
    return detail::repeated_call<Name, Count, false, std::decay_t<const Block>, Place>{block};
}
template <fixed_string Name, extent Count, class Block>
[[nodiscard]] constexpr auto repeat(const Block& block, unrolled_steps) {
  TAGMA_NEEDS_REPEATED(Name, Count, Block);
  if constexpr (is_name(Name.view()) && diagnose::is_repeated<Count, Block>)
    return detail::repeated_call<Name, Count, true, std::decay_t<const Block>, void>{block};
}
/// @}

}  // namespace tagma

#undef TAGMA_NEEDS_REPEATED
