// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/container.hpp"

#include <array>
#include <catch2/catch.hpp>

#include "support/errors.hpp"
#include "tagma/tagma.hpp"
#include "tagma/train.hpp"

namespace {

namespace tg = tagma;
using tg::isolation;

constexpr auto x = tg::placeholder<"x", float, 3>();

/// What holds resources finds each by its kind and name, however many there are.
TEST_CASE("a container has one resource of each kind and name") {
  struct thing final : tg::runtime::resource {
    thing(std::string_view kind, std::string name) : resource(kind, std::move(name)) {}
  };
  tg::runtime::state_container state;
  CHECK(!state.find("queue", "0"));
  int made = 0;
  const auto get = [&](std::string_view kind, int i) {
    return state.find_or_add(kind, std::to_string(i), [&] {
      ++made;
      return tg::counted<tg::runtime::resource>(new thing(kind, std::to_string(i)));
    });
  };
  std::vector<tg::runtime::resource*> first;
  for (int i = 0; i < 300; ++i) first.push_back(get("queue", i).get());
  for (int i = 0; i < 300; ++i) {
    CHECK(get("queue", i).get() == first[static_cast<std::size_t>(i)]);
    CHECK(get("reader", i).get() != first[static_cast<std::size_t>(i)]);
    CHECK(state.find("reader", std::to_string(i))->kind() == "reader");
  }
  CHECK(made == 600);
  int seen = 0;
  state.each([&](const tg::runtime::resource&) { ++seen; });
  CHECK(seen == 600);
}

TEST_CASE("programs share the variables that they name alike, in one container", "[scenario 62]") {
  const auto v = tg::variable<"v", float, 3>(tg::ones);
  const auto add = tg::assign_add(v, x);
  const auto writer = tg::compile([=] { return tg::outputs(add, v); });
  const auto w = tg::variable<"v", float, 3>(tg::zeros);
  const auto own = tg::variable<"own", float>(tg::ones);
  const auto doubled = w * 2.0f + own;
  const auto reader = tg::compile([=] { return tg::outputs(doubled); });
  for (const isolation kind : {isolation::runs, isolation::variables}) {
    const tg::container shared(kind);
    tg::session a(writer, {.state = shared});
    CHECK(shared.bytes() == 12);
    {
      tg::session b(reader, {.state = shared});
      CHECK(shared.bytes() == 16);
      CHECK(b.run(doubled)[1] == 3);
      a.run(add, x = std::array<float, 3>{1, 2, 3});
      CHECK(b.run(doubled)[2] == 9);
    }
    // What no session refers to is still there.
    tg::session later(reader, {.state = shared});
    CHECK(later.run(doubled)[2] == 9);
    // Without a container each has its own.
    tg::session alone(reader);
    CHECK(alone.run(doubled)[2] == 1);
    CHECK(shared.bytes() == 16);
  }
}

TEST_CASE("a container outlives the sessions that made its variables, and they it", "[scenario 58]") {
  const auto v = tg::variable<"v", float>(tg::zeros);
  const auto add = tg::assign_add(v, 1.0f);
  const auto program = tg::compile([=] { return tg::outputs(add); });
  auto shared = std::make_unique<tg::container>();
  auto first = std::make_unique<tg::session<decltype(program)>>(program, tg::session_options{.state = *shared});
  CHECK(first->run(add) == 1);
  first = nullptr;
  tg::session second(program, {.state = *shared});
  shared = nullptr;
  CHECK(second.run(add) == 2);
}

TEST_CASE("a variable that is another one in the container is refused by name, with both sides") {
  const auto v = tg::variable<"layer/kernel", float, 3>(tg::ones);
  const auto one = tg::compile([=] { return tg::outputs(v); });
  const auto w = tg::variable<"layer/kernel", float, 2, 2>(tg::ones);
  const auto two = tg::compile([=] { return tg::outputs(w); });
  const auto d = tg::variable<"layer/kernel", double, 3>(tg::ones);
  const auto three = tg::compile([=] { return tg::outputs(d); });
  const tg::container shared;
  tg::session session(one, {.state = shared});
  CHECK_THROWS_WITH(
      tg::session(two, {.state = shared}),
      "InvalidArgument: the container has variable 'layer/kernel' float32 [3], the program one that is float32 [2, 2]");
  CHECK_THROWS_WITH(
      tg::session(three, {.state = shared}),
      "InvalidArgument: the container has variable 'layer/kernel' float32 [3], the program one that is float64 [3]");
  CHECK(session.run(v)[0] == 1);
}

TEST_CASE("a session that initialises gives values to what another one left without") {
  const auto v = tg::variable<"v", float>(tg::ones);
  const auto program = tg::compile([=] { return tg::outputs(v); });
  for (const isolation kind : {isolation::runs, isolation::variables}) {
    const tg::container shared(kind);
    tg::session empty(program, {.initialize = false, .state = shared});
    CHECK_THROWS_WITH(empty.run(v), Catch::StartsWith("FailedPrecondition: ") &&
                                        Catch::Contains("attempting to use uninitialized variable 'v'"));
    tg::session full(program, {.state = shared});
    CHECK(full.run(v) == 1);
    CHECK(empty.run(v) == 1);
  }
}

TEST_CASE("a prefix tells copies of a model apart, in a container and in a file") {
  const auto v = tg::variable<"layer/v", float, 3>(tg::random_normal());
  const auto square = tg::sum(v * v);
  const auto train = tg::minimize(square, tg::adam{.learning_rate = 0.1f});
  const auto program = tg::compile([=] { return tg::outputs(v, square, train); });
  const tg::container shared;
  tg::session first(program, {.state = shared, .variable_prefix = "replica_0"});
  const std::size_t once = shared.bytes();
  const std::string other = "replica_1";
  tg::session second(program, {.state = shared, .variable_prefix = other});
  CHECK(shared.bytes() == 2 * once);
  // Names give the initial values: other ones for each copy, and those of the same name in another container.
  const auto a = first.run(v), b = second.run(v);
  CHECK(a[0] != b[0]);
  tg::session again(program, {.variable_prefix = other});
  CHECK(again.run(v)[0] == b[0]);
  first.run(train);
  CHECK(second.run(v)[0] == b[0]);
  tg::session same(program, {.state = shared, .variable_prefix = "replica_0"});
  CHECK(shared.bytes() == 2 * once);
  CHECK(same.run(v)[0] == first.run(v)[0]);
  // Who wants a copy by name has the whole name.
  const auto copy = tg::variable<"replica_1/layer/v", float, 3>(tg::zeros);
  const auto reader = tg::compile([=] { return tg::outputs(copy); });
  CHECK(tg::session(reader, {.state = shared}).run(copy)[1] == b[1]);
  for (const char* const bad : {"a/", "/a", "a b", "-a"})
    CHECK_THROWS_WITH(tg::session(program, {.variable_prefix = bad}),
                      "InvalidArgument: variable_prefix \"" + std::string(bad) +
                          "\" is no name, such as \"replica_3\" or \"trial_1/left\"");
}

TEST_CASE("one more session over the same variables takes the memory of its arenas alone") {
  const auto v = tg::variable<"v", float, 1000>(tg::ones);
  const auto twice = tg::sum(tg::exp(v));
  const auto train = tg::minimize(twice, tg::adam{.learning_rate = 0.01});
  const auto program = tg::compile([=] { return tg::outputs(twice, train); });
  const tg::container shared;
  tg::session first(program, {.state = shared});
  first.run(train);
  const std::size_t before = shared.bytes();
  tg::session second(program, {.state = shared});
  const float loss = second.run(twice);
  second.run(train);
  CHECK(first.run(twice) < loss);
  CHECK(shared.bytes() == before);
}

}  // namespace
