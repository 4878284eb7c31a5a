// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of segment.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/transport/asio/segment.hpp"

#ifdef __linux__
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#endif

#include <algorithm>
#include <new>
#include <utility>

#include "tagma/transport/broken.hpp"
#include "tagma/transport/frame.hpp"

namespace tagma::transport::asio {

namespace detail {

/// What is copied before the other end may have it: so both ends copy at the same time.
TAGMA_DECL constexpr std::size_t step_bytes = 64 * 1024, write_bytes = 2 * step_bytes;

TAGMA_DECL constexpr std::size_t least_ring = 4096, most_ring = 64 * 1024 * 1024;

}  // namespace detail

TAGMA_DECL segment::segment(void* at, std::size_t ring, int file, bool made)
    : head_(made ? new (at) head : static_cast<head*>(at)),
      out_(&head_->lanes[made ? 0 : 1]),
      in_(&head_->lanes[made ? 1 : 0]),
      out_ring_(static_cast<std::byte*>(at) + head_bytes + (made ? 0 : ring)),
      in_ring_(static_cast<std::byte*>(at) + head_bytes + (made ? ring : 0)),
      ring_(ring),
      file_(file) {}

#ifdef __linux__

TAGMA_DECL std::unique_ptr<segment> segment::make(std::size_t ring) {
  const int file = ::memfd_create("tagma", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return nullptr;
  const std::size_t size = bytes(ring);
  // Memory that is not there would be missed when it is written to.
  const bool whole = ::fallocate(file, 0, 0, static_cast<off_t>(size)) == 0 &&
                     ::fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
  void* const at = whole ? ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  if (at == MAP_FAILED) {
    ::close(file);
    return nullptr;
  }
  (void)::madvise(at, size, MADV_DONTFORK);
  std::unique_ptr<segment> made(new segment(at, ring, file, true));
  draw_random_bytes(made->head_->nonce.data(), made->head_->nonce.size());
  return made;
}

TAGMA_DECL std::unique_ptr<segment> segment::find(std::string_view where, std::optional<error>& why) {
  const auto no = [&why](std::initializer_list<text_part> parts) {
    why = error(status_code::failed_precondition, sentence(parts));
    return nullptr;
  };
  if (where.size() != 24 + sizeof(digest)) return no({"what is to be shared has another form than this version knows"});
  const auto process = get_number<std::uint64_t>(where.data());
  const auto descriptor = get_number<std::uint64_t>(where.data() + 8);
  const auto ring = get_number<std::uint64_t>(where.data() + 16);
  if (process > INT32_MAX || descriptor > INT32_MAX || ring < detail::least_ring || ring > detail::most_ring ||
      (ring & (ring - 1)) != 0)
    return no({"what is to be shared has a size that it cannot have"});
  const std::size_t size = bytes(ring);
  const std::string path = sentence({"/proc/", process, "/fd/", descriptor});
  // Nothing is opened that only looks like it: opening some files has effects.
  const auto is_it = [size](const struct stat& s) {
    return S_ISREG(s.st_mode) && s.st_uid == ::geteuid() && s.st_size == static_cast<off_t>(size);
  };
  struct stat seen {};
  if (::stat(path.c_str(), &seen) != 0) return no({"there is no such process here, or it is not ours to look into"});
  if (!is_it(seen)) return no({"what is there is no memory of the same user to be shared"});
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return no({"it cannot be opened: ", std::strerror(errno)});
  digest nonce{};
  const int seals = ::fcntl(file, F_GET_SEALS);
  const bool same = ::fstat(file, &seen) == 0 && is_it(seen) && seals >= 0 && (seals & F_SEAL_SHRINK) != 0 &&
                    ::pread(file, nonce.data(), nonce.size(), 0) == static_cast<ssize_t>(nonce.size()) &&
                    std::memcmp(nonce.data(), where.data() + 24, nonce.size()) == 0;
  void* const at = same ? ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  ::close(file);
  if (!same) return no({"what is there is something else: the other end is on another machine, or in a container"});
  if (at == MAP_FAILED) return no({"there is no room for it"});
  (void)::madvise(at, size, MADV_DONTFORK);
  return std::unique_ptr<segment>(new segment(at, ring, -1, false));
}

TAGMA_DECL void segment::found() {
  if (file_ >= 0) ::close(std::exchange(file_, -1));
}

TAGMA_DECL segment::~segment() {
  found();
  (void)::munmap(head_, bytes(ring_));
}

TAGMA_DECL std::string segment::where() const {
  std::string to;
  put_number(to, static_cast<std::uint64_t>(::getpid()));
  put_number(to, static_cast<std::uint64_t>(file_));
  put_number(to, static_cast<std::uint64_t>(ring_));
  to += bytes_of(head_->nonce);
  return to;
}

#else

TAGMA_DECL std::unique_ptr<segment> segment::make(std::size_t) { return nullptr; }

TAGMA_DECL std::unique_ptr<segment> segment::find(std::string_view, std::optional<error>& why) {
  why = error(status_code::unimplemented, "this system has no memory to be shared");
  return nullptr;
}

TAGMA_DECL void segment::found() {}

TAGMA_DECL segment::~segment() = default;

TAGMA_DECL std::string segment::where() const { return {}; }

#endif

/// How many bytes may be written.
TAGMA_DECL std::uint64_t segment::space() {
  const std::uint64_t used = written_ - out_->read.load();
  broken_ = broken_ || (used > ring_ && !TAGMA_BROKEN(positions_believed));
  return broken_ ? 0 : ring_ - used;
}

/// How many bytes are there.
TAGMA_DECL std::uint64_t segment::waiting() {
  const std::uint64_t there = in_->written.load() - read_;
  broken_ = broken_ || (there > ring_ && !TAGMA_BROKEN(positions_believed));
  return broken_ ? 0 : there;
}

TAGMA_DECL std::size_t segment::write(std::span<const std::span<const std::byte>> pieces) {
  std::size_t all = 0, unseen = 0;
  std::uint64_t room = space();
  const auto show = [&] {
    out_->written.store(written_);
    unseen = 0;
  };
  for (const std::span<const std::byte> piece : pieces) {
    for (std::size_t at = 0; at < piece.size();) {
      if (room == 0) room = space();
      const std::size_t begin = static_cast<std::size_t>(written_) & (ring_ - 1);
      const std::size_t n = std::min({piece.size() - at, static_cast<std::size_t>(room), ring_ - begin,
                                      detail::step_bytes - unseen, detail::write_bytes - all});
      if (n == 0) {
        if (unseen > 0) show();
        return all;
      }
      std::memcpy(out_ring_ + begin, piece.data() + at, n);
      at += n, all += n, unseen += n;
      room -= n, written_ += n;
      if (unseen == detail::step_bytes) show();
    }
  }
  if (unseen > 0) show();
  return all;
}

TAGMA_DECL std::size_t segment::read(const inlet_room& to) {
  std::size_t all = 0;
  std::uint64_t there = waiting();
  for (const std::span<std::byte> room : {to.first, to.second}) {
    for (std::size_t at = 0; at < room.size() && there > 0;) {
      const std::size_t begin = static_cast<std::size_t>(read_) & (ring_ - 1);
      const std::size_t n =
          std::min({room.size() - at, static_cast<std::size_t>(there), ring_ - begin, detail::step_bytes});
      std::memcpy(room.data() + at, in_ring_ + begin, n);
      at += n, all += n;
      there -= n, read_ += n;
      in_->read.store(read_);
    }
  }
  return all;
}

TAGMA_DECL bool segment::is_to_wake() {
  if (broken_) return false;
  // Each was said before it was looked whether there is something: either that was seen, or this is.
  if (out_->reader_waits.load() != 0 && out_->written.load() != out_->read.load())
    return out_->reader_waits.exchange(0) != 0;
  // Not for a few bytes: there would be a wake for each.
  if (in_->writer_waits.load() != 0 && waiting() <= ring_ / 2) return in_->writer_waits.exchange(0) != 0;
  return false;
}

TAGMA_DECL bool segment::waits_to_read() {
  in_->reader_waits.store(1);
  if (waiting() == 0 && !broken_) return true;
  in_->reader_waits.store(0);
  return false;
}

TAGMA_DECL bool segment::waits_to_write() {
  out_->writer_waits.store(1);
  if (space() == 0 && !broken_) return true;
  out_->writer_waits.store(0);
  return false;
}

}  // namespace tagma::transport::asio
