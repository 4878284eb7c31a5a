// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/late_steps.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <random>
#include <vector>

#include "support/errors.hpp"
#include "tagma/control_flow.hpp"
#include "tagma/filter.hpp"
#include "tagma/queues.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using namespace std::chrono_literals;

constexpr auto rows = tg::placeholder<"rows", float, tg::dyn, 5, 3>();
constexpr auto keep = tg::placeholder<"keep", bool, tg::dyn>();

tg::tensor<float> numbers(const tg::shape& dims, int seed) {
  tg::tensor<float> t(dims);
  for (std::size_t i = 0; i < t.size(); ++i)
    t.data()[i] = static_cast<float>((i * 7 + static_cast<std::size_t>(seed) * 13) % 11) / 11 - 0.5f;
  return t;
}

/// The rows of a tensor that a mask keeps.
tg::tensor<float> kept(const tg::tensor<float>& from, const tg::tensor<bool>& mask) {
  tg::extent count = 0;
  for (tg::extent i = 0; i < mask.dims()[0]; ++i) count += mask[i];
  tg::shape dims = from.dims();
  dims[0] = count;
  tg::tensor<float> to(dims);
  const std::size_t size = from.size() / static_cast<std::size_t>(from.dims()[0]);
  float* at = to.data();
  for (tg::extent i = 0; i < mask.dims()[0]; ++i)
    if (mask[i]) at = std::copy_n(from.data() + static_cast<std::size_t>(i) * size, size, at);
  return to;
}
tg::tensor<bool> mask_of(tg::extent n, int seed) {
  tg::tensor<bool> mask({n});
  for (tg::extent i = 0; i < n; ++i) mask[i] = (static_cast<int>(i) * 5 + seed * 3) % 4 != 0;
  return mask;
}

auto loss_of(const auto& in) { return tg::mean(tg::square(tg::dense<"out", 2>(tg::lstm<"cells", 6>(in)) - 1.0f)); }

}  // namespace

TEST_CASE("a recurrent network behind a mask learns what it learns from the rows that are kept") {
  const auto fed = loss_of(rows);
  const auto train_fed = tg::minimize(fed, tg::adam{.learning_rate = 0.05});
  tg::session plain(tg::compile([=] { return tg::outputs(fed, train_fed); }), {.seed = 3});
  const auto masked = loss_of(tg::boolean_mask(rows, keep));
  const auto train = tg::minimize(masked, tg::adam{.learning_rate = 0.05});
  const auto program = tg::compile([=] { return tg::outputs(masked, train); });
  tg::session one(program, {.seed = 3, .intra_op_threads = 1});
  tg::session several(program, {.seed = 3, .intra_op_threads = 3, .inter_op_threads = 3});
  for (int i = 0; i < 30; ++i) {
    const tg::extent n = 1 + (i * 5) % 9;
    const auto all = numbers({n, 5, 3}, i);
    auto mask = mask_of(n, i);
    mask[0] = true;
    const float wanted = std::get<0>(plain.run(tg::fetch(fed, train_fed), rows = kept(all, mask)));
    CHECK(std::get<0>(one.run(tg::fetch(masked, train), rows = all, keep = mask)) == Approx(wanted).epsilon(1e-5));
    CHECK(std::get<0>(several.run(tg::fetch(masked, train), rows = all, keep = mask)) == Approx(wanted).epsilon(1e-5));
  }
}

TEST_CASE("a loop is done as often as rows are kept, also never") {
  constexpr auto series = tg::placeholder<"series", float, tg::dyn, 2>();
  constexpr auto start = tg::placeholder<"start", float, 2>();
  const auto some = tg::boolean_mask(series, keep);
  const auto [last, all] = tg::scan(tg::carry(start), tg::over(some), [](auto before, auto now) {
    const auto next = before * 0.5f + now;
    return tg::next(next).emit(next);
  });
  const auto end = last;
  const auto found = all;
  const auto loss = tg::sum(tg::square(found)) + tg::sum(end);
  const auto slope = tg::gradient(loss, start);
  tg::session session(tg::compile([=] { return tg::outputs(end, found, slope); }));
  for (int i = 0; i < 40; ++i) {
    const tg::extent n = (i * 7) % 13;
    const auto s = numbers({n, 2}, i);
    const auto mask = i % 5 == 4 ? tg::tensor<bool>({n}) : mask_of(n, i);
    const auto only = n == 0 ? tg::tensor<float>({0, 2}) : kept(s, mask);
    const float from[2] = {1.0f + static_cast<float>(i), -2.0f};
    const auto got = session.run(tg::fetch(end, found, slope), series = s, keep = mask,
                                 start = tg::tensor<float>({2}, {from[0], from[1]}));
    REQUIRE(std::get<1>(got).dims() == only.dims());
    for (int k = 0; k < 2; ++k) {
      float level = from[k];
      double back = 0, weight = 1;
      for (tg::extent t = 0; t < only.dims()[0]; ++t) {
        level = level * 0.5f + only(t, k);
        weight *= 0.5;
        back += 2 * weight * static_cast<double>(level);
        CHECK(std::get<1>(got)(t, k) == level);
      }
      CHECK(std::get<0>(got)[k] == level);
      CHECK(std::get<2>(got)[k] == Approx(back + weight).margin(1e-4));
    }
  }
}

