// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// How much of a device a process may take, and which devices it sees: TensorFlow's GPU options.

#include <string_view>

#include "tagma/base/array_view.hpp"
#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/runtime/stream_driver.hpp"

namespace tagma::device::stream {

inline constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

/// What a pool may take of each device.
struct memory_options {
  /// The share of what the device has, above 0 and up to 1, as `per_process_gpu_memory_fraction`: processes that share
  /// a device give each other room by it. 0: what is free, less a reserve for the libraries of the vendor.
  double fraction = 0;
  /// Bytes that are the most in any case; 0: no such bound.
  std::int64_t cap = 0;
  /// Take memory as it is asked for, from a mebibyte on, each time twice as much; else all of it at the first use.
  bool allow_growth = false;
};

/// The bytes that `options` let a process take of a device. The reserve is 300 MiB or a twentieth of what is free,
/// whatever is more; 225 MiB where less than 2 GiB is free. Throws InvalidArgument for a share or a cap that is none.
[[nodiscard]] TAGMA_COLD inline std::int64_t memory_limit(const memory_options& options,
                                                          const runtime::device_memory& has) {
  if (!(options.fraction >= 0 && options.fraction <= 1))
    fail(status_code::invalid_argument,
         "the fraction of a device's memory for one process is above 0 and at most 1, or 0 for what is free");
  if (options.cap < 0) fail(status_code::invalid_argument, {"a cap of ", options.cap, " bytes of a device's memory"});
  std::int64_t limit = 0;
  if (options.fraction > 0) {
    limit = static_cast<std::int64_t>(static_cast<double>(has.total) * options.fraction);
  } else {
    std::int64_t reserve = 225 * mebibyte;
    if (has.free >= 2048 * mebibyte) reserve = has.free / 20 > 300 * mebibyte ? has.free / 20 : 300 * mebibyte;
    limit = has.free > reserve ? has.free - reserve : 0;
  }
  return options.cap > 0 && options.cap < limit ? options.cap : limit;
}

/// Checks a list of devices: entry i is the number that the driver has for device i. Throws InvalidArgument if one
/// occurs twice or does not exist.
/// @param existing how many devices the driver has
TAGMA_COLD inline void check_visible_devices(array_view<const int> list, int existing) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] < 0 || list[i] >= existing)
      fail(status_code::invalid_argument,
           {"the list of visible devices has ", list[i], ", where there are ", existing, " devices, from 0 on"});
    for (std::size_t k = 0; k < i; ++k)
      if (list[k] == list[i])
        fail(status_code::invalid_argument, {"the list of visible devices has ", list[i], " twice"});
  }
}

/// Reads a list such as "5,3": device 0 of the process is then 5 of the driver, and device 1 is 3. An empty text lists
/// all, in order. Throws InvalidArgument for anything else than numbers between commas, and as `check_visible_devices`.
[[nodiscard]] TAGMA_COLD inline heap_array<int> parse_visible_devices(std::string_view text, int existing) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  std::size_t entries = 1;
  bool empty = true;
  for (const char c : text) {
    entries += c == ',';
    empty = empty && blank(c);
  }
  heap_array<int> list(empty ? static_cast<std::size_t>(existing < 0 ? 0 : existing) : entries);
  if (empty) {
    for (std::size_t i = 0; i < list.size(); ++i) list[i] = static_cast<int>(i);
    return list;
  }
  std::size_t at = 0;
  for (std::size_t i = 0; i < entries; ++i, ++at) {
    while (at < text.size() && blank(text[at])) ++at;
    std::int64_t number = 0;
    const std::size_t digits = at;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
      if (number < 1'000'000) number = number * 10 + (text[at] - '0');
    const bool none = at == digits;
    while (at < text.size() && blank(text[at])) ++at;
    if (none || (at < text.size() && text[at] != ','))
      fail(status_code::invalid_argument,
           {"the list of visible devices is '", text, "'; it is written as numbers between commas, such as '1,0'"});
    list[i] = static_cast<int>(number);
  }
  check_visible_devices(list, existing);
  return list;
}

}  // namespace tagma::device::stream
