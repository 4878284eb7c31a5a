// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/sources/kubernetes.hpp"

#include <catch2/catch.hpp>

#include <string>

#include "support/errors.hpp"

using namespace tagma;
using sources::pod_name_from;
using tagma::test::text_of;

namespace {

environment pod(const char* host, const char* index = "") {
  return {{"TAGMA_PODS", "ps=trainer-ps:1,worker=trainer-worker:2"},
          {"TAGMA_POD_SERVICE", "trainer.ml"},
          {"HOSTNAME", host},
          {"JOB_COMPLETION_INDEX", index}};
}

bool has(const std::string& text, std::string_view part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("names of pods end in a number") {
  const auto spelled = [](std::string_view host) {
    const auto pod_of = pod_name_from(host);
    return pod_of ? pod_of->set + " " + std::to_string(pod_of->number) : "none";
  };
  CHECK(spelled("trainer-ps-0") == "trainer-ps 0");
  CHECK(spelled("trainer-12.trainer.ml.svc.cluster.local") == "trainer 12");
  for (const char* other : {"trainer", "trainer-", "trainer-x", "-1", "trainer-01", "trainer-65536", "", "12"})
    CHECK(spelled(other) == "none");
}

TEST_CASE("pods are tasks") {
  const auto found = sources::kubernetes(pod("trainer-worker-1"));
  REQUIRE(found.members);
  CHECK(*found.members ==
        cluster({{"ps", {"trainer-ps-0.trainer.ml:2222"}},
                 {"worker", {"trainer-worker-0.trainer.ml:2222", "trainer-worker-1.trainer.ml:2222"}}}));
  CHECK(found.options.job == "worker");
  CHECK(found.options.task == 1);
  CHECK(sources::kubernetes(pod("trainer-ps-0.trainer.ml.svc", "0")).options.job == "ps");
  CHECK(sources::kubernetes(pod("elsewhere-7")).options.job.empty());
  CHECK(sources::kubernetes(pod("")).options.job.empty());
  CHECK(to_string(sources::kubernetes({{"TAGMA_PODS", "w=a:1"}, {"TAGMA_POD_SERVICE", "s"}, {"TAGMA_PORT", "7"}})
                      .members->task_address("w", 0)) == "a-0.s:7");
}

TEST_CASE("mistakes in the list of pods") {
  const auto refusal = [](const char* pods, const char* service = "s") {
    return text_of([&] { (void)sources::kubernetes({{"TAGMA_PODS", pods}, {"TAGMA_POD_SERVICE", service}}); });
  };
  for (const char* bad : {"ps", "ps=a", "a:1", "p:1=a"}) CHECK(has(refusal(bad), "TAGMA_PODS: \""));
  CHECK(has(refusal("ps=a:0"), "TAGMA_PODS, job \"ps\": \"0\""));
  CHECK(has(refusal("ps=a b:1"), "\"a b\" is no name of a set of pods"));
  CHECK(has(refusal("ps=:1"), "no name of a set"));
  CHECK(has(refusal("1=a:1"), "no name of a job"));
  CHECK(has(refusal("ps=a:1,ps=b:1"), "twice"));
  CHECK(has(refusal("ps=a:1,worker=a:1"), "same address"));
  CHECK(has(refusal("ps=a:65536,worker=b:1"), "at most 65536 tasks"));
  CHECK(has(refusal("ps=a:1", ""), "TAGMA_POD_SERVICE is not set"));
  CHECK(has(refusal("ps=a:1", "s:1"), "TAGMA_PODS: pod a-0: address"));
  CHECK(has(text_of([] { (void)sources::kubernetes(pod("trainer-worker-2")); }), "pod trainer-worker-2"));
  CHECK(has(text_of([] { (void)sources::kubernetes(pod("trainer-worker-1", "0")); }), "JOB_COMPLETION_INDEX is 0"));
}
