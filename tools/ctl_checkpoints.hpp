// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// How tagma-ctl has servers save and restore a container, whoever trains there or does not any more.

#include <string>
#include <utility>
#include <vector>

#include "ctl_cluster.hpp"
#include "ctl_table.hpp"
#include "tagma/cluster/service/checkpoint_rounds.hpp"

namespace tagma::tools::ctl {

/// What a container is saved by, and restored.
class checkpoint_tasks {
 public:
  checkpoint_tasks(asked_cluster& all, const request& given)
      : connections_(all, given),
        asked_{all.network(), all.tasks(), connections_.outlets(), 600'000'000'000, given.timeout_ns},
        rounds_(asked_, given.container.value_or("")) {}
  checkpoint_tasks(const checkpoint_tasks&) = delete;
  checkpoint_tasks& operator=(const checkpoint_tasks&) = delete;

  [[nodiscard]] const service::checkpoint_rounds& rounds() const { return rounds_; }

 private:
  lasting_connections connections_;
  service::asked_tasks asked_;
  service::checkpoint_rounds rounds_;
};

[[nodiscard]] inline const char* cut_text(isolation cut) {
  return cut == isolation::runs ? "between runs" : "each variable by itself";
}

inline void save_container(asked_cluster& all, const request& given) {
  const checkpoint_tasks tasks(all, given);
  save_options how;
  how.keep = given.keep, how.full = given.full;
  const saved_checkpoint made = tasks.rounds().save(given.names[0], how, [] {});
  if (given.json) {
    json_text j;
    j.begin('{').name("name").value(made.name).name("cut").value(made.cut == isolation::runs ? "runs" : "variables");
    j.name("variables").value(made.variables).name("bytes").value(made.bytes).name("written").value(made.written);
    return print(j.end('}').text() + "\n");
  }
  print(printable(
      sentence({"saved '", made.name, "': ", made.variables, made.variables == 1 ? " variable of " : " variables of ",
                bytes_text(made.bytes), ", ", bytes_text(made.written), " of that new; ", cut_text(made.cut), "\n"})));
}

inline void restore_container(asked_cluster& all, const request& given) {
  const checkpoint_tasks tasks(all, given);
  std::vector<service::name_list> wanted;
  for (const service::variable_list& there : tasks.rounds().list()) {
    wanted.emplace_back();
    for (const auto& v : there.variables) wanted.back().names.push_back(v.name);
  }
  const restored_checkpoint made = tasks.rounds().restore(given.names[0], save_options().pause_ns, wanted);
  if (given.json) {
    json_text j;
    j.begin('{').name("name").value(made.name).name("cut").value(made.cut == isolation::runs ? "runs" : "variables");
    j.name("variables").value(made.variables).name("texts").begin('{');
    for (const auto& [key, text] : made.texts) j.name(key).value(text);
    return print(j.end('}').end('}').text() + "\n");
  }
  print(printable(sentence({"restored '", made.name, "': ", made.variables,
                            made.variables == 1 ? " variable; " : " variables; ", cut_text(made.cut), "\n"})));
}

}  // namespace tagma::tools::ctl
