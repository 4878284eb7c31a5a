// SPDX-License-Identifier: BSL-1.0
#include "tagma/io/npz.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>

#include "support/errors.hpp"
#include "support/temporary_directory.hpp"

using tagma::npz_file;
using tagma::status_code;
using tagma::tensor;
using tagma::test::temporary_directory;
using tagma::test::text_of;

namespace {

void write(const std::string& path, const std::string& how) {
  const auto script = std::filesystem::path(__FILE__).parent_path() / "npz_writer.py";
  REQUIRE(std::system(("python3 '" + script.string() + "' " + how + " '" + path + "'").c_str()) == 0);
}

void check(const npz_file& file) {
  CHECK(file.read<float>("weights") == tensor<float>({2, 2}, {1, 2, 3, 4.5f}));
  CHECK(file.read<std::int64_t>("count") == tensor<std::int64_t>(7));
  CHECK(file.read<std::uint8_t>("zeros") == tensor<std::uint8_t>({100'000}));
}

}  // namespace

TEST_CASE("arrays that Python writes are read") {
  const temporary_directory dir;
  const std::string path = dir / "a.npz";
  write(path, "stored");
  const npz_file file(path);
  CHECK(file.names() == std::vector<std::string>{"weights", "count", "zeros"});
  check(file);
  CHECK(text_of([&] { (void)file.read<float>("bias"); }) == "NotFound: " + path + ": has no array 'bias'");
  CHECK(text_of([&] { (void)file.read<float>("count"); }) ==
        "InvalidArgument: " + path + ": count.npy: has elements of type '<i8', expected '<f4' for float32");
  write(path, "large");
  const npz_file large(path);
  CHECK(large.names().size() == 70'003);
  check(large);
}

TEST_CASE("packed arrays") {
  const temporary_directory dir;
  const std::string path = dir / "a.npz";
  write(path, "deflated");
#if defined(TAGMA_WITH_ZLIB) && TAGMA_WITH_ZLIB
  check(npz_file(path));
#else
  CHECK(tagma::test::code_of([&] { (void)npz_file(path).read<float>("weights"); }) == status_code::unimplemented);
#endif
}

TEST_CASE("a damaged archive is refused") {
  const temporary_directory dir;
  const std::string path = dir / "a.npz";
  CHECK(tagma::test::code_of([&] { (void)npz_file(path); }) == status_code::not_found);
  dir.put("a.npz", "");
  CHECK(text_of([&] { (void)npz_file(path); }) ==
        "DataLoss: " + path + ": is no ZIP archive, or a damaged one: it does not end as one does");
  write(path, "stored");
  const std::string sound = tagma::read_file(path);
  std::string flipped = sound;
  flipped[sound.find("\x93NUMPY") + 130] ^= 1;
  dir.put("a.npz", flipped);
  CHECK(text_of([&] { (void)npz_file(path).read<float>("weights"); }) ==
        "DataLoss: " + path + ": weights.npy: is corrupted: size or checksum are not those of the archive");
  std::mt19937 random(2);
  const auto read_all = [&] {
    const npz_file file(path);
    for (const std::string& name : file.names()) (void)file.read<float>(name);
  };
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = sound.substr(0, 1000) + sound.substr(sound.size() - 400);
    if (i % 2 == 0) damaged = sound;
    const std::size_t last = damaged.size() - random() % 350 - 1;
    damaged[last] = static_cast<char>(random());
    damaged[random() % 300] = static_cast<char>(random());
    if (i % 7 == 0) damaged.resize(damaged.size() - random() % 300);
    dir.put("a.npz", damaged);
    const status_code code = tagma::test::code_of(read_all);
    CHECK((code == status_code::data_loss || code == status_code::invalid_argument ||
           code == status_code::unimplemented || code == status_code::resource_exhausted));
  }
}
