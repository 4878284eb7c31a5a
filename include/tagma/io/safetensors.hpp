// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The safetensors format: named tensors in one file, a JSON header and the raw bytes after it.
/// https://huggingface.co/docs/safetensors

#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/base/file.hpp"
#include "tagma/base/json.hpp"
#include "tagma/base/replace_file.hpp"
#include "tagma/tensor/dtype.hpp"
#include "tagma/tensor/shape.hpp"
#include "tagma/tensor/size.hpp"
#include "tagma/tensor/tensor.hpp"
#include "tagma/tensor/view.hpp"

namespace tagma::safetensors {

static_assert(std::endian::native == std::endian::little, "tagma writes tensors as they lie in memory: little-endian");

/// A tensor to be written: where its elements lie, row by row.
struct named_tensor {
  std::string name;
  dtype type = dtype::none;
  shape dims;
  const void* data = nullptr;
};

/// A tensor in a file. `data` points at `bytes` bytes that the `file` owns, which other writers need not have aligned
/// to the size of an element. `type` is `dtype::none` for the element types that only others know, such as "U16";
/// `format` has the name.
struct stored_tensor {
  std::string name;
  dtype type = dtype::none;
  std::string_view format{};
  shape dims;
  const void* data = nullptr;
  std::size_t bytes = 0;
};

/// Free texts beside the tensors.
using metadata = std::map<std::string, std::string, std::less<>>;

/// The longest header that readers accept, in bytes.
inline constexpr std::uint64_t max_header = 100'000'000;
/// How many texts beside the tensors tagma reads.
inline constexpr std::size_t max_texts = 65'536;

namespace detail {

struct format {
  std::string_view name;
  int bits;
  dtype type;

  constexpr format(const char* own_name, int own_bits) : name(own_name), bits(own_bits), type(dtype::none) {
    for (std::size_t i = 1; i < tagma::detail::dtype_count; ++i)
      if (name == tagma::detail::facts_of_types.of[i].code) type = static_cast<dtype>(i);
  }
};

/// In the order in which writers lay tensors out, widest elements first, so that each is aligned.
inline constexpr format formats[] = {
    {"U64", 64},        {"I64", 64},    {"F64", 64},    {"C64", 64},    {"F32", 32}, {"U32", 32},
    {"I32", 32},        {"BF16", 16},   {"F16", 16},    {"U16", 16},    {"I16", 16}, {"F8_E5M2FNUZ", 8},
    {"F8_E4M3FNUZ", 8}, {"F8_E8M0", 8}, {"F8_E4M3", 8}, {"F8_E5M2", 8}, {"I8", 8},   {"U8", 8},
    {"F6_E3M2", 6},     {"F6_E2M3", 6}, {"F4", 4},      {"BOOL", 8}};

const format* format_of(dtype type);
const format* format_named(std::string_view name);

/// A file in pieces: the length of the header and the header, then the bytes of one tensor after the other.
struct encoded {
  std::string begin;
  std::vector<std::string_view> tensors;
};

/// What `write` writes. `path` names the file in errors.
[[nodiscard]] encoded encode(const std::string& path, std::span<const named_tensor> tensors, metadata texts);

}  // namespace detail

/// Writes the tensors and replaces the file at `path` in one step: after a crash it has the old content or the new. The
/// order in the file is by element type and name. `{"format": "pt"}`, which some loaders insist on, is added to `texts`
/// unless there is another "format". Throws `invalid_argument`, before anything is written, for two equal names, the
/// name "__metadata__", a name or text that is not UTF-8, more than `max_texts` texts, a tensor of strings or one of
/// unknown extents; and what `replace_file` throws.
void write(const std::string& path, std::span<const named_tensor> tensors, metadata texts = {});

/// A file read into memory and checked: the header is well formed, the tensors fill the rest without hole or overlap,
/// each has as many bytes as its shape and element type say, and booleans are 0 or 1. Beside the bytes of the file that
/// takes 160 bytes and the name for each tensor, and nothing for what the format has no use for.
class file {
 public:
  /// Throws `not_found` if there is no such file, `data_loss` if its content is not what the format demands, and
  /// `invalid_argument` for what the format allows and tagma does not: more than six axes, more than `max_texts` texts.
  explicit file(const std::string& path);
  file(const file&) = delete;
  file& operator=(const file&) = delete;
  file(file&&) = default;
  file& operator=(file&&) = default;

  /// The path, as it was given.
  [[nodiscard]] const std::string& path() const { return path_; }
  /// The tensors in the order of their bytes.
  [[nodiscard]] std::span<const stored_tensor> entries() const { return entries_; }
  /// The texts that the file has beside tensors.
  [[nodiscard]] const safetensors::metadata& metadata() const { return metadata_; }

  /// The tensor of that name, or null.
  [[nodiscard]] const stored_tensor* find(std::string_view name) const;

  /// A copy of the tensor of that name. Throws `not_found` if there is none, `invalid_argument` for another element
  /// type, `resource_exhausted` for an empty one whose other extents are beyond all bounds.
  template <element T>
    requires(!std::is_same_v<T, string_element>)
  [[nodiscard]] tensor<T> load(std::string_view name) const {
    const stored_tensor* entry = find(name);
    if (entry == nullptr) fail(status_code::not_found, path_ + ": there is no tensor \"" + std::string(name) + "\"");
    if (entry->type != dtype_of<T>)
      fail(status_code::invalid_argument, path_ + ": tensor \"" + entry->name + "\" has elements of type " +
                                              std::string(entry->format) + ", expected " +
                                              std::string(to_string(dtype_of<T>)));
    check_size({entry->type, entry->dims}, path_ + ": tensor \"" + entry->name + "\": ");
    tensor<T> result(entry->dims);
    if (entry->bytes > 0) std::memcpy(static_cast<void*>(result.data()), entry->data, entry->bytes);
    return result;
  }

 private:
  struct range {
    std::uint64_t begin, end;
    std::size_t entry;
  };

  [[noreturn]] void corrupt(const std::string& how) const;
  [[noreturn]] void corrupt(std::string_view name, std::string_view how) const;
  [[noreturn]] void corrupt(const json::reader& at) const;

  /// @param size of the bytes behind the header
  void read_header(std::string_view header, std::uint64_t size);

  void read_metadata(json::reader& in);

  range read_entry(std::string_view name, json::reader& in);

  /// Numbers from 0 to 2^63 - 1.
  template <class Take>
  void read_numbers(json::reader& in, std::string_view name, std::string_view problem, Take take) const {
    if (in.next() != json::kind::array) corrupt(name, problem);
    (void)in.elements([&] {
      std::string_view digits;
      std::int64_t number = -1;
      if (in.next() != json::kind::number || !in.number(digits)) corrupt(name, problem);
      const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
      if (status != std::errc() || end != digits.data() + digits.size() || number < 0) corrupt(name, problem);
      take(static_cast<std::uint64_t>(number));
      return true;
    });
  }

  /// Checks that the tensors fill `size` bytes, and puts them in the order of their bytes.
  void place(std::vector<range>& ranges, std::uint64_t size);

  void find_bytes();

  std::string path_;
  tensor<std::uint8_t> data_;
  std::vector<stored_tensor> entries_;
  std::vector<std::uint32_t> by_name_;  // positions in entries_
  safetensors::metadata metadata_;
};

}  // namespace tagma::safetensors

#ifndef TAGMA_COMPILED
#include "tagma/io/safetensors.ipp"
#endif
