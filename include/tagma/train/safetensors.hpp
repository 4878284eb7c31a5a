// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The safetensors format: named tensors in one file, a JSON header and the raw bytes after it.
/// https://huggingface.co/docs/safetensors

#include <algorithm>
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

/// A file in pieces: the length of the header and the header, then the bytes of one tensor after the other.
struct encoded {
  std::string begin;
  std::vector<std::string_view> tensors;
};

/// What `write` writes. `path` names the file in errors.
[[nodiscard]] inline encoded encode(const std::string& path, std::span<const named_tensor> tensors, metadata texts) {
  struct item {
    const named_tensor* tensor;
    const format* how;
    std::size_t bytes;
  };
  std::vector<item> items;
  for (const named_tensor& t : tensors) {
    const format* const how = format_of(t.type);
    const auto refuse = [&](std::string_view why) {
      fail(status_code::invalid_argument, path + ": cannot write tensor \"" + t.name + "\": " + std::string(why));
    };
    if (t.name == "__metadata__") refuse("the name is reserved");
    if (!json::is_utf8(t.name)) refuse("its name is not UTF-8");
    if (how == nullptr) refuse("the format has no elements of type " + std::string(to_string(t.type)));
    const extent elements = count_elements(t.dims, size_of(t.type));
    if (elements < 0) refuse("its shape is " + to_string(t.dims));
    items.push_back({&t, how, static_cast<std::size_t>(elements) * size_of(t.type)});
  }
  std::sort(items.begin(), items.end(), [](const item& a, const item& b) {
    return a.how != b.how ? a.how < b.how : a.tensor->name < b.tensor->name;
  });
  std::vector<std::string_view> names;
  for (const item& i : items) names.push_back(i.tensor->name);
  std::sort(names.begin(), names.end());
  if (const auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end())
    fail(status_code::invalid_argument, path + ": two tensors have the name \"" + std::string(*twice) + "\"");

  texts.try_emplace("format", "pt");
  if (texts.size() > max_texts)
    fail(status_code::invalid_argument,
         {path, ": ", texts.size(), " texts are more than the ", max_texts, " that tagma reads"});
  encoded file{std::string(8, '\0') + "{\"__metadata__\":{", {}};
  std::string& header = file.begin;
  for (const auto& [name, text] : texts) {
    if (!json::is_utf8(name) || !json::is_utf8(text))
      fail(status_code::invalid_argument, {path, ": the text \"", name, "\" is not UTF-8"});
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
    header.append(":{\"dtype\":\"").append(i.how->name).append("\",\"shape\":[");
    for (int axis = 0; axis < i.tensor->dims.rank; ++axis) {
      if (axis > 0) header += ',';
      header += std::to_string(i.tensor->dims[axis]);
    }
    header += "],\"data_offsets\":[" + std::to_string(offset) + ',' + std::to_string(offset + i.bytes) + "]}";
    offset += i.bytes;
  }
  header += '}';
  header.append((8 - header.size() % 8) % 8, ' ');
  const std::uint64_t length = header.size() - 8;
  if (length > max_header)
    fail(status_code::invalid_argument,
         {path, ": the header would have ", length, " bytes, readers accept ", max_header});
  std::memcpy(header.data(), &length, 8);
  for (const item& i : items)
    if (i.bytes > 0) file.tensors.emplace_back(static_cast<const char*>(i.tensor->data), i.bytes);
  return file;
}

}  // namespace detail

/// Writes the tensors and replaces the file at `path` in one step: after a crash it has the old content or the new. The
/// order in the file is by element type and name. `{"format": "pt"}`, which some loaders insist on, is added to `texts`
/// unless there is another "format". Throws `invalid_argument`, before anything is written, for two equal names, the
/// name "__metadata__", a name or text that is not UTF-8, more than `max_texts` texts, a tensor of strings or one of
/// unknown extents; and what `replace_file` throws.
inline void write(const std::string& path, std::span<const named_tensor> tensors, metadata texts = {}) {
  const detail::encoded file = detail::encode(path, tensors, std::move(texts));
  std::vector<std::string_view> pieces{file.begin};
  pieces.insert(pieces.end(), file.tensors.begin(), file.tensors.end());
  replace_file(path, pieces);
}

