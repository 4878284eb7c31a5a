// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// GPUs for programs on machines that have none: tests of what goes where, and of what fails. Kernels are those of the
/// CPU; streams, memory, copies and graphs are modelled, in the worst order that the devices allow. Such a file
/// includes tagma/tagma.hpp as well. All files of a program that share a graph include this, or none does.

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

#include "tagma/device/fake/provide.hpp"

#include "tagma/base/epilogue.hpp"
