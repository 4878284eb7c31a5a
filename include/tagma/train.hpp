// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What long training needs: checkpoints.

#include "tagma/train/safetensors.hpp"
#include "tagma/train/save.hpp"
