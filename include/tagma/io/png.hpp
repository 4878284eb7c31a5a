// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// PNG pictures as tensors, where `TAGMA_WITH_PNG` is 1 and libpng is linked. http://www.libpng.org/pub/png/spec/1.2

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#if defined(TAGMA_WITH_PNG) && TAGMA_WITH_PNG
#include <png.h>
#endif

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/io/image.hpp"
#include "tagma/tensor/shape.hpp"
#include "tagma/tensor/tensor.hpp"

#if defined(TAGMA_WITH_PNG) && TAGMA_WITH_PNG
TAGMA_NEEDS_LIBRARY(compiled_with_png)
#else
TAGMA_NEEDS_LIBRARY(compiled_without_png)
#endif

namespace tagma::io {

namespace detail {

inline constexpr std::string_view png_magic = "\x89PNG\r\n\x1a\n";

#if defined(TAGMA_WITH_PNG) && TAGMA_WITH_PNG

inline constexpr bool with_png = true;

/// A picture that gives its rows one after the other.
class png_decoder {
 public:
  /// Reads the header.
  /// @param bits of a sample of the result: 8 or 16
  TAGMA_COLD png_decoder(std::string_view bytes, const image_options& options, int bits, std::string_view name)
      : bytes_(bytes), left_(bytes), name_(name), options_(options) {
    if (!bytes.starts_with(png_magic))
      fail(bytes.size() < png_magic.size() && png_magic.starts_with(bytes) ? status_code::data_loss
                                                                           : status_code::invalid_argument,
           {name, ": is no PNG: it does not begin with \\x89PNG\\r\\n\\x1a\\n"});
    if (!calls_.reaches_end([this] { open(); })) fail_here();
    png_uint_32 width = 0, height = 0;
    int depth = 0, colors = 0;
    (void)png_get_IHDR(of_.png, of_.info, &width, &height, &depth, &colors, &interlace_, nullptr, nullptr);
    info_.height = static_cast<extent>(height);
    info_.width = static_cast<extent>(width);
    const bool alpha = (colors & PNG_COLOR_MASK_ALPHA) != 0 || has_clear_colours();
    info_.channels = ((colors & PNG_COLOR_MASK_COLOR) != 0 ? 3 : 1) + (alpha ? 1 : 0);
    info_.bits = depth == 16 ? 16 : 8;
    bits_ = bits;
    pixel_bits_ = static_cast<extent>(depth) * png_get_channels(of_.png, of_.info);
    dims_ = {info_.height, info_.width, image_channels(options.channels, info_.channels, name)};
  }
  png_decoder(const png_decoder&) = delete;
  png_decoder& operator=(const png_decoder&) = delete;

  [[nodiscard]] const image_info& info() const { return info_; }
  /// Of the result.
  [[nodiscard]] const shape& dims() const { return dims_; }
  [[nodiscard]] int own_channels() const { return info_.channels; }

  /// The next row, valid until the one after it is asked for; nullptr where the bytes end and may do so.
  [[nodiscard]] const std::byte* next_row() {
    if (row_ < 0) start();
    if (ended_ && interlace_ == PNG_INTERLACE_NONE) return nullptr;
    if (interlace_ == PNG_INTERLACE_NONE) {
      ++row_;
      if (!calls_.reaches_end([this] { read_row(rows_.get()); })) {
        fail_unless_accepted();
        return nullptr;
      }
      return rows_.get();
    }
    return rows_.get() + row_bytes_ * static_cast<std::size_t>(shown_++);
  }
  /// Reads what is behind the last row.
  void finish() {
    row_ = info_.height + 1;
    if (!ended_ && !calls_.reaches_end([this] { png_read_end(of_.png, nullptr); })) fail_unless_accepted();
  }

 private:
  struct handles {
    handles() = default;
    handles(const handles&) = delete;
    handles& operator=(const handles&) = delete;
    ~handles() { png_destroy_read_struct(&png, &info, nullptr); }
    png_structp png = nullptr;
    png_infop info = nullptr;
  };

  static void on_error(png_structp png, png_const_charp message) {
    static_cast<png_decoder*>(png_get_error_ptr(png))->calls_.leave(message);
  }
  static void on_warning(png_structp, png_const_charp) {}  // of chunks besides the pixels, which are passed over
  static void on_read(png_structp png, png_bytep to, std::size_t size) {
    auto* const own = static_cast<png_decoder*>(png_get_io_ptr(png));
    if (size > own->left_.size()) {
      own->ended_ = true;
      own->calls_.leave("");
    }
    std::memcpy(to, own->left_.data(), size);
    own->left_.remove_prefix(size);
  }

