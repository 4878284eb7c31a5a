// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/operators.hpp"

#include "tagma/expr/placeholder.hpp"

namespace {

using namespace tagma;

constexpr auto x = placeholder<"x", float, dyn, 3>();
constexpr auto y = placeholder<"y", float, 1>();
constexpr auto b = placeholder<"b", bool, 3>();

constexpr bool is(const auto& e, std::string_view name, dtype type) {
  return e.record().op->info->name == name && e.record().spec.type == type;
}
static_assert(is(x + y, "add", dtype::float32) && is(x - y, "subtract", dtype::float32));
static_assert(is(x * y, "multiply", dtype::float32) && is(x / y, "divide", dtype::float32) && is(-x, "negate", dtype::float32));
static_assert(is(x < y, "less", dtype::boolean) && is(x <= y, "less_equal", dtype::boolean));
static_assert(is(x > y, "greater", dtype::boolean) && is(x >= y, "greater_equal", dtype::boolean));
static_assert(is(b && (x < y), "logical_and", dtype::boolean) && is(b || b, "logical_or", dtype::boolean));
static_assert(is(!b, "logical_not", dtype::boolean) && (b && (x < y)).record().spec.dims == shape{dyn, 3});
static_assert((x + y).record().spec.dims == shape{dyn, 3} && (y + x).record().spec.dims == shape{dyn, 3});
static_assert(std::is_same_v<decltype(x + y), decltype(add(x, y))> && std::is_same_v<decltype(-x), decltype(negate(x))>);

}  // namespace
