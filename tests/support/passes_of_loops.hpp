// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Programs with loops, and passes that go over them.

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <tuple>
#include <vector>

#include "tagma/control_flow.hpp"
#include "tagma/passes.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

constexpr auto xs = tg::placeholder<"xs", float, tg::dyn, 3>();
constexpr auto h = tg::placeholder<"h", float, 3>();
constexpr auto other = tg::placeholder<"other", float, 3>();

const std::vector<float> five_rows{1, -2, 3, 0.5F, -0.25F, 6, -7, 8, 0.125F, 2, -1, 0.75F, 4, 5, -3};
const std::vector<float> start{0.5F, -1, 2};
const std::vector<float> another{-0.25F, 3, 1};

struct nothing {
  static constexpr void visit(tg::rewriter&) {}
};
/// tanh(a) becomes a.
struct drop_tanh {
  static constexpr void visit(tg::rewriter& r) {
    if (r.is<tg::op::tanh>()) r.replace(r.in(0));
  }
};
/// The smaller of a and b becomes a, and the larger of them b.
struct take_one {
  static constexpr void visit(tg::rewriter& r) {
    if (r.is<tg::op::minimum>()) r.replace(r.in(0));
    if (r.is<tg::op::maximum>()) r.replace(r.in(1));
  }
};
/// -(-a) becomes a.
struct drop_negations {
  static constexpr void visit(tg::rewriter& r) {
    if (r.is<tg::op::negate>() && r.is<tg::op::negate>(r.in(0))) r.replace(r.input(r.in(0), 0));
  }
};
/// tanh(a) becomes a * a.
struct square_for_tanh {
  static constexpr void visit(tg::rewriter& r) {
    if (r.is<tg::op::tanh>()) r.replace(r.emit(tg::op::multiply{}, r.in(0), r.in(0)));
  }
};

/// A program of some results, which may be fed everything.
template <class... E, class... Passes>
auto program_of(const std::tuple<E...>& results, Passes... passes) {
  const auto fed = tg::sum(xs) + tg::sum(h) + tg::sum(other);
  return std::apply([&](const auto&... r) { return tg::compile([=] { return tg::outputs(r..., fed); }, passes...); },
                    results);
}

inline void append(std::vector<float>& to, float value) { to.push_back(value); }
inline void append(std::vector<float>&, tg::no_value) {}
void append(std::vector<float>& to, const auto& tensor) {
  to.insert(to.end(), tensor.span().begin(), tensor.span().end());
}
/// All elements of all results of some runs.
template <class Program, class... E>
std::vector<float> run(const Program& program, const std::tuple<E...>& results, int runs = 1) {
  tg::session session(program, {.seed = 7});
  std::vector<float> all;
  for (int i = 0; i < runs; ++i)
    std::apply(
        [&](const auto&... r) {
          std::apply([&](const auto&... f) { (append(all, f), ...); },
                     session.run(tg::fetch(r...), xs = five_rows, h = start, other = another));
        },
        results);
  return all;
}
/// The results are those of other expressions once a pass has gone over them.
template <class... Pass, class... E, class... W>
void check(const std::tuple<E...>& results, tg::passes_option<Pass...> passes, const std::tuple<W...>& wanted) {
  CHECK(run(program_of(results, passes), results) == run(program_of(wanted, tg::passes<nothing>), wanted));
  CHECK(run(program_of(results, passes), results) == run(program_of(wanted), wanted));
}

/// A loop with a body over what it carries and an element.
template <bool Reversed = false, class Body>
auto loop_of(const Body& body) {
  return tg::scan<tg::dyn, Reversed>(tg::carry(h + 1.0F), tg::over(xs), body);
}

}  // namespace
