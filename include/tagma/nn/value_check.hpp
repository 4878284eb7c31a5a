// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Which nodes take a run-time value from their program, and what such a value must hold, for programs that no compiler
/// has checked.

#include <cstdint>
#include <string_view>

#include "tagma/base/config.hpp"
#include "tagma/expr/carried.hpp"
#include "tagma/expr/variable.hpp"
#include "tagma/ir/op.hpp"
#include "tagma/nn/schedules.hpp"

namespace tagma::detail {

/// What is wrong with a schedule of a learning rate; nullptr if nothing is.
[[nodiscard]] TAGMA_COLD inline const char* schedule_problem(const carried_value& v) {
  // How many numbers each kind of schedule reads (nn/schedules.hpp); pieces have one more than boundaries.
  constexpr std::size_t least[] = {2, 5, 2, 5, 4};
  const std::size_t numbers = v.bytes.size() / sizeof(double);
  const bool known = v.integer >= 0 && v.integer <= 4 && v.bytes.size() % sizeof(double) == 0;
  const bool pieces = v.integer == static_cast<std::int64_t>(schedule_kind::piecewise);
  if (!known || numbers < least[v.integer] || (pieces && numbers % 2 != 0)) return "its schedule lacks numbers";
  return nullptr;
}

/// What is wrong with what a node takes from its program, so that whatever a kernel reads of it is there.
/// @param v its value; nullptr if it takes none
/// @return nullptr if nothing is wrong
[[nodiscard]] TAGMA_COLD inline const char* value_problem(const ir::op_info& op, ir::attribute_list attributes,
                                                          const tensor_spec& spec, const carried_value* v) {
  const bool rate = op.name == std::string_view(tagma::op::scheduled_rate::name);
  const bool starts = op.is(ir::op_kind::variable) || op.name == std::string_view("initialize");
  const ir::attribute begins = starts ? attributes[0] : 0;
  const bool takes = rate || op.is(ir::op_kind::literal) || begins == carried_kind || begins == literal_kind;
  if (takes != (v != nullptr)) return takes ? "has no value" : "takes no value";
  if (rate) return schedule_problem(*v);
  if (starts && begins == carried_kind) {
    const auto last = static_cast<std::int64_t>(initializer_kind::data);
    if (v->integer < 0 || v->integer > last) return "begins in a way that is not known";
    const auto size = static_cast<extent>(v->bytes.size());
    if (v->integer == last && (!(v->dims == spec.dims) || size != bytes_of(spec)))
      return "its initial value has another size";
  }
  return nullptr;
}

}  // namespace tagma::detail
