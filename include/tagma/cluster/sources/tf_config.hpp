// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// TF_CONFIG, the variable that TensorFlow's tools set: one JSON object with the cluster and the task of this process.
///
///     {"cluster": {"chief": ["10.0.0.1:2222"], "worker": ["10.0.0.2:2222", "10.0.0.3:2222"]},
///      "task": {"type": "worker", "index": 0}}

#include <string_view>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/cluster/environment.hpp"
#include "tagma/cluster/sources/finding.hpp"

namespace tagma::sources {

/// Reads the text of TF_CONFIG. Members that it does not know are passed over. Without a `cluster`, or with an empty
/// one, it says nothing of a cluster. The index of the task may be a number or a string. Throws `invalid_argument`,
/// which has the path of what is wrong (`TF_CONFIG: cluster.worker[1]`), also where the task is not in the cluster; an
/// evaluator need not be there.
[[nodiscard]] finding tf_config_from(std::string_view text);

[[nodiscard]] bool has_tf_config(const environment& variables);
[[nodiscard]] finding tf_config(const environment& variables);

}  // namespace tagma::sources

#ifndef TAGMA_COMPILED
#include "tagma/cluster/sources/tf_config.ipp"
#endif
