// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The index of tensors that are in several safetensors files of one directory, as `model.safetensors.index.json` is.
/// https://huggingface.co/docs/safetensors

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "tagma/base/config.hpp"
#include "tagma/io/safetensors.hpp"

namespace tagma::safetensors {

/// Which file has which tensor.
struct index {
  std::map<std::string, std::string, std::less<>> files{};  ///< names of files beside the index, by tensors
  metadata texts{};                                         ///< free texts; "total_size" is not among them
  std::uint64_t total_size = 0;                             ///< bytes of all tensors
};

/// The longest index that is read, in bytes.
inline constexpr std::uint64_t max_index = 100'000'000;

/// Whether a name is one of a file in a directory, and of nothing else: of at most 255 bytes, without a separator, a
/// zero or a dot in front.
[[nodiscard]] bool is_file_name(std::string_view name);

/// The text of an index. Throws InvalidArgument for what is not UTF-8, and for names that are none of files.
[[nodiscard]] std::string to_json(const index& of);
/// Reads an index. Members that nobody knows are passed over, and texts that are no strings. Throws DataLoss for what
/// is no index, or names files elsewhere.
/// @param path names it in errors
[[nodiscard]] index index_from_json(std::string_view text, std::string_view path);
/// Reads the index of a file, as `index_from_json` its text. Throws NotFound if there is none.
[[nodiscard]] index read_index(const std::string& path);

}  // namespace tagma::safetensors

#ifndef TAGMA_COMPILED
#include "tagma/io/safetensors_index.ipp"
#endif
