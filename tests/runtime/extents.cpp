// SPDX-License-Identifier: BSL-1.0
// Runs whose extents are huge, negative, or do not agree: an error, whatever the plan, and never a step.
#include <catch2/catch.hpp>

#include <random>

#include "support/errors.hpp"
#include "tagma/order.hpp"
#include "tagma/runtime/bound_plan.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using tg::dyn, tg::extent, tg::shape, tg::status_code;
using tg::test::code_of, tg::test::text_of;

/// What is fed where nothing may be read: any extents, over the memory of a few elements.
template <class T>
struct claim {
  shape extents;
  const T* memory;

  [[nodiscard]] const T* data() const { return memory; }
  [[nodiscard]] const shape& dims() const { return extents; }
  [[nodiscard]] tg::array_view<const T> span() const { return {memory, 0}; }
};
const float some[4096]{};
claim<float> of(const shape& dims) { return {dims, some}; }

constexpr extent large = extent{1} << 21, vast = extent{1} << 50;

}  // namespace

TEST_CASE("small feeds that broadcast to more than can be addressed are an error") {
  constexpr auto a = tg::placeholder<"a", bool, dyn, 1, 1>();
  constexpr auto b = tg::placeholder<"b", float, 1, dyn, 1>();
  constexpr auto c = tg::placeholder<"c", float, 1, 1, dyn>();
  auto s = tg::cumsum<0>(tg::select(a, b, c));
  auto r = tg::sum(s);
  tg::session session(tg::compile([=] { return tg::outputs(r); }));
  const auto with = [&](extent n) {
    return text_of([&] {
      session.run(r, a = tg::tensor<bool>({n, 1, 1}), b = tg::tensor<float>({1, n, 1}),
                  c = tg::tensor<float>({1, 1, n}));
    });
  };
  CHECK_THAT(with(large),
             Catch::StartsWith("ResourceExhausted: select #3: a result of float32 [2097152, 2097152, 2097152] of about "
                               "2^65 bytes, more than a process can address; its inputs are bool [2097152, 1, 1] and "
                               "float32 [1, 2097152, 1] and float32 [1, 1, 2097152] (run at "));
  CHECK_THAT(with(1 << 18), Catch::StartsWith("ResourceExhausted: a plan of 3 steps (its largest tensors: select #3 "
                                              "float32 [262144, 262144, 262144] 72057594037927936 bytes") &&
                                Catch::Contains("more than 2^56 bytes"));
  CHECK(session.run(r, a = tg::tensor<bool>({2, 1, 1}), b = tg::tensor<float>({1, 3, 1}),
                    c = tg::tensor<float>({1, 1, 1}, {7})) == 63.0f);
}

TEST_CASE("the host's lack of memory is an error that says what asks for it, and what the session has") {
  constexpr auto a = tg::placeholder<"a", float, dyn, 1>();
  constexpr auto b = tg::placeholder<"b", float, 1, dyn>();
  constexpr auto w = tg::variable<"w", float, 2, 3>(tg::ones);
  auto r = tg::sum(tg::cumsum<1>(a * b)) + tg::sum(w);
  auto same = tg::identity(a);
  auto order = tg::argsort(tg::reshape<dyn>(a));
  tg::session session(tg::compile([=] { return tg::outputs(r, same, order); }));
  CHECK(session.run(r, a = tg::tensor<float>({1, 1}, {1}), b = tg::tensor<float>({1, 1}, {2})) == 8.0f);

  const std::string arena = text_of([&] { session.run(r, a = of({vast, 1}), b = of({1, 8})); });
  CHECK_THAT(arena, Catch::StartsWith("ResourceExhausted: a plan of 5 steps: the host has no room for 32.0 PiB "
                                      "(3602879701896") &&
                        Catch::Contains("which its arena (its largest tensors: multiply #") &&
                        Catch::Contains(" float32 [1125899906842624, 8] 36028797018963968 bytes") &&
                        Catch::Contains("; the session holds 24 bytes of 1 variable and ") &&
                        Catch::Contains(" of plans that no run uses (run at "));

  // The two sums are as large as one another, and each is listed once.
  const auto once = arena.find(", sum #"), twice = arena.find(", sum #", once + 1);
  REQUIRE(twice != std::string::npos);
  CHECK(arena.find(", sum #", twice + 1) == std::string::npos);
  CHECK(arena.substr(once, arena.find(" float32", once) - once) !=
        arena.substr(twice, arena.find(" float32", twice) - twice));

  const std::string fetch = text_of([&] { session.run(same, a = of({vast, 1})); });
  CHECK_THAT(fetch,
             Catch::StartsWith("ResourceExhausted: the fetch of identity #") &&
                 Catch::Contains(": the host has no room for 4.0 PiB (4503599627370496 bytes), which a tensor of "
                                 "float32 [1125899906842624, 1] asks for; the session holds 24 bytes of 1 "
                                 "variable and ") &&
                 Catch::Contains("(run at "));

  constexpr auto v = tg::variable<"too_large", double, 1 << 20, 1 << 30>(tg::zeros);
  const auto program = tg::compile([=] { return tg::outputs(tg::sum(v) + tg::cast<double>(tg::sum(w))); });
  const std::string variable = text_of([&] { tg::session s(program); });
  CHECK_THAT(variable, Catch::Contains("the host has no room for 8.0 PiB (9007199254740992 bytes), which variable "
                                       "'too_large' float64 [1048576, 1073741824] asks for; the session holds "));
}

