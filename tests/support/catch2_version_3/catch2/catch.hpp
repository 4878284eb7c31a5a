// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What the tests use of Catch2 version 2, by version 3. The tests include <catch2/catch.hpp>, which only version 2
/// has; where CMake finds version 3, this file stands for it.

#include <catch2/catch_all.hpp>

using Catch::Approx;

namespace Catch {
using Matchers::EndsWith;
using Matchers::StartsWith;
inline auto Contains(const std::string& text) { return Matchers::ContainsSubstring(text); }
}  // namespace Catch
