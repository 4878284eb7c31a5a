// SPDX-License-Identifier: BSL-1.0
#include "tagma/base/owned.hpp"

#include <catch2/catch.hpp>
#include <utility>

namespace {
struct base {
  virtual ~base() = default;
};
struct counted : base {
  explicit counted(int& n) : count(n) { ++count; }
  ~counted() override { --count; }
  int& count;
};
}  // namespace

TEST_CASE("an owned object ends with its owner and moves to another") {
  int alive = 0;
  {
    tagma::owned<base> first = tagma::make_owned<counted>(alive);
    CHECK(alive == 1);
    tagma::owned<base> second = std::move(first);
    CHECK(first == nullptr);
    CHECK(static_cast<bool>(second));
    second = tagma::make_owned<counted>(alive);
    CHECK(alive == 1);
    first = std::move(second);
    CHECK(alive == 1);
    delete first.release();
    CHECK(alive == 0);
  }
  CHECK(alive == 0);
}

TEST_CASE("an owned array ends with its owner and moves to another") {
  static int alive = 0;
  struct element {
    element() { ++alive; }
    element(const element&) = delete;
    element& operator=(const element&) = delete;
    ~element() { --alive; }
  };
  {
    tagma::owned<element[]> first(new element[3]);
    CHECK(alive == 3);
    tagma::owned<element[]> second(new element[2]);
    second = std::move(first);
    CHECK(alive == 3);
    CHECK(first == nullptr);
    const tagma::owned<element[]> third = std::move(second);
    CHECK(third.get() != nullptr);
    CHECK(alive == 3);
  }
  CHECK(alive == 0);
}
