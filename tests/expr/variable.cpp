// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/variable.hpp"

#include <catch2/catch.hpp>

#include "tagma/tensor/tensor.hpp"

namespace {

using namespace tagma;

constexpr auto w = variable<"w", float, 2, 3>(static_initializer<initializer_kind::zeros>{});
static_assert(w.record().name == "w" && w.record().attributes[1] == 1 && !decltype(w)::carries);
static_assert(variable<"n", std::int64_t>(static_initializer<initializer_kind::zeros>{}).record().attributes[1] == 0);
static_assert(
    variable<"w", float, 2, 3>(static_initializer<initializer_kind::zeros>{}, not_trainable).record().attributes[1] ==
    0);
static_assert(diagnose::extents_are_static<2, 3> && !diagnose::extents_are_static<2, dyn>);

TEST_CASE("initial values travel with the handle") {
  const auto five = variable<"five", float, 2>(5);
  REQUIRE((five.record().valued && !five.values.empty()));
  const carried_value* value = &five.values.value();
  CHECK(static_cast<initializer_kind>(value->integer) == initializer_kind::constant);
  CHECK(value->number == 5);

  const auto given = variable<"given", float, 2, 2>(tensor<float>(shape{2, 2}, {1, 2, 3, 4}));
  REQUIRE((given.record().valued && !given.values.empty()));
  value = &given.values.value();
  CHECK(value->bytes.size() == 16);
  CHECK(value->dims == shape{2, 2});
  CHECK_THROWS_WITH((variable<"other", float, 2, 2>(tensor<float>(shape{4}, {1, 2, 3, 4}))),
                    "InvalidArgument: variable: its initial value has shape [4], not [2, 2]");
}

}  // namespace
