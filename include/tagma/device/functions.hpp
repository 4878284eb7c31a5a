// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The functions that formulas are written with, for kernels of all devices: of single numbers; those of packs are
/// found by their type.

#include "tagma/base/scalar_math.hpp"

namespace tagma::device {

using scalar_math::abs;
using scalar_math::ceil;
using scalar_math::cos;
using scalar_math::erf;
using scalar_math::exp;
using scalar_math::expm1;
using scalar_math::floor;
using scalar_math::log;
using scalar_math::log1p;
using scalar_math::max;
using scalar_math::min;
using scalar_math::pow;
using scalar_math::round;
using scalar_math::select;
using scalar_math::sigmoid;
using scalar_math::sign;
using scalar_math::sin;
using scalar_math::softplus;
using scalar_math::sqrt;
using scalar_math::tanh;

}  // namespace tagma::device
