// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// tf.train.SequenceExample as tensors.

#include <tuple>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/expr/expression.hpp"
#include "tagma/expr/op/parse_example.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {

namespace ir {
/// What `example_feature::given` says of a list: it is required, or has no steps where it is missing, or only how many
/// steps it has is asked for.
enum class list_use : attribute { required, may_be_missing, length };
}  // namespace ir

namespace op {

/// Lists of features of the messages in input 0; input 1, if there is one, has their keys. Attributes are those of
/// `ir::example_feature_of`, with `ir::list_use`.
struct parse_feature_lists {
  static constexpr const char* name = "parse_feature_lists";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr bool stops_gradient = true;
  static constexpr int outputs = ir::most_outputs;
  static constexpr bool late = true;
  static constexpr void takes(auto& t) {
    t.inputs(1, 2), t.rule("TAGMA-E281"), t.needs(t.in(0).type == dtype::string, "takes messages, which are strings");
    ir::take_keys(t, 1);
    int lists = 0;
    for (; t.fine() && t.rest() > 0 && lists < ir::most_outputs; ++lists) {
      t.rule("TAGMA-E280");
      const bool length = t.attribute("use", 0, 2) == static_cast<extent>(ir::list_use::length);
      const tensor_spec one = ir::take_feature(t);
      t.needs(!length || one == tensor_spec{dtype::int64, {}}, "the length of a list is int64");
      t.rule("TAGMA-E281");
      t.needs(t.rank(0) + (length ? 0 : 1 + one.dims.rank) <= max_rank, "there would be more than six axes");
    }
    t.needs(lists > 0, "there is no list");
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    const ir::example_feature f = ir::example_feature_of(a.attributes, a.output);
    a.out = {dtype::int64, {}};  // where there are fewer
    if (f.spec.type == dtype::none) return nullptr;
    a.out = {f.spec.type, a.in[0].dims};
    if (static_cast<ir::list_use>(f.given) == ir::list_use::length) return nullptr;
    a.out.dims.push_back(dyn);
    for (const extent e : f.spec.dims.span()) a.out.dims.push_back(e);
    return nullptr;
  }
};

}  // namespace op

/// A list of features by its name: [steps], and behind that the shape of one step. Of several messages, those with
/// fewer steps are padded at their ends with zeros or empty texts to the most. An extent `dyn`, which only a shape of
/// one axis may have, stands for any number of values of each step, which are padded in the same way.
/// A list that is missing is an error; with `.may_be_missing()` it has no steps.
template <fixed_string Name, class Spec, ir::list_use Use>
struct named_list {
  static constexpr auto name = Name;
  using spec_type = Spec;
  static constexpr ir::list_use use = Use;
  /// The same list, which has no steps where it is missing.
  [[nodiscard]] constexpr auto may_be_missing() const {
    return named_list < Name, Spec, Use == ir::list_use::length ? Use : ir::list_use::may_be_missing > {};
  }
};
/// In `parse_sequence_example`: the list of this name, whose steps are of type `T` with these extents.
template <fixed_string Name, class T, extent... Extents>
inline constexpr named_list<Name, spec<T, Extents...>, ir::list_use::required> feature_list{};
/// How many steps a list has, int64; 0 where it is missing.
template <fixed_string Name>
inline constexpr named_list<Name, spec<std::int64_t>, ir::list_use::length> list_length{};

