// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The readers that programs name, in containers.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/reader.hpp"
#include "tagma/runtime/reader.hpp"

namespace tagma::runtime {

template <>
struct resource_of<ir::key<op::reader>> {
  TAGMA_COLD static counted<resource> make(const resource_request& r) {
    return counted<resource>(new reader(std::string(r.name), ir::reader_options_of(r.attributes)));
  }
  TAGMA_COLD static void check(const resource& found, const resource_request& r) {
    static_cast<const reader&>(found).check(ir::reader_options_of(r.attributes));
  }
};

}  // namespace tagma::runtime