/// A file read into memory and checked: the header is well formed, the tensors fill the rest without hole or overlap,
/// each has as many bytes as its shape and element type say, and booleans are 0 or 1. Beside the bytes of the file that
/// takes 160 bytes and the name for each tensor, and nothing for what the format has no use for.
class file {
 public:
  /// Throws `not_found` if there is no such file, `data_loss` if its content is not what the format demands, and
  /// `invalid_argument` for what the format allows and tagma does not: more than six axes, more than `max_texts` texts.
  explicit file(const std::string& path) : path_(path) {
    input_file in(path);
    if (in.size() < 8) corrupt("has " + std::to_string(in.size()) + " bytes, fewer than the 8 of the header's length");
    std::uint64_t length = 0;
    in.read(&length, 8);
    if (length > max_header) corrupt("a header of " + std::to_string(length) + " bytes, more than are allowed");
    if (length > in.size() - 8)
      corrupt("a header of " + std::to_string(length) + " bytes in a file of " + std::to_string(in.size()));
    {
      std::string header(static_cast<std::size_t>(length), '\0');
      in.read(header.data(), header.size());
      read_header(header, in.size() - 8 - length);
    }
    data_ = tensor<std::uint8_t>(shape{static_cast<extent>(in.size() - 8 - length)});
    in.read(data_.data(), data_.size());
    find_bytes();
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
    const auto found = std::lower_bound(by_name_.begin(), by_name_.end(), name,
                                        [&](std::uint32_t i, std::string_view n) { return entries_[i].name < n; });
    return found == by_name_.end() || entries_[*found].name != name ? nullptr : &entries_[*found];
  }

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

  [[noreturn]] TAGMA_COLD void corrupt(const std::string& how) const {
    fail(status_code::data_loss, path_ + ": not a sound safetensors file: " + how);
  }
  [[noreturn]] TAGMA_COLD void corrupt(std::string_view name, std::string_view how) const {
    corrupt(sentence({"tensor \"", name, "\": ", how}));
  }
  [[noreturn]] TAGMA_COLD void corrupt(const json::reader& at) const {
    corrupt(sentence({"header, byte ", at.position(), ": ", at.reason()}));
  }

  /// @param size of the bytes behind the header
  void read_header(std::string_view header, std::uint64_t size) {
    if (!header.starts_with('{')) corrupt("the header does not begin with '{'");
    std::size_t tensors = 0;
    json::reader first(header);  // All of it is checked before any of it is kept.
    const auto count = [&](std::string_view name) {
      if (name != "__metadata__") ++tensors;
      return first.skip();
    };
    if (!first.members(count) || !first.end()) corrupt(first);

    entries_.reserve(tensors);
    std::vector<range> ranges;
    ranges.reserve(tensors);
    json::reader second(header);
    const auto read = [&](std::string_view name) {
      if (name == "__metadata__")
        read_metadata(second);
      else
        ranges.push_back(read_entry(name, second));
      return true;
    };
    (void)second.members(read);
    place(ranges, size);
  }

  void read_metadata(json::reader& in) {
    if (const auto found = in.next(); found != json::kind::object)
      corrupt(sentence({"__metadata__ is ", to_string(found), ", not an object"}));
    std::string text;
    (void)in.members([&](std::string_view name) {
      if (const auto found = in.next(); found != json::kind::string)
        corrupt(sentence({"__metadata__: \"", name, "\" is ", to_string(found), ", not a string"}));
      if (metadata_.size() == max_texts)
        fail(status_code::invalid_argument,
             {path_, ": __metadata__ has more than the ", max_texts, " texts that tagma reads"});
      (void)in.string(text);
      metadata_.emplace(name, text);
      return true;
    });
  }

