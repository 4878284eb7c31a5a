// SPDX-License-Identifier: BSL-1.0
#include "tagma/io/safetensors_index.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "support/errors.hpp"

namespace {

namespace safetensors = tagma::safetensors;
using tagma::test::text_of;

TEST_CASE("an index is written in the form that others read, and read back") {
  safetensors::index made;
  made.files = {{"dense/bias", "m-2.safetensors"}, {"dense/kernel", "m-1.safetensors"}};
  made.texts = {{"cut", "runs"}};
  made.total_size = 401920;
  const std::string text = safetensors::to_json(made);
  CHECK(text ==
        "{\n  \"metadata\": {\n    \"total_size\": 401920,\n    \"cut\": \"runs\"\n  },\n  \"weight_map\": {\n"
        "    \"dense/bias\": \"m-2.safetensors\",\n    \"dense/kernel\": \"m-1.safetensors\"\n  }\n}\n");
  const safetensors::index read = safetensors::index_from_json(text, "i");
  CHECK(read.files == made.files);
  CHECK(read.texts == made.texts);
  CHECK(read.total_size == made.total_size);
  CHECK(safetensors::index_from_json(safetensors::to_json({}), "i").files.empty());
}

TEST_CASE("an index that leads elsewhere, or is none, is refused with its name") {
  const auto refused = [](const char* text) {
    return text_of([&] { (void)safetensors::index_from_json(text, "d/i"); });
  };
  CHECK(refused("[]") == "DataLoss: d/i: not a sound index of safetensors files: it is no object");
  CHECK(refused("{}").find("no weight_map") != std::string::npos);
  CHECK(refused(R"({"weight_map":{"a":"../x"}})").find("\"../x\", which is no file beside it") != std::string::npos);
  CHECK(refused(R"({"weight_map":{"a":"/x"}})").find("no file beside it") != std::string::npos);
  CHECK(refused(R"({"weight_map":{"a":".."}})").find("no file beside it") != std::string::npos);
  CHECK(refused(R"({"weight_map":{"a":1}})").find("tensor \"a\" has no name of a file") != std::string::npos);
  CHECK(refused(R"({"weight_map":{"a":"b")").find("byte 22") != std::string::npos);
  CHECK(tagma::test::code_of([] { (void)safetensors::read_index("/nowhere/i"); }) == tagma::status_code::not_found);
  CHECK(tagma::test::code_of([] {
          (void)safetensors::to_json({{{"a", "b/c"}}, {}, 0});
        }) == tagma::status_code::invalid_argument);
}

}  // namespace
