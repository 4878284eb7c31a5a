// SPDX-License-Identifier: BSL-1.0
#include "tagma/io/csv_reader.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "support/errors.hpp"
#include "support/sources.hpp"
#include "support/temporary_directory.hpp"
#include "tagma/io/compression.hpp"
#include "tagma/io/csv.hpp"

namespace io = tagma::io;
using tagma::test::all_of;
using tagma::test::text_of;
using records = std::vector<io::record>;

namespace {
records records_of(const std::string& text, const io::csv_reader_options& options = {}) {
  const records found = all_of(io::csv_reader(io::memory_source(text, "f"), options));
  CHECK(all_of(io::csv_reader({tagma::test::trickle(text, 3, "f"), 1}, options)) == found);
  return found;
}
}  // namespace

TEST_CASE("lines are records") {
  CHECK(records_of("a,b\nc,d\n") == records{{"f:1", "a,b"}, {"f:2", "c,d"}});
  CHECK(records_of("a,b\r\n\r\nc,d") == records{{"f:1", "a,b"}, {"f:2", ""}, {"f:3", "c,d"}});
  CHECK(records_of("") == records{});
  CHECK(records_of("head\na\nb", {.skip_header_records = 1}) == records{{"f:2", "a"}, {"f:3", "b"}});
  CHECK(records_of("head", {.skip_header_records = 3}) == records{});
}

TEST_CASE("a byte order mark belongs to no record") {
  CHECK(records_of("\xEF\xBB\xBF\"a\nb\",1\nc\n") == records{{"f:1", "\"a\nb\",1"}, {"f:3", "c"}});
  CHECK(records_of("\xEF\xBB\xBFhead\na", {.skip_header_records = 1}) == records{{"f:2", "a"}});
  CHECK(records_of("\xEF\xBB\xBF") == records{});
  CHECK(records_of("\xEF\xBB") == records{{"f:1", "\xEF\xBB"}});
  CHECK(records_of("\xEF\xBBz\n") == records{{"f:1", "\xEF\xBBz"}});
  CHECK(records_of("\n\xEF\xBB\xBF\n") == records{{"f:1", ""}, {"f:2", "\xEF\xBB\xBF"}});
  CHECK(records_of("\xEF\xBB\xBF\xEF\xBB\xBFx") == records{{"f:1", "\xEF\xBB\xBFx"}});
}

TEST_CASE("line ends in quotes belong to a record") {
  CHECK(records_of("1,\"a\nb\",2\nc\n") == records{{"f:1", "1,\"a\nb\",2"}, {"f:3", "c"}});
  CHECK(records_of("\"a\r\n\r\nb\"\r\nc") == records{{"f:1", "\"a\r\n\r\nb\""}, {"f:4", "c"}});
  CHECK(records_of("\"a\"\"\n\"\"b\"\nc") == records{{"f:1", "\"a\"\"\n\"\"b\""}, {"f:3", "c"}});
  CHECK(records_of("\"\"\n\"\"\"\"\n") == records{{"f:1", "\"\""}, {"f:2", "\"\"\"\""}});
  CHECK(records_of("x;\"a\nb\"\n", {.delimiter = ';'}) == records{{"f:1", "x;\"a\nb\""}});
  CHECK(records_of("\"x\ny\"\na\n", {.skip_header_records = 1}) == records{{"f:3", "a"}});
}

TEST_CASE("a quote inside a field opens nothing") {
  CHECK(records_of("5\" pipe\nb\n") == records{{"f:1", "5\" pipe"}, {"f:2", "b"}});
  CHECK(records_of("x,\"a\nb\n", {.quotes = false}) == records{{"f:1", "x,\"a"}, {"f:2", "b"}});
}

TEST_CASE("a quote that is not closed is found at its record") {
  CHECK(text_of([] { (void)records_of("a\n\"b\nc\n"); }) ==
        "InvalidArgument: f:2: field 0 begins with a quote, and the file ends inside it");
  CHECK(text_of([] { (void)records_of("a\n\"b\nc\",\"d\"\"e\",,f,\"g\n\nh\n"); }) ==
        "InvalidArgument: f:2: field 4 begins with a quote, and the file ends inside it");
  const std::string open = "a\n\"" + std::string(500, '\n');
  CHECK(text_of([&] { (void)records_of(open, {.max_record_bytes = 100}); }) ==
        "ResourceExhausted: f:2: the record is longer than 100 bytes; a quote may not be closed");
  CHECK(text_of([] { (void)records_of("", {.skip_header_records = -1}); }) ==
        "InvalidArgument: skip_header_records is -1, expected a number that is not negative");
}

TEST_CASE("what Python's csv module writes is read") {
  const tagma::test::temporary_directory dir;
  const auto script = std::filesystem::path(__FILE__).parent_path() / "csv_writer.py";
  REQUIRE(std::system(("python3 '" + script.string() + "' '" + (dir / "a") + "' '" + (dir / "b") + "'").c_str()) == 0);
  // The second file has the texts of the first one's fields, with a zero byte behind each.
  const std::string expected = tagma::read_file(dir / "b");
  std::string found;
  io::csv_reader in(io::open(dir / "a"), {.skip_header_records = 1});
  io::csv_decoder decoder({io::csv_default(std::string()), io::csv_required<double>(), io::csv_default(std::string())},
                          {});
  std::string_view record, first, last;
  double number = 0;
  int count = 0;
  while (in.next(record)) {
    void* const to[] = {&first, &number, &last};
    decoder.decode(record, to, {in.key()});
    (((found.append(first) += '\0') += std::to_string(number)) += '\0').append(last) += '\0';
    ++count;
  }
  CHECK(count == 1000);
  CHECK(found == expected);
}
