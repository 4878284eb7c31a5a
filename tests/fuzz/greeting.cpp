// SPDX-License-Identifier: BSL-1.0
// What another process says of itself: a greeting that is read is written again as the same bytes.
#include <string>

#include "fuzz/fuzz.hpp"
#include "tagma/transport/handshake.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace transport = tagma::transport;
  namespace fuzz = tagma::fuzz;
  const std::string_view bytes = fuzz::text_of(data, size);
  transport::options own;
  own.insecure = true;
  const std::optional<transport::greeting> g = transport::decode_greeting(bytes);
  for (const transport::side which : {transport::side::connects, transport::side::accepts}) {
    transport::meeting m(which, own, {});
    const bool accepts = which == transport::side::accepts;
    const auto next = m.take(accepts ? transport::frame_type::hello : transport::frame_type::answer, bytes, "there");
    fuzz::expect(g.has_value() || next.refused.has_value(), "a damaged greeting is refused");
    fuzz::expect(!next.proven, "a greeting proves nothing");
  }
  if (!g) return 0;
  std::string again = encode(*g);
  fuzz::expect(again.size() <= bytes.size(), "a greeting has the bytes that it has");
  // Flags that nobody knows, and the byte behind them, are for later versions.
  again[2] = static_cast<char>(again[2] | (bytes[2] & ~7));
  again[3] = bytes[3];
  fuzz::expect(bytes.substr(0, again.size()) == again, "a greeting is written as it was read");
  fuzz::expect(
      transport::not_wanted(transport::side::accepts, own, *g).has_value() || g->who.cluster == own.self.cluster,
      "who is of another cluster is not wanted");
  return 0;
}
