// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A body of each message of services, as docs/wire.md has them.

#include <string>
#include <utility>
#include <vector>

#include "tagma/cluster/service/checkpoint_messages.hpp"
#include "tagma/cluster/service/master_messages.hpp"
#include "tagma/cluster/service/messages.hpp"
#include "tagma/cluster/service/reports.hpp"

namespace tagma::test {

/// Calls `f` with the name that the page gives a body, and the message.
template <class F>
void each_service_sample(const F& f) {
  using namespace service;
  const std::vector<placed_task> tasks{{{"ps", 0}, "a:1"}, {{"worker", 3}, "[::1]:2"}};
  f("add_part", add_part{7, 1, "trial", "replica_3", isolation::runs, 42, tasks, 12});
  f("added_part", added_part{0x0123456789abcdef});
  f("run_part", run_part{7, 9, 8, 0x0123456789abcdef, {0, 2}, {{{1, 4}, {dtype::float32, {2, 3}}}}});
  f("part_results", part_results{{{dtype::none, {}}, {dtype::int64, {5}}}});
  f("run_failed", part_results{{}, status_code::out_of_range, "index 7"});
  f("tensor", edge_of_run{7, 9, 3, {dtype::float32, {2, 3}}});
  f("wanted", edge_of_run{7, 9, 3, {}});
  f("end_run", end_run{7, 9, status_code::out_of_range, "index 7"});
  f("forget_graph", edge_of_run{7, 0, 0, {}});
  f("variable_list", variable_list{{{"w", {dtype::float32, {3}}}, {"w/adam_m", {dtype::float32, {3}}, "GPU", 1}}});
  f("device_offers", device_offers{{{"GPU", 2, {"add", "matmul"}}, {"NPU", 1, {}}}});
  f("task_list", task_list{{"ps", 0}, tasks});
  f("keep_graph", edge_of_run{7, 0, 0, {}});
  f("hold_runs", hold_runs{"trial", 78, {{7, 9}, {8, 0}}});
  f("open_runs", open_runs{{{7, 10}}});
  f("save_shard", save_shard{"trial", "model-5", 78, true, false});
  f("saved_shard", saved_shard{{{"b", "model-4-000000000000004d-ps-0.safetensors", 4, false},
                                {"w", "model-5-000000000000004e-ps-0.safetensors", 12, true}}});
  f("commit_save", commit_save{"model-5", 78, 3, {{"cut", "runs"}, {"container", "trial"}}});
  f("end_hold", end_hold{"trial", 78, true});
  f("restore_shard", restore_shard{"trial", "model-*", 79, true});
  f("name_list", name_list{{"b", "w"}});
  f("restored_shard", restored_shard{{{"saved", "2026-01-01T00:00:00Z"}, {"name", "model-5"}}});
  server_status s;
  s.self = {"ps", 0}, s.incarnation = 0x0123456789abcdef, s.build = "tagma", s.uptime_ns = 90'000'000'000;
  s.resident_bytes = 4096, s.graphs = 2, s.runs = 1, s.runs_begun = 12, s.runs_failed = 3;
  s.devices = {{"/job:ps/replica:0/task:0/device:CPU:0", 24},
               {"/job:ps/replica:0/task:0/device:GPU:0", 8, 512, 1'048'576}};
  s.connections = {{true, {"client", 0}, "client", 42, 100, 200, 3, 4, 1, 2, 50'000, 1'000'000, true}};
  f("server_status", s);
  f("container_list",
    container_list{{{"", isolation::variables, 2, 24, 1, 1}, {"trial", isolation::runs, 0, 0, 0, 0}}});
  f("resource_list", resource_list{{{"queue", "q", "FIFO queue 'q' of int32 []", {}, false, true, 3, 8, 0, 2},
                                    {"variable",
                                     "w",
                                     "variable 'w' float32 [3]",
                                     {dtype::float32, {3}},
                                     true,
                                     false,
                                     12,
                                     -1,
                                     0,
                                     0,
                                     "/device:GPU:1"}}});
  f("read_variable", read_variable{"trial", "w", true});
  f("variable_value", variable_value{{dtype::float32, {3}}, {1, -2, 3, 0.5, 5, 3.5}});
  f("run_list", run_list{{{7,
                           9,
                           "trial",
                           true,
                           2'000'000'000,
                           {{3, run_list::wait::comes, {"worker", 3}}, {4, run_list::wait::wanted, {"worker", 3}}}},
                          {7, 10, "trial", false, 0, {}, "run 4 lasts for 60 s"}}});
  f("begin_trace", begin_trace{2'000'000'000});
  f("end_trace", end_trace{5'000'000, 1000, "/job:ps/task:0"});
  f("ended_trace", ended_trace{3});
  f("reset_result", reset_result{5, 2});
  f("open_session", open_session{{7, 0, "trial", "replica_3", isolation::runs, 42, {tasks[0]}, 12},
                                 {"/job:ps", "/job:worker/task:3"},
                                 30'000'000'000,
                                 600'000'000'000,
                                 20'000'000'000,
                                 5'000'000'000,
                                 60'000'000'000});
  f("node_devices", node_devices{{"/job:ps/replica:0/task:0/device:CPU:0"}, {0, 0}});
  f("save_session", save_session{7, "model-5", {3, true, 2'000'000'000, {{"epoch", "12"}}}});
  f("saved_session", saved_session{{"model-5", isolation::runs, 2, 16, 12}});
  f("restore_session", restore_session{7, "model-*", 2'000'000'000});
  f("restored_session", restored_session{{"model-5", isolation::variables, 2, {{"epoch", "12"}}}});
  f("probe", probe{{"worker", 3}});
  f("probe_result", probe_result{"[::1]:2", 42, 1'500'000, 90'000});
}

}  // namespace tagma::test
