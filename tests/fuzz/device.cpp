// SPDX-License-Identifier: BSL-1.0
// A device string that is read is spelled in one way, which is read as the same device.
#include "tagma/place/device.hpp"
#include "fuzz/fuzz.hpp"

namespace fuzz = tagma::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  const tagma::parsed_device parsed = tagma::parse_device(text);
  if (parsed) {
    const std::string spelled = to_string(*parsed);
    const tagma::parsed_device again = tagma::parse_device(spelled);
    fuzz::expect(again && *again == *parsed && to_string(*again) == spelled, "a spelling is read as what it spells");
    fuzz::expect(hash_of(*again) == hash_of(*parsed), "equal devices have equal hashes");
    fuzz::expect(tagma::device_from(text) == *parsed, "both functions read the same");
  } else {
    fuzz::expect(parsed.position <= text.size(), "the position is in the text");
    try {
      (void)tagma::device_from(text);
      fuzz::expect(false, "a text that is refused is refused by both functions");
    } catch (const tagma::error& e) {
      fuzz::expect_error(e, {tagma::status_code::invalid_argument}, text.substr(0, text.find('\0')));
    }
  }
  const tagma::parsed_device local = tagma::parse_local_device(text);
  if (local) {
    fuzz::expect(local->job.empty() && local->replica < 0 && local->task < 0, "a local device has a type and a number");
    fuzz::expect(to_string(*local).substr(8) == std::string(local->type.view()) + ":" + std::to_string(local->id),
                 "a local device is spelled so");
  }
  return 0;
}
