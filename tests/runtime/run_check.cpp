// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/run_check.hpp"

#include <catch2/catch.hpp>

#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
namespace diagnose = tagma::diagnose;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();
constexpr auto other = tg::placeholder<"other", float, 4>();
constexpr auto total = tg::sum(x);
constexpr auto build = [] { return tg::outputs(total); };

using graph = tg::program<decltype(build)>::graph;
template <class What, class... Arguments>
using fault = typename tg::detail::run_check<graph, Arguments...>::template fault<What>;
template <class E, class Value>
using feed = tg::feed<typename std::remove_cvref_t<E>::id, Value>;

using whole = tg::spec<float, tg::dyn, 4>;
using good = feed<decltype(x), tg::tensor<float>>;

static_assert(std::is_void_v<fault<decltype(total), good>>);
static_assert(std::is_void_v<fault<decltype(total), good, tg::run_limits>>);
static_assert(std::is_void_v<fault<tg::fetch_list<std::remove_cvref_t<decltype(total)>>, good>>);
static_assert(std::is_same_v<fault<decltype(x), good>, diagnose::no_output<whole>>);
static_assert(std::is_same_v<fault<decltype(total), good, feed<decltype(other), tg::tensor<float>>>,
                             diagnose::not_in_program<tg::spec<float, 4>>>);
static_assert(std::is_same_v<fault<decltype(total), feed<decltype(x), tg::tensor<double>>>,
                             diagnose::other_element_type<whole, tg::tensor<double>>>);
static_assert(
    std::is_same_v<fault<decltype(total), feed<decltype(x), float>>, diagnose::number_for_a_tensor<whole, float>>);
static_assert(std::is_same_v<fault<decltype(total)>, diagnose::not_fed<tg::detail::spelled<"x">, whole>>);

TEST_CASE("the first of several faults is named, fetches before feeds") {
  using wrong = feed<decltype(x), tg::tensor<double>>;
  CHECK(std::is_same_v<fault<decltype(x), wrong>, diagnose::no_output<whole>>);
  CHECK_FALSE(diagnose::fetches_outputs<diagnose::no_output<whole>>);
  CHECK(diagnose::feeds_everything<diagnose::no_output<whole>>);
}

}  // namespace
