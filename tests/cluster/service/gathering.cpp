// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/service/gathering.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <thread>

#include "support/errors.hpp"

namespace {

namespace tg = tagma;
using tg::service::gathering;
using tg::service::question;

const tg::error cancelled(tg::status_code::cancelled, "it is over");

TEST_CASE("questions are answered or left, and nobody waits for those who are silent beyond a limit") {
  gathering all;
  question silent(all, "a"), slow(all, "b");
  int gave_up = 0, left = 0;
  const tg::run_limits limits = tg::timeout(std::chrono::milliseconds(10));
  const auto began = std::chrono::steady_clock::now();
  const std::string text = tg::test::text_of([&] {
    all.wait(
        [&](const tg::error& why) {
          ++gave_up;
          CHECK(why.code() == tg::status_code::deadline_exceeded);
          slow.failed(cancelled);
        },
        [&] {
          ++left;
          silent.failed(cancelled);
        },
        tg::service::wait_limits(limits));
  });
  CHECK(text.find("timeout of 10 ms") != std::string::npos);
  CHECK(gave_up == 1);
  CHECK(left == 1);
  CHECK(std::chrono::steady_clock::now() - began > std::chrono::milliseconds(900));
}

TEST_CASE("an answer that is an error gives the others up, and their limits count on") {
  gathering all;
  question bad(all, "a"), silent(all, "b");
  bad.failed(tg::error(tg::status_code::internal, "it is broken"));
  int gave_up = 0, left = 0;
  const tg::run_limits limits = tg::timeout(std::chrono::milliseconds(50));
  const std::string text = tg::test::text_of([&] {
    all.wait([&](const tg::error&) { ++gave_up; },
             [&] {
               ++left;
               silent.failed(cancelled);
             },
             tg::service::wait_limits(limits));
  });
  CHECK(text == "Internal: a: it is broken");
  CHECK(gave_up == 1);
  CHECK(left == 1);
}

TEST_CASE("without a limit all answers are waited for") {
  gathering all;
  question bad(all, "a"), late(all, "b");
  bad.failed(tg::error(tg::status_code::internal, "it is broken"));
  std::thread answers;
  const std::string text = tg::test::text_of([&] {
    all.wait(
        [&](const tg::error&) {
          answers = std::thread([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            late.failed(cancelled);
          });
        },
        [] { FAIL("somebody was left"); }, tg::service::wait_limits());
  });
  answers.join();
  CHECK(text == "Internal: a: it is broken");
}

}  // namespace
