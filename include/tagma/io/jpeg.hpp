// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// JPEG pictures as tensors, where `TAGMA_WITH_JPEG` is 1 and libjpeg is linked, best libjpeg-turbo.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#if defined(TAGMA_WITH_JPEG) && TAGMA_WITH_JPEG
// After <cstdio>, whose names they use.
#include <jpeglib.h>

#include <jerror.h>
#endif

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/io/image.hpp"
#include "tagma/tensor/shape.hpp"
#include "tagma/tensor/tensor.hpp"

#if defined(TAGMA_WITH_JPEG) && TAGMA_WITH_JPEG
TAGMA_NEEDS_LIBRARY(compiled_with_jpeg)
#else
TAGMA_NEEDS_LIBRARY(compiled_without_jpeg)
#endif

namespace tagma::io {

namespace detail {

inline constexpr std::string_view jpeg_magic = "\xff\xd8\xff";

#if defined(TAGMA_WITH_JPEG) && TAGMA_WITH_JPEG

inline constexpr bool with_jpeg = true;

/// The bytes without a segment at their end that is not complete, in which a decoder would take anything for content.
[[nodiscard]] TAGMA_COLD inline std::string_view complete_jpeg_segments(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return std::size_t{static_cast<unsigned char>(bytes[i])}; };
  std::size_t at = 2;  // behind the first marker
  while (true) {
    // Between segments are the bits of a scan, in which 0xff stands before 0 and restart markers only, and markers
    // without a length.
    while (at + 1 < bytes.size() &&
           (byte(at) != 0xff || byte(at + 1) == 0xff || byte(at + 1) <= 1 || (byte(at + 1) & 0xf8) == 0xd0))
      ++at;
    if (at + 1 >= bytes.size() || byte(at + 1) == JPEG_EOI) return bytes;
    if (at + 4 > bytes.size() || at + 2 + 256 * byte(at + 2) + byte(at + 3) > bytes.size()) return bytes.substr(0, at);
    at += 2 + 256 * byte(at + 2) + byte(at + 3);
  }
}

/// A picture that gives its rows one after the other.
class jpeg_decoder {
 public:
  /// Reads the header.
  TAGMA_COLD jpeg_decoder(std::string_view bytes, const jpeg_options& options, std::string_view name)
      : bytes_(bytes), name_(name), options_(options) {
    if (!bytes.starts_with(jpeg_magic))
      fail(bytes.size() < jpeg_magic.size() && jpeg_magic.starts_with(bytes) ? status_code::data_loss
                                                                             : status_code::invalid_argument,
           {name, ": is no JPEG: it does not begin with \\xff\\xd8\\xff"});
    if (const int r = options.ratio; r != 1 && r != 2 && r != 4 && r != 8)
      fail(status_code::invalid_argument, {name, ": a JPEG is not made ", r, " times smaller, expected 1, 2, 4 or 8"});
    if (!calls_.reaches_end([this] { open(); })) fail_here();
    info_.format = image_format::jpeg;
    info_.height = static_cast<extent>(of_.jpeg.image_height);
    info_.width = static_cast<extent>(of_.jpeg.image_width);
    const J_COLOR_SPACE colors = of_.jpeg.jpeg_color_space;
    info_.channels = colors == JCS_GRAYSCALE ? 1 : 3;
    if (colors != JCS_GRAYSCALE && colors != JCS_YCbCr && colors != JCS_RGB && colors != JCS_CMYK && colors != JCS_YCCK)
      fail(status_code::unimplemented,
           {name, ": a JPEG of ", of_.jpeg.num_components, " components, expected grey, YCbCr, RGB, CMYK or YCCK"});
    of_.jpeg.scale_num = 1;
    of_.jpeg.scale_denom = static_cast<unsigned>(options.ratio);
    of_.jpeg.do_fancy_upsampling = options.fancy_upscaling ? 1 : 0;
    of_.jpeg.dct_method = JDCT_ISLOW;
    const int channels = image_channels(options.channels, info_.channels, name);
    cmyk_ = colors == JCS_CMYK || colors == JCS_YCCK;
    of_.jpeg.out_color_space = cmyk_                                                         ? JCS_CMYK
                               : colors == JCS_GRAYSCALE                                     ? JCS_GRAYSCALE
                               : colors == JCS_YCbCr && channels == 1 && info_.channels == 3 ? JCS_GRAYSCALE
                                                                                             : JCS_RGB;
    own_channels_ = of_.jpeg.out_color_space == JCS_GRAYSCALE ? 1 : 3;
    if (!calls_.reaches_end([this] { jpeg_calc_output_dimensions(&of_.jpeg); })) fail_here();
    dims_ = {static_cast<extent>(of_.jpeg.output_height), static_cast<extent>(of_.jpeg.output_width), channels};
  }
  jpeg_decoder(const jpeg_decoder&) = delete;
  jpeg_decoder& operator=(const jpeg_decoder&) = delete;

