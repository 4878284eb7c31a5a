// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Checkpoints of a container, which several tasks write and read together.

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/cluster/checkpoint.hpp"
#include "tagma/cluster/devices.hpp"
#include "tagma/cluster/service/checkpoint_messages.hpp"
#include "tagma/cluster/service/gathering.hpp"
#include "tagma/cluster/service/messages.hpp"
#include "tagma/cluster/service/outlet.hpp"
#include "tagma/cluster/service/repeated_call.hpp"
#include "tagma/runtime/caught.hpp"
#include "tagma/transport/broken.hpp"
#include "tagma/transport/network.hpp"

namespace tagma::service {

/// Tasks that are asked, and for how long.
struct asked_tasks {
  transport::network& by;
  const std::vector<placed_task>& tasks;
  const std::vector<std::shared_ptr<outlet>>& outlets;  ///< of each
  std::int64_t run_ns, again_ns;                        ///< as of `cluster_session_options`
  bool relayed = false;                                 ///< a task may speak for others, which its errors then name

  /// Begins with the task.
  [[nodiscard]] std::string named(std::size_t task, std::string_view why) const {
    if (relayed && why.starts_with("/job:")) return std::string(why);
    return sentence({to_string(task_device(tasks[task].id)), ": ", why});
  }
};

/// Asks tasks, again where a connection is lost, and waits for all of them: what is asked may be done twice.
class task_round {
 public:
  explicit task_round(const asked_tasks& whom) : whom_(whom), calls_(whom.tasks.size()) {}

  /// @param task by its position
  void ask(std::size_t task, message kind, std::string body, std::shared_ptr<const std::string> bulk = nullptr) {
    const auto told = [this, task](const error* why) {
      if (why == nullptr) return all_.come(nullptr);
      const error with_name(why->code(), whom_.named(task, runtime::without_code(why->what())));
      all_.come(&with_name);
    };
    calls_[task] = std::make_unique<repeated_call>(whom_.by, *whom_.outlets[task], kind, std::move(body),
                                                   std::move(bulk), whom_.run_ns, whom_.again_ns, told);
    all_.expect();
    calls_[task]->start();
  }
  /// Throws the first error.
  void wait() {
    all_.wait([&](const error&) {
      for (const auto& c : calls_)
        if (c != nullptr) c->give_up();
    });
  }
  [[nodiscard]] const std::string& body(std::size_t task) const { return calls_[task]->body(); }
  [[nodiscard]] std::string_view bulk(std::size_t task) const {
    const std::vector<std::byte>& bytes = calls_[task]->bulk();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

 private:
  const asked_tasks& whom_;
  gathering all_;
  std::vector<std::unique_ptr<repeated_call>> calls_;
};

/// Has tasks save and restore a container.
class checkpoint_rounds {
 public:
  /// @param whom outlives it
  checkpoint_rounds(const asked_tasks& whom, std::string container) : whom_(whom), container_(std::move(container)) {}

  /// The variables that each task has.
  [[nodiscard]] std::vector<variable_list> list() const;
  /// As of `cluster_session`: of all tasks that have variables.
  /// @param check called before there is a checkpoint, which there is not if this throws
  saved_checkpoint save(const std::string& name, const save_options& how, const std::function<void()>& check) const;
  /// Likewise.
  /// @param wanted of each task the variables; those that have none are left alone
  restored_checkpoint restore(const std::string& name, std::int64_t pause_ns,
                              const std::vector<name_list>& wanted) const;

 private:
  class pause;

  saved_checkpoint save(const std::string& name, const save_options& how, const std::vector<std::size_t>& tasks,
                        pause& now, bool held, bool full, const std::function<void()>& check) const;

  const asked_tasks& whom_;
  std::string container_;
};

/// Holds the runs of the container on some tasks, as long as it lives and they hear of it.
class checkpoint_rounds::pause {
 public:
  pause(const checkpoint_rounds& of, std::vector<std::size_t> tasks) : of_(of), tasks_(std::move(tasks)) {
    token_ = draw_number() | 1;
  }
  pause(const pause&) = delete;
  pause& operator=(const pause&) = delete;
  ~pause() { end(false); }

  [[nodiscard]] std::uint64_t token() const { return token_; }
  /// True if no run is open any more; else they go on.
  [[nodiscard]] bool begin(std::int64_t within_ns) {
    if (within_ns <= 0) return false;
    const std::int64_t until = of_.whom_.by.now() + within_ns;
    std::vector<run_number> begun;
    for (;;) {
      bool held = true;
      std::set<run_number> open;
      try {
        task_round all(of_.whom_);
        for (const std::size_t t : tasks_)
          all.ask(t, message::hold_runs, hold_runs{of_.container_, token_, begun}.body());
        all.wait();
        for (const std::size_t t : tasks_)
          for (const auto& run : open_runs::read(all.body(t)).runs) open.insert(run);
      } catch (const error& e) {
        if (e.code() != status_code::aborted) throw;
        held = false;  // another one saves
        post(false);
      }
      if (held && open.empty()) return true;
      if (of_.whom_.by.now() >= until) {
        post(false);
        return false;
      }
      begun.assign(open.begin(), open.end());
      if (begun.size() > most_listed) begun.resize(most_listed);
      pause_for(held ? 1'000'000 : 10'000'000);
    }
  }
  void end(bool committed) {
    if (!over_) post(committed);
    over_ = true;
  }

 private:
  void post(bool committed) {
    for (const std::size_t t : tasks_) {
      transport::outgoing m;
      m.kind = static_cast<std::uint16_t>(message::end_hold);
      m.body = end_hold{of_.container_, token_, committed}.body();
      of_.whom_.outlets[t]->post(std::move(m));
    }
  }

  const checkpoint_rounds& of_;
  std::vector<std::size_t> tasks_;
  std::uint64_t token_ = 0;
  bool over_ = false;
};

inline std::vector<variable_list> checkpoint_rounds::list() const {
  task_round lists(whom_);
  for (std::size_t t = 0; t < whom_.tasks.size(); ++t) lists.ask(t, message::list_variables, container_);
  lists.wait();
  std::vector<variable_list> all;
  for (std::size_t t = 0; t < whom_.tasks.size(); ++t) all.push_back(variable_list::read(lists.bulk(t)));
  return all;
}

inline saved_checkpoint checkpoint_rounds::save(const std::string& name, const save_options& how,
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

inline saved_checkpoint checkpoint_rounds::save(const std::string& name, const save_options& how,
                                                const std::vector<std::size_t>& tasks, pause& now, bool held, bool full,
                                                const std::function<void()>& check) const {
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

inline restored_checkpoint checkpoint_rounds::restore(const std::string& name, std::int64_t pause_ns,
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
