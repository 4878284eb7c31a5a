// SPDX-License-Identifier: BSL-1.0
#include "tagma/ir/record.hpp"

#include "tagma/expr/operators.hpp"
#include "tagma/expr/placeholder.hpp"

namespace {

using namespace tagma;

constexpr auto x = placeholder<"x", float, dyn, 3>();
constexpr auto y = placeholder<"y", float, 3>();
constexpr auto sum = x + y;

static_assert(sum.record().op == &ir::rules<op::add>);
static_assert(sum.record().inputs.size() == 2 && sum.record().inputs[0] == &x.record() &&
              sum.record().inputs[1] == &y.record());
static_assert(sum.record().controls.size() == 0 && sum.record().name.empty() && !sum.record().valued &&
              !sum.record().carries);
static_assert(sum.record().spec == tensor_spec{dtype::float32, {dyn, 3}});
static_assert(x.record().name == "x" && x.record().spec.dims == shape{dyn, 3});
static_assert(x.record().hash != y.record().hash && sum.record().hash != (y + x).record().hash);

// One node is what has the same structure, wherever it was written.
constexpr auto other_sum = x + y;
static_assert(ir::is_one_node(sum.record(), other_sum.record()) && !ir::is_one_node(sum.record(), (y + x).record()));
static_assert(!ir::is_one_node(sum.record(), (x - y).record()) && !ir::is_one_node(x.record(), y.record()));

// Also where each of forty nodes is read twice by the next: a walk along every way would never end.
template <int Times, expression E>
auto doubled(const E& e) {
  if constexpr (Times == 0)
    return e;
  else
    return doubled<Times - 1>(e + e);
}
const auto carrying = x * 2.5f;
const auto first = doubled<40>(carrying), second = doubled<40>(carrying);
template <int Times, expression E>
auto doubled_elsewhere(const E& e) {
  if constexpr (Times == 0)
    return e;
  else
    return doubled_elsewhere<Times - 1>(e + e);
}
const auto third = doubled_elsewhere<40>(carrying);
static_assert(&first.record() != &third.record() && ir::is_one_node(first.record(), third.record()));
static_assert(ir::is_one_node(first.record(), second.record()));
const auto other = doubled_elsewhere<40>(x * 2.5f);
static_assert(!ir::is_one_node(first.record(), other.record()));

}  // namespace
