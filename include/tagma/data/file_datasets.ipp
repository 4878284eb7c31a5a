// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of file_datasets.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/data/file_datasets.hpp"

namespace tagma::datasets {

TAGMA_DECL dataset<std::string> text_lines(std::vector<std::string> files, const io::text_line_options& options,
                                           io::compression format) {
  const auto open = [options, format](const std::string& path) {
    return io::text_line_reader(io::open(path, format), options);
  };
  using text = detail::text_format<decltype(open)>;
  return dataset<std::string>(make_counted<detail::record_source<std::string, text>>(std::move(files), text{open}));
}

TAGMA_DECL dataset<std::string> fixed_length_records(std::vector<std::string> files,
                                                     const io::fixed_length_options& options, io::compression format) {
  const auto open = [options, format](const std::string& path) {
    return io::fixed_length_record_reader(io::open(path, format), options);
  };
  using text = detail::text_format<decltype(open)>;
  return dataset<std::string>(make_counted<detail::record_source<std::string, text>>(std::move(files), text{open}));
}

TAGMA_DECL dataset<std::string> tf_record(std::vector<std::string> files, io::compression format) {
  const auto open = [format](const std::string& path) { return io::tf_record_reader(io::open(path, format)); };
  using text = detail::text_format<decltype(open)>;
  return dataset<std::string>(make_counted<detail::record_source<std::string, text>>(std::move(files), text{open}));
}

}  // namespace tagma::datasets
