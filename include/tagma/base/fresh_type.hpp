// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What TAGMA_FRESH_TYPE asks for a type where a compiler needs the detour; base/config.hpp says which.

namespace tagma::detail {

template <class... Parameters, class Fresh = decltype([] {})>
Fresh fresh_type(int);
template <class... Parameters>
void fresh_type(long);

}  // namespace tagma::detail
