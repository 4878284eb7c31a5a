// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/cpu/indices.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "support/errors.hpp"
#include "tagma/order.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;
using tg::test::text_of;

TEST_CASE("indices are checked against the extent of their axis") {
  const std::int64_t good[] = {0, 4, 2}, high[] = {0, 5}, low[] = {1, 2, -1}, far_below[] = {INT64_MIN};
  const std::uint8_t bytes[] = {255};
  tg::device::cpu::check_indices(good, 3, 5);
  tg::device::cpu::check_indices(bytes, 1, 256);
  tg::device::cpu::check_indices(good, 0, 0);
  using tg::device::cpu::are_indices;
  CHECK((are_indices(good, 3, 5) && are_indices(bytes, 1, 256) && are_indices(good, 0, 0)));
  CHECK(are_indices(good, 3, std::numeric_limits<tg::extent>::max()));
  CHECK(!(are_indices(good, 1, 0) || are_indices(good, 3, 4) || are_indices(high, 2, 5) || are_indices(low, 3, 5)));
  CHECK(!(are_indices(far_below, 1, 5) || are_indices(bytes, 1, 255)));
  CHECK(text_of([&] { tg::device::cpu::check_indices(high, 2, 5); }) ==
        "OutOfRange: index 5 at position 1 is not below the extent of the axis, 5");
  CHECK(text_of([&] { tg::device::cpu::check_indices(low, 3, 5); }) ==
        "OutOfRange: index -1 at position 2 is not below the extent of the axis, 5");
  CHECK(text_of([&] { tg::device::cpu::check_indices(far_below, 1, 5); }) ==
        "OutOfRange: index -9223372036854775808 at position 0 is not below the extent of the axis, 5");
  CHECK(text_of([&] { tg::device::cpu::check_indices(bytes, 1, 255); }) ==
        "OutOfRange: index 255 at position 0 is not below the extent of the axis, 255");
}

namespace {

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();

/// The text of the error of a run that is fed `at` for the positions that another operation would have computed.
template <class Session, class What, class Positions, class... Feeds>
std::string text_with(Session& s, const What& what, const Positions& positions, const tg::tensor<std::int64_t>& at,
                      const Feeds&... feeds) {
  return text_of([&] { s.run(what, positions = at, feeds...); });
}

/// What the error of an operation looks like, as a regular expression.
std::string outside(const std::string& operation) {
  return "OutOfRange: " + operation + ".*is not below the extent of the axis, 4 .*";
}

}  // namespace

// Any tensor that is computed may be fed, so no kernel relies on who computes its indices.
TEST_CASE("positions that are fed in the place of those that were computed are checked") {
  const tg::tensor<float> in({1, 4}, {1, 2, 3, 4});
  const tg::tensor<std::int64_t> far_off({1, 2}, {1 << 20, -(1 << 20)}), next_to({1, 2}, {3, 4}),
      below({1, 2}, {-1, 0}), good({1, 2}, {3, 3});
  SECTION("top_k, and its gradient") {
    const auto w = tg::variable<"w", float, 4>(tg::ones);
    const auto best = tg::top_k<2>(x * w);
    const auto slope = tg::gradient(tg::sum(best.first), w);
    tg::session s(tg::compile([=] { return tg::outputs(best.first, best.second, slope); }));
    for (const auto* at : {&far_off, &next_to, &below}) {
      CHECK_THAT(text_with(s, slope, best.second, *at, x = in), Catch::Matches(outside("scatter_last #")));
    }
    // One operation computes both: values are those of the largest, whatever is fed for their positions.
    CHECK(s.run(best.first, best.second = good, x = in) == tg::tensor<float>({1, 2}, {4, 3}));
    CHECK(s.run(slope, best.second = good, x = in) == tg::tensor<float>({4}, {0, 0, 0, 8}));
  }
  SECTION("sort, and its gradient") {
    const auto order = tg::argsort(x);
    const auto sorted = tg::sort(x);
    const auto slope = tg::gradient(tg::sum(sorted * sorted), x);
    tg::session s(tg::compile([=] { return tg::outputs(order, sorted, slope); }));
    const tg::tensor<std::int64_t> at({1, 4}, {0, 1, 2, 4}), back({1, 4}, {3, 2, 1, 0});
    CHECK_THAT(text_with(s, sorted, order, at, x = in), Catch::Matches(outside("gather_last #")));
    // The sorted elements are fed as well, so that the gradient alone sees the positions.
    CHECK_THAT(text_with(s, slope, order, at, x = in, sorted = in), Catch::Matches(outside("scatter_last #")));
    CHECK(s.run(sorted, order = back, x = in) == tg::tensor<float>({1, 4}, {4, 3, 2, 1}));
  }
  SECTION("random_shuffle, gather and its gradient, one_hot") {
    const auto rows = tg::transpose(x);
    const auto order = tg::random_permutation<4>();
    const auto shuffled = tg::gather(rows, order);
    const auto slope = tg::gradient(tg::sum(shuffled * shuffled), x);
    const auto ones = tg::one_hot<4>(order);
    tg::session s(tg::compile([=] { return tg::outputs(order, shuffled, slope, ones); }));
    const tg::tensor<std::int64_t> at({4}, {0, 1, -7, 3});
    CHECK_THAT(text_with(s, shuffled, order, at, x = in), Catch::Matches(outside("gather #")));
    CHECK_THAT(text_with(s, slope, order, at, x = in, shuffled = tg::tensor<float>({4, 1})),
               Catch::Matches(outside("scatter_rows #")));
    CHECK(s.run(ones, order = at)(2, 0) == 0.0f);  // no row of its own, as documented
  }
  SECTION("labels, and rows of variables") {
    const auto table = tg::variable<"table", float, 4, 2>(tg::ones);
    const auto label = tg::argmax(x);
    const auto found = tg::embedding_lookup(table, label);
    const auto loss = tg::sum(tg::sparse_softmax_cross_entropy(x, label)) + tg::sum(found);
    const auto train = tg::minimize(loss, tg::adagrad{});
    const auto add = tg::scatter_add(table, label, tg::zeros_like(found));
    tg::session s(tg::compile([=] { return tg::outputs(label, loss, train, add, table); }));
    const tg::tensor<std::int64_t> at({1}, {4});
    CHECK_THAT(text_with(s, loss, label, at, x = in), Catch::StartsWith("OutOfRange: "));
    CHECK_THAT(text_with(s, train, label, at, x = in, found = tg::tensor<float>({1, 2})),
               Catch::Matches(outside("apply_adagrad_rows")));
    CHECK_THAT(text_with(s, add, label, at, x = in, found = tg::tensor<float>({1, 2})),
               Catch::Matches(outside("scatter_add")));
    CHECK(s.run(table) == tg::tensor<float>({4, 2}, {1, 1, 1, 1, 1, 1, 1, 1}));
  }
}
