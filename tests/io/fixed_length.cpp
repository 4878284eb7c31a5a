// SPDX-License-Identifier: BSL-1.0
#include "tagma/io/fixed_length.hpp"

#include <catch2/catch.hpp>

#include "support/errors.hpp"
#include "support/sources.hpp"

namespace io = tagma::io;
using tagma::test::all_of;
using tagma::test::text_of;
using records = std::vector<io::record>;

namespace {
records records_of(std::string bytes, const io::fixed_length_options& options) {
  const records whole = all_of(io::fixed_length_record_reader(io::memory_source(bytes, "f"), options));
  CHECK(all_of(io::fixed_length_record_reader({tagma::test::trickle(bytes, 2, "f"), 1}, options)) == whole);
  return whole;
}
}  // namespace

TEST_CASE("records stand between header and footer") {
  const io::fixed_length_options options{.record_bytes = 3, .header_bytes = 5, .footer_bytes = 2};
  CHECK(records_of("HHHHHFF", options) == records{});
  CHECK(records_of("HHHHH012345FF", options) == records{{"f:0", "012"}, {"f:1", "345"}});
  CHECK(records_of("HHHHH012345F", options) == records{{"f:0", "012"}});
  CHECK(records_of("HHH", options) == records{});
  CHECK(records_of("", options) == records{});
  CHECK(records_of("01234567", {.record_bytes = 3}) == records{{"f:0", "012"}, {"f:1", "345"}});
}

TEST_CASE("records overlap or have gaps") {
  CHECK(records_of("01234", {.record_bytes = 3, .hop_bytes = 2}) == records{{"f:0", "012"}, {"f:1", "234"}});
  CHECK(records_of("H012_345_67", {.record_bytes = 3, .header_bytes = 1, .hop_bytes = 4}) ==
        records{{"f:0", "012"}, {"f:1", "345"}});
  CHECK(records_of("012_345_678FF", {.record_bytes = 3, .footer_bytes = 2, .hop_bytes = 4}) ==
        records{{"f:0", "012"}, {"f:1", "345"}, {"f:2", "678"}});
}

TEST_CASE("a file does not hold records longer than it") {
  constexpr std::int64_t huge = tagma::max_bytes / 4;
  CHECK(records_of("0123", {.record_bytes = huge, .footer_bytes = huge}) == records{});
  CHECK(records_of("0123", {.record_bytes = 1, .header_bytes = huge}) == records{});
  CHECK(records_of("0123", {.record_bytes = 1, .hop_bytes = huge}) == records{{"f:0", "0"}});
}

TEST_CASE("sizes that are no sizes are refused by name") {
  CHECK(text_of([] { (void)records_of("", {}); }) ==
        "InvalidArgument: record_bytes is 0, expected 1 or more, below 2^54");
  CHECK(text_of([] { (void)records_of("", {.record_bytes = 1, .header_bytes = -1}); }) ==
        "InvalidArgument: header_bytes is -1, expected 0 or more, below 2^54");
  CHECK(text_of([] { (void)records_of("", {.record_bytes = 1, .footer_bytes = -2}); }) ==
        "InvalidArgument: footer_bytes is -2, expected 0 or more, below 2^54");
  CHECK(text_of([] { (void)records_of("", {.record_bytes = 1, .hop_bytes = INT64_MAX}); }) ==
        "InvalidArgument: hop_bytes is 9223372036854775807, expected 0 or more, below 2^54");
}
