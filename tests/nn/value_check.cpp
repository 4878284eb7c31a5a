// SPDX-License-Identifier: BSL-1.0
#include "tagma/nn/value_check.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tagma/expr/op/state.hpp"

namespace {

namespace tg = tagma;

std::string problem(const tg::ir::op_info& op, const std::vector<tg::ir::attribute>& attributes,
                    const tg::tensor_spec& spec, const tg::carried_value* v) {
  const char* const text = tg::detail::value_problem(op, attributes, spec, v);
  return text == nullptr ? "" : text;
}
constexpr tg::tensor_spec number{tg::dtype::float64, {}};

TEST_CASE("a value is there where a node takes one") {
  const tg::carried_value value = tg::rate(0.5).value();
  const tg::ir::op_info& rate = tg::ir::info<tg::op::scheduled_rate>;
  const tg::ir::op_info& variable = tg::ir::info<tg::op::variable>;
  CHECK(problem(rate, {}, number, &value).empty());
  CHECK(problem(rate, {}, number, nullptr) == "has no value");
  CHECK(problem(variable, {0, 1, 0}, number, nullptr).empty());
  CHECK(problem(variable, {0, 1, 0}, number, &value) == "takes no value");
  CHECK(problem(variable, {tg::detail::carried_kind, 1, 0}, number, nullptr) == "has no value");
  CHECK(problem(variable, {tg::detail::carried_kind, 1, 0}, number, &value).empty());
}

TEST_CASE("a schedule has the numbers that its kind reads") {
  const tg::ir::op_info& rate = tg::ir::info<tg::op::scheduled_rate>;
  const auto with = [&](std::int64_t kind, std::size_t numbers) {
    tg::carried_value v;
    v.integer = kind;
    v.bytes = tg::shared_bytes(numbers * sizeof(double));
    return problem(rate, {}, number, &v);
  };
  const std::size_t least[] = {2, 5, 2, 5, 4};
  for (std::int64_t kind = 0; kind < 5; ++kind) {
    INFO("kind " << kind);
    CHECK(with(kind, least[kind]).empty());
    CHECK_FALSE(with(kind, least[kind] - 1).empty());
  }
  CHECK_FALSE(with(static_cast<std::int64_t>(tg::schedule_kind::piecewise), 5).empty());
  CHECK_FALSE(with(5, 10).empty());
  CHECK_FALSE(with(-1, 10).empty());
}

TEST_CASE("an initial value has the size of its variable") {
  const tg::ir::op_info& variable = tg::ir::info<tg::op::variable>;
  tg::carried_value v;
  v.integer = static_cast<std::int64_t>(tg::initializer_kind::data);
  v.bytes = tg::shared_bytes(6 * sizeof(float));
  v.dims = {2, 3};
  const std::vector<tg::ir::attribute> begins{tg::detail::carried_kind, 1, 0};
  CHECK(problem(variable, begins, {tg::dtype::float32, {2, 3}}, &v).empty());
  CHECK_FALSE(problem(variable, begins, {tg::dtype::float32, {3, 2}}, &v).empty());
  CHECK_FALSE(problem(variable, begins, {tg::dtype::float64, {2, 3}}, &v).empty());
  v.integer = 11;
  CHECK_FALSE(problem(variable, begins, {tg::dtype::float32, {2, 3}}, &v).empty());
}

}  // namespace
