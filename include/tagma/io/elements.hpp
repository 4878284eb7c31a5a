// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The elements of a tensor as bytes of a file.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/io/buffered_reader.hpp"
#include "tagma/tensor/shape.hpp"
#include "tagma/tensor/size.hpp"
#include "tagma/tensor/tensor.hpp"

namespace tagma::io {

static_assert(std::endian::native == std::endian::little || std::endian::native == std::endian::big);

/// Turns the bytes of each element around.
void reverse_bytes(void* elements, std::size_t count, std::size_t size);

namespace detail {

[[noreturn]] void fail_elements(std::string_view name, std::uint64_t missing);

/// Throws unless a tensor may have this size and its source may have as many bytes.
void check_elements(const buffered_reader& in, const tensor_spec& s);

}  // namespace detail

/// Reads the elements of a tensor, row by row. Where nobody knows how many bytes can follow, memory grows with those
/// that arrive. A byte of a boolean tensor is 0 or 1.
/// Throws `data_loss` if there are fewer bytes, or for another byte of a boolean, `resource_exhausted` if no process
/// can address so many.
/// @param order of the bytes of an element in the source
template <class T>
[[nodiscard]] tensor<T> read_elements(buffered_reader& in, const shape& dims, std::endian order) {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, string_element>);
  detail::check_elements(in, {dtype_of<T>, dims});
  const auto bytes = static_cast<std::size_t>(bytes_of({dtype_of<T>, dims}));
  tensor<T> result({0});
  const auto check = [&](std::uint64_t done) {
    if (done < bytes) detail::fail_elements(in.name(), bytes - done);
  };
  if constexpr (std::is_same_v<T, bool>) {
    const tensor<std::uint8_t> plain = read_elements<std::uint8_t>(in, dims, order);
    result = tensor<bool>(dims);
    for (std::size_t i = 0; i < bytes; ++i) {
      if (plain[i] > 1) fail(status_code::data_loss, {in.name(), ": has a boolean of ", plain[i], ", expected 0 or 1"});
      result[i] = plain[i] != 0;
    }
  } else {
    if (in.at_most() == unknown_length) {
      std::string arrived;
      check(in.append(arrived, bytes));
      result = tensor<T>(dims);
      if (bytes > 0) std::memcpy(static_cast<void*>(result.data()), arrived.data(), bytes);
    } else {
      result = tensor<T>(dims);
      check(in.read(result.data(), bytes));
    }
    if (order != std::endian::native) reverse_bytes(result.data(), result.size(), sizeof(T));
  }
  return result;
}

}  // namespace tagma::io

#ifndef TAGMA_COMPILED
#include "tagma/io/elements.ipp"
#endif
