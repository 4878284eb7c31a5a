// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/service/messages.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "support/message_check.hpp"
#include "tagma/cluster/service/checkpoint_messages.hpp"
#include "tagma/cluster/service/master_messages.hpp"
#include "tagma/cluster/service/words.hpp"

namespace {

namespace tg = tagma;
namespace service = tagma::service;
using tg::dtype;
using tg::test::check_message;

TEST_CASE("messages are read as they were written, or refused") {
  check_message(service::add_part{
      7, 1, "trial", "replica_3", tg::isolation::runs, 42, {{{"ps", 0}, "a:1"}, {{"worker", 3}, "[::1]:2"}}, 12});
  check_message(service::added_part{3});
  check_message(
      service::run_part{7, 9, 8, 1, {0, 2, 5}, {{{1, 4}, {dtype::float32, {2, 0, 3}}}, {{}, {dtype::uint8, {}}}}});
  check_message(
      service::part_results{{{dtype::none, {}}, {dtype::bfloat16, {5}}, {dtype::float64, {1, 2, 3, 4, 5, 6}}}});
  check_message(service::part_results{{}, tg::status_code::out_of_range, "index 7"});
  check_message(service::edge_of_run{7, 9, 3, {dtype::int64, {1}}});
  check_message(service::edge_of_run{7, 9, 3, {}});
  check_message(service::end_run{7, 9, tg::status_code::out_of_range, "index 7"});
  check_message(service::variable_list{{{"w", {dtype::float32, {3}}}, {"w/adam_m", {dtype::float32, {3}}}}});
  check_message(service::task_list{{"ps", 1}, {{{"ps", 0}, "a:1"}, {{"ps", 1}, "b:1"}}});
}

TEST_CASE("messages about checkpoints are read as they were written, or refused") {
  check_message(service::hold_runs{"trial", 7, {{1, 2}, {3, 4}}});
  check_message(service::open_runs{{{1, 2}}});
  check_message(service::save_shard{"trial", "model-7", 9, true, false});
  check_message(service::saved_shard{{{"w", "model-7.safetensors", 12, true}, {"b", "m", 4, false}}});
  check_message(service::commit_save{"model-7", 9, 5, {{"cut", "runs"}}});
  check_message(service::end_hold{"trial", 9, true});
  check_message(service::restore_shard{"trial", "model-*", 9, true});
  check_message(service::name_list{{"w", "w/adam_m"}});
  check_message(service::restored_shard{{{"name", "model-7"}, {"saved", "2026-01-01T00:00:00Z"}}});
}

TEST_CASE("messages of sessions that a server drives are read as they were written, or refused") {
  const service::open_session open{
      {7, 0, "trial", "replica_3", tg::isolation::runs, 42, {{{"ps", 0}, "a:1"}}, 12}, {"/job:ps"}, 1, 2, 3, 4, 5};
  check_message(open);
  service::open_session never = open;
  never.again_ns = -1;
  CHECK_THROWS_WITH(service::open_session::read(never.body()), Catch::Contains("a time is negative"));
  check_message(service::save_session{7, "model-5", {3, true, 2'000'000'000, {{"epoch", "12"}}}});
  check_message(service::saved_session{{"model-5", tg::isolation::runs, 2, 16, 12}});
  check_message(service::restore_session{7, "model-*", 2'000'000'000});
  check_message(service::restored_session{{"model-5", tg::isolation::variables, 2, {{"epoch", "12"}}}});
  const service::node_devices where =
      service::node_devices::of({tg::parse_device("/job:ps/task:1").spec, tg::parse_device("/job:ps/task:0").spec,
                                 tg::parse_device("/job:ps/task:1").spec});
  CHECK(where.names.size() == 2);
  CHECK(where.devices()[2] == where.devices()[0]);
  check_message(where);
  CHECK_THROWS_WITH(service::node_devices::read(service::node_devices{{"/job:ps"}, {1}}.body()),
                    Catch::Contains("device 1 of 1"));
  CHECK_THROWS_WITH((service::node_devices{{"/jobs"}, {0}}.devices()), Catch::Contains("'/jobs' is no device"));
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

}  // namespace
