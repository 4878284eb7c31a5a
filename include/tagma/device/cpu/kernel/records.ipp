// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of records.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/kernel/records.hpp"

namespace tagma::device::cpu::detail {

TAGMA_DECL names_of_records::names_of_records(const kernel_args& args, std::size_t operands) {
  if (args.in.size() <= operands) return;
  const operand& keys = args.in[operands];
  if (!(keys.dims == args.in[0].dims))
    fail(status_code::invalid_argument,
         {"keys ", to_string(keys.dims), " are not of the shape of the texts, ", to_string(args.in[0].dims)});
  keys_ = keys.as<const string_element>();
}

TAGMA_DECL std::string_view names_of_records::key(std::size_t i) const {
  return keys_ == nullptr ? std::string_view() : std::string_view(keys_[i]);
}

TAGMA_DECL std::string names_of_records::name(std::string_view what, std::size_t i) const {
  const std::string_view known = key(i);
  return known.empty() ? sentence({what, " ", i}) : std::string(known);
}

}  // namespace tagma::device::cpu::detail
