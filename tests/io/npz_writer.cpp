// SPDX-License-Identifier: BSL-1.0
#include "tagma/io/npz_writer.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "support/temporary_directory.hpp"

using tagma::npz_file;
using tagma::status_code;
using tagma::tensor;
using tagma::write_npz;
using tagma::test::code_of;
using tagma::test::temporary_directory;
using tagma::test::text_of;

namespace {

/// What Python finds in a file.
std::string seen_by_python(const temporary_directory& dir, const std::string& path) {
  const auto script = std::filesystem::path(__FILE__).parent_path() / "npz_reader.py";
  const std::string out = dir / "seen";
  REQUIRE(std::system(("python3 '" + script.string() + "' '" + path + "' > '" + out + "'").c_str()) == 0);
  return tagma::read_file(out);
}

const tensor<float> weights({2, 2}, {1, 2, 3, 4.5f});
const tensor<std::int64_t> count(7);
const tensor<std::uint8_t> zeros({100'000});
const tensor<bool> none({0, 3});

void check(const std::string& path) {
  const npz_file file(path);
  CHECK(file.names() == std::vector<std::string>{"weights", "layer/count", "zeros",
                                                 "gr\xc3\xb6\xc3\x9f"
                                                 "e"});
  CHECK(file.read<float>("weights") == weights);
  CHECK(file.read<std::int64_t>("layer/count") == count);
  CHECK(file.read<std::uint8_t>("zeros") == zeros);
  CHECK(file.read<bool>("gr\xc3\xb6\xc3\x9f"
                        "e") == none);
}
const std::vector<tagma::npz_array> all = {{"weights", weights},
                                           {"layer/count", count},
                                           {"zeros", zeros},
                                           {"gr\xc3\xb6\xc3\x9f"
                                            "e",
                                            none}};

std::string lines(const std::string& how) {
  return "weights.npy " + how + " <f4 (2, 2) 1.0 2.0 3.0 4.5\nlayer/count.npy " + how + " <i8 () 7\nzeros.npy " + how +
         " |u1 (100000,) 0 0 0 0 0 0\ngr\xc3\xb6\xc3\x9f"
         "e.npy " +
         how + " |b1 (0, 3)\n";
}

}  // namespace

TEST_CASE("arrays that are written are read, by Python as well") {
  const temporary_directory dir;
  const std::string path = dir / "a.npz";
  write_npz(path, all);
  check(path);
  CHECK(seen_by_python(dir, path) == lines("stored"));
  const std::string first = tagma::read_file(path);
  write_npz(path, all);
  CHECK(tagma::read_file(path) == first);
  write_npz(path, {{"x", weights}, {"y", tagma::view<const std::int64_t>(count)}});
  CHECK(seen_by_python(dir, path) == "x.npy stored <f4 (2, 2) 1.0 2.0 3.0 4.5\ny.npy stored <i8 () 7\n");
  write_npz(path, std::span<const tagma::npz_array>());
  CHECK(npz_file(path).names().empty());
  CHECK(seen_by_python(dir, path).empty());
}

TEST_CASE("packed arrays are written") {
  const temporary_directory dir;
  const std::string path = dir / "a.npz";
#if defined(TAGMA_WITH_ZLIB) && TAGMA_WITH_ZLIB
  write_npz(path, all, {.deflate = true});
  check(path);
  CHECK(seen_by_python(dir, path) == lines("deflated"));
  CHECK(tagma::read_file(path).size() < 2000);
  write_npz(path, all, {.deflate = true, .level = 9});
  check(path);
#else
  dir.put("a.npz", "old");
  CHECK(code_of([&] { write_npz(path, all, {.deflate = true}); }) == status_code::unimplemented);
  CHECK(tagma::read_file(path) == "old");
#endif
}

TEST_CASE("numbers that 32 bits do not hold are written with 64") {
  const temporary_directory dir;
  const std::string path = dir / "a.npz";
  for (const std::uint64_t large : {1u, 200u, 100'000u}) {
    CAPTURE(large);
    tagma::io::detail::write_npz(path, all, {}, tagma::io::detail::zip_builder(large));
    check(path);
    CHECK(seen_by_python(dir, path) == lines("stored"));
  }
  std::vector<tagma::npz_array> many;
  for (int i = 0; i < 65'540; ++i) many.emplace_back("n" + std::to_string(i), count);
  write_npz(path, many);
  CHECK(npz_file(path).names().size() == many.size());
  CHECK(npz_file(path).read<std::int64_t>("n65539") == count);
}

TEST_CASE("names that an archive cannot have") {
  const temporary_directory dir;
  const std::string path = dir / "a.npz";
  dir.put("a.npz", "old");
  CHECK(text_of([&] {
          write_npz(path, {{"x", weights}, {"y", count}, {"x", count}});
        }) == "InvalidArgument: " + path + ": two arrays are called 'x'");
  CHECK(text_of([&] {
          write_npz(path, {{"", weights}});
        }) == "InvalidArgument: " + path + ": a name of 0 bytes, expected 1 to 65531 bytes");
  CHECK(code_of([&] { write_npz(path, {{std::string(65'532, 'x'), weights}}); }) == status_code::invalid_argument);
  CHECK(tagma::read_file(path) == "old");
  write_npz(path, {{std::string(65'531, 'x'), weights}});
  CHECK(npz_file(path).read<float>(std::string(65'531, 'x')) == weights);
  CHECK(code_of([&] { write_npz(dir / "no/a.npz", all); }) == status_code::not_found);
}
