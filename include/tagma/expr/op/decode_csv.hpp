// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Records of comma-separated values as columns.

#include <tuple>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/expr/expression.hpp"
#include "tagma/expr/literal.hpp"
#include "tagma/expr/op/records.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {

/// A text of up to 15 characters, as a constant.
struct short_text {
  char characters[16]{};

  constexpr short_text() = default;
  template <std::size_t Size>
    requires(Size <= 16)
  constexpr short_text(const char (&text)[Size]) {
    for (std::size_t i = 0; i < Size; ++i) characters[i] = text[i];
  }
};

/// What tells fields of records apart.
struct csv_format {
  char delimiter = ',';
  bool quotes = true;  ///< a field may stand in quotes, in which delimiters, line ends and doubled quotes belong to it
  short_text na_value{};  ///< a field with this text is missing, as an empty one is
};

/// A column whose fields may not be missing.
template <class T>
struct required_column {
  static constexpr extent width = 0;
  using type = T;
};
/// In `decode_csv`: a column of type `T` that may not be missing.
template <class T>
inline constexpr required_column<T> required{};
/// `Count` columns of one type that may not be missing, as one tensor with an axis more.
template <class T, extent Count>
struct required_columns {
  static constexpr extent width = Count;
  using type = T;
};
/// In `decode_csv`: `Count` columns of type `T`, none of them missing, as one tensor with an axis more.
template <class T, extent Count>
inline constexpr required_columns<T, Count> required_row{};

namespace ir {

/// What a result of `decode_csv` is read from.
struct csv_result {
  dtype type = dtype::none;
  extent width = 0;      ///< columns; 0: one, without an axis of its own
  attribute given = -1;  ///< the operand with the value of a missing field; below 0 it is required
};
/// Attributes of `decode_csv`: delimiter, quotes, both halves of the missing text, how many results there are, three
/// words for each, and the columns that are selected, if any.
inline constexpr std::size_t csv_head_words = 5, csv_result_words = 3;
[[nodiscard]] constexpr csv_result csv_result_of(attribute_list a, std::size_t i) {
  const std::size_t at = csv_head_words + csv_result_words * i;
  if (i >= static_cast<std::size_t>(a[4])) return {};
  return {static_cast<dtype>(a[at]), a[at + 1], a[at + 2]};
}
[[nodiscard]] constexpr attribute_list csv_selection_of(attribute_list a) {
  const std::size_t first = csv_head_words + csv_result_words * static_cast<std::size_t>(a[4]);
  return a.subspan(first, a.size() - first);
}

}  // namespace ir

namespace op {

/// Fields of the records in input 0; the other inputs are the values of fields that are missing and, behind the last of
/// them that is used, keys of the records. Attributes are those of `ir::csv_result_of`.
struct decode_csv {
  static constexpr const char* name = "decode_csv";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr bool stops_gradient = true;
  static constexpr void takes(auto& t) {
    constexpr extent most_columns = 1 << 20;
    t.inputs(1, 2 + ir::most_outputs), t.rule("TAGMA-E249"), t.needs(t.in(0).type == dtype::string, "takes texts");
    t.attribute("delimiter", -128, 127), t.flag("quotes");
    for (int half = 0; half < 2; ++half) t.attribute("missing text", INT64_MIN, INT64_MAX);
    t.rule("TAGMA-E250");
    const extent results = t.attribute("results", 1, ir::most_outputs);
    extent columns = 0, operands = 1;
    for (extent i = 0; t.fine() && i < results; ++i) {
      const auto type = static_cast<dtype>(t.attribute("type", 1, static_cast<extent>(dtype::string)));
      t.needs(type == dtype::float32 || type == dtype::float64 || type == dtype::int32 || type == dtype::int64 ||
                  type == dtype::string,
              "fields are float, double, int32, int64 or string");
      const extent width = t.attribute("width", 0, most_columns);
      t.needs(width == 0 || t.rank(0) < max_rank, "columns would be a seventh axis");
      const extent given = t.attribute("value", -1, t.count() - 1);
      t.needs(given != 0 && (given < 0 || width == 0), "a value is an operand behind the records, of one column");
      if (given > 0)
        t.needs(t.in(static_cast<int>(given)) == tensor_spec{type, {}}, "a value has the type of its column");
      columns += width > 0 ? width : 1;
      operands = given < operands ? operands : given + 1;
    }
    t.rule("TAGMA-E249"), ir::take_keys(t, static_cast<int>(operands));
    t.rule("TAGMA-E251"), t.needs(t.rest() == 0 || t.rest() == columns, "columns are as many as the fields");
    for (extent before = -1; t.fine() && t.rest() > 0;) before = t.attribute("column", before + 1, INT32_MAX);
  }
  static constexpr int outputs = ir::most_outputs;
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    const ir::csv_result result = ir::csv_result_of(a.attributes, static_cast<std::size_t>(a.output));
    a.out = {result.type, a.in[0].dims};
    if (result.type == dtype::none) a.out = {dtype::int64, {}};  // there are fewer results
    if (result.width > 0) a.out.dims.push_back(result.width);
    return nullptr;
  }
};

}  // namespace op

