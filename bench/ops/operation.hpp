// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What the files of this folder register: single operations, each a program of its own over extents that are known
/// late. ops.cpp runs what ops.py asks for.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "tagma/order.hpp"
#include "tagma/tagma.hpp"

namespace ops {

namespace tg = tagma;

struct operation {
  std::function<void(const std::vector<tg::shape>&)> feed;
  std::function<void()> run;
  std::function<void(std::ostream&)> keep;  ///< writes the elements of all results
};

/// By name; a name ends in its element type, as "exp.float32", and says so where it is a gradient:
/// "exp.float32.gradient".
inline std::map<std::string, operation>& operations() {
  static std::map<std::string, operation> all;
  return all;
}
inline int& threads() {
  static int count = 1;
  return count;
}

void add_elementwise();
void add_mixed();
void add_reductions();
void add_layout();
void add_order();
void add_products();
void add_windows();
void add_rows();

/// What the elements of a placeholder are: any number of [-1, 1), of [0.01, 1], an index below the first extent of the
/// operand 0, or below its second.
enum class kind { any, positive, row, column };

/// A tensor of numbers that follow from their positions, as `numbers` of ops.py makes it.
template <class T>
tg::tensor<T> numbers(const tg::shape& dims, std::int64_t operand, kind what, const tg::shape& first) {
  tg::tensor<T> t(dims);
  std::int64_t i = 0;
  for (T& v : t.span()) {
    const std::int64_t n = ((i++ + operand * 104729) * 2654435761 >> 9) % 1000003;  // in no order
    if (what == kind::row || what == kind::column)
      v = static_cast<T>(static_cast<double>(i * 7919 % first[what == kind::row ? 0 : 1]));
    else if constexpr (std::is_same_v<T, bool>)
      v = n % 2 == 1;
    else if constexpr (std::is_integral_v<T>)
      v = static_cast<T>(sizeof(T) == 1 ? n % 100 + 1 : n * 2099 - 1000000000);
    else
      v = static_cast<T>(static_cast<float>(what == kind::positive ? static_cast<double>(n + 10001) / 1010003.0
                                                                   : static_cast<double>(n) / 500001.5 - 1.0));
  }
  return t;
}

template <class E>
using element = typename E::spec_type::element_type;

template <class T>
constexpr const char* type_name = std::is_same_v<T, float>          ? "float32"
                                  : std::is_same_v<T, double>       ? "float64"
                                  : std::is_same_v<T, tg::float16>  ? "float16"
                                  : std::is_same_v<T, tg::bfloat16> ? "bfloat16"
                                  : std::is_same_v<T, std::int64_t> ? "int64"
                                  : std::is_same_v<T, std::int32_t> ? "int32"
                                  : std::is_same_v<T, std::int16_t> ? "int16"
                                  : std::is_same_v<T, std::int8_t>  ? "int8"
                                  : std::is_same_v<T, std::uint8_t> ? "uint8"
                                                                    : "bool";

/// An operand: a placeholder and what is in it.
template <class P>
struct operand {
  P of;
  kind what = kind::any;
};
template <class P>
constexpr operand<P> positive(P of) {
  return {of, kind::positive};
}
template <class P>
constexpr operand<P> rows(P of) {
  return {of, kind::row};
}
template <class P>
constexpr operand<P> columns(P of) {
  return {of, kind::column};
}
template <class P>
constexpr operand<P> as_operand(P of) {
  return {of};
}
template <class P>
constexpr operand<P> as_operand(operand<P> of) {
  return of;
}

template <class Results, class... X>
void add_program(const std::string& name, const Results& results, const operand<X>&... x) {
  static constexpr auto place = tg::placeholder<"place", std::int32_t, 1>();
  const auto flat = std::apply([](const auto&... y) { return std::tuple(tg::reshape<tg::dyn>(y)...); }, results);
  // One element of each is fetched, so that results stay where they are, as between two operations of a larger program.
  const auto few = std::apply([](const auto&... y) { return std::tuple(tg::gather<0>(y, place)...); }, flat);
  const auto program = std::apply([](const auto&... y) { return tg::compile([=] { return tg::outputs(y...); }); },
                                  std::tuple_cat(flat, few));
  using session_type = tg::session<std::remove_const_t<decltype(program)>>;
  auto session = std::make_shared<session_type>(program, tg::session_options{.seed = 1, .intra_op_threads = threads()});
  auto fed = std::make_shared<std::tuple<tg::tensor<element<X>>...>>();
  auto first = std::make_shared<tg::tensor<std::int32_t>>(tg::shape{1});
  operations()[name] = {
      [fed, x...](const std::vector<tg::shape>& dims) {
        std::apply(
            [&](auto&... t) {
              std::size_t i = 0;
              ((t = numbers<element<X>>(dims.at(i), static_cast<std::int64_t>(i), x.what, dims.at(0)), ++i), ...);
            },
            *fed);
      },
      [=] {
        std::apply(
            [&](auto&... t) {
              std::apply(
                  [&](const auto&... f) {
                    static_cast<void>(session->run(tg::fetch(f...), place = *first, (x.of = t)...));
                  },
                  few);
            },
            *fed);
      },
      [=](std::ostream& out) {
        const auto write = [&](const auto& y) {
          const auto all = std::apply([&](auto&... t) { return session->run(y, (x.of = t)...); }, *fed);
          out.write(reinterpret_cast<const char*>(all.data()),
                    static_cast<std::streamsize>(all.dims().elements() * static_cast<tg::extent>(sizeof(*all.data()))));
        };
        std::apply([&](const auto&... y) { (write(y), ...); }, flat);
      }};
}

/// @param y what is computed
/// @param x the operands that it reads
template <class Y, class... X>
void add(const std::string& name, const Y& y, const X&... x) {
  add_program(name, std::tuple(y), as_operand(x)...);
}

template <class T, tg::extent... Extents>
constexpr auto slope_of(std::integer_sequence<tg::extent, Extents...>) {
  return tg::placeholder<"slope", T, (static_cast<void>(Extents), tg::dyn)...>();
}

/// The same, and the gradients by `X` of the sum of `y` times its slope, which is one more operand.
template <class Y, class... X>
void add_with_gradient(const std::string& name, const Y& y, const X&... x) {
  add(name, y, x...);
  const auto slope = slope_of<element<Y>>(std::make_integer_sequence<tg::extent, Y::rank>());
  const auto loss = tg::sum(y * slope);
  const auto by = [&](const auto& p) {
    if constexpr (std::is_floating_point_v<tg::device::compute_t<element<decltype(p.of)>>>)
      return std::tuple(tg::gradient(loss, p.of));
    else
      return std::tuple<>();
  };
  add_program(name + ".gradient", std::tuple_cat(by(as_operand(x))...), as_operand(x)..., as_operand(slope));
}

constexpr tg::extent any = tg::dyn;
template <class T>
constexpr auto vector_of = tg::placeholder<"v", T, any>();
template <class T>
constexpr auto matrix_a = tg::placeholder<"a", T, any, any>();
template <class T>
constexpr auto matrix_b = tg::placeholder<"b", T, any, any>();
template <class T>
constexpr auto cube_a = tg::placeholder<"c", T, any, any, any>();
template <class T>
constexpr auto cube_b = tg::placeholder<"d", T, any, any, any>();
template <class T>
constexpr auto images = tg::placeholder<"images", T, any, any, any, any>();
constexpr auto indices = tg::placeholder<"indices", std::int64_t, any>();

}  // namespace ops
