// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Why a node is on its device, as the placer notes it and a log tells it.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tagma::ir {

/// Why a node is where it is.
enum class place_reason : std::uint8_t {
  not_placed,    ///< no run needs its value
  only_choice,   ///< no other device could run it
  first_choice,  ///< the best device that has a kernel for it and for its group
  asked,         ///< a scope asks for it
  with_group,    ///< another node of its group is asked for, or has been there
  assigned,      ///< earlier runs put it there
  with_readers,  ///< it has no inputs, and all its readers are there
  with_input,    ///< it reads no elements, or hands them on as they are
  softened,      ///< what is asked for cannot be had; type and number were dropped
  refused,       ///< what is asked for cannot be had, so that no run is possible
};

[[nodiscard]] constexpr std::string_view to_string(place_reason r) {
  constexpr const char* names[] = {"no run needs it",
                                   "the only one",
                                   "the first that has a kernel",
                                   "asked for",
                                   "with the nodes it is bound to",
                                   "where earlier runs had it",
                                   "with all its readers",
                                   "with its input",
                                   "instead of what is asked for",
                                   "but what is asked for cannot be had"};
  return names[static_cast<std::size_t>(r)];
}

}  // namespace tagma::ir
