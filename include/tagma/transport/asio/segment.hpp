// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Memory that two processes of one machine share, with a ring of bytes in each direction. Who connects makes it,
/// without a name; the other end finds it among the open files of that process. It belongs to the processes alone:
/// nothing is left when both are gone, however they went. It is for Linux; elsewhere there is none.
///
/// What the other end writes there is not believed: positions are read once and compared with what is possible, and
/// bytes are copied out before anybody looks at them. The memory cannot shrink, so that no access fails.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tagma/base/atomic.hpp"
#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/transport/inlet.hpp"
#include "tagma/transport/sha256.hpp"

namespace tagma::transport::asio {

/// One end. For one thread.
class segment {
 public:
  /// Bytes of a ring: enough that ends seldom wait for each other, and little enough to stay in caches, where the
  /// second copy costs little.
  static constexpr std::size_t usual_ring = 1024 * 1024;

  /// nullptr where the system has none to give.
  /// @param ring a power of two
  [[nodiscard]] static std::unique_ptr<segment> make(std::size_t ring = usual_ring);
  /// What the other end has made.
  /// @param where its `where`, to be distrusted
  /// @param why set if nullptr is returned
  [[nodiscard]] static std::unique_ptr<segment> find(std::string_view where, std::optional<error>& why);
  segment(const segment&) = delete;
  segment& operator=(const segment&) = delete;
  ~segment();

  /// How the other end finds it: process, descriptor, bytes of a ring (8 each), and 32 random bytes that are in it.
  [[nodiscard]] std::string where() const;
  /// The other end has it: it need not be found any more.
  void found();

  /// @name Bytes
  /// @{
  /// Takes bytes from the beginning of the pieces, as far as there is room, and not many at a time: whoever waits for
  /// them is to be woken early.
  [[nodiscard]] std::size_t write(std::span<const std::span<const std::byte>> pieces);
  /// 0: there are none.
  [[nodiscard]] std::size_t read(const inlet_room& to);
  /// The other end has broken it, and nothing of it can be used.
  [[nodiscard]] bool is_broken() const { return broken_; }
  /// @}

  /// @name Waiting
  /// Who waits is woken by whatever else leads from one end to the other.
  /// @{
  /// Whether the other end is to be woken, since there are bytes or room for which it waits; true once for each time.
  [[nodiscard]] bool is_to_wake();
  /// This end wants to be woken when there are bytes. False: there are some now.
  [[nodiscard]] bool waits_to_read();
  /// Likewise for room.
  [[nodiscard]] bool waits_to_write();
  /// @}

 private:
  /// Of one direction. Bytes are counted from the beginning; what is at a time in the ring are those between the two.
  struct lane {
    alignas(64) atomic<std::uint64_t> written;
    alignas(64) atomic<std::uint64_t> read;
    alignas(64) atomic<std::uint32_t> reader_waits;
    alignas(64) atomic<std::uint32_t> writer_waits;
  };
  struct head {
    digest nonce{};
    lane lanes[2];
  };
  static constexpr std::size_t head_bytes = 4096;
  static_assert(sizeof(head) <= head_bytes);

  segment(void* at, std::size_t ring, int file, bool made);
  [[nodiscard]] static std::size_t bytes(std::size_t ring) { return head_bytes + 2 * ring; }
  [[nodiscard]] std::uint64_t space();
  [[nodiscard]] std::uint64_t waiting();

  head* head_;
  lane *out_, *in_;
  std::byte *out_ring_, *in_ring_;
  std::size_t ring_;
  int file_;
  std::uint64_t written_ = 0, read_ = 0;  // of this end, whatever stands there
  bool broken_ = false;
};

}  // namespace tagma::transport::asio

#ifndef TAGMA_COMPILED
#include "tagma/transport/asio/segment.ipp"
#endif
