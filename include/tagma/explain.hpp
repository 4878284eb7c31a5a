// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a program looks like after compilation, and what it was compiled with: for people who want to know why.

#include "tagma/device/cpu/build_info.hpp"
#include "tagma/plan/print.hpp"
