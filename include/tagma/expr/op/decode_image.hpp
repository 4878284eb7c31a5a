// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Texts that are pictures.

#include "tagma/base/config.hpp"
#include "tagma/expr/expression.hpp"
#include "tagma/expr/op/records.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {
namespace op {

/// The PNG or JPEG that each text of input 0 is, along new axes of height, width and channels, which are the
/// attributes. Input 1, if there is one, has their keys.
struct decode_image {
  static constexpr const char* name = "decode_image";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr bool stops_gradient = true;
  static constexpr void takes(auto& t) {
    t.inputs(1, 2), t.rule("TAGMA-E258"), t.needs(t.in(0).type == dtype::string, "takes texts");
    ir::take_keys(t, 1);
    t.axes(0, 0, max_rank - 3), t.rule("TAGMA-E259");
    t.size("height", 1), t.size("width", 1);
    const extent channels = t.attribute("channels", 1, 4);
    t.needs(channels != 2, "a picture has 1, 3 or 4 channels");
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {dtype::uint8, a.in[0].dims};
    for (std::size_t i = 0; i < 3; ++i) a.out.dims.push_back(a.attributes[i]);
    return nullptr;
  }
};

}  // namespace op

namespace diagnose {
/// Texts that have room for three more axes.
template <class Texts>
inline constexpr bool are_pictures =
    are_records<Texts>&& detail::records_of<Texts>::spec_type::value.dims.rank <= max_rank - 3;
template <extent Height, extent Width, extent Channels>
inline constexpr bool is_picture_size = Height > 0 && Width > 0 && (Channels == 1 || Channels == 3 || Channels == 4);
}  // namespace diagnose

/// Pictures in PNG or JPEG: of texts [...] a tensor of `std::uint8_t` [..., Height, Width, Channels]. Programs that run
/// it are compiled with `TAGMA_WITH_PNG`, `TAGMA_WITH_JPEG` or both.
/// @param texts the contents of files; or a tuple of their keys, such as names, and these, as `read` gives it
/// @tparam Channels 1: grey, 3: RGB, 4: RGBA; a picture that has others is converted
/// Throws, with the key or number of the text, InvalidArgument for one that is no picture and for a picture of another
/// size, DataLoss for one that is damaged. Raises TAGMA-E258 and TAGMA-E259.
template <extent Height, extent Width, extent Channels, detail::records E>
[[nodiscard]] constexpr auto decode_image(const E& texts) {
  static_assert(
      diagnose::are_pictures<E>,
      "TAGMA-E258 decode_image: makes pictures of texts that have three axes at most, and keys of their shape, "
      "if any");
  if constexpr (diagnose::are_pictures<E>) {
    static_assert(diagnose::is_picture_size<Height, Width, Channels>,
                  "TAGMA-E259 decode_image: height and width are positive numbers, channels 1, 3 or 4");
    if constexpr (diagnose::is_picture_size<Height, Width, Channels>)
      return std::apply(
          [&](const auto&... keys) {
            return make_operation<op::decode_image, ir::pack_attributes(Height, Width, Channels)>(
                detail::records_of<E>::texts(texts), keys...);
          },
          detail::records_of<E>::keys(texts));
  }
}

}  // namespace tagma
