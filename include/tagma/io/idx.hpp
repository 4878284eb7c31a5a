// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The IDX format of the MNIST family: two zero bytes, the element type, the rank, big-endian extents, the elements.
/// Files compressed with gzip are read where `TAGMA_WITH_ZLIB` is 1 and zlib is linked.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "tagma/base/error.hpp"
#include "tagma/base/replace_file.hpp"
#include "tagma/io/buffered_reader.hpp"
#include "tagma/io/compression.hpp"
#include "tagma/io/elements.hpp"
#include "tagma/tensor/dtype.hpp"
#include "tagma/tensor/shape.hpp"
#include "tagma/tensor/tensor.hpp"
#include "tagma/tensor/view.hpp"

namespace tagma {

namespace io {

/// The element types of IDX files by their numbers there.
struct idx_type {
  std::uint8_t code;
  dtype type;
};
/// The element types of IDX and their codes.
inline constexpr idx_type idx_types[] = {{0x08, dtype::uint8}, {0x09, dtype::int8},    {0x0b, dtype::int16},
                                         {0x0c, dtype::int32}, {0x0d, dtype::float32}, {0x0e, dtype::float64}};

namespace detail {
template <class T>
[[nodiscard]] constexpr std::uint8_t idx_code() {
  for (const idx_type& known : idx_types)
    if (known.type == dtype_of<T>) return known.code;
  return 0;
}
[[nodiscard]] std::string idx_type_text(std::uint8_t code);

/// Reads everything before the elements.
[[nodiscard]] shape read_idx_header(buffered_reader& in, std::uint8_t code);
}  // namespace detail

/// Reads a tensor from an IDX file that is open, as `tagma::read_idx` does.
template <class T = std::uint8_t>
[[nodiscard]] tensor<T> read_idx(buffered_reader in) {
  static_assert(detail::idx_code<T>() != 0, "IDX files have elements of 8 bits, int16, int32, float and double");
  const shape dims = detail::read_idx_header(in, detail::idx_code<T>());
  tensor<T> result = read_elements<T>(in, dims, std::endian::big);
  if (!in.at_end()) fail(status_code::data_loss, {in.name(), ": has more bytes after the last element"});
  return result;
}

}  // namespace io

/// Reads a tensor from an IDX file, which may be compressed. Throws `not_found` if there is no such file, `data_loss`
/// if it is no IDX file, truncated, longer than it says or corrupted, `invalid_argument` for other element types and
/// more than six axes, `resource_exhausted` for an empty tensor whose other extents are beyond all bounds, and
/// `unimplemented` for a compressed file without zlib.
template <class T = std::uint8_t>
[[nodiscard]] tensor<T> read_idx(const std::string& path) {
  return io::read_idx<T>(io::buffered_reader(io::open(path, io::compression::detect)));
}

/// Replaces a file by an IDX file of a tensor, as `replace_file` does. Throws `invalid_argument` for a scalar, and for
/// an extent that 32 bits do not hold.
template <class T>
void write_idx(const std::string& path, const view<const T>& elements) {
  static_assert(io::detail::idx_code<T>() != 0, "IDX files have elements of 8 bits, int16, int32, float and double");
  const shape& dims = elements.dims();
  if (dims.rank == 0) fail(status_code::invalid_argument, {path, ": an IDX file has one axis at least"});
  std::string head = {0, 0, static_cast<char>(io::detail::idx_code<T>()), static_cast<char>(dims.rank)};
  for (const extent e : dims.span()) {
    if (e > UINT32_MAX) fail(status_code::invalid_argument, {path, ": an IDX file has no axis of ", e, " positions"});
    for (int shift = 24; shift >= 0; shift -= 8) head += static_cast<char>(e >> shift & 0xff);
  }
  std::string turned;
  std::string_view bytes(reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T));
  if (std::endian::native != std::endian::big && sizeof(T) > 1) {
    turned = bytes;
    io::reverse_bytes(turned.data(), elements.size(), sizeof(T));
    bytes = turned;
  }
  const std::string_view pieces[] = {head, bytes};
  replace_file(path, pieces);
}
template <class T>
void write_idx(const std::string& path, const tensor<T>& elements) {
  write_idx(path, view<const T>(elements));
}

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/io/idx.ipp"
#endif
