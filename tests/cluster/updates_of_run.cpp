// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/updates_of_run.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "tagma/programs.hpp"
#include "tagma/queues.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;

TEST_CASE("what a run changes is named, and what it only computes is not") {
  constexpr auto x = tg::placeholder<"x", float, 3>();
  const auto w = tg::variable<"w", float, 3>(tg::zeros);
  const auto v = tg::variable<"v", float, 3>(tg::zeros);
  const auto more = tg::assign_add(v, w);
  const auto loss = tg::sum(tg::square(tg::dropout(w * x, 0.5)));
  constexpr tg::queue_of<"numbers", tg::queue_options{.capacity = 4}, tg::spec<float, 3>> q;
  const auto next = tg::dequeue(q);
  const tg::any_program program(tg::compile([=] {
                                  return tg::outputs(loss, more, tg::minimize(loss, tg::momentum{.learning_rate = 0.1}),
                                                     more * 2.0f, next);
                                }),
                                {"loss", "more", "train", "later", "next"});
  const auto updates = [&](int output) {
    const int outputs[] = {output};
    return tg::updates_of_run(program.graph(), outputs);
  };
  CHECK(updates(0).empty());
  CHECK(updates(1) == "'v'");
  CHECK(updates(2).find("'w'") != std::string::npos);
  CHECK(updates(2).find("'v'") == std::string::npos);
  CHECK(updates(3) == "'v'");
  CHECK_FALSE(updates(4).empty());
  const int both[] = {0, 1};
  CHECK(tg::updates_of_run(program.graph(), both) == "'v'");
}

}  // namespace
