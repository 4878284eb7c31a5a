// SPDX-License-Identifier: BSL-1.0
// Containers whose variables are on devices that are no CPUs.
#include <array>
#include <catch2/catch.hpp>
#include <thread>

#include "support/counter.hpp"
#include "support/errors.hpp"
#include "tagma/device/fake/provide.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using tg::gpu;
using tg::isolation;

constexpr auto x = tg::placeholder<"x", float, 4>();

TEST_CASE("sessions share variables on a GPU") {
  const auto v = tg::on<gpu<0>>(tg::variable<"v", float, 4>(tg::zeros));
  const auto add = tg::on<gpu<0>>(tg::assign_add(v, x));
  const auto twice = tg::on<gpu<0>>(v + v);
  const auto program = tg::compile([=] { return tg::outputs(v, add, twice); });
  for (const isolation kind : {isolation::runs, isolation::variables}) {
    const tg::container state(kind);
    tg::session one(program, {.state = state}), two(program, {.state = state});
    const std::array<float, 4> ones{1, 1, 1, 1};
    constexpr int runs = 200;
    std::vector<std::thread> all;
    std::atomic<int> torn{0};
    for (int t = 0; t < 4; ++t)
      all.emplace_back([&, t] {
        auto& session = t % 2 == 0 ? one : two;
        for (int i = 0; i < runs; ++i) {
          if (t < 2) {
            session.run(add, x = ones);
          } else {
            const auto seen = session.run(twice);
            for (tg::extent k = 1; k < 4; ++k) torn += seen[k] != seen[0];
          }
        }
      });
    for (auto& t : all) t.join();
    CHECK(torn == 0);
    CHECK(one.run(v)[3] == 2 * runs);
    CHECK(state.bytes() <= 16 * 6);
  }
}

TEST_CASE("a run that finds a variable without a value gives back what it holds") {
  const auto v = tg::on<gpu<0>>(tg::variable<"v", float, 4>(tg::zeros));
  const auto w = tg::on<gpu<0>>(tg::variable<"w", float, 4>(tg::zeros));
  const auto both = tg::group(tg::on<gpu<0>>(tg::assign(v, x)), tg::on<gpu<0>>(tg::assign_add(w, x)));
  const auto first = tg::on<gpu<0>>(tg::assign(v, x));
  const auto second = tg::on<gpu<0>>(tg::assign(w, x));
  const auto program = tg::compile([=] { return tg::outputs(v, w, both, first, second); });
  for (const isolation kind : {isolation::runs, isolation::variables}) {
    const tg::container state(kind);
    tg::session session(program, {.initialize = false, .state = state});
    const std::array<float, 4> ones{1, 1, 1, 1};
    for (int i = 0; i < 3; ++i) {
      CHECK_THROWS_WITH(session.run(both, x = ones), Catch::Contains("uninitialized variable 'w'"));
      CHECK_THROWS_WITH(session.run(w), Catch::Contains("uninitialized variable 'w'"));
    }
    session.run(first, x = ones);  // overwrites
    CHECK(session.run(v)[3] == 1);
    session.run(second, x = ones);
    session.run(both, x = ones);
    CHECK(session.run(w)[0] == 2);
  }
}

TEST_CASE("a variable that is elsewhere in the container is refused") {
  const auto here = tg::on<tg::cpu<0>>(tg::variable<"v", float, 4>(tg::zeros));
  const auto one = tg::compile([=] { return tg::outputs(here); });
  const auto there = tg::on<gpu<0>>(tg::variable<"v", float, 4>(tg::zeros));
  const auto two = tg::compile([=] { return tg::outputs(there); });
  const tg::container state;
  tg::session session(one, {.state = state});
  CHECK_THROWS_WITH(tg::session(two, {.state = state}),
                    "InvalidArgument: the container has variable 'v' float32 [4] on the host, the program one on its "
                    "device");
}

TEST_CASE("resources are on the host, with what uses them") {
  const auto next = tg::on<tg::cpu<0>>(tg::cast<float>(tg::test::next_of(tg::test::make_counter<"ids", 3>())));
  const auto v = tg::on<gpu<0>>(tg::variable<"v", float>(tg::ones));
  const auto sum = tg::on<gpu<0>>(tg::assign_add(v, next));
  const auto program = tg::compile([=] { return tg::outputs(sum); });
  tg::session session(program);
  CHECK(session.run(sum) == 4);
  CHECK(session.run(sum) == 8);
}

}  // namespace
