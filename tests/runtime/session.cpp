// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/session.hpp"

#include <dlfcn.h>
#include <malloc.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <new>
#include <string_view>
#include <thread>
#include <vector>

#include "support/errors.hpp"
#include "support/latches.hpp"
#include "support/sanitizers.hpp"
#include "tagma/filter.hpp"

using tagma::test::code_of;

#define HAS_OPERATORS_OF_ITS_OWN (HAS_ADDRESS_SANITIZER || HAS_THREAD_SANITIZER)

namespace {

std::atomic<std::size_t> allocations{0};
std::atomic<bool> counting{false};

#if HAS_OPERATORS_OF_ITS_OWN
constexpr bool counts = false;  // the sanitiser has operators of its own
#else
constexpr bool counts = true;

/// Primitives of oneDNN take a few small blocks from the heap whenever they are executed; nothing can be done about
/// that from outside.
bool is_onednn(const void* code) {
  Dl_info where{};
  return dladdr(code, &where) != 0 && std::string_view(where.dli_fname).find("libdnnl") != std::string_view::npos;
}

/// Bytes of blocks that are large, and how many there may be.
constexpr std::int64_t large = 200 << 10;
std::atomic<std::int64_t> large_bytes{0}, most_large_bytes{INT64_MAX};

void* counted(std::size_t size, std::size_t alignment, const void* caller) {
  if (counting.load(std::memory_order_relaxed) && !is_onednn(caller))
    allocations.fetch_add(1, std::memory_order_relaxed);
  void* p = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (p == nullptr) throw std::bad_alloc();
  const auto has = static_cast<std::int64_t>(malloc_usable_size(p));
  if (has >= large && large_bytes.fetch_add(has) + has > most_large_bytes) {
    large_bytes.fetch_sub(has);
    std::free(p);
    throw std::bad_alloc();
  }
  return p;
}
void give_back(void* p) {
  const auto has = static_cast<std::int64_t>(malloc_usable_size(p));
  if (has >= large) large_bytes.fetch_sub(has);
  std::free(p);
}
#endif

}  // namespace

