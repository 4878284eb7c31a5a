// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/sources/slurm.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <random>
#include <string>

#include "support/errors.hpp"

using namespace tagma;
using sources::expand_host_list;
using sources::expand_tasks_per_node;
using tagma::test::code_of;
using tagma::test::text_of;

namespace {

using names = std::vector<std::string>;
using numbers = std::vector<int>;
using variables = std::map<std::string, std::string>;

environment of(variables set) {
  return environment([set = std::move(set)](std::string_view name) {
    const auto found = set.find(std::string(name));
    return found == set.end() ? std::nullopt : std::optional<std::string>(found->second);
  });
}

bool has(const std::string& text, std::string_view part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

std::string host_refusal(std::string_view text) {
  CHECK(code_of([&] { (void)expand_host_list(text, "LIST"); }) == status_code::invalid_argument);
  return text_of([&] { (void)expand_host_list(text, "LIST"); });
}

/// A list of hosts together with what it stands for, worked out while it is written: by multiplying sets of texts.
class generator {
 public:
  explicit generator(unsigned seed) : random_(seed) {}

  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }

  std::string list(names& expected) {
    std::string text;
    for (int items = 1 + below(4); items > 0; --items) {
      names hosts;
      text += (text.empty() ? "" : ",") + item(hosts);
      expected.insert(expected.end(), hosts.begin(), hosts.end());
    }
    return text;
  }

 private:
  std::string word() {
    std::string text;
    for (int n = 1 + below(4); n > 0; --n) text += "abz09-_."[below(8)];
    return text;
  }
  std::string item(names& hosts) {
    hosts = {""};
    std::string text;
    for (int pieces = 1 + below(5); pieces > 0; --pieces) {
      names choices;
      if (below(2) == 0)
        choices.push_back(word()), text += choices.back();
      else
        text += "[" + ranges(choices) + "]";
      names product;
      for (const std::string& host : hosts)
        for (const std::string& choice : choices) product.push_back(host + choice);
      hosts = std::move(product);
    }
    return text;
  }
  std::string ranges(names& choices) {
    std::string text;
    for (int n = 1 + below(3); n > 0; --n) {
      const int first = below(120), last = first + below(3) * below(4), width = below(2) == 0 ? 0 : 1 + below(5);
      const auto written = [&](int number) {
        std::string digits = std::to_string(number);
        while (static_cast<int>(digits.size()) < width) digits = "0" + digits;
        return digits;
      };
      text += (text.empty() ? "" : ",") + written(first);
      if (last > first || below(3) == 0) text += "-" + written(last);
      // Where the first has no leading zero, nothing says a width.
      for (int number = first; number <= last; ++number)
        choices.push_back(written(first)[0] == '0' ? written(number) : std::to_string(number));
    }
    return text;
  }

  std::mt19937 random_;
};

/// Four tasks on three nodes, as `srun` sets variables for the process of a rank.
variables step(int rank) {
  static const char* const node[] = {"0", "0", "1", "2"};
  static const char* const local[] = {"0", "1", "0", "0"};
  return {{"SLURM_JOB_ID", "4711"},
          {"SLURM_STEP_ID", "0"},
          {"SLURM_NTASKS", "4"},
          {"SLURM_PROCID", std::to_string(rank)},
          {"SLURM_NODEID", node[rank]},
          {"SLURM_LOCALID", local[rank]},
          {"SLURM_STEP_NODELIST", "n[08-10]"},
          {"SLURM_STEP_TASKS_PER_NODE", "2,1(x2)"},
          {"SLURMD_NODENAME", std::string("n") + (rank < 2    ? "08"
                                                  : rank == 2 ? "09"
                                                              : "10")}};
}

variables with(variables set, const char* name, const char* value) {
  set[name] = value;
  return set;
}

}  // namespace

TEST_CASE("host lists expand") {
  CHECK(expand_host_list("node1") == names{"node1"});
  CHECK(expand_host_list("a,b.c") == names{"a", "b.c"});
  CHECK(expand_host_list("node[008-010,12]") == names{"node008", "node009", "node010", "node12"});
  CHECK(expand_host_list("r[1-2]n[1-2]") == names{"r1n1", "r1n2", "r2n1", "r2n2"});
  CHECK(expand_host_list("a[1-2]-ib,b") == names{"a1-ib", "a2-ib", "b"});
  CHECK(expand_host_list("[1-2]") == names{"1", "2"});
  CHECK(expand_host_list("n[3]") == names{"n3"});
  CHECK(expand_host_list("n[8-11]") == names{"n8", "n9", "n10", "n11"});
  CHECK(expand_host_list("n[08-10]") == names{"n08", "n09", "n10"});
  CHECK(expand_host_list("n[098-101]") == names{"n098", "n099", "n100", "n101"});
  CHECK(expand_host_list("n[0-1]") == names{"n0", "n1"});
  CHECK(expand_host_list("n[00-1]") == names{"n00", "n01"});
  CHECK(expand_host_list("n[999999999999999998-999999999999999999]").size() == 2);
}

