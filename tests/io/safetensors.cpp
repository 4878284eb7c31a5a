// SPDX-License-Identifier: BSL-1.0
#include "tagma/io/safetensors.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include "support/errors.hpp"
#include "support/temporary_directory.hpp"

using tagma::test::temporary_directory, tagma::test::thrown;

namespace fs = std::filesystem;
namespace st = tagma::safetensors;
using tagma::dtype;
using tagma::shape;
using tagma::status_code;
using tagma::tensor;

namespace {

void put(const std::string& path, std::string_view content) {
  const std::string_view pieces[] = {content};
  tagma::replace_file(path, pieces);
}

/// A file with this header and this many bytes 0 after it.
std::string file_of(const std::string& header, std::size_t bytes) {
  std::string content(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) content[i] = static_cast<char>(header.size() >> (8 * i) & 0xff);
  return content + header + std::string(bytes, '\0');
}

template <class T>
st::named_tensor named(std::string name, const tensor<T>& t) {
  return {std::move(name), tagma::dtype_of<T>, t.dims(), t.data()};
}

}  // namespace

TEST_CASE("the bytes of a file are those of the reference writer") {
  const temporary_directory dir;
  const tensor<float> a({2, 1}, {1.0f, -0.5f});
  const tensor<std::int64_t> b({1}, {-2});
  const st::named_tensor tensors[] = {named("a", a), named("b", b)};
  const std::string path = dir / "x.safetensors";
  st::write(path, tensors);

  using namespace std::string_literals;
  const std::string expected =
      "\x90\0\0\0\0\0\0\0"s
      R"({"__metadata__":{"format":"pt"},"b":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},)"
      R"("a":{"dtype":"F32","shape":[2,1],"data_offsets":[8,16]}}   )"
      "\xfe\xff\xff\xff\xff\xff\xff\xff\0\0\x80\x3f\0\0\0\xbf"s;
  CHECK(expected.size() == 168);
  CHECK(tagma::read_file(path) == expected);
  CHECK(dir.files().size() == 1);

  SECTION("and every prefix of it is refused") {
    for (std::size_t n = 0; n < expected.size(); ++n) {
      put(path, std::string_view(expected).substr(0, n));
      const auto e = thrown([&] { st::file file(path); });
      if (e.code() != status_code::data_loss) FAIL("a file cut to " << n << " bytes: " << e.what());
    }
    put(path, expected + '\0');
    CHECK(std::string(thrown([&] { st::file file(path); }).what()) ==
          "DataLoss: " + path + ": not a sound safetensors file: the tensors end at byte 16, the file at 17");
  }
}

