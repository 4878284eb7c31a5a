// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/text_constant.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "tagma/queues.hpp"
#include "tagma/readers.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

TEST_CASE("texts of a program have all their characters") {
  const auto none = tg::text_constant<"">;
  const auto eight = tg::text_constant<"12345678">;
  const auto nine = tg::text_constant<"1234\0 789">;
  const auto all = tg::stack(none, eight, nine, tg::text_constant<"\xc3\xa4">);
  tg::session s(tg::compile([=] { return tg::outputs(none, eight, nine, all); }));
  CHECK(s.run(none).empty());
  CHECK(s.run(eight) == "12345678");
  CHECK(s.run(nine) == std::string_view("1234\0 789", 9));
  CHECK(s.run(all) ==
        tg::tensor<std::string_view>({4}, {"", "12345678", std::string_view("1234\0 789", 9), "\xc3\xa4"}));
}

TEST_CASE("equal texts are one node") {
  STATIC_REQUIRE(std::is_same_v<decltype(tg::text_constant<"a">), decltype(tg::text_constant<"a">)>);
  STATIC_REQUIRE_FALSE(std::is_same_v<decltype(tg::text_constant<"a">), decltype(tg::text_constant<"b">)>);
  STATIC_REQUIRE_FALSE(std::is_same_v<decltype(tg::text_constant<"a">), decltype(tg::text_constant<"a\0">)>);
}

TEST_CASE("what is enqueued outlives its session") {
  constexpr tg::queue_of<"files", tg::queue_options{}, tg::spec<std::string_view>> files;
  const auto put = tg::enqueue(files, tg::text_constant<"a name that is longer than a word">);
  const tg::container state;
  tg::session(tg::compile([=] { return tg::outputs(put); }), {.state = state}).run(put);
  const tg::queue<tg::spec<std::string_view>> same(state, "files");
  const auto [name] = same.dequeue();
  CHECK(*name.data() == "a name that is longer than a word");
}
