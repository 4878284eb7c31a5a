// SPDX-License-Identifier: BSL-1.0
#include "tagma/base/file.hpp"

#include <catch2/catch.hpp>

#include <fstream>
#include <string>

#include <unistd.h>

#include "support/errors.hpp"
#include "support/temporary_directory.hpp"

using tagma::test::temporary_directory, tagma::test::thrown;

TEST_CASE("a file is read in parts and not beyond its end") {
  const temporary_directory dir;
  const std::string path = dir / "a";
  std::ofstream(path) << "abcdef";
  tagma::input_file file(path);
  CHECK(file.path() == path);
  CHECK(file.size() == 6);
  std::string part(4, ' ');
  file.read(part.data(), 4);
  CHECK(part == "abcd");
  const auto e = thrown([&] { file.read(part.data(), 4); });
  CHECK(e.code() == tagma::status_code::data_loss);
  CHECK(std::string(e.what()) == "DataLoss: " + path + ": ends 2 bytes too early");
  CHECK(tagma::read_file(path) == "abcdef");
}

TEST_CASE("a file that cannot be opened is named with the reason") {
  const temporary_directory dir;
  const auto missing = thrown([&] { (void)tagma::read_file(dir / "none"); });
  CHECK(missing.code() == tagma::status_code::not_found);
  CHECK(std::string(missing.what()) == "NotFound: " + (dir / "none") + ": cannot be opened: No such file or directory");
  CHECK(thrown([&] { (void)tagma::read_file(dir.path.string()); }).code() == tagma::status_code::invalid_argument);
}

TEST_CASE("a file is read from any place, as far as it goes") {
  const temporary_directory dir;
  dir.put("a", "abcdef");
  tagma::input_file file(dir / "a");
  char part[4];
  file.seek(4);
  CHECK(file.read_some(part, 4) == 2);
  CHECK(std::string_view(part, 2) == "ef");
  CHECK(file.read_some(part, 4) == 0);
  file.seek(1);
  CHECK(file.read_some(part, 4) == 4);
  CHECK(std::string_view(part, 4) == "bcde");
  file.seek(100);
  CHECK(file.read_some(part, 4) == 0);
}

TEST_CASE("a file is written from its beginning") {
  const temporary_directory dir;
  dir.put("a", "something longer");
  {
    tagma::output_file file(dir / "a");
    CHECK(file.path() == dir / "a");
    CHECK(tagma::read_file(dir / "a").empty());
    file.write("one ", 4);
    file.write("", 0);
    file.write("two", 3);
  }
  CHECK(tagma::read_file(dir / "a") == "one two");
  const auto e = thrown([&] { (void)tagma::output_file(dir / "none/a"); });
  CHECK(e.code() == tagma::status_code::not_found);
  CHECK(std::string(e.what()) == "NotFound: " + (dir / "none/a") + ": cannot be created: No such file or directory");
  const auto full = thrown([] { tagma::output_file("/dev/full").write("x", 1); });
  CHECK(full.code() == tagma::status_code::resource_exhausted);
}
