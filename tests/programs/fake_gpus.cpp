// SPDX-License-Identifier: BSL-1.0
// Programs as data on fake GPUs: the bytes of the compiled programs there.
#include "tagma/device/fake/data_devices.hpp"
#include "tagma/fake_gpu.hpp"
#include "tagma/fake_gpu_programs.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "support/any_tensors.hpp"
#include "support/errors.hpp"
#include "tagma/filter.hpp"
#include "tagma/observe/trace.hpp"
#include "tagma/own_operations.hpp"
#include "tagma/plan/print.hpp"
#include "tagma/plan/print_any.hpp"
#include "tagma/program_files.hpp"
#include "tagma/program_passes.hpp"
#include "tagma/programs.hpp"
#include "tagma/queues.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using tg::feed_to;
using tg::status_code;
using tg::test::code_of;
using tg::test::some;
using tg::test::text_of;

// Types of this file, since other files have the same graphs without GPUs.
constexpr auto x = tg::placeholder<"fake/x", float, tg::dyn, 8>();
constexpr auto labels = tg::placeholder<"fake/labels", int, tg::dyn>();

template <class T>
bool are_same(const tg::tensor<T>& a, const tg::any_tensor& b) {
  return b.type() == tg::dtype_of<T> && b.dims() == a.dims() &&
         (a.size() == 0 || std::memcmp(a.data(), b.view().data, a.size() * sizeof(T)) == 0);
}
template <tg::element T>
bool are_same(const T& a, const tg::any_tensor& b) {
  return b.type() == tg::dtype_of<T> && std::memcmp(&a, b.view().data, sizeof(T)) == 0;
}
bool are_same(const tg::no_value&, const tg::any_tensor& b) { return b.type() == tg::dtype::none; }
tg::any_program reread(const tg::any_program& program) { return tg::read_program_bytes(tg::write_program(program)); }
bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

TEST_CASE("a program that is data trains on a fake GPU as the compiled one does there") {
  const tg::device::fake::machine machine(
      {.devices = 2, .memory = std::int64_t{1} << 30, .pinned = std::int64_t{1} << 30});
  const auto logits = tg::dense<"out", 4>(tg::dense<"hidden", 16>(x, tg::relu));
  const auto loss = tg::mean(tg::sparse_softmax_cross_entropy(logits, labels));
  const auto train = tg::minimize(loss, tg::adam{.learning_rate = 0.1});
  const auto program = tg::compile([=] { return tg::outputs(loss, train, logits); });
  tg::session one(program, {.seed = 3});
  tg::session two(reread(tg::any_program(program, {"loss", "train", "logits"})), {.seed = 3}, tg::fake_gpus());
  for (int i = 0; i < 6; ++i) {
    const tg::extent n = 1 + i % 3;
    const auto in = some({n, 8}, i);
    tg::tensor<int> of({n});
    for (tg::extent k = 0; k < n; ++k) of[k] = static_cast<int>(k + i) % 4;
    const auto [l, t, y] = one.run(tg::fetch(loss, train, logits), x = in, labels = of);
    const auto got = two.run({"loss", "train", "logits"}, feed_to("fake/x", in), feed_to("fake/labels", of));
    REQUIRE(are_same(l, got[0]));
    REQUIRE(are_same(t, got[1]));
    REQUIRE(are_same(y, got[2]));
  }
  tg::trace timeline;
  (void)two.run("logits", feed_to("fake/x", some({2, 8}, 1)), tg::trace_to(timeline));
  CHECK(has(timeline.json(), "/device:GPU:0"));
  // A product goes on with the loop behind it, as in the compiled plan.
  const tg::any_program data(program, {"loss", "train", "logits"});
  CHECK(tg::explain(data, {"logits"}, 8, &tg::fake_gpus()) == tg::explain(program, tg::outputs(logits), 8));
  CHECK(tg::explain(data, 3, &tg::fake_gpus()) == tg::explain(program, 3));
  CHECK(tg::to_dot(data, &tg::fake_gpus()) == tg::to_dot(program));
}

