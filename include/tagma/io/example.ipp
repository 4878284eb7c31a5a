// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of example.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/io/example.hpp"

namespace tagma::io::detail {

TAGMA_DECL bool feature_values::is_message(const wire::field& f, std::uint32_t number) {
  return f.number == number && f.type == wire::type::bytes;
}

TAGMA_DECL void feature_values::begin(std::string_view key, std::string_view otherwise) {
  key_.assign(key.empty() ? otherwise : key);
  pieces_.clear();
}

TAGMA_DECL feature feature_values::next_feature(std::size_t place) const {
  feature f;
  f.place = place;
  f.first_piece = pieces_.size();
  return f;
}

TAGMA_DECL void feature_values::parse_feature(std::string_view message, feature& f) {
  const auto visit = [&](const wire::field& list) {
    if (list.type != wire::type::bytes || list.number < 1 || list.number > 3) return;
    const auto kind = static_cast<feature_kind>(list.number);
    if (kind != f.kind) {
      pieces_.resize(f.first_piece);
      f.kind = kind;
      f.count = 0;
    }
    const auto add = [&](const wire::field& value) {
      if (value.number == 1) parse_value(value, f);
    };
    each_field(list.raw, add, f.name);
  };
  each_field(message, visit, f.name);
  f.pieces = pieces_.size() - f.first_piece;
}

TAGMA_DECL void feature_values::check_kind(const feature& f, feature_kind expected) const {
  if (f.kind != expected)
    fail(status_code::invalid_argument, {key_, ": feature '", f.name, "' is a list of ", to_string(f.kind),
                                         ", expected a list of ", to_string(expected)});
}

TAGMA_DECL void feature_values::parse_value(const wire::field& value, feature& f) {
  const std::string_view raw = value.raw;
  const bool packed = value.type == wire::type::bytes;
  std::size_t count = 1;
  if (f.kind == feature_kind::floats) {
    if (packed ? raw.size() % 4 != 0 : value.type != wire::type::fixed32) fail_damaged(f.name);
    count = raw.size() / 4;
  } else if (f.kind == feature_kind::integers) {
    if (packed ? !raw.empty() && (raw.back() & 0x80) != 0 : value.type != wire::type::varint) fail_damaged(f.name);
    count = static_cast<std::size_t>(
        std::count_if(raw.begin(), raw.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
  } else if (!packed) {
    fail_damaged(f.name);
  }
  f.count += count;
  pieces_.push_back(raw);
}

TAGMA_COLD TAGMA_DECL void feature_values::fail_damaged(std::string_view of_feature) const {
  if (!of_feature.empty())
    fail(status_code::data_loss, {key_, ": feature '", of_feature, "' of the ", what_, " is damaged"});
  fail(status_code::data_loss, {key_, ": is no ", what_, ", or a damaged one"});
}

}  // namespace tagma::io::detail

namespace tagma::io {

TAGMA_DECL void example::parse(std::string_view message, std::string_view key) {
  begin(key, "example");
  features_.clear();
  each_field(message, [&](const wire::field& f) {
    if (is_message(f, 1)) parse_features(f.raw);
  });
  sort(features_);
}

TAGMA_DECL const feature* example::find(std::string_view name) const {
  const feature* const found = last_of(features(), name);
  return found != nullptr && found->kind != feature_kind::none ? found : nullptr;
}

TAGMA_DECL void example::parse_features(std::string_view message) {
  each_field(message, [&](const wire::field& entry) {
    if (!is_message(entry, 1)) return;
    feature f = next_feature(features_.size());
    each_field(entry.raw, [&](const wire::field& part) {
      if (is_message(part, 1)) f.name = part.raw;
      if (is_message(part, 2)) parse_feature(part.raw, f);
    });
    features_.push_back(f);
  });
}

TAGMA_COLD TAGMA_DECL void example::fail_count(std::string_view name, std::string_view what, std::size_t count,
                                               const shape& dims) const {
  fail(status_code::invalid_argument,
       {key(), ": feature '", name, "' has ", count, " ", what, ", expected those of shape ", tagma::to_string(dims)});
}

}  // namespace tagma::io

namespace tagma::io::detail {

TAGMA_DECL std::string feature_message(feature_kind kind, std::string_view list) {
  std::string text;
  wire::put_bytes(text, static_cast<std::uint32_t>(kind), list);
  return text;
}

TAGMA_DECL std::string packed_message(feature_kind kind, std::string_view packed) {
  std::string list;
  if (!packed.empty()) wire::put_bytes(list, 1, packed);
  return feature_message(kind, list);
}

TAGMA_DECL std::string feature_of(std::span<const float> values) {
  std::string packed(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  if constexpr (std::endian::native != std::endian::little) reverse_bytes(packed.data(), values.size(), 4);
  return packed_message(feature_kind::floats, packed);
}

TAGMA_DECL std::string feature_of(std::span<const std::int64_t> values) {
  std::string packed;
  for (const std::int64_t value : values) wire::put_varint(packed, static_cast<std::uint64_t>(value));
  return packed_message(feature_kind::integers, packed);
}

TAGMA_DECL std::string feature_of(std::span<const std::string_view> values) {
  std::string list;
  for (const std::string_view value : values) wire::put_bytes(list, 1, value);
  return feature_message(feature_kind::bytes, list);
}

}  // namespace tagma::io::detail

namespace tagma::io {

TAGMA_DECL void example_writer::add(std::string_view name, std::span<const std::int64_t> values) {
  add_feature(name, detail::feature_of(values));
}

TAGMA_DECL void example_writer::add(std::string_view name, std::span<const std::string_view> values) {
  add_feature(name, detail::feature_of(values));
}

TAGMA_DECL std::string example_writer::message() const {
  std::string features;
  for (const auto& [name, feature] : features_) {
    std::string entry;
    wire::put_bytes(entry, 1, name);
    wire::put_bytes(entry, 2, feature);
    wire::put_bytes(features, 1, entry);
  }
  if (features.size() > INT32_MAX - 16)
    fail(status_code::invalid_argument, {"an example of ", features.size(), " bytes is too large, 2 GiB is the most"});
  std::string text;
  wire::put_bytes(text, 1, features);
  return text;
}

TAGMA_DECL void example_writer::add_feature(std::string_view name, std::string message) {
  if (!features_.try_emplace(std::string(name), std::move(message)).second)
    fail(status_code::already_exists, {"the example has a feature '", name, "' already"});
}

}  // namespace tagma::io
