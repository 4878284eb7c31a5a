// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The safetensors format: named tensors in one file, a JSON header and the raw bytes after it.
/// https://huggingface.co/docs/safetensors

#include <algorithm>
#include <bit>
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

#include "tagma/base/error.hpp"
#include "tagma/base/file.hpp"
#include "tagma/base/json.hpp"
#include "tagma/tensor/dtype.hpp"
#include "tagma/tensor/shape.hpp"
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
  std::string format;
  shape dims;
  const void* data = nullptr;
  std::size_t bytes = 0;
};

/// Free texts beside the tensors.
using metadata = std::map<std::string, std::string, std::less<>>;

/// The longest header that readers accept, in bytes.
inline constexpr std::uint64_t max_header = 100'000'000;

namespace detail {

struct format {
  std::string_view name;
  int bits;
  dtype type;
};

/// In the order in which writers lay tensors out, widest elements first, so that each is aligned.
inline constexpr format formats[] = {
    {"U64", 64, dtype::none},        {"I64", 64, dtype::int64},     {"F64", 64, dtype::float64},
    {"C64", 64, dtype::none},        {"F32", 32, dtype::float32},   {"U32", 32, dtype::none},
    {"I32", 32, dtype::int32},       {"BF16", 16, dtype::bfloat16}, {"F16", 16, dtype::float16},
    {"U16", 16, dtype::none},        {"I16", 16, dtype::int16},     {"F8_E5M2FNUZ", 8, dtype::none},
    {"F8_E4M3FNUZ", 8, dtype::none}, {"F8_E8M0", 8, dtype::none},   {"F8_E4M3", 8, dtype::none},
    {"F8_E5M2", 8, dtype::none},     {"I8", 8, dtype::int8},        {"U8", 8, dtype::uint8},
    {"F6_E3M2", 6, dtype::none},     {"F6_E2M3", 6, dtype::none},   {"F4", 4, dtype::none},
    {"BOOL", 8, dtype::boolean}};

inline const format* format_of(dtype type) {
  for (const format& f : formats)
    if (f.type == type && type != dtype::none) return &f;
  return nullptr;
}
inline const format* format_named(std::string_view name) {
  for (const format& f : formats)
    if (f.name == name) return &f;
  return nullptr;
}

}  // namespace detail

/// Writes the tensors and replaces the file at `path` in one step: after a crash it has the old content or the new. The
/// order in the file is by element type and name. `{"format": "pt"}`, which some loaders insist on, is added to `texts`
/// unless there is another "format". Throws `invalid_argument`, before anything is written, for two equal names, the
/// name "__metadata__", a name that is not UTF-8, a tensor of strings or one of unknown extents; and what
/// `replace_file` throws.
inline void write(const std::string& path, std::span<const named_tensor> tensors, metadata texts = {}) {
  struct item {
    const named_tensor* tensor;
    const detail::format* format;
    std::size_t bytes;
  };
  std::vector<item> items;
  for (const named_tensor& t : tensors) {
    const auto* format = detail::format_of(t.type);
    const auto refuse = [&](std::string_view why) {
      fail(status_code::invalid_argument, path + ": cannot write tensor \"" + t.name + "\": " + std::string(why));
    };
    if (t.name == "__metadata__") refuse("the name is reserved");
    if (format == nullptr) refuse("the format has no elements of type " + std::string(to_string(t.type)));
    const extent elements = count_elements(t.dims, size_of(t.type));
    if (elements < 0) refuse("its shape is " + to_string(t.dims));
    items.push_back({&t, format, static_cast<std::size_t>(elements) * size_of(t.type)});
  }
  std::sort(items.begin(), items.end(), [](const item& a, const item& b) {
    return a.format != b.format ? a.format < b.format : a.tensor->name < b.tensor->name;
  });
  std::vector<std::string_view> names;
  for (const item& i : items) names.push_back(i.tensor->name);
  std::sort(names.begin(), names.end());
  if (const auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end())
    fail(status_code::invalid_argument, path + ": two tensors have the name \"" + std::string(*twice) + "\"");

  texts.try_emplace("format", "pt");
  std::string header = "{\"__metadata__\":{";
  for (const auto& [name, text] : texts) {
    if (header.back() != '{') header += ',';
    json::append_quoted(header, name);
    header += ':';
    json::append_quoted(header, text);
  }
  header += '}';
  std::uint64_t offset = 0;
  for (const item& i : items) {
    header += ',';
    json::append_quoted(header, i.tensor->name);
    header.append(":{\"dtype\":\"").append(i.format->name).append("\",\"shape\":[");
    for (int axis = 0; axis < i.tensor->dims.rank; ++axis) {
      if (axis > 0) header += ',';
      header += std::to_string(i.tensor->dims[axis]);
    }
    header += "],\"data_offsets\":[" + std::to_string(offset) + ',' + std::to_string(offset + i.bytes) + "]}";
    offset += i.bytes;
  }
  header += '}';
  header.append((8 - header.size() % 8) % 8, ' ');
  if (header.size() > max_header)
    fail(status_code::invalid_argument, path + ": the header would have " + std::to_string(header.size()) +
                                            " bytes, readers accept " + std::to_string(max_header));

  const std::uint64_t length = header.size();
  char length_bytes[8];
  std::memcpy(length_bytes, &length, 8);
  std::vector<std::string_view> pieces{{length_bytes, 8}, header};
  for (const item& i : items)
    if (i.bytes > 0) pieces.emplace_back(static_cast<const char*>(i.tensor->data), i.bytes);
  replace_file(path, pieces);
}

