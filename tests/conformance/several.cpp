// SPDX-License-Identifier: BSL-1.0
// Checks of operations with several results.
#include "conformance/arguments.hpp"
#include "conformance/blocks.hpp"
#include "conformance/devices.hpp"

namespace tagma::conformance {

std::vector<array> run_several(const device& on, const kernel_problem& p, const std::vector<array>& in,
                               unsigned wanted) {
  check_arguments(*p.rules, {p.in, p.attributes}, 10);
  const ir::op_info& op = *p.rules->info;
  std::vector<std::vector<std::byte>> before(p.outs.size());
  std::vector<array> results;
  for (const int pass : {0, 1}) {
    std::vector<block> blocks, outs;
    for (std::size_t i = 0; i < in.size(); ++i) {
      blocks.emplace_back(p.in[i], pass == 0, garbage[pass]);
      if (!op.ignores_elements(static_cast<int>(i))) blocks.back().write(in[i]);
    }
    for (const tensor_spec& s : p.outs) outs.emplace_back(s, pass == 0, garbage[1 - pass]);
    std::vector<std::vector<std::byte>> contents, untouched;
    for (block& b : blocks) contents.push_back(b.content());
    for (block& b : outs) untouched.push_back(b.content());

    kernel_call call;
    call.op = &op;
    call.attributes = p.attributes;
    call.source = p.source;
    call.several_threads = pass == 1;
    for (block& b : blocks) call.in.push_back(b.operand());
    for (std::size_t k = 0; k < outs.size(); ++k) {
      call.outs.push_back(outs[k].operand());
      if (((wanted >> k) & 1) == 0) call.outs.back().data = nullptr;
    }
    std::vector<tensor_spec> specs = p.in;
    if (pass == 1) {
      const std::vector<shape> unknown = unknown_extents(p);
      for (std::size_t i = 0; i < specs.size(); ++i) specs[i].dims = unknown[i];
      const std::vector<tensor_spec> inferred = infer_all(*p.rules, specs, p.attributes);
      REQUIRE(inferred.size() == p.outs.size());
      for (std::size_t k = 0; k < inferred.size(); ++k) {
        CHECK(inferred[k].type == p.outs[k].type);
        CHECK(compatible(inferred[k].dims, p.outs[k].dims));
      }
    }
    for (const tensor_spec& s : specs) call.declared.push_back(s.dims);
    on.run(call);

    for (std::size_t i = 0; i < blocks.size(); ++i) {
      INFO("input " << i);
      CHECK(blocks[i].guards_hold());
      CHECK(first_difference(blocks[i].content(), contents[i], p.in[i].type) == "");
    }
    for (std::size_t k = 0; k < outs.size(); ++k) {
      INFO("result " << k);
      CHECK((outs[k].guards_hold() && "nothing is written beside the result"));
      const bool reads = ((wanted >> k) & 1) != 0;
      if (!reads) CHECK(first_difference(outs[k].content(), untouched[k], p.outs[k].type) == "");
      if (pass == 0) {
        before[k] = outs[k].content();
        results.push_back(reads ? outs[k].read() : array());
      } else if (reads) {
        INFO(
            "memory that held something else before, other threads, dynamic extents: an element was not written, or "
            "depends on what it must not depend on");
        CHECK(first_difference(before[k], outs[k].content(), p.outs[k].type) == "");
      }
    }
  }
  return results;
}

namespace {

/// Subsets of `count` results that are read: all of a few; of many each alone, all but each, and some others.
std::vector<unsigned> subsets(std::size_t count) {
  std::vector<unsigned> some;
  const unsigned all = (1u << count) - 1;
  if (count <= 3) {
    for (unsigned s = 1; s <= all; ++s) some.push_back(s);
    return some;
  }
  for (std::size_t k = 0; k < count; ++k) some.push_back(1u << k), some.push_back(all & ~(1u << k));
  some.push_back(0x55 & all);
  some.push_back(all);
  return some;
}

/// Equal elements, NaN counting as equal to NaN.
bool same_elements(const array& a, const array& b) {
  if (!(a.dims == b.dims)) return false;
  for (std::size_t i = 0; i < a.at.size(); ++i)
    if (!(a.at[i] == b.at[i]) && (a.at[i] == a.at[i] || b.at[i] == b.at[i])) return false;
  return true;
}

void check_one(const device& on, const ir::op_rules& rules, const signature& types, const problem& given,
               std::uint64_t seed, const reference_of_several& expected, const check_options& options,
               bool& differentiated) {
  const drawn_operands drawn = draw_operands(given, types, seed);
  kernel_problem p;
  p.rules = &rules;
  p.attributes = given.attributes;
  p.in = drawn.specs;
  p.outs = infer_all(rules, p.in, p.attributes);
  p.out = p.outs[0];
  INFO(on.name() << ": " << rules.info->name << " of " << drawn.text);
  for (const ir::attribute a : given.attributes) UNSCOPED_INFO("attribute " << a);
  for (std::size_t k = 0; k < p.outs.size(); ++k) REQUIRE(p.outs[k].type == types.output(k));
  const unsigned all = (1u << p.outs.size()) - 1;
  const std::vector<array> whole = run_several(on, p, drawn.in, all);
  const std::vector<array> wanted = expected(drawn.in, p.attributes, p.outs);
  for (std::size_t k = 0; k < p.outs.size(); ++k)
    compare(whole[k], wanted[k], p.outs[k].type, options.slack, "values of result " + std::to_string(k));
  for (const unsigned read : subsets(p.outs.size())) {
    if (read == all) continue;
    INFO("results that are read: " << read);
    const std::vector<array> part = run_several(on, p, drawn.in, read);
    for (std::size_t k = 0; k < p.outs.size(); ++k)
      if (((read >> k) & 1) != 0) CHECK((same_elements(part[k], whole[k]) && "whatever else is read"));
  }
  if (!given.has_gradient || rules.gradient == nullptr || !is_floating(types.element)) return;
  unsigned floating = 0;
  for (std::size_t k = 0; k < p.outs.size(); ++k)
    if (is_floating(p.outs[k].type)) floating |= 1u << k;
  for (const unsigned read : subsets(p.outs.size())) {
    if ((read & ~floating) != 0) continue;
    INFO("gradients flow into results: " << read);
    check_gradient(on, p, drawn.in, expected, options, true, read);
    check_gradient(on, p, drawn.in, expected, options, false, read);
  }
  differentiated = true;
}

}  // namespace

void check_several(const ir::op_rules& rules, const std::vector<problem>& problems,
                   const reference_of_several& expected, const check_options& options) {
  const operation& row = find_operation(rules);
  for (const device* on : devices())
    for (const signature& types : row.signatures) {
      if (!on->has(*rules.info, types)) continue;
      bool differentiated = false;
      std::uint64_t seed = 1;
      for (const problem& p : problems)
        if (p.applies == nullptr || p.applies(types))
          check_one(*on, rules, types, p, seed += 100, expected, options, differentiated);
      record_values(*on, *rules.info, types);
      if (differentiated) record_gradient(*on, *rules.info, types);
    }
}

}  // namespace tagma::conformance
