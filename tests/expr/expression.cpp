// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/expression.hpp"

#include <catch2/catch.hpp>

#include "tagma/expr/operators.hpp"
#include "tagma/expr/op/math.hpp"
#include "tagma/expr/placeholder.hpp"

namespace {

using namespace tagma;

constexpr auto x = placeholder<"x", float, dyn, 3>();

/// How long the compiler writes a type.
template <class T>
constexpr std::size_t name_length() {
  return sizeof(__PRETTY_FUNCTION__);
}

template <int Depth, class E>
constexpr auto chain(const E& e) {
  if constexpr (Depth == 0) return e;
  else return chain<Depth - 1>(tagma::tanh(e + x));
}

// Names differ by the digits of a hash, at most 20, and by nothing else.
constexpr auto one = chain<1>(x);
constexpr auto deep = chain<100>(x);  // 200 operations
static_assert(name_length<decltype(deep)>() < name_length<decltype(one)>() + 20);
static_assert(name_length<decltype(deep)>() < 200);
static_assert(sizeof(deep) == sizeof(one) && std::is_empty_v<decltype(deep)>);
static_assert(std::is_trivially_copyable_v<decltype(deep)>);
static_assert(decltype(deep)::spec == tensor_spec{dtype::float32, {dyn, 3}} && decltype(deep)::rank == 2);

// Equal structure is one type, other structure another.
static_assert(std::is_same_v<decltype(x + x), decltype(x + x)>);
static_assert(!std::is_same_v<decltype(x + x), decltype(x * x)>);
static_assert(std::is_same_v<decltype(placeholder<"x", float, dyn, 3>()), std::remove_const_t<decltype(x)>>);
static_assert(!std::is_same_v<decltype(placeholder<"y", float, dyn, 3>()), std::remove_const_t<decltype(x)>>);

static_assert(expression<decltype(x)> && !expression<float>);

TEST_CASE("a handle is as large as what it carries, whatever it was made of") {
  const auto one_number = 2.0f * x;
  const auto many_numbers = ((one_number + 1.0f) * 3.0f - 4.0f) / 5.0f;
  CHECK(sizeof(one_number) <= 2 * sizeof(void*));
  CHECK(sizeof(many_numbers) == sizeof(one_number));
  CHECK(name_length<decltype(many_numbers)>() < name_length<decltype(one_number)>() + 20);
}

}  // namespace
