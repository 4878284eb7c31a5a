// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A value that is computed again only when a variable was written. The pass `fold_frozen` puts it behind such values.

#include "tagma/base/config.hpp"
#include "tagma/ir/op.hpp"

namespace tagma::ir {

/// Its input. No loop goes across it, so that what is kept is not computed with what is not.
struct keep {
  static constexpr const char* name = "keep";
  static constexpr op_kind kind = op_kind::compute;
  static constexpr void takes(auto& t) { t.any(1); }
  TAGMA_COLD static constexpr const char* infer(infer_args& a) {
    a.out = a.in[0];
    return nullptr;
  }
};

}  // namespace tagma::ir
