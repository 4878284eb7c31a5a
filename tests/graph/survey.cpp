// SPDX-License-Identifier: BSL-1.0
#include "tagma/graph/survey.hpp"

#include <catch2/catch.hpp>

#include "tagma/expr/on.hpp"
#include "tagma/expr/op/constant.hpp"
#include "tagma/expr/op/math.hpp"
#include "tagma/expr/op/reduce.hpp"
#include "tagma/expr/operators.hpp"
#include "tagma/nn/initializers.hpp"
#include "tagma/nn/optimizers.hpp"

namespace {

using namespace tagma;

constexpr auto x = placeholder<"x", float, dyn, 3>();

template <expression... E>
constexpr ir::survey_result look(const E&...) {
  const ir::record* roots[] = {&E::record()...};
  return ir::survey(roots, roots);
}

// Each record counts once, however often it is used.
static_assert(look(x).weight == 1 && look(x + x, x* x).weight == 3);
static_assert(look(tagma::tanh(x), tagma::tanh(x)).weight == 2);
// Scopes, colocation and training are seen wherever they are.
static_assert(!look(tagma::tanh(x)).scoped && look(tagma::exp(on<cpu<0>>(tagma::tanh(x)))).scoped);
static_assert(look(tagma::exp(colocate_with(x)(tagma::tanh(x)))).scoped);
static_assert(look(gradient(tagma::sum(x), x)).trains && !look(x).trains);
// Nothing is carried where nothing was written.
static_assert(look(x + x).places == 0 && look(x + x).values == 0);

/// The numbers of some handles, in the order of the survey.
template <expression... E>
carried numbers_of(const E&... e) {
  const ir::record* roots[] = {&E::record()...};
  ir::detail::surveyor s(sizeof...(E));
  for (const ir::record* r : roots) s.visit(*r);
  const std::int32_t root = s.join(roots);
  const auto all = [&] {
    if constexpr ((std::size_t{0} + ... + std::size_t{E::carries}) == 0)
      return carried{};
    else
      return detail::join_values(e.values...);
  }();
  return gather_values({s.places.view(), s.parts.view(), root, s.owners.size()}, all);
}

TEST_CASE("numbers are found behind every kind of handle") {
  const auto twice = 2.0f * x;
  const auto sum = twice + 3.0f;
  const carried two = numbers_of(sum);
  REQUIRE(two.parts().size() == 2);
  CHECK(two.find(0)->number == 2);
  CHECK(two.find(1)->number == 3);
  CHECK(two.find(2) == nullptr);
  CHECK(two.find(-1) == nullptr);

  // Scopes, control dependencies and colocation copy records; what they carry is the same.
  CHECK(numbers_of(on<cpu<0>>(sum)).parts().size() == 2);
  CHECK(numbers_of(on<cpu<0>>(on<"/cpu:1">(twice)), sum).parts().size() == 2);
  const auto late = after(sum)(tagma::exp(twice));
  CHECK(numbers_of(late).parts().size() == 2);
  const auto later = after(5.0f * x)(late);
  CHECK(numbers_of(later).parts().size() == 3);
  CHECK(numbers_of(colocate_with(5.0f * x)(late)).parts().size() == 3);
  CHECK(numbers_of(group(sum, twice), x).parts().size() == 2);
  const auto alone = constant<"alone">(7.0f);
  CHECK(numbers_of(after(sum)(alone)).parts().size() == 3);
  CHECK(numbers_of(x).parts().size() == 0);

  const auto v = variable<"v", float, 3>(1.5f);
  CHECK(numbers_of(initialize(v)).find(0)->number == 1.5);
  CHECK(numbers_of(v + x, initialize(v)).parts().size() == 1);
  const auto train = minimize(tagma::sum(tagma::square(v)), adam{.learning_rate = 0.25});
  CHECK(numbers_of(train).parts().size() == 5);
}

template <class E>
auto scaled(const E& e, float factor) {
  return factor * e;
}

TEST_CASE("one place with two values is an error, one value in two copies is none") {
  CHECK(numbers_of(scaled(x, 2), scaled(x, 2)).parts().size() == 1);
  CHECK_THROWS_AS(numbers_of(scaled(x, 2), scaled(x, 3)), error);
  CHECK_THROWS_WITH(numbers_of(constant<"rate">(1.0f) * x, constant<"rate">(2.0f) * x),
                    Catch::Matchers::Contains("'rate'") && Catch::Matchers::Contains("1.0"));
}

TEST_CASE("what is shared is walked once: a hundred doublings are a hundred places") {
  const auto grow = []<int I>(auto self, const auto& e, std::integral_constant<int, I>) {
    if constexpr (I == 0)
      return e;
    else
      return self(self, e + e, std::integral_constant<int, I - 1>{});
  };
  const auto high = grow(grow, 2.0f * x, std::integral_constant<int, 100>{});
  CHECK(numbers_of(high).find(0)->number == 2);
  CHECK(look(high).places == 101);
  // Two copies that share nothing.
  CHECK(numbers_of(high, grow(grow, scaled(x, 4), std::integral_constant<int, 100>{})).parts().size() == 2);
}

}  // namespace
