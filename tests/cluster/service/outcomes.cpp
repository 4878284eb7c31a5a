// SPDX-License-Identifier: BSL-1.0
#include "tagma/cluster/service/outcomes.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tagma/cluster/service/messages.hpp"

namespace {

namespace tg = tagma;
namespace service = tagma::service;
using entrance = service::outcomes::entrance;

/// What was told to whom.
struct told {
  std::vector<std::string> texts{};
  service::outcomes::asker asker() {
    return [this](const service::run_answer& a) { texts.push_back(a.body + (a.bulk == nullptr ? "" : *a.bulk)); };
  }
};
service::run_answer answer(std::string body, std::string bulk = "") {
  return {std::move(body), bulk.empty() ? nullptr : std::make_shared<const std::string>(std::move(bulk))};
}

TEST_CASE("one who asks runs, others wait for that, and who asks later is told") {
  service::outcomes all;
  told to;
  CHECK(all.begin(3, to.asker()) == entrance::fresh);
  CHECK(all.begin(3, to.asker()) == entrance::joined);
  CHECK(to.texts.empty());
  CHECK(all.open() == std::vector<std::uint64_t>{3});
  all.finish(3, answer("yes", "8"));
  CHECK(to.texts == std::vector<std::string>{"yes8", "yes8"});
  CHECK(all.begin(3, to.asker()) == entrance::told);
  CHECK(to.texts.size() == 3);
  CHECK(all.open() == std::vector<std::uint64_t>{3});
  all.end(3);
  CHECK(all.begin(3, to.asker()) == entrance::over);
  CHECK(all.open().empty());
}

TEST_CASE("what a client has answers to is over, and so is what it has ended before it began") {
  service::outcomes all;
  told to;
  all.end(7);
  CHECK(all.begin(7, to.asker()) == entrance::over);
  CHECK(all.begin(4, to.asker()) == entrance::fresh);
  CHECK(all.begin(5, to.asker()) == entrance::fresh);
  all.finish(4, answer("4"));
  all.acknowledge(6);
  CHECK(all.is_over(4));
  CHECK(all.is_over(5));
  CHECK_FALSE(all.is_over(6));
  all.finish(5, answer("5"));  // those who wait are told all the same
  CHECK(to.texts == std::vector<std::string>{"4", "5"});
  CHECK(all.open().empty());
  all.acknowledge(2);
  CHECK(all.is_over(5));
}

TEST_CASE("of the oldest runs the results are dropped first, then the knowledge that they were") {
  service::outcomes all(10, {3, 1000});
  told to;
  CHECK(all.is_over(9));
  CHECK(all.begin(9, to.asker()) == entrance::over);
  for (std::uint64_t step = 10; step < 13; ++step) {
    CHECK(all.begin(step, to.asker()) == entrance::fresh);
    all.finish(step, answer("", std::string(400, 'x')));
  }
  to.texts.clear();
  CHECK(all.begin(10, to.asker()) == entrance::told);
  const auto gone = service::part_results::read(to.texts.back());
  CHECK(gone.code == tg::status_code::data_loss);
  CHECK(gone.why == "run 10 was done, once, but its results are not kept any more");
  CHECK(all.begin(12, to.asker()) == entrance::told);
  CHECK(to.texts.back() == std::string(400, 'x'));
  for (std::uint64_t step = 20; step < 23; ++step) {
    CHECK(all.begin(step, to.asker()) == entrance::fresh);
    all.finish(step, answer("y"));
  }
  CHECK(all.begin(10, to.asker()) == entrance::over);
  CHECK(all.begin(12, to.asker()) == entrance::over);
  CHECK(all.begin(20, to.asker()) == entrance::told);
  CHECK(all.begin(15, to.asker()) == entrance::fresh);  // it never was
}

TEST_CASE("numbers that ended out of order are known, up to a number of them") {
  service::outcomes all(0, {4, 100});
  told to;
  for (const std::uint64_t step : {2u, 4u, 6u, 8u}) all.end(step);
  CHECK_FALSE(all.is_over(1));
  all.end(10);
  CHECK(all.is_over(1));  // too much to know: what is older than the oldest counts as over
  CHECK(all.is_over(2));
  CHECK_FALSE(all.is_over(3));
  all.end(3);
  CHECK(all.is_over(4));
  CHECK_FALSE(all.is_over(5));
}

TEST_CASE("a run that is under way is not over, however many others have ended") {
  service::outcomes all(0, {4, 1000});
  told to;
  CHECK(all.begin(0, to.asker()) == entrance::fresh);
  CHECK(all.begin(2, to.asker()) == entrance::fresh);
  CHECK(all.begin(4, to.asker()) == entrance::fresh);
  for (std::uint64_t step = 5; step < 40; step += 2) all.end(step);
  CHECK(all.is_over(1));  // nothing is known of it
  CHECK_FALSE(all.is_over(0));
  CHECK(all.begin(0, to.asker()) == entrance::joined);
  all.finish(0, answer("0"));
  CHECK(to.texts == std::vector<std::string>{"0", "0"});
  CHECK(all.begin(0, to.asker()) == entrance::told);
  all.end(2);
  CHECK(all.begin(2, to.asker()) == entrance::over);
  all.finish(2, answer("2"));
  CHECK(to.texts.back() == "2");
  CHECK(all.open() == std::vector<std::uint64_t>{0, 4});
  all.end(0);
  CHECK(all.begin(0, to.asker()) == entrance::over);
  all.acknowledge(5);
  CHECK(all.begin(4, to.asker()) == entrance::over);
  all.finish(4, answer("4"));
  CHECK(all.open().empty());
}

}  // namespace
