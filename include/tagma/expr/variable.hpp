// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// State of a session: variables and how they begin.

#include "tagma/expr/placeholder.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {

namespace diagnose {
/// A variable has memory of its own before the first run.
template <extent... Extents>
inline constexpr bool extents_are_static = (true && ... && (Extents != dyn));
/// A session owns the elements of its variables; a string is a view of somebody's text.
template <class T>
inline constexpr bool is_kept = !std::is_same_v<T, string_element>;
}  // namespace diagnose

/// How a variable begins.
enum class initializer_kind : std::uint8_t {
  zeros,
  ones,
  constant,          ///< `number`
  uniform,           ///< from `number` to `second`
  normal,            ///< mean `number`, standard deviation `second`
  truncated_normal,  ///< the same, redrawn beyond two standard deviations
  glorot_uniform,    ///< Glorot and Bengio 2010: uniform within sqrt(6 / (fan_in + fan_out))
  glorot_normal,     ///< truncated normal, variance 2 / (fan_in + fan_out)
  he_uniform,        ///< He et al. 2015: uniform within sqrt(6 / fan_in)
  he_normal,         ///< truncated normal, variance 2 / fan_in
  data,              ///< `bytes`
  derived,           ///< slots of optimizers: filled with the number in an attribute
};

/// An initializer without parameters, known to the compiler.
template <initializer_kind Kind>
struct static_initializer {
  static constexpr initializer_kind kind = Kind;
};

/// An initializer with parameters, carried by the handle of the variable.
struct carried_initializer {
  carried_value value;
};

/// Marks a variable that optimizers leave alone.
struct not_trainable_tag {};
/// Behind an initializer: `variable<"moving", float, 3>(zeros, not_trainable)`, which optimizers leave alone.
inline constexpr not_trainable_tag not_trainable{};

namespace op {
/// A tensor that lives in the session. Attribute 0 is the kind of its initializer, 1 tells whether it is trainable,
/// 2 holds the number of a `derived` initializer.
struct variable {
  static constexpr const char* name = "variable";
  static constexpr ir::op_kind kind = ir::op_kind::variable;
  static constexpr void takes(auto& t) {
    t.inputs(0), t.given(), t.rule("TAGMA-E156");
    t.needs(t.out().type != dtype::none && t.out().type != dtype::string, "has elements that a session owns");
    t.rule("TAGMA-E003"), t.needs(t.out().dims.is_known(), "every extent is static"), t.rule("");
    const extent initializer = t.attribute("initializer", 0, 255);
    t.needs(initializer <= 11 || initializer >= 253, "begins in a way that is not known");
    t.flag("trainable"), t.number("number");
  }
  static constexpr const char* infer(ir::infer_args&) { return "variable: its type is given, not inferred"; }
};
}  // namespace op

namespace detail {

/// The kind that marks an initializer whose description is carried.
inline constexpr ir::attribute carried_kind = 255;
/// The kind that marks a variable that begins with the value of a literal.
inline constexpr ir::attribute literal_kind = 254;
/// The kind that marks a variable that begins without a value.
inline constexpr ir::attribute preloaded_kind = 253;

/// The stream of random numbers that a variable begins with.
[[nodiscard]] constexpr std::uint32_t stream_of(std::string_view name, std::string_view suffix) {
  return static_cast<std::uint32_t>(hash_combine(hash_text(name), hash_text(suffix)));
}

template <fixed_string Name, class Spec, ir::attribute Kind, bool Trainable>
struct variable_definition {
  static constexpr std::uint64_t hash =
      hash_combine(hash_of("variable", Name.view(), Spec::value), static_cast<std::uint64_t>(2 * Kind + Trainable));
  static constexpr auto attributes = ir::pack_attributes(Kind, Trainable, 0);
  static constexpr bool valued = Kind == carried_kind;
  static constexpr ir::record value{
      ir::rules_for<op::variable, Spec>, hash, Spec::value, {}, {}, attributes.list(), Name.view(), valued, valued};
};

template <fixed_string Name, class Spec, ir::attribute Kind, bool Trainable, class Values>
[[nodiscard]] constexpr auto make_variable(Values&& values) {
  using definition = variable_definition<Name, Spec, Kind, Trainable>;
  using id = typename binding<structural_id<definition::hash>, definition>::id;
  return expr<Spec, id, !std::is_same_v<std::remove_cvref_t<Values>, no_values>>{std::forward<Values>(values)};
}

template <fixed_string Name, class Spec, bool Trainable>
[[nodiscard]] auto make_carried_variable(const carried_value& value) {
  return make_variable<Name, Spec, carried_kind, Trainable>(carried(value));
}

[[nodiscard]] carried_value number_value(double number);

template <class T>
[[nodiscard]] carried_value data_value(array_view<const T> data, const shape& dims, const shape& expected) {
  if (!(dims == expected))
    fail(status_code::invalid_argument,
         {"variable: its initial value has shape ", to_string(dims), ", not ", to_string(expected)});
  carried_value v;
  v.integer = static_cast<std::int64_t>(initializer_kind::data);
  const std::size_t bytes = data.size() * sizeof(T);
  v.bytes = shared_bytes(bytes);
  if (bytes > 0) std::memcpy(v.bytes.data(), data.data(), bytes);
  v.dims = dims;
  return v;
}

template <class T>
inline constexpr bool is_static_initializer = false;
template <initializer_kind Kind>
inline constexpr bool is_static_initializer<static_initializer<Kind>> = true;
template <class Initial, class T>
concept tensor_for = requires(const Initial& initial) {
  array_view<const T>(initial.span());
  shape(initial.dims());
};

}  // namespace detail

