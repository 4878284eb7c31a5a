// SPDX-License-Identifier: BSL-1.0
// Passes over layers that are loops, and random functions with branches and loops in each other.
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <vector>

#include "conformance/random_functions.hpp"
#include "tagma/passes.hpp"

namespace {

struct nothing {
  static constexpr void visit(tg::rewriter&) {}
};
/// a + b becomes b + a, and a - b becomes a + -b.
struct reorder {
  static constexpr void visit(tg::rewriter& r) {
    if (r.is<tg::op::add>())
      r.replace(r.emit(tg::op::add{}, r.in(1), r.in(0)));
    else if (r.is<tg::op::subtract>())
      r.replace(r.emit(tg::op::add{}, r.in(0), r.emit(tg::op::negate{}, r.in(1))));
  }
};
/// Whoever reads what is computed reads -(-a) instead.
struct negate_twice {
  static constexpr void visit(tg::rewriter& r) {
    if (r.is<tg::op::negate>() || !tg::is_floating(r.spec(r.self()).type)) return;
    r.replace(r.emit(tg::op::negate{}, r.emit(tg::op::negate{}, r.self())));
  }
};
/// -(-a) becomes a.
struct drop_negations {
  static constexpr void visit(tg::rewriter& r) {
    if (r.is<tg::op::negate>() && r.is<tg::op::negate>(r.in(0))) r.replace(r.input(r.in(0), 0));
  }
};

/// Adds the elements of a tensor or a number.
template <class Result>
void append(std::vector<double>& to, const Result& result) {
  if constexpr (std::is_floating_point_v<Result>)
    to.push_back(result);
  else if constexpr (!std::is_same_v<Result, tg::no_value>)
    to.insert(to.end(), result.span().begin(), result.span().end());
}

}  // namespace

TEST_CASE("a classifier of sequences learns the same bytes with passes") {
  constexpr auto words = tg::placeholder<"words", float, tg::dyn, 7, 5>();
  constexpr auto classes = tg::placeholder<"classes", std::int32_t, tg::dyn>();
  const auto states = tg::lstm<"lower", 6>(words, tg::return_sequences);
  const auto last = tg::lstm<"upper", 8>(states);
  const auto scores = tg::dense<"scores", 3>(last);
  const auto loss = tg::mean(tg::sparse_softmax_cross_entropy(scores, classes));
  const auto step = tg::minimize(loss, tg::adam{.learning_rate = 0.01}, tg::clip_by_global_norm(0.5F));
  const auto result_of = [=](auto... passes) {
    tg::session session(tg::compile([=] { return tg::outputs(scores, loss, step); }, passes...), {.seed = 3});
    tg::tensor<float> fed(tg::shape{4, 7, 5});
    for (tg::extent i = 0; i < fed.dims().elements(); ++i) fed[i] = static_cast<float>((i * 37 + 11) % 29) / 14 - 1;
    const std::vector<std::int32_t> labels{0, 2, 1, 2};
    std::vector<double> all;
    for (int run = 0; run < 3; ++run)
      std::apply([&](const auto&... f) { (append(all, f), ...); },
                 session.run(tg::fetch(scores, loss, step), words = fed, classes = labels));
    return all;
  };
  const auto expected = result_of();
  CHECK(expected[0] != expected[13]);  // it learns
  CHECK(result_of(tg::passes<nothing>) == expected);
  CHECK(result_of(tg::passes<reorder>) == expected);
  const auto forward = [=](auto... passes) {
    tg::session session(tg::compile([=] { return tg::outputs(scores); }, passes...), {.seed = 3});
    return session.run(scores, words = std::vector<float>(70, 0.5F));
  };
  const auto one = forward();
  const auto other = forward(tg::passes<reorder, tg::fold_frozen>);
  CHECK(std::memcmp(one.data(), other.data(), 6 * sizeof(float)) == 0);
}

TEST_CASE("repeated blocks learn the same bytes with passes") {
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 6>();
  const auto block = [](const auto& h) {
    const auto wide = tg::dense<"up", 9>(tg::layer_norm<"norm">(h), tg::gelu);
    return h + tg::dense<"down", 6>(wide);
  };
  const auto out = tg::repeat<"block", 4>(block)(x);
  const auto loss = tg::mean(tg::square(out - 1.0F));
  const auto step = tg::minimize(loss, tg::adam{.learning_rate = 0.01});
  const auto result_of = [=](auto... passes) {
    tg::session session(tg::compile([=] { return tg::outputs(out, loss, step); }, passes...), {.seed = 3});
    tg::tensor<float> fed(tg::shape{5, 6});
    for (tg::extent i = 0; i < 30; ++i) fed[i] = static_cast<float>((i * 37 + 11) % 29) / 14 - 1;
    std::vector<double> all;
    for (int run = 0; run < 3; ++run)
      std::apply([&](const auto&... f) { (append(all, f), ...); }, session.run(tg::fetch(out, loss, step), x = fed));
    return all;
  };
  const auto expected = result_of();
  CHECK(result_of(tg::passes<nothing>) == expected);
  CHECK(result_of(tg::passes<reorder>) == expected);
  CHECK(result_of(tg::passes<negate_twice, drop_negations>) == expected);
}

namespace {

template <int Seed>
void check_function() {
  constexpr auto a = tg::placeholder<"a", double, tg::dyn>();
  constexpr auto b = tg::placeholder<"b", double, tg::dyn>();
  const auto all = random_function<Seed, 2, 0, true>(a, b) + w * (a - b);
  const auto f = tg::sum(tg::sin(all)) + tg::sum(a * b);
  const auto by_a = tg::gradient(f, a);
  const auto by_b = tg::gradient(f, b);
  const auto with = [=](auto... passes) {
    return tg::compile([=] { return tg::outputs(all, f, by_a, by_b); }, passes...);
  };
  const auto run = [=](const auto& program, int threads) {
    tg::session session(program, {.intra_op_threads = threads, .inter_op_threads = threads});
    std::vector<double> found;
    for (int turn = 0; turn < 6; ++turn) {
      const tg::extent n = (turn * 5) % 8;
      std::apply([&](const auto&... r) { (append(found, r), ...); },
                 session.run(tg::fetch(all, f, by_a, by_b), a = numbers({n}, Seed + 3.1 * turn),
                             b = numbers({n}, Seed + 1 + 7.3 * turn), w = 0.4 * turn - 1));
    }
    return found;
  };
  INFO("seed " << Seed);
  const auto plain = with();
  const auto copied = with(tg::passes<nothing>);
  const auto expected = run(plain, 1);
  const auto same = [&](const auto& program, int threads) {
    const auto found = run(program, threads);
    REQUIRE(found.size() == expected.size());
    CHECK(std::memcmp(found.data(), expected.data(), found.size() * sizeof(double)) == 0);
  };
  same(copied, 1);
  same(copied, 3);
  CHECK(copied.peak_bytes(8) == plain.peak_bytes(8));
  same(with(tg::passes<reorder>), 1);
  const auto there_and_back = with(tg::passes<negate_twice, drop_negations, nothing>);
  CHECK(there_and_back.node_count() == copied.node_count());
  same(there_and_back, 1);
  same(with(tg::passes<negate_twice, reorder>), 3);
}

}  // namespace

TEST_CASE("random functions with branches and loops are what they are without passes") {
  check_function<1>();
  check_function<2>();
  check_function<3>();
  check_function<4>();
}
