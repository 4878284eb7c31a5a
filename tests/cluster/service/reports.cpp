// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/service/reports.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "support/bytes_of_hex.hpp"
#include "support/message_check.hpp"
#include "support/service_samples.hpp"
#include "tagma/base/file.hpp"
#include "tagma/cluster/service/words.hpp"

namespace {

namespace tg = tagma;
namespace service = tagma::service;

std::string hex_of(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    text += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
    text += "0123456789abcdef"[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

TEST_CASE("bodies of messages are what docs/wire.md says") {
  const std::filesystem::path here = std::filesystem::absolute(__FILE__).parent_path();
  const std::string page = tg::read_file((here / "../../../docs/wire.md").string());
  int found = 0;
  tg::test::each_service_sample([&]<class Message>(const std::string& name, const Message& m) {
    INFO(name << "\n" << hex_of(m.body()));
    const std::string head = "\nbody " + name + "\n";
    const std::size_t at = page.find(head);
    REQUIRE(at != std::string::npos);
    const std::size_t begin = at + head.size();
    const std::size_t end = std::min(page.find("\nbody ", begin), page.find("\n```", begin));
    const std::string bytes = tg::test::bytes_of_hex(page.substr(begin, end - begin));
    CHECK(hex_of(m.body()) == hex_of(bytes));
    CHECK(Message::read(bytes).body() == bytes);
    ++found;
  });
  CHECK(found == 40);
}

TEST_CASE("what is written is read as it was, and nothing shorter, longer or changed is taken for more than it says") {
  tg::test::each_service_sample([]<class Message>(const std::string& name, const Message& m) {
    INFO(name);
    tg::test::check_message(m);
  });
}

TEST_CASE("ways to wait and flags that are not known are refused") {
  std::string run = service::run_list{{{7, 9, "", true, 0, {{3, service::run_list::wait::wanted, {"ps", 0}}}}}}.body();
  run[run.size() - 15] = 3;
  CHECK_THROWS_WITH(service::run_list::read(run), Catch::Contains("way 3"));
  std::string question = service::read_variable{"", "w", true}.body();
  question.back() = 2;
  CHECK_THROWS_WITH(service::read_variable::read(question), Catch::Contains("neither 0 nor 1"));
}

}  // namespace
