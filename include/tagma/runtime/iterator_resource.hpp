// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The iterators that programs name, in containers.

#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/expr/op/iterator.hpp"
#include "tagma/runtime/iterator.hpp"

namespace tagma::runtime {

template <>
struct resource_of<ir::key<op::iterator>> {
  TAGMA_COLD static counted<resource> make(const resource_request& r) {
    const std::vector<tensor_spec> all = components(r);
    return counted<resource>(new iterator(std::string(r.name), {all.data(), all.size()}));
  }
  TAGMA_COLD static void check(const resource& found, const resource_request& r) {
    const std::vector<tensor_spec> all = components(r);
    static_cast<const iterator&>(found).check({all.data(), all.size()});
  }

 private:
  [[nodiscard]] TAGMA_COLD static std::vector<tensor_spec> components(const resource_request& r) {
    const ir::attribute_list words = r.attributes.subspan(1, r.attributes.size() - 1);
    std::vector<tensor_spec> all;
    for (int i = 0; i < ir::most_outputs; ++i)
      if (const tensor_spec one = ir::queue_component(words, i); one.type != dtype::none) all.push_back(one);
    return all;
  }
};

}  // namespace tagma::runtime