TEST_CASE("what is written is read back, by us and by another reader") {
  const temporary_directory dir;
  const tensor<double> scalar = 0.1;
  const tensor<float> kernel({2, 3}, {1.0f, -0.5f, 0.25f, 1e30f, -1e-30f, 0.0f});
  const tensor<std::int64_t> counts({2}, {-2, std::int64_t{1} << 62});
  const tensor<std::int32_t> small({1}, {-7});
  const tensor<tagma::float16> half({3}, {tagma::float16(1.0f), tagma::float16(-2.5f), tagma::float16(65504.0f)});
  const tensor<tagma::bfloat16> brain({2}, {tagma::bfloat16(1.0f), tagma::bfloat16(-2.5f)});
  const tensor<std::int16_t> shorts({1}, {std::int16_t{-300}});
  const tensor<std::int8_t> bytes({2}, {std::int8_t{-128}, std::int8_t{127}});
  const tensor<std::uint8_t> unsigned_bytes({3}, {std::uint8_t{0}, std::uint8_t{128}, std::uint8_t{255}});
  const tensor<bool> mask({2, 2}, {true, false, false, true});
  const tensor<float> empty(shape{0, 4});
  const tensor<float> odd({1}, {3.0f});
  const std::string odd_name = "name with \"quotes\" and \xc3\xa4\xe2\x82\xac";
  const st::named_tensor tensors[] = {
      named("mask", mask),    named("scalar", scalar), named("dense/kernel", kernel),  named("counts", counts),
      named("small", small),  named("half", half),     named("brain", brain),          named("short", shorts),
      named("signed", bytes), named("empty", empty),   named("bytes", unsigned_bytes), named(odd_name, odd)};
  const std::string path = dir / "x.safetensors";
  st::write(path, tensors, {{"step", "1200"}});

  const st::file file(path);
  CHECK(file.path() == path);
  CHECK(file.entries().size() == std::size(tensors));
  CHECK(file.metadata() == st::metadata{{"format", "pt"}, {"step", "1200"}});
  CHECK(file.load<double>("scalar") == scalar);
  CHECK(file.load<float>("dense/kernel") == kernel);
  CHECK(file.load<std::int64_t>("counts") == counts);
  CHECK(file.load<std::int32_t>("small") == small);
  CHECK(file.load<tagma::float16>("half") == half);
  CHECK(file.load<tagma::bfloat16>("brain") == brain);
  CHECK(file.load<std::int16_t>("short") == shorts);
  CHECK(file.load<std::int8_t>("signed") == bytes);
  CHECK(file.load<std::uint8_t>("bytes") == unsigned_bytes);
  CHECK(file.load<bool>("mask") == mask);
  CHECK(file.load<float>("empty") == empty);
  CHECK(file.load<float>(odd_name) == odd);
  REQUIRE(file.find("dense/kernel") != nullptr);
  CHECK(file.find("dense/kernel")->type == dtype::float32);
  CHECK(file.find("dense/kernel")->bytes == 24);
  CHECK(file.find("nothing") == nullptr);
  CHECK(thrown([&] { (void)file.load<float>("nothing"); }).code() == status_code::not_found);
  const auto wrong = thrown([&] { (void)file.load<float>("counts"); });
  CHECK(wrong.code() == status_code::invalid_argument);
  CHECK(std::string(wrong.what()) ==
        "InvalidArgument: " + path + ": tensor \"counts\" has elements of type I64, expected float32");

  const fs::path script = fs::path(__FILE__).parent_path() / "safetensors_reader.py";
  const std::string command = "python3 '" + script.string() + "' '" + path + "' > /dev/null";
  CHECK(std::system(command.c_str()) == 0);
  put(path, tagma::read_file(path).replace(0, 1, "\x01"));
  CHECK(std::system((command + " 2>&1").c_str()) != 0);
}

TEST_CASE("a file of no tensors is a file") {
  const temporary_directory dir;
  const std::string path = dir / "x.safetensors";
  st::write(path, {}, {{"format", "np"}});
  CHECK(st::file(path).entries().empty());
  CHECK(st::file(path).metadata().at("format") == "np");
  put(path, file_of("{}", 0));
  CHECK(st::file(path).entries().empty());
}

TEST_CASE("a file keeps its bytes when it is moved") {
  const temporary_directory dir;
  const tensor<float> a({2}, {1, 2});
  const st::named_tensor tensors[] = {named("a", a)};
  st::write(dir / "x", tensors);
  st::file first(dir / "x");
  const st::file second = std::move(first);
  CHECK(second.load<float>("a") == a);
}

TEST_CASE("readers accept any order, unknown members and the element types of others") {
  const temporary_directory dir;
  const std::string path = dir / "x";
  put(path, file_of(R"({"b":{"dtype":"U8","shape":[3],"data_offsets":[0,3],"more":[1]},)"
                    R"("c":{"dtype":"F4","shape":[2,3],"data_offsets":[7,10]},)"
                    R"("e":{"dtype":"U16","shape":[0],"data_offsets":[3,3]},)"
                    R"("a":{"dtype":"F32","shape":[],"data_offsets":[3,7]}}  )",
                    10));
  const st::file file(path);
  CHECK(file.entries()[0].name == "b");
  CHECK(file.entries()[3].name == "c");
  CHECK(file.find("c")->type == dtype::none);
  CHECK(file.find("c")->format == "F4");
  CHECK(file.find("c")->bytes == 3);
  CHECK(file.load<float>("a")() == 0.0f);
  CHECK(thrown([&] { (void)file.load<std::int16_t>("e"); }).code() == status_code::invalid_argument);
}

