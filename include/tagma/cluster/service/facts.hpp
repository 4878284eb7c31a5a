// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What a server finds out to say it of itself.

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/reports.hpp"
#include "tagma/runtime/resource.hpp"
#include "tagma/tensor/dtype.hpp"
#include "tagma/tensor/view.hpp"
#include "tagma/transport/link.hpp"

namespace tagma::service {

namespace detail {

template <class T>
[[nodiscard]] element_norms norms_of_type(const T* elements, std::size_t count) {
  element_norms n;
  double squares = 0;
  std::uint64_t finite = 0;
  for (std::size_t i = 0; i < count; ++i) {
    double x = 0;
    if constexpr (std::is_arithmetic_v<T>)
      x = static_cast<double>(elements[i]);
    else
      x = static_cast<double>(static_cast<float>(elements[i]));
    if (!std::isfinite(x)) {
      ++n.not_finite;
      continue;
    }
    if (finite == 0 || x < n.least) n.least = x;
    if (finite == 0 || x > n.most) n.most = x;
    ++finite;
    n.mean += (x - n.mean) / static_cast<double>(finite);
    n.l1 += std::fabs(x);
    squares += x * x;
  }
  n.l2 = std::sqrt(squares);
  return n;
}

template <std::size_t... Types>
[[nodiscard]] element_norms norms_of_any(const raw_view& v, std::size_t count, std::index_sequence<Types...>) {
  element_norms found;
  const auto one = [&]<dtype Type>() {
    using T = typename element_traits<Type>::type;
    if constexpr (Type != dtype::none && Type != dtype::string)
      if (v.type == Type) found = norms_of_type(static_cast<const T*>(v.data), count);
  };
  (one.template operator()<static_cast<dtype>(Types)>(), ...);
  return found;
}

}  // namespace detail

/// Of the elements of a tensor; none of texts.
[[nodiscard]] element_norms norms_of(const raw_view& elements);

/// Memory of this process that is in use, in bytes, as Linux says; 0 if it does not.
[[nodiscard]] std::uint64_t resident_bytes();

/// A resource of a container as it is now. Waits for nobody: not for an update of a variable, either.
[[nodiscard]] resource_list::entry entry_of(runtime::resource& r);

/// A connection as it is now.
/// @param now_ns on the clock of its network
[[nodiscard]] server_status::connection connection_of(const transport::link& at, bool incoming, std::int64_t now_ns);

}  // namespace tagma::service

#ifndef TAGMA_COMPILED
#include "tagma/cluster/service/facts.ipp"
#endif
