// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of checkpoint_rounds.hpp: in the compiled half, or else in each file that includes it.

#include <map>

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/checkpoint_rounds.hpp"
#include "tagma/transport/broken.hpp"

namespace tagma::service {

TAGMA_DECL std::vector<variable_list> checkpoint_rounds::list() const {
  task_round lists(whom_);
  for (std::size_t t = 0; t < whom_.tasks.size(); ++t) lists.ask(t, message::list_variables, container_);
  lists.wait();
  std::vector<variable_list> all;
  for (std::size_t t = 0; t < whom_.tasks.size(); ++t) all.push_back(variable_list::read(lists.bulk(t)));
  return all;
}

TAGMA_DECL saved_checkpoint checkpoint_rounds::save(const std::string& name, const save_options& how,
                                                    const std::function<void()>& check) const {
  std::vector<std::size_t> tasks;
  const std::vector<variable_list> there = list();
  for (std::size_t t = 0; t < there.size(); ++t)
    if (!there[t].variables.empty()) tasks.push_back(t);
  if (tasks.empty()) fail(status_code::failed_precondition, {"checkpoint '", name, "': there are no variables"});
  for (bool full = how.full, held = true;;) {
    pause now(*this, tasks);
    held = held && now.begin(how.pause_ns);
    try {
      return save(name, how, tasks, now, held, full, check);
    } catch (const error& e) {
      // The hold was too short, or a file of an earlier checkpoint has gone meanwhile.
      if (e.code() != status_code::failed_precondition || (!held && full)) throw;
      held ? held = false : full = true;
    }
  }
}

TAGMA_DECL saved_checkpoint checkpoint_rounds::save(const std::string& name, const save_options& how,
                                                    const std::vector<std::size_t>& tasks, pause& now, bool held,
                                                    bool full, const std::function<void()>& check) const {
  task_round shards(whom_);
  for (const std::size_t t : tasks)
    shards.ask(t, message::save_shard, save_shard{container_, name, now.token(), held, full}.body());
  shards.wait();
  check();  // before there is a checkpoint: what has been saved is of those that were there all the time
  saved_checkpoint made{name, held ? isolation::runs : isolation::variables};
  saved_shard all;
  for (const std::size_t t : tasks)
    for (auto& v : saved_shard::read(shards.bulk(t)).variables) {
      ++made.variables;
      made.bytes += v.bytes;
      if (v.written) made.written += v.bytes;
      all.variables.push_back(std::move(v));
    }
  commit_save last{name, now.token(), how.keep, {how.texts.begin(), how.texts.end()}};
  last.texts.emplace_back("container", container_);
  last.texts.emplace_back("cut", held ? "runs" : "variables");
  task_round commit(whom_);
  commit.ask(tasks.front(), message::commit_save, last.body(), std::make_shared<const std::string>(all.body()));
  try {
    commit.wait();
  } catch (const error&) {
    if (!TAGMA_BROKEN(commit_believed)) throw;
  }
  now.end(true);
  return made;
}

TAGMA_DECL restored_checkpoint checkpoint_rounds::restore(const std::string& name, std::int64_t pause_ns,
                                                          const std::vector<name_list>& wanted) const {
  std::vector<std::size_t> tasks;
  restored_checkpoint made;
  for (std::size_t t = 0; t < wanted.size(); ++t) {
    if (wanted[t].names.empty()) continue;
    made.variables += wanted[t].names.size();
    tasks.push_back(t);
  }
  if (tasks.empty())
    fail(status_code::failed_precondition, {"checkpoint '", name, "': there are no variables to restore"});
  pause now(*this, tasks);
  made.cut = now.begin(pause_ns) ? isolation::runs : isolation::variables;
  std::string found = name;
  for (const bool checks : {true, false}) {
    task_round all(whom_);
    for (const std::size_t t : tasks)
      all.ask(t, message::restore_shard, restore_shard{container_, found, now.token(), checks}.body(),
              std::make_shared<const std::string>(wanted[t].body()));
    all.wait();
    for (const std::size_t t : tasks) {
      std::map<std::string, std::string, std::less<>> texts;
      for (const auto& [key, text] : restored_shard::read(all.body(t)).texts) texts.insert_or_assign(key, text);
      if (t != tasks.front() && texts["name"] != made.name)
        fail(status_code::failed_precondition,
             {to_string(task_device(whom_.tasks[t].id)), ": its newest checkpoint is '", texts["name"], "', that of ",
              to_string(task_device(whom_.tasks[tasks.front()].id)), " is '", made.name, "'; nothing was restored"});
      made.name = texts["name"];
      texts.erase("name");
      made.texts = std::move(texts);
    }
    found = made.name;
  }
  now.end(false);
  return made;
}

}  // namespace tagma::service