TEST_CASE("a variable that the container has stays where it is, whatever a program asks for now") {
  const tg::device::fake::machine machine(
      {.devices = 2, .memory = std::int64_t{1} << 30, .pinned = std::int64_t{1} << 30});
  const auto v = tg::variable<"fake/stays", float, 8>(tg::zeros);
  const auto w = tg::variable<"fake/host", float, 8>(tg::zeros);
  const auto add = tg::group(tg::assign_add(v, tg::sum<0>(x)), tg::assign_add(w, 2.0f * tg::sum<0>(x)));
  const auto first = tg::compile([=] {
    return tg::outputs(tg::on<"/gpu:1">(v), tg::on<"/cpu:0">(w), tg::on<"/gpu:1">(tg::assign_add(v, tg::sum<0>(x))));
  });
  const auto second = tg::compile([=] { return tg::on<"/gpu:0">(tg::outputs(add, v + w)); });
  const tg::container state;
  tg::session one(reread(tg::any_program(first, {"v", "w", "add"})), {.state = state}, tg::fake_gpus());
  tg::session two(reread(tg::any_program(second, {"add", "sum"})), {.state = state}, tg::fake_gpus());
  one.run("add", feed_to("fake/x", some({2, 8}, 1)));
  tg::trace timeline;
  two.run("add", feed_to("fake/x", some({2, 8}, 1)), tg::trace_to(timeline));
  CHECK(has(timeline.json(), "/device:GPU:1"));
  const auto got = two.run("sum"), alone = one.run("v"), host = one.run("w");
  for (int i = 0; i < 8; ++i) {
    const auto at = [&](const tg::any_tensor& t) { return static_cast<const float*>(t.view().data)[i]; };
    CHECK(at(got) == at(alone) + at(host));
    CHECK(at(host) == at(alone));
  }
  // A compiled program has its plans: it is refused, and says so.
  CHECK(has(text_of([&] { tg::session(second, {.state = state}); }), "'fake/stays' float32 [8] on another device"));
}

TEST_CASE("some of it on the host, some on two fake GPUs, with random numbers and loops") {
  const tg::device::fake::machine machine(
      {.devices = 2, .memory = std::int64_t{1} << 30, .pinned = std::int64_t{1} << 30});
  const auto v = tg::variable<"fake/v", float, 8, 4>(tg::truncated_normal(0.5));
  const auto host = tg::on<"/cpu:0">([](const auto& in, const auto& k) { return tg::matmul(in, k); })(x, v);
  const auto second = tg::on<"/gpu:1">([](const auto& in) { return tg::exp(in * 0.5f); })(host);
  const auto noise = tg::dropout(second + tg::random_normal<float, 4>() * 0.25f, 0.5f);
  const auto scanned = tg::scan(tg::carry(tg::sum<0>(noise) * 0.0f), tg::over(noise), [](auto h, auto e) {
    const auto n = tg::tanh(h * 0.5f + e);
    return tg::next(n).emit(n * e);
  });
  const auto last = std::get<0>(scanned);
  const auto all = std::get<1>(scanned);
  const auto update = tg::assign_add(v, tg::ones_like(v) * tg::sum(last));
  const auto program = tg::compile([=] { return tg::outputs(second, last, all, update); });
  tg::session one(program, {.seed = 7});
  tg::session two(reread(tg::any_program(program, {"second", "last", "all", "update"})), {.seed = 7}, tg::fake_gpus());
  for (int i = 0; i < 4; ++i) {
    const auto in = some({2 + i % 2, 8}, i);
    const auto wanted = one.run(tg::fetch(second, last, all, update), x = in);
    const auto got = two.run({"second", "last", "all", "update"}, feed_to("fake/x", in));
    REQUIRE(are_same(std::get<0>(wanted), got[0]));
    REQUIRE(are_same(std::get<1>(wanted), got[1]));
    REQUIRE(are_same(std::get<2>(wanted), got[2]));
    REQUIRE(are_same(std::get<3>(wanted), got[3]));
  }
}

