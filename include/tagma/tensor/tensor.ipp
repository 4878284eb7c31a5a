// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of tensor.hpp: in the compiled half, or else in each file that includes it.

#include <cstring>

#include "tagma/base/config.hpp"
#include "tagma/base/large_pages.hpp"
#include "tagma/tensor/tensor.hpp"

namespace tagma::detail {

/// Bytes of a tensor that is worth large pages.
inline constexpr std::size_t large_tensor = std::size_t{1} << 22;

TAGMA_COLD TAGMA_DECL void* allocate_elements(const tensor_spec& s, std::size_t& size) {
  check_size(s);
  size = static_cast<std::size_t>(s.dims.elements());
  if (s.dims.rank == 0 || size == 0) return nullptr;
  const auto bytes = static_cast<std::size_t>(bytes_of(s));
  void* const data = ::operator new (bytes, std::align_val_t{tensor_alignment}, std::nothrow);
  if (data == nullptr) fail_no_memory(1, bytes, sentence({"a tensor of ", to_string(s)}));
  if (bytes >= large_tensor) advise_large_pages(static_cast<std::byte*>(data), bytes);
  return data;
}

TAGMA_COLD TAGMA_DECL shared_bytes copy_characters(array_view<string_element> texts) {
  std::size_t size = 0;
  for (const string_element& t : texts) size += t.size();
  shared_bytes copies;
  if (size > 0) copies = shared_bytes(size);
  char* to = reinterpret_cast<char*>(copies.data());
  for (string_element& t : texts) {
    if (!t.empty()) std::memcpy(to, t.data(), t.size());
    t = {to, t.size()};
    to += t.size();
  }
  return copies;
}

}  // namespace tagma::detail
