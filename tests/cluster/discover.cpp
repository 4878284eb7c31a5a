// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/discover.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <map>
#include <sstream>
#include <string>

#include "support/errors.hpp"
#include "tagma/base/file.hpp"

using namespace tagma;
using tagma::test::code_of;
using tagma::test::text_of;

namespace {

using variables = std::map<std::string, std::string>;

environment of(variables set) {
  return environment([set = std::move(set)](std::string_view name) {
    const auto found = set.find(std::string(name));
    return found == set.end() ? std::nullopt : std::optional<std::string>(found->second);
  });
}

variables joined(std::initializer_list<variables> all) {
  variables set;
  for (const variables& one : all) set.insert(one.begin(), one.end());
  return set;
}

discovery found(const sources::arguments& options, const variables& set) { return discover(options, of(set)); }

std::string refusal(const sources::arguments& options, const variables& set, status_code code) {
  const auto ask = [&] { (void)found(options, set); };
  INFO(text_of(ask));
  CHECK(code_of(ask) == code);
  return text_of(ask);
}

bool has(const std::string& text, std::string_view part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

const variables own{{"TAGMA_CLUSTER", R"({"worker": ["own0:1", "own1:1"]})"}};
const variables tf_config{{"TF_CONFIG", R"({"cluster": {"ps": ["tf0:1"], "worker": ["tf1:1", "tf2:1"]},
                                            "task": {"type": "worker", "index": 1}})"}};
const variables pods{{"TAGMA_PODS", "worker=pod:2"}, {"TAGMA_POD_SERVICE", "s"}, {"HOSTNAME", "pod-1"}};
const variables torchrun{
    {"RANK", "1"}, {"WORLD_SIZE", "2"}, {"LOCAL_RANK", "1"}, {"LOCAL_WORLD_SIZE", "2"}, {"MASTER_ADDR", "m"}};
const variables open_mpi{{"OMPI_COMM_WORLD_RANK", "2"},
                         {"OMPI_COMM_WORLD_SIZE", "3"},
                         {"OMPI_COMM_WORLD_LOCAL_RANK", "2"},
                         {"OMPI_COMM_WORLD_LOCAL_SIZE", "3"}};
const variables slurm{{"SLURM_JOB_ID", "7"},
                      {"SLURM_STEP_ID", "0"},
                      {"SLURM_NTASKS", "2"},
                      {"SLURM_PROCID", "1"},
                      {"SLURM_STEP_NODELIST", "n[1-2]"}};
const variables dmlc{{"DMLC_ROLE", "worker"}, {"DMLC_NUM_WORKER", "2"}, {"DMLC_WORKER_ID", "1"}};

/// Words of a command line; between single quotes blanks belong to a word.
sources::arguments words_of(const std::string& line) {
  sources::arguments words;
  std::string word;
  bool quoted = false;
  for (const char c : line + " ") {
    if (c == '\'') {
      quoted = !quoted;
    } else if (c == ' ' && !quoted) {
      if (!word.empty()) words.push_back(std::exchange(word, {}));
    } else {
      word += c;
    }
  }
  return words;
}

/// What a process finds out that is started as a block of the page says: lines of variables, and one of the command.
std::string outcome_of(const std::string& block) {
  variables set;
  sources::arguments options;
  std::istringstream lines(block);
  for (std::string line; std::getline(lines, line);) {
    if (line.substr(0, 5) == "train") {
      options = words_of(line);
      options.erase(options.begin());
    } else {
      const std::size_t equals = line.find('=');
      set[line.substr(0, equals)] = line.substr(equals + 1);
    }
  }
  try {
    const discovery d = found(options, set);
    return to_string(d.role.cluster()) + "\n" + d.explanation + "\n";
  } catch (const error& e) {
    return std::string(e.what()) + "\n";
  }
}

}  // namespace

TEST_CASE("nothing describes a cluster") {
  const discovery d = found({"--steps=5"}, {});
  CHECK(d.role.cluster() == cluster::local());
  CHECK(d.role.is_chief());
  CHECK(d.source.empty());
  CHECK(d.unused.empty());
  CHECK(d.explanation == "Nothing describes a cluster: this process is one by itself.");
  for (const char* config : {R"({"environment": "cloud"})", R"({"cluster": {}, "task": {}})"})
    CHECK(found({}, {{"TF_CONFIG", config}}).explanation ==
          "Nothing describes a cluster: this process is one by itself. Also there, and not used: TF_CONFIG.");
}

TEST_CASE("each source decides where those before it say nothing") {
  // From the last one to the first: each takes over from all that follow it.
  struct candidate {
    std::string source;
    variables set;
    std::string first_address, role;
  };
  const std::vector<candidate> order{
      {"TF_CONFIG", tf_config, "tf1:1", "task 1 of job \"worker\""},
      {"TAGMA_PODS", pods, "pod-0.s:2222", "task 1 of job \"worker\""},
      {"torchrun", torchrun, "localhost:2222", "task 1 of job \"worker\""},
      {"Open MPI", open_mpi, "localhost:2222", "task 2 of job \"worker\""},
      {"Slurm", slurm, "n1:15007", "task 1 of job \"worker\""},
  };
  variables set;
  std::vector<std::string> behind;
  for (std::size_t i = order.size(); i-- > 0;) {
    set = joined({order[i].set, set});
    const discovery d = found({}, set);
    CHECK(d.source == order[i].source);
    CHECK(d.unused == behind);
    CHECK(to_string(d.role.cluster().task_address("worker", 0)) == order[i].first_address);
    CHECK(to_string(d.role) == order[i].role);
    CHECK(d.explanation.find("The cluster is that of " + order[i].source + "; this process is " + order[i].role) == 0);
    behind.insert(behind.begin(), order[i].source);
  }
  set = joined({own, set});
  const discovery by_variable = found({}, set);
  CHECK(by_variable.source == "TAGMA_CLUSTER");
  CHECK(
      by_variable.explanation ==
      "The cluster is that of TAGMA_CLUSTER; this process is task 1 of job \"worker\", as TF_CONFIG says. Also there, "
      "and not used: TAGMA_PODS, torchrun, Open MPI and Slurm.");
  const discovery by_option = found({"--worker_hosts=x:1,y:1", "--job=worker", "--task=0"}, set);
  CHECK(by_option.source == "the command line");
  CHECK(to_string(by_option.role.task_address()) == "x:1");
  CHECK(by_option.unused.size() == 6);
}

TEST_CASE("sources that do not decide are not read") {
  const discovery d = found({"--cluster={\"worker\": [\"a:1\"]}"},
                            {{"TF_CONFIG", "{"}, {"RANK", "x"}, {"WORLD_SIZE", "y"}, {"MASTER_ADDR", "m"}});
  CHECK(d.unused == std::vector<std::string>{"TF_CONFIG", "torchrun"});
  CHECK(has(refusal({}, {{"TF_CONFIG", "{"}}, status_code::invalid_argument), "TF_CONFIG, byte 1"));
}

TEST_CASE("the command line has the first word on the role") {
  const discovery d = found({"--job=worker", "--task", "0"}, tf_config);
  CHECK(d.source == "TF_CONFIG");
  CHECK(d.role.id() == task_id{"worker", 0});
  CHECK(has(d.explanation, "as the command line says"));
  CHECK(found({"--task", "0"}, tf_config).role.id() == task_id{"worker", 0});
  CHECK(found({"--job", "ps"}, tf_config).role.id() == task_id{"ps", 0});
  CHECK(found({}, joined({tf_config, {{"TAGMA_TASK", "0"}}})).role.id() == task_id{"worker", 0});
  CHECK(found({"--job", "evaluator"}, tf_config).role.is_evaluator());
}

TEST_CASE("a role without a cluster is refused") {
  CHECK(has(refusal({"--job=worker", "--task=3"}, {}, status_code::invalid_argument),
            "the command line says that this process is task 3 of job \"worker\", and nothing describes a cluster"));
  CHECK(has(refusal({}, {{"TAGMA_JOB", "worker"}}, status_code::invalid_argument), "TAGMA_JOB says"));
  for (const char* config :
       {R"({"task": {"type": "ps", "index": 0}})", R"({"cluster": {}, "task": {"type": "ps", "index": 0}})"}) {
    CHECK(has(refusal({}, {{"TF_CONFIG", config}}, status_code::invalid_argument),
              "TF_CONFIG says that this process is task 0 of job \"ps\", and nothing describes a cluster"));
    CHECK(!discover_cluster({}, environment{{"TF_CONFIG", config}}));  // who needs no role is told nothing of it
    // Of another cluster it is no role.
    CHECK(found({}, joined({{{"TF_CONFIG", config}}, slurm})).role.id() == task_id{"worker", 1});
  }
  CHECK(has(refusal({}, {{"TF_CONFIG", R"({"task": {"index": "2"}})"}}, status_code::invalid_argument),
            "TF_CONFIG says that this process is task 2, and nothing describes a cluster"));
  CHECK(has(refusal({"--task=1"}, {{"TF_CONFIG", R"({"task": {"type": "ps"}})"}}, status_code::invalid_argument),
            "the command line says that this process is task 1, and"));
  CHECK(has(refusal({}, tf_config.empty() ? variables{} : own, status_code::invalid_argument),
            "job \"worker\" has 2 tasks"));
}

TEST_CASE("a rank is a task of a cluster that is described") {
  const std::string three = R"(--cluster={"ps": ["a:1"], "worker": ["b:1", "c:1"]})";
  const std::string many = R"(--cluster={"ps": ["a:1", "d:1"], "worker": {"1": "b:1", "4": "c:1", "9": "e:1"}})";
  const discovery all = found({three}, open_mpi);
  CHECK(all.role.id() == task_id{"worker", 1});
  CHECK(has(all.explanation, "as Open MPI says"));
  // As many processes as job worker has tasks, whose indices have holes.
  CHECK(found({many, "--job=worker"}, open_mpi).role.id() == task_id{"worker", 9});
  CHECK(has(
      refusal({many}, open_mpi, status_code::invalid_argument),
      "say which one this process belongs to (--job, TAGMA_JOB). Open MPI says rank 2 of 3, which counts no tasks"));
  CHECK(found({three}, dmlc).role.id() == task_id{"worker", 1});
}

TEST_CASE("ranks of a launcher are dealt out to jobs") {
  const discovery d = found({"--jobs=ps=1,worker=2", "--port=4000"}, open_mpi);
  CHECK(d.role.cluster() == cluster({{"ps", {"localhost:4000"}}, {"worker", {"localhost:4001", "localhost:4002"}}}));
  CHECK(d.role.id() == task_id{"worker", 1});
  CHECK(found({}, joined({open_mpi, {{"TAGMA_JOBS", "chief=1,worker=2"}}})).role.cluster().has_job("chief"));
  CHECK(has(refusal({"--jobs=ps=1,worker=1"}, open_mpi, status_code::invalid_argument),
            "Open MPI started 3 processes, and the jobs have 2 tasks"));
  CHECK(has(refusal({"--jobs=ps=1,worker=2", "--job=ps"}, open_mpi, status_code::invalid_argument),
            "said to be a task of job \"ps\", and Open MPI started it as rank 2, which is task 1 of job \"worker\""));
}

TEST_CASE("several processes of which nobody says where they are") {
  variables far = open_mpi;
  far["OMPI_COMM_WORLD_LOCAL_SIZE"] = "1";
  far["OMPI_COMM_WORLD_LOCAL_RANK"] = "0";
  CHECK(has(refusal({}, far, status_code::failed_precondition), "not which hosts the others are on"));
  CHECK(has(refusal({}, dmlc, status_code::failed_precondition), "DMLC: DMLC_PS_ROOT_URI names"));
  variables nodes = torchrun;
  nodes["LOCAL_WORLD_SIZE"] = "1";
  nodes["LOCAL_RANK"] = "0";
  // torchrun's processes are not those of the step that it is in.
  CHECK(
      has(refusal({}, joined({nodes, slurm}), status_code::failed_precondition), "torchrun says that this is rank 1"));
}

TEST_CASE("arguments of a program") {
  const char* const argv[] = {"train", "--worker_hosts", "a:1,b:1", "--task", "1"};
  CHECK(role_from(5, argv, environment()).id() == task_id{"worker", 1});
  CHECK(discover(5, argv, environment()).source == "the command line");
  CHECK(role_from(1, argv, environment()).cluster() == cluster::local());
  CHECK(role_from(0, nullptr, environment()).cluster() == cluster::local());
}

TEST_CASE("a cluster without a role in it") {
  const sources::arguments options{"--worker_hosts", "a:1,b:1"};
  CHECK(discover_cluster(options, environment())->num_tasks("worker") == 2);
  CHECK(discover_cluster({"--job", "worker", "--worker_hosts", "a:1,b:1"}, environment())->num_tasks() == 2);
  CHECK(!discover_cluster({}, environment()).has_value());
  // What does not describe it is not read.
  const environment config{{"TF_CONFIG", R"({"cluster": {"ps": ["a:1"], "worker": ["b:1", "c:1"]}})"},
                           {"TAGMA_PODS", "?"}};
  CHECK(discover_cluster({}, config)->num_tasks() == 3);
  CHECK(discover_cluster(options, config)->num_tasks() == 2);
}

TEST_CASE("examples of the page are so") {
  const std::filesystem::path here = std::filesystem::absolute(__FILE__).parent_path();
  const std::string page = read_file((here / "../../docs/cluster.md").string());
  constexpr std::string_view start = "```sh\n", between = "```\n```text\n", stop = "```\n";
  int examples = 0;
  for (std::size_t at = page.find(start); at != std::string::npos; at = page.find(start, at)) {
    at += start.size();
    const std::size_t middle = page.find(between, at), end = page.find(stop, middle + between.size());
    REQUIRE(end != std::string::npos);
    const std::string block = page.substr(at, middle - at);
    INFO(block);
    CHECK(outcome_of(block) == page.substr(middle + between.size(), end - middle - between.size()));
    at = end;
    ++examples;
  }
  CHECK(examples > 10);
}
