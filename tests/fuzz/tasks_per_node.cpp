// SPDX-License-Identifier: BSL-1.0
// Numbers of processes of nodes add up to as many as a cluster may have, and stand for themselves where they are
// written out.
#include "fuzz/fuzz.hpp"
#include "tagma/cluster/sources/slurm.hpp"

namespace fuzz = tagma::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  try {
    const std::vector<int> counts = tagma::sources::expand_tasks_per_node(text, "input");
    int sum = 0;
    std::string list;
    for (const int count : counts) {
      fuzz::expect(count > 0, "a node has a process");
      sum += count;
      list += (list.empty() ? "" : ",") + std::to_string(count);
    }
    fuzz::expect(sum > 0 && sum <= tagma::cluster_limits::tasks, "there are processes, and not too many");
    fuzz::expect(tagma::sources::expand_tasks_per_node(list) == counts, "numbers stand for themselves");
  } catch (const tagma::error& e) {
    fuzz::expect_error(e, {tagma::status_code::invalid_argument}, "input");
  }
  return 0;
}
