// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Datasets of the records of files. Apart from those of memory, since what reads files takes as long to compile as all
/// stages together.

#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tagma/data/dataset.hpp"
#include "tagma/data/record_sources.hpp"
#include "tagma/io/compression.hpp"
#include "tagma/io/csv.hpp"
#include "tagma/io/csv_reader.hpp"
#include "tagma/io/fixed_length.hpp"
#include "tagma/io/text_lines.hpp"
#include "tagma/io/tf_record.hpp"

namespace tagma::datasets {

// Options that make no sense are refused where a dataset is described. Positions and caches in files belong to the
// options: a dataset of the same files that are read otherwise is another one.

/// The lines of files, without their ends; a byte order mark of UTF-8 at the beginning of a file is none of its text.
/// Throws `invalid_argument` for a negative number of lines to skip.
[[nodiscard]] dataset<std::string> text_lines(std::vector<std::string> files, const io::text_line_options& options = {},
                                              io::compression format = io::compression::none);
/// Records of files that are equally long. Throws `invalid_argument` as `io::fixed_length_record_reader` does.
[[nodiscard]] dataset<std::string> fixed_length_records(std::vector<std::string> files,
                                                        const io::fixed_length_options& options,
                                                        io::compression format = io::compression::none);
/// The records of TFRecord files.
[[nodiscard]] dataset<std::string> tf_record(std::vector<std::string> files,
                                             io::compression format = io::compression::none);

/// How files of comma-separated values are read.
struct csv_file_options {
  io::csv_options fields{};
  std::int64_t skip_header_records = 0;  ///< such as one with the names of the columns
  io::compression format = io::compression::none;
};

namespace detail {
[[nodiscard]] io::csv_reader_options reader_options(const csv_file_options& options);
/// All that the records depend on. Throws `invalid_argument` for options of the reader that make no sense.
[[nodiscard]] std::string csv_text(const csv_file_options& options, const std::vector<io::csv_field>& fields);
}  // namespace detail

/// The records of CSV files as tuples of typed columns; one column as it is. A byte order mark of UTF-8 at the
/// beginning of a file is none of its text. Throws as `io::csv_decoder` and `io::csv_reader` do for their options.
///
///     tg::datasets::csv({"people.csv"}, {.skip_header_records = 1}, tg::io::csv_default(0.0f),
///                       tg::io::csv_required<std::string>());
template <io::csv_type... T>
[[nodiscard]] auto csv(std::vector<std::string> files, const csv_file_options& options, io::csv_column<T>... columns) {
  static_assert(sizeof...(T) > 0);
  const auto open = [reader = detail::reader_options(options), format = options.format](const std::string& path) {
    return io::csv_reader(io::open(path, format), reader);
  };
  using type = typename std::conditional_t<sizeof...(T) == 1, std::tuple_element<0, std::tuple<T...>>,
                                           std::common_type<std::tuple<T...>>>::type;
  using format = detail::csv_format<decltype(open), T...>;
  io::csv_decoder decoder(std::vector<io::csv_field>{io::csv_field(std::move(columns))...}, options.fields);
  std::string text = detail::csv_text(options, decoder.fields());
  return dataset<type>(make_counted<detail::record_source<type, format>>(
      std::move(files), format{open, std::move(text), std::move(decoder)}));
}

}  // namespace tagma::datasets

#ifndef TAGMA_COMPILED
#include "tagma/data/file_datasets.ipp"
#endif
