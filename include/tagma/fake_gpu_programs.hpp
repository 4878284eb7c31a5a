// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// GPUs that are fake for sessions of programs that are data: `fake_gpus`. As <tagma/fake_gpu.hpp> has them for
/// compiled programs, which this leaves alone. Needs tagma/tagma.hpp as well, in either order.

// Before the headers that include them: compilers print the way to a header before its sentences.
#include "tagma/base/fixed_string.hpp"
#include "tagma/expr/rules.hpp"
#include "tagma/place/rules.hpp"

#include "tagma/place/device.hpp"

#include "tagma/expr/expression.hpp"

#include "tagma/expr/name.hpp"

#include "tagma/expr/placeholder.hpp"

#include "tagma/expr/variable.hpp"

#include "tagma/expr/op/elementwise.hpp"

#include "tagma/expr/op/compare.hpp"

#include "tagma/expr/op/view.hpp"

#include "tagma/expr/op/reduce.hpp"
#include "tagma/expr/op/slice.hpp"
#include "tagma/expr/op/transpose.hpp"

#include "tagma/expr/op/matmul.hpp"

#include "tagma/device/fake/data_devices.hpp"

#include "tagma/base/epilogue.hpp"
