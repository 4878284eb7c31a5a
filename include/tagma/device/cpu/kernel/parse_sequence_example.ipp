// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of parse_sequence_example.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/parse_sequence_example.hpp"

namespace tagma::device::cpu::detail {

TAGMA_DECL feature_lists_state::feature_lists_state(ir::attribute_list a) {
  for (int i = 0; i < ir::most_outputs; ++i) {
    const ir::example_feature f = ir::example_feature_of(a, i);
    if (f.spec.type == dtype::none) break;
    wanted_.push_back({f.spec, static_cast<ir::list_use>(f.given), {}});
    f.append_name(wanted_.back().name);
  }
}

TAGMA_DECL void feature_lists_state::run(const kernel_args& args, const run_context& context) {
  auto& own = static_cast<feature_lists_state&>(*args.state);
  own.parse(args, context);
  for (std::size_t i = 0; i < own.wanted_.size(); ++i) own.write(args, i);
}

TAGMA_DECL void feature_lists_state::parse(const kernel_args& args, const run_context& context) {
  const auto* const messages = args.in[0].as<const string_element>();
  count_ = static_cast<std::size_t>(args.in[0].elements());
  if (examples_.size() < count_) examples_.resize(count_);
  const names_of_records names(args, 1);
  for (std::size_t i = 0; i < count_ && !context.cancelled(); ++i)
    examples_[i].parse_lists(messages[i], names.name("message", i));
}

TAGMA_DECL void feature_lists_state::write(const kernel_args& args, std::size_t i) {
  if (wanted_[i].use == ir::list_use::length) return write_lengths(args, i);
  switch (wanted_[i].spec.type) {
    case dtype::float32:
      return write_as<float>(args, i);
    case dtype::int64:
      return write_as<std::int64_t>(args, i);
    default:
      return write_as<string_element>(args, i);
  }
}

TAGMA_DECL void feature_lists_state::write_lengths(const kernel_args& args, std::size_t i) {
  auto* const to = reinterpret_cast<std::int64_t*>(args.late->allocate(static_cast<int>(i), args.in[0].dims));
  for (std::size_t m = 0; to != nullptr && m < count_; ++m) {
    const io::feature_list* const found = examples_[m].find(wanted_[i].name);
    to[m] = found == nullptr ? 0 : static_cast<std::int64_t>(found->steps);
  }
}

}  // namespace tagma::device::cpu::detail
