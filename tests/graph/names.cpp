// SPDX-License-Identifier: BSL-1.0
#include "tagma/graph/names.hpp"

#include <catch2/catch.hpp>

#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;

constexpr auto w = tg::variable<"w", float, 3>(tg::ones);
constexpr auto v = tg::variable<"v", float, 3>(tg::ones);

template <tagma::fixed_string Name>
constexpr auto another = tg::variable<Name, float, 3>(tg::ones);

template <class Closure>
std::string_view shared_name_of(const Closure&) {
  return tg::detail::compiled_graph<Closure>::shared_name;
}

/// The name that two variables share when the mean of all operands is minimized.
template <class Optimizer, class... Operand>
std::string_view trained_by(const Optimizer& optimizer, const Operand&... operands) {
  const auto train = tg::minimize(tg::mean((operands * ...)), optimizer);
  return shared_name_of([=] { return tg::outputs(train); });
}

TEST_CASE("a variable may not be called like a slot of another one") {
  CHECK(trained_by(tg::adam{}, w, another<"w/adam_m">) == "w/adam_m");
  CHECK(trained_by(tg::adam{}, another<"w/adam_v">, w) == "w/adam_v");
  CHECK(trained_by(tg::momentum{}, w, another<"w/momentum">) == "w/momentum");
  CHECK(trained_by(tg::adagrad{}, w, another<"w/adagrad">) == "w/adagrad");
  CHECK(trained_by(tg::ftrl{}, w, another<"w/ftrl_linear">) == "w/ftrl_linear");
  CHECK(trained_by(tg::adam{}, another<"w/adam_m">, another<"w/adam_m/adam_m">) == "w/adam_m/adam_m");

  CHECK(trained_by(tg::adam{}, w, v).empty());
  CHECK(trained_by(tg::sgd{}, w, another<"w/adam_m">).empty());
  CHECK(trained_by(tg::adam{}, w, another<"w/momentum">, another<"v/adam_m">, another<"adam_m">).empty());
  CHECK(trained_by(tg::adam{}, another<"w/adam_m">).empty());
  CHECK(trained_by(tg::adam{}, w, another<"xw/adam_m">).empty());
}

TEST_CASE("a slot may not be that of a variable that is not trained") {
  const auto still = tg::variable<"w/adam_m", float, 3>(tg::ones, tg::not_trainable);
  CHECK(trained_by(tg::adam{}, w, still) == "w/adam_m");
}

TEST_CASE("a variable may be the step of an optimizer and not another one") {
  const auto with = [](const auto& step) {
    const auto train = tg::minimize(tg::mean(w), tg::sgd{});
    return shared_name_of([=] { return tg::outputs(train, tg::cast<float>(step)); });
  };
  CHECK(with(tg::variable<"sgd/step", std::int64_t>(tg::zeros)).empty());
  CHECK(with(tg::variable<"adam/step", std::int64_t>(tg::ones)).empty());
  CHECK(with(tg::variable<"sgd/step", std::int64_t>(tg::ones)) == "sgd/step");
  CHECK(with(tg::variable<"sgd/step", std::int64_t>(5)) == "sgd/step");
}

TEST_CASE("two optimizers share the slots that begin alike") {
  const auto both = [](const auto& first, const auto& second, const auto& other) {
    const auto one = tg::minimize(tg::mean(w), first);
    const auto two = tg::minimize(tg::sum(other), second);
    return shared_name_of([=] { return tg::outputs(one, two); });
  };
  CHECK(both(tg::adam{}, tg::adam{}, w).empty());
  CHECK(both(tg::adagrad{}, tg::adagrad{}, v).empty());
  CHECK(both(tg::adagrad{}, tg::adam{}, w).empty());
}

TEST_CASE("two optimizers that begin one slot in two ways") {
  const auto one = tg::minimize(tg::mean(w), tg::adagrad{});
  const auto two = tg::minimize(tg::sum(w), tg::adagrad{.initial_accumulator = 2});
  CHECK(shared_name_of([=] { return tg::outputs(one, two); }) == "w");
}

}  // namespace
