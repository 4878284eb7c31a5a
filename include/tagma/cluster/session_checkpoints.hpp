// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// How a session has checkpoints made: definitions of session.hpp.

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/cluster/checkpoint.hpp"
#include "tagma/cluster/service/checkpoint_messages.hpp"
#include "tagma/cluster/service/master_messages.hpp"
#include "tagma/cluster/session.hpp"

namespace tagma {

/// Asks tasks, again where a connection is lost, and waits for all of them: what is asked may be done twice.
class cluster_session::round {
 public:
  explicit round(cluster_session& of) : of_(of), calls_(of.tasks_.size()) {}

  /// @param task a position among those of the session
  void ask(std::size_t task, service::message kind, std::string body,
           std::shared_ptr<const std::string> bulk = nullptr) {
    const auto told = [this, task](const error* why) {
      if (why == nullptr) return all_.come(nullptr);
      const error with_name(why->code(), of_.named(task, runtime::without_code(why->what())));
      all_.come(&with_name);
    };
    calls_[task] =
        std::make_unique<service::repeated_call>(of_.network_, *of_.outlets_[task], kind, std::move(body),
                                                 std::move(bulk), of_.options_.run_ns, of_.options_.again_ns, told);
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
  cluster_session& of_;
  service::gathering all_;
  std::vector<std::unique_ptr<service::repeated_call>> calls_;
};

/// Holds the runs of the container on some tasks, as long as it lives and they hear of it.
class cluster_session::pause {
 public:
  pause(cluster_session& of, std::vector<std::size_t> tasks) : of_(of), tasks_(std::move(tasks)) {
    token_ = service::draw_number() | 1;
  }
  pause(const pause&) = delete;
  pause& operator=(const pause&) = delete;
  ~pause() { end(false); }

  [[nodiscard]] std::uint64_t token() const { return token_; }
  /// True if no run is open any more; else they go on.
  [[nodiscard]] bool begin(std::int64_t within_ns) {
    if (within_ns <= 0) return false;
    const std::int64_t until = of_.network_.now() + within_ns;
    std::vector<service::run_number> begun;
    for (;;) {
      bool held = true;
      std::set<service::run_number> open;
      try {
        round all(of_);
        for (const std::size_t t : tasks_)
          all.ask(t, service::message::hold_runs, service::hold_runs{of_.options_.container, token_, begun}.body());
        all.wait();
        for (const std::size_t t : tasks_)
          for (const auto& run : service::open_runs::read(all.body(t)).runs) open.insert(run);
      } catch (const error& e) {
        if (e.code() != status_code::aborted) throw;
        held = false;  // another one saves
        post(false);
      }
      if (held && open.empty()) return true;
      if (of_.network_.now() >= until) {
        post(false);
        return false;
      }
      begun.assign(open.begin(), open.end());
      if (begun.size() > service::most_listed) begun.resize(service::most_listed);
      service::pause_for(held ? 1'000'000 : 10'000'000);
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
      m.kind = static_cast<std::uint16_t>(service::message::end_hold);
      m.body = service::end_hold{of_.options_.container, token_, committed}.body();
      of_.outlets_[t]->post(std::move(m));
    }
  }

