// SPDX-License-Identifier: BSL-1.0
#include "tagma/io/idx.hpp"

#include <catch2/catch.hpp>

#include <random>
#include <string>
#include <string_view>

#include <unistd.h>

#include "support/errors.hpp"
#include "support/sources.hpp"
#include "support/temporary_directory.hpp"
#include "tagma/base/replace_file.hpp"

using tagma::read_idx;
using tagma::status_code;
using tagma::test::temporary_directory;
using namespace std::string_literals;

namespace {

void put(const std::string& path, std::string_view content) {
  const std::string_view pieces[] = {content};
  tagma::replace_file(path, pieces);
}

tagma::error thrown(const std::string& path) {
  try {
    (void)read_idx(path);
  } catch (const tagma::error& e) {
    return e;
  }
  return {status_code::ok, "nothing was thrown"};
}

const std::string small = "\0\0\x08\x02\0\0\0\x02\0\0\0\x03"s + "\x01\x02\x03\xfd\xfe\xff"s;

}  // namespace

TEST_CASE("a plain IDX file is read") {
  const temporary_directory dir;
  put(dir / "a", small);
  CHECK(read_idx(dir / "a") == tagma::tensor<std::uint8_t>({2, 3}, {1, 2, 3, 253, 254, 255}));
  put(dir / "a", "\0\0\x08\x01\0\0\0\0"s);
  CHECK(read_idx(dir / "a").dims() == tagma::shape{0});
}

TEMPLATE_TEST_CASE("a tensor of every type that the format has is written and read", "", std::uint8_t, std::int8_t,
                   std::int16_t, std::int32_t, float, double) {
  const temporary_directory dir;
  std::mt19937 random(5);
  for (const tagma::shape& dims : {tagma::shape{7}, {2, 3}, {0}, {3, 0, 2}, {2, 1, 3, 1, 2, 2}}) {
    tagma::tensor<TestType> t(dims);
    for (TestType& e : t) e = static_cast<TestType>(static_cast<int>(random() % 200) - 100);
    tagma::write_idx(dir / "a", t);
    CHECK(read_idx<TestType>(dir / "a") == t);
    CHECK(tagma::io::read_idx<TestType>(tagma::test::trickle(tagma::read_file(dir / "a"), 3)) == t);
  }
  if (sizeof(TestType) > 1) CHECK(thrown(dir / "a").code() == status_code::invalid_argument);
}

TEST_CASE("elements of an IDX file have their highest byte first") {
  const temporary_directory dir;
  put(dir / "a", "\0\0\x0b\x01\0\0\0\x02\x01\x02\xff\xfe"s);
  CHECK(read_idx<std::int16_t>(dir / "a") == tagma::tensor<std::int16_t>({2}, {258, -2}));
  put(dir / "a", "\0\0\x0d\x01\0\0\0\x01\x3f\xc0\0\0"s);
  CHECK(read_idx<float>(dir / "a") == tagma::tensor<float>({1}, {1.5f}));
  tagma::write_idx(dir / "a", tagma::tensor<float>({1}, {1.5f}));
  CHECK(tagma::read_file(dir / "a") == "\0\0\x0d\x01\0\0\0\x01\x3f\xc0\0\0"s);
  CHECK(tagma::test::text_of([&] { tagma::write_idx(dir / "a", tagma::tensor<float>(2.0f)); }) ==
        "InvalidArgument: " + (dir / "a") + ": an IDX file has one axis at least");
  CHECK(tagma::test::text_of([&] {
          tagma::write_idx(dir / "a", tagma::tensor<float>({0, INT64_C(1) << 32}));
        }) == "InvalidArgument: " + (dir / "a") + ": an IDX file has no axis of 4294967296 positions");
}

TEST_CASE("what an IDX header declares takes no memory until it arrives") {
  const std::string head =
      "\0\0\x0e\x05\xff\xff\xff\xff\0\0\xff\xff\0\0\0\x02\0\0\0\x01\0\0\0\x01"
      "abcdef"s;
  const auto e = tagma::test::thrown([&] { (void)tagma::io::read_idx<double>(tagma::test::trickle(head)); });
  CHECK(e.code() == status_code::data_loss);
  CHECK(std::string(e.what()) == "DataLoss: trickle: is truncated: 4503530906845194 bytes are missing");
}

