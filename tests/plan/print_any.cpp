// SPDX-License-Identifier: BSL-1.0
#include "tagma/plan/print_any.hpp"

#include <catch2/catch.hpp>

#include "support/errors.hpp"
#include "tagma/explain.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

using tg::test::code_of;
using tg::test::thrown;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 8>();

TEST_CASE("a program that is data is explained and drawn as the compiled one") {
  const auto chain = tg::tanh(tg::exp(x * x) + x);
  const auto loss = tg::mean(tg::square(chain));
  const auto v = tg::variable<"v", float>(tg::ones);
  const auto up = tg::assign_add(v, loss);
  const auto program = tg::compile([=] { return tg::outputs(chain, loss, up); });
  const tg::any_program data(program, {"chain", "loss", "up"});
  CHECK(tg::explain(data) == tg::explain(program));
  CHECK(tg::explain(data, 32) == tg::explain(program, 32));
  CHECK(tg::explain(data, 32) != tg::explain(data, 33));
  CHECK(tg::explain(data, {"loss"}, 7) == tg::explain(program, tg::outputs(loss), 7));
  CHECK(tg::explain(data, {"chain", "up"}) == tg::explain(program, tg::outputs(chain, up)));
  CHECK(tg::to_dot(data) == tg::to_dot(program));
}

TEST_CASE("loops, several devices and kernels that go on with a loop") {
  constexpr auto series = tg::placeholder<"series", float, tg::dyn, 5, 3>();
  const auto cells = tg::lstm<"cells", 6>(series);
  const auto there =
      tg::on<"/device:CPU:1">([](const auto& in) { return tg::matmul(in, tg::transpose(in)); })(x) + 1.0f;
  const auto program = tg::compile([=] { return tg::outputs(cells, there); });
  const tg::any_program data(program, {"cells", "there"});
  const std::string text = tg::explain(data, 4);
  CHECK(text.find("/device:CPU:1") != text.npos);
  CHECK(text.find("copies between devices: ") != text.npos);
  CHECK(text.find("\nscan #") != text.npos);
  const std::string drawn = tg::to_dot(data);
  CHECK(drawn.find("matmul") != drawn.npos);
  // The steps of a plan of data: a loop behind a kernel is one of its own.
  const auto dense = tg::compile([=] { return tg::outputs(tg::dense<"layer", 4>(x, tg::relu)); });
  const std::string own = tg::explain(tg::any_program(dense));
  CHECK(own.find("steps: 2, of which loops: 1") != own.npos);
}

TEST_CASE("what cannot be explained of a program that is data") {
  const tg::any_program data(tg::compile([=] { return tg::outputs(x * 2.0f); }), {"twice"});
  CHECK(std::string(thrown([&] { (void)tg::explain(data, {"thrice"}); }).what()) ==
        "InvalidArgument: TAGMA-E144 explain: what is asked for is no output of this program: thrice");
  CHECK(code_of([&] { (void)tg::explain(data, tg::extent{1} << 60); }) == tg::status_code::resource_exhausted);
  const auto v = tg::variable<"v", float>(tg::ones);
  const auto w = tg::variable<"w", float>(tg::ones);
  const auto p = w + tg::assign(v, 1.0f);
  const auto q = v + tg::assign(w, 1.0f);
  const tg::any_program crossed(tg::compile([=] { return tg::outputs(p, q); }), {"p", "q"});
  CHECK(std::string(thrown([&] { (void)tg::explain(crossed); }).what()).find("TAGMA-E067 explain: ") !=
        std::string::npos);
  CHECK(tg::explain(crossed, {"p"}).find("assign") != std::string::npos);
}

}  // namespace
