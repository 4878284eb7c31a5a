// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// tf.train.Example: features by name, each a list of texts, of floats or of integers, as a message of protocol
/// buffers. https://github.com/tensorflow/tensorflow/blob/master/tensorflow/core/example/example.proto

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/io/elements.hpp"
#include "tagma/io/wire.hpp"
#include "tagma/tensor/shape.hpp"
#include "tagma/tensor/size.hpp"

namespace tagma::io {

/// What a feature is a list of, by the numbers of the message; `none` for a feature without a list, which counts as
/// missing.
enum class feature_kind : std::uint8_t { none = 0, bytes = 1, floats = 2, integers = 3 };

/// "nothing", "bytes", "float" or "int64", as the lists are named.
[[nodiscard]] constexpr std::string_view to_string(feature_kind kind) {
  constexpr std::string_view names[] = {"nothing", "bytes", "float", "int64"};
  return names[static_cast<std::size_t>(kind)];
}

/// An element of a feature: a float, an `std::int64_t`, or bytes, as a view of the message.
template <class T>
concept feature_element =
    std::is_same_v<T, float> || std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::string_view>;

/// A feature of an example.
struct feature {
  std::string_view name{};
  feature_kind kind = feature_kind::none;
  std::size_t count = 0;  ///< of values
  std::size_t place = 0;  ///< in the message, counted from 0
  std::size_t first_piece = 0, pieces = 0;
};

/// A feature that has as many elements as a shape in every example.
template <feature_element T>
struct fixed_feature {
  std::string name;
  shape dims{};
  /// Its elements where it is missing; without them, it is required. Of bytes, they outlive this.
  std::optional<std::vector<T>> otherwise{};
};

namespace detail {

/// The values of features of a message, as views of it.
class feature_values {
 public:
  /// Copies the values of a feature of this message. Throws `data_loss` for an integer that 64 bits do not hold.
  /// @param to has room for `f.count` of them
  template <feature_element T>
  void copy(const feature& f, T* to) const {
    check_kind(f, kind_of<T>());
    for (std::size_t i = 0; i < f.pieces; ++i) {
      std::string_view piece = pieces_[f.first_piece + i];
      if constexpr (std::is_same_v<T, std::string_view>) {
        *to++ = piece;
      } else if constexpr (std::is_same_v<T, float>) {
        if (piece.empty()) continue;
        std::memcpy(to, piece.data(), piece.size());
        if constexpr (std::endian::native != std::endian::little) reverse_bytes(to, piece.size() / 4, 4);
        to += piece.size() / 4;
      } else {
        for (std::uint64_t value = 0; !piece.empty(); *to++ = static_cast<std::int64_t>(value))
          if (!wire::take_varint(piece, value))
            fail(status_code::data_loss, {key_, ": feature '", f.name, "' has an integer of more than 64 bits"});
      }
    }
  }

 protected:
  /// @param what messages are called, where they are damaged
  explicit feature_values(std::string_view what) : what_(what) {}

  template <class T>
  [[nodiscard]] static constexpr feature_kind kind_of() {
    return std::is_same_v<T, std::string_view> ? feature_kind::bytes
           : std::is_same_v<T, float>          ? feature_kind::floats
                                               : feature_kind::integers;
  }
  [[nodiscard]] static bool is_message(const wire::field& f, std::uint32_t number);
  /// Sorts what has names, of equal ones that which came last behind the others.
  template <class Named>
  static void sort(std::vector<Named>& all) {
    const auto before = [](const Named& a, const Named& b) {
      const int order = a.name.compare(b.name);
      return order < 0 || (order == 0 && a.place < b.place);
    };
    if (!std::is_sorted(all.begin(), all.end(), before)) std::sort(all.begin(), all.end(), before);
  }
  /// The last one of a name; nullptr if there is none.
  template <class Named>
  [[nodiscard]] static const Named* last_of(std::span<const Named> sorted, std::string_view name) {
    const auto behind = std::upper_bound(sorted.begin(), sorted.end(), name,
                                         [](std::string_view n, const Named& f) { return n < f.name; });
    return behind != sorted.begin() && (behind - 1)->name == name ? &*(behind - 1) : nullptr;
  }

