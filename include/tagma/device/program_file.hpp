// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Programs in files: the graph, the numbers written in place, the names of the outputs. docs/program_format.md has
/// every byte. What is read is verified, whoever wrote it: a program that is returned runs kernels on checked extents.

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/plan/any_program.hpp"
#include "tagma/tensor/shape.hpp"

namespace tagma {

namespace detail {

inline constexpr std::string_view program_magic{"\x89tagma\r\n", 8};
inline constexpr std::uint32_t program_version = 1;
/// Flags.
inline constexpr std::uint32_t program_is_soft = 1, program_is_part = 2;
/// Bytes in front of the operations, and those of the checksum behind the outputs.
inline constexpr std::size_t program_head_bytes = 64, program_tail_bytes = 4;

/// Numbers in little-endian order.
class program_writer {
 public:
  template <class T>
  void number(T value) {
    auto bits = static_cast<std::uint64_t>(value);
    for (std::size_t i = 0; i < sizeof(T); ++i, bits >>= 8) bytes_ += static_cast<char>(bits & 0xff);
  }
  /// A length of `Length` bytes, and the characters.
  template <class Length>
  void text(std::string_view t, const char* what) {
    if (t.size() > static_cast<Length>(-1))
      fail(status_code::invalid_argument, {"write_program: ", what, " of ", t.size(), " bytes"});
    number(static_cast<Length>(t.size()));
    bytes_ += t;
  }
  void real(double value) { number(std::bit_cast<std::uint64_t>(value)); }
  void dims(const shape& s) {
    number(static_cast<std::uint8_t>(s.rank));
    for (const extent e : s.span()) number(e);
  }
  void set_at(std::size_t at, std::uint64_t value) {
    for (std::size_t i = 0; i < 8; ++i, value >>= 8) bytes_[at + i] = static_cast<char>(value & 0xff);
  }
  [[nodiscard]] std::string& bytes() { return bytes_; }

 private:
  std::string bytes_;
};

/// The same backwards; nothing is read beyond the end. Sentences begin with `read_program` and the offset.
class program_reader {
 public:
  explicit program_reader(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }
  [[noreturn]] TAGMA_COLD void refuse(std::initializer_list<text_part> parts,
                                      status_code code = status_code::data_loss) const {
    std::string text = sentence({"read_program: at byte ", at_, ": "});
    append_parts(text, parts);
    fail(code, text);
  }
  [[nodiscard]] std::string_view take(std::size_t size) {
    if (size > left()) refuse({"needs ", size, " more bytes, and there are ", left()});
    const std::string_view part = bytes_.substr(at_, size);
    at_ += size;
    return part;
  }
  template <class T>
  [[nodiscard]] T number() {
    const std::string_view part = take(sizeof(T));
    std::uint64_t bits = 0;
    for (std::size_t i = sizeof(T); i-- > 0;) bits = bits << 8 | static_cast<unsigned char>(part[i]);
    return static_cast<T>(bits);
  }
  template <class Length>
  [[nodiscard]] std::string_view text() {
    return take(number<Length>());
  }
  [[nodiscard]] double real() { return std::bit_cast<double>(number<std::uint64_t>()); }
  [[nodiscard]] shape dims() {
    const auto rank = number<std::uint8_t>();
    if (rank > max_rank) refuse({"a shape of ", static_cast<int>(rank), " axes"});
    shape s;
    for (int i = 0; i < rank; ++i) s.push_back(number<extent>());
    return s;
  }
  /// How many things of at least `least` bytes follow, none more than `most`: their bytes are there before there is
  /// memory for them.
  [[nodiscard]] std::size_t count(const char* what, std::size_t least, std::size_t most) {
    const std::size_t n = number<std::uint32_t>();
    if (n > most || n > left() / least)
      refuse({n, " ", what, ", where at most ", n > most ? most : left() / least, " can be"});
    return n;
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

}  // namespace detail

/// The bytes of a program. Equal programs have equal bytes.
/// Throws InvalidArgument for a name of more than 65,535 bytes, Unimplemented for an operation that files cannot have.
[[nodiscard]] std::string write_program(const any_program& program);

/// The program of such bytes. Throws DataLoss for bytes that are none, Unimplemented for a version or an operation that
/// is not known, InvalidArgument for a graph that no compiler has made.
[[nodiscard]] any_program read_program_bytes(std::string_view bytes);

/// Writes a program to a file, which is replaced as a whole. Throws what the file system says.
void write_program(const any_program& program, const std::string& path);
/// Reads it back; throws as `read_program_bytes`, and what the file system says.
[[nodiscard]] any_program read_program(const std::string& path);

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/device/program_file.ipp"
#endif
