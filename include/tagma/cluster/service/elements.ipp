// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of elements.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/cluster/service/elements.hpp"
#include "tagma/runtime/rendezvous.hpp"
#include "tagma/tensor/size.hpp"
#include "tagma/transport/frame.hpp"

namespace tagma::service {

TAGMA_DECL void add_elements(std::string& to, const raw_view& tensor) {
  if (tensor.type == dtype::none) return;
  to.resize(aligned(to.size()));
  if (tensor.type != dtype::string) {
    if (tensor.bytes() > 0) to.append(static_cast<const char*>(tensor.data), tensor.bytes());
    return;
  }
  const view<const string_element> texts = tensor.as<string_element>();
  std::uint64_t end = 0;
  to.reserve(to.size() + runtime::handed_over_bytes(tensor));
  for (const std::string_view t : texts) transport::put_number(to, end += t.size());
  for (const std::string_view t : texts) to += t;
}

TAGMA_DECL raw_view elements_reader::take(const tensor_spec& spec) {
  if (spec.type == dtype::none) return {};
  at_ = aligned(at_);
  if (spec.type == dtype::string) {
    const text_elements taken = take_texts(spec);
    taken.write(texts_.emplace_back(taken.count).data());
    return {texts_.back().data(), spec.type, spec.dims};
  }
  const auto size = static_cast<std::uint64_t>(bytes_of(spec));
  if (size > 0 && (at_ > bulk_.size() || size > bulk_.size() - at_))
    fail(status_code::invalid_argument,
         {"the elements have ", bulk_.size(), " bytes, and ", to_string(spec), " ends behind them"});
  const raw_view taken{size > 0 ? bulk_.data() + at_ : nullptr, spec.type, spec.dims};
  at_ += size;
  return taken;
}

TAGMA_DECL void elements_reader::end() const {
  if (at_ != bulk_.size())
    fail(status_code::invalid_argument,
         {"the elements end at ", at_, ", and the message has ", bulk_.size(), " bytes of them"});
}

TAGMA_COLD TAGMA_DECL text_elements elements_reader::take_texts(const tensor_spec& spec) {
  at_ = aligned(at_);
  const auto count = static_cast<std::uint64_t>(spec.dims.elements());
  const std::uint64_t left = at_ > bulk_.size() ? 0 : bulk_.size() - at_;
  if (count > left / 8)
    fail(status_code::invalid_argument,
         {"the elements have ", bulk_.size(), " bytes, and ", to_string(spec), " ends behind them"});
  const char* const ends = reinterpret_cast<const char*>(bulk_.data()) + at_;
  const char* const characters = ends + 8 * count;
  const std::uint64_t most = left - 8 * count;
  std::uint64_t before = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto end = transport::get_number<std::uint64_t>(ends + 8 * i);
    if (end < before || end > most)
      fail(status_code::invalid_argument, {"text ", i, " of ", to_string(spec), " ends at ", end, ", behind ", before,
                                           " and before ", most, " is where it could"});
    before = end;
  }
  at_ += 8 * count + before;
  return {ends, characters, count};
}

TAGMA_COLD TAGMA_DECL void text_elements::write(std::string_view* to) const {
  std::uint64_t before = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto end = transport::get_number<std::uint64_t>(ends + 8 * i);
    to[i] = {characters + before, end - before};
    before = end;
  }
}

}  // namespace tagma::service
