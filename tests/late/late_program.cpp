// SPDX-License-Identifier: BSL-1.0
#include "tagma/late.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "support/errors.hpp"
#include "tagma/explain.hpp"
#include "tagma/filter.hpp"
#include "tagma/passes.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

using tg::status_code;
using tg::test::text_of;

tg::tensor<float> some(const tg::shape& dims, int seed) {
  tg::tensor<float> t(dims);
  for (tg::extent i = 0; i < dims.elements(); ++i)
    t[i] = static_cast<float>(0.7 * std::sin(seed + 1.7 * static_cast<double>(i)));
  return t;
}
template <class T>
bool are_same(const tg::tensor<T>& a, const tg::tensor<T>& b) {
  return a.dims() == b.dims() && (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}
template <tg::element T>
bool are_same(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}
bool are_same(const tg::no_value&, const tg::no_value&) { return true; }
template <class... T>
bool are_same(const std::tuple<T...>& a, const std::tuple<T...>& b) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return (true && ... && are_same(std::get<I>(a), std::get<I>(b)));
  }
  (std::index_sequence_for<T...>{});
}

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 8>();
constexpr auto labels = tg::placeholder<"labels", int, tg::dyn>();
constexpr auto images = tg::placeholder<"images", float, tg::dyn, 8, 8, 1>();
constexpr auto series = tg::placeholder<"series", float, tg::dyn, 5, 3>();
constexpr auto keep = tg::placeholder<"keep", bool, tg::dyn>();

auto network() { return tg::dense<"out", 4>(tg::dense<"hidden", 16>(x, tg::relu)); }

TEST_CASE("a program that is compiled late is the one that is compiled early") {
  const auto loss = tg::mean(tg::sparse_softmax_cross_entropy(network(), labels)) + 0.25f * tg::sum(tg::square(x));
  const auto train = tg::minimize(loss, tg::adam{.learning_rate = 0.05}, tg::clip_by_global_norm(0.5));
  const auto closure = [=] { return tg::outputs(loss, train); };
  const auto early = tg::compile(closure);
  const auto late = tg::compile(closure, tg::late);
  CHECK(late.fingerprint() == early.fingerprint());
  CHECK(late.node_count() == early.node_count());
  CHECK(late.peak_bytes(32) == early.peak_bytes(32));
  tg::session a(early, {.seed = 3});
  tg::session b(late, {.seed = 3});
  tg::tensor<int> wanted({6});
  for (int i = 0; i < 6; ++i) wanted[i] = i % 4;
  for (int i = 0; i < 5; ++i) {
    const auto in = some({6, 8}, i);
    CHECK(are_same(a.run(tg::fetch(loss, train), x = in, labels = wanted),
                   b.run(tg::fetch(loss, train), x = in, labels = wanted)));
  }
}

TEST_CASE("loops, late extents and convolutions of programs that are compiled late") {
  const auto rows = tg::boolean_mask(series, keep);
  const auto cells = tg::lstm<"cells", 6>(rows);
  const auto maps = tg::max_pool<2>(tg::conv2d<"conv", 4, 3>(images, tg::relu));
  const auto closure = [=] { return tg::outputs(tg::sum(cells), rows, maps); };
  tg::session a(tg::compile(closure));
  tg::session b(tg::compile(closure, tg::late));
  const auto in = some({4, 5, 3}, 1), pictures = some({2, 8, 8, 1}, 2);
  tg::tensor<bool> some_rows({4});
  some_rows[1] = some_rows[2] = true;
  CHECK(are_same(a.run(tg::sum(cells), series = in, keep = some_rows),
                 b.run(tg::sum(cells), series = in, keep = some_rows)));
  CHECK(are_same(a.run(rows, series = in, keep = some_rows), b.run(rows, series = in, keep = some_rows)));
  CHECK(are_same(a.run(maps, images = pictures), b.run(maps, images = pictures)));
}

