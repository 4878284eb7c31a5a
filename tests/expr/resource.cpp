// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/resource.hpp"

#include <catch2/catch.hpp>
#include <thread>

#include "support/counter.hpp"
#include "support/errors.hpp"
#include "tagma/explain.hpp"

namespace {

namespace tg = tagma;
using tg::test::counted_number, tg::test::make_counter, tg::test::next_of;

TEST_CASE("a resource of a container outlives its sessions, and sessions that share the container share it") {
  const auto next = next_of(make_counter<"ids", 5>());
  const auto program = tg::compile([=] { return tg::outputs(next); });
  {
    tg::container state;
    {
      tg::session one(program, {.state = state});
      CHECK(one.run(next) == 5);
      CHECK(counted_number::alive == 1);
    }
    tg::session one(program, {.state = state}), two(program, {.state = state});
    CHECK(one.run(next) == 6);
    CHECK(two.run(next) == 7);
    tg::session alone(program);
    CHECK(alone.run(next) == 5);
    CHECK(counted_number::alive == 2);
    state = tg::container();  // the sessions still own it
    CHECK(one.run(next) == 8);
  }
  CHECK(counted_number::alive == 0);
}

TEST_CASE("equal resources are one node; others of the same kind have other names") {
  const auto a = next_of(make_counter<"a">());
  const auto b = next_of(make_counter<"a">());
  const auto c = next_of(make_counter<"b">());
  const auto sum = a + b * 100l + c * 10000l;
  const auto program = tg::compile([=] { return tg::outputs(sum); });
  tg::session session(program);
  const auto first = session.run(sum);  // the two of "a" in some order
  CHECK((first == 100 || first == 1));
  const auto second = session.run(sum);
  CHECK((second == 10302 || second == 10203));
}

TEST_CASE("a resource that is another one in the container is refused, with both sides") {
  const auto five = next_of(make_counter<"ids", 5>());
  const auto six = next_of(make_counter<"ids", 6>());
  const auto one = tg::compile([=] { return tg::outputs(five); });
  const auto two = tg::compile([=] { return tg::outputs(six); });
  const tg::container state;
  tg::session session(one, {.state = state});
  CHECK_THROWS_WITH(tg::session(two, {.state = state}),
                    "InvalidArgument: the container has counter 'ids' that begins with 5, the program one that begins "
                    "with 6");
  CHECK(session.run(five) == 5);
}

TEST_CASE("a resource beside a variable of its name, on a device of the host, in many threads") {
  const auto v = tg::variable<"ids", std::int64_t>(std::int64_t{100});
  const auto ids = make_counter<"ids">();
  const auto next = tg::on<tg::cpu<1>>(next_of(ids)) + v;
  const auto program = tg::compile([=] { return tg::outputs(next); });
  tg::session session(program, {.intra_op_threads = 2, .cpu_devices = 2});
  std::atomic<std::int64_t> sum{0};
  std::vector<std::thread> all;
  for (int t = 0; t < 4; ++t)
    all.emplace_back([&] {
      for (int i = 0; i < 50; ++i) sum += session.run(next);
    });
  for (auto& t : all) t.join();
  CHECK(sum == 200 * 100 + 199 * 200 / 2);
}

TEST_CASE("explain names resources") {
  const auto next = next_of(make_counter<"ids">());
  const auto program = tg::compile([=] { return tg::outputs(next); });
  CHECK_THAT(tg::explain(program), Catch::Contains("counter    ids ") && Catch::Contains("resource 'ids'"));
}

}  // namespace