  void open() {
    of_.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, &on_error, &on_warning);
    if (of_.png == nullptr) calls_.leave("libpng cannot begin: it is of another version, or has no memory");
    of_.info = png_create_info_struct(of_.png);
    if (of_.info == nullptr) calls_.leave("libpng has no memory");
    png_set_user_limits(of_.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // what is too large is refused here
#ifdef PNG_HANDLE_AS_UNKNOWN_SUPPORTED
    // Chunks that say nothing of samples, some of them compressed: nobody reads them.
    static const png_byte passed_over[] =
        "cHRM\0gAMA\0iCCP\0sBIT\0sRGB\0bKGD\0hIST\0pHYs\0sPLT\0tIME\0iTXt\0tEXt\0zTXt\0"
        "eXIf\0oFFs\0pCAL\0sCAL\0sTER";
    png_set_keep_unknown_chunks(of_.png, PNG_HANDLE_CHUNK_NEVER, passed_over, static_cast<int>(sizeof passed_over / 5));
#endif
    png_set_read_fn(of_.png, this, &on_read);
    // Where bytes may end, no more than these of the last ones are lost.
    if (options_.accept_truncated) png_set_compression_buffer_size(of_.png, 16);
    png_read_info(of_.png, of_.info);
  }
  /// True if a chunk says which colours are transparent. Where a palette follows, libpng still has that chunk, and
  /// forgets what it says.
  [[nodiscard]] bool has_clear_colours() const {
    png_bytep alphas = nullptr;
    int count = 0;
    png_color_16p colour = nullptr;
    return png_get_tRNS(of_.png, of_.info, &alphas, &count, &colour) != 0 && count > 0;
  }
  void set_transforms() {
    const int colors = png_get_color_type(of_.png, of_.info), depth = png_get_bit_depth(of_.png, of_.info);
    if (colors == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(of_.png);
    if (colors == PNG_COLOR_TYPE_GRAY && depth < 8) png_set_expand_gray_1_2_4_to_8(of_.png);
    if (has_clear_colours()) png_set_tRNS_to_alpha(of_.png);
    if (depth == 16 && bits_ == 8) png_set_strip_16(of_.png);
    if (depth < 16 && bits_ == 16) png_set_expand_16(of_.png);
    if (bits_ == 16 && std::endian::native == std::endian::little) png_set_swap(of_.png);
    passes_ = png_set_interlace_handling(of_.png);
    png_read_update_info(of_.png, of_.info);
  }
  void read_row(std::byte* to) { png_read_row(of_.png, reinterpret_cast<png_bytep>(to), nullptr); }

  /// Bytes of all rows before they are compressed, each with one that says how it is filtered.
  [[nodiscard]] extent packed_bytes() const {
    const auto of = [this](extent height, extent width) {
      return height == 0 || width == 0 ? 0 : height * (1 + (width * pixel_bits_ + 7) / 8);
    };
    if (interlace_ == PNG_INTERLACE_NONE) return of(info_.height, info_.width);
    constexpr extent first_row[] = {0, 0, 4, 0, 2, 0, 1}, row_step[] = {8, 8, 8, 4, 4, 2, 2};
    constexpr extent first[] = {0, 4, 0, 2, 0, 1, 0}, step[] = {8, 8, 4, 4, 2, 2, 1};
    extent bytes = 0;
    for (int p = 0; p < 7; ++p)
      bytes += of((info_.height - first_row[p] + row_step[p] - 1) / row_step[p],
                  (info_.width - first[p] + step[p] - 1) / step[p]);
    return bytes;
  }
  /// Before the first row: the limits, then memory. Extents have 31 bits and pixels 64 at most, so that a picture
  /// beyond `max_bytes` is refused before bytes are counted in 64 bits.
  TAGMA_COLD void start() {
    check_image_bytes(dims_, bits_ == 8 ? 1 : 4, options_.max_bytes, name_);
    shape own = dims_;
    own[2] = info_.channels;
    check_image_bytes(own, bits_ == 8 ? 1 : 2, options_.max_bytes, name_);
    constexpr extent most_per_byte = 1032;  // of deflate
    if (!options_.accept_truncated && packed_bytes() / most_per_byte > static_cast<extent>(bytes_.size()))
      fail_dense_image(info_, bytes_.size(), name_);
    row_ = 0;
    if (!calls_.reaches_end([this] { set_transforms(); })) fail_here();
    row_bytes_ = static_cast<std::size_t>(info_.width) * static_cast<std::size_t>(info_.channels * bits_ / 8);
    if (png_get_rowbytes(of_.png, of_.info) != row_bytes_)
      fail(status_code::internal,
           {name_, ": libpng has rows of ", png_get_rowbytes(of_.png, of_.info), " bytes, expected ", row_bytes_});
    const bool whole = interlace_ != PNG_INTERLACE_NONE;
    rows_ = image_memory(whole ? row_bytes_ * static_cast<std::size_t>(info_.height) : row_bytes_);
    if (whole && !calls_.reaches_end([this] {
          for (int p = 0; p < passes_; ++p) {
            std::byte* to = rows_.get();
            for (row_ = 0; row_ < info_.height; to += row_bytes_) ++row_, read_row(to);
          }
        }))
      fail_unless_accepted();
  }

  TAGMA_COLD void fail_unless_accepted() const {
    if (!ended_ || !options_.accept_truncated) fail_here();
  }
  [[noreturn]] TAGMA_COLD void fail_here() const {
    const std::string where = row_text(row_, info_.height);
    if (ended_) fail(status_code::data_loss, {name_, ": the PNG ends after ", bytes_.size(), " bytes,", where});
    fail(calls_.message().find("emory") != std::string_view::npos ? status_code::resource_exhausted
                                                                  : status_code::data_loss,
         {name_, ": corrupted PNG", where, ": ", calls_.message()});
  }

  std::string_view bytes_, left_, name_;
  image_options options_;
  image_info info_;
  shape dims_;
  int bits_ = 8, interlace_ = 0, passes_ = 1;
  extent pixel_bits_ = 8, row_ = -1, shown_ = 0;  // the row that is read, counted from 1
  std::size_t row_bytes_ = 0;
  bool ended_ = false;
  std::unique_ptr<std::byte[]> rows_;  // one, or all of an interlaced picture
  jump_target calls_;
  handles of_;
};

#else
inline constexpr bool with_png = false;
#endif

template <class T>
inline constexpr bool is_png_sample = std::is_same_v<T, std::uint8_t> || std::is_same_v<T, std::int32_t>;

/// Throws `unimplemented` for a PNG in a program without libpng.
[[noreturn]] void fail_without_png(std::string_view name);

}  // namespace detail

/// A PNG as a tensor [height, width, channels]: palettes as RGB, transparent colours as alpha, fewer bits than 8
/// stretched to all values. Samples of 16 bits lose the lower 8 in a tensor of `std::uint8_t`; those of 8 bits are
/// multiplied by 257 in one of `std::int32_t`. Gamma and profiles are not applied.
/// @tparam T `std::uint8_t`, or `std::int32_t` for 16 bits
/// @param name what errors call the picture: its file or record
/// Throws InvalidArgument for what is no PNG, DataLoss for one that is damaged, ends too early or says a size that its
/// bytes cannot hold, ResourceExhausted for one beyond `max_bytes`. Raises TAGMA-E260 and TAGMA-E261.
template <class T = std::uint8_t>
[[nodiscard]] tensor<T> decode_png(std::string_view bytes, const image_options& options = {},
                                   std::string_view name = "image") {
  constexpr bool known = detail::is_png_sample<T>;
  static_assert(detail::is_png_sample<T>, "TAGMA-E260 decode_png: makes std::uint8_t, or std::int32_t of 16 bits");
  static_assert(!known || detail::with_png,
                "TAGMA-E261 decode_png: needs TAGMA_WITH_PNG=1 and libpng (with CMake, link tagma::png)");
#if defined(TAGMA_WITH_PNG) && TAGMA_WITH_PNG
  if constexpr (known) {
    detail::png_decoder image(bytes, options, sizeof(T) == 1 ? 8 : 16, name);
    return detail::decode_rows<T>(image, bytes.size());
  }
#else
  (void)bytes, (void)options, (void)name;
  return {};
#endif
}

}  // namespace tagma::io

#ifndef TAGMA_COMPILED
#include "tagma/io/png.ipp"
#endif
