// SPDX-License-Identifier: BSL-1.0
// A list of hosts expands to as many as a cluster may have, each of which is a list of itself.
#include "fuzz/fuzz.hpp"
#include "tagma/cluster/sources/slurm.hpp"

namespace fuzz = tagma::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  try {
    const std::vector<std::string> hosts = tagma::sources::expand_host_list(text, "input");
    fuzz::expect(!hosts.empty() && hosts.size() <= static_cast<std::size_t>(tagma::cluster_limits::tasks),
                 "there are hosts, and not too many");
    std::string list;
    for (const std::string& host : hosts) {
      fuzz::expect(!host.empty() && host.size() <= tagma::cluster_limits::host_name, "a host has a name");
      list += (list.empty() ? "" : ",") + host;
    }
    fuzz::expect(tagma::sources::expand_host_list(list) == hosts, "names without brackets stand for themselves");
  } catch (const tagma::error& e) {
    fuzz::expect_error(e, {tagma::status_code::invalid_argument}, "input");
  }
  return 0;
}