/// A file read into memory and checked: the header is well formed, the tensors fill the rest without hole or overlap,
/// each has as many bytes as its shape and element type say, and booleans are 0 or 1.
class file {
 public:
  /// Throws `not_found` if there is no such file, `data_loss` if its content is not what the format demands, and
  /// `invalid_argument` for what the format allows and tagma does not: more than six axes.
  explicit file(const std::string& path) : path_(path) {
    input_file in(path);
    if (in.size() < 8) corrupt("has " + std::to_string(in.size()) + " bytes, fewer than the 8 of the header's length");
    std::uint64_t length = 0;
    in.read(&length, 8);
    if (length > max_header) corrupt("a header of " + std::to_string(length) + " bytes, more than are allowed");
    if (length > in.size() - 8)
      corrupt("a header of " + std::to_string(length) + " bytes in a file of " + std::to_string(in.size()));
    std::string header(static_cast<std::size_t>(length), '\0');
    in.read(header.data(), header.size());
    data_ = tensor<std::uint8_t>(shape{static_cast<extent>(in.size() - 8 - length)});
    in.read(data_.data(), data_.size());
    read_header(header);
  }
  file(const file&) = delete;
  file& operator=(const file&) = delete;
  file(file&&) = default;
  file& operator=(file&&) = default;

  [[nodiscard]] const std::string& path() const { return path_; }
  /// The tensors in the order of their bytes.
  [[nodiscard]] std::span<const stored_tensor> entries() const { return entries_; }
  [[nodiscard]] const safetensors::metadata& metadata() const { return metadata_; }

  /// The tensor of that name, or null.
  [[nodiscard]] const stored_tensor* find(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : &entries_[found->second];
  }

  /// A copy of the tensor of that name. Throws `not_found` if there is none, `invalid_argument` for another element
  /// type.
  template <element T>
    requires(!std::is_same_v<T, string_element>)
  [[nodiscard]] tensor<T> load(std::string_view name) const {
    const stored_tensor* entry = find(name);
    if (entry == nullptr) fail(status_code::not_found, path_ + ": there is no tensor \"" + std::string(name) + "\"");
    if (entry->type != dtype_of<T>)
      fail(status_code::invalid_argument, path_ + ": tensor \"" + entry->name + "\" has elements of type " +
                                              entry->format + ", expected " + std::string(to_string(dtype_of<T>)));
    tensor<T> result(entry->dims);
    if (entry->bytes > 0) std::memcpy(static_cast<void*>(result.data()), entry->data, entry->bytes);
    return result;
  }

 private:
  struct range {
    std::uint64_t begin, end;
    std::size_t entry;
  };

  [[noreturn]] TAGMA_COLD void corrupt(const std::string& how) const {
    fail(status_code::data_loss, path_ + ": not a sound safetensors file: " + how);
  }
  [[noreturn]] TAGMA_COLD void corrupt(const std::string& name, const std::string& how) const {
    corrupt("tensor \"" + name + "\": " + how);
  }

