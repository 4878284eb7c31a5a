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
