// SPDX-License-Identifier: BSL-1.0
// Examples of docs/reference/errors.md.
#include <catch2/catch.hpp>

#include <tagma/tagma.hpp>

#include "support/errors.hpp"

namespace tg = tagma;
using tagma::test::thrown;

TEST_CASE("reference: errors") {
  std::string said;
  // example: error, status_code, to_string, fail
  try {
    tg::fail(tg::status_code::not_found, {"there are only ", 3, " files"});
  } catch (const tg::error& e) {
    bool missing = e.code() == tg::status_code::not_found;  // true
    std::string kind(tg::to_string(e.code()));              // "NotFound"
    said = e.what();                                        // "NotFound: there are only 3 files"
    if (!missing) throw;
    said += " (" + kind + ")";
  }
  // end
  CHECK(said == "NotFound: there are only 3 files (NotFound)");

  // example: sentence, append_parts, text_part, bytes_text
  std::string text = tg::sentence({"row ", 7, " of '", "a.csv", "'"});  // "row 7 of 'a.csv'"
  tg::append_parts(text, {" has ", tg::bytes_text(1536)});              // "row 7 of 'a.csv' has 1536 bytes"
  std::string large = tg::bytes_text(std::int64_t{3} << 29);            // "1.5 GiB (1610612736 bytes)"
  // end
  CHECK(text == "row 7 of 'a.csv' has 1536 bytes");
  CHECK(large == "1.5 GiB (1610612736 bytes)");
}

TEST_CASE("reference: memory") {
  bool freed = false;
  // example: no_memory, fail_no_memory
  try {
    tg::fail_no_memory(1000, sizeof(float), "a table");
  } catch (const tg::no_memory& e) {
    freed = e.code() == tg::status_code::resource_exhausted;  // give something back, and try again
  }
  // end
  CHECK(freed);

  bool larger = false;
  // example: never_fits, fail_never_fits
  try {
    tg::fail_never_fits({"a table of ", 1000, " rows"});
  } catch (const tg::never_fits& e) {
    larger = e.code() == tg::status_code::resource_exhausted;  // nothing that is given back would help
  }
  // end
  CHECK(larger);
}
