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
