// SPDX-License-Identifier: BSL-1.0
#include "tagma/io/tf_record.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>

#include "support/bytes_of_hex.hpp"
#include "support/errors.hpp"
#include "support/sources.hpp"
#include "support/temporary_directory.hpp"
#include "tagma/io/compression.hpp"

namespace io = tagma::io;
using tagma::status_code;
using tagma::test::all_of;
using tagma::test::bytes_of_hex;
using tagma::test::code_of;
using tagma::test::text_of;
using records = std::vector<io::record>;

namespace {

std::string written(const std::vector<std::string>& values) {
  std::string bytes;
  io::tf_record_writer to{io::string_sink(bytes)};
  for (const std::string& value : values) to.write(value);
  to.close();
  return bytes;
}

records read_all(std::string_view bytes) { return all_of(io::tf_record_reader(io::memory_source(bytes, "f"))); }

std::vector<std::string> random_values(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::string> values(20);
  for (std::string& value : values) {
    value.resize(random() % 10 == 0 ? random() % 200'000 : random() % 100);
    for (char& c : value) c = static_cast<char>(random());
  }
  return values;
}

}  // namespace

TEST_CASE("an empty record has the known bytes") {
  const std::string bytes = bytes_of_hex("00 00 00 00 00 00 00 00 29 03 98 07 d8 ea 82 a2");
  CHECK(written({""}) == bytes);
  CHECK(read_all(bytes + bytes) == records{{"f:0", ""}, {"f:16", ""}});
  CHECK(read_all("").empty());
}

TEST_CASE("what is written is read, with offsets as keys") {
  for (unsigned seed = 0; seed < 5; ++seed) {
    const std::vector<std::string> values = random_values(seed);
    const std::string bytes = written(values);
    const records found = read_all(bytes);
    REQUIRE(found.size() == values.size());
    std::size_t offset = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      CHECK(found[i].value == values[i]);
      CHECK(found[i].key == "f:" + std::to_string(offset));
      offset += 16 + values[i].size();
    }
    CHECK(offset == bytes.size());
    CHECK(all_of(io::tf_record_reader({tagma::test::trickle(bytes, 1000, "f"), 1})) == found);
  }
}

TEST_CASE("a file that ends inside a record is truncated there") {
  const std::string bytes = written({"first", "second"});
  const std::size_t first = 16 + 5;
  for (std::size_t n = first + 1; n < bytes.size(); ++n) {
    CAPTURE(n);
    for (const bool sized : {false, true}) {
      const std::string cut = bytes.substr(0, n);
      io::tf_record_reader in(sized ? io::buffered_reader(io::memory_source(cut, "f"))
                                    : io::buffered_reader(tagma::test::trickle(cut, 4, "f")));
      io::record one;
      CHECK(read(in, one));
      CHECK(one == io::record{"f:0", "first"});
      const auto e = tagma::test::thrown([&] { (void)read(in, one); });
      CHECK(e.code() == status_code::data_loss);
      CHECK(std::string(e.what()).starts_with("DataLoss: f: truncated record at 21: "));
      CHECK_FALSE(read(in, one));
    }
  }
  CHECK(text_of([&] { (void)read_all(bytes.substr(0, first + 3)); }) ==
        "DataLoss: f: truncated record at 21: 9 bytes of its length or its checksum are missing");
}

TEST_CASE("a flipped bit anywhere is found") {
  const std::string bytes = written({"first", "second"});
  for (std::size_t i = 0; i < bytes.size() * 8; ++i) {
    std::string flipped = bytes;
    flipped[i / 8] = static_cast<char>(flipped[i / 8] ^ (1 << i % 8));
    const auto e = tagma::test::thrown([&] { (void)read_all(flipped); });
    CAPTURE(i);
    CHECK(e.code() == status_code::data_loss);
    CHECK(std::string(e.what()) ==
          std::string("DataLoss: f: corrupted record at ") + (i / 8 < 21 ? "0" : "21") + ": the checksum of its " +
              ((i / 8 < 21 ? i / 8 : i / 8 - 21) < 12 ? "length" : "data") + " is not that of the file");
  }
}

TEST_CASE("a length that nothing can have takes no memory") {
  for (const std::uint64_t length : {std::uint64_t{1} << 40, std::uint64_t{1} << 56, ~std::uint64_t{0}}) {
    std::string head(12, '\0');
    io::detail::put_little_endian<8>(head.data(), length);
    io::detail::put_little_endian<4>(head.data() + 8, io::mask_crc(io::crc32c(head.substr(0, 8))));
    head += "abc";
    CHECK(code_of([&] { (void)read_all(head); }) == status_code::data_loss);
    CHECK(code_of([&] { (void)all_of(io::tf_record_reader(tagma::test::trickle(head))); }) == status_code::data_loss);
  }
}

TEST_CASE("a writer is closed once") {
  std::string bytes;
  {
    io::tf_record_writer to{io::string_sink(bytes)};
    to.write("a");
    CHECK(bytes.empty());
    to.flush();
    CHECK(bytes.size() == 17);
    io::tf_record_writer other(std::move(to));
    other.write("b");
  }
  CHECK(read_all(bytes) == records{{"f:0", "a"}, {"f:17", "b"}});
  io::tf_record_writer to{io::string_sink(bytes)};
  to.close();
  to.close();
  CHECK(text_of([&] { to.write("c"); }) == "FailedPrecondition: memory: is closed, and takes no more records");
}

#if defined(TAGMA_WITH_ZLIB) && TAGMA_WITH_ZLIB

TEST_CASE("compressed files of records") {
  const tagma::test::temporary_directory dir;
  for (const io::compression format : {io::compression::none, io::compression::gzip, io::compression::zlib}) {
    const std::vector<std::string> values = random_values(9);
    {
      io::tf_record_writer to(io::create(dir / "f", format));
      for (const std::string& value : values) to.write(value);
    }
    const records found = all_of(io::tf_record_reader(io::open(dir / "f", format)));
    REQUIRE(found.size() == values.size());
    for (std::size_t i = 0; i < values.size(); ++i) CHECK(found[i].value == values[i]);
    CHECK(found[1].key == (dir / "f") + ":" + std::to_string(16 + values[0].size()));
  }
}

#endif

TEST_CASE("Python reads the records that are written, and writes records that are read") {
  const tagma::test::temporary_directory dir;
  const auto script = std::filesystem::path(__FILE__).parent_path() / "records_reader.py";
  dir.put("a", written(random_values(4)));
  const std::string command = "python3 '" + script.string() + "' '" + (dir / "a") + "' '" + (dir / "b") + "'";
  REQUIRE(std::system(command.c_str()) == 0);
  const std::vector<std::string> values = random_values(4);
  const records found = all_of(io::tf_record_reader(io::open(dir / "b")));
  REQUIRE(found.size() == values.size());
  for (std::size_t i = 0; i < values.size(); ++i) CHECK(found[i].value == std::string(values[values.size() - 1 - i]));
}
