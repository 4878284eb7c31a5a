// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/name.hpp"

namespace {

using tagma::is_name;
using namespace std::string_view_literals;

static_assert(is_name("w") && is_name("W9") && is_name("0") && is_name(".hidden") && is_name("a/b_c.d-e/f"));
static_assert(is_name("a/") && is_name("a//b") && is_name("1/2"));
static_assert(!is_name("") && !is_name("_a") && !is_name("-a") && !is_name("/a"));
static_assert(!is_name("a:b") && !is_name("a b") && !is_name("a\\b") && !is_name("a>b") && !is_name("w\n"));
static_assert(!is_name("a\0b"sv) && !is_name("a\x7f") && !is_name("\xc3\xa4") && !is_name("a\xc3\xa4") &&
              !is_name(" a"));

constexpr tagma::fixed_string suffix = "_1";
static_assert(("block" + suffix).view() == "block_1" && (suffix + "a").view() == "_1a");
static_assert(("a" + suffix + suffix).view() == "a_1_1" && ("a" + suffix / "b").view() == "a_1/b");
static_assert((suffix + tagma::fixed_string("")).view() == "_1");

constexpr bool one_character_names_are_letters_digits_and_a_point() {
  int count = 0;
  for (int c = 0; c < 256; ++c) {
    const char text[] = {static_cast<char>(c), '\0'};
    count += is_name({text, 1}) ? 1 : 0;
  }
  return count == 2 * 26 + 10 + 1;
}
static_assert(one_character_names_are_letters_digits_and_a_point());

constexpr bool later_characters_are_three_more() {
  int count = 0;
  for (int c = 0; c < 256; ++c) {
    const char text[] = {'a', static_cast<char>(c), '\0'};
    count += is_name({text, 2}) ? 1 : 0;
  }
  return count == 2 * 26 + 10 + 4;
}
static_assert(later_characters_are_three_more());

}  // namespace
