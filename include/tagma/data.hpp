// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Data sets, batches of them, and progress on long work.

// Before the headers that include them: compilers print the way to a header before its sentences.
#include "tagma/data/dataset.hpp"

#include "tagma/data/make_dataset.hpp"

#include "tagma/data/batches.hpp"
#include "tagma/data/fashion_mnist.hpp"
#include "tagma/data/labelled_slices.hpp"
#include "tagma/io/idx.hpp"
#include "tagma/observe/progress.hpp"

#include "tagma/base/epilogue.hpp"
