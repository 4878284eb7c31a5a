// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Datasets that keep their elements in files.

// Before the headers that include them: compilers print the way to a header before its sentences.
#include "tagma/data/dataset.hpp"

#include "tagma/data/element_bytes.hpp"
#include "tagma/data/file_cache.hpp"

#include "tagma/base/epilogue.hpp"