TEST_CASE("what a kernel needs to work with is checked and told as well") {
  // There is room for the result. The windows of all its positions, as rows of a matrix, are more than 2^63 numbers.
  constexpr auto image = tg::placeholder<"image", double, 1, dyn, 1, 1>();
  constexpr auto filter = tg::placeholder<"filter", double, dyn, 1, 1, 1>();
  auto y = tg::conv2d<tg::conv_options{.padding = tg::same_padding}>(image, filter);
  auto slope = tg::gradient(tg::sum(y), filter);
  tg::session session(tg::compile([=] { return tg::outputs(y, slope); }));
  const double memory[4]{};
  const claim<double> wide{{1, extent{1} << 26, 1, 1}, memory}, tall{{extent{1} << 40, 1, 1, 1}, memory};
  tg::cancellation stop;
  stop.cancel();
  const std::string text = text_of([&] { session.run(y, tg::stop_with(stop), image = wide, filter = tall); });
  CHECK_THAT(text,
             Catch::StartsWith(
                 "ResourceExhausted: a plan of 1 step: conv2d #2 on /device:CPU:0 of float64 [1, 67108864, 1, 1] and "
                 "float64 [1099511627776, 1, 1, 1]: the host has no room for 7.9 EiB "
                 "(9223372036854775807 bytes), which its working memory asks for; the session "));
}

TEST_CASE("feeds with negative extents are refused, however they come") {
  constexpr auto x = tg::placeholder<"x", float, dyn, 3>();
  auto y = tg::sum<1>(x) * 2.0f;
  tg::session session(tg::compile([=] { return tg::outputs(y); }));
  for (const shape& dims : {shape{-1, 3}, shape{-2, 3}, shape{4, -1}, shape{INT64_MIN, 3}})
    CHECK(code_of([&] { session.run(y, x = of(dims)); }) == status_code::invalid_argument);
  CHECK_THAT(
      text_of([&] {
        session.run(y, x = of({-2, 3}));
      }),
      Catch::StartsWith("InvalidArgument: feed of placeholder 'x' has shape [-2, 3], which does not fit [?, 3]"));
  CHECK_THAT(
      text_of([&] {
        session.run(y, x = of({INT64_MAX, 3}));
      }),
      Catch::StartsWith("ResourceExhausted: feed of placeholder 'x' is float32 [9223372036854775807, 3] of about "
                        "2^67 bytes, more than a process can address (run at "));
  CHECK(session.run(y, x = of({0, 3})).dims() == shape{0});
}

