// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/elementwise.hpp"

#include "tagma/expr/op/compare.hpp"
#include "tagma/expr/placeholder.hpp"

namespace {

using namespace tagma;

/// The broadcast shape of two operands, or a shape of rank 6 of zeros if they do not fit.
constexpr shape joined(const shape& a, const shape& b) {
  const tensor_spec in[] = {{dtype::float32, a}, {dtype::float32, b}};
  ir::infer_args args{{in, 2}, {}, {}};
  return op::infer_elementwise(args) == nullptr ? args.out.dims : shape{0, 0, 0, 0, 0, 0};
}
static_assert(joined({3}, {3}) == shape{3} && joined({5, 1}, {1, 7}) == shape{5, 7} &&
              joined({}, {2, 3}) == shape{2, 3});
static_assert(joined({2, 1, 3}, {2, 4, 1}) == shape{2, 4, 3} &&
              joined({1, 1, 1, 1, 1, 1}, {6}) == shape{1, 1, 1, 1, 1, 6});
static_assert(joined({dyn, 3}, {3}) == shape{dyn, 3} && joined({dyn}, {1}) == shape{dyn} &&
              joined({dyn}, {7}) == shape{7});
static_assert(joined({0}, {1}) == shape{0} && joined({0, 3}, {3}) == shape{0, 3});
static_assert(joined({3}, {4}).rank == 6 && joined({0}, {2}).rank == 6);

using f3 = spec<float, 3>;
static_assert(diagnose::same_element_type<f3, spec<float>> && !diagnose::same_element_type<f3, spec<double, 3>>);
static_assert(diagnose::shapes_broadcast<f3, spec<float, 2, 1>> && !diagnose::shapes_broadcast<f3, spec<float, 4>>);
static_assert(diagnose::numbers_fit<int, f3> && diagnose::numbers_fit<spec<bfloat16>, double> &&
              diagnose::numbers_fit<int, spec<std::int8_t, 3>>);
static_assert(!diagnose::numbers_fit<float, spec<std::int32_t>> &&
              !diagnose::numbers_fit<spec<std::uint8_t, 3>, double>);
static_assert(diagnose::is_number<f3> && !diagnose::is_number<spec<bool>> && diagnose::is_integral<spec<std::uint8_t>>);

// The result of a choice has the type of what is chosen.
constexpr auto c = placeholder<"c", bool, 2, 1>();
constexpr auto a = placeholder<"a", double, 3>();
static_assert(decltype(select(c, a, a))::spec == tensor_spec{dtype::float64, {2, 3}});
static_assert(decltype(equal(a, a))::spec == tensor_spec{dtype::boolean, {3}});
static_assert(decltype(cast<std::int8_t>(a))::spec == tensor_spec{dtype::int8, {3}});

}  // namespace
