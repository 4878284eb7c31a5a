// SPDX-License-Identifier: BSL-1.0
#include "tagma/observe/trace.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "support/temporary_directory.hpp"
#include "tagma/tagma.hpp"
#include "tagma/with_macros.hpp"

namespace {

/// Its name has what JSON must quote.
struct odd_identity : tagma::op::elementwise {
  static constexpr std::string_view name = "odd \"1\" \\ \n \xc3\xa4";
};

}  // namespace

template <>
struct tagma::device::scalar_kernel<tagma::device::on_cpu, tagma::ir::key<odd_identity>> {
  template <class Out, class P>
  TAGMA_INLINE static Out apply(const P& value) {
    return value;
  }
};

namespace {

namespace tg = tagma;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 64>();
constexpr auto table = tg::placeholder<"table", float, 4, 64>();
constexpr auto row = tg::placeholder<"row", std::int32_t>();

std::vector<nlohmann::json> steps_of(const tg::trace& timeline) {
  std::vector<nlohmann::json> steps;
  const auto whole = nlohmann::json::parse(timeline.json());
  for (const auto& event : whole.at("traceEvents"))
    if (event.at("ph") == "X") steps.push_back(event);
  return steps;
}

TEST_CASE("a timeline has every step of the runs that were told to record, once") {
  const auto hidden = tg::dense<"hidden", 32>(x, tg::tanh);
  const auto loss = tg::mean(tg::square(hidden));
  const auto train = tg::minimize(loss, tg::sgd{.learning_rate = 0.1});
  const auto program = tg::compile([=] { return tg::outputs(loss, train); });
  for (const int threads : {1, 2}) {
    tg::session session(program, {.intra_op_threads = threads});
    tg::trace timeline;
    const tg::tensor<float> in(tg::shape{100, 64});
    session.run(train, x = in);
    CHECK(timeline.size() == 0);
    session.run(train, x = in, tg::trace_to(timeline));
    session.run(train, x = in);
    session.run(train, tg::trace_to(timeline), x = in);
    const auto steps = steps_of(timeline);
    CHECK(steps.size() == timeline.size());
    CHECK(timeline.lost() == 0);
    std::map<int, std::multiset<int>> nodes;  // of each run
    std::map<int, double> end;                // of the last step on each thread
    bool product = false, update = false;
    for (const auto& s : steps) {
      const auto& facts = s.at("args");
      nodes[facts.at("run")].insert(facts.at("node").get<int>());
      CHECK(s.at("ts").get<double>() >= end[s.at("tid")] - 0.0015);  // rounded to nanoseconds
      CHECK(s.at("dur").get<double>() >= 0);
      end[s.at("tid")] = s.at("ts").get<double>() + s.at("dur").get<double>();
      if (s.at("name") == "matmul" && facts.at("inputs") == "float32 [100, 64], float32 [64, 32]") {
        product = facts.at("output") == "float32 [100, 32]" && facts.at("bytes") == 4 * (6400 + 2048 + 3200);
      }
      update = update || s.at("cat") == "update";
    }
    CHECK(product);
    CHECK(update);
    REQUIRE(nodes.size() == 2);
    CHECK(nodes.begin()->second == nodes.rbegin()->second);
    for (const int n : nodes.begin()->second) CHECK(nodes.begin()->second.count(n) == 1);
  }
}

TEST_CASE("another reader of JSON reads whatever is in a name") {
  const auto odd = tg::make_operation<odd_identity, tg::ir::pack_attributes()>(x);
  tg::session session(tg::compile([=] { return tg::outputs(odd); }));
  tg::trace timeline;
  session.run(odd, x = tg::tensor<float>(tg::shape{2, 64}), tg::trace_to(timeline));
  const auto steps = steps_of(timeline);
  REQUIRE(steps.size() == 1);
  CHECK(steps[0].at("name") == odd_identity::name);
}

TEST_CASE("a run that fails leaves the steps before it in the timeline") {
  const auto picked = tg::sum(tg::gather(tg::softmax(table), row));
  tg::session session(tg::compile([=] { return tg::outputs(picked); }), {.intra_op_threads = 1});
  tg::trace timeline;
  const tg::tensor<float> rows(tg::shape{4, 64});
  CHECK_THROWS(session.run(picked, table = rows, row = 4, tg::trace_to(timeline)));
  const auto steps = steps_of(timeline);
  REQUIRE(steps.size() == 1);
  CHECK(steps[0].at("name") == "softmax");
}

TEST_CASE("a timeline is saved as a whole, or the reason is said") {
  tg::trace timeline;
  const tg::test::temporary_directory directory;
  const std::string path = directory / "trace.json";
  timeline.save(path);
  CHECK(nlohmann::json::parse(tg::read_file(path)).at("traceEvents").size() == 1);
  CHECK_THROWS_WITH(timeline.save(directory / "none/trace.json"), Catch::Contains(directory / "none/trace.json"));
}

}  // namespace
