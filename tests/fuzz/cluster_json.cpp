// SPDX-License-Identifier: BSL-1.0
// A cluster that is read is written in one way, which is read as the same cluster; an error names what was read.
#include "fuzz/fuzz.hpp"
#include "tagma/cluster/sources/json.hpp"

namespace fuzz = tagma::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  try {
    const tagma::cluster read = tagma::cluster_from_json(text, "input");
    const std::string written = to_string(read);
    const tagma::cluster again = tagma::cluster_from_json(written, "again");
    fuzz::expect(again == read && to_string(again) == written, "what is written is read as the same");
    int tasks = 0;
    for (const std::string& job : read.jobs()) {
      for (const int task : read.task_indices(job)) (void)read.task_address(job, task);
      tasks += read.num_tasks(job);
    }
    fuzz::expect(tasks == read.num_tasks(), "all tasks are those of jobs");
  } catch (const tagma::error& e) {
    fuzz::expect_error(e, {tagma::status_code::invalid_argument}, "input");
  }
  return 0;
}
