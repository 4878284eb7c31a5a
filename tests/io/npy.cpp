// SPDX-License-Identifier: BSL-1.0
#include "tagma/io/npy.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>

#include "support/bytes_of_hex.hpp"
#include "support/errors.hpp"
#include "support/sources.hpp"
#include "support/temporary_directory.hpp"

namespace io = tagma::io;
using tagma::read_npy;
using tagma::shape;
using tagma::status_code;
using tagma::tensor;
using tagma::write_npy;
using tagma::test::bytes_of_hex;
using tagma::test::temporary_directory;
using tagma::test::text_of;
using namespace std::string_literals;

namespace {

/// A file of version 1 with this header and these bytes.
std::string file_of(std::string_view header, std::string_view bytes = {}) {
  std::string file = "\x93NUMPY\x01"s + '\0' + static_cast<char>(header.size() & 0xff) + '\0';
  file[9] = static_cast<char>(header.size() >> 8);
  return file.append(header).append(bytes);
}
template <class T>
tensor<T> read(const std::string& file) {
  tensor<T> found = io::read_npy<T>(io::memory_source(file, "f"));
  CHECK(io::read_npy<T>({tagma::test::trickle(file, 3), 1}) == found);
  return found;
}
template <class T>
std::string refused(const std::string& file) {
  return text_of([&] { (void)io::read_npy<T>(io::memory_source(file, "f")); });
}

}  // namespace

TEST_CASE("a file has the known bytes") {
  const temporary_directory dir;
  write_npy(dir / "a", tensor<float>({1, 3}, {1, 2, 3}));
  const std::string file = tagma::read_file(dir / "a");
  CHECK(file.size() == 140);
  CHECK(file.substr(0, 10) == bytes_of_hex("93 4e 55 4d 50 59 01 00 76 00"));
  CHECK(file.substr(10, 60) == "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), } ");
  CHECK(file[127] == '\n');
  CHECK(file.substr(128) == bytes_of_hex("00 00 80 3f 00 00 00 40 00 00 40 40"));
  CHECK(io::npy_header_of(tagma::dtype::int8, {3}).find("'|i1', 'fortran_order': False, 'shape': (3,), }") == 20);
  CHECK(io::npy_header_of(tagma::dtype::int8, {}).find("'shape': (), }") != std::string::npos);
}

TEMPLATE_TEST_CASE("tensors of every type are written and read", "", double, float, tagma::float16, tagma::bfloat16,
                   std::int64_t, std::int32_t, std::int16_t, std::int8_t, std::uint8_t, bool) {
  const temporary_directory dir;
  std::mt19937 random(4);
  for (const shape& dims : {shape{}, {7}, {0}, {2, 3}, {3, 0, 2}, {100, 1}, {2, 1, 3, 1, 2, 2}}) {
    tensor<TestType> t(dims);
    for (TestType& e : t) e = static_cast<TestType>(static_cast<float>(random() % 2));
    write_npy(dir / "a", t);
    const std::string file = tagma::read_file(dir / "a");
    CHECK((file.size() - t.size() * sizeof(TestType)) % 64 == 0);
    CHECK(read_npy<TestType>(dir / "a") == t);
    CHECK(read<TestType>(file) == t);
    if (!t.empty())
      CHECK(refused<TestType>(file.substr(0, file.size() - 1)).starts_with("DataLoss: f: is truncated: "));
    CHECK(refused<TestType>(file + "x") == "DataLoss: f: has more bytes after the last element");
  }
}

TEST_CASE("orders of elements and of bytes") {
  CHECK(read<std::int16_t>(file_of("{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }", "\x01\x02\xff\xfe")) ==
        tensor<std::int16_t>({2}, {258, -2}));
  CHECK(read<float>(file_of("{'descr':'>f4','fortran_order':False,'shape':()}", "\x3f\xc0\0\0"s)) ==
        tensor<float>(1.5f));
  CHECK(read<std::uint8_t>(file_of("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}", "\1\2\3\4\5\6")) ==
        tensor<std::uint8_t>({2, 3}, {1, 3, 5, 2, 4, 6}));
  CHECK(read<std::uint8_t>(file_of("{'shape': (2, 1, 2), \"fortran_order\": True, 'descr': '=u1'}  \n", "\1\2\3\4")) ==
        tensor<std::uint8_t>({2, 1, 2}, {1, 3, 2, 4}));
  CHECK(read<std::uint8_t>(file_of("{'descr': '|u1', 'fortran_order': True, 'shape': (2L, 0L)}")) ==
        tensor<std::uint8_t>({2, 0}));
  CHECK(read<tagma::bfloat16>(file_of("{'descr': '|V2', 'fortran_order': False, 'shape': (1,)}", "\xc0\x3f")) ==
        tensor<tagma::bfloat16>({1}, {tagma::bfloat16(1.5f)}));
}

