// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Words for errors of connections.

#include <cstdint>
#include <string>
#include <string_view>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"

namespace tagma::transport {

/// The sentence of an error, without its code.
[[nodiscard]] std::string_view sentence_of(const error& e);

/// "3.0 s", of nanoseconds.
[[nodiscard]] std::string seconds_of(std::int64_t ns);

namespace detail {

/// What another process says, as it may stand in a sentence: without control characters.
[[nodiscard]] std::string printable(std::string_view text);

/// The error that another process names.
[[nodiscard]] error error_of(std::uint16_t code, std::string_view text);

}  // namespace detail

}  // namespace tagma::transport

#ifndef TAGMA_COMPILED
#include "tagma/transport/sentences.ipp"
#endif
