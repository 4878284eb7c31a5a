// SPDX-License-Identifier: BSL-1.0
// Variables by name that are on devices which the host does not read, and files for them.
#include "tagma/runtime/named_variables.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "support/errors.hpp"
#include "support/temporary_directory.hpp"
#include "tagma/device/fake/provide.hpp"
#include "tagma/passes.hpp"
#include "tagma/tagma.hpp"
#include "tagma/train.hpp"

namespace {

namespace tg = tagma;
namespace fake = tg::device::fake;
namespace st = tg::safetensors;
using tg::gpu;
using tg::status_code;
using tg::test::code_of;
using tg::test::temporary_directory;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 3>();

TEST_CASE("variables on GPUs are listed, read, set and restored, in every order of their streams") {
  const temporary_directory dir;
  const std::string path = dir / "others.safetensors";
  const float weight[] = {1, 2, 3, 4, 5, 6};
  const tg::float16 bias[] = {tg::float16(0.5F), tg::float16(-1.0F)};
  const st::named_tensor tensors[] = {{"fc.weight", tg::dtype::float32, {2, 3}, weight},
                                      {"fc.bias", tg::dtype::float16, {2}, bias}};
  st::write(path, tensors);
  const auto out = tg::on<gpu<1>>([](const auto& in) { return tg::dense<"fc", 2>(in); })(x);
  const auto program = tg::compile([=] { return tg::outputs(out); });
  const auto kept = tg::compile([=] { return tg::outputs(out); }, tg::passes<tg::fold_frozen>);
  const std::vector<float> row{1, 10, 100};
  const auto check = [&](auto& session) {
    CHECK(tg::list_variables(session)[0].device == "/device:GPU:1");
    CHECK(tg::summary(session).totals.parameters == 8);
    const auto before = session.run(out, x = row)(0, 0);
    const auto kernel = tg::get_variable<float>(session, "fc/kernel");
    CHECK(before == kernel(0, 0) + 10 * kernel(1, 0) + 100 * kernel(2, 0));
    tg::set_variable(session, "fc/kernel", tg::tensor<float>(tg::shape{3, 2}, {1, 0, 2, 0, 3, 1}));
    CHECK(session.run(out, x = row)(0, 0) == 321);
    CHECK(session.run(out, x = row)(0, 1) == 100);
    tg::restore(session, path, {.rules = {{"fc.weight", "fc/kernel", {1, 0}}, {"fc.bias", "fc/bias"}}, .cast = true});
    CHECK(session.run(out, x = row)(0, 0) == 321.5F);
    CHECK(session.run(out, x = row)(0, 1) == 653);
    CHECK(tg::get_variable<float>(session, "fc/kernel")(2, 0) == 3);
  };
  for (std::uint64_t seed = 0; seed < 4; ++seed)
    for (const bool graphs : {false, true}) {
      INFO(seed << graphs);
      fake::machine machine({.devices = 2, .seed = seed});
      const tg::session_options options{.gpu = {.memory_fraction = 0.5, .allow_growth = true, .graphs = graphs}};
      tg::session plain(program, options);
      tg::session folded(kept, options);
      check(plain);
      check(folded);
    }
}

TEST_CASE("a restore for which a device has no memory changes nothing") {
  const temporary_directory dir;
  const std::string path = dir / "large.safetensors";
  constexpr std::size_t many = 1 << 18;
  fake::machine machine({.devices = 1, .memory = std::int64_t{400} << 20});
  const auto a = tg::on<gpu<0>>(tg::variable<"a", float, 4>(tg::ones));
  const auto b = tg::on<gpu<0>>(tg::variable<"b", float, many>(tg::ones));
  const auto c = tg::on<gpu<0>>(tg::variable<"c", float, many>(tg::ones));
  const auto d = tg::variable<"d", float, 4>(tg::ones);
  const auto program = tg::compile([=] { return tg::outputs(a, b, c, d); });
  tg::session session(program, {.gpu = {.memory_fraction = 0.0075}, .state = tg::container(tg::isolation::variables)});
  const std::vector<float> zeros(many);
  const st::named_tensor tensors[] = {{"a", tg::dtype::float32, {4}, zeros.data()},
                                      {"b", tg::dtype::float32, {many}, zeros.data()},
                                      {"c", tg::dtype::float32, {many}, zeros.data()},
                                      {"d", tg::dtype::float32, {4}, zeros.data()}};
  st::write(path, tensors);
  {
    // Somebody reads two that have no room for a second version each.
    const tg::runtime::pinned_version first(session.core().variable(1)), second(session.core().variable(2));
    CHECK(code_of([&] { tg::restore(session, path); }) == status_code::resource_exhausted);
    for (const char* name : {"a", "b", "c", "d"}) CHECK(tg::get_variable<float>(session, name)[3] == 1);
  }
  tg::restore(session, path);
  for (const char* name : {"a", "b", "c", "d"}) CHECK(tg::get_variable<float>(session, name)[3] == 0);
}

}  // namespace