  [[nodiscard]] const image_info& info() const { return info_; }
  /// Of the result.
  [[nodiscard]] const shape& dims() const { return dims_; }
  [[nodiscard]] int own_channels() const { return own_channels_; }

  /// The next row, valid until the one after it is asked for. Where the bytes end and may do so, the library makes up
  /// what is missing.
  [[nodiscard]] const std::byte* next_row() {
    if (rows_ == 0) start();
    ++rows_;
    if (!calls_.reaches_end([this] { read_row(); })) fail_here();
    if (cmyk_) to_rgb();
    return reinterpret_cast<const std::byte*>(row_.get());
  }
  /// Reads what is behind the last row.
  void finish() {
    rows_ = dims_[0] + 1;
    if (!calls_.reaches_end([this] { (void)jpeg_finish_decompress(&of_.jpeg); })) fail_here();
  }

 private:
  /// More scans than pictures have: each takes a pass over the whole of it, however small the scan.
  static constexpr int most_scans = 500;

  struct handles {
    handles() = default;
    handles(const handles&) = delete;
    handles& operator=(const handles&) = delete;
    ~handles() { jpeg_destroy_decompress(&jpeg); }
    jpeg_decompress_struct jpeg{};
  };

  static jpeg_decoder& of(void* client) { return *static_cast<jpeg_decoder*>(client); }
  static void on_error(j_common_ptr jpeg) {
    char text[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, text);
    of(jpeg->client_data).calls_.leave(text);
  }
  /// A warning says that the data are damaged, but for two of headers. Behind the end of the bytes they are expected.
  static void on_message(j_common_ptr jpeg, int level) {
    if (level >= 0 || of(jpeg->client_data).ended_) return;
    if (jpeg->err->msg_code == JWRN_JFIF_MAJOR || jpeg->err->msg_code == JWRN_ADOBE_XFORM) return;
    on_error(jpeg);
  }
  static void on_text(j_common_ptr) {}
  static void on_source(j_decompress_ptr) {}
  /// Behind the last byte stands, for as long as it is asked for, the marker that ends a picture.
  static boolean on_end(j_decompress_ptr jpeg) {
    static constexpr JOCTET end[] = {0xff, JPEG_EOI};
    jpeg_decoder& own = of(jpeg->client_data);
    own.ended_ = true;
    if (own.row_ == nullptr || !own.options_.accept_truncated) own.calls_.leave("");
    jpeg->src->next_input_byte = end;
    jpeg->src->bytes_in_buffer = sizeof end;
    return 1;
  }
  static void on_skip(j_decompress_ptr jpeg, long count) {
    if (count <= 0) return;
    if (static_cast<std::size_t>(count) > jpeg->src->bytes_in_buffer) {
      (void)on_end(jpeg);
      return;
    }
    jpeg->src->next_input_byte += count;
    jpeg->src->bytes_in_buffer -= static_cast<std::size_t>(count);
  }
  static void on_progress(j_common_ptr jpeg) {
    jpeg_decoder& own = of(jpeg->client_data);
    if (own.of_.jpeg.input_scan_number > most_scans) own.calls_.leave("more than 500 scans");
  }

  void open() {
    of_.jpeg.err = jpeg_std_error(&errors_);
    errors_.error_exit = &on_error;
    errors_.emit_message = &on_message;
    errors_.output_message = &on_text;
    of_.jpeg.client_data = this;
    jpeg_CreateDecompress(&of_.jpeg, JPEG_LIB_VERSION, sizeof(jpeg_decompress_struct));
    // A progressive picture is kept as coefficients, of two bytes each.
    constexpr std::uint64_t most = std::uint64_t{1} << 40;
    of_.jpeg.mem->max_memory_to_use = static_cast<long>(2 * std::min(options_.max_bytes, most));
    source_.init_source = &on_source;
    source_.fill_input_buffer = &on_end;
    source_.skip_input_data = &on_skip;
    source_.resync_to_restart = &jpeg_resync_to_restart;
    source_.term_source = &on_source;
    const std::string_view read = options_.accept_truncated ? complete_jpeg_segments(bytes_) : bytes_;
    source_.next_input_byte = reinterpret_cast<const JOCTET*>(read.data());
    source_.bytes_in_buffer = read.size();
    of_.jpeg.src = &source_;
    progress_.progress_monitor = &on_progress;
    of_.jpeg.progress = &progress_;
    (void)jpeg_read_header(&of_.jpeg, 1);
  }
  void read_row() {
    JSAMPROW to = row_.get();
    (void)jpeg_read_scanlines(&of_.jpeg, &to, 1);
  }
  /// Before the first row: the limits, then memory. A block of 64 samples takes one bit at least, unless it is coded
  /// arithmetically.
  TAGMA_COLD void start() {
    check_image_bytes(dims_, 1, options_.max_bytes, name_);
    if (!options_.accept_truncated && !of_.jpeg.arith_code) {
      std::uint64_t blocks = 0;
      for (int c = 0; c < of_.jpeg.num_components; ++c)
        blocks += std::uint64_t{of_.jpeg.comp_info[c].width_in_blocks} * of_.jpeg.comp_info[c].height_in_blocks;
      if (blocks / 8 > bytes_.size()) fail_dense_image(info_, bytes_.size(), name_);
    }
    const std::size_t samples = cmyk_ ? 4 : static_cast<std::size_t>(own_channels_);
    row_.reset(new JSAMPLE[static_cast<std::size_t>(dims_[1]) * samples]());
    if (!calls_.reaches_end([this] { (void)jpeg_start_decompress(&of_.jpeg); })) fail_here();
  }
  /// In place. Adobe's programs write CMYK the other way round, and say that they are Adobe's.
  void to_rgb() {
    const bool inverted = of_.jpeg.saw_Adobe_marker != 0;
    const JSAMPLE* from = row_.get();
    JSAMPLE* to = row_.get();
    for (extent i = 0; i < dims_[1]; ++i, from += 4, to += 3) {
      const unsigned black = inverted ? from[3] : 255u - from[3];
      for (std::size_t c = 0; c < 3; ++c)
        to[c] = static_cast<JSAMPLE>(((inverted ? from[c] : 255u - from[c]) * black + 127u) / 255u);
    }
  }

