// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The queues that programs name, in containers.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/queue.hpp"
#include "tagma/runtime/queue.hpp"

namespace tagma::runtime {

template <>
struct resource_of<ir::key<op::queue>> {
  TAGMA_COLD static counted<resource> make(const resource_request& r) {
    const components all(r);
    return counted<resource>(new queue(sentence({r.name}), options_of(r), all.view()));
  }
  TAGMA_COLD static void check(const resource& found, const resource_request& r) {
    static_cast<const queue&>(found).check(options_of(r), components(r).view());
  }

 private:
  struct components {
    TAGMA_COLD explicit components(const resource_request& r)
        : count((r.attributes.size() - ir::queue_option_words) / ir::queue_component_words) {
      for (std::size_t i = 0; i < count; ++i)
        specs[i] = ir::queue_component(r.attributes.subspan(ir::queue_option_words, count * ir::queue_component_words),
                                       static_cast<int>(i));
    }
    [[nodiscard]] array_view<const tensor_spec> view() const { return {specs, count}; }
    tensor_spec specs[ir::most_outputs];
    std::size_t count;
  };
  [[nodiscard]] TAGMA_COLD static queue_options options_of(const resource_request& r) {
    return {static_cast<queue_kind>(r.attributes[0]), r.attributes[1], r.attributes[2],
            static_cast<std::uint64_t>(r.attributes[3])};
  }
};

}  // namespace tagma::runtime
