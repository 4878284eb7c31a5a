// SPDX-License-Identifier: BSL-1.0
// Operations that find how large their results are.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "conformance/devices.hpp"
#include "conformance/suite.hpp"

namespace {

using namespace tagma::conformance;
using tagma::dtype, tagma::extent, tagma::shape, tagma::tensor_spec;
namespace op = tagma::op;
namespace ir = tagma::ir;

const std::vector<shape> shapes = {{1}, {7}, {33}, {7, 13}, {1, 17}, {2, 3, 8}, {0, 7}, {7, 0}, {40'000}};

struct found_extents final : tagma::runtime::late_results {
  found_extents() {
    std::fill(std::begin(words), std::end(words), tagma::dyn);
    extents = words;
  }
  [[nodiscard]] std::byte* allocate(int, const shape&) override { return nullptr; }
  extent words[3 * tagma::max_rank];
};

/// The results of one call, each as large as was found. Run twice, on memory full of one garbage and of another.
std::vector<array> run_late(const device& on, const ir::op_info& op, const tensor_spec& spec, const array& in,
                            const std::vector<ir::attribute>& attributes) {
  std::vector<array> results[2];
  const int count = std::max(op.outputs, 1);
  for (const int pass : {0, 1}) {
    const std::byte garbage{static_cast<unsigned char>(pass == 0 ? 0xff : 0x5a)};
    std::vector<std::byte> from(static_cast<std::size_t>(spec.dims.elements()) * size_of(spec.type) + 64);
    for (std::size_t i = 0; i < in.at.size(); ++i)
      write_element(from.data() + i * size_of(spec.type), spec.type, in.at[i]);
    std::vector<tensor_spec> known, largest;
    std::vector<std::vector<std::byte>> memory;
    for (int r = 0; r < count; ++r) {
      ir::infer_args args{{&spec, 1}, attributes, {}, r};
      REQUIRE(op.infer(args) == nullptr);
      known.push_back(args.out);
      REQUIRE(op.bound(args) == nullptr);
      largest.push_back(args.out);
      memory.emplace_back(static_cast<std::size_t>(tagma::bytes_of(args.out)) + 64, garbage);
    }
    found_extents found;
    for (int r = 0; r < count; ++r)
      for (int a = 0; a < known[static_cast<std::size_t>(r)].dims.rank; ++a)
        found.set(a, known[static_cast<std::size_t>(r)].dims[a], r);
    kernel_call call;
    call.op = &op;
    call.in = {{from.data(), spec.type, spec.dims}};
    call.declared = {spec.dims};
    call.attributes = attributes;
    call.out = {memory[0].data(), largest[0].type, largest[0].dims};
    if (op.outputs > 0) call.out = {nullptr, largest[0].type, {0}};
    for (std::size_t r = 0; op.outputs > 0 && r < memory.size(); ++r)
      call.outs.push_back({memory[r].data(), largest[r].type, largest[r].dims});
    call.declared_out = known[0].dims;
    call.several_threads = pass == 1;
    call.late = &found;
    on.run(call);
    for (std::size_t r = 0; r < memory.size(); ++r) {
      shape dims = known[r].dims;
      for (int a = 0; a < dims.rank; ++a) {
        const extent e = found.words[static_cast<int>(r) * tagma::max_rank + a];
        REQUIRE((e >= 0 && e <= largest[r].dims[a] && (dims[a] == tagma::dyn || dims[a] == e)));
        dims[a] = e;
      }
      array a(dims);
      const std::size_t size = size_of(known[r].type);
      for (std::size_t i = 0; i < a.at.size(); ++i) a.at[i] = read_element(memory[r].data() + i * size, known[r].type);
      const std::size_t whole = static_cast<std::size_t>(tagma::bytes_of(largest[r]));
      for (std::size_t i = whole; i < memory[r].size(); ++i) CHECK(memory[r][i] == garbage);
      results[pass].push_back(a);
    }
  }
  for (std::size_t r = 0; r < results[0].size(); ++r) {
    CHECK(results[0][r].dims == results[1][r].dims);
    const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
    CHECK(std::equal(results[0][r].at.begin(), results[0][r].at.end(), results[1][r].at.begin(), same));
  }
  return results[0];
}

/// Few different numbers, of which many are 0.
array few_numbers(dtype type, const shape& dims) {
  array a(dims);
  for (std::size_t i = 0; i < a.at.size(); ++i) {
    const auto n = static_cast<double>((i * i * 7 + i) % 5);
    a.at[i] = type == dtype::boolean ? (n > 2 ? 1 : 0) : n < 2 ? 0 : n * (type == dtype::uint8 ? 1 : -0.5);
  }
  for (double& x : a.at) x = rounded(type, x);
  return a;
}

TEST_CASE("positions of what is not 0") {
  const auto& row = find_operation(ir::rules<op::nonzero>);
  for (const device* on : devices())
    for (const signature& types : row.signatures) {
      if (!on->has(*row.rules->info, types)) continue;
      for (const shape& dims : shapes)
        for (const ir::attribute flat : {0, 1}) {
          INFO(on->name() << ": nonzero of " << to_string(tensor_spec{types.in[0], dims}));
          array in = few_numbers(types.in[0], dims);
          if (tagma::is_floating(types.in[0]) && in.at.size() > 3) in.at[2] = std::numeric_limits<double>::quiet_NaN();
          std::vector<double> expected;
          for (extent i = 0; i < dims.elements(); ++i) {
            if (in[i] == 0) continue;
            if (flat != 0) {
              expected.push_back(static_cast<double>(i));
              continue;
            }
            for (int a = 0; a < dims.rank; ++a)
              expected.push_back(static_cast<double>(i / dims.elements(a + 1, dims.rank) % dims[a]));
          }
          const array found = run_late(*on, *row.rules->info, {types.in[0], dims}, in, {flat})[0];
          CHECK(found.at == expected);
          CHECK(found.dims.rank == (flat != 0 ? 1 : 2));
        }
      record_values(*on, *row.rules->info, types);
    }
}

TEST_CASE("elements, each once") {
  const auto& row = find_operation(ir::rules<op::unique>);
  for (const device* on : devices())
    for (const signature& types : row.signatures) {
      if (!on->has(*row.rules->info, types)) continue;
      for (const shape& dims : shapes) {
        if (dims.rank != 1) continue;
        INFO(on->name() << ": unique of " << to_string(tensor_spec{types.in[0], dims}));
        array in = few_numbers(types.in[0], dims);
        const bool floats = tagma::is_floating(types.in[0]);
        if (in.at.size() > 6 && floats) in.at[1] = in.at[4] = std::numeric_limits<double>::quiet_NaN(), in.at[5] = -0.0;
        std::vector<double> values, at, counts;
        for (const double x : in.at) {
          const auto where = std::find(values.begin(), values.end(), x);
          at.push_back(static_cast<double>(where - values.begin()));
          if (where == values.end()) values.push_back(x), counts.push_back(0);
          ++counts[static_cast<std::size_t>(at.back())];
        }
        const auto found = run_late(*on, *row.rules->info, {types.in[0], dims}, in, {});
        const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
        REQUIRE(found[0].at.size() == values.size());
        CHECK(std::equal(values.begin(), values.end(), found[0].at.begin(), same));
        CHECK(found[1].at == at);
        CHECK(found[2].at == counts);
      }
      record_values(*on, *row.rules->info, types);
    }
}

TEST_CASE("leading axes that become one") {
  std::vector<problem> all;
  for (const shape& s : {shape{2, 3, 4}, shape{5}, shape{0, 3}, shape{3, 0, 2}})
    for (int merged = 1; merged <= s.rank; ++merged) all.push_back({{{s}}, {merged}});
  check<op::merge_axes>(all, [](const std::vector<array>& in, const std::vector<ir::attribute>&,
                                const tensor_spec& out) { return array(out.dims, in[0].at); });
}

}  // namespace
