// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/service/elements.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <string>
#include <string_view>

#include "support/bytes_of_hex.hpp"
#include "support/errors.hpp"
#include "tagma/tensor/tensor.hpp"

namespace {

namespace tg = tagma;
namespace service = tg::service;
using tg::test::text_of;

tg::array_view<const std::byte> bytes_of(const std::string& s) {
  return {reinterpret_cast<const std::byte*>(s.data()), s.size()};
}
constexpr tg::tensor_spec texts_of(tg::extent n) { return {tg::dtype::string, {n}}; }

TEST_CASE("elements of several tensors are read as they were written") {
  const tg::tensor<float> numbers({3}, {1, 2, 3});
  const tg::tensor<std::string_view> texts({2, 2}, {"ab", "", std::string_view("\0c", 2), "d"});
  const tg::tensor<double> none({0, 4});
  std::string all;
  service::add_elements(all, tg::erase(numbers));
  service::add_elements(all, tg::erase(texts));
  service::add_elements(all, tg::raw_view{});
  service::add_elements(all, tg::erase(none));
  service::add_elements(all, tg::erase(numbers));
  CHECK(all.size() == 128 + 12);
  // Bytes of wire.md: the ends of four texts, and their characters.
  CHECK(all.substr(64, 37) ==
        tg::test::bytes_of_hex("0200000000000000 0200000000000000 0400000000000000 0500000000000000 6162006364"));
  service::elements_reader reader(bytes_of(all));
  CHECK(reader.take({tg::dtype::float32, {3}}).as<float>()[2] == 3);
  const auto read = reader.take({tg::dtype::string, {2, 2}}).as<std::string_view>();
  for (int i = 0; i < 4; ++i) CHECK(read.data()[i] == texts.data()[i]);
  CHECK(reader.take({}).type == tg::dtype::none);
  CHECK(reader.take({tg::dtype::float64, {0, 4}}).dims == tg::shape{0, 4});
  CHECK(reader.take({tg::dtype::float32, {3}}).as<float>()[0] == 1);
  CHECK(text_of([&] { (void)reader.take({tg::dtype::uint8, {1}}); }).starts_with("InvalidArgument: "));
  CHECK(text_of([&] { (void)reader.take(texts_of(1)); }).starts_with("InvalidArgument: "));
}

TEST_CASE("elements of several tensors are aligned") {
  CHECK(service::aligned(0) == 0);
  CHECK(service::aligned(1) == 64);
  CHECK(service::aligned(64) == 64);
  CHECK(service::aligned(65) == 128);
}

TEST_CASE("texts that end where they cannot are refused") {
  const auto problem = [](const char* hex, tg::extent n) {
    const std::string all = tg::test::bytes_of_hex(hex);
    service::elements_reader reader(bytes_of(all));
    return text_of([&] { (void)reader.take(texts_of(n)); });
  };
  CHECK(problem("0100000000000000 61", 1).empty());
  CHECK(problem("0200000000000000 61", 1).find("text 0") != std::string::npos);
  CHECK(problem("0200000000000000 0100000000000000 6162", 2).find("text 1") != std::string::npos);
  CHECK(problem("ffffffffffffffff 61", 1).find("text 0") != std::string::npos);
  CHECK(problem("01000000000000", 1).find("ends behind them") != std::string::npos);
  CHECK(problem("", tg::extent{1} << 50).find("ends behind them") != std::string::npos);
}

TEST_CASE("whatever the bytes are, texts are inside of them or refused") {
  std::mt19937 random(11);
  for (int i = 0; i < 20'000; ++i) {
    std::string all(random() % 80, '\0');
    for (char& c : all) c = static_cast<char>(random() % 3 == 0 ? random() % 40 : 0);
    service::elements_reader reader(bytes_of(all));
    try {
      for (int k = 0; k < 3; ++k) {
        const auto read = reader.take(texts_of(static_cast<tg::extent>(random() % 6))).as<std::string_view>();
        for (const std::string_view t : read) {
          REQUIRE(t.data() >= all.data());
          REQUIRE(t.data() + t.size() <= all.data() + all.size());
        }
      }
    } catch (const tg::error& e) {
      REQUIRE(e.code() == tg::status_code::invalid_argument);
    }
  }
}

}  // namespace
