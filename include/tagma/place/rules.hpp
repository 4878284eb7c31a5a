// SPDX-License-Identifier: BSL-1.0

/// @file
/// The rule of device names, as a macro: see expr/rules.hpp for why there is no pragma.

#ifndef TAGMA_PLACE_RULES
#define TAGMA_PLACE_RULES

/// `Text` is a device name. `Who` says who asks.
#define TAGMA_NEEDS_DEVICE(Who, Text)                                                 \
  static_assert(::tagma::diagnose::is_device_name<::tagma::detail::bad_device<Text>>, \
                "TAGMA-E070 " Who ": this is no device name, such as \"/job:worker/replica:0/task:1/device:CPU:0\"")

#endif
