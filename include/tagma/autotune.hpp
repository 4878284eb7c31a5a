// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What the stages of datasets do with their time, and stages that find out by themselves how many threads and elements
/// they need.

// Before the headers that include them: compilers print the way to a header before its sentences.
#include "tagma/data/dataset.hpp"

#include "tagma/data/autotune.hpp"
#include "tagma/data/explain.hpp"
#include "tagma/data/iterate.hpp"

#include "tagma/base/epilogue.hpp"
