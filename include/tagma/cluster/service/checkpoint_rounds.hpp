// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Checkpoints of a container, which several tasks write and read together.

#include <functional>
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
#include "tagma/runtime/wait_word.hpp"
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
    all_.wait([&](const error& why) {
      for (const auto& c : calls_)
        if (c != nullptr) c->give_up(why);
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
    draw_token();
  }
  pause(const pause&) = delete;
  pause& operator=(const pause&) = delete;
  ~pause() { end(false); }

  [[nodiscard]] std::uint64_t token() const { return token_; }
  /// True if no run is open any more; else they go on.
  [[nodiscard]] bool begin(std::int64_t within_ns) {
    if (within_ns <= 0) return false;
    const std::int64_t until = runtime::later(of_.whom_.by.now(), within_ns);
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
        let_go();
      }
      if (held && open.empty()) return true;
      if (of_.whom_.by.now() >= until) {
        let_go();
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
  void draw_token() { token_ = draw_number() | 1; }
  /// What is done next has another token: servers may give up what they hear of under this one.
  void let_go() {
    post(false);
    draw_token();
  }
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

}  // namespace tagma::service

#ifndef TAGMA_COMPILED
#include "tagma/cluster/service/checkpoint_rounds.ipp"
#endif