TEST_CASE("an IDX file that is not sound is refused with its path") {
  const temporary_directory dir;
  const std::string path = dir / "a";
  for (std::size_t n = 0; n < small.size(); ++n) {
    put(path, std::string_view(small).substr(0, n));
    const auto e = thrown(path);
    CHECK(e.code() == status_code::data_loss);
    CHECK(std::string(e.what()).starts_with("DataLoss: " + path + ": is truncated: "));
  }
  struct refused {
    std::string content;
    status_code code;
    std::string reason;
  };
  const refused cases[] = {
      {"\0\0"s, status_code::data_loss, "is truncated: it has 2 bytes"},
      {"\0\0\x08\x01\0\0"s, status_code::data_loss, "is truncated: 2 bytes are missing"},
      {small + "x", status_code::data_loss, "has more bytes after the last element"},
      {"PNG\x08\0\0\0\0"s, status_code::data_loss, "is not an IDX file: it does not begin with two zero bytes"},
      {"\0\0\x0d\x01\0\0\0\0"s, status_code::invalid_argument,
       "has elements of IDX type 13, float32, expected 8, uint8"},
      {"\0\0\x08\0"s, status_code::invalid_argument, "has 0 axes, expected 1 to 6"},
      {"\0\0\x08\x07"s + std::string(28, '\0'), status_code::invalid_argument, "has 7 axes, expected 1 to 6"},
      {"\0\0\x08\x01\xff\xff\xff\xff"s, status_code::data_loss,
       "is truncated: its header says [4294967295], which is more than the file can hold"},
      {"\0\0\x08\x03"s + std::string(12, '\xff'), status_code::data_loss,
       "is truncated: its header says [4294967295, 4294967295, 4294967295], which is more than the file can hold"},
      {"\0\0\x08\x03\0\0\0\0"s + std::string(8, '\xff'), status_code::resource_exhausted,
       "a tensor of uint8 [0, 4294967295, 4294967295] of about 2^64 bytes, more than a process can address"},
  };
  for (const refused& c : cases) {
    put(path, c.content);
    const auto e = thrown(path);
    CHECK(e.code() == c.code);
    CHECK(std::string(e.what()) == std::string(tagma::to_string(c.code)) + ": " + path + ": " + c.reason);
  }
  const auto missing = thrown(dir / "none");
  CHECK(missing.code() == status_code::not_found);
  CHECK(std::string(missing.what()) == "NotFound: " + (dir / "none") + ": cannot be opened: No such file or directory");
}

#if defined(TAGMA_WITH_ZLIB) && TAGMA_WITH_ZLIB

namespace {

std::string packed(const std::string& path, std::string_view content) {
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, content.data(), static_cast<unsigned>(content.size()));
  gzclose(file);
  return tagma::read_file(path);
}

}  // namespace

TEST_CASE("a compressed IDX file is read, whatever its name") {
  const temporary_directory dir;
  packed(dir / "a", small);
  CHECK(read_idx(dir / "a") == tagma::tensor<std::uint8_t>({2, 3}, {1, 2, 3, 253, 254, 255}));
  const std::string flat = "\0\0\x08\x01\0\x0f\x42\x40"s + std::string(1'000'000, '\x07');
  CHECK(packed(dir / "b.gz", flat).size() < 2000);
  CHECK(read_idx(dir / "b.gz")[999'999] == 7);
}

TEST_CASE("a compressed IDX file that is not sound is refused with its path") {
  const temporary_directory dir;
  const std::string path = dir / "a.gz";
  const std::string sound = packed(path, small);
  for (std::size_t n = 2; n < sound.size(); ++n) {
    put(path, std::string_view(sound).substr(0, n));
    INFO(n << " bytes");
    CHECK(thrown(path).code() == status_code::data_loss);
  }
  for (std::size_t i = sound.size() - 8; i < sound.size(); ++i) {
    std::string corrupted = sound;
    corrupted[i] = static_cast<char>(corrupted[i] ^ 0x10);
    put(path, corrupted);
    const auto e = thrown(path);
    CHECK(e.code() == status_code::data_loss);
    CHECK(std::string(e.what()).starts_with("DataLoss: " + path + ": corrupted gzip data: incorrect "));
  }
  packed(path, small + "x");
  CHECK(std::string(thrown(path).what()) == "DataLoss: " + path + ": has more bytes after the last element");
  packed(path, small.substr(0, small.size() - 2));
  CHECK(std::string(thrown(path).what()) == "DataLoss: " + path + ": is truncated: 2 bytes are missing");
  packed(path, "\0\0\x08\x01\xff\xff\xff\xff"s);
  CHECK(std::string(thrown(path).what()) ==
        "DataLoss: " + path + ": is truncated: its header says [4294967295], which is more than the file can hold");
}

#else

TEST_CASE("without zlib a compressed file is refused with what to do") {
  const temporary_directory dir;
  const std::string path = dir / "a.gz";
  put(path, "\x1f\x8b\x08\0\0\0\0\0"s);
  const auto e = thrown(path);
  CHECK(e.code() == status_code::unimplemented);
  CHECK(std::string(e.what()) ==
        "Unimplemented: " + path +
            ": is compressed with gzip: compile with TAGMA_WITH_ZLIB=1 and link zlib (with CMake, link tagma::zlib), "
            "or unpack the file with gunzip");
}

#endif