  void begin(std::string_view key, std::string_view otherwise);
  [[nodiscard]] std::string_view key() const { return key_; }
  template <class Visit>
  void each_field(std::string_view message, const Visit& visit, std::string_view of_feature = {}) const {
    wire::reader in(message);
    for (wire::field f; in.next(f);) visit(f);
    if (!in.good()) fail_damaged(of_feature);
  }
  /// A feature whose values are behind those that are there.
  [[nodiscard]] feature next_feature(std::size_t place) const;
  /// The last list counts; two of a kind are one. Errors call the feature by its name, if that is known.
  void parse_feature(std::string_view message, feature& f);
  void check_kind(const feature& f, feature_kind expected) const;

 private:
  void parse_value(const wire::field& value, feature& f);
  [[noreturn]] void fail_damaged(std::string_view of_feature) const;

  std::string_view what_;
  std::string key_;
  std::vector<std::string_view> pieces_;  // of the lists: packed numbers, one number, or one value of bytes
};

}  // namespace detail

/// The features of one example, as views of the message. Used for one after the other, it asks for no more memory.
class example : public detail::feature_values {
 public:
  example() : feature_values("tf.train.Example") {}
  /// Throws as `parse` does.
  explicit example(std::string_view message, std::string_view key = {}) : example() { parse(message, key); }

  /// Reads another message. Of two features of one name the last one counts.
  /// Throws `data_loss` where the message is damaged.
  /// @param message which outlives what is read
  /// @param key what errors call it
  void parse(std::string_view message, std::string_view key = {});

  /// The features, sorted by name.
  [[nodiscard]] std::span<const feature> features() const { return features_; }
  /// The feature of that name; nullptr if it is missing.
  [[nodiscard]] const feature* find(std::string_view name) const;

  /// Reads a feature of a fixed shape. Throws `invalid_argument` if it is missing and required, of another kind, or has
  /// more or fewer values.
  /// @param to as many as the shape has elements
  template <feature_element T>
  void read(const fixed_feature<T>& wanted, std::span<T> to) const {
    const feature* const found = find(wanted.name);
    if (found != nullptr) {
      check_kind(*found, kind_of<T>());
      if (found->count != to.size()) fail_count(wanted.name, "values", found->count, wanted.dims);
      copy(*found, to.data());
    } else if (wanted.otherwise.has_value()) {
      if (wanted.otherwise->size() != to.size())
        fail_count(wanted.name, "default values", wanted.otherwise->size(), wanted.dims);
      std::copy(wanted.otherwise->begin(), wanted.otherwise->end(), to.begin());
    } else {
      fail(status_code::invalid_argument, {key(), ": feature '", wanted.name, "' is required, and missing"});
    }
  }
  /// Appends the values of a feature that has any number of them, none if it is missing; returns how many. Throws
  /// `invalid_argument` for one of another kind.
  template <feature_element T>
  std::size_t append(std::string_view name, std::vector<T>& to) const {
    const feature* const found = find(name);
    if (found == nullptr) return 0;
    check_kind(*found, kind_of<T>());
    to.resize(to.size() + found->count);
    copy(*found, to.data() + (to.size() - found->count));
    return found->count;
  }

 private:
  void parse_features(std::string_view message);
  [[noreturn]] void fail_count(std::string_view name, std::string_view what, std::size_t count,
                               const shape& dims) const;

  std::vector<feature> features_;
};

namespace detail {

/// The message of a feature with these values.
/// @{
[[nodiscard]] std::string feature_message(feature_kind kind, std::string_view list);
[[nodiscard]] std::string packed_message(feature_kind kind, std::string_view packed);
[[nodiscard]] std::string feature_of(std::span<const float> values);
[[nodiscard]] std::string feature_of(std::span<const std::int64_t> values);
[[nodiscard]] std::string feature_of(std::span<const std::string_view> values);
/// @}

}  // namespace detail

/// Writes a message. Features come sorted by name, so that equal examples are equal bytes.
class example_writer {
 public:
  /// Adds a feature. Throws `already_exists` for a second one of a name.
  void add(std::string_view name, std::span<const float> values) { add_feature(name, detail::feature_of(values)); }
  void add(std::string_view name, std::span<const std::int64_t> values);
  void add(std::string_view name, std::span<const std::string_view> values);
  /// Forgets what was added.
  void clear() { features_.clear(); }

  /// The message. Throws `invalid_argument` for one of 2 GiB or more, which no reader takes.
  [[nodiscard]] std::string message() const;

 private:
  void add_feature(std::string_view name, std::string message);

  std::map<std::string, std::string, std::less<>> features_;
};

}  // namespace tagma::io

#ifndef TAGMA_COMPILED
#include "tagma/io/example.ipp"
#endif
