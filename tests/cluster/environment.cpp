// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/environment.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <string>

#include "support/errors.hpp"

using tagma::environment;
using tagma::status_code;
using tagma::test::code_of;
using tagma::test::text_of;

TEST_CASE("variables are found by name") {
  const environment e{{"A", "1"}, {"EMPTY", ""}, {"WORD", "x"}};
  CHECK(e.find("A") == "1");
  CHECK(e.has("A"));
  CHECK_FALSE(e.has("B"));
  CHECK_FALSE(e.has("EMPTY"));
  CHECK_FALSE(environment().has("A"));
  CHECK(e.need("A", "who") == "1");
  CHECK(text_of([&] { (void)e.need("B", "Slurm"); }) == "InvalidArgument: Slurm: the variable B is not set");
}

TEST_CASE("numbers in variables have bounds") {
  const environment e{{"A", "12"}, {"BLANKS", " 7 "}, {"WORD", "x"}, {"LONG", "99999999999999999999"}, {"MINUS", "-1"}};
  CHECK(e.find_number("A", 0, 12) == 12);
  CHECK(e.find_number("BLANKS", 0, 12) == 7);
  CHECK_FALSE(e.find_number("B", 0, 12));
  for (const char* name : {"A", "WORD", "LONG", "MINUS"})
    CHECK(code_of([&] { (void)e.find_number(name, 0, 11); }) == status_code::invalid_argument);
  CHECK(text_of([&] { (void)e.find_number("WORD", 0, 11); }) ==
        "InvalidArgument: WORD: \"x\" is not a whole number from 0 to 11");
  CHECK(e.need_number("A", 0, 12, "who") == 12);
  CHECK(code_of([&] { (void)e.need_number("B", 0, 12, "who"); }) == status_code::invalid_argument);
}

TEST_CASE("variables of this process") {
  const char* const path = std::getenv("PATH");
  CHECK(environment::of_process().find("PATH") == (path == nullptr ? std::nullopt : std::optional<std::string>(path)));
  CHECK_FALSE(environment::of_process().has("TAGMA_A_NAME_THAT_NOBODY_SETS"));
}
