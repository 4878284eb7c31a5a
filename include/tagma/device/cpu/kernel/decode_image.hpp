// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The kernel that decodes pictures.

#include <cstddef>
#include <cstdint>
#include <string>

#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/cpu/kernel/records.hpp"
#include "tagma/expr/op/decode_image.hpp"
#include "tagma/io/decode_image.hpp"

namespace tagma::device {
namespace cpu::detail {

struct decode_image_kernel {
  static void run(const kernel_args& args, const run_context& context) {
    const auto* const texts = args.in[0].as<const string_element>();
    const shape dims{args.attributes[0], args.attributes[1], args.attributes[2]};
    const auto size = static_cast<std::size_t>(dims.elements());
    auto* const to = args.out.as<std::uint8_t>();
    const names_of_records names(args, 1);
    context.threads->parallel_for(args.in[0].elements(), [&](std::int64_t i) {
      if (context.cancelled()) return;
      const auto n = static_cast<std::size_t>(i);
      io::decode_image_to(to + n * size, dims, texts[n], names.name("text", n));
    });
  }
  template <dtype...>
  static constexpr kernel_entry entry{&run};
};

}  // namespace cpu::detail

template <>
struct kernel<on_cpu, ir::key<op::decode_image>> : cpu::detail::decode_image_kernel {};

}  // namespace tagma::device
