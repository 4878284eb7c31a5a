// SPDX-License-Identifier: BSL-1.0
// Examples of docs/reference/cluster.md: servers and sessions over them.
#include <catch2/catch.hpp>

#include <tagma/parts.hpp>
#include <tagma/program_files.hpp>
#include <tagma/programs.hpp>
#include <tagma/queues.hpp>
#include <tagma/tagma.hpp>

#include "support/errors.hpp"
#include "support/servers.hpp"
#include "support/temporary_directory.hpp"
#include "support/texts.hpp"
#include "tagma/cluster/ask_for_cluster.hpp"
#include "tagma/cluster/monitored_session.hpp"
#include "tagma/cluster/queue.hpp"
#include "tagma/cluster/typed_session.hpp"

namespace tg = tagma;
using tagma::test::text;

TEST_CASE("reference: sessions over clusters") {
  const tagma::test::temporary_directory folder;
  const tg::cluster members({{"ps", {"a:1"}}, {"worker", {"b:1"}}});
  tagma::test::servers all(tg::cluster{});
  all.with.checkpoints = folder.path.string();
  all.members = members;
  all.start_all(members);
  tg::transport::network& network = all.network;
  tg::cluster_session_options how = all.client();
  tg::service::worker_options options;
  // A server of one's own, not those of tg::server, lets clients have it drive their runs:
  // example: open_by_master
  options.open_session = tg::open_by_master(network, members);
  // end
  CHECK(options.open_session);

  constexpr auto x = tg::placeholder<"x", float, 3>();
  auto total = tg::on<"/job:ps">(tg::variable<"total", float, 3>(tg::zeros));
  auto add = tg::assign_add(total, x);
  const auto compiled = tg::compile([=] { return tg::outputs(add, total); });
  tg::any_program program(compiled, {"add", "total"});
  // example: ask_for_cluster, described_cluster
  tg::described_cluster there = tg::ask_for_cluster(network, "b:1", how);  // there.home is task 0 of job "worker"
  // end
  CHECK(there.members == members);
  CHECK(tg::to_string(there.home) == "task 0 of job \"worker\"");

  // example: missing_variable
  std::string before = tg::missing_variable(network, members, program, how);  // "total": no task has it yet
  // end
  CHECK(before == "total");

  // example: cluster_session, cluster_session_options, save_options, session_master
  tg::cluster_session session(network, members, /*home*/ {"worker", 0}, program, how);
  session.run("add", tg::feed_to("x", tg::tensor<float>({3}, {1, 2, 3})));
  tg::any_tensor value = session.run("total");  // [1, 2, 3]
  session.save("model-1", {.keep = 3});         // each server writes its own variables
  auto back = session.restore("model-*");       // the newest
  // end
  CHECK(text(value.as<float>()) == "[1, 2, 3]");
  CHECK(back.variables == 1);
  CHECK(tg::missing_variable(network, members, program, how).empty());

  how = all.client();
  // example: typed_session
  tg::typed_session checked(network, members, {"worker", 0}, compiled, how);  // of a program with handles
  tg::tensor<float> more =
      checked.run(add, x = tg::tensor<float>({3}, {1, 1, 1}));  // [2, 3, 4], checked by the compiler
  // end
  CHECK(text(more) == "[2, 3, 4]");

  how = all.client();
  int made = 0;
  // example: monitored_session, monitored_options, run_hooks
  tg::run_hooks hooks;
  hooks.session_made = [&](tg::cluster_session&) { ++made; };
  tg::monitored_session kept(network, members, {"worker", 0}, program, how, {.checkpoints = "kept", .keep = 2},
                             {hooks});
  kept.run({"add"},
           {tg::feed_to("x", tg::tensor<float>({3}, {1, 1, 1}))});  // done again in a new session if a server was lost
  // end
  CHECK(made == 1);

  how = all.client();
  // example: cluster_queue, received_tuple
  tg::cluster_queue<tg::spec<float, 2>, tg::spec<std::int64_t>> q(network, members, {"ps", 0}, "rows", {.capacity = 10},
                                                                  how);
  q.enqueue(tg::tensor<float>({2}, {1, 2}), 7);
  auto [row, label] = q.dequeue();  // views: row is [1, 2], label[0] is 7
  // end
  CHECK(text(row) == "[1, 2]");
  CHECK(label[0] == 7);
}
