// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Compares gradients of a graph with central differences.

#include <catch2/catch.hpp>
#include <cmath>

#include "tagma/tensor/tensor.hpp"

namespace tagma::test {

/// Checks each element of a gradient against (f(x + h) - f(x - h)) / 2h.
/// @param run called with a value of x; returns a tuple of the loss and its gradient by x, as
///   `[&](const tensor<double>& v) { return session.run(fetch(loss, gradient(loss, x)), x = v); }` does
/// @param at where the gradient is taken; of rank 1 or more, away from kinks by more than `step`
/// @param step h
/// @param tolerance relative to the larger of 1 and the difference quotient
template <class Run>
void check_gradient(Run run, tensor<double> at, double step = 1e-5, double tolerance = 1e-6) {
  const auto result = run(at);
  const tensor<double>& gradient = std::get<1>(result);
  REQUIRE(gradient.dims() == at.dims());
  for (extent i = 0; i < at.dims().elements(); ++i) {
    const double here = at[i];
    at[i] = here + step;
    const double above = std::get<0>(run(at));
    at[i] = here - step;
    const double below = std::get<0>(run(at));
    at[i] = here;
    const double quotient = (above - below) / (2 * step);
    INFO("element " << i << ": gradient " << gradient[i] << ", difference quotient " << quotient);
    CHECK(std::abs(gradient[i] - quotient) <= tolerance * std::fmax(1.0, std::abs(quotient)));
  }
}

}  // namespace tagma::test
