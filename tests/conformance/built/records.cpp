// SPDX-License-Identifier: BSL-1.0
// What takes records apart: graphs that handles stand for, built once more node by node from their names and
// attributes. Values are those of the compiled graphs, which tests in expr/op compare with what is in the records.
#include <catch2/catch.hpp>
#include <cstring>
#include <span>

#include "conformance/built/built.hpp"
#include "support/errors.hpp"
#include "tagma/images.hpp"
#include "tagma/io/example.hpp"
#include "tagma/io/sequence_example.hpp"
#include "tagma/readers.hpp"
#include "tagma/sequence_examples.hpp"
#include "tagma/tagma.hpp"

namespace tagma::conformance {

namespace {

using text = std::string_view;

/// The number that all literals are.
constexpr double literals = 0.5;
constexpr auto lines = placeholder<"lines", text, dyn>();

/// The same graph of nodes that are added by name.
any_program built_again(const any_program& of) {
  const ir::graph_view g = of.graph();
  graph_builder b;
  std::vector<graph_node> nodes;
  for (ir::node_id i = 0; i < g.size(); ++i) {
    const ir::op_info& op = g.info(i);
    std::vector<graph_node> in;
    for (const ir::node_id k : g.inputs(i)) in.push_back(nodes[static_cast<std::size_t>(k)]);
    const ir::attribute_list bits = g.attributes(i);
    if (op.is(ir::op_kind::placeholder))
      nodes.push_back(b.placeholder(g[i].name, g[i].spec.type, g[i].spec.dims));
    else if (op.is(ir::op_kind::literal))
      nodes.push_back(b.number(g[i].spec.type, literals));
    else if (op.is(ir::op_kind::output))
      nodes.push_back(b.result(in[0], static_cast<int>(bits[0])));
    else
      nodes.push_back(b.add(op.name, in, std::vector<attribute_value>(bits.begin(), bits.end())));
  }
  std::vector<named_output> outputs;
  for (std::size_t i = 0; i < of.outputs().size(); ++i)
    outputs.push_back({of.outputs()[i], nodes[static_cast<std::size_t>(g.roots[i])]});
  return b.build(outputs);
}

bool same(const any_tensor& a, const any_tensor& b) {
  if (a.type() != b.type() || !(a.dims() == b.dims())) return false;
  const auto count = static_cast<std::size_t>(a.dims().elements());
  if (a.type() == dtype::string)
    return std::equal(a.as<text>().data(), a.as<text>().data() + count, b.as<text>().data());
  return count == 0 || std::memcmp(a.view().data, b.view().data, count * size_of(a.type())) == 0;
}

/// Both graphs, over these records: equal results.
void check_both(const any_program& compiled, const tensor<text>& records) {
  const any_program built = built_again(compiled);
  CHECK(built.fingerprint() == compiled.fingerprint());
  const std::vector<output_name> outputs(built.outputs().begin(), built.outputs().end());
  session expected(compiled, options_with(1));
  const std::vector<any_tensor> wanted = expected.run(outputs, {feed_to("lines", records)});
  const std::vector<any_tensor> found = run_with_both(built, outputs, {feed_to("lines", records)});
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    INFO("output " << outputs[i].name());
    CHECK(same(found[i], wanted[i]));
  }
}

TEST_CASE("texts and bytes in programs that are built") {
  const auto [age, name] = decode_csv(lines, static_cast<float>(literals), text_constant<"nobody at all">);
  const auto words = decode_raw<std::int16_t, 3>(lines);
  const auto open = decode_raw<std::uint8_t, dyn, false>(lines);
  const auto a = age;
  const auto n = name;
  check_both(any_program(compile([=] { return outputs(a, n); })), tensor<text>({3}, {"1,ann", ",", "2.5,\"b,c\""}));
  check_both(any_program(compile([=] { return outputs(words, open, text_constant<"so">); })),
             tensor<text>({2}, {"abcdef", "ghijkl"}));
}

TEST_CASE("messages in programs that are built") {
  io::example_writer w;
  const std::vector<float> image = {1, 2, 3, 4};
  const std::vector<text> tags = {"x", "y"};
  w.add("image", std::span<const float>(image));
  w.add("tags", std::span<const text>(tags));
  const std::string example = w.message();
  const auto picture = parse_example(lines, feature<"image", float, 2, 2>);
  const auto open = parse_example(lines, feature<"tags", text, dyn>);
  check_both(any_program(compile([=] { return outputs(picture, open); })), tensor<text>({2}, {example, example}));

  io::sequence_example_writer s;
  s.add_step("pairs", std::vector<float>{1, 2});
  s.add_step("pairs", std::vector<float>{3, 4});
  const std::string steps = s.message();
  const auto pairs = parse_sequence_example(lines, feature_list<"pairs", float, 2>);
  check_both(any_program(compile([=] { return outputs(pairs); })), tensor<text>({1}, {steps}));
}

TEST_CASE("pictures in programs that are built") {
  const auto picture = decode_image<2, 3, 1>(lines);
  const any_program compiled(compile([=] { return outputs(picture); }));
  check_both(compiled, tensor<text>(shape{0}));
  const tensor<text> none({1}, {"GIF89a, and more"});
  const auto refused = [&](const any_program& program) {
    session runner(program, options_with(1));
    const std::string all = test::text_of([&] { (void)runner.run("output_0", feed_to("lines", none)); });
    return all.substr(0, all.find("(run at"));
  };
  CHECK(refused(compiled) == refused(built_again(compiled)));
  CHECK(refused(compiled).find("is no PNG and no JPEG") != std::string::npos);
}

}  // namespace

}  // namespace tagma::conformance
