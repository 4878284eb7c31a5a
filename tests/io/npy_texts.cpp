// SPDX-License-Identifier: BSL-1.0
#include "tagma/io/npy_texts.hpp"

#include <catch2/catch.hpp>

#include <string>

#include "support/errors.hpp"
#include "support/sources.hpp"
#include "tagma/io/npy.hpp"

namespace io = tagma::io;
using tagma::tensor;
using tagma::test::text_of;
using namespace std::string_literals;
using texts = tensor<std::string_view>;

namespace {

std::string file_of(const std::string& descr, const std::string& dims, std::string_view bytes, bool fortran = false) {
  const std::string header =
      "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + dims + ", }";
  return "\x93NUMPY\x01"s + '\0' + static_cast<char>(header.size()) + '\0' + header + std::string(bytes);
}
texts read(const std::string& file) {
  texts found = io::read_npy<std::string_view>(io::memory_source(file, "f"));
  CHECK(io::read_npy<std::string_view>({tagma::test::trickle(file, 3), 1}) == found);
  return found;
}
std::string refused(const std::string& file) {
  return text_of([&] { (void)io::read_npy<std::string_view>(io::memory_source(file, "f")); });
}

}  // namespace

TEST_CASE("texts of bytes lose the zeros behind them") {
  CHECK(read(file_of("|S4", "(3,)", "ab\0\0wxyz\0\0\0\0"s)) == texts({3}, {"ab", "wxyz", ""}));
  CHECK(read(file_of("|S3", "(2,)", "a\0b\xff\0\0"s)) == texts({2}, {std::string_view("a\0b", 3), "\xff"}));
  CHECK(read(file_of("|S2", "()", "hi")) == texts("hi"));
  CHECK(read(file_of("|S1", "(2, 3)", "abcdef", true)) == texts({2, 3}, {"a", "c", "e", "b", "d", "f"}));
  CHECK(read(file_of("|S0", "(0,)", "")) == texts({0}));
  CHECK(read(file_of("|S0", "(0, 5)", "")).dims() == tagma::shape{0, 5});
}

TEST_CASE("texts of characters are UTF-8, in either order of bytes") {
  const std::string little =
      "a\0\0\0\xe4\0\0\0"
      "\xac\x20\0\0\0\0\0\0"
      "\x00\xf6\x01\0\0\0\0\0"s;
  const texts wanted({3}, {"a\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80"});
  CHECK(read(file_of("<U2", "(3,)", little)) == wanted);
  std::string big = little;
  for (std::size_t i = 0; i < big.size(); i += 4) std::swap(big[i], big[i + 3]), std::swap(big[i + 1], big[i + 2]);
  CHECK(read(file_of(">U2", "(3,)", big)) == wanted);
  for (const auto& [c, text] : {std::pair(0x7f, "\x7f"),
                                {0x80, "\xc2\x80"},
                                {0x7ff, "\xdf\xbf"},
                                {0x800, "\xe0\xa0\x80"},
                                {0xd7ff, "\xed\x9f\xbf"},
                                {0xe000, "\xee\x80\x80"},
                                {0xffff, "\xef\xbf\xbf"},
                                {0x10000, "\xf0\x90\x80\x80"},
                                {0x10ffff, "\xf4\x8f\xbf\xbf"}}) {
    const char bytes[] = {static_cast<char>(c & 0xff), static_cast<char>(c >> 8 & 0xff), static_cast<char>(c >> 16), 0};
    CHECK(read(file_of("<U1", "(1,)", {bytes, 4})) == texts({1}, {text}));
  }
  CHECK(refused(file_of("<U2", "(2,)", "a\0\0\0b\0\0\0c\0\0\0\0\xd8\0\0"s)) ==
        "DataLoss: f: text 1 has 55296, which is no character");
  CHECK(refused(file_of("<U1", "(1,)", "\0\0\x11\0"s)) == "DataLoss: f: text 0 has 1114112, which is no character");
}

TEST_CASE("the characters outlive the file") {
  texts kept({0});
  {
    std::string file = file_of("|S40", "(1,)", "a text that is longer than a string hold");
    kept = io::read_npy<std::string_view>(io::memory_source(file, "f"));
    file.assign(file.size(), '?');
  }
  CHECK(kept[0] == "a text that is longer than a string hold");
}

TEST_CASE("what is no array of texts is refused") {
  for (const char* descr : {"<f4", "|O", "S4", "|S", "|S-1", "|S4x", "|SS", "<U99999999999999999999", "|V4", ""})
    CHECK(refused(file_of(descr, "(1,)", "abcd")) ==
          "InvalidArgument: f: has elements of type '"s + descr + "', expected texts, such as '|S8' or '<U8'");
  CHECK(refused(file_of("|S0", "(1,)", "")) == "InvalidArgument: f: has texts without characters, which take no bytes");
  CHECK(refused(file_of("|S4", "(2,)", "abcdefg")) ==
        "DataLoss: f: is truncated: its header says [2] texts of 4 bytes, which is more than the file can hold");
  CHECK(refused(file_of("|S4", "(2,)", "abcdefghi")) == "DataLoss: f: has more bytes after the last element");
  CHECK(text_of([] { (void)io::read_npy<float>(io::memory_source(file_of("|S4", "(1,)", "abcd"), "f")); }) ==
        "InvalidArgument: f: has elements of type '|S4', expected '<f4' for float32");
}

TEST_CASE("a declared size takes no memory until the texts arrive") {
  const auto trickled = [](const std::string& file) {
    return text_of([&] { (void)io::read_npy<std::string_view>(tagma::test::trickle(file)); });
  };
  CHECK(trickled(file_of("|S100", "(1000000, 1000000)", "abc")) ==
        "DataLoss: trickle: is truncated: 99999999999997 bytes are missing");
  CHECK(trickled(file_of("<U4000000000", "(1000000,)", "abc")) ==
        "DataLoss: trickle: is truncated: 15999999999999997 bytes are missing");
  CHECK(refused(file_of("|S10000000000000000", "(1000000,)", "abc")).starts_with("DataLoss: f: is truncated"));
  CHECK(refused(file_of("|S1", "(9223372036854775807, 4)", "abc")).starts_with("ResourceExhausted: f: "));
}
