// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of parse_example.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/parse_example.hpp"

namespace tagma::device::cpu::detail {

TAGMA_DECL example_state::example_state(ir::attribute_list a) {
  for (int i = 0; i < ir::most_outputs; ++i) {
    const ir::example_feature f = ir::example_feature_of(a, i);
    if (f.spec.type == dtype::none) break;
    wanted_.push_back({f, {}});
    operands_ = std::max(operands_, static_cast<std::size_t>(f.given) + 1);
    f.append_name(wanted_.back().name);
  }
}

TAGMA_DECL void example_state::run(const kernel_args& args, const run_context& context) {
  auto& own = static_cast<example_state&>(*args.state);
  own.parse(args, context);
  for (std::size_t i = 0; i < own.wanted_.size(); ++i) own.write(args, i);
}

TAGMA_DECL void example_state::parse(const kernel_args& args, const run_context& context) {
  const auto* const messages = args.in[0].as<const string_element>();
  count_ = static_cast<std::size_t>(args.in[0].elements());
  if (examples_.size() < count_) examples_.resize(count_);
  const names_of_records names(args, operands_);
  for (std::size_t i = 0; i < count_ && !context.cancelled(); ++i)
    examples_[i].parse(messages[i], names.name("message", i));
}

TAGMA_DECL void example_state::write(const kernel_args& args, std::size_t i) {
  switch (wanted_[i].about.spec.type) {
    case dtype::float32:
      return write_as<float>(args, i);
    case dtype::int64:
      return write_as<std::int64_t>(args, i);
    default:
      return write_as<string_element>(args, i);
  }
}

TAGMA_DECL std::size_t example_state::longest(const std::string& name) const {
  std::size_t most = 0;
  for (std::size_t m = 0; m < count_; ++m)
    if (const io::feature* const found = examples_[m].find(name); found != nullptr && found->count > most)
      most = found->count;
  return most;
}

}  // namespace tagma::device::cpu::detail