TEST_CASE("tensors are found in whatever order the header has them") {
  const temporary_directory dir;
  const std::string path = dir / "x";
  std::mt19937 random(5);
  std::vector<int> order(300);
  std::iota(order.begin(), order.end(), 0);
  for (int round = 0; round < 5; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    std::string header, data;
    for (const int i : order) {
      const auto at = std::to_string(i), behind = std::to_string(i + 1);
      header += (header.empty() ? "{\"t" : ",\"t") + at + R"(":{"dtype":"U8","shape":[1],"data_offsets":[)" + at + "," +
                behind + "]}";
    }
    for (int i = 0; i < 300; ++i) data += static_cast<char>(static_cast<unsigned char>(7 * i & 0xff));
    put(path, file_of(header + "}", 0) + data);
    const st::file file(path);
    bool same = true;
    for (int i = 0; i < 300; ++i) {
      const std::string name = "t" + std::to_string(i);
      const auto expected = static_cast<std::uint8_t>(7 * i & 0xff);
      same = same && file.load<std::uint8_t>(name)(0) == expected &&
             file.entries()[static_cast<std::size_t>(i)].name == name;
    }
    CHECK(same);
    CHECK(file.find("t300") == nullptr);
    CHECK(file.find("") == nullptr);
  }
}

TEST_CASE("a corrupted file is refused with the path and the reason") {
  const temporary_directory dir;
  const std::string path = dir / "x.safetensors";
  const auto entry = [](const char* type, const char* dims, const char* offsets) {
    return std::string(R"({"a":{"dtype":)") + type + R"(,"shape":)" + dims + R"(,"data_offsets":)" + offsets + "}}";
  };
  const std::string a = R"("a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]})";
  const std::string no_offsets = "tensor \"a\": no \"data_offsets\" of two integers that are not negative";
  const std::string no_shape = "tensor \"a\": no \"shape\" of integers that are not negative";
  struct corrupted {
    std::string content, reason;
  };
  const corrupted cases[] = {
      {std::string("\x01\0\0", 3), "has 3 bytes, fewer than the 8 of the header's length"},
      {std::string("\x01\xe1\xf5\x05\0\0\0\0", 8), "a header of 100000001 bytes, more than are allowed"},
      {std::string(8, '\xff'), "a header of 18446744073709551615 bytes, more than are allowed"},
      {std::string("\x03\0\0\0\0\0\0\0{}", 10), "a header of 3 bytes in a file of 10"},
      {std::string(8, '\0'), "the header does not begin with '{'"},
      {file_of("[]", 0), "the header does not begin with '{'"},
      {file_of(" {}", 0), "the header does not begin with '{'"},
      {file_of("{} x", 0), "header, byte 3: expected the end of the text"},
      {file_of("{\"\xff\":1}", 0), "header, byte 2: invalid UTF-8"},
      {file_of("{" + a + "," + a + "}", 4), "header, byte 53: the name \"a\" appears twice"},
      {file_of(R"({"__metadata__":[]})", 0), "__metadata__ is an array, not an object"},
      {file_of(R"({"__metadata__":{"step":1200}})", 0), "__metadata__: \"step\" is a number, not a string"},
      {file_of(R"({"__metadata__":{"a":"1","\u0061":"2"}})", 0), "header, byte 25: the name \"a\" appears twice"},
      {file_of(R"({"a":{"dtype":"U8","dtype":"U8","shape":[0],"data_offsets":[0,0]}})", 0),
       "header, byte 19: the name \"dtype\" appears twice"},
      {file_of(R"({"a":{"more":[{"b":1,"b":1}],"dtype":"U8","shape":[0],"data_offsets":[0,0]}})", 0),
       "header, byte 21: the name \"b\" appears twice"},
      {file_of(R"({"a":{"more":1e,"dtype":"U8","shape":[0],"data_offsets":[0,0]}})", 0),
       "header, byte 15: expected a digit"},
      {file_of(R"({"a":1})", 0), "tensor \"a\": no string \"dtype\""},
      {file_of(entry("32", "[1]", "[0,4]"), 4), "tensor \"a\": no string \"dtype\""},
      {file_of(entry("\"F31\"", "[1]", "[0,4]"), 4), "tensor \"a\": the unknown element type \"F31\""},
      {file_of(entry("\"f32\"", "[1]", "[0,4]"), 4), "tensor \"a\": the unknown element type \"f32\""},
      {file_of(entry("\"F32\"", "1", "[0,4]"), 4), no_shape},
      {file_of(entry("\"F32\"", "[-1]", "[0,4]"), 4), no_shape},
      {file_of(entry("\"F32\"", "[1.0]", "[0,4]"), 4), no_shape},
      {file_of(entry("\"F32\"", "[1]", "[0]"), 4), no_offsets},
      {file_of(entry("\"F32\"", "[1]", "[0,4,8]"), 4), no_offsets},
      {file_of(entry("\"F32\"", "[1]", "[-4,0]"), 4), no_offsets},
      {file_of(entry("\"F32\"", "[1]", "[0,18446744073709551620]"), 4), no_offsets},
      {file_of(entry("\"F32\"", "[1]", "[4,0]"), 4), "tensor \"a\": it ends before it begins"},
      {file_of(entry("\"F32\"", "[2]", "[0,4]"), 4), "tensor \"a\": 4 bytes for F32 [2]"},
      {file_of(entry("\"F32\"", "[]", "[0,8]"), 8), "tensor \"a\": 8 bytes for F32 []"},
      {file_of(entry("\"F4\"", "[3]", "[0,1]"), 1), "tensor \"a\": 1 bytes for F4 [3]"},
      {file_of(entry("\"U8\"", "[4294967296,4294967296]", "[0,0]"), 0),
       "tensor \"a\": 0 bytes for U8 [4294967296, 4294967296]"},
      {file_of(entry("\"F32\"", "[1e0]", "[0,4]"), 4), no_shape},
      {file_of(entry("\"F32\"", "[9223372036854775808]", "[0,4]"), 4), no_shape},
      {file_of(entry("\"U8\"", "[9223372036854775807]", "[0,9223372036854775807]"), 4),
       "tensor \"a\": 9223372036854775807 bytes for U8 [9223372036854775807]"},
      {file_of(entry("\"U8\"", "[1099511627776]", "[0,1099511627776]"), 4),
       "the tensors end at byte 1099511627776, the file at 4"},
      {file_of(entry("\"F32\"", "[4611686018427387905]", "[0,4]"), 4),
       "tensor \"a\": 4 bytes for F32 [4611686018427387905]"},
      {file_of(entry("\"U8\"", "[4]", "[4,8]"), 8), "tensor \"a\": it begins at byte 4, the one before it ends at 0"},
      {file_of("{" + a + R"(,"b":{"dtype":"U8","shape":[4],"data_offsets":[3,7]}})", 7),
       "tensor \"b\": it begins at byte 3, the one before it ends at 4"},
      {file_of("{" + a + R"(,"b":{"dtype":"U8","shape":[4],"data_offsets":[5,9]}})", 9),
       "tensor \"b\": it begins at byte 5, the one before it ends at 4"},
      {file_of("{" + a + R"(,"b":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 4),
       "tensor \"b\": it begins at byte 0, the one before it ends at 4"},
      {file_of("{" + a + "}", 3), "the tensors end at byte 4, the file at 3"},
      {file_of("{" + a + "}", 5), "the tensors end at byte 4, the file at 5"},
      {file_of("{}", 1), "the tensors end at byte 0, the file at 1"},
      {file_of(entry("\"BOOL\"", "[2]", "[0,2]"), 1) + '\x02', "tensor \"a\": element 1 is neither 0 nor 1"},
  };
  for (const corrupted& c : cases) {
    put(path, c.content);
    const auto e = thrown([&] { st::file file(path); });
    CHECK(e.code() == status_code::data_loss);
    CHECK(std::string(e.what()) == "DataLoss: " + path + ": not a sound safetensors file: " + c.reason);
  }
  put(path, file_of(entry("\"U8\"", "[1,1,1,1,1,1,1]", "[0,1]"), 1));
  const auto axes = thrown([&] { st::file file(path); });
  CHECK(std::string(axes.what()) == "InvalidArgument: " + path + ": tensor \"a\" has 7 axes, tagma knows at most 6");
  put(path, file_of(entry("\"F32\"", "[0,4294967296,4294967296]", "[0,0]"), 0));
  const st::file empty(path);
  CHECK(empty.entries().size() == 1);
  const auto bound = thrown([&] { (void)empty.load<float>("a"); });
  CHECK(std::string(bound.what()) == "ResourceExhausted: " + path +
                                         ": tensor \"a\": a tensor of float32 [0, 4294967296, 4294967296] of about "
                                         "2^66 bytes, more than a process can address");
  CHECK(thrown([&] { st::file file(dir / "none"); }).code() == status_code::not_found);
  CHECK(thrown([&] { st::file file(dir.path.string()); }).code() == status_code::invalid_argument);
}

