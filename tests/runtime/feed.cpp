// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/feed.hpp"

#include <catch2/catch.hpp>

#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 2>();
constexpr auto ids = tg::placeholder<"ids", std::int32_t, tg::dyn>();

tg::tensor<float> numbers(const tg::shape& dims, float first) {
  tg::tensor<float> t(dims);
  for (std::size_t i = 0; i < t.size(); ++i) t.data()[i] = first + static_cast<float>(i);
  return t;
}

}  // namespace

TEST_CASE("a feed of a computed tensor takes the place of its operation") {
  const auto a = tg::exp(x);
  const auto b = a + 1.0f;
  const auto program = tg::compile([=] { return tg::outputs(b, a); });
  tg::session session(program);
  const auto value = numbers({3, 2}, 5);
  CHECK(session.run(b, a = value).data()[5] == 11);  // without x
  CHECK(session.run(b, x = tg::tensor<float>(tg::shape{1, 2})).data()[1] == 2);
  CHECK(session.run(b, x = value, a = value).data()[0] == 6);  // x is not needed, and not in the way
  CHECK(session.run(a, a = value).data()[3] == 8);             // fed and fetched
}

TEST_CASE("what only a fed tensor needs does not run") {
  // The rows that ids asks for do not exist: the gather would fail.
  const auto rows = tg::gather(x, ids);
  const auto total = tg::sum(tg::square(rows));
  const auto program = tg::compile([=] { return tg::outputs(total); });
  tg::session session(program);
  const std::vector<std::int32_t> wrong{7};
  CHECK_THROWS_AS(session.run(total, x = numbers({3, 2}, 0), ids = wrong), tg::error);
  CHECK(session.run(total, x = numbers({3, 2}, 0), ids = wrong, rows = numbers({1, 2}, 1)) == 5);
}

TEST_CASE("feeds of computed tensors: several, their views, and random numbers") {
  const auto noise = tg::random_uniform<float, 4>();
  const auto seen = tg::reshape<2, 2>(noise);
  const auto doubled = 2.0f * seen;
  const auto sum = tg::sum(doubled) + tg::sum(x);
  const auto program = tg::compile([=] { return tg::outputs(sum); });
  tg::session session(program, {.seed = 3});
  const auto none = tg::tensor<float>(tg::shape{0, 2});
  const std::vector<float> four{1, 2, 3, 4};
  CHECK(session.run(sum, x = none, noise = four) == 20);
  CHECK(session.run(sum, seen = numbers({2, 2}, 0), x = none) == 12);
  CHECK(session.run(sum, x = none, doubled = numbers({2, 2}, 0), noise = four) == 6);
  const float drawn = session.run(sum, x = none);
  CHECK(drawn > 0);
  CHECK(drawn < 8);
}

TEST_CASE("a computed tensor is fed with extents that fit") {
  const auto a = tg::exp(x);
  const auto program = tg::compile([=] { return tg::outputs(tg::sum(a)); });
  tg::session session(program);
  CHECK_THROWS_WITH(session.run(tg::sum(a), a = numbers({2, 3}, 0)),
                    Catch::Contains("feed of placeholder #1 has shape [2, 3]") && Catch::Contains("[?, 2]"));
}

TEST_CASE("feeding a tensor does not touch variables, and training goes on beside it") {
  const auto h = tg::dense<"h", 3>(x);
  const auto loss = tg::mean(tg::square(h));
  const auto train = tg::minimize(loss, tg::sgd{.learning_rate = 0.1});
  const auto program = tg::compile([=] { return tg::outputs(loss, train); });
  tg::session session(program, {.seed = 5});
  const float before = session.run(loss, x = numbers({2, 2}, 1));
  CHECK(session.run(loss, h = numbers({1, 3}, 1)) == Approx(14.0f / 3));
  CHECK(session.run(loss, x = numbers({2, 2}, 1)) == before);
  session.run(train, x = numbers({2, 2}, 1));
  CHECK(session.run(loss, x = numbers({2, 2}, 1)) < before);
}

TEST_CASE("a tensor inside a device scope is fed by the handle that the scope returned") {
  const auto a = tg::on<tg::cpu<1>>(tg::exp(x));
  const auto b = tg::on<tg::cpu<0>>(tg::sum(a));
  const auto program = tg::compile([=] { return tg::outputs(b); });
  tg::session session(program, {.cpu_devices = 2});
  CHECK(session.run(b, a = numbers({2, 2}, 1)) == 10);
}
