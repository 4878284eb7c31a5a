// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of iterate.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/data/iterate.hpp"

namespace tagma::datasets::detail {

TAGMA_COLD TAGMA_DECL void outline(const any_stage& of, int depth, std::vector<outlined_stage>& to) {
  for (const outlined_stage& known : to)
    if (known.of == &of) return;
  to.push_back({&of, depth});
  for (std::size_t i = 0; const any_stage* const input = of.input_stage(i); ++i) detail::outline(*input, depth + 1, to);
}

TAGMA_COLD TAGMA_DECL pass_services services_for(const any_stage& of, const pass_options& how) {
  if (how.threads < 0 || how.bytes < 0)
    fail(status_code::invalid_argument, {"iterate: a budget of ", how.threads, " threads and ", how.bytes, " bytes"});
  pass_services services;
  services.threads = how.threads;
  services.bytes = how.bytes;
  if (how.measure) {
    std::vector<outlined_stage> all;
    detail::outline(of, 0, all);
    services.measured = make_counted<meter>(how.clock, all.size());
    for (std::size_t i = 0; i < all.size(); ++i) services.measured->watch(i, all[i].of);
  }
  return services;
}

}  // namespace tagma::datasets::detail