TEST_CASE("queues and late extents beside fake GPUs") {
  const tg::device::fake::machine machine(
      {.devices = 1, .memory = std::int64_t{1} << 30, .pinned = std::int64_t{1} << 30});
  constexpr tg::queue_of<"fake/q", tg::queue_options{.capacity = 20}, tg::spec<float, 8>> q;
  const auto put = tg::enqueue_many(q, x);
  const auto batch = tg::dequeue_many<3>(q);
  const auto scores = tg::matmul(batch, tg::variable<"fake/w", float, 8, 5>(tg::truncated_normal(0.5)));
  const auto kept = tg::boolean_mask(scores, tg::reduce_max<1>(scores) > 0.3f);
  const auto total = tg::sum(kept * 2.0f);
  const auto program = tg::compile([=] { return tg::outputs(put, scores, total); });
  tg::session one(program, {.seed = 5});
  tg::session two(reread(tg::any_program(program, {"put", "scores", "total"})), {.seed = 5}, tg::fake_gpus());
  const auto in = some({18, 8}, 4);
  one.run(put, x = in);
  two.run("put", feed_to("fake/x", in));
  for (int i = 0; i < 5; ++i) {
    const auto [s, t] = one.run(tg::fetch(scores, total));
    const auto got = two.run({"scores", "total"});
    REQUIRE(are_same(s, got[0]));
    REQUIRE(are_same(t, got[1]));
  }
}

TEST_CASE("values that a program which is data keeps on fake GPUs are those of the last write") {
  const auto w = tg::variable<"fake/w", float, 8, 8>(tg::random_normal(0, 0.5));
  const auto a = tg::matmul(x, tg::matmul(w, w));
  const auto out =
      tg::on<tg::gpu<1>>([](const auto& l, const auto& r) { return tg::matmul(l, tg::exp(r)); })(tg::tanh(a), w);
  const auto moved = tg::assign_sub(w, tg::tanh(w));
  const tg::any_program plain(tg::compile([=] { return tg::outputs(out); }), {"out"});
  const auto compiled = tg::compile([=] { return tg::outputs(out); }, tg::passes<tg::fold_frozen>);
  const auto kept = reread(tg::behind_passes(plain, tg::passes<tg::fold_frozen>));
  CHECK(kept.fingerprint() == compiled.fingerprint());
  CHECK(tg::explain(kept, 8, &tg::fake_gpus()) == tg::explain(compiled, 8));
  const tg::any_program writes(tg::compile([=] { return tg::outputs(moved); }), {"moved"});
  const auto some_rows = some({2, 8}, 3);
  for (std::uint64_t seed = 0; seed < 3; ++seed)
    for (const bool graphs : {false, true}) {
      INFO(seed << graphs);
      const tg::device::fake::machine machine({.devices = 2, .seed = seed});
      const tg::container state;
      const tg::session_options options{
          .seed = 3, .gpu = {.memory_fraction = 0.5, .allow_growth = true, .graphs = graphs}, .state = state};
      tg::session one(compiled, options);
      tg::session two(kept, options, tg::fake_gpus()), three(plain, options, tg::fake_gpus()),
          writer(writes, options, tg::fake_gpus());
      for (int run = 0; run < 9; ++run) {
        const auto wanted = one.run(out, x = some_rows);
        REQUIRE(are_same(wanted, two.run("out", feed_to("fake/x", some_rows))));
        REQUIRE(are_same(wanted, three.run("out", feed_to("fake/x", some_rows))));
        if (run % 3 == 2) (void)writer.run("moved");
      }
    }
}

TEST_CASE("devices that there are not") {
  const tg::device::fake::machine machine(
      {.devices = 1, .memory = std::int64_t{1} << 30, .pinned = std::int64_t{1} << 30});
  const auto y = tg::on<"/gpu:3">([](const auto& in) { return tg::exp(in); })(x);
  const tg::any_program data(tg::compile([=] { return y; }), {"y"});
  const std::string missing = text_of([&] { tg::session(data, {}, tg::fake_gpus()); });
  CHECK(has(missing, "/device:GPU:3"));
  // Without the kind of devices there is no GPU at all.
  CHECK(code_of([&] { tg::session{data}; }) == status_code::invalid_argument);
  tg::session soft(data, {.allow_soft_placement = true}, tg::fake_gpus());
  CHECK(soft.run("y", feed_to("fake/x", some({1, 8}, 0))).dims() == tg::shape{1, 8});
  CHECK(code_of([&] {
          tg::session(data, {.kinds = {{"NPU", {}}}}, tg::fake_gpus());
        }) == status_code::invalid_argument);
}

}  // namespace
