// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// NVIDIA's GPUs for sessions of programs that are data, `gpus`, and for those programs of a file that it compiles
/// late. For files of any compiler: the program links the registry of their kernels, which nvcc compiles. Needs
/// tagma/tagma.hpp as well, in either order. All files of a program that share a graph include this, or none does.

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

#include "tagma/device/gpus.hpp"

#include "tagma/base/epilogue.hpp"
