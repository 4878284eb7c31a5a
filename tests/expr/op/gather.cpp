// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/gather.hpp"

#include <vector>

#include "support/gradient_check.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

TEST_CASE("gather, scatter_add and one_hot: what the compiler knows and refuses") {
  constexpr auto x = tg::placeholder<"x", float, 5, tg::dyn, 4>();
  constexpr auto ids = tg::placeholder<"ids", std::int32_t, tg::dyn, 2>();
  STATIC_REQUIRE(tg::gather(x, ids).spec.dims == tg::shape{tg::dyn, 2, tg::dyn, 4});
  STATIC_REQUIRE(tg::gather<-1>(x, ids).spec.dims == tg::shape{5, tg::dyn, tg::dyn, 2});
  STATIC_REQUIRE(tg::one_hot<7, bool>(ids).spec == tg::tensor_spec{tg::dtype::boolean, {tg::dyn, 2, 7}});
  STATIC_REQUIRE(!tg::diagnose::are_indices<tg::spec<float, 2>>);
  STATIC_REQUIRE(!tg::diagnose::gather_rank_fits<tg::spec<float, 1, 1, 1, 1>, tg::spec<int, 1, 1, 1, 1>>);
  using v = tg::spec<float, 5, 2>;
  STATIC_REQUIRE(tg::diagnose::updates_fit_rows<v, tg::spec<int, tg::dyn, 3>, tg::spec<float, 4, 3, 2>>);
  STATIC_REQUIRE(!tg::diagnose::updates_fit_rows<v, tg::spec<int, 4>, tg::spec<float, 3, 2>>);
  STATIC_REQUIRE(!tg::diagnose::updates_fit_rows<v, tg::spec<int, 4>, tg::spec<float, 4>>);
  STATIC_REQUIRE(!tg::diagnose::updates_fit_rows<tg::spec<float>, tg::spec<int, 4>, tg::spec<float, 4>>);
}

TEST_CASE("gather: values, gradients and indices out of range") {
  constexpr auto x = tg::placeholder<"x", double, tg::dyn, 3>();
  constexpr auto ids = tg::placeholder<"ids", std::int64_t, tg::dyn>();
  constexpr auto small = tg::placeholder<"small", std::uint8_t, 2, 2>();
  constexpr auto rows = tg::embedding_lookup(x, ids);
  constexpr auto columns = tg::gather<-1>(x, small);
  constexpr auto loss = tg::sum(tg::square(rows) * rows) + tg::sum(tg::square(columns));
  constexpr auto slope = tg::gradient(loss, x);
  constexpr auto bend = tg::sum(tg::square(slope));
  constexpr auto curvature = tg::gradient(bend, x);
  constexpr auto marks = tg::one_hot<3>(ids);
  const auto program = tg::compile([=] { return tg::outputs(rows, columns, loss, slope, bend, curvature, marks); });
  tg::session session(program);

  const tg::tensor<double> in(tg::shape{2, 3}, {1, 2, 3, 4, 5, 6});
  const std::vector<std::int64_t> rows_wanted{1, 0, 1};
  const tg::tensor<std::uint8_t> columns_wanted(tg::shape{2, 2}, {2, 0, 0, 0});
  const auto [r, c] = session.run(tg::fetch(rows, columns), x = in, ids = rows_wanted, small = columns_wanted);
  CHECK(r == tg::tensor<double>(tg::shape{3, 3}, {4, 5, 6, 1, 2, 3, 4, 5, 6}));
  CHECK(c == tg::tensor<double>(tg::shape{2, 2, 2}, {3, 1, 1, 1, 6, 4, 4, 4}));
  CHECK(session.run(marks, ids = std::vector<std::int64_t>{2, -1, 3, 0}) ==
        tg::tensor<float>(tg::shape{4, 3}, {0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0}));

  const tg::tensor<double> at(tg::shape{3, 3}, {0.3, -0.4, 0.9, 0.2, 0.7, -0.1, 0.5, 0.6, -0.8});
  tg::test::check_gradient(
      [&](const auto& z) {
        return session.run(tg::fetch(loss, slope), x = z, ids = rows_wanted, small = columns_wanted);
      },
      at);
  tg::test::check_gradient(
      [&](const auto& z) {
        return session.run(tg::fetch(bend, curvature), x = z, ids = rows_wanted, small = columns_wanted);
      },
      at);

  const std::vector<std::int64_t> beyond{0, 2};
  CHECK_THROWS_WITH(
      session.run(tg::fetch(rows, columns), x = in, ids = beyond, small = columns_wanted),
      Catch::Contains("gather") && Catch::Contains("index 2 at position 1") && Catch::Contains("the axis, 2"));
}

TEST_CASE("scatter_add: adds rows to a variable, twice where an index repeats, and leaves it alone when one is wrong") {
  const auto v = tg::variable<"v", float, 4, 2>(tg::static_initializer<tg::initializer_kind::ones>{});
  constexpr auto ids = tg::placeholder<"ids", std::int32_t, tg::dyn>();
  constexpr auto rows = tg::placeholder<"rows", float, tg::dyn, 2>();
  const auto update = tg::scatter_add(v, ids, rows);
  const auto value = tg::identity(v);
  const auto program = tg::compile([=] { return tg::outputs(update, value); });
  tg::session session(program);
  const tg::tensor<float> updates(tg::shape{3, 2}, {1, 2, 3, 4, 5, 6});
  const tg::tensor<float> expected(tg::shape{4, 2}, {1, 1, 4, 5, 1, 1, 7, 9});
  CHECK(session.run(update, ids = std::vector<std::int32_t>{3, 1, 3}, rows = updates) == expected);
  using ints = std::vector<std::int32_t>;
  CHECK_THROWS_WITH(session.run(update, ids = ints{0, 1, 4}, rows = updates), Catch::Contains("index 4 at position 2"));
  CHECK_THROWS_WITH(session.run(update, ids = ints{0, -1, 1}, rows = updates),
                    Catch::Contains("index -1 at position 1"));
  CHECK_THROWS_WITH(session.run(update, ids = ints{0, 1}, rows = updates), Catch::Contains("one row for each index"));
  CHECK(session.run(value) == expected);
}

TEST_CASE("embedding_lookup: the gradient of a table touches the rows that were looked up") {
  const auto table = tg::variable<"table", float, 5, 2>(tg::static_initializer<tg::initializer_kind::ones>{});
  constexpr auto ids = tg::placeholder<"ids", std::int32_t, tg::dyn>();
  const auto slope = tg::gradient(tg::sum(tg::square(tg::embedding_lookup(table, ids))), table);
  const auto program = tg::compile([=] { return tg::outputs(slope); });
  tg::session session(program);
  CHECK(session.run(slope, ids = std::vector<std::int32_t>{3, 1, 3}) ==
        tg::tensor<float>(tg::shape{5, 2}, {0, 0, 2, 2, 0, 0, 4, 4, 0, 0}));
}
