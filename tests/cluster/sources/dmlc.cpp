// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/sources/dmlc.hpp"

#include <catch2/catch.hpp>

#include <string>

#include "support/errors.hpp"

using namespace tagma;
using tagma::test::text_of;

namespace {

std::string role_of(const environment& variables) {
  const auto found = sources::dmlc(variables);
  CHECK_FALSE(found.members);
  CHECK_FALSE(found.lacking.empty());
  return found.options.job + " " + std::to_string(found.options.task);
}

}  // namespace

TEST_CASE("DMLC says the job of a process") {
  CHECK(role_of({{"DMLC_ROLE", "scheduler"}}) == "chief 0");
  CHECK(role_of({{"DMLC_ROLE", "server"}, {"DMLC_NUM_SERVER", "1"}}) == "ps 0");
  CHECK(role_of({{"DMLC_ROLE", "server"}, {"DMLC_NUM_SERVER", "2"}}) == "ps -1");
  CHECK(role_of({{"DMLC_ROLE", "worker"}, {"DMLC_NUM_WORKER", "4"}, {"DMLC_WORKER_ID", "3"}}) == "worker 3");
  CHECK(role_of({{"DMLC_ROLE", "worker"}}) == "worker -1");
  CHECK_FALSE(sources::has_dmlc({{"DMLC_NUM_WORKER", "4"}}));
}

TEST_CASE("mistakes in DMLC's variables name them") {
  const auto refusal = [](const environment& variables) { return text_of([&] { (void)sources::dmlc(variables); }); };
  CHECK(refusal({{"DMLC_ROLE", "boss"}}).find("DMLC_ROLE: \"boss\" is none of") != std::string::npos);
  CHECK(refusal({{"DMLC_ROLE", "worker"}, {"DMLC_NUM_WORKER", "0"}}).find("DMLC_NUM_WORKER: \"0\"") !=
        std::string::npos);
  CHECK(refusal({{"DMLC_ROLE", "worker"}, {"DMLC_NUM_WORKER", "2"}, {"DMLC_WORKER_ID", "2"}})
            .find("DMLC_WORKER_ID: \"2\"") != std::string::npos);
}
