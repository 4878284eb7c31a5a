// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Where a node shall run: `on<cpu<0>>(e)` or `on<"/device:CPU:0">(e)`.

#include "tagma/expr/expression.hpp"
#include "tagma/place/device.hpp"

namespace tagma {
namespace detail {

/// The name of a local device, "/device:CPU:0", as a constant.
template <device_spec Spec>
[[nodiscard]] constexpr auto device_name() {
  constexpr int digits = [] {
    int n = 1;
    for (int rest = Spec.id; rest >= 10; rest /= 10) ++n;
    return n;
  }();
  constexpr std::string_view type = Spec.type.view(), before = "/device:";
  fixed_string<before.size() + type.size() + 1 + digits + 1> name;
  std::size_t n = 0;
  for (const char c : before) name.text[n++] = c;
  for (const char c : type) name.text[n++] = c;
  name.text[n++] = ':';
  for (int i = digits, rest = Spec.id; i-- > 0; rest /= 10)
    name.text[n + static_cast<std::size_t>(i)] = static_cast<char>('0' + rest % 10);
  return name;
}

/// The record of `Id` with a device request.
template <class Id, fixed_string Device>
struct placed_definition {
  static constexpr fixed_string device = Device;
  static constexpr const ir::record* origin = find_record<Id>();
  static constexpr tensor_spec spec = origin->spec;
  static constexpr ir::record value = [] {
    ir::record r = *origin;
    if (r.device.empty()) r.device = device.view();  // the inner request wins
    r.hash = hash_combine(hash_combine(hash_text("on"), r.hash), hash_text(r.device));
    return r;
  }();
};

}  // namespace detail

/// The node `e`, pinned to a device; a request that `e` already carries wins. The nodes that `e` is made of are not
/// moved. Raises TAGMA-E071 when compiled if the device has no kernel for the operation.
/// @tparam Device `cpu<0>`, or the name of a device in TensorFlow's grammar; TAGMA-E070 if it does not parse
/// @{
template <class Device, expression E, class Place = TAGMA_FRESH_TYPE(Device)>
  requires requires { Device::spec.id; }
[[nodiscard]] constexpr auto on(const E& e) {
  return detail::make_handle<detail::placed_definition<typename E::id, detail::device_name<Device::spec>()>, Place>(e);
}
template <fixed_string Device, expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto on(const E& e) {
  TAGMA_NEEDS_DEVICE("on", Device);
  if constexpr (device_string_parses<Device>)
    return detail::make_handle<detail::placed_definition<typename E::id, Device>, Place>(e);
}
/// @}

}  // namespace tagma

#undef TAGMA_NEEDS_DEVICE
