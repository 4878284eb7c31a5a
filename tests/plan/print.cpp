// SPDX-License-Identifier: BSL-1.0
#include "tagma/plan/print.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 4>();
constexpr auto w = tg::variable<"w", float, 4, 3>(tg::static_initializer<tg::initializer_kind::ones>{});
constexpr auto product = tg::matmul(x, w);

struct table {
  std::vector<std::map<std::string, std::string>> rows;
  std::map<std::string, std::string> totals;

  [[nodiscard]] std::vector<std::map<std::string, std::string>> of(const std::string& operation) const {
    std::vector<std::map<std::string, std::string>> found;
    for (const auto& r : rows)
      if (r.at("operation") == operation) found.push_back(r);
    return found;
  }
};

/// Columns begin where their heads do.
table parse(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  std::vector<std::pair<std::string, std::size_t>> heads;
  for (std::size_t i = 0; i < line.size();) {
    const std::size_t end = std::min(line.find(' ', i), line.size());
    heads.emplace_back(line.substr(i, end - i), i);
    i = std::min(line.find_first_not_of(' ', end), line.size());
  }
  table t;
  while (std::getline(lines, line) && !line.empty()) {
    auto& row = t.rows.emplace_back();
    for (std::size_t c = 0; c < heads.size(); ++c) {
      const std::size_t end = c + 1 < heads.size() ? heads[c + 1].second : line.size();
      std::string cell = line.substr(heads[c].second, end - heads[c].second);
      cell.erase(cell.find_last_not_of(' ') + 1);
      row[heads[c].first] = cell;
    }
  }
  while (std::getline(lines, line)) t.totals[line.substr(0, line.find(':'))] = line.substr(line.find(':') + 2);
  return t;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t i = text.find(part); i != std::string::npos; i = text.find(part, i + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("a plan is explained node by node") {
  const auto shared = tg::relu(product);
  const auto chain = tg::tanh(tg::exp(shared * shared) + shared);
  const auto total = tg::sum(chain);
  const auto program = tg::compile([=] { return tg::outputs(total); });
  using P = decltype(program);
  const std::string text = tg::explain(program, 32);
  INFO(text);
  const table t = parse(text);
  REQUIRE(t.rows.size() == P::node_count());

  CHECK(t.of("relu").size() == 1);  // read three times
  std::set<std::string> loops;
  for (const char* name : {"relu", "multiply", "exp", "add", "tanh"}) {
    REQUIRE(t.of(name).size() == 1);
    const std::string loop = t.of(name)[0].at("loop");
    loops.insert(loop.substr(0, loop.find_first_of(":,")));
  }
  CHECK(loops == std::set<std::string>{"loop 0"});
  CHECK(t.of("exp")[0].at("loop") == "loop 0: fused into its reader");
  CHECK(t.of("exp")[0].at("storage") == "registers");
  CHECK(t.of("exp")[0].at("step") == "-");
  CHECK(t.of("tanh")[0].at("loop") == "loop 0, its result: read by a kernel of its own");
  CHECK(t.of("tanh")[0].at("step") == "1");
  CHECK(t.of("tanh")[0].at("type") == "float32 [?, 3]");
  CHECK(t.of("tanh")[0].at("storage") == "arena 0, 384 bytes, over a tensor that ends");
  CHECK(t.of("tanh")[0].at("alive") == "steps 1 to 2");
  CHECK(t.of("tanh")[0].at("device") == "/device:CPU:0, the only one");
  CHECK(t.of("matmul")[0].at("storage") == "arena 0, 384 bytes");
  CHECK(t.of("matmul")[0].at("alive") == "steps 0 to 1");
  CHECK(t.of("matmul")[0].at("loop") == "-");
  CHECK(t.of("sum")[0].at("alive") == "from step 2, fetched");
  CHECK(t.of("placeholder")[0].at("storage") == "feed");
  CHECK(t.of("placeholder")[0].at("name") == "x");
  CHECK(t.of("variable")[0].at("storage") == "variable, 48 bytes");
  CHECK(t.of("variable")[0].at("alive") == "always");

  CHECK(t.totals.at("steps") == "3, of which loops: 1, of 5 operations");
  CHECK(t.totals.at("arena") == std::to_string(P::peak_bytes(32)) +
                                    " bytes with dynamic extents of 32; every tensor by itself: " +
                                    std::to_string(6 * 32 * 3 * 4 + 4) + " bytes");
  CHECK(t.totals.at("variables") == "48 bytes");

  const std::string dot = tg::to_dot(program);
  INFO(dot);
  CHECK(dot.starts_with("digraph tagma {"));
  CHECK(dot.ends_with("}\n"));
  CHECK(count(dot, "label=\"relu #") == 1);
  CHECK(count(dot, "subgraph cluster_") == 1);
  CHECK(count(dot, "[shape=") == P::node_count());
  CHECK(count(dot, "{") == count(dot, "}"));
  const std::string box = dot.substr(dot.find("subgraph"), dot.find("  }") - dot.find("subgraph"));
  CHECK(count(box, "[shape=") == 5);
  const std::string relu = "n" + t.of("relu")[0].at("node").substr(1),
                    multiply = "n" + t.of("multiply")[0].at("node").substr(1);
  CHECK(count(dot, "  " + relu + " -> " + multiply + ";\n") == 2);
}

TEST_CASE("reasons against fusion, updates, views, constants, and the outputs of one run") {
  const auto shared = tg::exp(product);
  const auto rows = tg::sum<0>(shared);
  const auto other = tg::tanh(shared);
  const auto scaled = tg::mean(tg::square(tg::reshape<tg::dyn>(shared)));
  const auto update = tg::assign_sub(w, tg::gradient(scaled, w));
  const auto program = tg::compile([=] { return tg::outputs(rows, other, update); });
  const table t = parse(tg::explain(program, 2));
  CHECK(t.of("exp")[0].at("loop") == "loop 0, its result: read by a kernel of its own");
  CHECK(t.of("tanh")[0].at("loop").ends_with("its result: fetched"));
  CHECK(t.of("reshape")[0].at("storage") == "view of " + t.of("exp")[0].at("node"));
  CHECK(t.of("reshape")[0].at("alive") == "-");
  CHECK(t.of("assign_sub")[0].at("storage") == "variable " + t.of("variable")[0].at("node") + ", in place");
  CHECK(t.of("constant")[0].at("storage") == "constant 2");

  const table one = parse(tg::explain(program, tg::outputs(other)));
  CHECK(one.of("assign_sub").empty());
  CHECK(one.of("sum").empty());
  CHECK(one.of("exp")[0].at("loop") == "loop 0: fused into its reader");
  CHECK(one.totals.at("steps") == "2, of which loops: 1, of 2 operations");
}

TEST_CASE("what is explained of extents beyond all memory is an error") {
  const auto program = tg::compile([=] { return tg::outputs(tg::exp(product)); });
  for (const tg::extent batch : {tg::extent{1} << 55, tg::extent{1} << 62, INT64_MAX})
    CHECK(tg::test::code_of([&] { (void)tg::explain(program, batch); }) == tg::status_code::resource_exhausted);
  CHECK(tg::test::code_of([&] { (void)tg::explain(program, -5); }) == tg::status_code::invalid_argument);
}
