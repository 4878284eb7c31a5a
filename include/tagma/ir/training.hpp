// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What an optimizer is asked for, as the attributes and the name of its record say.

#include <string_view>

#include "tagma/ir/op.hpp"

namespace tagma::ir {

/// What an optimizer does with the gradients that it finds.
enum class training_mode : std::int8_t {
  update,      ///< updates the variables
  accumulate,  ///< adds them to those of other batches
  apply,       ///< updates by what was added
  averages,    ///< nothing: only what layers learn beside it
};

/// Which trainable variables behind the loss it trains.
enum class scope_choice_kind : std::int8_t {
  all,
  only,    ///< those inside of scopes, which the name of the record lists
  except,  ///< those outside of them
};

/// The attributes of an optimizer: pairs of variable and gradient that are given in place of a loss; variables that are
/// given behind the loss; the kind of choice by scopes; the mode.
struct training_request {
  attribute pairs = 0, chosen = 0;
  scope_choice_kind scopes = scope_choice_kind::all;
  training_mode mode = training_mode::update;

  constexpr explicit training_request(attribute_list a)
      : pairs(a[0]),
        chosen(a[1]),
        scopes(static_cast<scope_choice_kind>(a[2])),
        mode(static_cast<training_mode>(a[3])) {}

  /// How many inputs come before those of the expansion.
  [[nodiscard]] constexpr std::size_t operands() const {
    return static_cast<std::size_t>(pairs == 0 ? 1 + chosen : 2 * pairs);
  }
};

/// Eight digits that stand for some names.
struct hash_digits {
  char text[8]{};
  [[nodiscard]] constexpr std::string_view view() const { return {text, 8}; }
};
[[nodiscard]] constexpr hash_digits digits_of_names(array_view<const std::string_view> names) {
  std::uint64_t h = 0;
  for (const std::string_view n : names) h = hash_combine(h, hash_text(n));
  hash_digits digits;
  for (char& c : digits.text) c = "0123456789abcdef"[h % 16], h /= 16;
  return digits;
}

/// Scopes of names as one text, with spaces between: no name has one.
class scope_list {
 public:
  constexpr explicit scope_list(std::string_view text) : text_(text) {}

  [[nodiscard]] constexpr int size() const {
    int count = text_.empty() ? 0 : 1;
    for (const char c : text_) count += c == ' ';
    return count;
  }
  [[nodiscard]] constexpr std::string_view operator[](int i) const {
    std::string_view rest = text_;
    for (; i > 0; --i) rest.remove_prefix(rest.find(' ') + 1);
    return rest.substr(0, rest.find(' '));
  }
  /// Bit i: the variable of this name is in scope i, the first 64 of them: it is called like that, or like that with
  /// "/..." behind.
  [[nodiscard]] constexpr std::uint64_t around(std::string_view name) const {
    std::uint64_t found = 0;
    for (int i = 0, count = size(); i < count && i < 64; ++i)
      if (is_inside(name, (*this)[i])) found |= std::uint64_t{1} << i;
    return found;
  }
  /// The name without the scope before it, if that is there.
  [[nodiscard]] static constexpr std::string_view without(std::string_view name, std::string_view scope) {
    return is_inside(name, scope) && name.size() > scope.size() ? name.substr(scope.size() + 1) : name;
  }

 private:
  [[nodiscard]] static constexpr bool is_inside(std::string_view name, std::string_view scope) {
    return name.starts_with(scope) && (name.size() == scope.size() || name[scope.size()] == '/');
  }

  std::string_view text_;
};

}  // namespace tagma::ir
