// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/any_session.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <thread>

#include "conformance/random_functions.hpp"
#include "support/errors.hpp"
#include "support/temporary_directory.hpp"
#include "tagma/device/program_file.hpp"
#include "tagma/filter.hpp"
#include "tagma/observe/trace.hpp"
#include "tagma/order.hpp"
#include "tagma/programs.hpp"
#include "tagma/train.hpp"

namespace {

using tg::any_tensor;
using tg::feed_to;
using tg::status_code;
using tg::test::code_of;
using tg::test::thrown;

template <class T>
bool are_same(const tg::tensor<T>& a, const any_tensor& b) {
  return b.type() == tg::dtype_of<T> && b.dims() == a.dims() &&
         (a.size() == 0 || std::memcmp(a.data(), b.view().data, a.size() * sizeof(T)) == 0);
}
template <tg::element T>
bool are_same(const T& a, const any_tensor& b) {
  return b.type() == tg::dtype_of<T> && b.dims().rank == 0 && std::memcmp(&a, b.view().data, sizeof(T)) == 0;
}
bool are_same(const tg::no_value&, const any_tensor& b) { return b.type() == tg::dtype::none; }

template <class T = float>
tg::tensor<T> some(const tg::shape& dims, int seed) {
  tg::tensor<T> t(dims);
  for (tg::extent i = 0; i < dims.elements(); ++i)
    t[i] = static_cast<T>(0.7 * std::sin(seed + 1.7 * static_cast<double>(i)));
  return t;
}

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 8>();
constexpr auto labels = tg::placeholder<"labels", int, tg::dyn>();

/// A program as it is read from the bytes that it is written to.
tg::any_program reread(const tg::any_program& program) { return tg::read_program_bytes(tg::write_program(program)); }

template <class Optimizer>
void check_training(const Optimizer& optimizer) {
  const auto logits = tg::dense<"out", 4>(tg::dense<"hidden", 16>(x, tg::relu));
  const auto loss = tg::mean(tg::sparse_softmax_cross_entropy(logits, labels));
  const auto train = tg::minimize(loss, optimizer);
  const auto program = tg::compile([=] { return tg::outputs(loss, train, logits); });
  const tg::any_program data = reread(tg::any_program(program, {"loss", "train", "logits"}));
  CHECK(data.fingerprint() == program.fingerprint());
  CHECK(data.peak_bytes(32) == program.peak_bytes(32));
  for (const int threads : {1, 2}) {
    tg::session one(program, {.seed = 3, .intra_op_threads = threads});
    tg::session two(data, {.seed = 3, .intra_op_threads = threads});
    for (int i = 0; i < 12; ++i) {
      const tg::extent n = 1 + i % 5;
      const auto in = some({n, 8}, i);
      tg::tensor<int> of({n});
      for (tg::extent k = 0; k < n; ++k) of[k] = static_cast<int>(k + i) % 4;
      const auto [l, t, y] = one.run(tg::fetch(loss, train, logits), x = in, labels = of);
      const auto got = two.run({"loss", "train", "logits"}, feed_to("x", in), feed_to("labels", of));
      REQUIRE(are_same(l, got[0]));
      REQUIRE(are_same(t, got[1]));
      REQUIRE(are_same(y, got[2]));
    }
  }
}

TEST_CASE("a program that is data trains as the compiled one does") {
  check_training(tg::sgd{.learning_rate = 0.1});
  check_training(tg::adam{.learning_rate = 0.1});
  check_training(tg::rmsprop{.learning_rate = 0.1});
}

TEST_CASE("sums of rows, whatever a program knows of their lengths") {
  constexpr auto short_rows = tg::placeholder<"short", float, tg::dyn, 16>();
  constexpr auto columns = tg::placeholder<"columns", float, tg::dyn, 16, tg::dyn>();
  constexpr auto one_column = tg::placeholder<"one", float, tg::dyn, 3, 1>();
  constexpr auto any_rows = tg::placeholder<"any", float, tg::dyn, tg::dyn>();
  constexpr auto long_rows = tg::placeholder<"long", float, tg::dyn, 40>();
  const auto a = tg::sum<1>(short_rows);
  const auto b = tg::sum<1>(any_rows);
  const auto c = tg::sum<1>(long_rows);
  const auto d = tg::sum<1>(columns);
  const auto e = tg::sum<1>(one_column);
  const auto program = tg::compile([=] { return tg::outputs(a, b, c, d, e); });
  tg::session one(program);
  tg::session two(reread(tg::any_program(program, {"a", "b", "c", "d", "e"})));
  for (const tg::extent n : {1, 2, 31}) {
    const auto in = some({70, 16}, 1), any = some({70, n}, 2), wide = some({70, 40}, 3), of = some({70, 16, n}, 4);
    const auto few = some({70, 3, 1}, 5);
    const auto x1 = one.run(tg::fetch(a, b, c, d, e), short_rows = in, any_rows = any, long_rows = wide, columns = of,
                            one_column = few);
    const auto x2 = two.run({"a", "b", "c", "d", "e"}, feed_to("short", in), feed_to("any", any), feed_to("long", wide),
                            feed_to("columns", of), feed_to("one", few));
    CHECK(are_same(std::get<0>(x1), x2[0]));
    CHECK(are_same(std::get<1>(x1), x2[1]));
    CHECK(are_same(std::get<2>(x1), x2[2]));
    CHECK(are_same(std::get<3>(x1), x2[3]));
    CHECK(are_same(std::get<4>(x1), x2[4]));
  }
}

TEST_CASE("images and sequences") {
  constexpr auto images = tg::placeholder<"images", float, tg::dyn, 8, 8, 1>();
  constexpr auto series = tg::placeholder<"series", float, tg::dyn, 5, 3>();
  constexpr auto keep = tg::placeholder<"keep", bool, tg::dyn>();
  const auto maps = tg::max_pool<2>(tg::conv2d<"conv", 4, 3>(images, tg::relu));
  const auto cost = tg::mean(tg::sparse_softmax_cross_entropy(tg::dense<"top", 4>(tg::flatten(maps)), labels));
  const auto learn = tg::minimize(cost, tg::momentum{.learning_rate = 0.1});
  const auto cells = tg::lstm<"cells", 6>(tg::boolean_mask(series, keep));
  const auto loss = tg::mean(tg::square(tg::dense<"last", 2>(cells) - 1.0f));
  const auto train = tg::minimize(loss, tg::adam{.learning_rate = 0.05});
  const auto program = tg::compile([=] { return tg::outputs(cost, learn, loss, train); });
  const tg::any_program data = reread(tg::any_program(program, {"cost", "learn", "loss", "train"}));
  for (const int threads : {1, 3}) {
    tg::session one(program, {.seed = 3, .intra_op_threads = threads, .inter_op_threads = threads});
    tg::session two(data, {.seed = 3, .intra_op_threads = threads, .inter_op_threads = threads});
    for (int i = 0; i < 8; ++i) {
      const tg::extent n = 2 + i % 3;
      const auto pictures = some({n, 8, 8, 1}, i), lines = some({n, 5, 3}, i);
      tg::tensor<int> of({n});
      tg::tensor<bool> chosen({n});
      for (tg::extent k = 0; k < n; ++k) of[k] = static_cast<int>(k + i) % 4, chosen[k] = (k + i) % 2 == 0 || k == 0;
      const auto a = one.run(tg::fetch(cost, learn), images = pictures, labels = of);
      const auto b = two.run({"cost", "learn"}, feed_to("images", pictures), feed_to("labels", of));
      REQUIRE(are_same(std::get<0>(a), b[0]));
      const auto c = one.run(tg::fetch(loss, train), series = lines, keep = chosen);
      const auto d = two.run({"loss", "train"}, feed_to("series", lines), feed_to("keep", chosen));
      REQUIRE(are_same(std::get<0>(c), d[0]));
    }
  }
}

/// Loops of several operations, with what they read stretched in all ways.
template <class T>
void check_loops() {
  constexpr auto a = tg::placeholder<"a", T, tg::dyn, tg::dyn>();
  constexpr auto row = tg::placeholder<"row", T, tg::dyn>();
  constexpr auto column = tg::placeholder<"column", T, tg::dyn, 1>();
  constexpr auto one = tg::placeholder<"one", T>();
  const auto chain = tg::maximum(a * row + column, one) - a * T(3) + tg::select(a > column, row, a);
  const auto wide = tg::cast<double>(chain) * 0.3 + tg::cast<double>(a);
  const auto narrow = tg::cast<tg::float16>(wide) * tg::cast<tg::float16>(column) + tg::cast<tg::float16>(one);
  const auto brain = tg::cast<tg::bfloat16>(narrow) - tg::cast<tg::bfloat16>(tg::cast<float>(wide) * 1.3f);
  const auto whole = tg::cast<std::int8_t>(tg::cast<int>(brain) + tg::cast<int>(tg::logical_not(a > row)));
  const auto program = tg::compile([=] { return tg::outputs(chain, wide, narrow, brain, whole); });
  const tg::any_program data = reread(tg::any_program(program, {"chain", "wide", "narrow", "brain", "whole"}));
  for (const int threads : {1, 3}) {
    tg::session compiled(program, {.intra_op_threads = threads});
    tg::session read(data, {.intra_op_threads = threads});
    int seed = 0;
    for (const tg::shape& dims :
         {tg::shape{1, 1}, {0, 5}, {3, 1}, {1, 7}, {5, 1031}, {513, 3}, {300, 511}, {2, 90000}}) {
      const auto of = [&](const tg::shape& s) {
        tg::tensor<T> t(s);
        for (tg::extent i = 0; i < s.elements(); ++i)
          t[i] = static_cast<T>(static_cast<float>((i * 37 + seed * 11) % 23));
        ++seed;
        return t;
      };
      const auto p = of(dims), q = of({dims[1]}), r = of({dims[0], 1});
      const auto wanted =
          compiled.run(tg::fetch(chain, wide, narrow, brain, whole), a = p, row = q, column = r, one = T(2));
      const auto got = read.run({"chain", "wide", "narrow", "brain", "whole"}, feed_to("a", p), feed_to("row", q),
                                feed_to("column", r), feed_to("one", T(2)));
      INFO(tg::to_string(tg::dtype_of<T>) << " " << tg::to_string(dims));
      CHECK(are_same(std::get<0>(wanted), got[0]));
      CHECK(are_same(std::get<1>(wanted), got[1]));
      CHECK(are_same(std::get<2>(wanted), got[2]));
      CHECK(are_same(std::get<3>(wanted), got[3]));
      CHECK(are_same(std::get<4>(wanted), got[4]));
    }
  }
}

TEST_CASE("interpreted loops give the bytes of compiled ones") {
  check_loops<float>();
  check_loops<double>();
  check_loops<tg::float16>();
  check_loops<int>();
  check_loops<std::uint8_t>();
}

template <int Seed>
void check_random() {
  constexpr auto a = tg::placeholder<"a", double, 3>();
  constexpr auto b = tg::placeholder<"b", double, 3>();
  const auto y = random_function<Seed, 2, 1, true>(a, b) + w * (a + b);
  const auto slope = tg::gradient(tg::sum(y), a);
  const auto program = tg::compile([=] { return tg::outputs(y, slope); });
  tg::session one(program);
  tg::session two(reread(tg::any_program(program, {"y", "slope"})));
  for (int i = 0; i < 10; ++i) {
    const auto p = numbers({3}, i), q = numbers({3}, 3.0 + i);
    const auto wanted = one.run(tg::fetch(y, slope), a = p, b = q, w = 0.3 * i);
    const auto got = two.run({"y", "slope"}, feed_to("a", p), feed_to("b", q), feed_to("w", 0.3 * i));
    REQUIRE(are_same(std::get<0>(wanted), got[0]));
    REQUIRE(are_same(std::get<1>(wanted), got[1]));
  }
}

TEST_CASE("random functions with loops and branches") {
  check_random<1>();
  check_random<2>();
  check_random<3>();
  check_random<5>();
  check_random<8>();
}

TEST_CASE("several devices, random numbers, and what is carried") {
  const auto v = tg::variable<"v", float, 8, 4>(tg::truncated_normal(0.5));
  const auto there = tg::on<"/device:CPU:1">([](const auto& in, const auto& k) { return tg::matmul(in, k); })(x, v);
  const auto noise = tg::random_normal<float, 4>() * 0.25f;
  const auto sum = tg::sum(tg::dropout(there + noise, 0.5f));
  const auto update = tg::assign_add(v, tg::ones_like(v) * sum);
  const auto program = tg::compile([=] { return tg::outputs(sum, update); });
  tg::session one(program, {.seed = 7, .cpu_devices = 2});
  tg::session two(reread(tg::any_program(program, {"sum", "update"})), {.seed = 7, .cpu_devices = 2});
  for (int i = 0; i < 5; ++i) {
    const auto in = some({3, 8}, i);
    const auto wanted = one.run(tg::fetch(sum, update), x = in);
    const auto got = two.run({"sum", "update"}, feed_to("x", in));
    REQUIRE(are_same(std::get<0>(wanted), got[0]));
    REQUIRE(are_same(std::get<1>(wanted), got[1]));
  }
  CHECK(code_of([&] { tg::session(tg::any_program(program)); }) == status_code::invalid_argument);
}

TEST_CASE("files and containers are those of compiled programs") {
  const auto loss = tg::mean(tg::square(tg::dense<"layer", 3>(x)));
  const auto train = tg::minimize(loss, tg::adam{.learning_rate = 0.1});
  const auto program = tg::compile([=] { return tg::outputs(loss, train); });
  const tg::any_program data(program, {"loss", "train"});
  const tg::test::temporary_directory folder;
  const std::string file = folder / "weights.safetensors";
  const auto in = some({4, 8}, 1);
  tg::session compiled(program, {.seed = 3});
  tg::session first(data, {.seed = 3});
  for (int i = 0; i < 3; ++i) compiled.run(train, x = in), first.run("train", feed_to("x", in));
  tg::save(first, file);
  tg::session second(data, {.seed = 9});
  tg::restore(second, file);
  tg::session third(program, {.seed = 11});
  tg::restore(third, file);
  CHECK(are_same(compiled.run(loss, x = in), second.run("loss", feed_to("x", in))));
  CHECK(compiled.run(loss, x = in) == third.run(loss, x = in));

  const tg::container shared;
  tg::session trainer(program, {.seed = 3, .state = shared});
  tg::session watcher(data, {.state = shared});
  trainer.run(train, x = in);
  CHECK(are_same(trainer.run(loss, x = in), watcher.run("loss", feed_to("x", in))));

  tg::trace timeline;
  watcher.run("loss", feed_to("x", in), tg::trace_to(timeline));
  CHECK(timeline.json().find("matmul") != std::string::npos);
}

TEST_CASE("two threads ask for plans at once") {
  const auto sum = tg::sum(x);
  const auto product = tg::reduce_max(x * 2.0f);
  tg::session session(tg::any_program(tg::compile([=] { return tg::outputs(sum, product); }), {"sum", "product"}));
  const auto in = some({4, 8}, 1);
  const auto look = [&](int turn) {
    for (int i = 0; i < 200; ++i) {
      if ((i + turn) % 3 != 0) (void)session.run("sum", feed_to("x", in));
      if ((i + turn) % 3 != 1) (void)session.run({"product", "sum"}, feed_to("x", in));
    }
  };
  std::thread other([&] { look(1); });
  look(0);
  other.join();
  CHECK(session.run("product", feed_to("x", in)).value<float>() > 0);
}

TEST_CASE("what is fed and fetched by name") {
  const auto twice = x * 2.0f;
  const auto end = tg::sum(tg::square(twice) + 1.0f);
  const auto v = tg::variable<"v", float>(tg::ones);
  const auto up = tg::assign_add(v, end);
  const auto program = tg::compile([=] { return tg::outputs(twice, end, v, up); });
  const tg::any_program data(program);
  CHECK(data.outputs() == std::vector<std::string>{"output_0", "output_1", "v", "output_3"});
  tg::session session(data);
  const auto in = some({2, 8}, 1);
  const auto all = session.run({"output_0", "output_1"}, feed_to("x", in));
  CHECK(are_same(all[1].value<float>(), session.run("output_1", feed_to("output_0", all[0]))));
  const std::vector<tg::output_name> wanted{std::string_view("output_0"), std::string_view("output_1")};
  const auto listed = session.run(wanted, std::vector{feed_to("x", in)}, tg::timeout(std::chrono::seconds(60)));
  CHECK(listed[0].dims() == all[0].dims());
  CHECK(listed[1].value<float>() == all[1].value<float>());
  CHECK(session.run("v").value<float>() == 1);
  const float after = session.run("output_3", feed_to("output_1", 2.5f)).value<float>();
  CHECK(after == 3.5f);

  const auto text_of = [](const auto& f) { return std::string(thrown(f).what()); };
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != text.npos; };
  CHECK(
      has(text_of([&] { session.run("loss"); }), "TAGMA-E050 run: what is fetched is no output of this program: loss"));
  CHECK(has(text_of([&] { session.run("output_1"); }),
            "TAGMA-E051 run: a placeholder that this fetch needs is not fed: x"));
  CHECK(has(text_of([&] { session.run("output_1", feed_to("x", 1)); }), "TAGMA-E052"));
  CHECK(has(text_of([&] { session.run("v", feed_to("z", 1.0f)); }), "TAGMA-E054"));
  CHECK(has(text_of([&] { session.run("v", feed_to("output_3", 1.0f)); }), "TAGMA-E149"));
  CHECK(has(text_of([&] { session.run("output_1", feed_to("x", in), feed_to("x", in)); }), "TAGMA-E151"));
  CHECK(has(text_of([&] { session.run("output_1", feed_to("x", some({2, 7}, 1))); }), "does not fit [?, 8]"));
  CHECK(has(text_of([&] { session.run("output_1", feed_to("x", some({2, 7}, 1))); }), "any_session.cpp:"));
  CHECK(code_of([&] { session.run(std::vector<tg::output_name>{}); }) == status_code::invalid_argument);
  const std::vector<tg::named_feed> no_feeds;
  CHECK(has(text_of([&] { session.run(std::vector<tg::output_name>{}, no_feeds); }), "TAGMA-E174"));
  CHECK(has(text_of([&] { session.run(wanted, no_feeds); }), "TAGMA-E051"));
  CHECK(code_of([&] { tg::any_program(program, {"a", "b"}); }) == status_code::invalid_argument);
  CHECK(code_of([&] { tg::any_program(program, {"a", "b", "c", "a"}); }) == status_code::invalid_argument);
  CHECK(session.run("v", tg::timeout(std::chrono::seconds(60))).value<float>() == 3.5f);
  session.close();
  CHECK(code_of([&] { session.run("v"); }) == status_code::cancelled);
}

TEST_CASE("one of several results is fed by its name") {
  const auto parts = tg::moments(x);
  const auto mean = std::get<0>(parts);
  const auto variance = std::get<1>(parts);
  const auto both = mean + variance;
  tg::session session(tg::any_program(tg::compile([=] { return tg::outputs(mean, both); }), {"mean", "both"}));
  const auto in = some({2, 8}, 1);
  const float m = session.run("mean", feed_to("x", in)).value<float>();
  const float all = session.run("both", feed_to("x", in)).value<float>();
  CHECK(session.run("both", feed_to("x", in), feed_to("mean", 10.0f)).value<float>() == Approx(all - m + 10.0f));
}

}  // namespace
