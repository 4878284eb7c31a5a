// SPDX-License-Identifier: BSL-1.0
// Examples of docs/reference/programs.md.
#include <catch2/catch.hpp>

#include <tagma/graph_builder.hpp>
#include <tagma/own_operations.hpp>
#include <tagma/parts.hpp>
#include <tagma/program_files.hpp>
#include <tagma/program_passes.hpp>
#include <tagma/programs.hpp>
#include <tagma/tagma.hpp>

#include "support/errors.hpp"
#include "support/temporary_directory.hpp"
#include "support/texts.hpp"

#include <tagma/with_macros.hpp>

namespace tg = tagma;
using tagma::test::code_of;
using tagma::test::text;

namespace mine {

struct cubed : tg::op::elementwise {
  static constexpr const char* name = "mine.cubed";
  static constexpr void takes(auto& t) { t.floats(1); }  // what graphs from outside are checked against
};

}  // namespace mine

template <>
struct tagma::device::scalar_kernel<tagma::device::on_cpu, tagma::ir::key<mine::cubed>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& x) {
    return x * x * x;
  }
};

TEST_CASE("reference: programs as data") {
  const tagma::test::working_directory folder;
  // example: any_program, feed_to, named_feed, output_name, any_tensor
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 2>();
  auto y = tg::square(x);
  tg::any_program data(tg::compile([=] { return tg::outputs(y, tg::sum(y)); }), {"squares", "total"});
  tg::session session(data, {.seed = 3});
  tg::tensor<float> rows({1, 2}, {3, 4});
  float total = session.run("total", tg::feed_to("x", rows)).value<float>();  // 25
  auto both = session.run({"squares", "total"}, tg::feed_to("x", rows));      // both[0].as<float>() is [[9, 16]]
  // end
  CHECK(total == 25.0f);
  CHECK(text(both[0].as<float>()) == "[[9, 16]]");

  // example: write_program, read_program, read_program_bytes
  tg::write_program(data, "net.tagma");                   // for tagma-run and other processes
  tg::any_program again = tg::read_program("net.tagma");  // verified: no graph that a compiler would refuse
  std::string bytes = tg::write_program(data);
  tg::any_program same = tg::read_program_bytes(bytes);  // DataLoss for bytes that are no program
  // end
  CHECK(again.fingerprint() == data.fingerprint());
  CHECK(same.fingerprint() == data.fingerprint());
  CHECK(code_of([] { (void)tg::read_program_bytes("no program"); }) == tg::status_code::data_loss);
}

TEST_CASE("reference: graphs that a process builds") {
  // example: graph_builder, graph_node, named_output, attribute_value, named_attribute, named_attributes
  tg::graph_builder b;
  const auto x = b.placeholder("x", tg::dtype::float32, {tg::dyn, 2});
  const auto w = b.variable("w", tg::dtype::float32, {2, 1}, tg::ones);
  const tg::graph_node y = b.add("matmul", {x, w}, {{"transpose_b", false}});
  const auto total = b.add("sum", {y}, {{"axes", {0, 1}}});  // names and attributes: docs/operations.md
  tg::session session(b.build({{"y", y}, {"total", total}}));
  float value = session.run("total", tg::feed_to("x", tg::tensor<float>({1, 2}, {3, 4}))).value<float>();  // 7
  // end
  CHECK(value == 7.0f);
  CHECK(tg::to_string(y.dims()) == "[?, 1]");

  // example: window_steps
  const auto images = b.placeholder("images", tg::dtype::float32, {tg::dyn, 8, 8, 1});
  const auto filters = b.variable("filters", tg::dtype::float32, {3, 3, 1, 4}, tg::he_uniform);
  const auto features =
      b.add("conv2d", {images, filters},
            {{"steps", tg::window_steps(/*stride*/ 2)}, {"padding", tg::same_padding}, {"groups", 1}});  // [?, 4, 4, 4]
  // end
  CHECK(tg::to_string(features.dims()) == "[?, 4, 4, 4]");
}

TEST_CASE("reference: operations of one's own in programs as data") {
  // example: list_operation, listed_operation
  tg::list_operation<mine::cubed, float(float)>();  // or an object tg::listed_operation<...> outside of functions
  tg::graph_builder b;
  const auto x = b.placeholder("x", tg::dtype::float32);
  tg::session session(b.build({{"y", b.add("mine.cubed", {x})}}));
  float value = session.run("y", tg::feed_to("x", 2.0f)).value<float>();  // 8
  // end
  CHECK(value == 8.0f);
}

TEST_CASE("reference: passes and parts of programs as data") {
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4, 4, 1>();
  auto y = tg::batch_norm<"norm">(tg::conv2d<"conv", 2, 3>(x), tg::phase::inference);
  tg::any_program data(tg::compile([=] { return tg::outputs(y); }), {"y"});
  // example: behind_passes
  tg::any_program faster = tg::behind_passes(data, tg::passes<tg::fold_batch_norm, tg::fold_frozen>);
  // end
  CHECK(faster.fingerprint() != data.fingerprint());

  // example: program_of_part, outputs_of_parts
  std::vector<std::int16_t> task(data.node_count(), 0);  // of each node: which part has it
  task.back() = 1;
  tg::ir::cut_graph cut = tg::ir::cut(data.graph(), {task, {}, /*tasks*/ 2});
  std::vector<tg::any_program> parts;
  for (const tg::ir::graph_part& part : cut.parts) parts.push_back(tg::program_of_part(data, part));
  std::vector<int> wanted{0};                      // output 0 of the whole
  auto asked = tg::outputs_of_parts(cut, wanted);  // of each part its outputs, those for other parts among them
  // end
  CHECK(parts.size() == 2);
  CHECK(asked.size() == 2);
}
