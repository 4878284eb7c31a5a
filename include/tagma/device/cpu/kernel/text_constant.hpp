// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The kernel that gives a text of the program: a view of its characters, which last as long as the program.

#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/expr/op/text_constant.hpp"

namespace tagma::device {

template <>
struct kernel<on_cpu, ir::key<op::text_constant>> {
  template <dtype...>
  static constexpr kernel_entry entry{[](const kernel_args& args, const run_context&) {
    const ir::attribute* const a = args.attributes.data();
    *args.out.as<string_element>() = {reinterpret_cast<const char*>(a + 1), static_cast<std::size_t>(a[0])};
  }};
};

}  // namespace tagma::device
