// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The tasks that tagma-ctl asks, and what came of it.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ctl_options.hpp"
#include "json_text.hpp"
#include "tagma/cluster.hpp"
#include "tagma/cluster/service/inquiry.hpp"
#include "tagma/cluster/service/outlet.hpp"
#include "tagma/cluster/service/reports.hpp"
#include "tagma/sockets.hpp"

namespace tagma::tools::ctl {

/// "/job:ps/task:0".
[[nodiscard]] inline std::string short_name(const task_id& id) {
  return sentence({"/job:", id.job, "/task:", id.task});
}

/// What one task answers.
template <class Report>
struct task_report {
  service::placed_task task;
  std::optional<error> problem;
  Report report{};
};

/// The servers of a cluster, for questions.
class asked_cluster {
 public:
  explicit asked_cluster(const request& given) : given_(given), inquiry_(network_, client_of(given), given.timeout_ns) {
    find_tasks();
  }

  [[nodiscard]] const std::vector<service::placed_task>& tasks() const { return tasks_; }
  [[nodiscard]] transport::network& network() { return network_; }
  [[nodiscard]] static transport::options client_of(const request& given) {
    transport::options how;
    how.self.job = how.self.role = "client";
    how.secret = given.secret;
    how.insecure = given.insecure;
    how.tls = given.tls;
    return how;
  }
  /// True if a task did not answer, or not well; those are named on standard error at the end.
  [[nodiscard]] bool is_ill() const { return !problems_.empty(); }
  [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }
  void add_problem(std::string text) {
    for (const std::string& known : problems_)
      if (known == text) return;
    problems_.push_back(std::move(text));
  }

  /// Asks every task the same, whose answer is bulk.
  template <class Report>
  [[nodiscard]] std::vector<task_report<Report>> ask_all(service::message kind, const std::string& body = {}) {
    std::vector<std::pair<service::placed_task, std::string>> questions;
    for (const service::placed_task& t : tasks_) questions.emplace_back(t, body);
    return ask<Report>(kind, questions, true);
  }
  /// Asks some tasks.
  /// @param is_bulk where the answer is
  /// @param missing NotFound is an answer like others, and no problem
  template <class Report>
  [[nodiscard]] std::vector<task_report<Report>> ask(
      service::message kind, const std::vector<std::pair<service::placed_task, std::string>>& questions, bool is_bulk,
      bool missing = false) {
    std::vector<service::inquiry_question> all;
    for (const auto& [task, body] : questions) all.push_back({task, kind, body});
    std::vector<service::inquiry_answer> answers = inquiry_.ask(all);
    std::vector<task_report<Report>> reports;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      task_report<Report> r{questions[i].first, std::move(answers[i].problem), {}};
      try {
        if (!r.problem) r.report = Report::read(is_bulk ? answers[i].bulk_text() : answers[i].body);
      } catch (const error& e) {
        r.problem.emplace(e);
      }
      if (r.problem && !(missing && r.problem->code() == status_code::not_found))
        add_problem(sentence({short_name(r.task.id), " at ", r.task.address, ": ", r.problem->what()}));
      reports.push_back(std::move(r));
    }
    return reports;
  }

 private:
  void find_tasks() {
    std::vector<service::placed_task> all;
    if (!given_.target.empty()) {
      const std::string at =
          or_refuse(exit_status::usage, "--target: ", [&] { return to_string(target_address(given_.target)); });
      service::inquiry_question question;
      question.whom.id.task = -1, question.whom.address = at;
      question.kind = service::message::list_tasks;
      const service::inquiry_answer answer =
          or_refuse(exit_status::run_failed, "the server at " + at + ": ", [&] { return inquiry_.ask(question); });
      all = service::task_list::read(answer.body).tasks;
    } else {
      const std::optional<cluster> found =
          or_refuse(exit_status::usage, "", [&] { return discover_cluster(given_.cluster); });
      if (!found)
        refuse(exit_status::usage,
               {"nothing describes a cluster (--target, --cluster, TAGMA_CLUSTER, TF_CONFIG, ...); --help shows how"});
      for (const auto& [job, tasks] : found->as_map())
        for (const auto& [task, at] : tasks) all.push_back({{job, task}, to_string(at)});
    }
    for (service::placed_task& t : all)
      if ((given_.job.empty() || t.id.job == given_.job) && (!given_.task || t.id.task == *given_.task))
        tasks_.push_back(std::move(t));
    if (tasks_.empty())
      refuse(exit_status::usage, {"the cluster has no ", given_.task ? sentence({"task ", *given_.task, " of "}) : "",
                                  "job '", given_.job, "'"});
  }

  const request& given_;
  transport::asio::network network_;
  service::inquiry inquiry_;
  std::vector<service::placed_task> tasks_;
  std::vector<std::string> problems_;
};

/// Connections to all tasks that last longer than a question.
class lasting_connections {
 public:
  lasting_connections(asked_cluster& all, const request& given) {
    for (const service::placed_task& t : all.tasks())
      outlets_.push_back(std::make_shared<service::outlet>(all.network(), t.address, asked_cluster::client_of(given),
                                                           t.id, given.timeout_ns, [](const error&) {}));
  }
  lasting_connections(const lasting_connections&) = delete;
  lasting_connections& operator=(const lasting_connections&) = delete;
  ~lasting_connections() {
    for (const auto& out : outlets_) out->close();
  }

  /// In the order of the tasks.
  [[nodiscard]] const std::vector<std::shared_ptr<service::outlet>>& outlets() const { return outlets_; }

 private:
  std::vector<std::shared_ptr<service::outlet>> outlets_;
};

/// Begins the object of a task: "task", and "ok" or "error".
template <class Report>
bool begin_task(json_text& j, const task_report<Report>& r) {
  j.begin('{').name("task").value(short_name(r.task.id)).name("job").value(r.task.id.job);
  j.name("index").value(r.task.id.task).name("address").value(r.task.address).name("ok").value(!r.problem.has_value());
  if (r.problem) j.name("error").value(std::string_view(r.problem->what()));
  return !r.problem.has_value();
}

}  // namespace tagma::tools::ctl
