// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/placeholder.hpp"

namespace {

using namespace tagma;

constexpr auto x = placeholder<"x", std::uint8_t, dyn, 28, 28>();
static_assert(decltype(x)::spec == tensor_spec{dtype::uint8, {dyn, 28, 28}} && decltype(x)::rank == 3);
static_assert(std::is_same_v<decltype(x)::element_type, std::uint8_t> && !decltype(x)::carries);
static_assert(x.record().name == "x" && x.record().op->info->kind == ir::op_kind::placeholder);
static_assert(placeholder<"s", float>().record().spec.dims.rank == 0);
static_assert(placeholder<"e", float, 0>().record().spec.dims.elements() == 0);

static_assert(diagnose::extents_are_valid<1, 2, 3, 4, 5, 6> && !diagnose::extents_are_valid<1, 2, 3, 4, 5, 6, 7>);
static_assert(diagnose::extents_are_valid<dyn> && !diagnose::extents_are_valid<-2>);
static_assert(diagnose::is_element_type<bfloat16> && !diagnose::is_element_type<long double>);

}  // namespace
