// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Names without definitions, for headers that only mention tagma's types. Promise: it includes nothing but <cstddef>
/// and <cstdint>.

#include <cstddef>
#include <cstdint>

namespace tagma {

/// The length of one axis of a tensor, or a number of elements; `dyn` if it is known when the program runs.
using extent = std::int64_t;

struct shape;
struct float16;
struct bfloat16;
enum class dtype : std::uint8_t;
enum class status_code : std::uint8_t;
class error;
class cancellation;
struct session_options;

template <class Spec, class Id, bool Carries>
struct expr;
template <class Closure>
class program;
template <class Program>
class session;

}  // namespace tagma
