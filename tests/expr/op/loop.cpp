// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/loop.hpp"

#include <catch2/catch.hpp>

#include "conformance/loops.hpp"
#include "support/errors.hpp"
#include "tagma/explain.hpp"

namespace {

TEST_CASE("bodies of any operations are what they are written out, and so are their gradients") {
  check_random_body<1>();
  check_random_body<2>();
  check_random_body<3>();
  check_random_body<4>();
  check_random_body<5>();
  check_random_body<6>();
}

TEST_CASE("sequences of different lengths, and carried values that change their shape, are refused by a run") {
  constexpr auto other = tg::placeholder<"other", double, tg::dyn, batch, in>();
  const auto [sums] = tg::scan(tg::carry(), tg::over(x, other), [](auto a, auto o) { return tg::next().emit(a + o); });
  const auto program = tg::compile([sums_ = sums] { return tg::outputs(sums_); });
  tg::session s(program);
  const auto handle = sums;
  CHECK(s.run(handle, x = numbers({2, batch, in}, 1), other = numbers({2, batch, in}, 2)).dims() ==
        tg::shape{2, batch, in});
  CHECK_THROWS_WITH(s.run(handle, x = numbers({2, batch, in}, 1), other = numbers({3, batch, in}, 2)),
                    Catch::Contains("the sequences have different lengths"));
}

TEST_CASE("what is emitted with fewer axes than the sequences have is along the last of its own") {
  const auto seq = tg::placeholder<"seq", double, 2, tg::dyn>();
  const auto cube = tg::placeholder<"cube", double, 2, 3, tg::dyn>();
  const auto [total, losses] =
      tg::scan(tg::carry(tg::zeros_like(tg::sum<1>(seq))), tg::over<1>(seq), [](auto c, auto e) {
        const auto next = c + e;
        return tg::next(next).emit(tg::sum(next));
      });
  const auto [rows] = tg::scan(tg::carry(), tg::over<2>(cube), [](auto e) { return tg::next().emit(tg::sum<1>(e)); });
  static_assert(decltype(losses)::spec.dims == tg::shape{tg::dyn} &&
                decltype(rows)::spec.dims == tg::shape{2, tg::dyn});
  const auto slope = tg::gradient(tg::mean(losses), seq);
  const auto weights = tg::gradient(tg::sum(tg::square(rows)), cube);
  const auto program =
      tg::compile([=, losses_ = losses, rows_ = rows] { return tg::outputs(losses_, slope, rows_, weights); });
  tg::session s(program);
  const tg::tensor<double> xs(tg::shape{2, 3}, {1, 2, 4, 2, 5, 7});
  const auto found = s.run(losses, seq = xs);
  REQUIRE(found.dims() == tg::shape{3});
  CHECK((found[0] == 3 && found[1] == 10 && found[2] == 21));
  const auto by = s.run(slope, seq = xs);
  for (tg::extent i = 0; i < 6; ++i) CHECK(by[i] == Approx(1 - static_cast<double>(i % 3) / 3));
  const auto cubes = numbers({2, 3, 4}, 1);
  const auto [sums, dcube] = s.run(tg::fetch(rows, weights), cube = cubes);
  REQUIRE(sums.dims() == tg::shape{2, 4});
  for (tg::extent n = 0; n < 2; ++n)
    for (tg::extent t = 0; t < 4; ++t) {
      double sum = 0;
      for (tg::extent i = 0; i < 3; ++i) sum += cubes[(n * 3 + i) * 4 + t];
      CHECK(sums[n * 4 + t] == Approx(sum));
      CHECK(dcube[n * 12 + t] == Approx(2 * sum));
    }
}

TEST_CASE("results of loops may be fed, as what is in front of them") {
  const auto first = tg::sin(h0);
  const auto [last, all] = tg::scan(tg::carry(first), tg::over(x), [](auto h, auto e) {
    const auto n = cell(h, e);
    return tg::next(n).emit(n);
  });
  const auto l = last;
  const auto gathered = all;
  const auto loss = tg::sum(l) + tg::sum(gathered);
  const auto program = tg::compile([=] { return tg::outputs(loss, l, gathered); });
  tg::session s(program);
  const auto wm = numbers({in, units}, 1), um = numbers({units, units}, 2), bm = numbers({units}, 3),
             hm = numbers({batch, units}, 4), xs = numbers({steps, batch, in}, 5);
  const plain_result r = plain(xs, hm, wm, um, bm);
  check_equal(s.run(l, x = xs, first = hm, w = wm, u = um, b = bm), r.last);
  check_equal(s.run(gathered, x = xs, first = hm, w = wm, u = um, b = bm), r.all);
  const auto known = numbers({batch, units}, 7);
  const auto sum_of = [](const tg::tensor<double>& t) {
    double sum = 0;
    for (tg::extent i = 0; i < t.dims().elements(); ++i) sum += t[i];
    return sum;
  };
  CHECK(s.run(loss, l = known, x = xs, first = hm, w = wm, u = um, b = bm) == Approx(sum_of(r.all) + sum_of(known)));
  const tg::tensor<double> none({steps, batch, units});
  CHECK(s.run(loss, l = known, gathered = none) == Approx(sum_of(known)));
}

TEST_CASE("a loop over a variable reads it as it was before an update") {
  const auto v = tg::variable<"v", double, 3>(tg::ones, tg::not_trainable);
  const auto [sums] = tg::scan(tg::carry(), tg::over(v), [](auto e) { return tg::next().emit(e * 2.0); });
  const auto doubled = sums;
  const auto update = tg::assign(v, doubled);
  const auto program = tg::compile([=] { return tg::outputs(update, doubled); });
  tg::session s(program);
  for (const double expected : {2.0, 4.0, 8.0}) {
    const auto [now, found] = s.run(tg::fetch(update, doubled));
    for (int i = 0; i < 3; ++i) {
      CHECK(now[i] == expected);
      CHECK(found[i] == expected);
    }
  }
}

TEST_CASE("explain lists loops, and whose rows a body reads and writes") {
  const auto [last, all] = tg::scan<tg::dyn, true>(tg::carry(h0), tg::over(x), [](auto h, auto e) {
    const auto n = cell(h, e);
    return tg::next(n).emit(n * h);
  });
  const auto program = tg::compile([l = last, a = all] { return tg::outputs(l, a); });
  const std::string text = tg::explain(program, 5);
  CHECK_THAT(text, Catch::Contains("scan #") && Catch::Contains(", 5 times, from the last\n"));
  CHECK_THAT(text, Catch::Contains("a row of #"));
  // Two rows for what is carried, five for what is gathered.
  CHECK_THAT(text, Catch::Contains("a row of arena 0, 64 bytes"));
  CHECK_THAT(text, Catch::Contains("160 bytes"));
}

TEST_CASE("a matrix that stays is transposed in front of the loop, not in each product") {
  const auto [last] = tg::scan(tg::carry(h0), tg::over(x), [](auto h, auto e) {
    return tg::next(tg::tanh(tg::matmul(e, w) + tg::matmul<false, true>(h, u)));
  });
  const auto turned = tg::transpose(u);
  const auto [other] = tg::scan(tg::carry(h0), tg::over(x), [&](auto h, auto e) {
    return tg::next(tg::tanh(tg::matmul(e, w) + tg::matmul(h, turned)));
  });
  const auto l = last;
  const auto o = other;
  const auto by_u = tg::gradient(tg::sum(l), u);
  const auto by_h = tg::gradient(tg::sum(l), h0);
  const auto expected_u = tg::gradient(tg::sum(o), u);
  const auto expected_h = tg::gradient(tg::sum(o), h0);
  const auto program = tg::compile([=] { return tg::outputs(l, o, by_u, by_h, expected_u, expected_h); });
  const std::string text = tg::explain(program, tg::outputs(l), 5);
  const std::size_t turns = text.find(" transpose "), scan = text.find("steps ", text.find("scan #"));
  REQUIRE(turns != std::string::npos);
  REQUIRE(scan != std::string::npos);
  const std::size_t line = text.rfind('#', turns);
  CHECK(std::stoi(text.substr(text.find(' ', line))) < std::stoi(text.substr(scan + 6)));
  tg::session s(program);
  const auto wm = numbers({in, units}, 1), um = numbers({units, units}, 2), hm = numbers({batch, units}, 4),
             xs = numbers({steps, batch, in}, 5);
  const auto [a, c, a_u, a_h, c_u, c_h] =
      s.run(tg::fetch(l, o, by_u, by_h, expected_u, expected_h), x = xs, h0 = hm, w = wm, u = um);
  check_equal(a, c);
  check_equal(a_u, c_u);
  check_equal(a_h, c_h);
}

TEST_CASE("random operations of a body draw anew in each iteration, the same for the same seed") {
  constexpr auto ones = tg::placeholder<"ones", double, 5, 64>();
  const auto fixed = tg::random_uniform<double, 64>();
  const auto [draws, same] =
      tg::scan(tg::carry(), tg::over(ones), [&](auto e) { return tg::next().emit(tg::dropout(e, 0.5), fixed * e); });
  const auto handle = draws;
  const auto of_all = same;
  const auto program = tg::compile([=] { return tg::outputs(handle, of_all); });
  tg::tensor<double> full({5, 64});
  for (tg::extent i = 0; i < 5 * 64; ++i) full[i] = 1;
  tg::session one(program, {.seed = 7}), two(program, {.seed = 7});
  const auto [a, from_outside] = one.run(tg::fetch(handle, of_all), ones = full);
  const auto c = two.run(handle, ones = full), again = one.run(handle, ones = full);
  bool differ = false, other = false;
  for (tg::extent t = 0; t < 5; ++t)
    for (tg::extent i = 0; i < 64; ++i) {
      CHECK(from_outside(t, i) == from_outside(0, i));
      CHECK(a(t, i) == c(t, i));
      if (t > 0) differ = differ || a(t, i) != a(t - 1, i);
      other = other || a(t, i) != again(t, i);
    }
  CHECK(differ);
  CHECK(other);
}

}  // namespace
