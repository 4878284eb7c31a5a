// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The version of the library; CMake and the package files read it from here.

#define TAGMA_VERSION_MAJOR 0
#define TAGMA_VERSION_MINOR 1
#define TAGMA_VERSION_PATCH 0
#define TAGMA_VERSION "0.1.0"
