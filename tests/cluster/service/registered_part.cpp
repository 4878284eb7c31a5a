// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/service/registered_part.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "tagma/programs.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
namespace service = tagma::service;

struct part_of_a_sum {
  explicit part_of_a_sum(std::size_t outcomes = 4096)
      : program(tg::compile([] { return tg::outputs(tg::placeholder<"x", float>() + 1.0f); }), {"y"}),
        part(service::add_part(), program, tg::container(), options_of(outcomes), nullptr) {}
  static service::worker_options options_of(std::size_t outcomes) {
    service::worker_options options;
    options.intra_op_threads = options.inter_op_threads = 1;
    options.outcomes = outcomes;
    return options;
  }

  tg::any_program program;
  service::registered_part part;
};

TEST_CASE("a part that goes begins no run any more, and one that has lost a connection does") {
  part_of_a_sum a;
  const auto lost = a.part.run(1);
  REQUIRE(lost != nullptr);
  CHECK(a.part.abort(tg::error(tg::status_code::unavailable, "the connection was lost")).size() == 1);
  CHECK(lost->stop.stop_requested());
  CHECK(a.part.run(1) == nullptr);
  const auto ended = a.part.run(2);
  REQUIRE(ended != nullptr);
  a.part.close(tg::error(tg::status_code::aborted, "the server stops"));
  CHECK(ended->stop.stop_requested());
  for (const std::uint64_t step : {2u, 3u}) {
    CHECK(a.part.run(step) == nullptr);
    CHECK(std::string(a.part.why_not(step).what()) == "Aborted: the server stops");
  }
}

TEST_CASE("a long run goes on though more others have ended than are remembered") {
  part_of_a_sum a(4);
  const auto longest = a.part.run(0);
  REQUIRE(longest != nullptr);
  CHECK(a.part.outcomes().begin(0, [](const service::run_answer&) {}) == service::outcomes::entrance::fresh);
  for (std::uint64_t step = 1; step < 20; ++step) {
    CHECK(a.part.run(step) != nullptr);
    a.part.end(step, nullptr);
  }
  CHECK(a.part.run(0) == longest);
  CHECK(a.part.run(19) == nullptr);
  a.part.end(0, nullptr);
  CHECK(a.part.run(0) == nullptr);
}

}  // namespace
