// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// NumPy's files of one array. https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/base/replace_file.hpp"
#include "tagma/io/buffered_reader.hpp"
#include "tagma/io/compression.hpp"
#include "tagma/io/elements.hpp"
#include "tagma/io/npy_texts.hpp"
#include "tagma/tensor/dtype.hpp"
#include "tagma/tensor/shape.hpp"
#include "tagma/tensor/tensor.hpp"
#include "tagma/tensor/view.hpp"

namespace tagma {

namespace io {

/// What stands before the elements. `descr` is the element type as NumPy writes it: "<f4".
struct npy_header {
  std::string descr{};
  bool fortran_order = false;
  shape dims{};
};

namespace detail {

inline constexpr std::string_view npy_magic = "\x93NUMPY";
/// The longest header that is read, in bytes; NumPy has the same bound.
inline constexpr std::size_t npy_longest_header = 10'000;

/// The letter and size of an element type. NumPy has no bfloat16; its bits are those of an unsigned integer.
[[nodiscard]] constexpr std::string_view npy_code(dtype type) {
  switch (type) {
    case dtype::float64:
      return "f8";
    case dtype::float32:
      return "f4";
    case dtype::float16:
      return "f2";
    case dtype::bfloat16:
      return "u2";
    case dtype::int64:
      return "i8";
    case dtype::int32:
      return "i4";
    case dtype::int16:
      return "i2";
    case dtype::int8:
      return "i1";
    case dtype::uint8:
      return "u1";
    case dtype::boolean:
      return "b1";
    default:
      return "";
  }
}

/// Reads the literal of a dictionary that a header is, and nothing else that Python knows. Each function says whether
/// what it looks for was there.
class npy_literal {
 public:
  explicit npy_literal(std::string_view text) : left_(text) {}

  /// A text without escapes.
  [[nodiscard]] bool text(std::string_view& to);
  [[nodiscard]] bool boolean(bool& to);
  /// "()", "(3,)", "(2, 3)" and so on. More axes than a tensor has are counted and left out.
  [[nodiscard]] bool tuple(shape& to, int& axes);
  [[nodiscard]] bool word(std::string_view w);
  [[nodiscard]] bool at_end();

 private:
  void blanks();

  std::string_view left_;
};

[[nodiscard]] bool parse_npy_header(std::string_view text, npy_header& to, int& axes);

}  // namespace detail

/// Reads what stands before the elements. Throws `data_loss` for what is no NumPy file or truncated, `invalid_argument`
/// for a version that is not known, elements of several fields, and more than six axes, and `resource_exhausted` for a
/// header that is too long.
[[nodiscard]] npy_header read_npy_header(buffered_reader& in);

namespace detail {

/// The array whose stored elements, in the order of Fortran, are those of the array with its axes turned around.
template <class T>
[[nodiscard]] tensor<T> turned(const tensor<T>& stored, const shape& dims) {
  tensor<T> result(dims);
  extent strides[max_rank];
  extent stride = 1;
  for (int axis = 0; axis < dims.rank; ++axis) {
    strides[axis] = stride;
    stride *= dims[axis];
  }
  extent index[max_rank] = {}, from = 0;
  for (T& element : result) {
    element = stored[from];
    for (int axis = dims.rank - 1; axis >= 0; --axis) {
      from += strides[axis];
      if (++index[axis] < dims[axis]) break;
      from -= strides[axis] * dims[axis];
      index[axis] = 0;
    }
  }
  if constexpr (std::is_same_v<T, string_element>) result.own_characters();
  return result;
}

}  // namespace detail

/// Reads an array from a NumPy file that is open, as `tagma::read_npy` does.
template <class T>
[[nodiscard]] tensor<T> read_npy(buffered_reader in) {
  constexpr bool texts = std::is_same_v<T, string_element>;
  constexpr std::string_view code = detail::npy_code(dtype_of<T>);
  static_assert(texts || !code.empty(), "NumPy files are read as numbers, booleans and texts");
  const npy_header header = read_npy_header(in);
  const std::string_view descr = header.descr;
  const char order = descr.empty() ? ' ' : descr[0];
  const bool has_order = order == '<' || order == '>' || order == '|' || order == '=';
  shape stored = header.dims;
  if (header.fortran_order)
    for (int axis = 0; axis < stored.rank; ++axis) stored[axis] = header.dims[stored.rank - 1 - axis];
  const std::endian bytes = order == '>' ? std::endian::big : order == '<' ? std::endian::little : std::endian::native;
  tensor<T> result({0});
  if constexpr (texts) {
    detail::npy_text_type type;
    if (!has_order || !detail::parse_npy_text_type(descr.substr(1), type))
      fail(status_code::invalid_argument,
           {in.name(), ": has elements of type '", descr, "', expected texts, such as '|S8' or '<U8'"});
    result = detail::read_npy_texts(in, type, stored, bytes);
  } else {
    if (!has_order || (descr.substr(1) != code && !(dtype_of<T> == dtype::bfloat16 && descr.substr(1) == "V2")))
      fail(status_code::invalid_argument, {in.name(), ": has elements of type '", descr, "', expected '",
                                           sizeof(T) == 1 ? "|" : "<", code, "' for ", tagma::to_string(dtype_of<T>)});
    result = read_elements<T>(in, stored, bytes);
  }
  if (!in.at_end()) fail(status_code::data_loss, {in.name(), ": has more bytes after the last element"});
  if (!header.fortran_order || stored.rank < 2) return result;
  return detail::turned(result, header.dims);
}

/// Everything before the elements of a tensor, of version 1 of the format, a multiple of 64 bytes.
[[nodiscard]] std::string npy_header_of(dtype type, const shape& dims);

}  // namespace io

/// Reads an array from a NumPy file of version 1, 2 or 3, in the order of C or of Fortran, with bytes in either order,
/// which may be compressed with gzip. An array of "u2" or "V2" can be read as bfloat16, which NumPy does not have.
/// Texts, "S" and "U", are read as `std::string_view`, of characters that the tensor owns, without the zeros behind
/// them, and those of "U" in UTF-8. Throws `not_found` if there is no such file, `data_loss` if it is no NumPy file,
/// truncated or longer than it says, `invalid_argument` for another element type and more than six axes,
/// `resource_exhausted` where no process can address so many elements.
template <class T>
[[nodiscard]] tensor<T> read_npy(const std::string& path) {
  return io::read_npy<T>(io::buffered_reader(io::open(path, io::compression::detect)));
}

/// Replaces a file by a NumPy file of a tensor, as `replace_file` does; bfloat16 is written as "u2".
template <class T>
void write_npy(const std::string& path, const view<const T>& elements) {
  static_assert(!io::detail::npy_code(dtype_of<T>).empty(), "NumPy files are written of numbers and booleans");
  const std::string header = io::npy_header_of(dtype_of<T>, elements.dims());
  const std::string_view pieces[] = {header,
                                     {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T)}};
  replace_file(path, pieces);
}
template <class T>
void write_npy(const std::string& path, const tensor<T>& elements) {
  write_npy(path, view<const T>(elements));
}

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/io/npy.ipp"
#endif
