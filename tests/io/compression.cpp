// SPDX-License-Identifier: BSL-1.0
#include "tagma/io/compression.hpp"

#include <catch2/catch.hpp>

#include <initializer_list>
#include <random>
#include <string>
#include <string_view>

#include "support/errors.hpp"
#include "support/sources.hpp"
#include "support/temporary_directory.hpp"
#include "tagma/io/buffered_reader.hpp"

namespace io = tagma::io;
using io::compression;
using tagma::status_code;
using tagma::test::code_of;
using tagma::test::text_of;

namespace {

std::string rest_of(io::any_source source, std::size_t block = 64) {
  io::buffered_reader in(std::move(source), block);
  std::string all;
  (void)in.append(all, io::unknown_length);
  return all;
}

}  // namespace

TEST_CASE("compression has TensorFlow's names") {
  CHECK(io::compression_from("") == compression::none);
  CHECK(io::compression_from("NONE") == compression::none);
  CHECK(io::compression_from("GZIP") == compression::gzip);
  CHECK(io::compression_from("ZLIB") == compression::zlib);
  CHECK(text_of([] { (void)io::compression_from("LZ4"); }) ==
        "InvalidArgument: 'LZ4' is no compression, expected '', 'NONE', 'GZIP' or 'ZLIB'");
}

TEST_CASE("what is not compressed passes") {
  for (const std::string text : {"", "a", "\x1f", "abcdef"})
    for (const compression format : {compression::none, compression::detect}) {
      CHECK(rest_of(io::unpacked(io::memory_source(text), format)) == text);
      CHECK(rest_of(io::unpacked(tagma::test::trickle(text), format)) == text);
    }
  io::buffered_reader in(io::unpacked(io::memory_source("abcdef"), compression::detect), 2);
  CHECK(in.take(1) == "a");
  CHECK(in.at_most() == 5);
}

#if defined(TAGMA_WITH_ZLIB) && TAGMA_WITH_ZLIB

namespace {

std::string packed(std::string_view text, compression format, int level = -1, std::size_t piece = 1000) {
  std::string to;
  io::deflated_sink sink(io::string_sink(to), format, level);
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size())))
    sink.write(std::as_bytes(std::span(text.substr(0, piece))));
  sink.finish();
  return to;
}

}  // namespace

TEST_CASE("what is packed is unpacked") {
  std::mt19937 random(3);
  for (const std::size_t size : std::initializer_list<std::size_t>{0, 1, 1000, 300'000})
    for (const bool flat : {false, true})
      for (const compression format : {compression::gzip, compression::zlib}) {
        std::string text(size, 'x');
        if (!flat)
          for (char& c : text) c = static_cast<char>(random());
        const std::string bytes = packed(text, format, flat ? 9 : 1, 1 + size / 3);
        CHECK(rest_of(io::inflated_source(io::memory_source(bytes), format)) == text);
        CHECK(rest_of(io::inflated_source(tagma::test::trickle(bytes, 7), format), 100'000) == text);
        if (format == compression::gzip)
          CHECK(rest_of(io::inflated_source(io::memory_source(bytes), compression::detect)) == text);
        io::buffered_reader in(io::inflated_source(io::memory_source(bytes), format));
        CHECK(in.at_most() >= size);
        (void)in.take(1);
        CHECK(in.at_most() + 1 >= size);
      }
  CHECK(text_of([] { (void)packed("", compression::gzip, 10); }) ==
        "InvalidArgument: zlib cannot compress at level 10, expected -1 to 9");
}

TEST_CASE("members of a gzip file are joined, and zeros behind them mean nothing") {
  const std::string two = packed("one ", compression::gzip) + packed("two", compression::gzip);
  CHECK(rest_of(io::inflated_source(io::memory_source(two), compression::gzip)) == "one two");
  CHECK(rest_of(io::inflated_source(tagma::test::trickle(two), compression::gzip)) == "one two");
  const std::string padded = two + std::string(512, '\0');
  CHECK(rest_of(io::inflated_source(io::memory_source(padded), compression::gzip)) == "one two");
  CHECK(text_of([&] { (void)rest_of(io::inflated_source(io::memory_source(padded + "x", "a"), compression::gzip)); }) ==
        "DataLoss: a: has more bytes behind the compressed ones");
  const std::string zlib = packed("one", compression::zlib);
  CHECK(code_of([&] { (void)rest_of(io::inflated_source(io::memory_source(zlib + zlib), compression::zlib)); }) ==
        status_code::data_loss);
}

TEST_CASE("compressed bytes that are cut or flipped are refused") {
  const std::string text = "some text, some text, and more of it";
  for (const compression format : {compression::gzip, compression::zlib, compression::deflate}) {
    const std::string bytes = packed(text, format), name = format == compression::gzip   ? "gzip"
                                                           : format == compression::zlib ? "zlib"
                                                                                         : "deflate";
    for (std::size_t n = 0; n < bytes.size(); ++n)
      CHECK(text_of([&] { (void)rest_of(io::inflated_source(io::memory_source(bytes.substr(0, n), "a"), format)); }) ==
            "DataLoss: a: corrupted " + name + " data: it ends too early");
    if (format == compression::deflate) continue;  // nothing in it tells a bit that was flipped
    CHECK(text_of([&] {
            std::string flipped = bytes;
            flipped.back() ^= 0x10;
            (void)rest_of(io::inflated_source(io::memory_source(flipped, "a"), format));
          }).starts_with("DataLoss: a: corrupted " + name + " data: incorrect "));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (format == compression::gzip && i >= 3 && i < 10) continue;  // flags, time, system
      std::string flipped = bytes;
      flipped[i] = static_cast<char>(flipped[i] ^ 0x10);
      std::string found = text;
      const status_code code =
          code_of([&] { found = rest_of(io::inflated_source(io::memory_source(flipped, "a"), format)); });
      CAPTURE(i);
      CHECK((code == status_code::data_loss || found == text));
      if (i + 8 >= bytes.size() && format == compression::gzip) CHECK(code == status_code::data_loss);
    }
  }
}

TEST_CASE("files are compressed and read") {
  const tagma::test::temporary_directory dir;
  io::any_sink to = io::create(dir / "a.gz", compression::gzip);
  CHECK(to.name() == dir / "a.gz");
  to.write(std::as_bytes(std::span(std::string_view("some text"))));
  to.finish();
  CHECK(tagma::read_file(dir / "a.gz").substr(0, 2) == "\x1f\x8b");
  CHECK(rest_of(io::open(dir / "a.gz", compression::gzip)) == "some text");
  CHECK(rest_of(io::open(dir / "a.gz", compression::detect)) == "some text");
  CHECK(code_of([&] { (void)io::open(dir / "none", compression::gzip); }) == status_code::not_found);
  CHECK(code_of([&] { (void)io::create(dir / "none/a"); }) == status_code::not_found);
}

#else

TEST_CASE("without zlib compressed bytes are refused with what to do") {
  CHECK(text_of([] { (void)rest_of(io::unpacked(io::memory_source("\x1f\x8b\x08", "a"), compression::detect)); }) ==
        "Unimplemented: a: is compressed with gzip: compile with TAGMA_WITH_ZLIB=1 and link zlib (with CMake, link "
        "tagma::zlib), or unpack the file with gunzip");
  std::string text;
  CHECK(code_of([&] { (void)io::deflated_sink(io::string_sink(text), compression::gzip); }) ==
        status_code::unimplemented);
}

#endif