TEST_CASE("a computed tensor that is fed need not have the extents that it would have had") {
  constexpr auto x = tg::placeholder<"x", double, dyn, 6>();
  constexpr auto z = tg::placeholder<"z", double, dyn, dyn>();
  constexpr auto labels = tg::placeholder<"labels", std::int32_t, dyn>();
  const tg::tensor<double> long_x({64, 6}), short_x({2, 6});
  const auto refuses = [](auto& session, const auto& what, const auto&... feeds) {
    return code_of([&] { session.run(what, feeds...); }) == status_code::invalid_argument;
  };
  SECTION("reshape: its gradient has the shape of what it was made of") {
    auto r = tg::reshape<dyn, 3>(x);
    auto slope = tg::gradient(tg::sum(r * r), x);
    tg::session s(tg::compile([=] { return tg::outputs(slope); }));
    CHECK(refuses(s, slope, r = tg::tensor<double>({4, 3}), x = long_x));
    CHECK(s.run(slope, r = tg::tensor<double>({4, 3}), x = short_x).dims() == short_x.dims());
  }
  SECTION("concat: parts have the other extents of the whole") {
    auto c = tg::concat<1>(z, x);
    auto slope = tg::gradient(tg::sum(c * c), x);
    tg::session s(tg::compile([=] { return tg::outputs(slope); }));
    CHECK(refuses(s, slope, c = tg::tensor<double>({2, 7}), x = long_x, z = tg::tensor<double>({64, 1})));
    CHECK(s.run(slope, c = tg::tensor<double>({2, 7}), x = short_x, z = tg::tensor<double>({2, 1})).dims() ==
          short_x.dims());
  }
  SECTION("sparse_softmax_cross_entropy: labels and gradients have the rows of the logits") {
    auto logits = x * 2.0;
    auto entropy = tg::sparse_softmax_cross_entropy(logits, labels);
    auto slope = tg::gradient(tg::sum(entropy * entropy), logits);
    tg::session s(tg::compile([=] { return tg::outputs(slope); }));
    CHECK(refuses(s, slope, entropy = tg::tensor<double>({2}), x = long_x, labels = tg::tensor<std::int32_t>({64})));
    CHECK(refuses(s, slope, entropy = tg::tensor<double>({64}), x = short_x, labels = tg::tensor<std::int32_t>({64})));
    CHECK(s.run(slope, entropy = tg::tensor<double>({2}), x = short_x, labels = tg::tensor<std::int32_t>({2})).dims() ==
          short_x.dims());
  }
  SECTION("top_k: values and positions have the rows of what they are taken from") {
    auto best = tg::top_k<2>(x);
    auto slope = tg::gradient(tg::sum(best.first * best.first), x);
    tg::session s(tg::compile([=] { return tg::outputs(slope, best.second); }));
    const tg::tensor<double> values({64, 2});
    const tg::tensor<std::int64_t> at({64, 2});
    CHECK(refuses(s, slope, best.first = values, best.second = at, x = short_x));
    CHECK(s.run(slope, best.first = values, best.second = at, x = long_x).dims() == long_x.dims());
  }
  SECTION("max_pool: the maxima have the shape of the output") {
    constexpr auto images = tg::placeholder<"images", double, dyn, dyn, dyn, 1>();
    auto top = tg::max_pool<2>(images);
    auto slope = tg::gradient(tg::sum(top * top), images);
    auto bend = tg::gradient(tg::sum(slope * slope), images);
    tg::session s(tg::compile([=] { return tg::outputs(bend); }));
    const tg::tensor<double> small({1, 4, 4, 1}), tops({1, 64, 64, 1});
    CHECK(refuses(s, bend, top = tops, images = small));
    CHECK(s.run(bend, top = tg::tensor<double>({1, 2, 2, 1}), images = small).dims() == small.dims());
  }
}

namespace {

/// Binds plans of one program with random extents and lets no step run. What can be bound needs little memory.
template <class Program, class What, class... Placeholder>
void bind_at_random(const Program& program, const What& what, unsigned seed, const Placeholder&... placeholder) {
  tg::session session(program, {.inter_op_threads = 1});
  std::mt19937 random(seed);
  tg::cancellation stop;
  stop.cancel();
  // Nothing between what is small and what no machine has, so that a plan which can be bound can be paid for.
  constexpr extent extents[] = {0,
                                1,
                                1,
                                2,
                                3,
                                7,
                                -1,
                                -2,
                                INT64_MIN,
                                extent{1} << 48,
                                (extent{1} << 50) - 1,
                                (extent{1} << 56),
                                (extent{1} << 56) + 1,
                                extent{1} << 61,
                                extent{1} << 62,
                                INT64_MAX / 2 + 1,
                                INT64_MAX - 1,
                                INT64_MAX};
  constexpr std::size_t small = 6;
  int bound = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const extent one = extents[random() % small];
    const auto extents_for = [&](const shape& declared) {
      shape s = declared;
      for (int i = 0; i < s.rank; ++i)
        if (s[i] == dyn)
          s[i] = trial % 3 == 0 ? one : extents[random() % (trial % 3 == 1 ? small : std::size(extents))];
      return s;
    };
    const tg::error e = tg::test::thrown(
        [&] { session.run(what, tg::stop_with(stop), (placeholder = of(extents_for(placeholder.spec.dims)))...); });
    INFO(e.what());
    CHECK((e.code() == status_code::cancelled || e.code() == status_code::invalid_argument ||
           e.code() == status_code::resource_exhausted));
    bound += e.code() == status_code::cancelled;
    CHECK(session.core().arena_bytes() < std::size_t{1} << 30);
  }
  CHECK(bound > 0);
}