  cluster_session& of_;
  std::vector<std::size_t> tasks_;
  std::uint64_t token_ = 0;
  bool over_ = false;
};

/// Throws Aborted if a server that has variables of the program is another one than when it got its part, Unavailable
/// for one that is not there.
inline void cluster_session::check_servers() const {
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    if (!has_state_[t]) continue;
    const std::shared_ptr<transport::link> link = outlets_[t]->current();
    const std::string name = to_string(task_device(tasks_[t].id));
    if (link == nullptr) fail(status_code::unavailable, {name, ": the connection was lost; nothing was saved"});
    if (link->peer().incarnation != servers_[t])
      fail(status_code::aborted, {name, ": the server was started anew since it got graph ", graph_,
                                  ", and what its variables were is lost; nothing was saved"});
  }
}

inline std::string cluster_session::ask_master(service::message kind, std::string body) {
  round one(*this);
  one.ask(0, kind, std::move(body));
  one.wait();
  return one.body(0);
}

inline saved_checkpoint cluster_session::save(const std::string& name, const save_options& how) {
  if (by_server())
    return service::saved_session::read(
               ask_master(service::message::save_session, service::save_session{graph_, name, how}.body()))
        .made;
  round lists(*this);
  for (std::size_t t = 0; t < tasks_.size(); ++t) lists.ask(t, service::message::list_variables, options_.container);
  lists.wait();
  std::vector<std::size_t> tasks;
  for (std::size_t t = 0; t < tasks_.size(); ++t)
    if (!service::variable_list::read(lists.bulk(t)).variables.empty()) tasks.push_back(t);
  if (tasks.empty()) fail(status_code::failed_precondition, {"checkpoint '", name, "': there are no variables"});
  for (bool full = how.full, held = true;;) {
    pause now(*this, tasks);
    held = held && now.begin(how.pause_ns);
    try {
      return save(name, how, tasks, now, held, full);
    } catch (const error& e) {
      // The hold was too short, or a file of an earlier checkpoint has gone meanwhile.
      if (e.code() != status_code::failed_precondition || (!held && full)) throw;
      held ? held = false : full = true;
    }
  }
}

inline saved_checkpoint cluster_session::save(const std::string& name, const save_options& how,
                                              const std::vector<std::size_t>& tasks, pause& now, bool held, bool full) {
  round shards(*this);
  for (const std::size_t t : tasks)
    shards.ask(t, service::message::save_shard,
               service::save_shard{options_.container, name, now.token(), held, full}.body());
  shards.wait();
  check_servers();  // before there is a checkpoint: what has been saved is of those that were there all the time
  saved_checkpoint made{name, held ? isolation::runs : isolation::variables};
  service::saved_shard all;
  for (const std::size_t t : tasks)
    for (auto& v : service::saved_shard::read(shards.bulk(t)).variables) {
      ++made.variables;
      made.bytes += v.bytes;
      if (v.written) made.written += v.bytes;
      all.variables.push_back(std::move(v));
    }
  service::commit_save last{name, now.token(), how.keep, {how.texts.begin(), how.texts.end()}};
  last.texts.emplace_back("container", options_.container);
  last.texts.emplace_back("cut", held ? "runs" : "variables");
  round commit(*this);
  commit.ask(tasks.front(), service::message::commit_save, last.body(),
             std::make_shared<const std::string>(all.body()));
  commit.wait();
  now.end(true);
  return made;
}

inline restored_checkpoint cluster_session::restore(const std::string& name, std::int64_t pause_ns) {
  if (by_server())
    return service::restored_session::read(
               ask_master(service::message::restore_session, service::restore_session{graph_, name, pause_ns}.body()))
        .made;
  std::vector<std::size_t> tasks;
  std::vector<service::name_list> wanted(tasks_.size());
  restored_checkpoint made;
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    if (!has_part_[t]) continue;
    std::set<std::string> names;
    const ir::graph_view g = parts_[t].graph();
    for (ir::node_id i = 0; i < g.size(); ++i)
      if (g.info(i).is(ir::op_kind::variable))
        names.insert(runtime::name_in_container(options_.variable_prefix, g[i].name, g[i].suffix));
    if (names.empty()) continue;
    wanted[t].names = {names.begin(), names.end()};
    made.variables += names.size();
    tasks.push_back(t);
  }
  if (tasks.empty()) fail(status_code::failed_precondition, {"checkpoint '", name, "': the program has no variables"});
  pause now(*this, tasks);
  made.cut = now.begin(pause_ns) ? isolation::runs : isolation::variables;
  std::string found = name;
  for (const bool checks : {true, false}) {
    round all(*this);
    for (const std::size_t t : tasks)
      all.ask(t, service::message::restore_shard,
              service::restore_shard{options_.container, found, now.token(), checks}.body(),
              std::make_shared<const std::string>(wanted[t].body()));
    all.wait();
    for (const std::size_t t : tasks) {
      std::map<std::string, std::string, std::less<>> texts;
      for (const auto& [key, text] : service::restored_shard::read(all.body(t)).texts)
        texts.insert_or_assign(key, text);
      if (t != tasks.front() && texts["name"] != made.name)
        fail(status_code::failed_precondition,
             {to_string(task_device(tasks_[t].id)), ": its newest checkpoint is '", texts["name"], "', that of ",
              to_string(task_device(tasks_[tasks.front()].id)), " is '", made.name, "'; nothing was restored"});
      made.name = texts["name"];
      texts.erase("name");
      made.texts = std::move(texts);
    }
    found = made.name;
  }
  now.end(false);
  return made;
}

}  // namespace tagma