namespace detail {

template <class F>
struct csv_field_of {
  using type = F;
  static constexpr extent width = 0;
  static constexpr bool required = false;
};
template <expression E>
struct csv_field_of<E> {
  using type = std::conditional_t<E::spec_type::value.dims.rank == 0, typename E::element_type, void>;
  static constexpr extent width = 0;
  static constexpr bool required = false;
};
template <class F>
  requires(requires { F::width; } && !expression<F>)
struct csv_field_of<F> {
  using type = typename F::type;
  static constexpr extent width = F::width;
  static constexpr bool required = true;
};

template <csv_format Format, class Selected, class... Fields>
struct csv_attributes;
template <csv_format Format, int... Column, class... Fields>
struct csv_attributes<Format, std::integer_sequence<int, Column...>, Fields...> {
  static constexpr auto value = [] {
    ir::attributes<ir::csv_head_words + ir::csv_result_words * sizeof...(Fields) + sizeof...(Column)> a;
    ir::attribute* to = a.values;
    *to++ = Format.delimiter;
    *to++ = Format.quotes;
    for (int half = 0; half < 2; ++half) {
      std::uint64_t word = 0;
      for (int i = 7; i >= 0; --i)
        word = word << 8 | static_cast<unsigned char>(Format.na_value.characters[8 * half + i]);
      *to++ = static_cast<ir::attribute>(word);
    }
    *to++ = sizeof...(Fields);
    ir::attribute next = 1;
    const auto add = [&](dtype type, extent width, bool required) {
      *to++ = static_cast<ir::attribute>(type);
      *to++ = width;
      *to++ = required ? -1 : next++;
    };
    (add(dtype_of<typename csv_field_of<Fields>::type>, csv_field_of<Fields>::width, csv_field_of<Fields>::required),
     ...);
    ((*to++ = Column), ...);
    return a;
  }();
};

/// The operands: values of fields that may be missing.
template <class Place, int Index, class F>
[[nodiscard]] constexpr auto csv_operand(const F& field) {
  if constexpr (csv_field_of<F>::required)
    return std::tuple<>();
  else
    return std::tuple(as_expression<typename csv_field_of<F>::type, Place, Index>(field));
}
template <auto Attributes, class Place, int Count, class R, class... Fields, int... I>
[[nodiscard]] constexpr auto make_csv(const R& records, std::integer_sequence<int, I...>, const Fields&... fields) {
  using of = records_of<R>;
  const auto all = std::apply(
      [&](const auto&... e) { return make_operation<op::decode_csv, Attributes, Place>(of::texts(records), e...); },
      std::tuple_cat(csv_operand<Place, I>(fields)..., of::keys(records)));
  if constexpr (Count == 1)
    return std::get<0>(all);
  else
    return std::tuple(std::get<I>(all)...);
}

}  // namespace detail

namespace diagnose {
/// A field is a number of a type that fields are read as, or `required`.
template <class T>
inline constexpr bool is_csv_type =
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, std::int32_t> ||
    std::is_same_v<T, std::int64_t> || std::is_same_v<T, string_element>;
template <class... Fields>
inline constexpr bool are_csv_fields = sizeof...(Fields) > 0 && sizeof...(Fields) <= ir::most_outputs &&
                                       (true && ... &&
                                        (is_csv_type<typename detail::csv_field_of<Fields>::type> &&
                                         detail::csv_field_of<Fields>::width >= 0));
/// Columns increase from 0, one for each that is read.
template <extent Read, int... Column>
inline constexpr bool are_columns = [] {
  int before = -1;
  bool fine = sizeof...(Column) == 0 || sizeof...(Column) == Read;
  ((fine = fine && Column > before, before = Column), ...);
  return fine;
}();
}  // namespace diagnose

/// Takes records apart into columns.
///
///     auto [age, weights, name] =
///         tg::decode_csv(line, 0.0f, tg::required_row<float, 8>, tg::required<std::string_view>);
///
/// @tparam Format the delimiter, quotes, and the text of a missing field
/// @tparam Column which fields of a record are read, from 0, in increasing order; none: all of them
/// @param records strings of any shape, each one record without its line end; or a tuple of their keys and these, as
/// `read` gives it
/// @param fields of each column `required<T>`, `required_row<T, n>` for n of them, or the value of a missing field: a
/// number or a scalar expression, of a text `text_constant`. T is float, double, int32, int64 or string.
/// @return a tuple of tensors of the shape of the records, of `required_row` with an axis of its own; of one field just
/// that
/// Throws InvalidArgument that names the record, by its key or counted from 0, and the field.
/// Raises TAGMA-E249 to TAGMA-E251.
template <csv_format Format = csv_format{}, int... Column, detail::records R, class... Fields,
          class Place = TAGMA_FRESH_TYPE(R)>
[[nodiscard]] constexpr auto decode_csv(const R& records, const Fields&... fields) {
  constexpr bool sound = diagnose::are_records<R> && diagnose::are_csv_fields<Fields...>;
  static_assert(diagnose::are_records<R>, "TAGMA-E249 decode_csv: records are strings, and keys are of their shape");
  static_assert(diagnose::are_csv_fields<Fields...>,
                "TAGMA-E250 decode_csv: one to eight fields, each tagma::required<T>, required_row<T, n>, or the value "
                "of a missing one: float, double, int32, int64 or string, a text as tagma::text_constant");
  if constexpr (sound) {
    constexpr extent count =
        (extent{0} + ... + (detail::csv_field_of<Fields>::width > 0 ? detail::csv_field_of<Fields>::width : 1));
    static_assert(diagnose::are_columns<count, Column...>,
                  "TAGMA-E251 decode_csv: columns increase from 0, and are as many as the fields");
    if constexpr (diagnose::are_columns<count, Column...>) {
      using attributes = detail::csv_attributes<Format, std::integer_sequence<int, Column...>, Fields...>;
      return detail::make_csv<attributes::value, Place, static_cast<int>(sizeof...(Fields))>(
          records, std::make_integer_sequence<int, static_cast<int>(sizeof...(Fields))>{}, fields...);
    }
  }
}

}  // namespace tagma
