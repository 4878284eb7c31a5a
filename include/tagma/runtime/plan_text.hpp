// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Words about nodes of plans, for errors.

#include <string>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/plan/plan.hpp"

namespace tagma::runtime {

namespace detail {

/// "matmul 'hidden/kernel'" or "matmul #12".
[[nodiscard]] std::string describe(const plan::plan_node& n);

/// "a plan of 3 steps".
[[nodiscard]] std::string describe(const plan::plan_view& plan);

/// " float32 [2, 3] and int32 [2]".
void append_spec(std::string& text, const char* before, dtype type, const shape& dims);

}  // namespace detail
}  // namespace tagma::runtime

#ifndef TAGMA_COMPILED
#include "tagma/runtime/plan_text.ipp"
#endif
