// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of safetensors.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>

#include "tagma/base/config.hpp"
#include "tagma/io/safetensors.hpp"

namespace tagma::safetensors::detail {

TAGMA_DECL const format* format_of(dtype type) {
  for (const format& f : formats)
    if (f.type == type && type != dtype::none) return &f;
  return nullptr;
}

TAGMA_DECL const format* format_named(std::string_view name) {
  for (const format& f : formats)
    if (f.name == name) return &f;
  return nullptr;
}

TAGMA_DECL encoded encode(const std::string& path, std::span<const named_tensor> tensors, metadata texts) {
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

}  // namespace tagma::safetensors::detail

namespace tagma::safetensors {

TAGMA_DECL void write(const std::string& path, std::span<const named_tensor> tensors, metadata texts) {
  const detail::encoded file = detail::encode(path, tensors, std::move(texts));
  std::vector<std::string_view> pieces{file.begin};
  pieces.insert(pieces.end(), file.tensors.begin(), file.tensors.end());
  replace_file(path, pieces);
}

TAGMA_DECL file::file(const std::string& path) : path_(path) {
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

TAGMA_DECL const stored_tensor* file::find(std::string_view name) const {
  const auto found = std::lower_bound(by_name_.begin(), by_name_.end(), name,
                                      [&](std::uint32_t i, std::string_view n) { return entries_[i].name < n; });
  return found == by_name_.end() || entries_[*found].name != name ? nullptr : &entries_[*found];
}

TAGMA_COLD TAGMA_DECL void file::corrupt(const std::string& how) const {
  fail(status_code::data_loss, path_ + ": not a sound safetensors file: " + how);
}

TAGMA_COLD TAGMA_DECL void file::corrupt(std::string_view name, std::string_view how) const {
  corrupt(sentence({"tensor \"", name, "\": ", how}));
}

TAGMA_COLD TAGMA_DECL void file::corrupt(const json::reader& at) const {
  corrupt(sentence({"header, byte ", at.position(), ": ", at.reason()}));
}

TAGMA_DECL void file::read_header(std::string_view header, std::uint64_t size) {
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

TAGMA_DECL void file::read_metadata(json::reader& in) {
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

TAGMA_DECL file::range file::read_entry(std::string_view name, json::reader& in) {
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

TAGMA_DECL void file::place(std::vector<range>& ranges, std::uint64_t size) {
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

TAGMA_DECL void file::find_bytes() {
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

}  // namespace tagma::safetensors
