// SPDX-License-Identifier: BSL-1.0
// Examples of docs/reference/cluster.md: which tasks there are.
#include <catch2/catch.hpp>

#include <tagma/cluster.hpp>
#include <tagma/parts.hpp>
#include <tagma/programs.hpp>
#include <tagma/tagma.hpp>

#include "support/errors.hpp"
#include "support/temporary_directory.hpp"
#include "support/texts.hpp"

namespace tg = tagma;
using tagma::test::code_of;
using tagma::test::text;

TEST_CASE("reference: addresses") {
  // example: address_from, parse_address, parsed_address, address_rules, address_use, to_string, address, address_kind
  tg::address ps = tg::address_from("PS0.example:2222");  // throws InvalidArgument for what is none
  std::string spelled = tg::to_string(ps);                // "ps0.example:2222"
  tg::parsed_address wrong = tg::parse_address("10.0.0.1");
  std::string why(wrong.reason);  // empty if it was parsed; here the port is missing
  tg::address any = tg::address_from("0.0.0.0", {.use = tg::address_use::bind, .default_port = 2222});
  // end
  CHECK(spelled == "ps0.example:2222");
  CHECK_FALSE(why.empty());
  CHECK(any.is_unspecified());
  CHECK(any.port == 2222);

  // example: target_of, target_address
  std::string target = tg::target_of(ps);  // "tagma://ps0.example:2222", for sessions
  tg::address same = tg::target_address(target);
  // end
  CHECK(target == "tagma://ps0.example:2222");
  CHECK(same == ps);

  // example: listen_at, with_port, listen_addresses
  tg::address bind = tg::address_from("0.0.0.0:0", {.use = tg::address_use::bind});
  tg::address advertise = tg::address_from("ps0.example:0", {.use = tg::address_use::bind});
  tg::listen_addresses at = tg::listen_at(advertise, bind);  // listens everywhere, at a port that the system chooses
  tg::listen_addresses chosen = tg::with_port(at, 40123);    // when it has: others reach ps0.example:40123
  // end
  CHECK(tg::to_string(chosen.advertise) == "ps0.example:40123");
  CHECK(tg::to_string(chosen.bind) == "0.0.0.0:40123");
}

TEST_CASE("reference: clusters and roles") {
  const tagma::test::working_directory folder;
  // example: cluster, cluster_from_json, cluster_from_text_or_file, to_string, job_addresses, task_addresses
  tg::cluster members({{"ps", {"a:2222"}}, {"worker", {"b:2222", "c:2222"}}});
  std::string json = tg::to_string(members);  // jobs with the addresses of their tasks
  tg::cluster same = tg::cluster_from_json(json);
  tg::cluster also =
      tg::cluster_from_text_or_file(json, "--cluster");  // a text that begins with { or the path of a file
  // end
  CHECK(same == members);
  CHECK(also == members);
  CHECK(tg::cluster_from_json(R"({"ps": ["a:2222"], "worker": ["b:2222", "c:2222"]})") == members);
  std::ofstream("cluster.json") << json;
  // example: cluster_from_file
  tg::cluster from_file = tg::cluster_from_file("cluster.json");  // errors name the file and the place in it
  // end
  CHECK(from_file == members);

  // example: role, role_options, chief_of, task_id, to_string
  tg::role role(members, {.job = "worker", .task = 0});      // which of the tasks this process is
  std::string who = tg::to_string(role);                     // task 0 of job "worker"
  std::optional<tg::task_id> chief = tg::chief_of(members);  // {"worker", 0}: it initialises and saves
  bool saves = role.is_chief();                              // true
  // end
  CHECK(who == "task 0 of job \"worker\"");
  CHECK(chief == tg::task_id{"worker", 0});
  CHECK(saves);

  // example: task_device, setter_of
  std::string device = tg::to_string(tg::task_device({"ps", 0}, "CPU", 0));  // "/job:ps/replica:0/task:0/device:CPU:0"
  int servers = tg::setter_of(members).ps_tasks;  // 1: for tg::on<tg::replica_device_setter{.ps_tasks = 1}>
  // end
  CHECK(device == "/job:ps/replica:0/task:0/device:CPU:0");
  CHECK(servers == 1);

  // example: cluster_builder, check_job_name
  tg::check_job_name("worker", "line 1: ");  // throws InvalidArgument that begins with "line 1: "
  tg::cluster_builder builder;
  builder.add_job("worker", "line 1: ");
  builder.add_task("worker", 0, "b:2222", "line 2: ");
  tg::cluster built = std::move(builder).finish();
  // end
  CHECK(built == tg::cluster({{"worker", {"b:2222"}}}));
  CHECK(code_of([] { tg::check_job_name("no job", "line 1: "); }) == tg::status_code::invalid_argument);
}

TEST_CASE("reference: what a process is told") {
  // example: discover, discover_cluster, role_from, environment, discovery
  tg::environment variables({{"TF_CONFIG", R"({"cluster": {"worker": ["b:2222", "c:2222"]},
                                               "task": {"type": "worker", "index": 1}})"}});
  tg::discovery found = tg::discover(0, nullptr, variables);  // in main: tg::discover(argc, argv), or tg::role_from
  std::string who = tg::to_string(found.role);                // task 1 of job "worker"
  std::string by = found.source;                              // "TF_CONFIG"; found.explanation is a sentence
  std::optional<tg::cluster> alone = tg::discover_cluster({}, variables);  // for who is no task of it
  // end
  CHECK(who == "task 1 of job \"worker\"");
  CHECK(by == "TF_CONFIG");
  CHECK(alone->num_tasks("worker") == 2);
  CHECK(text(std::vector<std::string>{"b:2222", "c:2222"}) == "['b:2222', 'c:2222']");

  // example: cluster_of, launch, fill_hosts_of_one, job_counts, job_counts_from, task_of_rank
  tg::job_counts jobs = tg::job_counts_from("ps=1,worker=2", "--jobs");  // ranks 0, 1, 2 in the order of the names
  tg::task_id second = tg::task_of_rank(jobs, 1);                        // {"worker", 0}
  tg::launch started;
  started.rank = 1;
  started.size = started.local_size = 3;
  tg::fill_hosts_of_one(started);  // all on this host
  tg::cluster members =
      tg::cluster_of(started, jobs, 2222);  // ps localhost:2222, workers localhost:2223 and localhost:2224
  // end
  CHECK(second == tg::task_id{"worker", 0});
  CHECK(members == tg::cluster({{"ps", {"localhost:2222"}}, {"worker", {"localhost:2223", "localhost:2224"}}}));
}

TEST_CASE("reference: where nodes are") {
  // example: cluster_site, devices_of, visible_tasks, task_devices, variable_homes
  tg::cluster members({{"ps", {"a:2222"}}, {"worker", {"b:2222", "c:2222"}}});
  constexpr auto x = tg::placeholder<"x", float>();
  auto y = x * tg::on<"/job:ps">(tg::variable<"w", float>(1.0f));
  tg::any_program program(tg::compile([=] { return tg::outputs(y); }), {"y"});
  auto tasks = tg::visible_tasks(tg::devices_of(members), /*home*/ {"worker", 1}, {"/job:ps"});  // ps and home alone
  tg::cluster_site site(program, tasks, {"worker", 1});
  std::string first =
      tg::to_string(site.device_of(0));  // a complete name, such as "/job:ps/replica:0/task:0/device:CPU:0"
  // end
  CHECK(tasks.size() == 2);
  CHECK(first.find("/device:CPU:0") != std::string::npos);
}
