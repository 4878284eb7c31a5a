// SPDX-License-Identifier: BSL-1.0
// A text that one reader of JSON takes, the other one takes and finds the same in.
#include "fuzz/fuzz.hpp"
#include "support/json_events.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(tagma::fuzz::text_of(data, size));
  tagma::json::reader reader(text);
  (void)reader.skip();
  if (reader.reason().starts_with("nested deeper")) return 0;  // the other reader has no limit
  tagma::fuzz::expect(tagma::test::agree(text), "two readers agree");

  try {
    const std::string quoted = tagma::json::quoted(text);
    tagma::json::reader in(quoted);
    std::string back;
    tagma::fuzz::expect(in.string(back) && in.end() && back == text, "what is quoted is read back");
  } catch (const tagma::error& e) {
    tagma::fuzz::expect_error(e, {tagma::status_code::invalid_argument}, "UTF-8");
    tagma::fuzz::expect(!tagma::json::is_utf8(text), "what is UTF-8 can be quoted");
  }
  return 0;
}