namespace diagnose {
/// A variable of this element type can begin with a value of this type.
template <class T, class Initial>
inline constexpr bool is_initial_value =
    detail::is_static_initializer<Initial> || std::is_same_v<Initial, carried_initializer> ||
    std::is_convertible_v<Initial, T> || detail::tensor_for<Initial, T>;
}  // namespace diagnose

namespace detail {

template <fixed_string Name, bool Trainable, class T, extent... Extents, class Initial>
[[nodiscard]] constexpr auto make_any_variable(const Initial& initial) {
  if constexpr (diagnose::is_element_type<T> && diagnose::is_kept<T> && diagnose::is_initial_value<T, Initial> &&
                diagnose::extents_are_static<Extents...> && diagnose::extents_are_valid<Extents...> &&
                diagnose::is_addressable<T, Extents...>) {
    using S = spec<T, Extents...>;
    if constexpr (is_static_initializer<Initial>) {
      return make_variable<Name, S, static_cast<ir::attribute>(Initial::kind), Trainable>(no_values{});
    } else if constexpr (std::is_same_v<Initial, carried_initializer>) {
      return make_carried_variable<Name, S, Trainable>(initial.value);
    } else if constexpr (std::is_convertible_v<Initial, T>) {
      return make_carried_variable<Name, S, Trainable>(number_value(static_cast<double>(static_cast<T>(initial))));
    } else {
      return make_carried_variable<Name, S, Trainable>(
          data_value<T>(initial.span(), initial.dims(), shape{Extents...}));
    }
  }
}

}  // namespace detail

/// What every variable needs.
#define TAGMA_NEEDS_INITIAL(T, Initial, ...)                                                                           \
  TAGMA_NEEDS_TENSOR("variable", T, __VA_ARGS__);                                                                      \
  static_assert(::tagma::diagnose::extents_are_static<__VA_ARGS__>,                                                    \
                "TAGMA-E003 variable: every extent must be static");                                                   \
  static_assert(::tagma::diagnose::is_kept<T>,                                                                         \
                "TAGMA-E156 variable: a string is a view of text that no session owns, so a variable cannot keep it"); \
  static_assert(::tagma::diagnose::is_initial_value<T, Initial>,                                                       \
                "TAGMA-E157 variable: it begins with an initializer, a number, or a tensor of its element type")

/// A variable with a name. Equal name, type and initializer are the same variable; one name with two of these is
/// refused when the graph is compiled (TAGMA-E060), and so is the name of a slot of an optimizer (TAGMA-E161).
/// @tparam Name by TensorFlow's grammar of names (TAGMA-E160)
/// @tparam T a number or bool (TAGMA-E156)
/// @tparam Extents its shape, static
/// @param initial how it begins: an initializer (`zeros`, `glorot_uniform`, `random_uniform(-1, 1)`), a number, or a
/// tensor
template <fixed_string Name, class T, extent... Extents, class Initial>
[[nodiscard]] constexpr auto variable(const Initial& initial) {
  TAGMA_NEEDS_NAME("variable", Name);
  TAGMA_NEEDS_INITIAL(T, Initial, Extents...);
  return detail::make_any_variable<Name, is_floating(dtype_of<T>), T, Extents...>(initial);
}

/// The same, left alone by optimizers.
template <fixed_string Name, class T, extent... Extents, class Initial>
[[nodiscard]] constexpr auto variable(const Initial& initial, not_trainable_tag) {
  TAGMA_NEEDS_NAME("variable", Name);
  TAGMA_NEEDS_INITIAL(T, Initial, Extents...);
  return detail::make_any_variable<Name, false, T, Extents...>(initial);
}

/// With a name that is no template argument: TAGMA-E181.
template <class T = void, extent... Extents, class... Rest>
auto variable(detail::meant_as_name, const Rest&...) {
  TAGMA_NEEDS_SIZES("variable", "<\"name\", float, 10>(tagma::zeros)", T);
}

/// A variable that no session initialises, optimizers leave alone and files leave out: a data set in memory. Its
/// elements are given by `preload`, in the container of the session; a run that needs it before throws
/// FailedPrecondition.
template <fixed_string Name, class T, extent... Extents>
[[nodiscard]] constexpr auto preloaded() {
  TAGMA_NEEDS_NAME("preloaded", Name);
  TAGMA_NEEDS_INITIAL(T, static_initializer<initializer_kind::zeros>, Extents...);
  if constexpr (diagnose::is_element_type<T> && diagnose::is_kept<T> && diagnose::extents_are_static<Extents...> &&
                diagnose::extents_are_valid<Extents...> && diagnose::is_addressable<T, Extents...>)
    return detail::make_variable<Name, spec<T, Extents...>, detail::preloaded_kind, false>(detail::no_values{});
}

}  // namespace tagma

#undef TAGMA_NEEDS_INITIAL

#ifndef TAGMA_COMPILED
#include "tagma/expr/variable.ipp"
#endif
