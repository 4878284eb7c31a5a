// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/run_control.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace {

namespace tg = tagma;
using namespace std::chrono_literals;
using tg::runtime::run_control, tg::runtime::stop_hook;

std::exception_ptr some(tg::status_code code, const char* text) {
  return std::make_exception_ptr(tg::error(code, text));
}
struct counted final : stop_hook {
  void stop() noexcept override { ++stops; }
  int stops = 0;
};

TEST_CASE("a run goes on until something fails; hooks are called once") {
  run_control control{tg::run_limits{}};
  counted first, second, late;
  CHECK(control.add(first));
  CHECK(control.add(second));
  CHECK_FALSE(control.stopping());
  CHECK_FALSE(control.must_tell());
  CHECK_NOTHROW(control.finish());
  control.failed(some(tg::status_code::data_loss, "gone"));
  CHECK(control.stopped());
  CHECK(control.must_tell());
  CHECK_FALSE(control.add(late));
  control.tell();
  control.tell();
  CHECK_FALSE(control.must_tell());
  CHECK(first.stops == 1);
  CHECK(second.stops == 1);
  CHECK(late.stops == 0);
  CHECK_THROWS_WITH(control.finish(), "DataLoss: gone");
}

TEST_CASE("limits stop a run as an error does") {
  tg::cancellation stop;
  run_control control{tg::stop_with(stop)};
  CHECK_FALSE(control.stopping());
  stop.cancel();
  CHECK_FALSE(control.stopped());  // nobody has looked
  CHECK(control.stopping());
  CHECK(control.stopped());
  stop.reset();
  CHECK(control.stopping());
  CHECK_THROWS_WITH(control.finish(), "Cancelled: the run was cancelled");

  run_control late{tg::timeout(0s)};
  std::this_thread::sleep_for(1ms);
  CHECK(late.stopping());
  CHECK_THROWS_WITH(late.finish(), Catch::StartsWith("DeadlineExceeded: "));
}

TEST_CASE("a run that is told to stop when nothing is left to do is done") {
  tg::cancellation stop;
  run_control control{tg::stop_with(stop)};
  stop.cancel();
  CHECK(control.ending());
  CHECK(control.stopped());
  CHECK_NOTHROW(control.finish());
  control.leave_out();
  CHECK_THROWS_WITH(control.finish(), "Cancelled: the run was cancelled");
}

TEST_CASE("the first error is that of the run, and the others are in its message") {
  run_control control{tg::run_limits{}};
  control.failed(some(tg::status_code::out_of_range, "first"));
  control.failed(some(tg::status_code::cancelled, "because of the first"));
  CHECK_THROWS_WITH(control.finish(), "OutOfRange: first");
  control.failed(some(tg::status_code::aborted, "second"));
  CHECK_THROWS_WITH(control.finish(), "OutOfRange: first; 1 more error: Aborted: second");
  control.failed(std::make_exception_ptr(std::runtime_error("third")));
  control.failed(std::make_exception_ptr(4));
  CHECK_THROWS_WITH(control.finish(),
                    "OutOfRange: first; 3 more errors: Aborted: second; third; an exception that is no std::exception");
  control.failed(some(tg::status_code::internal, "fifth"));
  CHECK_THROWS_WITH(control.finish(), Catch::EndsWith("; Internal: fifth"));
  for (int i = 0; i < 100; ++i) control.failed(some(tg::status_code::internal, "the same"));
  CHECK_THROWS_WITH(control.finish(), Catch::Contains("; 104 more errors: Aborted: second; third; ") &&
                                          Catch::EndsWith("; Internal: fifth; and so on"));
}

TEST_CASE("a run that is late names what it did last and what it did not finish") {
  using list = run_control::list;
  run_control late{tg::timeout(0s)};
  std::this_thread::sleep_for(1ms);
  CHECK_FALSE(late.wants_name(list::not_finished));  // nobody has looked
  CHECK(late.stopping());
  late.failed(some(tg::status_code::cancelled, "wait #1 on /device:CPU:0 of float32 []: the operation was cancelled"));
  CHECK(late.wants_name(list::not_finished));
  late.name(list::not_finished,
            some(tg::status_code::cancelled, "exp #2 on /device:CPU:0 of float32 [2, 3]: not begun"));
  CHECK(late.wants_name(list::done_last));
  late.name(list::done_last, some(tg::status_code::internal, "tanh #3"));
  constexpr auto text =
      "ms; done last: tanh #3; not finished: wait #1 on /device:CPU:0 of float32 []; exp #2 on /device:CPU:0 of "
      "float32 [2, 3]";
  CHECK_THROWS_WITH(late.finish(), Catch::EndsWith(text));
  CHECK(late.wants_name(list::not_finished));
  late.name(list::not_finished, std::make_exception_ptr(4));  // without words
  CHECK(late.wants_name(list::not_finished));
  for (int i = 0; i < 5; ++i) CHECK_FALSE(late.wants_name(list::not_finished));
  CHECK_THROWS_WITH(late.finish(), Catch::EndsWith(std::string(text) + "; and 5 more"));
  late.failed(some(tg::status_code::aborted, "second"));
  CHECK_THROWS_WITH(late.finish(), Catch::EndsWith("; and 5 more; 1 more error: Aborted: second"));

  run_control failing{tg::run_limits{}};
  failing.failed(some(tg::status_code::aborted, "first"));
  CHECK_FALSE(failing.wants_name(list::not_finished));
}

TEST_CASE("an error that is none of tagma's becomes one when others come behind it") {
  run_control control{tg::run_limits{}};
  control.failed(std::make_exception_ptr(std::runtime_error("first")));
  CHECK_THROWS_AS(control.finish(), std::runtime_error);
  control.failed(some(tg::status_code::aborted, "second"));
  CHECK_THROWS_WITH(control.finish(), "Internal: first; 1 more error: Aborted: second");
}

}  // namespace