TEST_CASE("sequences of a padding queue of any length teach a recurrent network in one program") {
  constexpr tg::queue_of<"sequences", tg::queue_options{.kind = tg::queue_kind::padding, .capacity = 64},
                         tg::spec<float, tg::dyn, 3>>
      sequences;
  constexpr auto batch = tg::placeholder<"batch", float, 4, tg::dyn, 3>();
  const auto fed = loss_of(batch);
  const auto train_fed = tg::minimize(fed, tg::adam{.learning_rate = 0.05});
  tg::session plain(tg::compile([=] { return tg::outputs(fed, train_fed); }), {.seed = 3});
  const auto taken = loss_of(tg::dequeue_many<4>(sequences));
  const auto train = tg::minimize(taken, tg::adam{.learning_rate = 0.05});
  const auto program = tg::compile([=] { return tg::outputs(taken, train); });
  for (const int threads : {1, 3}) {
    const tg::container state;
    tg::session session(program, {.seed = 3, .intra_op_threads = threads, .state = state});
    const tg::queue<tg::spec<float, tg::dyn, 3>> into(state, "sequences", sequences.options);
    tg::session reference(tg::compile([=] { return tg::outputs(fed, train_fed); }), {.seed = 3});
    for (int i = 0; i < 12; ++i) {
      const tg::extent longest = 1 + (i * 5) % 7;
      tg::tensor<float> padded({4, longest, 3});
      for (tg::extent r = 0; r < 4; ++r) {
        const auto one = numbers({r == 2 ? longest : 1 + (r + i) % longest, 3}, i + static_cast<int>(r));
        for (tg::extent t = 0; t < one.dims()[0]; ++t)
          for (tg::extent k = 0; k < 3; ++k) padded(r, t, k) = one(t, k);
        into.enqueue(one);
      }
      const float wanted = std::get<0>(reference.run(tg::fetch(fed, train_fed), batch = padded));
      CHECK(std::get<0>(session.run(tg::fetch(taken, train), tg::timeout(60s))) == Approx(wanted).epsilon(1e-5));
    }
  }
}

TEST_CASE("loops in loops, branches and repeated blocks over rows that are kept") {
  constexpr auto series = tg::placeholder<"series", float, tg::dyn, 3, 4>();
  constexpr auto wide = tg::placeholder<"wide", float, tg::dyn, 4>();
  const auto results_of = [](const auto& of_loops, const auto& of_rows) {
    const auto [end, all] = tg::scan(tg::carry(tg::sum<0>(of_rows)), tg::over(of_loops), [&](auto before, auto now) {
      const auto [inner, each] = tg::scan(tg::carry(before), tg::over(now), [](auto h, auto e) {
        const auto next = tg::tanh(h * 0.5f + e);
        return tg::next(next).emit(next * 2.0f);
      });
      return tg::next(inner).emit(tg::sum<0>(each) + before);
    });
    const auto blocks =
        tg::repeat<"block", 3>([](const auto& h) { return h + tg::dense<"hidden", 4>(h, tg::relu); })(of_rows);
    const auto chosen = tg::cond(
        tg::sum(of_rows) > 0.0f, [](const auto& r) { return tg::exp(r) * 0.5f; },
        [](const auto& r) { return r * r - 1.0f; }, blocks);
    const auto loss = tg::sum(tg::square(chosen)) + tg::sum(end) + tg::sum(tg::sin(all));
    return std::make_tuple(end * 1.0f, all * 1.0f, blocks * 1.0f, chosen * 1.0f, loss, tg::gradient(loss, of_rows),
                           tg::gradient(loss, of_loops));
  };
  const auto plain = results_of(series, wide);
  const auto masked = results_of(tg::boolean_mask(series, keep), tg::boolean_mask(wide, keep));
  const auto program_of = [](const auto& results) {
    return std::apply([](const auto&... r) { return tg::compile([=] { return tg::outputs(r...); }); }, results);
  };
  const auto fetch = [](const auto& results) {
    return std::apply([](const auto&... r) { return tg::fetch(r...); }, results);
  };
  const auto same = [](const auto& a, const auto& b) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(a)>, float>) {
      CHECK(a == Approx(b).epsilon(1e-5).margin(1e-5));
    } else {
      REQUIRE(a.dims() == b.dims());
      for (std::size_t i = 0; i < a.size(); ++i) CHECK(a.data()[i] == Approx(b.data()[i]).epsilon(1e-5).margin(1e-5));
    }
  };
  const auto program = program_of(masked);
  CHECK(decltype(program)::peak_bytes(5) > 0);
  tg::session expected(program_of(plain), {.seed = 1});
  for (const int threads : {1, 3}) {
    tg::session session(program, {.seed = 1, .intra_op_threads = threads, .inter_op_threads = threads});
    for (int i = 0; i < 14; ++i) {
      const tg::extent n = 1 + (i * 5) % 9;
      const auto s = numbers({n, 3, 4}, i), w = numbers({n, 4}, i + 1);
      auto mask = mask_of(n, i);
      mask[0] = true;
      const auto wanted = expected.run(fetch(plain), series = kept(s, mask), wide = kept(w, mask));
      const auto got = session.run(fetch(masked), series = s, wide = w, keep = mask);
      [&]<std::size_t... I>(std::index_sequence<I...>) { (same(std::get<I>(got), std::get<I>(wanted)), ...); }
      (std::make_index_sequence<7>{});
    }
  }
}