TEST_CASE("texts that are no host lists") {
  CHECK(has(host_refusal(""), "LIST \"\", position 0: expected the name of a host"));
  CHECK(has(host_refusal("a,"), "position 2: expected the name"));
  CHECK(has(host_refusal(",a"), "position 0: expected the name"));
  CHECK(has(host_refusal("a[1"), "position 3: expected ','"));
  CHECK(has(host_refusal("a[]"), "position 2: expected a number"));
  CHECK(has(host_refusal("a[1-]"), "position 4: expected a number"));
  CHECK(has(host_refusal("a[1,]"), "position 4: expected a number"));
  CHECK(has(host_refusal("a[-1]"), "position 2: expected a number"));
  CHECK(has(host_refusal("a[1-2-3]"), "position 5: expected ','"));
  CHECK(has(host_refusal("a[1[2]]"), "position 3: brackets stand in no brackets"));
  CHECK(has(host_refusal("a]"), "position 1: a host name has"));
  CHECK(has(host_refusal("a b"), "position 1: a host name has"));
  CHECK(has(host_refusal("a[2-1]"), "ends before it begins"));
  CHECK(has(host_refusal("a[8-010]"), "leading zeros"));
  CHECK(has(host_refusal("a[1234567890123456789]"), "more than 18 digits"));
  CHECK(has(host_refusal(std::string(254, 'a')), "253"));
}

TEST_CASE("host lists are counted before they are expanded") {
  CHECK(has(host_refusal("n[0-999999999]"), "LIST \"n[0-999999999]\", position 14: more than 65536 hosts"));
  CHECK(has(host_refusal("n[0-999999999999999999]"), "more than 65536 hosts"));
  CHECK(has(host_refusal("n[0-999][0-999]"), "more than 65536 hosts"));
  CHECK(has(host_refusal("n[0-99][0-99][0-99][0-99][0-99][0-99][0-99][0-99][0-99][0-99][0-99]"), "more than 65536"));
  CHECK(has(host_refusal("a,n[0-65535]"), "more than 65536 hosts"));
  CHECK(has(host_refusal("n[0-40000,0-40000]"), "more than 65536 hosts"));
  CHECK(expand_host_list("n[0-65535]").size() == 65536);
  CHECK(expand_host_list("n[0-255][0-255]").size() == 65536);
  std::string brackets;
  for (int i = 0; i < 253; ++i) brackets += "[1]";
  CHECK(expand_host_list(brackets) == names{std::string(253, '1')});
  CHECK(has(host_refusal(brackets + "[1]"), "253"));
  std::string wide;
  for (int i = 0; i < 20; ++i) wide += "[00000000000000001]";
  CHECK(has(host_refusal(wide), "253"));
}

TEST_CASE("host lists expand as sets are multiplied") {
  constexpr unsigned seed = 40;
  generator random(seed);
  for (int i = 0; i < 5'000; ++i) {
    names expected;
    const std::string text = random.list(expected);
    INFO("seed " << seed << ", list " << i << ": " << text);
    REQUIRE(expand_host_list(text) == expected);
  }
}

TEST_CASE("numbers of processes of nodes expand") {
  CHECK(expand_tasks_per_node("2(x3),1") == numbers{2, 2, 2, 1});
  CHECK(expand_tasks_per_node("1") == numbers{1});
  CHECK(expand_tasks_per_node("3,2(x1)") == numbers{3, 2});
  CHECK(expand_tasks_per_node("1(x65536)").size() == 65536);
  CHECK(expand_tasks_per_node("65536") == numbers{65536});
  const auto refusal = [](std::string_view text) {
    CHECK(code_of([&] { (void)expand_tasks_per_node(text, "TASKS"); }) == status_code::invalid_argument);
    return text_of([&] { (void)expand_tasks_per_node(text, "TASKS"); });
  };
  CHECK(has(refusal(""), "TASKS \"\", position 0: expected a number"));
  CHECK(has(refusal("2(x3"), "expected ')'"));
  CHECK(has(refusal("2(3)"), "position 1: expected ',' or '(x'"));
  CHECK(has(refusal("2(x)"), "position 3: expected a number"));
  CHECK(has(refusal("2,"), "position 2: expected a number"));
  CHECK(has(refusal("2 "), "position 1: expected ','"));
  CHECK(has(refusal("0"), "a process at least"));
  CHECK(has(refusal("1(x0)"), "a process at least"));
  CHECK(has(refusal("1(x999999999)"), "more than 65536 processes"));
  CHECK(has(refusal("999999999999999999(x999999999999999999)"), "more than 65536 processes"));
  CHECK(has(refusal("65536,1"), "more than 65536 processes"));
}