TEST_CASE("versions with a longer header") {
  const std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }";
  for (const char version : {'\2', '\3'}) {
    std::string file = "\x93NUMPY"s + version + '\0';
    file += static_cast<char>(header.size());
    file += "\0\0\0"s + header + "\x07";
    CHECK(read<std::uint8_t>(file) == tensor<std::uint8_t>({1}, {7}));
  }
  CHECK(refused<float>("\x93NUMPY\x04\0"s) == "InvalidArgument: f: has version 4 of the format, expected 1, 2 or 3");
  CHECK(refused<float>("\x93NUMPY\x02\0\xff\xff\xff\xff"s) ==
        "ResourceExhausted: f: has a header of 4294967295 bytes, 10000 is the most that is read");
}

TEST_CASE("what is no array of that type is refused") {
  CHECK(refused<float>("") == "DataLoss: f: is truncated: its header is not complete");
  CHECK(refused<float>("\x93NUM") == "DataLoss: f: is truncated: its header is not complete");
  CHECK(refused<float>("PK\x03\x04 and more") == "DataLoss: f: is not a NumPy file: it does not begin with \\x93NUMPY");
  const std::string sound = file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }");
  for (std::size_t n = 0; n < sound.size(); ++n)
    CHECK(refused<float>(sound.substr(0, n)) == "DataLoss: f: is truncated: its header is not complete");
  CHECK(refused<float>(sound) ==
        "DataLoss: f: is truncated: its header says [1], which is more than the file can hold");
  CHECK(refused<double>(sound) == "InvalidArgument: f: has elements of type '<f4', expected '<f8' for float64");
  for (const char* descr : {"|O", "f4", "", "<U4", "<c8", "!f4"})
    CHECK(refused<float>(file_of("{'descr': '"s + descr + "', 'fortran_order': False, 'shape': (1,)}")) ==
          "InvalidArgument: f: has elements of type '"s + descr + "', expected '<f4' for float32");
  CHECK(refused<float>(file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1)}")) ==
        "InvalidArgument: f: has 7 axes, expected 6 at most");
  CHECK(refused<bool>(file_of("{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}", "\x01\x02")) ==
        "DataLoss: f: has a boolean of 2, expected 0 or 1");
  for (const char* header :
       {"", "{", "{}", "[]", "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': ()}", "{'descr': '<f4', 'fortran_order': False, 'shape': (1)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", "{'descr': '<f4', 'descr': '<f4', 'shape': (1,)}",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}", "{'descr': '<f4"}) {
    CAPTURE(header);
    CHECK(refused<float>(file_of(header)) == "InvalidArgument: f: has a header that is not understood: "s + header);
  }
}

TEST_CASE("a declared size takes no memory until the elements arrive") {
  const std::string huge =
      file_of("{'descr': '<f8', 'fortran_order': True, 'shape': (1000000, 1000000, 1000), }", "12345678");
  CHECK(refused<double>(huge) ==
        "DataLoss: f: is truncated: its header says [1000, 1000000, 1000000], which is more than the file can hold");
  CHECK(text_of([&] { (void)io::read_npy<double>(tagma::test::trickle(huge)); }) ==
        "DataLoss: trickle: is truncated: 7999999999999992 bytes are missing");
  for (const char* dims : {"(9223372036854775807, 9223372036854775807)", "(4611686018427387904, 2)"})
    CHECK(tagma::test::code_of([&] {
            (void)io::read_npy<double>(
                tagma::test::trickle(file_of("{'descr': '<f8', 'fortran_order': False, 'shape': "s + dims + "}")));
          }) == status_code::data_loss);
  CHECK(tagma::test::code_of([&] {
          (void)read<double>(file_of("{'descr': '<f8', 'fortran_order': True, 'shape': (0, 4611686018427387904, 8)}"));
        }) == status_code::resource_exhausted);
}

TEST_CASE("Python reads what is written") {
  const temporary_directory dir;
  const auto script = std::filesystem::path(__FILE__).parent_path() / "npy_reader.py";
  write_npy(dir / "a", tensor<double>({2, 3}, {1, 2.5, -3, 1e300, 0, 7}));
  const std::string command = "python3 '" + script.string() + "' '" + (dir / "a") + "' > '" + (dir / "b") + "'";
  REQUIRE(std::system(command.c_str()) == 0);
  CHECK(tagma::read_file(dir / "b") == "<f8 (2, 3) 1.0 2.5 -3.0 1e+300 0.0 7.0\n");
  write_npy(dir / "a", tensor<std::int16_t>({2}, {-5, 300}));
  REQUIRE(std::system(command.c_str()) == 0);
  CHECK(tagma::read_file(dir / "b") == "<i2 (2,) -5 300\n");
}
