// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/preload.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <thread>
#include <utility>

#include "support/errors.hpp"
#include "support/temporary_directory.hpp"
#include "tagma/containers.hpp"
#include "tagma/tagma.hpp"
#include "tagma/train.hpp"

namespace {

namespace tg = tagma;
using tg::status_code, tg::test::code_of, tg::test::text_of;

constexpr auto images = tg::preloaded<"images", float, 4, 3>();
constexpr auto at = tg::placeholder<"at", std::int64_t, tg::dyn>();

tg::tensor<float> rows(float first) {
  tg::tensor<float> t(tg::shape{4, 3});
  for (float& e : t.span()) e = first++;
  return t;
}

}  // namespace

TEST_CASE("a data set becomes a variable without a copy, which training and files leave alone") {
  const auto w = tg::variable<"w", float, 3>(tg::ones);
  const auto batch = tg::gather(images, at);
  const auto loss = tg::mean(tg::square(batch * w));
  const auto train = tg::minimize(loss, tg::sgd{.learning_rate = 0.1});
  const auto program = tg::compile([=] { return tg::outputs(batch, train, images); });
  const tg::container state;
  auto data = rows(1);
  const void* const memory = data.data();
  tg::preload(state, images, std::move(data));
  tg::session session(program, {.state = state});
  CHECK(session.core().variable(0).data() == memory);
  CHECK(state.bytes() == 12 * 4 + 3 * 4 + 8);
  const tg::tensor<std::int64_t> some({2}, {3, 0});
  CHECK(session.run(batch, at = some) == tg::tensor<float>({2, 3}, {10, 11, 12, 1, 2, 3}));
  session.run(train, at = some);
  CHECK(session.run(images) == rows(1));

  const tg::test::temporary_directory dir;
  const std::string path = dir / "model.safetensors";
  tg::save(session, path);
  CHECK(tg::safetensors::file(path).find("images") == nullptr);
  CHECK(tg::safetensors::file(path).find("w") != nullptr);
  for (int i = 0; i < 5; ++i) tg::preload(state, images, rows(100));
  CHECK(state.bytes() == 12 * 4 + 3 * 4 + 8);
  tg::restore(session, path);
  CHECK(session.run(batch, at = some) == tg::tensor<float>({2, 3}, {109, 110, 111, 100, 101, 102}));
}

TEST_CASE("a data set of sessions with a prefix has it as well") {
  const auto batch = tg::gather(images, at);
  const auto program = tg::compile([=] { return tg::outputs(batch); });
  const tg::container state;
  tg::preload(state, images, rows(1), "replica_1");
  tg::session first(program, {.state = state, .variable_prefix = "replica_1"}),
      second(program, {.state = state, .variable_prefix = "replica_2"});
  tg::preload(state, images, rows(100), "replica_2");
  const tg::tensor<std::int64_t> one({1}, {0});
  CHECK(first.run(batch, at = one) == tg::tensor<float>({1, 3}, {1, 2, 3}));
  CHECK(second.run(batch, at = one) == tg::tensor<float>({1, 3}, {100, 101, 102}));
  CHECK(text_of([&] { tg::preload(state, images, rows(1), "replica/"); }) ==
        "InvalidArgument: variable_prefix \"replica/\" is no name, such as \"replica_3\" or \"trial_1/left\"");
}

TEST_CASE("a data set that is not there yet is missed by the run that needs it") {
  const auto total = tg::sum(images);
  const auto scoped = tg::sum(tg::scope<"other">(images));
  const auto program = tg::compile([=] { return tg::outputs(total, scoped); });
  const tg::container state;
  tg::session session(program, {.state = state});
  CHECK(code_of([&] { (void)session.run(total); }) == status_code::failed_precondition);
  CHECK_THAT(text_of([&] { (void)session.run(scoped); }), Catch::Contains("'other/images'"));
  tg::preload(state, tg::scope<"other">(images), rows(0));
  CHECK(session.run(scoped) == 66.0f);
  CHECK(code_of([&] { (void)session.run(total); }) == status_code::failed_precondition);
  tg::preload(state, images, rows(1));
  CHECK(session.run(total) == 78.0f);
  CHECK(text_of([&] {
          tg::preload(state, images, tg::tensor<float>(tg::shape{3, 4}));
        }) == "InvalidArgument: preload: variable 'images' has shape [4, 3], the elements have [3, 4]");
  const auto clash = tg::preloaded<"images", double, 2>();
  CHECK(text_of([&] { tg::preload(state, clash, tg::tensor<double>(tg::shape{2})); }) ==
        "InvalidArgument: preload: the container has variable 'images' float32 [4, 3], asked for is one that is "
        "float64 [2]");
}

TEST_CASE("runs read one whole data set while another one is given") {
  const auto total = tg::sum(images);
  const auto program = tg::compile([=] { return tg::outputs(total); });
  const tg::container state(tg::isolation::variables);
  tg::preload(state, images, rows(1));
  tg::session session(program, {.state = state});
  std::thread other([&] {
    for (int i = 0; i < 200; ++i) tg::preload(state, images, rows(i % 2 == 0 ? 1.0f : 101.0f));
  });
  bool whole = true;
  for (int i = 0; i < 2000; ++i) {
    const float sum = session.run(total);
    whole = whole && (sum == 78.0f || sum == 1278.0f);
  }
  other.join();
  CHECK(whole);
}