namespace detail {

template <class F>
concept listed = std::is_same_v<std::remove_cv_t<decltype(F::use)>, ir::list_use>;

template <class... F>
struct list_attributes {
  static constexpr auto value = [] {
    ir::attributes<(std::size_t{0} + ... + words_of_feature<F>())> a;
    ir::attribute* to = a.values;
    (write_feature<F>(to, static_cast<ir::attribute>(F::use)), ...);
    return a;
  }();
};

template <class Place, class E, class... F, std::size_t... I>
[[nodiscard]] constexpr auto parse_lists(const E& messages, const std::tuple<F...>&, std::index_sequence<I...>) {
  if constexpr (sizeof...(F) == 0) {
    return std::tuple<>();
  } else {
    using of = records_of<E>;
    const auto all = std::apply(
        [&](const auto&... keys) {
          return make_operation<op::parse_feature_lists, list_attributes<F...>::value, Place>(of::texts(messages),
                                                                                              keys...);
        },
        of::keys(messages));
    return std::tuple(std::get<I>(all)...);
  }
}
template <class Place, class E, class... F>
[[nodiscard]] constexpr auto parse_context(const E& messages, const std::tuple<F...>& features) {
  if constexpr (sizeof...(F) == 0) {
    return std::tuple<>();
  } else {
    constexpr bool open = !(true && ... && F::spec_type::value.dims.is_static());
    using tag = std::conditional_t<open, op::parse_example_open, op::parse_example>;
    const auto all = std::apply(
        [&](const auto&... f) {
          return make_features<tag, example_attributes<F...>::value, Place>(
              messages, std::make_integer_sequence<int, static_cast<int>(sizeof...(F))>{}, f...);
        },
        features);
    if constexpr (sizeof...(F) == 1)
      return std::tuple(all);
    else
      return all;
  }
}
/// Result `I` of a call with these operands, of which lists and others were parsed apart.
template <std::size_t I, class... F, class Lists, class Context>
[[nodiscard]] constexpr auto result_of_list(const Lists& lists, const Context& context) {
  constexpr bool is_list[] = {listed<F>...};
  constexpr std::size_t before = [] {
    constexpr bool kinds[] = {listed<F>...};
    std::size_t n = 0;
    for (std::size_t i = 0; i < I; ++i) n += kinds[i] == kinds[I];
    return n;
  }();
  if constexpr (is_list[I])
    return std::get<before>(lists);
  else
    return std::get<before>(context);
}
template <class F>
[[nodiscard]] constexpr auto one_if_list(const F& f) {
  if constexpr (listed<F>)
    return std::tuple(f);
  else
    return std::tuple<>();
}
template <class F>
[[nodiscard]] constexpr auto one_unless_list(const F& f) {
  if constexpr (listed<F>)
    return std::tuple<>();
  else
    return std::tuple(f);
}
template <class Place, class E, std::size_t... I, class... F>
[[nodiscard]] constexpr auto make_sequences(const E& messages, std::index_sequence<I...>, const F&... f) {
  const auto of_lists = std::tuple_cat(one_if_list(f)...);
  const auto lists = parse_lists<Place>(
      messages, of_lists, std::make_index_sequence<std::tuple_size_v<std::remove_const_t<decltype(of_lists)>>>{});
  const auto context = parse_context<Place>(messages, std::tuple_cat(one_unless_list(f)...));
  if constexpr (sizeof...(F) == 1)
    return result_of_list<0, F...>(lists, context);
  else
    return std::tuple(result_of_list<I, F...>(lists, context)...);
}

}  // namespace detail

namespace diagnose {
/// A list of a type that features have, whose steps are of a shape that is static or one open axis; or a feature.
template <class F>
inline constexpr bool is_of_sequence = is_feature<F>;
template <detail::listed F>
inline constexpr bool is_of_sequence<F> = [] {
  using T = typename F::spec_type::element_type;
  constexpr shape dims = F::spec_type::value.dims;
  return (std::is_same_v<T, float> || std::is_same_v<T, std::int64_t> ||
          std::is_same_v<T, string_element>)&&(dims.is_static() || dims.rank == 1);
}();
template <class... F>
inline constexpr bool are_of_sequence = (true && ... && is_of_sequence<F>);
/// How many lists there are; how many axes a result has behind those of the messages.
template <class... F>
inline constexpr int count_lists = (0 + ... + (detail::listed<F> ? 1 : 0));
template <class F>
inline constexpr int axes_of = F::spec_type::value.dims.rank + (detail::listed<F> ? 1 : 0);
/// Messages are texts, and their axes and those of a result are six at most.
template <class Messages, class... F>
inline constexpr bool have_sequences =
    are_records<Messages> && sizeof...(F) > 0 &&
    count_lists<F...> <= ir::most_outputs&& static_cast<int>(sizeof...(F)) - count_lists<F...> <= ir::most_outputs &&
    (true && ... && (detail::records_of<Messages>::spec_type::value.dims.rank + axes_of<F> <= max_rank));
}  // namespace diagnose

/// Features of the context of messages of tf.train.SequenceExample, and lists of features:
///
///     auto [label, words, pixels, length] =
///         tg::parse_sequence_example(message, tg::feature<"label", std::int64_t>.otherwise(-1),
///                                    tg::feature_list<"words", std::string_view>, tg::feature_list<"pixels", float,
///                                    8>, tg::list_length<"words">);
///
/// @param messages strings of any shape; or a tuple of their keys and these, as `read` gives it
/// @param f in any order up to eight features of the context, as those of `parse_example`, and up to eight lists or
/// lengths of lists, of float, int64 or strings
/// @return a tuple of a tensor for each; of one just that
/// Throws DataLoss for a message that is none, InvalidArgument that names the message, by its key or counted from 0,
/// the feature or list, and the step. Raises TAGMA-E280 and TAGMA-E281.
template <detail::records E, class... F, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto parse_sequence_example(const E& messages, const F&... f) {
  static_assert(diagnose::are_of_sequence<F...>,
                "TAGMA-E280 parse_sequence_example: takes tagma::feature, tagma::feature_list and tagma::list_length, "
                "of float, int64 or strings, static or [dyn]");
  if constexpr (diagnose::are_of_sequence<F...>) {
    static_assert(diagnose::have_sequences<E, F...>,
                  "TAGMA-E281 parse_sequence_example: takes messages, which are strings, their keys of the same shape, "
                  "if any, and up to eight features and eight lists, with six axes at most together");
    if constexpr (diagnose::have_sequences<E, F...>)
      return detail::make_sequences<Place>(messages, std::index_sequence_for<F...>{}, f...);
  }
}

}  // namespace tagma
