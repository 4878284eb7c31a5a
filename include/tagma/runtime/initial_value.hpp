// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Initial values of variables: random numbers keyed by the seed of the session and the name of the variable.

#include "tagma/base/config.hpp"
#include "tagma/base/random.hpp"
#include "tagma/expr/variable.hpp"
#include "tagma/runtime/bound_plan.hpp"
#include "tagma/runtime/executor.hpp"

namespace tagma::runtime {

/// Counts the elements that a weight joins to one output, and the outputs that one element feeds.
struct fans {
  double in = 1;
  double out = 1;
};

/// Matrices are [in, out]; convolution filters [..., in, out], where the leading extents count for both.
[[nodiscard]] fans fans_of(const shape& dims);

/// The number of element `i` of a random initializer.
[[nodiscard]] double initial_number(initializer_kind kind, const random_key& key, std::uint64_t i, double a, double b);

/// Writes an initial value.
/// @param initializer kind of the initializer of a variable
/// @param value what the program carries for it, or nullptr
/// @param a number of a derived initializer
/// @param threads share the elements, which are the same for any number of threads: of random numbers denormal ones are
///                0, as in kernels; nullptr: the caller writes all, and rounds as it does
void write_initial_value(std::byte* to, const tensor_spec& spec, ir::attribute initializer, const carried_value* value,
                         double a, const random_key& key, executor* threads);

/// Uniform numbers between `a` and `b`, those of `initial_number` from `first` on, all of them but the last few: how
/// many it has written. Defined by device/cpu, which has vectors.
std::int64_t write_uniform(float* to, double a, double b, const random_key& key, std::uint64_t first,
                           std::int64_t count);

namespace detail {
/// The number between `a` and `b` that is `u` between 0 and 1: product and sum are rounded one after the other, with
/// FMA as well (but for clang's `-ffp-contract=fast`).
TAGMA_INLINE double between(double a, double b, double u) {
  double part = (b - a) * u;
  TAGMA_ROUND(part);
  return a + part;
}
/// Elements `first` to `last` of a random initializer.
void write_drawn(std::byte* to, dtype type, initializer_kind kind, double a, double b, const random_key& key,
                 std::uint64_t first, std::uint64_t last);
/// Fills `all` bytes, some elements, with one of them.
void fill_with(std::byte* to, std::size_t all, const std::byte* element, std::size_t size);
}  // namespace detail

}  // namespace tagma::runtime

#ifndef TAGMA_COMPILED
#include "tagma/runtime/initial_value.ipp"
#endif
