// SPDX-License-Identifier: BSL-1.0
// What programs see of the library's macros: nothing after an umbrella, all of them between with_macros.hpp and
// without_macros.hpp, whatever is included in between and after.
#include "tagma/data.hpp"
#include "tagma/tagma.hpp"

#if defined(TAGMA_COLD) || defined(TAGMA_FRESH_TYPE) || defined(TAGMA_NEEDS_FLOATS) || defined(TAGMA_WITH_MACROS)
#define TEST_SEEN_AFTER_UMBRELLAS 1
#else
#define TEST_SEEN_AFTER_UMBRELLAS 0
#endif

#include "tagma/with_macros.hpp"
// An umbrella after it, whose headers define macros of their own use.
#include "tagma/order.hpp"

#include <catch2/catch.hpp>

namespace mine {

/// A function outside of the library that states its rules.
template <tagma::expression A, tagma::expression B, class Place = TAGMA_FRESH_TYPE(A)>
[[nodiscard]] constexpr auto sum_of(const A& a, const B& b) {
  TAGMA_NEEDS_FLOATS(typename A::spec_type);
  TAGMA_NEEDS_NUMBERS(typename B::spec_type);
  TAGMA_NEEDS_OPERANDS(A, B);
  TAGMA_NEEDS_COMPARABLE(A, B);
  return tagma::make_operation<tagma::op::add, tagma::ir::attributes<0>{}, Place>(a, b);
}
TAGMA_INLINE int one() { return 1; }
TAGMA_COLD inline int two() { return 2; }
TAGMA_DEVICE int three() { return 3; }

}  // namespace mine

#include "tagma/without_macros.hpp"

#if defined(TAGMA_COLD) || defined(TAGMA_FRESH_TYPE) || defined(TAGMA_NEEDS_FLOATS) || defined(TAGMA_WITH_MACROS)
#define TEST_SEEN_AFTER_END 1
#else
#define TEST_SEEN_AFTER_END 0
#endif

// Headers that use macros, included for the first time after their end.
#include "tagma/train.hpp"

#if defined(TAGMA_COLD) || defined(TAGMA_FRESH_TYPE) || defined(TAGMA_NEEDS_FLOATS) || defined(TAGMA_WITH_MACROS)
#define TEST_SEEN_AFTER_LAST 1
#else
#define TEST_SEEN_AFTER_LAST 0
#endif

// And once more, in the same file.
#include "tagma/with_macros.hpp"

namespace mine {
TAGMA_INLINE int four() { return 4; }
}  // namespace mine

TEST_CASE("an umbrella leaves no macros", "[epilogue]") {
  CHECK(TEST_SEEN_AFTER_UMBRELLAS == 0);
  CHECK(TEST_SEEN_AFTER_END == 0);
  CHECK(TEST_SEEN_AFTER_LAST == 0);
}

TEST_CASE("macros for operations of one's own can be had, given back and had again", "[epilogue]") {
  constexpr auto x = tagma::placeholder<"x", float, 2>();
  const auto sum = mine::sum_of(x, x);
  tagma::session session(tagma::compile([=] { return tagma::outputs(sum); }));
  CHECK(session.run(sum, x = tagma::tensor<float>({2}, {1, 2}))[1] == 4.0f);
  CHECK(mine::one() + mine::two() + mine::three() + mine::four() == 10);
}