TEST_CASE("a step of Slurm has the host of each rank") {
  for (int rank = 0; rank < 4; ++rank) {
    const auto found = sources::slurm(of(step(rank)));
    REQUIRE(found.ranks);
    CHECK(found.ranks->rank == rank);
    CHECK(found.ranks->size == 4);
    CHECK(found.ranks->local_rank == (rank == 1 ? 1 : 0));
    CHECK(found.ranks->local_size == (rank < 2 ? 2 : 1));
    CHECK(found.ranks->hosts == names{"n08", "n08", "n09", "n10"});
    CHECK(found.ranks->base_port == 19711);
    CHECK(cluster_of(*found.ranks, {{"ps", 1}, {"worker", 3}}) ==
          cluster({{"ps", {"n08:19711"}}, {"worker", {"n08:19712", "n09:19711", "n10:19711"}}}));
  }
}

TEST_CASE("ports come from the number of the job") {
  CHECK(sources::base_port_of_job(0) == 15000);
  CHECK(sources::base_port_of_job(9999) == 24999);
  CHECK(sources::base_port_of_job(12'345'678) == 20678);
}

TEST_CASE("Slurm's older names, and what it leaves out") {
  variables old = step(2);
  for (const char* gone : {"SLURM_STEP_NODELIST", "SLURM_STEP_TASKS_PER_NODE", "SLURM_NTASKS", "SLURM_STEP_ID"})
    old.erase(gone);
  old["SLURM_NODELIST"] = "n[08-10]";
  old["SLURM_TASKS_PER_NODE"] = "2,1(x2)";
  old["SLURM_NPROCS"] = "4";
  CHECK_FALSE(sources::has_slurm(of(old)));
  old["SLURM_STEPID"] = "0";
  CHECK(sources::has_slurm(of(old)));
  CHECK(sources::slurm(of(old)).ranks->hosts == names{"n08", "n08", "n09", "n10"});
  // Without numbers of processes, all nodes have as many.
  variables even = step(2);
  even.erase("SLURM_STEP_TASKS_PER_NODE");
  even["SLURM_NTASKS"] = "6";
  even["SLURM_LOCALID"] = "0";
  CHECK(sources::slurm(of(even)).ranks->hosts == names{"n08", "n08", "n09", "n09", "n10", "n10"});
  even["SLURM_NTASKS"] = "4";
  CHECK(has(text_of([&] { (void)sources::slurm(of(even)); }), "4 processes on 3 nodes"));
}

TEST_CASE("an allocation without a step starts nobody") {
  variables batch = step(0);
  batch.erase("SLURM_STEP_ID");
  CHECK_FALSE(sources::has_slurm(of(batch)));
  CHECK(sources::slurm_hosts(of({{"SLURM_JOB_NODELIST", "a[1-2]"}})) == names{"a1", "a2"});
  CHECK(sources::slurm_hosts(environment()).empty());
}

TEST_CASE("ranks that are not in blocks are refused") {
  const auto refusal = [](const variables& set) {
    CHECK(code_of([&] { (void)sources::slurm(of(set)); }) == status_code::invalid_argument);
    return text_of([&] { (void)sources::slurm(of(set)); });
  };
  CHECK(has(refusal(with(step(1), "SLURM_LOCALID", "0")), "SLURM_LOCALID is \"0\", where rank 1"));
  CHECK(has(refusal(with(step(1), "SLURM_NODEID", "1")), "SLURM_NODEID is \"1\", where rank 1"));
  CHECK(has(refusal(with(step(1), "SLURMD_NODENAME", "n09")), "has \"n08\"; start with --distribution=block"));
  CHECK(has(refusal(with(step(1), "SLURM_PROCID", "4")), "SLURM_PROCID: \"4\""));
  CHECK(has(refusal(with(step(1), "SLURM_NTASKS", "5")), "SLURM_NTASKS is 5, and the nodes have 4"));
  CHECK(has(refusal(with(step(1), "SLURM_STEP_NODELIST", "n[08-09]")), "has 2 nodes, and there are 3"));
  CHECK(has(refusal(with(step(1), "SLURM_STEP_NODELIST", "n[08")), "SLURM_STEP_NODELIST \"n[08\", position 4"));
  CHECK(has(refusal(with(step(1), "SLURM_STEP_TASKS_PER_NODE", "x")), "SLURM_STEP_TASKS_PER_NODE \"x\", position 0"));
  CHECK(has(refusal(with(step(1), "SLURM_JOB_ID", "x")), "SLURM_JOB_ID: \"x\""));
  CHECK(has(refusal(with(step(1), "SLURM_NTASKS", "")), "the variable SLURM_STEP_NUM_TASKS is not set"));
}
