// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/service/messages.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "tagma/cluster/service/checkpoint_messages.hpp"
#include "tagma/cluster/service/words.hpp"

namespace {

namespace tg = tagma;
namespace service = tagma::service;
using tg::dtype;

/// What was written is read as it was; nothing shorter or longer is; and whatever is changed, what is read is refused
/// with a sentence or is a message that is written as it was read.
template <class Message>
void check(const Message& m) {
  const std::string body = m.body();
  CHECK(Message::read(body).body() == body);
  for (std::size_t size = 0; size < body.size(); ++size)
    CHECK_THROWS_AS(Message::read(std::string_view(body).substr(0, size)), tg::error);
  CHECK_THROWS_AS(Message::read(body + '\0'), tg::error);
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    std::string changed = body;
    for (int k = 0; k <= static_cast<int>(random() % 3); ++k)
      changed[random() % changed.size()] = static_cast<char>(random() % 4 == 0 ? random() % 3 : random() % 256);
    try {
      const Message got = Message::read(changed);
      CHECK(Message::read(got.body()).body() == got.body());
    } catch (const tg::error& e) {
      const bool named =
          e.code() == tg::status_code::invalid_argument || e.code() == tg::status_code::resource_exhausted;
      CHECK(named);
    }
  }
}

TEST_CASE("messages are read as they were written, or refused") {
  check(service::add_part{
      7, 1, "trial", "replica_3", tg::isolation::runs, 42, {{{"ps", 0}, "a:1"}, {{"worker", 3}, "[::1]:2"}}, 12});
  check(service::added_part{3});
  check(service::run_part{7, 9, 8, 1, {0, 2, 5}, {{{1, 4}, {dtype::float32, {2, 0, 3}}}, {{}, {dtype::uint8, {}}}}});
  check(service::part_results{{{dtype::none, {}}, {dtype::bfloat16, {5}}, {dtype::float64, {1, 2, 3, 4, 5, 6}}}});
  check(service::part_results{{}, tg::status_code::out_of_range, "index 7"});
  check(service::edge_of_run{7, 9, 3, {dtype::int64, {1}}});
  check(service::edge_of_run{7, 9, 3, {}});
  check(service::end_run{7, 9, tg::status_code::out_of_range, "index 7"});
  check(service::variable_list{{{"w", {dtype::float32, {3}}}, {"w/adam_m", {dtype::float32, {3}}}}});
  check(service::task_list{{"ps", 1}, {{{"ps", 0}, "a:1"}, {{"ps", 1}, "b:1"}}});
}

TEST_CASE("messages about checkpoints are read as they were written, or refused") {
  check(service::hold_runs{"trial", 7, {{1, 2}, {3, 4}}});
  check(service::open_runs{{{1, 2}}});
  check(service::save_shard{"trial", "model-7", 9, true, false});
  check(service::saved_shard{{{"w", "model-7.safetensors", 12, true}, {"b", "m", 4, false}}});
  check(service::commit_save{"model-7", 9, 5, {{"cut", "runs"}}});
  check(service::end_hold{"trial", 9, true});
  check(service::restore_shard{"trial", "model-*", 9, true});
  check(service::name_list{{"w", "w/adam_m"}});
  check(service::restored_shard{{{"name", "model-7"}, {"saved", "2026-01-01T00:00:00Z"}}});
}

TEST_CASE("nobody holds runs without a token") {
  CHECK_THROWS_WITH(service::hold_runs::read(service::hold_runs{"trial", 0, {}}.body()),
                    "InvalidArgument: message 'hold_runs': a token is not 0");
}

TEST_CASE("what a message says is limited before there is memory for it") {
  service::word_writer to;
  to.number(std::uint32_t{0xffffffff});
  CHECK_THROWS_WITH(service::variable_list::read(to.take()), Catch::Contains("it lists more than it has"));
  service::word_writer huge;
  huge.number(std::uint64_t{0}), huge.number(std::uint64_t{0}), huge.number(std::int32_t{0});
  huge.number(std::uint8_t{2}), huge.number(std::uint8_t{2});
  huge.number(std::int64_t{1} << 40), huge.number(std::int64_t{1} << 40);
  CHECK_THROWS_AS(service::edge_of_run::read(huge.take()), tg::error);
  service::word_writer open;
  open.number(std::uint64_t{0}), open.number(std::uint64_t{0}), open.number(std::int32_t{0});
  open.number(std::uint8_t{2}), open.number(std::uint8_t{1}), open.number(std::int64_t{-1});
  CHECK_THROWS_AS(service::edge_of_run::read(open.take()), tg::error);
}

TEST_CASE("elements of several tensors are aligned") {
  CHECK(service::aligned(0) == 0);
  CHECK(service::aligned(1) == 64);
  CHECK(service::aligned(64) == 64);
  CHECK(service::aligned(65) == 128);
}

}  // namespace
