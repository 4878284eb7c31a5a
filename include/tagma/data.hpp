// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Data sets, batches of them, and progress on long work.

#include "tagma/data/batches.hpp"
#include "tagma/data/fashion_mnist.hpp"
#include "tagma/data/idx.hpp"
#include "tagma/observe/progress.hpp"

#include "tagma/base/epilogue.hpp"
