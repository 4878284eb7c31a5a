// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of tf_config.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/cluster/sources/json.hpp"
#include "tagma/cluster/sources/tf_config.hpp"
#include "tagma/cluster/text.hpp"

namespace tagma::sources {

namespace detail {

TAGMA_DECL void read_tf_task(json_reader& in, role_options& task) {
  const bool good = in.reader().members([&](std::string_view name) {
    const bool known = name == "type" || name == "index";
    if (!known || in.reader().next() == json::kind::null) return in.reader().skip();
    return in.at(json_reader::member(name), [&] {
      if (name == "index")
        task.task = in.index();
      else
        task.job = in.string();
    });
  });
  if (!good) in.stop();
}

TAGMA_DECL void check_tf_task(const finding& f) {
  const role_options& task = f.options;
  if (!f.members || task.job.empty() || (task.job == "evaluator" && !f.members->has_job(task.job))) return;
  if (!f.members->has_job(task.job))
    fail(status_code::invalid_argument, {"TF_CONFIG: task.type: there is no job ", tagma::detail::quote(task.job),
                                         " in the cluster, which has ", tagma::detail::enumerated(f.members->jobs())});
  if (task.task >= 0 && !f.members->has_task(task.job, task.task))
    fail(status_code::invalid_argument, {"TF_CONFIG: task.index: job \"", task.job, "\" has no task ", task.task,
                                         " among its ", f.members->num_tasks(task.job)});
}

}  // namespace detail

TAGMA_DECL finding tf_config_from(std::string_view text) {
  finding found;
  json_reader in(text, "TF_CONFIG");
  const bool good = in.reader().members([&](std::string_view name) {
    const bool known = name == "cluster" || name == "task";
    if (!known || in.reader().next() == json::kind::null) return in.reader().skip();
    return in.at(json_reader::member(name), [&] {
      if (name == "cluster")
        found.members = in.jobs();
      else
        detail::read_tf_task(in, found.options);
    });
  });
  if (!good) in.stop();
  in.end();
  if (found.members && found.members->empty()) found.members.reset();
  detail::check_tf_task(found);
  return found;
}

TAGMA_DECL bool has_tf_config(const environment& variables) { return variables.has("TF_CONFIG"); }

TAGMA_DECL finding tf_config(const environment& variables) {
  return tf_config_from(variables.need("TF_CONFIG", "TF_CONFIG"));
}

}  // namespace tagma::sources
