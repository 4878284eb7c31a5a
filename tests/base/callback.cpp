// SPDX-License-Identifier: BSL-1.0
#include "tagma/base/callback.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>

namespace tg = tagma;

namespace {
int doubled(int x) { return 2 * x; }
}  // namespace

TEST_CASE("a callback calls what it was made of, and copies call the same object", "[callback]") {
  int calls = 0;
  tg::callback<int(int)> f = [&calls, n = 0](int x) mutable {
    ++calls;
    return x + n++;
  };
  REQUIRE(f);
  const tg::callback<int(int)> g = f;
  CHECK(f(10) == 10);
  CHECK(g(10) == 11);
  CHECK(calls == 2);
  f = doubled;
  CHECK(f(4) == 8);
  CHECK(g(10) == 12);
}

TEST_CASE("a callback of nothing is empty", "[callback]") {
  CHECK(!tg::callback<void()>());
  CHECK(!tg::callback<void()>(nullptr));
  const tg::callback<void()> f = std::function<void()>();
  CHECK(!f);
  int (*const none)(int) = nullptr;
  const tg::callback<int(int)> of_none = none;
  CHECK(!of_none);
  const tg::callback<int(int)> h = std::function<int(int)>(doubled);
  CHECK(h);
  CHECK(h(1) == 2);
}

TEST_CASE("arguments and results are handed on as they are", "[callback]") {
  tg::callback<std::unique_ptr<int>(std::unique_ptr<int>, std::string&)> f = [](std::unique_ptr<int> p, std::string& s) {
    s += std::to_string(*p);
    return p;
  };
  std::string text = "at ";
  CHECK(*f(std::make_unique<int>(7), text) == 7);
  CHECK(text == "at 7");
  const tg::callback<void(int)> ignores = [](int x) { return x; };
  ignores(3);
  auto owner = std::make_shared<int>(1);
  tg::callback<int()> holds = [owner] { return *owner; };
  CHECK(owner.use_count() == 2);
  holds = nullptr;
  CHECK(owner.use_count() == 1);
}