TEST_CASE("tensors that the format cannot hold are refused before anything is written") {
  const temporary_directory dir;
  const std::string path = dir / "x.safetensors";
  put(path, "old");
  const float value = 1;
  const auto refused = [&](std::vector<st::named_tensor> tensors) {
    const auto e = thrown([&] { st::write(path, tensors); });
    CHECK(tagma::read_file(path) == "old");
    CHECK(dir.files().size() == 1);
    return std::string(e.what());
  };
  const std::string begin = "InvalidArgument: " + path + ": ";
  const std::string_view text = "x";
  CHECK(refused({{"__metadata__", dtype::float32, {}, &value}}) ==
        begin + "cannot write tensor \"__metadata__\": the name is reserved");
  CHECK(refused({{"a", dtype::string, {}, &text}}) ==
        begin + "cannot write tensor \"a\": the format has no elements of type string");
  CHECK(refused({{"a", dtype::none, {}, &value}}) ==
        begin + "cannot write tensor \"a\": the format has no elements of type none");
  CHECK(refused({{"a", dtype::float32, {tagma::dyn}, &value}}) ==
        begin + "cannot write tensor \"a\": its shape is [?]");
  CHECK(refused({{"a", dtype::float32, {}, &value}, {"a", dtype::uint8, {}, &value}}) ==
        begin + "two tensors have the name \"a\"");
  CHECK(refused({{"\xff", dtype::float32, {}, &value}}) ==
        begin + "cannot write tensor \"\xff\": its name is not UTF-8");
  CHECK(std::string(thrown([&] {
                      st::write(path, {}, {{"author", "\xe4"}});
                    }).what()) == begin + "the text \"author\" is not UTF-8");

  const st::named_tensor fine[] = {{"a", dtype::float32, {}, &value}};
  const auto e = thrown([&] { st::write(dir / "none/x.safetensors", fine); });
  CHECK(e.code() == status_code::not_found);
  CHECK(std::string(e.what()).find(dir / "none/x.safetensors") != std::string::npos);
  CHECK(std::string(e.what()).find("No such file or directory") != std::string::npos);
}
