// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// How tagma-ctl makes one timeline of what all tasks do: each records its steps, and the times are put on one clock.

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ctl_cluster.hpp"
#include "tagma/observe/trace.hpp"

namespace tagma::tools::ctl {

/// All tasks while they record: heartbeats tell how far clocks are apart.
class traced_tasks {
 public:
  traced_tasks(asked_cluster& all, const request& given) : all_(all), given_(given), connections_(all, given) {}

  /// Asks all; those that do not answer are problems of the cluster, and nullptr.
  template <class Body>
  [[nodiscard]] std::vector<std::unique_ptr<service::question>> ask(service::message kind, const Body& body_of) {
    std::vector<std::unique_ptr<service::question>> questions;
    std::vector<std::unique_ptr<service::gathering>> waits;
    for (std::size_t t = 0; t < all_.tasks().size(); ++t) {
      waits.push_back(std::make_unique<service::gathering>());
      questions.push_back(std::make_unique<service::question>(*waits.back(), short_name(all_.tasks()[t].id)));
      transport::outgoing m;
      m.kind = static_cast<std::uint16_t>(kind);
      m.body = body_of(t);
      connections_.outlets()[t]->ask(std::move(m), given_.timeout_ns, *questions.back());
    }
    for (std::size_t t = 0; t < all_.tasks().size(); ++t) {
      try {
        waits[t]->wait([](const error&) {});
      } catch (const error& e) {
        all_.add_problem(sentence_of(e));
        questions[t] = nullptr;
      }
    }
    return questions;
  }

  /// The clock of a task less the one here; waits for a heartbeat if there was none yet.
  [[nodiscard]] std::int64_t clock_offset(std::size_t task) const {
    const std::int64_t until = all_.network().now() + given_.timeout_ns;
    for (;;) {
      const std::shared_ptr<transport::link> link = connections_.outlets()[task]->current();
      if (link == nullptr) return 0;
      const transport::link_counters seen = link->counters();
      if (seen.round_trip_ns != 0 || all_.network().now() >= until) return seen.clock_offset_ns;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

 private:
  asked_cluster& all_;
  const request& given_;
  lasting_connections connections_;
};

inline void record_timeline(asked_cluster& all, const request& given) {
  constexpr std::uint32_t apart = 1000;  // devices that a task may have
  traced_tasks tasks(all, given);
  const std::int64_t seconds_ns = given.seconds * 1'000'000'000;
  (void)tasks.ask(service::message::begin_trace,
                  [&](std::size_t) { return service::begin_trace{seconds_ns + 3 * given.timeout_ns}.body(); });
  const std::int64_t origin_ns = all.network().now();
  std::this_thread::sleep_for(std::chrono::nanoseconds(seconds_ns));
  std::vector<std::string> parts;
  std::uint64_t left_out = 0;
  const auto answers = tasks.ask(service::message::end_trace, [&](std::size_t t) {
    return service::end_trace{origin_ns + tasks.clock_offset(t), static_cast<std::uint32_t>(t) * apart,
                              short_name(all.tasks()[t].id)}
        .body();
  });
  for (const auto& a : answers) {
    if (a == nullptr) continue;
    left_out += service::ended_trace::read(a->body).left_out;
    parts.emplace_back(a->bulk_text());
  }
  if (left_out > 0) all.add_problem(sentence({left_out, " steps were too many, and are left out"}));
  const std::string text = trace::json_of({parts.data(), parts.size()});
  if (given.output.empty()) return print(text);
  const std::string_view pieces[] = {text};
  replace_file(given.output, pieces);
}

}  // namespace tagma::tools::ctl