  void read_header(std::string_view header) {
    if (!header.starts_with('{')) corrupt("the header does not begin with '{'");
    const json::parsed parsed = json::try_parse(header, {.bytes = max_header});
    if (!parsed) corrupt("header, byte " + std::to_string(parsed.position) + ": " + parsed.reason);
    std::vector<range> ranges;
    for (const auto& [name, content] : parsed.root.as_object()) {
      if (name == "__metadata__")
        read_metadata(content);
      else
        ranges.push_back(read_entry(name, content));
    }
    place(ranges);
  }

  void read_metadata(const json::value& content) {
    if (!content.is_object()) corrupt("__metadata__ is " + std::string(content.kind()) + ", not an object");
    for (const auto& [name, text] : content.as_object()) {
      if (!text.is_string())
        corrupt("__metadata__: \"" + name + "\" is " + std::string(text.kind()) + ", not a string");
      metadata_.emplace(name, text.as_string());
    }
  }

  range read_entry(const std::string& name, const json::value& content) {
    const auto *type = content.find("dtype"), *dims = content.find("shape"), *offsets = content.find("data_offsets");
    if (type == nullptr || !type->is_string()) corrupt(name, "no string \"dtype\"");
    if (dims == nullptr || !is_numbers(*dims)) corrupt(name, "no \"shape\" of integers that are not negative");
    if (offsets == nullptr || !is_numbers(*offsets) || offsets->as_array().size() != 2)
      corrupt(name, "no \"data_offsets\" of two integers that are not negative");
    const auto* format = detail::format_named(type->as_string());
    if (format == nullptr) corrupt(name, "the unknown element type \"" + type->as_string() + "\"");

    stored_tensor entry{name, format->type, std::string(format->name), {}, nullptr, 0};
    if (dims->as_array().size() > static_cast<std::size_t>(max_rank))
      fail(status_code::invalid_argument, path_ + ": tensor \"" + name + "\" has " +
                                              std::to_string(dims->as_array().size()) + " axes, tagma knows at most " +
                                              std::to_string(max_rank));
    for (const json::value& e : dims->as_array()) entry.dims.push_back(e.as_integer());

    const range where{static_cast<std::uint64_t>(offsets->as_array()[0].as_integer()),
                      static_cast<std::uint64_t>(offsets->as_array()[1].as_integer()), entries_.size()};
    if (where.end < where.begin) corrupt(name, "it ends before it begins");
    const extent elements = count_elements(entry.dims, 64);
    const auto bits = static_cast<std::uint64_t>(elements) * static_cast<std::uint64_t>(format->bits);
    if (elements < 0 || bits % 8 != 0 || bits / 8 != where.end - where.begin)
      corrupt(name,
              std::to_string(where.end - where.begin) + " bytes for " + entry.format + " " + to_string(entry.dims));
    entry.bytes = static_cast<std::size_t>(where.end - where.begin);
    entries_.push_back(std::move(entry));
    return where;
  }

  static bool is_numbers(const json::value& list) {
    if (!list.is_array()) return false;
    for (const json::value& e : list.as_array())
      if (!e.is_integer() || e.as_integer() < 0) return false;
    return true;
  }

  void place(std::vector<range>& ranges) {
    std::sort(ranges.begin(), ranges.end(), [](const range& a, const range& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end != b.end ? a.end < b.end : a.entry < b.entry;
    });
    std::vector<stored_tensor> ordered;
    std::uint64_t end = 0;
    for (const range& r : ranges) {
      stored_tensor& entry = entries_[r.entry];
      if (r.begin != end)
        corrupt(entry.name,
                "it begins at byte " + std::to_string(r.begin) + ", the one before it ends at " + std::to_string(end));
      end = r.end;
      ordered.push_back(std::move(entry));
    }
    if (end != data_.size())
      corrupt("the tensors end at byte " + std::to_string(end) + ", the file at " + std::to_string(data_.size()));
    entries_ = std::move(ordered);
    for (std::size_t i = 0, at = 0; i < entries_.size(); at += entries_[i++].bytes) {
      stored_tensor& entry = entries_[i];
      entry.data = data_.data() + at;
      by_name_.emplace(entry.name, i);
      if (entry.type != dtype::boolean) continue;
      for (std::size_t j = 0; j < entry.bytes; ++j)
        if (data_[static_cast<extent>(at + j)] > 1)
          corrupt(entry.name, "element " + std::to_string(j) + " is neither 0 nor 1");
    }
  }

  std::string path_;
  tensor<std::uint8_t> data_;
  std::vector<stored_tensor> entries_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
  safetensors::metadata metadata_;
};

}  // namespace tagma::safetensors
