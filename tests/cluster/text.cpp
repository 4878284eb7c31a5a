// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/text.hpp"

#include <catch2/catch.hpp>

#include <string>

#include "support/errors.hpp"
#include "tagma/cluster/limits.hpp"

using namespace tagma::detail;
using tagma::test::text_of;

TEST_CASE("texts of strangers are spelt out in sentences") {
  CHECK(quote("a b") == "\"a b\"");
  CHECK(quote("\x1b[0m\n\xc3") == "\"\\x1b[0m\\x0a\\xc3\"");
  CHECK(quote(std::string(120, 'a')) == "\"" + std::string(120, 'a') + "\"");
  CHECK(quote(std::string(121, 'a')) == "\"" + std::string(120, 'a') + "...\"");
}

TEST_CASE("whole numbers are digits alone") {
  CHECK(whole_number("0") == 0);
  CHECK(whole_number("007") == 7);
  CHECK(whole_number("999999999999999999") == 999999999999999999);
  for (const char* bad : {"", "-1", "+1", " 1", "1 ", "1.0", "0x1", "9999999999999999999", "1e3"})
    CHECK_FALSE(whole_number(bad));
}

TEST_CASE("lists between commas") {
  using list = std::vector<std::string_view>;
  CHECK(comma_list("a, b ,c", "x") == list{"a", "b", "c"});
  CHECK(comma_list("", "x").empty());
  CHECK(comma_list("  ", "x").empty());
  CHECK(text_of([] { (void)comma_list("a,,b", "--ps_hosts"); }) ==
        "InvalidArgument: --ps_hosts: entry 1 of \"a,,b\" is empty");
  CHECK(text_of([] { (void)comma_list("a,", "x"); }).find("entry 1") != std::string::npos);
  std::string longest = "a";
  for (int i = 1; i < tagma::cluster_limits::tasks; ++i) longest += ",a";
  CHECK(comma_list(longest, "x").size() == static_cast<std::size_t>(tagma::cluster_limits::tasks));
  CHECK(text_of([&] { (void)comma_list(longest + ",a", "x"); }).find("more than 65536") != std::string::npos);
}

TEST_CASE("names one after the other") {
  CHECK(enumerated({}).empty());
  CHECK(enumerated({"a"}) == "a");
  CHECK(enumerated({"a", "b"}) == "a and b");
  CHECK(enumerated({"a", "b", "c"}) == "a, b and c");
  CHECK(enumerated(std::vector<std::string>(17, "a")) == "a, a, a, a, a, a, a, a, a, a, a, a, a, a, a and 2 more");
}
