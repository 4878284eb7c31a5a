// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The kernel that takes the bytes of texts for elements.

#include <bit>
#include <cstring>

#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/expr/op/decode_raw.hpp"
#include "tagma/io/elements.hpp"

namespace tagma::device {
namespace cpu::detail {

struct decode_raw_kernel {
  static void run(const kernel_args& args, const run_context&) {
    const auto* const texts = args.in[0].as<const string_element>();
    const std::size_t count = static_cast<std::size_t>(args.in[0].elements());
    const std::size_t one = size_of(static_cast<dtype>(args.attributes[0]));
    std::byte* to = args.out.data;
    std::size_t elements = static_cast<std::size_t>(args.attributes[1]);
    if (args.late != nullptr) {
      elements = count == 0 ? 0 : texts[0].size() / one;
      shape dims = args.in[0].dims;
      dims.push_back(static_cast<extent>(elements));
      to = args.late->allocate(0, dims);
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (texts[i].size() != elements * one)
        fail(status_code::invalid_argument,
             {"text ", i, " has ", texts[i].size(), " bytes, expected ", elements, " elements of ", one, " bytes"});
      if (to == nullptr || texts[i].empty()) continue;
      std::memcpy(to, texts[i].data(), texts[i].size());
      if ((args.attributes[2] != 0) != (std::endian::native == std::endian::little))
        io::reverse_bytes(to, elements, one);
      to += texts[i].size();
    }
  }
  template <dtype...>
  static constexpr kernel_entry entry{&run};
};

}  // namespace cpu::detail

template <>
struct kernel<on_cpu, ir::key<op::decode_raw>> : cpu::detail::decode_raw_kernel {};
template <>
struct kernel<on_cpu, ir::key<op::decode_raw_open>> : cpu::detail::decode_raw_kernel {};

}  // namespace tagma::device
