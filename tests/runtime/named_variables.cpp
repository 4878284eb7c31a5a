// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/named_variables.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <thread>

#include "support/errors.hpp"
#include "tagma/containers.hpp"
#include "tagma/passes.hpp"
#include "tagma/tagma.hpp"
#include "tagma/train.hpp"

using tagma::test::text_of, tagma::test::code_of;

namespace {

namespace tg = tagma;
using tg::status_code;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 3>();
constexpr auto y = tg::placeholder<"y", float, tg::dyn, 2>();

auto make_training() {
  const auto guess = tg::dense<"layer", 2>(x, tg::tanh);
  const auto loss = tg::mean(tg::square(guess - y));
  const auto train = tg::minimize(loss, tg::momentum{.learning_rate = 0.1});
  return tg::compile([=] { return tg::outputs(train, guess); });
}

TEST_CASE("variables of a session are listed with what they are") {
  tg::session session(make_training(), {.initialize = false, .variable_prefix = "copy"});
  const std::vector<tg::variable_info> all = tg::list_variables(session);
  const auto find = [&](std::string_view name) {
    for (const tg::variable_info& v : all)
      if (v.name == name) return v;
    FAIL("there is no " << name);
    return tg::variable_info{};
  };
  CHECK(all.size() == session.core().variables().size());
  const tg::variable_info kernel = find("copy/layer/kernel");
  CHECK(kernel.type == tg::dtype::float32);
  CHECK(kernel.dims == tg::shape{3, 2});
  CHECK(kernel.bytes == 24);
  CHECK(kernel.device == "/device:CPU:0");
  CHECK(kernel.trainable);
  CHECK(!kernel.slot);
  CHECK(!kernel.preloaded);
  CHECK(!kernel.has_value);
  int slots = 0;
  for (const tg::variable_info& v : all) slots += v.slot;
  CHECK(slots == 2);
  tg::set_variable(session, "copy/layer/kernel", tg::tensor<float>(tg::shape{3, 2}));
  CHECK(tg::list_variables(session)[0].has_value);
  const tg::tensor<float> zeros({3, 2});
  CHECK(code_of([&] { (void)tg::get_variable(session, "copy/layer/bias"); }) == status_code::failed_precondition);
}

TEST_CASE("variables of every element type and of odd shapes are read and set by name") {
  const auto check = []<class T>(T one, const auto& v, const tg::shape& dims) {
    const auto program = tg::compile([=] { return tg::outputs(v); });
    tg::session session(program, {.seed = 1});
    tg::tensor<T> value(dims);
    for (std::size_t i = 0; i < value.size(); ++i) value.data()[i] = i % 2 == 0 ? one : T{};
    tg::set_variable(session, "v", value);
    CHECK(tg::get_variable<T>(session, "v") == value);
    CHECK(tg::get_variable(session, "v").type() == tg::dtype_of<T>);
    tg::set_variable(session, "v", tg::any_tensor(value));
    tg::set_variable(session, "v", tg::view<const T>(value.data(), value.dims()));
    CHECK(tg::get_variable<T>(session, "v") == value);
    if constexpr (requires { session.run(v)(); }) CHECK(session.run(v) == value);
  };
  check(1.5, tg::variable<"v", double, 1, 3, 2>(tg::zeros), {1, 3, 2});
  check(1.5F, tg::variable<"v", float, 0, 3>(tg::zeros), {0, 3});
  check(tg::float16(1.5F), tg::variable<"v", tg::float16, 7>(tg::zeros), {7});
  check(tg::bfloat16(1.5F), tg::variable<"v", tg::bfloat16, 2, 1>(tg::zeros), {2, 1});
  check(std::int64_t{5}, tg::variable<"v", std::int64_t, 3>(tg::zeros), {3});
  check(std::int8_t{5}, tg::variable<"v", std::int8_t, 1, 1, 1, 1, 1, 2>(tg::zeros), {1, 1, 1, 1, 1, 2});
  check(true, tg::variable<"v", bool, 5>(tg::zeros), {5});
  const auto program = tg::compile([] { return tg::outputs(tg::variable<"n", std::int64_t>(tg::zeros)); });
  tg::session session(program);
  tg::set_variable(session, "n", std::int64_t{41});
  CHECK(tg::get_variable(session, "n").value<std::int64_t>() == 41);
}

TEST_CASE("errors of variables by name have both sides") {
  tg::session session(make_training(), {.seed = 1});
  CHECK(text_of([&] { (void)tg::get_variable(session, "layer/kernal"); }) ==
        "NotFound: get_variable: the program has no variable 'layer/kernal'; the nearest are 'layer/kernel', "
        "'layer/bias' and 'layer/kernel/momentum'");
  CHECK(code_of([&] { tg::set_variable(session, "", 1.0F); }) == status_code::not_found);
  const tg::any_tensor before = tg::get_variable(session, "layer/kernel");
  CHECK(text_of([&] {
          tg::set_variable(session, "layer/kernel", tg::tensor<float>(tg::shape{2, 3}));
        }) == "InvalidArgument: set_variable: variable 'layer/kernel' float32 [3, 2] was given float32 [2, 3]");
  CHECK(text_of([&] {
          tg::set_variable(session, "layer/kernel", tg::tensor<double>(tg::shape{3, 2}));
        }) == "InvalidArgument: set_variable: variable 'layer/kernel' float32 [3, 2] was given float64 [3, 2]");
  CHECK(text_of([&] { tg::set_variable(session, "layer/kernel", 1.0F); }) ==
        "InvalidArgument: set_variable: variable 'layer/kernel' float32 [3, 2] was given float32 []");
  CHECK(text_of([&] { tg::set_variable(session, "layer/kernel", tg::any_tensor()); }) ==
        "InvalidArgument: set_variable: variable 'layer/kernel' float32 [3, 2] was given nothing");
  CHECK(code_of([&] { (void)tg::get_variable<double>(session, "layer/kernel"); }) == status_code::invalid_argument);
  CHECK(tg::get_variable(session, "layer/kernel").as<float>() == before.as<float>());
  session.close();
  CHECK(code_of([&] { (void)tg::get_variable(session, "layer/kernel"); }) == status_code::cancelled);
  CHECK(code_of([&] { tg::set_variable(session, "layer/kernel", before); }) == status_code::cancelled);
}

TEST_CASE("what was read stays as it was when runs and others write") {
  const auto v = tg::variable<"v", float, 2>(tg::zeros);
  const auto up = tg::assign_add(v, tg::ones_like(v));
  const auto program = tg::compile([=] { return tg::outputs(up); });
  for (const tg::isolation kind : {tg::isolation::runs, tg::isolation::variables}) {
    const tg::container state(kind);
    tg::session one(program, {.state = state}), two(program, {.state = state});
    const tg::any_tensor first = tg::get_variable(one, "v");
    one.run(up);
    CHECK(first.as<float>()[0] == 0);
    CHECK(tg::get_variable<float>(two, "v")[1] == 1);
    tg::set_variable(two, "v", tg::tensor<float>(tg::shape{2}, {5, 6}));
    one.run(up);
    CHECK(tg::get_variable<float>(one, "v")[1] == 7);
  }
}

TEST_CASE("an older version that somebody holds is left as it was") {
  const auto v = tg::variable<"v", float, 2>(tg::ones);
  const auto program = tg::compile([=] { return tg::outputs(v); });
  tg::session session(program, {.state = tg::container(tg::isolation::variables)});
  tg::runtime::stored_variable& stored = session.core().variable(0);
  const tg::runtime::pinned_version held(stored);
  tg::set_variable(session, "v", tg::tensor<float>(tg::shape{2}, {5, 6}));
  CHECK(reinterpret_cast<const float*>((*held).data())[0] == 1);
  CHECK(tg::get_variable<float>(session, "v")[0] == 5);
  CHECK(session.run(v)[1] == 6);
}

TEST_CASE("runs see a value that was set as a whole, and none is lost between them") {
  const auto v = tg::variable<"v", float, 300>(tg::zeros);
  const auto up = tg::assign_add(v, tg::ones_like(v));
  const auto program = tg::compile([=] { return tg::outputs(up, v); });
  for (const tg::isolation kind : {tg::isolation::runs, tg::isolation::variables}) {
    const tg::container state(kind);
    tg::session session(program, {.intra_op_threads = 1, .inter_op_threads = 1, .state = state});
    std::atomic<int> torn{0};
    const auto look = [&](const auto& t) {
      for (std::size_t i = 1; i < t.size(); ++i) torn += t.data()[i] != t.data()[0];
    };
    std::thread runner([&] {
      for (int i = 0; i < 200; ++i) session.run(up);
    });
    std::thread reader([&] {
      for (int i = 0; i < 200; ++i) look(tg::get_variable<float>(session, "v"));
    });
    for (int i = 0; i < 200; ++i) {
      tg::tensor<float> value({300});
      for (std::size_t k = 0; k < 300; ++k) value.data()[k] = static_cast<float>(1000 * i);
      tg::set_variable(session, "v", value);
      look(session.run(v));
    }
    runner.join();
    reader.join();
    CHECK(torn == 0);
    const float last = tg::get_variable<float>(session, "v")[0];
    CHECK(last >= 199'000);
    CHECK(last <= 199'200);
  }
}

TEST_CASE("values that are kept from run to run follow a variable that was set") {
  const auto w = tg::variable<"w", float, 3, 3>(tg::ones);
  const auto out = tg::matmul(x, tg::exp(w));
  const auto program = tg::compile([=] { return tg::outputs(out); }, tg::passes<tg::fold_frozen>);
  tg::session session(program);
  const std::array<float, 3> row{1, 1, 1};
  const float before = session.run(out, x = row)(0, 0);
  CHECK(session.run(out, x = row)(0, 0) == before);
  tg::set_variable(session, "w", tg::tensor<float>(tg::shape{3, 3}));
  CHECK(session.run(out, x = row)(0, 0) == 3);
}

TEST_CASE("a variable on another CPU device is read and set there") {
  const auto v = tg::on<tg::cpu<1>>(tg::variable<"v", float, 3>(tg::ones));
  const auto sum = tg::on<tg::cpu<0>>(tg::sum(v));
  const auto program = tg::compile([=] { return tg::outputs(sum); });
  tg::session session(program, {.cpu_devices = 2});
  CHECK(tg::list_variables(session)[0].device == "/device:CPU:1");
  CHECK(session.run(sum) == 3);
  tg::set_variable(session, "v", tg::tensor<float>(tg::shape{3}, {1, 2, 4}));
  CHECK(session.run(sum) == 7);
}

TEST_CASE("data sets that are preloaded are listed as such") {
  const auto data = tg::preloaded<"data", float, 2>();
  const tg::container state;
  tg::preload(state, data, tg::tensor<float>(tg::shape{2}, {3, 4}));
  const auto program = tg::compile([=] { return tg::outputs(tg::sum(data)); });
  tg::session session(program, {.state = state});
  CHECK(tg::list_variables(session)[0].preloaded);
  CHECK(tg::get_variable<float>(session, "data")[1] == 4);
}

}  // namespace
