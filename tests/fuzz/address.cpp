// SPDX-License-Identifier: BSL-1.0
// An address that is read is spelled in one way, which is read as the same address.
#include "tagma/cluster/address.hpp"

#include "fuzz/fuzz.hpp"
#include "tagma/cluster/text.hpp"

namespace fuzz = tagma::fuzz;

namespace {

void check(std::string_view text, const tagma::address_rules& rules) {
  const tagma::parsed_address parsed = tagma::parse_address(text, rules);
  if (!parsed) {
    fuzz::expect(parsed.position <= text.size(), "the position is in the text");
    try {
      (void)tagma::address_from(text, rules);
      fuzz::expect(false, "a text that is refused is refused by both functions");
    } catch (const tagma::error& e) {
      fuzz::expect_error(e, {tagma::status_code::invalid_argument}, tagma::detail::quote(text));
    }
    return;
  }
  const std::string spelled = to_string(*parsed);
  const tagma::parsed_address again = tagma::parse_address(spelled, rules);
  fuzz::expect(again && *again == *parsed && to_string(*again) == spelled, "a spelling is read as what it spells");
  fuzz::expect(spelled.size() < 400, "an address is short");
  if (rules.use == tagma::address_use::connect)
    fuzz::expect(tagma::target_address(tagma::target_of(*parsed)) == *parsed, "a target is read as its address");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  check(text, {});
  check(text, {.use = tagma::address_use::bind});
  check(text, {.use = tagma::address_use::bind, .default_port = 2222});
  return 0;
}
