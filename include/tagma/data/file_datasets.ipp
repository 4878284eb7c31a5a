// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of file_datasets.hpp: in the compiled half, or else in each file that includes it.

#include <bit>

#include "tagma/base/config.hpp"
#include "tagma/data/file_datasets.hpp"

namespace tagma::datasets {

namespace detail {

TAGMA_DECL io::csv_reader_options reader_options(const csv_file_options& options) {
  io::csv_reader_options reader;
  reader.delimiter = options.fields.delimiter;
  reader.quotes = options.fields.quotes;
  reader.skip_header_records = options.skip_header_records;
  return reader;
}

TAGMA_DECL std::string csv_text(const csv_file_options& options, const std::vector<io::csv_field>& fields) {
  (void)io::csv_reader(io::memory_source({}), detail::reader_options(options));  // looks at the options
  const io::csv_options& o = options.fields;
  std::string text = "csv";
  append_parts(text, {" compression ", static_cast<int>(options.format), " skip_header_records ",
                      options.skip_header_records, " delimiter ", static_cast<int>(o.delimiter),
                      o.quotes ? " quotes" : " no quotes", " na_value ", o.na_value.size(), ":", o.na_value});
  for (const std::int64_t column : o.columns) append_parts(text, {" column ", column});
  for (const io::csv_field& f : fields) {
    append_parts(text, {" field ", to_string(f.type)});
    if (!f.required)
      append_parts(text,
                   {" default ", std::bit_cast<std::int64_t>(f.number), " ", f.whole, " ", f.text.size(), ":", f.text});
  }
  return text;
}

}  // namespace detail

TAGMA_DECL dataset<std::string> text_lines(std::vector<std::string> files, const io::text_line_options& options,
                                           io::compression format) {
  (void)io::text_line_reader(io::memory_source({}), options);  // looks at the options
  const auto open = [options, format](const std::string& path) {
    return io::text_line_reader(io::open(path, format), options);
  };
  using text = detail::text_format<decltype(open)>;
  return dataset<std::string>(make_counted<detail::record_source<std::string, text>>(
      std::move(files), text{open, sentence({"text_lines compression ", static_cast<int>(format), " skip_header_lines ",
                                             options.skip_header_lines})}));
}

TAGMA_DECL dataset<std::string> fixed_length_records(std::vector<std::string> files,
                                                     const io::fixed_length_options& options, io::compression format) {
  (void)io::fixed_length_record_reader(io::memory_source({}), options);
  const auto open = [options, format](const std::string& path) {
    return io::fixed_length_record_reader(io::open(path, format), options);
  };
  using text = detail::text_format<decltype(open)>;
  return dataset<std::string>(make_counted<detail::record_source<std::string, text>>(
      std::move(files), text{open, sentence({"fixed_length_records compression ", static_cast<int>(format), " record ",
                                             options.record_bytes, " header ", options.header_bytes, " footer ",
                                             options.footer_bytes, " hop ", options.hop_bytes})}));
}

TAGMA_DECL dataset<std::string> tf_record(std::vector<std::string> files, io::compression format) {
  const auto open = [format](const std::string& path) { return io::tf_record_reader(io::open(path, format)); };
  using text = detail::text_format<decltype(open)>;
  return dataset<std::string>(make_counted<detail::record_source<std::string, text>>(
      std::move(files), text{open, sentence({"tf_record compression ", static_cast<int>(format)})}));
}

}  // namespace tagma::datasets