TEST_CASE("what is computed may be fed to a program that is compiled late") {
  const auto hidden = tg::dense<"hidden", 3>(x, tg::tanh);
  const auto y = tg::sum(hidden * 2.0f);
  const auto closure = [=] { return tg::outputs(y, hidden); };
  tg::session a(tg::compile(closure));
  tg::session b(tg::compile(closure, tg::late));
  const auto given = some({5, 3}, 4);
  CHECK(are_same(a.run(y, hidden = given), b.run(y, hidden = given)));
  CHECK(are_same(a.run(hidden, x = some({2, 8}, 1)), b.run(hidden, x = some({2, 8}, 1))));
}

TEST_CASE("scopes, passes and soft placement of programs that are compiled late") {
  const auto y = tg::on<"/device:CPU:1">([](const auto& in) { return tg::sum<1>(tg::exp(in)); })(x);
  const auto again = tg::scope<"inner">([](const auto& in) { return tg::dense<"d", 2>(in); })(x);
  const auto closure = [=] { return tg::outputs(y, again); };
  const auto early = tg::compile(closure, tg::soft_placement);
  const auto late = tg::compile(closure, tg::soft_placement, tg::late);
  CHECK(late.fingerprint() == early.fingerprint());
  const tg::session_options options{.cpu_devices = 2};
  tg::session a(early, options);
  tg::session b(late, options);
  const auto in = some({3, 8}, 2);
  CHECK(are_same(a.run(tg::fetch(y, again), x = in), b.run(tg::fetch(y, again), x = in)));
  const auto v = tg::variable<"kept", float, 8, 8>(tg::random_normal(0, 0.5));
  const auto z = tg::matmul(tg::tanh(tg::matmul(x, tg::matmul(v, v))), tg::exp(v));
  const auto of_kept = [=] { return tg::outputs(z); };
  const auto kept = tg::compile(of_kept, tg::passes<tg::fold_frozen>, tg::late);
  CHECK(kept.fingerprint() == tg::compile(of_kept, tg::passes<tg::fold_frozen>).fingerprint());
  tg::session c(tg::compile(of_kept), options);
  tg::session d(kept, options);
  for (int i = 0; i < 4; ++i) {
    const tg::tensor<float> other = some({8, 8}, i / 2);
    c.core().variable(0).assign(other.data()), d.core().variable(0).assign(other.data());
    CHECK(are_same(c.run(z, x = in), d.run(z, x = in)));
  }
}

TEST_CASE("activations that are folded are so in programs that are compiled late") {
  const auto pixels = tg::reshape<tg::dyn, 2, 2, 2>(x);
  const auto y = tg::relu6(tg::depthwise_conv2d<"each", 2>(tg::relu(tg::conv2d<"all", 9, 1>(pixels))));
  const auto closure = [=] { return tg::outputs(y); };
  const auto early = tg::compile(closure, tg::passes<tg::fold_activation>);
  const auto late = tg::compile(closure, tg::passes<tg::fold_activation>, tg::late);
  CHECK(late.fingerprint() == early.fingerprint());
  CHECK(late.fingerprint() != tg::compile(closure).fingerprint());
  tg::session a(early, {.seed = 4});
  tg::session b(late, {.seed = 4});
  const auto in = some({5, 8}, 2);
  CHECK(are_same(a.run(y, x = in), b.run(y, x = in)));
}

TEST_CASE("what the compiler says of a graph is an error of a program that is compiled late") {
  const auto still = tg::sum(x);
  const auto v = tg::variable<"v", float, 3>(tg::zeros);
  const auto w = tg::variable<"v", double, 3>(tg::zeros);
  const auto says = [](const char* number, const auto& closure) {
    const std::string text = text_of([&] { (void)tg::compile(closure, tg::late); });
    INFO(text);
    CHECK(text.find(number) != std::string::npos);
  };
  says("TAGMA-E063", [=] { return tg::outputs(tg::minimize(still, tg::sgd{})); });
  says("TAGMA-E060", [=] { return tg::outputs(v, w); });
  says("TAGMA-E064", [=] { return tg::outputs(tg::gradient(still, v)); });

  const auto y = network();
  tg::session session(tg::compile([=] { return tg::outputs(y); }, tg::late));
  const std::string text = text_of([&] { (void)session.run(y); });
  CHECK(text.find("TAGMA-E051") != std::string::npos);
  CHECK(text.find("x") != std::string::npos);
}

}  // namespace
