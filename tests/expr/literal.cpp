// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/literal.hpp"

#include <catch2/catch.hpp>

#include "tagma/expr/operators.hpp"
#include "tagma/expr/placeholder.hpp"
#include "tagma/plan/program.hpp"
#include "tagma/tensor/tensor.hpp"

namespace {

using namespace tagma;

constexpr auto x = placeholder<"x", float, 3>();

/// One place of the program, whatever the number.
auto scaled(float factor) { return factor * x; }

TEST_CASE("numbers written at two places are two nodes") {
  const auto a = 2.0f * x;
  const auto b = 2.0f * x;
  CHECK_FALSE(std::is_same_v<decltype(a), decltype(b)>);
  CHECK(a.record().inputs[0] != b.record().inputs[0]);
  CHECK(a.values.value().number == 2);
}

TEST_CASE("one place with two values is an error when both meet, and only then") {
  CHECK_NOTHROW(compile([] { return outputs(scaled(2) + scaled(2)); }));
  const auto two = scaled(2);
  const auto three = scaled(3);
  const auto both = [=] { return outputs(two + three); };
  CHECK_NOTHROW(compile([=] { return outputs(two); }));
  CHECK_THROWS_WITH(compile(both),
                    Catch::StartsWith("InvalidArgument: one place of an expression, an operand of multiply, ") &&
                        Catch::Contains(", has two values, 2.0") && Catch::Contains("and 3.0") &&
                        Catch::Contains("tagma::constant<\"name\">"));
  try {
    (void)compile(both);
    FAIL("nothing was thrown");
  } catch (const error& e) {
    CHECK(e.code() == status_code::invalid_argument);
  }
}

auto begun_at(float value) { return variable<"begun", float>(value); }

TEST_CASE("a variable with two initial values is an error that names both, and who reads it") {
  CHECK_NOTHROW(compile([] { return outputs(begun_at(2) + begun_at(2)); }));
  CHECK_THROWS_WITH(
      compile([] { return outputs(begun_at(2) + begun_at(3)); }),
      Catch::Contains("'begun', an operand of add, float32 [], has two values, 2.0") && Catch::Contains("and 3.0"));
  const auto given = [](float value) { return variable<"given", float, 1>(tensor<float>({1}, {value})); };
  CHECK_THROWS_WITH(compile([=] { return outputs(given(2) + given(3)); }),
                    Catch::Contains("'given', an operand of add, float32 [1], has two initial tensors: the same line"));
}

TEST_CASE("a number with a name is one node wherever it is written") {
  const auto a = constant<"rate">(0.25f);
  const auto b = constant<"rate">(0.25f);
  CHECK(std::is_same_v<decltype(a), decltype(b)>);
  CHECK_NOTHROW(compile([=] { return outputs(a * x + b * x); }));
  CHECK_THROWS_WITH(compile([=] { return outputs(a * x + constant<"rate">(0.5f) * x); }), Catch::Contains("'rate'"));
}

TEST_CASE("integers keep all their bits") {
  const auto i = placeholder<"i", std::int64_t, 3>();
  const auto large = i + std::int64_t{9007199254740993};  // not a double
  CHECK(large.values.value().integer == 9007199254740993);
}

}  // namespace
