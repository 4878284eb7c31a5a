// SPDX-License-Identifier: BSL-1.0
#include "tagma/transport/asio/segment.hpp"

#include <catch2/catch.hpp>

#ifdef __linux__

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "support/temporary_directory.hpp"
#include "tagma/transport/frame.hpp"

namespace tagma::transport::asio {

using Catch::Matchers::Contains;

namespace {

/// Both ends, as two processes have them: at two addresses.
struct ends {
  explicit ends(std::size_t ring = 4096) : a(segment::make(ring)) {
    REQUIRE(a != nullptr);
    b = segment::find(a->where(), why);
    REQUIRE(b != nullptr);
  }
  std::optional<error> why{};
  std::unique_ptr<segment> a, b;
};

std::size_t write(segment& to, const std::string& bytes) {
  const std::span<const std::byte> all(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
  const std::span<const std::byte> pieces[]{all.first(bytes.size() / 3), {}, all.subspan(bytes.size() / 3)};
  return to.write(pieces);
}

std::string read(segment& from, std::size_t first, std::size_t second = 0) {
  std::string bytes(first + second, '\0');
  const std::span<std::byte> all(reinterpret_cast<std::byte*>(bytes.data()), bytes.size());
  bytes.resize(from.read({all.first(first), all.subspan(first)}));
  return bytes;
}

/// Why nothing is found.
std::string refused(const std::string& where) {
  std::optional<error> why;
  CHECK(segment::find(where, why) == nullptr);
  REQUIRE(why);
  return why->what();
}

std::string where(std::uint64_t process, std::uint64_t descriptor, std::uint64_t ring, const std::string& nonce) {
  std::string to;
  put_number(to, process), put_number(to, descriptor), put_number(to, ring);
  return to + nonce;
}

}  // namespace

TEST_CASE("segment: bytes come in order, whatever the pieces, both ways") {
  ends e;
  e.a->found();  // the memory stays, its name does not
  std::mt19937_64 random(1);
  segment* const sides[]{e.a.get(), e.b.get()};
  std::string said[2], heard[2];
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t who = random() % 2;
    if (random() % 2 == 0) {
      std::string bytes(random() % 3 == 0 ? random() % 6000 : random() % 60, '\0');
      for (char& c : bytes) c = static_cast<char>(random());
      bytes.resize(write(*sides[who], bytes));
      said[who] += bytes;
    } else {
      heard[1 - who] += read(*sides[who], random() % 5000, random() % 50);
    }
  }
  for (const std::size_t who : {0u, 1u}) {
    heard[who] += read(*sides[1 - who], 4096);
    CHECK(said[who].size() > 1'000'000);
    CHECK(said[who] == heard[who]);
  }
  CHECK(!e.a->is_broken());
  CHECK(!e.b->is_broken());
}

TEST_CASE("segment: who waits is woken, once, and seldom for a little room") {
  ends e;
  CHECK(e.b->waits_to_read());
  CHECK(!e.a->is_to_wake());
  REQUIRE(write(*e.a, "abc") == 3);
  CHECK(e.a->is_to_wake());
  CHECK(!e.a->is_to_wake());
  CHECK(!e.b->waits_to_read());
  CHECK(read(*e.b, 2, 1) == "abc");
  CHECK(!e.a->waits_to_write());
  CHECK(write(*e.a, std::string(5000, 'x')) == 4096);
  CHECK(write(*e.a, "y") == 0);
  CHECK(e.a->waits_to_write());
  CHECK(!e.b->is_to_wake());
  CHECK(read(*e.b, 2047).size() == 2047);
  CHECK(!e.b->is_to_wake());
  CHECK(read(*e.b, 1).size() == 1);
  CHECK(e.b->is_to_wake());
  CHECK(!e.b->is_to_wake());
  CHECK(write(*e.a, std::string(5000, 'y')) == 2048);
}

TEST_CASE("segment: positions that cannot be are not believed") {
  // A third mapping, through which anything is written.
  std::mt19937_64 random(2);
  int broken = 0;
  for (int round = 0; round < 2000; ++round) {
    ends e;
    const std::string at = e.a->where();
    const std::string path = "/proc/self/fd/" + std::to_string(get_number<std::uint64_t>(at.data() + 8));
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE(file >= 0);
    void* const all = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    REQUIRE(all != MAP_FAILED);
    REQUIRE(write(*e.b, std::string(random() % 4000, 'x')) < 4000);
    for (std::size_t word = 4; word < 4096 / 8; ++word) {
      const std::uint64_t bits = random();
      const std::uint64_t value = bits % 3 == 0 ? bits % 8192 : bits % 3 == 1 ? UINT64_MAX - bits % 8192 : bits;
      std::memcpy(static_cast<char*>(all) + 8 * word, &value, 8);
    }
    CHECK(read(*e.a, 5000).size() <= 4096);
    CHECK(write(*e.a, std::string(5000, 'y')) <= 4096);
    (void)e.a->is_to_wake();
    if (e.a->is_broken()) {
      ++broken;
      CHECK(read(*e.a, 5000).empty());
      CHECK(write(*e.a, "y") == 0);
      CHECK(!e.a->is_to_wake());
    }
    ::munmap(all, 4096);
  }
  CHECK(broken > 1000);
}

TEST_CASE("segment: what is no memory to be shared is not taken, and not opened") {
  const auto made = segment::make(4096);
  REQUIRE(made != nullptr);
  const std::string good = made->where(), nonce = good.substr(24);
  const auto process = static_cast<std::uint64_t>(::getpid());
  const std::uint64_t descriptor = get_number<std::uint64_t>(good.data() + 8);
  CHECK_THAT(refused(""), Contains("another form"));
  CHECK_THAT(refused(good + "x"), Contains("another form"));
  for (const std::uint64_t ring : {std::uint64_t{0}, std::uint64_t{2048}, std::uint64_t{4097}, std::uint64_t{1} << 40})
    CHECK_THAT(refused(where(process, descriptor, ring, nonce)), Contains("size"));
  CHECK_THAT(refused(where(UINT64_MAX, descriptor, 4096, nonce)), Contains("size"));
  CHECK_THAT(refused(where(process, 1 << 30, 4096, nonce)), Contains("no such process"));
  CHECK_THAT(refused(where(process, descriptor, 8192, nonce)), Contains("no memory of the same user"));
  CHECK_THAT(refused(where(process, descriptor, 4096, std::string(32, 'x'))), Contains("something else"));
  int pipe[2];
  REQUIRE(::pipe(pipe) == 0);
  for (const int end : pipe)
    CHECK_THAT(refused(where(process, static_cast<std::uint64_t>(end), 4096, nonce)),
               Contains("no memory of the same user"));
  ::close(pipe[0]), ::close(pipe[1]);
  // The same bytes in memory that could shrink, and in a file.
  const tagma::test::temporary_directory directory;
  const int files[]{::memfd_create("other", MFD_CLOEXEC | MFD_ALLOW_SEALING),
                    ::open((directory / "file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
  for (const int file : files) {
    REQUIRE(::ftruncate(file, 4096 + 2 * 4096) == 0);
    REQUIRE(::pwrite(file, nonce.data(), nonce.size(), 0) == 32);
    CHECK_THAT(refused(where(process, static_cast<std::uint64_t>(file), 4096, nonce)), Contains("something else"));
    ::close(file);
  }
  std::optional<error> why;
  CHECK(segment::find(good, why) != nullptr);
  made->found();
  CHECK_THAT(refused(good), Contains("no such process"));
}

}  // namespace tagma::transport::asio

#endif
