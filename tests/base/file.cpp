// SPDX-License-Identifier: BSL-1.0
#include "tagma/base/file.hpp"

#include <catch2/catch.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include "support/errors.hpp"

using tagma::test::thrown;

namespace fs = std::filesystem;

namespace {

struct temporary_directory {
  fs::path path = fs::temp_directory_path() / ("tagma-file-" + std::to_string(::getpid()));
  temporary_directory() {
    fs::remove_all(path);
    fs::create_directory(path);
  }
  ~temporary_directory() { fs::remove_all(path); }
  [[nodiscard]] std::string operator/(const char* name) const { return (path / name).string(); }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path), fs::directory_iterator()));
  }
};

void replace(const std::string& path, const std::vector<std::string_view>& pieces) {
  tagma::replace_file(path, pieces);
}

}  // namespace

TEST_CASE("a file is replaced by its pieces and read back") {
  const temporary_directory dir;
  const std::string path = dir / "a";
  replace(path, {"one ", "", "two"});
  CHECK(tagma::read_file(path) == "one two");
  replace(path, {});
  CHECK(tagma::read_file(path).empty());
  CHECK(dir.files() == 1);
}

TEST_CASE("a file is read in parts and not beyond its end") {
  const temporary_directory dir;
  const std::string path = dir / "a";
  replace(path, {"abcdef"});
  tagma::input_file file(path);
  CHECK(file.size() == 6);
  std::string part(4, ' ');
  file.read(part.data(), 4);
  CHECK(part == "abcd");
  const auto e = thrown([&] { file.read(part.data(), 4); });
  CHECK(e.code() == tagma::status_code::data_loss);
  CHECK(std::string(e.what()) == "DataLoss: " + path + ": ends 2 bytes too early");
}

TEST_CASE("a file that cannot be opened is named with the reason") {
  const temporary_directory dir;
  const auto missing = thrown([&] { (void)tagma::read_file(dir / "none"); });
  CHECK(missing.code() == tagma::status_code::not_found);
  CHECK(std::string(missing.what()) == "NotFound: " + (dir / "none") + ": cannot be opened: No such file or directory");
  CHECK(thrown([&] { (void)tagma::read_file(dir.path.string()); }).code() == tagma::status_code::invalid_argument);
}

TEST_CASE("a replacement that fails leaves the old file and nothing else") {
  const temporary_directory dir;
  const std::string path = dir / "a";
  CHECK(thrown([&] { replace(dir / "none/a", {"x"}); }).code() == tagma::status_code::not_found);

  fs::create_directories(dir.path / "full" / "inner");
  const auto onto_directory = thrown([&] { replace(dir / "full", {"x"}); });
  CHECK(onto_directory.code() == tagma::status_code::invalid_argument);
  CHECK(std::string(onto_directory.what()).find(dir / "full") != std::string::npos);
  CHECK(dir.files() == 1);

  replace(path, {"old"});
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 1000;
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string large(5000, 'x');
  const auto too_large = thrown([&] { replace(path, {large}); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  CHECK(too_large.code() == tagma::status_code::resource_exhausted);
  CHECK(std::string(too_large.what()).find("cannot be written: File too large") != std::string::npos);
  CHECK(tagma::read_file(path) == "old");
  CHECK(dir.files() == 2);
}

TEST_CASE("a reader that holds the old file keeps it") {
  const temporary_directory dir;
  const std::string path = dir / "a";
  replace(path, {"old content"});
  tagma::input_file old(path);
  replace(path, {"new"});
  std::string content(11, ' ');
  old.read(content.data(), content.size());
  CHECK(content == "old content");
  CHECK(tagma::read_file(path) == "new");
}
