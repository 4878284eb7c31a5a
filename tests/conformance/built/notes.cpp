// SPDX-License-Identifier: BSL-1.0
// Which operations ran in programs that the process has built, and which cannot: for the table of operations, which
// has each of docs/operations.md in one of the two lists.
#include <catch2/catch.hpp>
#include <ostream>
#include <set>
#include <string>

#include "conformance/built/built.hpp"
#include "support/errors.hpp"

namespace tagma::conformance {

namespace {

/// Never destroyed, since it is read when the program ends.
std::set<std::string, std::less<>>& ran() {
  static auto* const names = new std::set<std::string, std::less<>>;
  return *names;
}

constexpr const char* composed = "its handle adds operands and attributes that only it knows";
constexpr const char* branches = "a branch begins with a value of its own: carried";
constexpr unbuildable unbuildables[] = {{"loop_result", branches},
                                        {"normalize", composed},
                                        {"normalize_by", composed},
                                        {"normalize_and_learn", composed},
                                        {"accumulate_gradients", composed},
                                        {"update_averages", composed},
                                        {"global_norm_scale", composed},
                                        {"rnn", composed},
                                        {"gru", composed},
                                        {"lstm", composed},
                                        {"zero_state", composed},
                                        {"positions", composed},
                                        {"reverse", composed},
                                        {"attention", composed},
                                        {"rotary_embedding", composed},
                                        {"normalize_groups", composed},
                                        {"normalize_root", composed},
                                        {"upsample2d", composed},
                                        {"resize_bilinear", composed},
                                        {"volume_to_images", composed},
                                        {"volume_filter", composed},
                                        {"weighted_mean", composed},
                                        {"smoothed_cross_entropy", composed},
                                        {"ratio", composed},
                                        {"count_true", composed},
                                        {"count_above", composed},
                                        {"area_under_curve", composed}};

}  // namespace

array_view<const unbuildable> unbuildable_operations() { return unbuildables; }

void note_operation(std::string_view name) { ran().emplace(name); }
void note_operations(const any_program& program) {
  const ir::graph_view g = program.graph();
  for (ir::node_id i = 0; i < g.size(); ++i) note_operation(g.info(i).name);
}

void write_notes(std::ostream& to) {
  for (const std::string& name : ran()) to << built_programs().name() << '\t' << name << "\tran\n";
  for (const unbuildable& one : unbuildable_operations())
    to << built_programs().name() << '\t' << one.name << "\tunbuildable\t" << one.why << '\n';
}

namespace {

/// Tries to make a program of an operation; throws where that cannot be.
/// @param attributes whatever number the operation takes is tried
void try_to_build(std::string_view name, int inputs, std::size_t attributes) {
  graph_builder b;
  std::vector<graph_node> in;
  if (name == "loop_result") in.push_back(b.loop_if(b.placeholder("decides", dtype::boolean)));
  for (int i = 0; i < inputs; ++i) in.push_back(b.placeholder("in" + std::to_string(i), dtype::float32, {2, 2}));
  const std::vector<attribute_value> zeros(attributes, attribute_value(0));
  const graph_node node = b.add(name, in, zeros);
  static_cast<void>(b.build({{"it", name == "loop_result" ? b.close_loop(in[0], {node}, {in[1]})[0] : node}}));
}

TEST_CASE("what programs cannot be built of is refused, with a sentence") {
  for (const unbuildable& one : unbuildable_operations())
    for (const int inputs : {0, 1, 2, 3, 4, 6})
      for (std::size_t attributes = 0; attributes < 5; ++attributes) {
        INFO(one.name << " over " << inputs << " operands with " << attributes << " attributes");
        CHECK_THROWS_AS(try_to_build(one.name, inputs, attributes), error);
      }
}

TEST_CASE("a variable that begins with a number is not initialised by name, and holds no strings") {
  graph_builder b;
  const graph_node v = b.variable("v", dtype::float32, {2}, 3.0f);
  const auto initialize = [&] {
    const any_program program = b.build({{"v", b.add("initialize", {v}, {tagma::detail::literal_kind, 5})}});
    session runner(program);
    static_cast<void>(runner.run("v"));
  };
  CHECK_THROWS_AS(initialize(), error);
  const std::string text = test::text_of([&] { b.variable("text", dtype::string, {2}, zeros); });
  CHECK(text.find("TAGMA-E156") != std::string::npos);
}

}  // namespace

}  // namespace tagma::conformance
