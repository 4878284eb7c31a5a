// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/kernel_table.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

TEST_CASE("rows are few where each is short and there are not many, or their number varies") {
  using tg::device::detail::has_few;
  CHECK(has_few({tg::dyn, 10}));
  CHECK(has_few({4096, 8, 8}));
  CHECK_FALSE(has_few({4097, 10}));
  CHECK_FALSE(has_few({tg::dyn, 65}));
  CHECK_FALSE(has_few({tg::dyn, tg::dyn}));
  CHECK_FALSE(has_few({64, 9, 8}));
  CHECK_FALSE(has_few({10}));
  CHECK_FALSE(has_few({}));
}

/// Positions by a plain loop, of rows and of columns.
tg::tensor<std::int64_t> positions(const tg::tensor<float>& x, bool of_rows) {
  const tg::extent rows = x.dims()[0], columns = x.dims()[1], n = of_rows ? columns : rows;
  tg::tensor<std::int64_t> found({of_rows ? rows : columns});
  for (tg::extent i = 0; i < found.dims()[0]; ++i) {
    tg::extent best = 0;
    const auto at = [&](tg::extent k) { return of_rows ? x[i * columns + k] : x[k * columns + i]; };
    for (tg::extent k = 1; k < n; ++k)
      if (at(k) > at(best)) best = k;
    found[i] = best;
  }
  return found;
}

template <class Handle>
void check(Handle x, tg::extent rows, tg::extent columns) {
  const auto by_rows = tg::argmax<1>(x), by_columns = tg::argmax<0>(x);
  tg::session session(tg::compile([=] { return tg::outputs(by_rows, by_columns); }), {.intra_op_threads = 2});
  tg::tensor<float> in({rows, columns});
  std::mt19937 bits(3);
  for (float& v : in.span()) v = static_cast<float>(bits() % 1000);
  const auto [of_rows, of_columns] = session.run(tg::fetch(by_rows, by_columns), x = in);
  CHECK((of_rows == positions(in, true)));
  CHECK((of_columns == positions(in, false)));
}

TEST_CASE("the positions of maxima are the same by either kernel") {
  check(tg::placeholder<"x", float, tg::dyn, 10>(), 500, 10);
  check(tg::placeholder<"x", float, 5000, 10>(), 5000, 10);
  check(tg::placeholder<"x", float, tg::dyn, 300>(), 70, 300);
}

}  // namespace