  range read_entry(std::string_view name, json::reader& in) {
    constexpr std::string_view no_type = "no string \"dtype\"",
                               no_shape = "no \"shape\" of integers that are not negative",
                               no_offsets = "no \"data_offsets\" of two integers that are not negative";
    bool has_type = false, has_shape = false, has_offsets = false;
    stored_tensor entry;
    entry.name = name;
    const detail::format* format = nullptr;
    range where{0, 0, entries_.size()};
    if (in.next() != json::kind::object) corrupt(name, no_type);
    (void)in.members([&](std::string_view member) {
      if (member == "dtype") {
        std::string type;
        if (in.next() != json::kind::string) corrupt(name, no_type);
        (void)in.string(type);
        format = detail::format_named(type);
        if (format == nullptr) corrupt(name, "the unknown element type \"" + type + "\"");
        has_type = true;
      } else if (member == "shape") {
        std::size_t axes = 0;
        read_numbers(in, name, no_shape, [&](std::uint64_t e) {
          if (axes++ < static_cast<std::size_t>(max_rank)) entry.dims.push_back(static_cast<extent>(e));
        });
        if (axes > static_cast<std::size_t>(max_rank))
          fail(status_code::invalid_argument,
               {path_, ": tensor \"", name, "\" has ", axes, " axes, tagma knows at most ", max_rank});
        has_shape = true;
      } else if (member == "data_offsets") {
        std::size_t count = 0;
        read_numbers(in, name, no_offsets,
                     [&](std::uint64_t offset) { (count++ == 0 ? where.begin : where.end) = offset; });
        if (count != 2) corrupt(name, no_offsets);
        has_offsets = true;
      } else {
        return in.skip();
      }
      return true;
    });
    if (!has_type) corrupt(name, no_type);
    if (!has_shape) corrupt(name, no_shape);
    if (!has_offsets) corrupt(name, no_offsets);
    if (where.end < where.begin) corrupt(name, "it ends before it begins");

    entry.type = format->type;
    entry.format = format->name;
    const extent elements = count_elements(entry.dims, 64);
    const auto bits = static_cast<std::uint64_t>(elements) * static_cast<std::uint64_t>(format->bits);
    if (elements < 0 || bits % 8 != 0 || bits / 8 != where.end - where.begin)
      corrupt(name, sentence({where.end - where.begin, " bytes for ", entry.format, " ", to_string(entry.dims)}));
    entry.bytes = static_cast<std::size_t>(where.end - where.begin);
    entries_.push_back(std::move(entry));
    return where;
  }

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
  void place(std::vector<range>& ranges, std::uint64_t size) {
    std::sort(ranges.begin(), ranges.end(), [](const range& a, const range& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end != b.end ? a.end < b.end : a.entry < b.entry;
    });
    std::uint64_t end = 0;
    for (const range& r : ranges) {
      if (r.begin != end)
        corrupt(entries_[r.entry].name, sentence({"it begins at byte ", r.begin, ", the one before it ends at ", end}));
      end = r.end;
    }
    if (end != size) corrupt(sentence({"the tensors end at byte ", end, ", the file at ", size}));
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      std::size_t from = i;
      while (ranges[from].entry != i) {
        const std::size_t next = std::exchange(ranges[from].entry, from);
        std::swap(entries_[from], entries_[next]);
        from = next;
      }
      ranges[from].entry = from;
    }
    by_name_.resize(entries_.size());
    for (std::size_t i = 0; i < by_name_.size(); ++i) by_name_[i] = static_cast<std::uint32_t>(i);
    std::sort(by_name_.begin(), by_name_.end(),
              [&](std::uint32_t a, std::uint32_t b) { return entries_[a].name < entries_[b].name; });
  }

  void find_bytes() {
    std::size_t at = 0;
    for (stored_tensor& entry : entries_) {
      entry.data = data_.data() + at;
      at += entry.bytes;
      if (entry.type != dtype::boolean) continue;
      const auto* const first = static_cast<const std::uint8_t*>(entry.data);
      for (std::size_t j = 0; j < entry.bytes; ++j)
        if (first[j] > 1) corrupt(entry.name, sentence({"element ", j, " is neither 0 nor 1"}));
    }
  }

  std::string path_;
  tensor<std::uint8_t> data_;
  std::vector<stored_tensor> entries_;
  std::vector<std::uint32_t> by_name_;  // positions in entries_
  safetensors::metadata metadata_;
};

}  // namespace tagma::safetensors
