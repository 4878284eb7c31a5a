// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What readers of records have in common: a key that tells where a record was found, and its bytes.

#include <concepts>
#include <string>
#include <string_view>

#include "tagma/io/buffered_reader.hpp"

namespace tagma::io {

/// A record and where it was found.
struct record {
  std::string key;
  std::string value;

  friend bool operator==(const record&, const record&) = default;
};

/// Gives one record after the other. `next` returns false at the end; the view that it sets is valid until the next
/// call. `key` names the record that `next` gave last.
template <class R>
concept record_reader = requires(R& reader, const R& same, std::string_view& value) {
  { reader.next(value) } -> std::same_as<bool>;
  { same.key() } -> std::convertible_to<std::string>;
};

/// Copies the next record; false at the end.
template <record_reader R>
[[nodiscard]] bool read(R& reader, record& to) {
  std::string_view value;
  if (!reader.next(value)) return false;
  to.value.assign(value);
  to.key = reader.key();
  return true;
}

/// One record, the whole of a source; its name is the key.
class whole_file_reader {
 public:
  explicit whole_file_reader(buffered_reader in) : in_(std::move(in)) {}

  /// Gets the next record; false at the end.
  [[nodiscard]] bool next(std::string_view& value);
  /// The key of the record that `next` gave.
  [[nodiscard]] std::string key() const { return std::string(in_.name()); }

 private:
  buffered_reader in_;
  std::string value_;
  bool done_ = false;
};

/// One record, whose key and value are the text that it was made with: nothing is opened.
class identity_reader {
 public:
  explicit identity_reader(std::string text) : text_(std::move(text)) {}

  /// Gets the next record; false at the end.
  [[nodiscard]] bool next(std::string_view& value);
  /// The key of the record that `next` gave.
  [[nodiscard]] std::string key() const { return text_; }

 private:
  std::string text_;
  bool done_ = false;
};

}  // namespace tagma::io

#ifndef TAGMA_COMPILED
#include "tagma/io/record.ipp"
#endif
