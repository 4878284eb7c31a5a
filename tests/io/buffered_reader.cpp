// SPDX-License-Identifier: BSL-1.0
#include "tagma/io/buffered_reader.hpp"

#include <catch2/catch.hpp>

#include <initializer_list>
#include <random>
#include <string>
#include <string_view>

#include "support/errors.hpp"
#include "support/sources.hpp"
#include "support/temporary_directory.hpp"

namespace io = tagma::io;
using tagma::status_code;
using tagma::test::temporary_directory;
using tagma::test::trickle;

static_assert(io::byte_source<io::file_source>);
static_assert(io::byte_source<io::memory_source>);
static_assert(io::byte_source<io::any_source>);
static_assert(io::byte_source<trickle>);
static_assert(!io::byte_source<std::string>);

TEST_CASE("lines and bytes of a source are read, whatever its pieces and the blocks are") {
  std::mt19937 random(7);
  std::string text;
  for (int i = 0; i < 300; ++i) text += std::string(random() % 50, static_cast<char>('a' + i % 26)) + "\n";
  text += "the end";
  for (const std::size_t piece : std::initializer_list<std::size_t>{1, 3, 1000})
    for (const std::size_t block : std::initializer_list<std::size_t>{0, 1, 2, 7, 64, 100'000}) {
      CAPTURE(piece, block);
      io::buffered_reader lines(trickle(text, piece), block);
      std::string joined;
      std::string_view line;
      while (lines.line(line)) {
        CHECK(line.find('\n') == line.npos);
        joined.append(line) += '\n';
        CHECK(lines.position() == std::min(joined.size(), text.size()));
      }
      CHECK(joined == text + "\n");
      CHECK(lines.at_end());
      CHECK_FALSE(lines.line(line));

      io::buffered_reader mixed(trickle(text, piece), block);
      std::string all;
      while (!mixed.at_end()) {
        const std::size_t n = random() % 40;
        const std::string_view seen = mixed.peek(n);
        CHECK(seen == std::string_view(text).substr(all.size(), n));
        switch (random() % 5) {
          case 0:
            all.append(mixed.take(n));
            break;
          case 1: {
            char target[40];
            const std::size_t got = mixed.read(target, n);
            all.append(target, got);
            break;
          }
          case 2: {
            const auto skipped = static_cast<std::size_t>(mixed.skip(n));
            all.append(text.substr(all.size(), skipped));
            break;
          }
          case 3:
            CHECK(mixed.append(all, n) <= n);
            break;
          default:
            all.append(mixed.take_block());
        }
        CHECK(mixed.position() == all.size());
      }
      CHECK(all == text);
      CHECK(mixed.take(3).empty());
      CHECK(mixed.skip(3) == 0);
    }
}

TEST_CASE("a character is found behind the first bytes") {
  io::buffered_reader in(trickle("a,b,c", 2), 1);
  CHECK(in.find(',') == 1);
  CHECK(in.find(',', 1) == 1);
  CHECK(in.find(',', 2) == 3);
  CHECK(in.find(',', 4) == std::string_view::npos);
  CHECK(in.find(',', 400) == std::string_view::npos);
  CHECK(in.find(',') == 1);
}

TEST_CASE("an empty source has no lines") {
  std::string_view line;
  io::buffered_reader in(io::memory_source(""));
  CHECK_FALSE(in.line(line));
  CHECK(in.peek(10).empty());
  io::buffered_reader one(io::memory_source("\n"));
  CHECK(one.line(line));
  CHECK(line.empty());
  CHECK_FALSE(one.line(line));
}

TEST_CASE("a source that knows says how many bytes can follow") {
  const temporary_directory dir;
  dir.put("a", "0123456789");
  io::buffered_reader file(io::file_source(dir / "a"), 4);
  CHECK(file.name() == dir / "a");
  CHECK(file.at_most() == 10);
  CHECK(file.take(3) == "012");
  CHECK(file.at_most() == 7);
  CHECK(file.take(100) == "3456789");
  CHECK(file.at_most() == 0);
  io::buffered_reader memory(io::memory_source("abc", "some bytes"));
  CHECK(memory.name() == "some bytes");
  CHECK(memory.at_most() == 3);
  CHECK(memory.take(1) == "a");
  CHECK(memory.at_most() == 2);
  io::buffered_reader other(trickle("abc"));
  CHECK(other.take(1) == "a");
  CHECK(other.at_most() == io::unknown_length);
}

TEST_CASE("a file that is missing is named") {
  const temporary_directory dir;
  const auto e = tagma::test::thrown([&] { (void)io::file_source(dir / "none"); });
  CHECK(e.code() == status_code::not_found);
  CHECK(std::string(e.what()) == "NotFound: " + (dir / "none") + ": cannot be opened: No such file or directory");
}
