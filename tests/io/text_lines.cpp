// SPDX-License-Identifier: BSL-1.0
#include "tagma/io/text_lines.hpp"

#include <catch2/catch.hpp>

#include "support/errors.hpp"
#include "support/sources.hpp"

namespace io = tagma::io;
using tagma::test::all_of;
using tagma::test::text_of;
using records = std::vector<io::record>;

namespace {
records lines_of(std::string text, std::int64_t skipped = 0) {
  return all_of(io::text_line_reader(tagma::test::trickle(std::move(text), 3, "f"), {.skip_header_lines = skipped}));
}
}  // namespace

TEST_CASE("lines are records with numbers from 1") {
  CHECK(lines_of("one\ntwo\n") == records{{"f:1", "one"}, {"f:2", "two"}});
  CHECK(lines_of("one\ntwo") == records{{"f:1", "one"}, {"f:2", "two"}});
  CHECK(lines_of("one\r\n\r\ntwo\r") == records{{"f:1", "one"}, {"f:2", ""}, {"f:3", "two"}});
  CHECK(lines_of("a\rb\r\r\n") == records{{"f:1", "a\rb\r"}});
  CHECK(lines_of("") == records{});
  CHECK(lines_of("\n") == records{{"f:1", ""}});
}

TEST_CASE("a byte order mark belongs to no line") {
  CHECK(lines_of("\xEF\xBB\xBFone\ntwo\n") == records{{"f:1", "one"}, {"f:2", "two"}});
  CHECK(lines_of("\xEF\xBB\xBF\n\xEF\xBB\xBFtwo") == records{{"f:1", ""}, {"f:2", "\xEF\xBB\xBFtwo"}});
  CHECK(lines_of("\xEF\xBB\xBF") == records{});
  CHECK(lines_of("\xEF\xBB") == records{{"f:1", "\xEF\xBB"}});
}

TEST_CASE("header lines are skipped and counted") {
  CHECK(lines_of("head\none\ntwo", 1) == records{{"f:2", "one"}, {"f:3", "two"}});
  CHECK(lines_of("head", 1) == records{});
  CHECK(lines_of("head\n", 5) == records{});
  CHECK(text_of([] { (void)lines_of("", -1); }) ==
        "InvalidArgument: skip_header_lines is -1, expected a number that is not negative");
}
