// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What the decoders of pictures share: options, channels, limits, and calls of libraries that leave by longjmp.

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/base/no_memory.hpp"
#include "tagma/tensor/shape.hpp"
#include "tagma/tensor/size.hpp"
#include "tagma/tensor/tensor.hpp"

namespace tagma::io {

/// The formats of pictures that are decoded.
enum class image_format : std::uint8_t { png, jpeg };

/// What the beginning of a picture says of it.
struct image_info {
  image_format format = image_format::png;
  extent height = 0;
  extent width = 0;
  int channels = 0;  ///< 1: grey, 2: grey and alpha, 3: RGB, 4: RGBA
  int bits = 8;      ///< of a sample: 16 for a PNG with 16, else 8

  friend bool operator==(const image_info&, const image_info&) = default;
};

/// The most bytes of a decoded picture, unless an option says otherwise: 256 MiB.
inline constexpr std::uint64_t default_image_bytes = std::uint64_t{256} << 20;

/// How any picture is decoded.
struct image_options {
  int channels = 0;               ///< 1: grey, 3: RGB, 4: RGBA, 0: those that the picture has
  bool accept_truncated = false;  ///< bytes that end too early give the rows that they hold
  std::uint64_t max_bytes = default_image_bytes;
};

/// How a JPEG is decoded.
struct jpeg_options {
  int channels = 0;               ///< as in `image_options`
  int ratio = 1;                  ///< 1, 2, 4 or 8: how much smaller the result is, rounded up, at less work
  bool fancy_upscaling = true;    ///< colours are interpolated between their samples, not repeated
  bool accept_truncated = false;  ///< as in `image_options`
  std::uint64_t max_bytes = default_image_bytes;
};

namespace detail {

/// Where a C library ends what it cannot go on with. Its functions, and ours that it calls, are left by longjmp, so
/// none of them may have an object with a destructor.
class jump_target {
 public:
  /// Whether `call` came to its end; if not, `message()` says why.
  template <class Call>
  [[nodiscard]] bool reaches_end(const Call& call) {
    static_assert(std::is_trivially_destructible_v<Call>);
    if (setjmp(here_) != 0) return false;
    call();
    return true;
  }
  [[noreturn]] void leave(const char* why);
  [[nodiscard]] std::string_view message() const { return message_; }

 private:
  std::jmp_buf here_;
  char message_[256] = {};
};

/// The channels of the result. Throws `invalid_argument` for others than 0, 1, 3 and 4.
[[nodiscard]] int image_channels(int wanted, int own, std::string_view name);

/// Throws `resource_exhausted` for a picture that takes more than it may.
void check_image_bytes(const shape& dims, std::size_t element_size, std::uint64_t most, std::string_view name);
[[noreturn]] void fail_dense_image(const image_info& image, std::size_t bytes, std::string_view name);

/// " in row 4 of 28". Rows are counted from 1; before them is the header.
[[nodiscard]] std::string row_text(extent row, extent height);
/// Bytes that are zero.
[[nodiscard]] std::unique_ptr<std::byte[]> image_memory(std::size_t bytes);

/// A row of pixels with other channels and of another type, of the same range. Grey is 0.299 R + 0.587 G + 0.114 B; an
/// alpha that is not there is opaque, and one that is not asked for is left out.
template <class From, class To>
void convert_pixels(const From* from, int own, To* to, int wanted, std::size_t count) {
  constexpr auto opaque = static_cast<To>(static_cast<From>(-1));
  const auto each = [&](auto write) {
    for (std::size_t i = 0; i < count; ++i, from += own, to += wanted) write();
  };
  const auto grey = [&] { return static_cast<To>((299u * from[0] + 587u * from[1] + 114u * from[2] + 500u) / 1000u); };
  if (own == wanted) {
    const std::size_t samples = count * static_cast<std::size_t>(own);
    if constexpr (std::is_same_v<From, To>)
      std::memcpy(to, from, samples * sizeof(To));
    else
      for (std::size_t i = 0; i < samples; ++i) to[i] = static_cast<To>(from[i]);
  } else if (wanted == 1) {
    if (own < 3)
      each([&] { to[0] = static_cast<To>(from[0]); });
    else
      each([&] { to[0] = grey(); });
  } else {
    const std::size_t g = own < 3 ? 0 : 1, b = own < 3 ? 0 : 2, alpha = static_cast<std::size_t>(own - 1);
    each([&] {
      to[0] = static_cast<To>(from[0]), to[1] = static_cast<To>(from[g]), to[2] = static_cast<To>(from[b]);
      if (wanted == 4) to[3] = own % 2 == 0 ? static_cast<To>(from[alpha]) : opaque;
    });
  }
}

/// The rows of a decoder, as long as there are any, to memory of all rows.
/// @tparam T `std::uint8_t` for samples of 8 bits, else a type that holds 16
template <class T, class Decoder>
void decode_rows_to(Decoder& image, T* to) {
  using sample = std::conditional_t<sizeof(T) == 1, std::uint8_t, std::uint16_t>;
  const shape dims = image.dims();
  const auto width = static_cast<std::size_t>(dims[1]), size = width * static_cast<std::size_t>(dims[2]);
  for (extent row = 0; row < dims[0]; ++row, to += size) {
    const std::byte* const pixels = image.next_row();
    if (pixels == nullptr) return;
    convert_pixels(reinterpret_cast<const sample*>(pixels), image.own_channels(), to, static_cast<int>(dims[2]), width);
  }
  image.finish();
}

/// The same as a tensor. Memory for a picture that is large beside its bytes grows with the rows that come out of them.
template <class T, class Decoder>
[[nodiscard]] tensor<T> decode_rows(Decoder& image, std::size_t bytes) {
  using sample = std::conditional_t<sizeof(T) == 1, std::uint8_t, std::uint16_t>;
  constexpr std::uint64_t free = 64 * 1024, per_byte = 64;
  const shape dims = image.dims();
  const auto elements = static_cast<std::size_t>(dims.elements());
  if (elements * sizeof(T) <= free + per_byte * bytes) {
    tensor<T> result(dims);
    decode_rows_to(image, result.data());
    return result;
  }
  const auto width = static_cast<std::size_t>(dims[1]), size = width * static_cast<std::size_t>(dims[2]);
  std::vector<T> rows;
  for (extent row = 0; row < dims[0]; ++row) {
    const std::byte* const pixels = image.next_row();
    if (pixels == nullptr) break;
    rows.resize(rows.size() + size);
    convert_pixels(reinterpret_cast<const sample*>(pixels), image.own_channels(), rows.data() + (rows.size() - size),
                   static_cast<int>(dims[2]), width);
  }
  if (rows.size() == elements) image.finish();
  tensor<T> result(dims);
  if (!rows.empty()) std::memcpy(result.data(), rows.data(), rows.size() * sizeof(T));
  return result;
}

}  // namespace detail

}  // namespace tagma::io

#ifndef TAGMA_COMPILED
#include "tagma/io/image.ipp"
#endif
