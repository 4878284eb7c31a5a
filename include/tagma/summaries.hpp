// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Curves, histograms, pictures, texts and graphs for TensorBoard.

// Before the headers that include them: compilers print the way to a header before its sentences.
#include "tagma/base/fixed_string.hpp"
#include "tagma/expr/rules.hpp"
#include "tagma/place/rules.hpp"

#include "tagma/place/device.hpp"

#include "tagma/observe/summary_writer.hpp"

#include "tagma/base/epilogue.hpp"
