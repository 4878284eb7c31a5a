// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Datasets: pipelines of elements, from memory and files, shuffled, mapped by several threads, batched.

// Before the headers that include them: compilers print the way to a header before its sentences.
#include "tagma/data/dataset.hpp"

#include "tagma/data/make_dataset.hpp"

#include "tagma/data/splits.hpp"

#include "tagma/base/epilogue.hpp"