constexpr auto a = tg::placeholder<"a", float, dyn, dyn>();
constexpr auto b = tg::placeholder<"b", float, dyn, dyn>();
constexpr auto row = tg::placeholder<"row", float, 1, 1, dyn>();
constexpr auto column = tg::placeholder<"column", float, 1, dyn, 1>();
constexpr auto depth = tg::placeholder<"depth", float, dyn, 1, 1>();
constexpr auto images = tg::placeholder<"images", float, dyn, dyn, dyn, dyn>();
constexpr auto filter = tg::placeholder<"filter", float, dyn, dyn, dyn, dyn>();

}  // namespace

TEST_CASE("random plans with huge extents: movements") {
  const auto seed = GENERATE(range(0u, 3u));
  auto both = tg::concat<0>(a, tg::concat<1>(b, a));
  auto framed = tg::pad<tg::padding{1, INT64_MAX}, tg::padding{INT64_MAX - 1, 3}>(a, 0.0f);
  auto thick = tg::pad<tg::padding{1, 2}, tg::padding{0, 3}>(a, 0.0f);
  auto tiled = tg::tile<3, 2>(thick);
  auto many = tg::tile<INT64_MAX, 5>(b);
  auto part = tg::slice<tg::range{1, -1}, tg::range{-2}>(tiled);
  auto turned = tg::transpose(tg::reshape<2, dyn>(part));
  auto all = tg::sum(both) + tg::sum(tg::sort(tg::reshape<dyn>(turned)));
  auto slope = tg::gradient(all, a);
  auto beyond = tg::sum(framed) + tg::sum(many);
  bind_at_random(tg::compile([=] { return tg::outputs(all); }), all, seed, a, b);
  bind_at_random(tg::compile([=] { return tg::outputs(slope); }), slope, seed + 100, a, b);
  tg::session session(tg::compile([=] { return tg::outputs(beyond); }));
  CHECK(code_of([&] { session.run(beyond, a = of({1, 1}), b = of({1, 1})); }) == status_code::resource_exhausted);
}

TEST_CASE("random plans with huge extents: broadcasts, products, reductions") {
  const auto seed = GENERATE(range(0u, 3u));
  auto box = tg::cumsum<1>(row * column + depth);
  auto result = tg::sum(box) + tg::sum(tg::matmul<false, true>(a, b)) + tg::reduce_max(tg::softmax(a)) +
                tg::sum(tg::top_k_values<1>(tg::concat<1>(a, a)));
  auto slope = tg::gradient(tg::sum(tg::square(box)), column);
  auto ids = tg::cast<std::int32_t>(tg::reshape<dyn>(b));
  auto rows = tg::sum(tg::gather(a, ids)) + tg::sum(tg::one_hot<1000>(ids));
  auto rows_slope = tg::gradient(rows, a);
  bind_at_random(tg::compile([=] { return tg::outputs(result); }), result, seed, a, b, row, column, depth);
  bind_at_random(tg::compile([=] { return tg::outputs(slope); }), slope, seed + 100, row, column, depth);
  bind_at_random(tg::compile([=] { return tg::outputs(rows); }), rows, seed + 200, a, b);
  bind_at_random(tg::compile([=] { return tg::outputs(rows_slope); }), rows_slope, seed + 300, a, b);
}

TEST_CASE("random plans with huge extents: windows") {
  const auto seed = GENERATE(range(0u, 3u));
  constexpr tg::conv_options strided{.stride = 2, .padding = 1, .dilation = 31};
  constexpr tg::conv_options same{.stride = tg::window(31, 3), .padding = tg::same_padding};
  auto second = tg::conv2d<same>(images, filter);
  constexpr tg::pool_options steps{.stride = 1, .padding = tg::same_padding};
  auto pooled = tg::sum(tg::max_pool<2>(images)) + tg::sum(tg::average_pool<tg::window(3, 2147483647), steps>(images));
  auto one = tg::sum(tg::conv2d<strided>(images, filter));
  auto two = tg::sum(second);
  auto three =
      tg::sum(tg::conv2d_transpose<strided>(images, filter)) + tg::sum(tg::conv2d_transpose<same>(images, filter));
  auto slope = tg::gradient(tg::sum(tg::square(second)), filter);
  bind_at_random(tg::compile([=] { return tg::outputs(one); }), one, seed, images, filter);
  bind_at_random(tg::compile([=] { return tg::outputs(two); }), two, seed + 100, images, filter);
  bind_at_random(tg::compile([=] { return tg::outputs(three); }), three, seed + 200, images, filter);
  bind_at_random(tg::compile([=] { return tg::outputs(pooled); }), pooled, seed + 300, images);
  bind_at_random(tg::compile([=] { return tg::outputs(slope); }), slope, seed + 400, images, filter);
}