  [[noreturn]] TAGMA_COLD void fail_here() const {
    const std::string where = row_text(rows_, dims_[0]);
    if (ended_ && calls_.message().empty())
      fail(status_code::data_loss, {name_, ": the JPEG ends after ", bytes_.size(), " bytes,", where});
    switch (errors_.msg_code) {
      case JERR_NO_BACKING_STORE:
      case JERR_OUT_OF_MEMORY:
        fail(status_code::resource_exhausted,
             {name_, ": the coefficients of the JPEG take more than twice max_bytes, which is ", options_.max_bytes,
              ", or than there is memory"});
      case JERR_SOF_UNSUPPORTED:
      case JERR_BAD_PRECISION:
      case JERR_ARITH_NOTIMPL:
      case JERR_CONVERSION_NOTIMPL:
      case JERR_CCIR601_NOTIMPL:
      case JERR_FRACT_SAMPLE_NOTIMPL:
      case JERR_NOTIMPL:
        fail(status_code::unimplemented, {name_, ": a JPEG that libjpeg does not read: ", calls_.message()});
      default:
        fail(status_code::data_loss, {name_, ": corrupted JPEG", where, ": ", calls_.message()});
    }
  }

  std::string_view bytes_, name_;
  jpeg_options options_;
  image_info info_;
  shape dims_{0, 0, 0};
  int own_channels_ = 3;
  bool cmyk_ = false, ended_ = false;
  extent rows_ = 0;  // that are read, with the one at work
  std::unique_ptr<JSAMPLE[]> row_;
  jump_target calls_;
  jpeg_error_mgr errors_{};
  jpeg_source_mgr source_{};
  jpeg_progress_mgr progress_{};
  handles of_;
};

#else
inline constexpr bool with_jpeg = false;
#endif

/// Throws `unimplemented` for a JPEG in a program without libjpeg.
[[noreturn]] void fail_without_jpeg(std::string_view name);

}  // namespace detail

/// A JPEG as a tensor [height, width, channels]: grey, or RGB, also for CMYK and YCCK, whose ink is taken for ideal.
/// Profiles and orientations are not applied.
/// @param name what errors call the picture: its file or record
/// Throws InvalidArgument for what is no JPEG, DataLoss for one that is damaged, ends too early or says a size that its
/// bytes cannot hold, ResourceExhausted for one beyond `max_bytes`, or twice that while it is decoded, Unimplemented
/// for kinds that libjpeg does not know. Raises TAGMA-E262.
template <class T = std::uint8_t>
[[nodiscard]] tensor<T> decode_jpeg(std::string_view bytes, const jpeg_options& options = {},
                                    std::string_view name = "image") {
  constexpr bool ready = std::is_same_v<T, std::uint8_t> && detail::with_jpeg;
  static_assert(ready,
                "TAGMA-E262 decode_jpeg: makes std::uint8_t, and needs TAGMA_WITH_JPEG=1 and libjpeg (with "
                "CMake, link tagma::jpeg)");
#if defined(TAGMA_WITH_JPEG) && TAGMA_WITH_JPEG
  if constexpr (ready) {
    detail::jpeg_decoder image(bytes, options, name);
    return detail::decode_rows<T>(image, bytes.size());
  }
#else
  (void)bytes, (void)options, (void)name;
  return {};
#endif
}

}  // namespace tagma::io

#ifndef TAGMA_COMPILED
#include "tagma/io/jpeg.ipp"
#endif
