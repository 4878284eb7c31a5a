// SPDX-License-Identifier: BSL-1.0
// What TF_CONFIG says is a role of its cluster, or an error that names it.
#include "tagma/cluster/sources/tf_config.hpp"
#include "fuzz/fuzz.hpp"

namespace fuzz = tagma::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  try {
    const tagma::sources::finding found = tagma::sources::tf_config_from(text);
    if (!found.members) return 0;
    fuzz::expect(!found.members->empty(), "an empty cluster is none");
    if (!found.options.job.empty() && found.options.task >= 0) {
      const tagma::role role(*found.members, found.options);
      fuzz::expect(role.job() == found.options.job && role.task() == found.options.task, "the task is in the cluster");
    }
  } catch (const tagma::error& e) {
    fuzz::expect_error(e, {tagma::status_code::invalid_argument}, "TF_CONFIG");
  }
  return 0;
}
