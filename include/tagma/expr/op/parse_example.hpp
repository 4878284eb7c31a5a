// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// tf.train.Example as tensors.

#include <tuple>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/expr/expression.hpp"
#include "tagma/expr/literal.hpp"
#include "tagma/expr/op/records.hpp"
#include "tagma/expr/rules.hpp"
#include "tagma/ir/queue.hpp"

namespace tagma {

namespace ir {

/// A feature in the attributes of `parse_example`: of each the operand that fills it where it is missing (0: it is
/// required), its type and shape as those of a component of a queue, how long its name is, and the name, eight
/// characters a word.
struct example_feature {
  attribute given = 0;
  tensor_spec spec;
  std::size_t name_size = 0;
  attribute_list name_words;

  /// The name.
  template <class String>
  void append_name(String& to) const {
    for (std::size_t i = 0; i < name_size; ++i)
      to += static_cast<char>(static_cast<std::uint64_t>(name_words[i / 8]) >> 8 * (i % 8));
  }
};
/// Feature `i` of such attributes; of type `none` if there are fewer.
[[nodiscard]] constexpr example_feature example_feature_of(attribute_list a, int i) {
  std::size_t at = 0;
  while (at < a.size()) {
    example_feature f;
    f.given = a[at];
    f.spec = queue_component(a.subspan(at + 1, queue_component_words), 0);
    f.name_size = static_cast<std::size_t>(a[at + 1 + queue_component_words]);
    const std::size_t words = (f.name_size + 7) / 8, first = at + 2 + queue_component_words;
    f.name_words = a.subspan(first, words);
    if (i-- == 0) return f;
    at = first + words;
  }
  return {};
}

/// Takes the words of a feature behind its first one. Returns its type and shape.
[[nodiscard]] constexpr tensor_spec take_feature(auto& t) {
  const attribute_list words = t.rest_of_attributes();
  take_component(t);
  const tensor_spec one = t.fine() ? queue_component(words, 0) : tensor_spec{};
  t.needs(one.type == dtype::float32 || one.type == dtype::int64 || one.type == dtype::string,
          "features are float, int64 or strings");
  t.needs(one.dims.is_static() || one.dims.rank == 1, "only a shape of one axis is open");
  const extent size = t.attribute("length of a name", 0, extent{8} * (t.rest() > 1 ? t.rest() - 1 : 0));
  for (extent i = 0; t.fine() && i < size; i += 8) t.attribute("name", INT64_MIN, INT64_MAX);
  return one;
}

}  // namespace ir

namespace op {

/// Features of the messages in input 0; the other inputs fill those that are missing, and behind the last of them that
/// is used there may be keys of the messages. Attributes are those of `ir::example_feature_of`.
struct parse_example {
  static constexpr const char* name = "parse_example";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr bool stops_gradient = true;
  static constexpr int outputs = ir::most_outputs;
  static constexpr void takes(auto& t) { takes_features(t, false); }
  static constexpr void takes_features(auto& t, bool open) {
    t.inputs(1, 2 + ir::most_outputs), t.rule("TAGMA-E257");
    t.needs(t.in(0).type == dtype::string, "takes messages, which are strings");
    bool any_open = false;
    int features = 0, operands = 1;
    for (; t.fine() && t.rest() > 0 && features < ir::most_outputs; ++features) {
      t.rule("TAGMA-E256");
      const auto given = static_cast<int>(t.attribute("value", 0, t.count() - 1));
      const tensor_spec one = ir::take_feature(t);
      t.needs(one.dims.is_static() || given == 0, "only a required feature has an open axis");
      if (given > 0) t.needs(t.in(given) == tensor_spec{one.type, {}}, "a value has the type of its feature");
      t.rule("TAGMA-E257"), t.needs(t.rank(0) + one.dims.rank <= max_rank, "there would be more than six axes");
      any_open = any_open || !one.dims.is_static();
      operands = given < operands ? operands : given + 1;
    }
    ir::take_keys(t, operands);
    t.needs(features > 0, "there is no feature");
    t.needs(any_open == open, open ? "no feature has an open axis" : "a feature has an open axis");
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    const ir::example_feature f = ir::example_feature_of(a.attributes, a.output);
    a.out = {dtype::int64, {}};  // where there are fewer
    if (f.spec.type == dtype::none) return nullptr;
    a.out = {f.spec.type, a.in[0].dims};
    for (const extent e : f.spec.dims.span()) a.out.dims.push_back(e);
    return nullptr;
  }
};
/// Of features with any number of values.
struct parse_example_open : parse_example {
  static constexpr const char* name = "parse_example_open";
  static constexpr void takes(auto& t) { takes_features(t, true); }
  static constexpr bool late = true;
};

}  // namespace op

/// A feature by its name: of each message as many values as the shape has elements; an extent `dyn`, which only a shape
/// of one axis may have, stands for any number of them, which are padded at their ends with zeros or empty texts to the
/// most.
/// With `.otherwise(value)` it may be missing: then all its elements are that number or scalar expression.
template <fixed_string Name, class Spec, class Value>
struct optional_feature {
  static constexpr auto name = Name;
  using spec_type = Spec;
  using value_type = Value;
  Value value;
};
/// A feature that every example has; `otherwise(value)` makes it one that may be missing.
template <fixed_string Name, class Spec>
struct required_feature {
  static constexpr auto name = Name;
  using spec_type = Spec;
  using value_type = void;
  /// The same feature, which may be missing and is then `value`.
  template <class Value>
  [[nodiscard]] constexpr auto otherwise(const Value& value) const {
    return optional_feature<Name, Spec, Value>{value};
  }
};
/// In `parse_example`: the feature of this name, of type `T` and with these extents, which every example has.
template <fixed_string Name, class T, extent... Extents>
inline constexpr required_feature<Name, spec<T, Extents...>> feature{};

namespace detail {

template <class F>
concept named_feature = requires {
  typename F::spec_type;
  typename F::value_type;
  F::name.view();
};
template <class F>
[[nodiscard]] constexpr std::size_t words_of_feature() {
  return 2 + ir::queue_component_words + (F::name.view().size() + 7) / 8;
}
/// Writes what `ir::example_feature_of` reads.
template <class F>
constexpr void write_feature(ir::attribute*& to, ir::attribute given) {
  *to++ = given;
  ir::write_components<typename F::spec_type>(to);
  to += ir::queue_component_words;
  const std::string_view name = F::name.view();
  *to++ = static_cast<ir::attribute>(name.size());
  for (std::size_t i = 0; i < name.size(); i += 8) {
    std::uint64_t word = 0;
    for (std::size_t c = 0; c < 8 && i + c < name.size(); ++c)
      word |= std::uint64_t{static_cast<unsigned char>(name[i + c])} << 8 * c;
    *to++ = static_cast<ir::attribute>(word);
  }
}
template <class... F>
struct example_attributes {
  static constexpr auto value = [] {
    ir::attributes<(std::size_t{0} + ... + words_of_feature<F>())> a;
    ir::attribute *to = a.values, next = 1;
    (write_feature<F>(to, std::is_void_v<typename F::value_type> ? 0 : next++), ...);
    return a;
  }();
};

template <class Place, int Index, class F>
[[nodiscard]] constexpr auto feature_operand(const F& f) {
  if constexpr (std::is_void_v<typename F::value_type>)
    return std::tuple<>();
  else
    return std::tuple(as_expression<typename F::spec_type::element_type, Place, Index>(f.value));
}
template <class Op, auto Attributes, class Place, class E, class... F, int... I>
[[nodiscard]] constexpr auto make_features(const E& messages, std::integer_sequence<int, I...>, const F&... f) {
  using of = records_of<E>;
  const auto all = std::apply(
      [&](const auto&... operands) { return make_operation<Op, Attributes, Place>(of::texts(messages), operands...); },
      std::tuple_cat(feature_operand<Place, I>(f)..., of::keys(messages)));
  if constexpr (sizeof...(F) == 1)
    return std::get<0>(all);
  else
    return std::tuple(std::get<I>(all)...);
}

}  // namespace detail

namespace diagnose {
/// A type that features have, of a shape that is static or one open axis, with a value of that type for missing ones.
template <class F>
inline constexpr bool is_feature = false;
template <detail::named_feature F>
inline constexpr bool is_feature<F> = [] {
  using T = typename F::spec_type::element_type;
  using V = typename F::value_type;
  constexpr shape dims = F::spec_type::value.dims;
  bool fine = std::is_same_v<T, float> || std::is_same_v<T, std::int64_t> || std::is_same_v<T, string_element>;
  fine = fine && (dims.is_static() || (dims.rank == 1 && std::is_void_v<V>));
  if constexpr (expression<V>)
    fine = fine && std::is_same_v<typename V::element_type, T> && V::spec_type::value.dims.rank == 0;
  else if constexpr (!std::is_void_v<V>)
    fine = fine && !std::is_same_v<T, string_element> && std::is_convertible_v<V, T> &&
           !(std::is_floating_point_v<V> && std::is_integral_v<T>);
  return fine;
}();
template <class... F>
inline constexpr bool are_features = (true && ... && is_feature<F>);
/// Messages are texts, and their axes and those of a feature are six at most.
template <class Messages, class... F>
inline constexpr bool have_features =
    are_records<Messages> && sizeof...(F) > 0 && sizeof...(F) <= ir::most_outputs &&
    (true && ... &&
     (detail::records_of<Messages>::spec_type::value.dims.rank + F::spec_type::value.dims.rank <= max_rank));
}  // namespace diagnose

/// Features of messages of tf.train.Example:
///
///     auto [image, label, tags] =
///         tg::parse_example(message, tg::feature<"image", float, 28, 28>, tg::feature<"label",
///         std::int64_t>.otherwise(-1),
///                           tg::feature<"tags", std::string_view, tg::dyn>);
///
/// @param messages strings of any shape; or a tuple of their keys and these, as `read` gives it
/// @param f one to eight features of float, int64 or strings
/// @return a tuple of tensors of the shape of the messages and, behind it, that of the feature; of one feature just
/// that
/// Throws DataLoss for a message that is none, InvalidArgument that names the message, by its key or counted from 0,
/// and the feature that is missing, of another kind or of another length. Raises TAGMA-E256 and TAGMA-E257.
template <detail::records E, class... F, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto parse_example(const E& messages, const F&... f) {
  static_assert(diagnose::are_features<F...>,
                "TAGMA-E256 parse_example: a feature is tagma::feature<\"name\", T, extents...> of float, int64 or "
                "strings, static or [dyn], and .otherwise(...) of its type where it may be missing");
  if constexpr (diagnose::are_features<F...>) {
    static_assert(
        diagnose::have_features<E, F...>,
        "TAGMA-E257 parse_example: takes messages, which are strings, their keys of the same shape, if any, and one to "
        "eight features, with six axes at most together");
    if constexpr (diagnose::have_features<E, F...>) {
      constexpr bool open = !(true && ... && F::spec_type::value.dims.is_static());
      using tag = std::conditional_t<open, op::parse_example_open, op::parse_example>;
      return detail::make_features<tag, detail::example_attributes<F...>::value, Place>(
          messages, std::make_integer_sequence<int, static_cast<int>(sizeof...(F))>{}, f...);
    }
  }
}

}  // namespace tagma
