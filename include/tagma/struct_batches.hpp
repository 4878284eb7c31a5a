// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Batches of datasets of structs: `datasets::members`.

// Before the headers that include them: compilers print the way to a header before its sentences.
#include "tagma/data/dataset.hpp"

#include "tagma/data/struct_batches.hpp"

#include "tagma/base/epilogue.hpp"