#if !HAS_OPERATORS_OF_ITS_OWN
// Counts what the whole test program takes from the heap. Inlined, new and free look like strangers to the compiler.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void* operator new(std::size_t size) { return counted(size, alignof(std::max_align_t), __builtin_return_address(0)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment), __builtin_return_address(0));
}
void operator delete(void* p) noexcept { give_back(p); }
void operator delete(void* p, std::size_t) noexcept { give_back(p); }
void operator delete(void* p, std::align_val_t) noexcept { give_back(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { give_back(p); }
#endif

namespace {

namespace tg = tagma;
using namespace std::chrono_literals;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();
constexpr auto y = tg::placeholder<"y", std::uint8_t, tg::dyn>();
constexpr auto v = tg::placeholder<"v", float, 3>();
constexpr auto w = tg::variable<"w", float, 3>(tg::ones);

tg::tensor<float> three(float a, float b, float c) { return {tg::shape{3}, {a, b, c}}; }
std::vector<float> list(const tg::tensor<float>& t) { return {t.span().begin(), t.span().end()}; }
using floats = std::vector<float>;

TEST_CASE("reads see the value before the updates of a run, and what waits sees the value behind them") {
  const auto update = tg::assign_add(w, v);
  const auto old_sum = tg::sum(w);
  const auto old_through_view = tg::matmul(tg::reshape<1, 3>(w), tg::reshape<3, 1>(w));
  const auto new_sum = tg::sum(update);
  const auto waiting = tg::after(update)(tg::sum(w));
  const auto half_waiting = tg::after(update)(tg::sum(tg::square(w)));  // the sum waits, the square does not
  const auto mixed = tg::exp(w - w) + update;
  const auto second = tg::assign(w, 10.0f * v);
  const auto nothing = tg::group(update, second);
  tg::session session(tg::compile([=] {
    return tg::outputs(update, old_sum, old_through_view, new_sum, waiting, half_waiting, mixed, second, nothing, w);
  }));

  {
    auto [a, b, c, d, e, f] =
        session.run(tg::fetch(old_sum, old_through_view, new_sum, mixed, w, update), v = three(1, 2, 3));
    CHECK(a == 3);
    CHECK(b(0, 0) == 3);
    CHECK(c == 9);
    CHECK(list(d) == floats{3, 4, 5});
    CHECK(list(e) == floats{1, 1, 1});
    CHECK(list(f) == floats{2, 3, 4});
  }
  CHECK(list(session.run(w)) == floats{2, 3, 4});
  {
    auto [a, b, c] = session.run(tg::fetch(waiting, old_sum, half_waiting), v = three(1, 1, 1));
    CHECK(a == 3 + 4 + 5);
    CHECK(b == 9);
    CHECK(c == 4 + 9 + 16);
  }
  {
    auto [first, last, sum] = session.run(tg::fetch(update, second, new_sum), v = three(1, 0, 0));
    CHECK(list(first) == floats{4, 4, 5});
    CHECK(list(last) == floats{10, 0, 0});
    CHECK(sum == 13);
  }
  session.run(nothing, v = three(2, 2, 2));
  CHECK(list(session.run(w)) == floats{20, 20, 20});
}

TEST_CASE("what folds away, and what is composed of others, reads variables as other operations do") {
  const auto one = tg::variable<"one", float>(tg::ones);
  constexpr auto step = tg::placeholder<"step", float>();
  const auto update = tg::assign_add(one, step);
  const auto before = tg::after(update)(tg::sum(one) * step);  // a sum of one element is that element
  const auto behind = tg::after(update)(tg::mean(one));
  const auto many = tg::assign_add(w, v);
  const auto average = tg::after(many)(tg::mean(w));
  const auto slope = tg::gradient(tg::after(update)(tg::mean(step)) * 3.0f, step);
  tg::session session(tg::compile([=] { return tg::outputs(before, behind, average, slope); }));
  CHECK(session.run(before, step = 2.0f) == 2);  // 1 * 2, and one is 3
  CHECK(session.run(behind, step = 2.0f) == 5);
  CHECK(session.run(average, v = three(1, 2, 3)) == 3);
  CHECK(session.run(slope, step = 2.0f) == 3);
}

TEST_CASE("two equal updates are two, in their order, and many of one variable go together") {
  const auto a = tg::assign_add(w, v);
  const auto b = tg::assign_add(w, v);
  const auto c = tg::assign(w, 2.0f * w);  // reads the value before the run
  const auto d = tg::assign_add(w, v);
  const auto e = tg::assign_sub(w, 3.0f * v);
  const auto all = tg::group(a, b, d, e);
  tg::session session(tg::compile([=] { return tg::outputs(all, c, w); }));
  session.run(all, v = three(1, 2, 3));
  CHECK(list(session.run(w)) == floats{1, 1, 1});
  session.run(c);
  CHECK(list(session.run(w)) == floats{2, 2, 2});
}

TEST_CASE("an output that is written again is the same output, also with a number in it") {
  const auto scaled = 2.0f * v;
  const auto other = 2.0f * v;  // another number
  const auto total = tg::sum(scaled);
  const auto deep = tg::sqrt(tg::sum(tg::square(scaled)) + tg::sum(scaled));
  const auto noise = tg::sum(tg::random_uniform<float, 3>() * scaled);
  const auto begun = tg::variable<"begun", float, 3>(1.0f);
  const auto of_begun = tg::mean(begun);
  tg::session session(tg::compile([=] { return tg::outputs(total, deep, noise, of_begun); }));
  CHECK(session.run(tg::sum(scaled), v = three(1, 2, 3)) == 12);
  CHECK(session.run(tg::sqrt(tg::sum(tg::square(scaled)) + tg::sum(scaled)), v = three(1, 2, 2)) ==
        Approx(std::sqrt(46.0)));
  CHECK(session.run(tg::fetch(total, tg::sum(scaled)), v = three(1, 0, 0)) == std::tuple(2.0f, 2.0f));
  CHECK(session.run(tg::mean(tg::variable<"begun", float, 3>(1.0f))) == 1);

  const auto program = tg::compile([=] { return tg::outputs(total, noise); });
  const auto position = [&](const auto& e) {
    using graph = typename std::remove_cvref_t<decltype(program)>::graph;
    return graph::traits::template position<typename std::remove_cvref_t<decltype(e)>::id>();
  };
  CHECK(position(total) == 0);
  CHECK(position(tg::sum(scaled)) == 0);
  CHECK(position(tg::sum(other)) == -1);
  CHECK(position(tg::mean(scaled)) == -1);
  CHECK(position(tg::sum(tg::random_uniform<float, 3>() * scaled)) == -1);
}

TEST_CASE("2x + 3x is 5x") {
  const auto sum = 2.0f * v + 3.0f * v;
  tg::session session(tg::compile([=] { return tg::outputs(sum); }));
  CHECK(list(session.run(sum, v = three(1, -2, 0.5f))) == floats{5, -10, 2.5f});
}

TEST_CASE("extents that do not fit are refused by name, and the session goes on") {
  const auto n = tg::placeholder<"n", float, tg::dyn>();
  const auto m = tg::placeholder<"m", float, tg::dyn>();
  const auto rows = tg::sum<1>(x);
  const auto stretched = n + w;  // the extent of n must be 3, and 1 does not stretch
  const auto both = n * m;
  tg::session session(tg::compile([=] { return tg::outputs(rows, stretched, both); }));

  CHECK_THROWS_WITH(
      session.run(rows, x = tg::tensor<float>(tg::shape{2, 5})),
      Catch::StartsWith("InvalidArgument: feed of placeholder 'x' has shape [2, 5], which does not fit [?, 4]"));
  CHECK_THROWS_WITH(session.run(rows, x = tg::tensor<float>(tg::shape{8})), Catch::Contains("'x' has shape [8]"));
  for (const tg::extent count : {1, 2, 4}) {
    CHECK_THROWS_WITH(session.run(stretched, n = tg::tensor<float>(tg::shape{count})),
                      Catch::Contains("InvalidArgument: add #") &&
                          Catch::Contains("float32 [" + std::to_string(count) + "]") && Catch::Contains("float32 [3]"));
  }
  CHECK_THROWS_WITH(session.run(both, n = tg::tensor<float>(tg::shape{1}), m = tg::tensor<float>(tg::shape{5})),
                    Catch::Contains("float32 [1] and float32 [5]"));
  CHECK(list(session.run(stretched, n = three(1, 2, 3))) == floats{2, 3, 4});
  CHECK(session.run(rows, x = tg::tensor<float>(tg::shape{0, 4})).dims() == tg::shape{0});
  CHECK(list(session.run(both, n = three(1, 2, 3), m = three(4, 5, 6))) == floats{4, 10, 18});
}

TEST_CASE("an error of a kernel names the operation and what it was given, and the session goes on") {
  const auto logits = tg::placeholder<"logits", float, tg::dyn, 3>();
  const auto entropy = tg::sparse_softmax_cross_entropy(logits, y);
  const auto update = tg::assign_add(w, v);
  tg::session session(tg::compile([=] { return tg::outputs(entropy, update); }));
  const tg::tensor<float> two_rows(tg::shape{2, 3});
  const tg::tensor<std::uint8_t> good(tg::shape{2}, {0, 2}), bad(tg::shape{2}, {0, 3});
  CHECK_THROWS_WITH(session.run(entropy, logits = two_rows, y = bad),
                    Catch::StartsWith("OutOfRange: sparse_softmax_cross_entropy #") &&
                        Catch::Contains("/device:CPU:0") && Catch::Contains("float32 [2, 3] and uint8 [2]") &&
                        Catch::Contains("label 3 of row 1 is not below the number of classes, 3"));
  CHECK(code_of([&] { session.run(entropy, logits = two_rows, y = bad); }) == tg::status_code::out_of_range);
  CHECK(session.run(entropy, logits = two_rows, y = good)[0] == Approx(std::log(3.0)));
  CHECK(list(session.run(update, v = three(1, 1, 1))) == floats{2, 2, 2});
}

TEST_CASE("plain ranges, numbers, strings and views are fed as they are") {
  const auto number = tg::placeholder<"number", double>();
  const auto word = tg::placeholder<"word", std::string_view>();
  const auto doubled = number + number;
  const auto rows = tg::sum<1>(x);
  tg::session session(tg::compile([=] { return tg::outputs(doubled, word, rows); }));
  CHECK(session.run(doubled, number = 2.5) == 5);
  CHECK(session.run(word, word = std::string("tagma")) == "tagma");
  CHECK(session.run(word, word = "letters") == "letters");
  const std::vector<float> eight{1, 2, 3, 4, 5, 6, 7, 8};
  CHECK(list(session.run(rows, x = eight)) == floats{10, 26});
  const auto seven = [&] { (void)session.run(rows, x = std::vector<float>(7)); };
  const std::string here = "session.cpp:" + std::to_string(__LINE__ - 1);
  CHECK_THROWS_WITH(seven(),
                    Catch::StartsWith("InvalidArgument: feed of placeholder 'x' is a range of 7 elements, which does "
                                      "not fit [?, 4] (run at ") &&
                        Catch::Contains(here));
}

TEST_CASE("a run ends when its time is over or it is cancelled, and the session goes on") {
  const auto update = tg::assign_add(w, v);
  tg::session session(tg::compile([=] { return tg::outputs(update); }));
  const auto one = three(1, 1, 1);
  CHECK(code_of([&] { session.run(update, v = one, tg::timeout(0ns)); }) == tg::status_code::deadline_exceeded);
  tg::cancellation stop;
  CHECK_NOTHROW(session.run(update, v = one, tg::stop_with(stop)));
  stop.cancel();
  CHECK(code_of([&] { session.run(update, v = one, tg::stop_with(stop)); }) == tg::status_code::cancelled);
  stop.reset();
  CHECK(list(session.run(update, v = one, tg::stop_with(stop), tg::timeout(1h))) == floats{3, 3, 3});
}

TEST_CASE("a run takes any number of feeds and limits, in any order") {
  constexpr auto a = tg::placeholder<"a", float>();
  constexpr auto b = tg::placeholder<"b", float>();
  constexpr auto c = tg::placeholder<"c", float>();
  constexpr auto d = tg::placeholder<"d", float>();
  constexpr auto e = tg::placeholder<"e", float>();
  constexpr auto f = tg::placeholder<"f", float>();
  constexpr auto g = tg::placeholder<"g", float>();
  constexpr auto h = tg::placeholder<"h", float>();
  constexpr auto i = tg::placeholder<"i", float>();
  const auto sum = a + b + c + d + e + f + g + h + i;
  const auto product = a * b * c;
  tg::session session(tg::compile([=] { return tg::outputs(sum, product); }));
  tg::cancellation first, second;
  const auto run = [&] {
    return session.run(tg::fetch(sum, product), tg::stop_with(first), a = 1.f, b = 2.f, c = 3.f, tg::timeout(1h),
                       d = 4.f, e = 5.f, f = 6.f, tg::no_timeout(), g = 7.f, h = 8.f, i = 9.f, tg::stop_with(second),
                       tg::timeout(2h), tg::on_caller_thread());
  };
  CHECK(run() == std::tuple(45.f, 6.f));
  for (tg::cancellation* stop : {&first, &second}) {
    stop->cancel();
    CHECK(code_of(run) == tg::status_code::cancelled);
    stop->reset();
    CHECK(run() == std::tuple(45.f, 6.f));
  }
  const auto late = [&](const auto&... limits) {
    return code_of([&] { session.run(product, limits..., a = 1.f, b = 2.f, c = 3.f); });
  };
  CHECK(late(tg::timeout(0ns), tg::timeout(1h)) == tg::status_code::deadline_exceeded);
  CHECK(late(tg::timeout(1h), tg::timeout(0ns)) == tg::status_code::deadline_exceeded);
  CHECK(late(tg::no_timeout(), tg::timeout(0ns)) == tg::status_code::deadline_exceeded);
  CHECK(late(tg::timeout(0ns), tg::no_timeout()) == tg::status_code::deadline_exceeded);
  CHECK(late(tg::timeout(1h), tg::no_timeout()) == tg::status_code::ok);
  const auto two = [&] { session.run(product, a = 1.f, b = 2.f, c = 3.f, tg::on_caller_thread(), tg::on_pool(0)); };
  const std::string here = "session.cpp:" + std::to_string(__LINE__ - 1);
  CHECK_THROWS_WITH(two(), Catch::StartsWith("InvalidArgument: a run is given two pools") && Catch::Contains(here));
  tg::session hurried(tg::compile([=] { return tg::outputs(product); }), {.operation_timeout = 1ns});
  CHECK(code_of([&] { hurried.run(product, a = 1.f, b = 2.f, c = 3.f); }) == tg::status_code::deadline_exceeded);
  CHECK(hurried.run(product, a = 1.f, tg::no_timeout(), b = 2.f, c = 3.f) == 6);
  CHECK(hurried.run(product, a = 1.f, tg::no_timeout(), b = 2.f, tg::timeout(1h), c = 3.f) == 6);
}

TEST_CASE("a variable that nothing has initialised is not read") {
  const auto sum = tg::sum(w);
  const auto set = tg::assign(w, v);
  tg::session session(tg::compile([=] { return tg::outputs(sum, set); }), {.initialize = false});
  CHECK_THROWS_WITH(session.run(sum),
                    Catch::StartsWith("FailedPrecondition: attempting to use uninitialized variable 'w'"));
  session.run(set, v = three(1, 2, 3));  // would wait for ever if the run that failed still held the gate
  CHECK(session.run(sum) == 6);
}

TEST_CASE("equal seeds begin with equal bytes, whatever else the program holds") {
  const auto a = tg::variable<"a", float, 50, 40>(tg::glorot_uniform);
  const auto b = tg::variable<"b", float, 50, 40>(tg::glorot_uniform);
  tg::session one(tg::compile([=] { return tg::outputs(a); }), {.seed = 7});
  tg::session two(tg::compile([=] { return tg::outputs(b, a); }), {.seed = 7});
  tg::session other(tg::compile([=] { return tg::outputs(a); }), {.seed = 8});
  const auto first = one.run(a);
  CHECK(list(first) == list(two.run(a)));
  CHECK(list(first) != list(two.run(b)));
  CHECK(list(first) != list(other.run(a)));
  const float bound = std::sqrt(6.0f / 90);
  for (const float value : first.span()) CHECK(std::abs(value) <= bound);
}

// A network whose kernels are large enough to be shared by threads.
constexpr auto images = tg::placeholder<"images", float, tg::dyn, 200>();
constexpr auto labels = tg::placeholder<"labels", std::uint8_t, tg::dyn>();
constexpr auto kernel = tg::variable<"kernel", float, 200, 300>(tg::glorot_uniform);
constexpr auto out_kernel = tg::variable<"out", float, 300, 10>(tg::glorot_uniform);
constexpr auto hidden = tg::tanh(tg::matmul(images, kernel));
constexpr auto loss = tg::mean(tg::sparse_softmax_cross_entropy(tg::matmul(hidden, out_kernel), labels));
constexpr auto network = [] {
  return tg::outputs(loss,
                     tg::group(tg::assign_sub(kernel, tg::gradient(loss, kernel)),
                               tg::assign_sub(out_kernel, tg::gradient(loss, out_kernel))),
                     kernel);
};
constexpr auto train = std::get<1>(network().handles);

tg::tensor<float> some_images(tg::extent rows) {
  tg::tensor<float> t(tg::shape{rows, 200});
  for (tg::extent i = 0; i < rows * 200; ++i) t[i] = static_cast<float>((i * 7919) % 1000) / 1000 - 0.5f;
  return t;
}
tg::tensor<std::uint8_t> some_labels(tg::extent rows) {
  tg::tensor<std::uint8_t> t(tg::shape{rows});
  for (tg::extent i = 0; i < rows; ++i) t[i] = static_cast<std::uint8_t>((i * 7) % 10);
  return t;
}

TEST_CASE("one, two and four threads compute the same bytes") {
  const auto in = some_images(700);
  const auto expected = some_labels(700);
  const auto trained = [&](int threads) {
    tg::session session(tg::compile(network), {.seed = 1, .intra_op_threads = threads});
    for (int i = 0; i < 3; ++i) session.run(train, images = in, labels = expected);
    return list(session.run(kernel));
  };
  const auto alone = trained(1);
  CHECK(alone == trained(2));
  CHECK(alone == trained(4));
}

TEST_CASE("from its second run on, a step of training takes nothing from the heap") {
  tg::session session(tg::compile(network), {.seed = 1, .intra_op_threads = 2});
  const auto in = some_images(64), fewer = some_images(16);
  const auto expected = some_labels(64), fewer_expected = some_labels(16);
  const float before = session.run(loss, images = in, labels = expected);
  for (int i = 0; i < 2; ++i) {
    session.run(train, images = in, labels = expected);
    session.run(train, images = fewer, labels = fewer_expected);
    session.run(loss, images = in, labels = expected);
  }
  counting = true;
  ::operator delete(::operator new(1));
  const std::size_t noticed = allocations.exchange(0);
  float after = 0;
  for (int i = 0; i < 10; ++i) {
    session.run(train, images = in, labels = expected);
    session.run(train, images = fewer, labels = fewer_expected);
    after = session.run(loss, images = in, labels = expected);
  }
  counting = false;
  CHECK(noticed == (counts ? 1 : 0));
  CHECK(allocations.load() == 0);
  CHECK(after < before);
}

TEST_CASE("plans that are idle go before a run fails for memory") {
#if !HAS_OPERATORS_OF_ITS_OWN
  constexpr auto in = tg::placeholder<"in", float, tg::dyn, 16>();
  const auto out = tg::sum<1>(tg::relu(tg::dense<"hidden", 256>(in)));
  const auto program = tg::compile([=] { return tg::outputs(out); });
  const auto run_all_rows = [&](auto& session, bool up) {
    int failed = 0;
    for (tg::extent i = 0; i < 80; ++i) {
      const tg::extent rows = 300 + (up ? i : 79 - i) % 40;
      try {
        if (session.run(out, in = tg::tensor<float>(tg::shape{rows, 16})).size() != static_cast<std::size_t>(rows))
          ++failed;
      } catch (const std::exception&) {
        ++failed;
      }
    }
    return failed;
  };
  const auto capped = [&](std::int64_t bytes, auto action) {
    most_large_bytes = large_bytes + bytes;
    action();
    most_large_bytes = INT64_MAX;
  };
  tg::session session(program);
  capped(3 << 20, [&] {
    CHECK(run_all_rows(session, true) == 0);
    CHECK(session.core().arena_bytes() > (std::size_t{1} << 20));
  });
  // Two at once: first with room for both, then only for one at a time.
  for (const std::int64_t bytes : {3 << 20, 400 << 10})
    capped(bytes, [&] {
      tg::session shared(program, {.intra_op_threads = 1});
      std::atomic<int> failed{0};
      std::thread other([&] { failed += run_all_rows(shared, false); });
      failed += run_all_rows(shared, true);
      other.join();
      CHECK(failed == 0);
    });
  // What has no room alone fails, and the session goes on.
  capped(3 << 20, [&] {
    tg::session small(program);
    CHECK_THROWS(small.run(out, in = tg::tensor<float>(tg::shape{16'000, 16})));
    CHECK(run_all_rows(small, true) == 0);
  });
#endif
}

TEST_CASE("neither does a step that updates rows of a table") {
  constexpr auto ids = tg::placeholder<"ids", std::int32_t, tg::dyn>();
  const auto table = tg::variable<"table", float, 5000, 16>(tg::zeros);
  const auto error = tg::sum(tg::square(tg::embedding_lookup(table, ids) - 1.0f));
  const auto by_rows = tg::minimize(error, tg::adagrad{.learning_rate = 0.1});
  const auto by_all = tg::minimize(error, tg::adam{.learning_rate = 0.1});
  tg::session session(tg::compile([=] { return tg::outputs(error, by_rows, by_all); }), {.intra_op_threads = 2});
  tg::tensor<std::int32_t> many(tg::shape{20'000}), few(tg::shape{3}, {7, 4999, 7});
  for (tg::extent i = 0; i < 20'000; ++i) many[i] = static_cast<std::int32_t>(i * 7919 % 4000);
  const auto steps = [&] {
    session.run(by_rows, ids = many);
    session.run(by_all, ids = many);
    session.run(by_rows, ids = few);
    session.run(by_all, ids = few);
  };
  const float before = session.run(error, ids = many);
  for (int i = 0; i < 2; ++i) steps();
  counting = true;
  ::operator delete(::operator new(1));
  const std::size_t noticed = allocations.exchange(0);
  for (int i = 0; i < 5; ++i) steps();
  counting = false;
  CHECK(noticed == (counts ? 1 : 0));
  CHECK(allocations.load() == 0);
  CHECK(session.run(error, ids = many) < before);
}

TEST_CASE("nor does a run whose late extents were seen before") {
  constexpr auto rows = tg::placeholder<"rows", float, tg::dyn, 8>();
  constexpr auto chosen = tg::placeholder<"chosen", bool, tg::dyn>();
  const auto kept = tg::boolean_mask(rows, chosen);
  const auto features = tg::dense<"features", 6>(kept, tg::tanh);
  const auto again = tg::boolean_mask(features, tg::sum<-1>(features) > 0.0f);
  const auto ids = std::get<0>(tg::unique(tg::argmax(again)));
  const auto cost = tg::mean(tg::square(features)) + tg::sum(again) * 0.01f + tg::sum(tg::cast<float>(ids)) * 0.01f;
  const auto learn = tg::minimize(cost, tg::adam{.learning_rate = 0.01});
  tg::session session(tg::compile([=] { return tg::outputs(cost, learn); }), {.intra_op_threads = 2});
  tg::tensor<float> in(tg::shape{12, 8});
  for (tg::extent i = 0; i < 96; ++i) in.data()[i] = static_cast<float>(i % 19) / 19 - 0.5f;
  tg::tensor<bool> masks[4];
  for (tg::extent k = 0; k < 4; ++k) {
    masks[k] = tg::tensor<bool>(tg::shape{12});
    for (tg::extent i = 0; i < 12; ++i) masks[k].data()[i] = k == 3 || i % (k + 2) == 0;
  }
  const auto steps = [&] {
    for (const auto& mask : masks) {
      session.run(cost, rows = in, chosen = mask);
      session.run(learn, rows = in, chosen = mask);
    }
  };
  const std::size_t before_any = session.core().arena_bytes();
  const auto look = [&] {
    for (const auto& mask : masks) session.run(cost, rows = in, chosen = mask);
  };
  for (int i = 0; i < 5; ++i) steps();
  look();  // the second mask follows what was learnt
  counting = true;
  ::operator delete(::operator new(1));
  const std::size_t noticed = allocations.exchange(0);
  for (int i = 0; i < 3; ++i) look();
  counting = false;
  CHECK(noticed == (counts ? 1 : 0));
  CHECK(allocations.load() == 0);
  CHECK(session.core().arena_bytes() > before_any);
}

TEST_CASE("nor does a loop over rows that a kernel finds, once it has gone over as many") {
  constexpr auto rows = tg::placeholder<"rows", float, tg::dyn, 5, 3>();
  constexpr auto chosen = tg::placeholder<"chosen", bool, tg::dyn>();
  const auto cost = tg::mean(tg::square(tg::lstm<"cells", 6>(tg::boolean_mask(rows, chosen)) - 1.0f));
  const auto learn = tg::minimize(cost, tg::adam{.learning_rate = 0.05});
  const auto program = tg::compile([=] { return tg::outputs(learn); });
  tg::tensor<float> in({4, 5, 3});
  const tg::tensor<bool> masks[] = {tg::tensor<bool>({4}, {true, false, true, true}),
                                    tg::tensor<bool>({4}, {false, true, false, false})};
  for (const int threads : {1, 3}) {
    tg::session session(program, {.seed = 3, .intra_op_threads = threads, .inter_op_threads = threads});
    const auto steps = [&] {
      for (const auto& mask : masks) session.run(learn, rows = in, chosen = mask);
    };
    for (int i = 0; i < 5; ++i) steps();
    counting = true;
    ::operator delete(::operator new(1));
    const std::size_t noticed = allocations.exchange(0);
    for (int i = 0; i < 3; ++i) steps();
    counting = false;
    CHECK(noticed == (counts ? 1 : 0));
    CHECK(allocations.exchange(0) == 0);
  }
}

TEST_CASE("nor does a step of other types, whatever it needs to work with") {
  constexpr auto in = tg::placeholder<"in", double, 60, 5, 300>();
  const auto types = [](const auto& e) {
    const auto products = tg::matmul<false, true>(e, e);
    const auto flat = tg::matmul(tg::reshape<300, 300>(e), tg::reshape<300, 300>(e));
    return tg::cast<double>(tg::sum(tg::argmax<0>(tg::sum<0, 2>(products)))) +
           tg::cast<double>(tg::sum(tg::top_k<3>(flat).first) + tg::sum(tg::reduce_max<0, 2>(tg::softmax(e))));
  };
  const auto all = types(in) + types(tg::cast<tg::bfloat16>(in)) + types(tg::cast<tg::float16>(in));
  tg::session session(tg::compile([=] { return tg::outputs(all); }), {.intra_op_threads = 2});
  tg::tensor<double> values(tg::shape{60, 5, 300});
  for (tg::extent i = 0; i < values.dims().elements(); ++i) values[i] = static_cast<double>(i % 19) / 19;
  const double first = session.run(all, in = values);
  for (int i = 0; i < 3; ++i) session.run(all, in = values);
  allocations = 0;
  counting = true;
  const double again = session.run(all, in = values);
  counting = false;
  CHECK(allocations.exchange(0) == 0);
  CHECK(again == first);
}

TEST_CASE("nor does a run with steps that wait, nor one on a pool") {
  constexpr auto in = tg::placeholder<"in", float>();
  using namespace tg::test;
  const auto sum = apply<await_latch>(in) + apply<await_latch>(in) + apply<open_latch>(tg::exp(in)) + tg::sum(w);
  const auto program = tg::compile([=] { return tg::outputs(sum); });
  tg::session one(program, {.intra_op_threads = 1});
  tg::session two(program, {.intra_op_threads = 2});
  tg::session pooled(program, {.inter_op_pools = {{.threads = 1}}});
  tg::cancellation stop;
  const auto run = [&](auto& session) {
    reset();
    return session.run(sum, in = 0.0f, tg::timeout(1h), tg::stop_with(stop));
  };
  for (int i = 0; i < 2; ++i) CHECK(run(one) + run(two) + run(pooled) == 12);
  allocations = 0;
  counting = true;
  float total = 0;
  for (int i = 0; i < 5; ++i) total += run(one) + run(two) + run(pooled);
  counting = false;
  CHECK(total == 60);
  CHECK(allocations.exchange(0) == 0);
}

TEST_CASE("threads that run at once: readers together, updates one at a time") {
  const auto update = tg::assign_add(w, v);
  const auto spread = tg::reduce_max(w) - tg::reduce_min(w);  // 0 at every moment, unless an update is seen half done
  tg::session session(tg::compile([=] { return tg::outputs(update, spread, w); }), {.intra_op_threads = 2});
  constexpr int threads = 4, rounds = 50;
  std::atomic<int> torn{0};
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t)
    pool.emplace_back([&] {
      const auto one = three(1, 1, 1);
      for (int i = 0; i < rounds; ++i) {
        session.run(update, v = one);
        if (session.run(spread) != 0) ++torn;
      }
    });
  for (std::thread& t : pool) t.join();
  CHECK(torn == 0);
  CHECK(list(session.run(w)) == floats(3, 1 + threads * rounds));
}

TEST_CASE("threads share one session for large runs of different batches") {
  tg::session session(tg::compile(network), {.seed = 3, .intra_op_threads = 2});
  const auto in = some_images(300);
  const auto expected = some_labels(300);
  const float alone = session.run(loss, images = in, labels = expected);
  std::atomic<int> different{0};
  std::vector<std::thread> pool;
  for (int t = 0; t < 3; ++t)
    pool.emplace_back([&, t] {
      const auto own = some_images(50 + 10 * t);
      const auto own_labels = some_labels(50 + 10 * t);
      for (int i = 0; i < 5; ++i) {
        if (session.run(loss, images = in, labels = expected) != alone) ++different;
        session.run(loss, images = own, labels = own_labels);
      }
    });
  for (std::thread& t : pool) t.join();
  CHECK(different == 0);
}

constexpr auto outside = tg::placeholder<"outside", float, 4>();

/// Nothing in it depends on the parameter, so that a compiler may look at it before it knows one.
template <class>
float sum_in_a_template() {
  const auto sum = tg::sum(tg::relu(tg::square(outside) - tg::exp(outside)) * 2.0f);
  tg::session session(tg::compile([=] { return tg::outputs(sum); }));
  return session.run(sum, outside = tg::tensor<float>(tg::shape{4}, {-1, -2, -3, -4}));
}

TEST_CASE("expressions of what stands outside of a template") {
  CHECK(sum_in_a_template<int>() == Approx(2 * (30 - 0.5713)).epsilon(1e-3));
  CHECK(sum_in_a_template<long>() == sum_in_a_template<int>());
}

/// What asks for a run says what its random operations draw from, so that several processes may share one run.
TEST_CASE("random operations draw from the numbers that a request of a run has") {
  const auto noise = tg::random_uniform<float, 8>();
  const auto program = tg::compile([=] { return tg::outputs(noise); });
  using graph = decltype(program)::graph;
  using plan = tg::detail::compiled_plan<graph, 0>;
  tg::session one(program, {.seed = 1}), two(program, {.seed = 2});
  const auto draw = [](auto& session, const tg::runtime::run_numbers& numbers) {
    tg::tensor<float> result;
    const tg::source_line at;
    session.core().run({plan::view, tg::runtime::kernels_of<plan>(), {}, {}, at, &numbers},
                       [&](std::size_t, const tg::raw_view& value) { result = tg::tensor<float>(value.as<float>()); });
    return result;
  };
  CHECK(draw(one, {7, 3}) == draw(two, {7, 3}));
  CHECK(!(draw(one, {7, 3}) == draw(two, {7, 4})));
  CHECK(!(draw(one, {7, 3}) == draw(two, {8, 3})));
  tg::session same(program, {.seed = 1});
  CHECK(one.run(noise) == same.run(noise));  // such runs are not counted
  CHECK(draw(two, {1, 1}) == one.run(noise));
}

}  // namespace

TEST_CASE("an error names the line that asked for the run") {
  constexpr auto rows = tagma::placeholder<"x", float, tagma::dyn, 4>();
  const auto total = tagma::sum(rows);
  const auto program = tagma::compile([=] { return tagma::outputs(total); });
  tagma::session session(program);
  const tagma::tensor<float> wrong(tagma::shape{2, 3});
  const std::string here = "session.cpp:" + std::to_string(__LINE__ + 1);
  CHECK_THROWS_WITH(session.run(total, rows = wrong), Catch::Contains(here));
}

TEST_CASE("a run that updates variables waits for those who read them, and a run that reads for those who update") {
  const auto shared = tg::variable<"shared", float, 2>(tg::ones);
  const auto read = tg::sum(shared);
  const auto update = tg::assign_add(shared, shared);
  tg::session session(tg::compile([=] { return tg::outputs(read, update); }));
  using pass = tg::runtime::session_core::pass;
  {
    const pass reading(session.core(), false, "");
    CHECK(session.run(read) == 2.0f);
    CHECK_THROWS_WITH(session.run(update, tg::timeout(std::chrono::milliseconds(20))),
                      Catch::Contains("while it waited for the variables that it updates"));
  }
  {
    const pass writing(session.core(), true, "");
    CHECK_THROWS_WITH(session.run(read, tg::timeout(std::chrono::milliseconds(20))),
                      Catch::Contains("while it waited for the variables that it reads"));
  }
  session.run(update);
  CHECK(session.run(read) == 4.0f);
}

TEST_CASE("loops that would hold each other up are made with care") {
  // tanh(one) is read before the update of `one`; in the loop of the product it would wait for `second`, which waits
  // for a read of `two` behind that update.
  const auto one = tg::variable<"one", float, 2>(1.0f);
  const auto two = tg::variable<"two", float, 2>(2.0f);
  const auto c = tg::placeholder<"c", float, 2>();
  const auto before = tg::tanh(one);
  const auto update = tg::assign_add(one, c);
  const auto between = tg::softmax(update * two);
  const auto second = tg::assign(two, c);
  const auto product = before * tg::softmax(second);
  tg::session session(tg::compile([=] { return tg::outputs(product, between, second, update); }));
  const tg::tensor<float> in({2}, {3, 4});
  const auto [p, b] = session.run(tg::fetch(product, between), c = in);
  CHECK(b[0] == Approx(1 / (1 + std::exp(2.0))));
  CHECK(p[0] == Approx(std::tanh(1.0) / (1 + std::exp(1.0))));
}

TEST_CASE("every run has a number of its own, from which random operations draw") {
  const auto many = tg::placeholder<"many", float, 1000>();
  const auto dropped = tg::dropout(many, 0.5);
  tg::session session(tg::compile([=] { return tg::outputs(dropped); }), {.seed = 5});
  tg::tensor<float> ones(tg::shape{1000});
  for (float& one : ones.span()) one = 1;
  const std::uint64_t before = session.core().step();
  const auto first = session.run(dropped, many = ones), second = session.run(dropped, many = ones);
  CHECK(session.core().step() == before + 2);
  CHECK_FALSE(first == second);
  session.core().set_step(before);
  CHECK(session.run(dropped, many = ones) == first);
  CHECK(session.run(dropped, many = ones) == second);
}
