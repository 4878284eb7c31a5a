// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/reader.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "support/errors.hpp"
#include "support/temporary_directory.hpp"
#include "tagma/readers.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using namespace std::chrono_literals;
using text = std::string_view;
using tg::status_code, tg::test::code_of, tg::test::text_of;

constexpr tg::queue_of<"files", tg::queue_options{}, tg::spec<text>> files;
using file_names = tg::queue<tg::spec<text>>;

/// The path of a file with this content.
std::string written(const tg::test::temporary_directory& dir, const char* name, std::string_view content) {
  dir.put(name, content);
  return dir / name;
}

/// What a run of `read` gives until there is no more.
template <class Session, class Read>
std::vector<std::string> all_of(Session& session, const Read& read) {
  std::vector<std::string> all;
  try {
    for (;;) {
      const auto [key, value] = session.run(tg::fetch(std::get<0>(read), std::get<1>(read)));
      all.push_back(key + "|" + value);
    }
  } catch (const tg::error& e) {
    all.push_back(std::string(tg::to_string(e.code())));
  }
  return all;
}

/// The records of some files by one reader, then the error behind them.
template <tg::reader_options Options>
std::vector<std::string> records_of(const std::vector<std::string>& paths) {
  constexpr tg::reader_of<"records", Options> records;
  const auto read = tg::read(records, files);
  const tg::container state;
  tg::session session(tg::compile([=] { return tg::outputs(std::get<0>(read), std::get<1>(read)); }), {.state = state});
  const file_names names(state, "files");
  for (const std::string& p : paths) names.enqueue(text(p));
  names.close();
  return all_of(session, read);
}

using list = std::vector<std::string>;

}  // namespace

TEST_CASE("lines of several files, whatever ends them", "[scenario 100][scenario 101]") {
  const tg::test::temporary_directory dir;
  for (const std::string end : {"\n", "\r\n"}) {
    const std::string a = written(dir, "a", "0: A" + end + "1: A" + end + end + "3: A");
    const std::string b = written(dir, "b", "0: B" + end + "1: B" + end);
    CHECK(records_of<tg::reader_options{}>({a, b}) ==
          list{a + ":1|0: A", a + ":2|1: A", a + ":3|", a + ":4|3: A", b + ":1|0: B", b + ":2|1: B", "OutOfRange"});
    CHECK(records_of<tg::reader_options{.skip_header_lines = 1}>({a, b}) ==
          list{a + ":2|1: A", a + ":3|", a + ":4|3: A", b + ":2|1: B", "OutOfRange"});
    CHECK(records_of<tg::reader_options{.skip_header_lines = 9}>({a, b}) == list{"OutOfRange"});
  }
}

TEST_CASE("records of fixed length, whole files, and the names themselves", "[scenario 102]") {
  const tg::test::temporary_directory dir;
  const std::string a = written(dir, "a", "HEADE000111222FO"), empty = written(dir, "empty", "HEADEFO"),
                    overlap = written(dir, "overlap", "01234");
  CHECK(records_of<tg::reader_options{
            .kind = tg::reader_kind::fixed_length, .record_bytes = 3, .header_bytes = 5, .footer_bytes = 2}>(
            {a, empty}) == list{a + ":0|000", a + ":1|111", a + ":2|222", "OutOfRange"});
  CHECK(records_of<tg::reader_options{.kind = tg::reader_kind::fixed_length, .record_bytes = 3, .hop_bytes = 2}>(
            {overlap}) == list{overlap + ":0|012", overlap + ":1|234", "OutOfRange"});
  CHECK(records_of<tg::reader_options{.kind = tg::reader_kind::whole_file}>({overlap, empty}) ==
        list{overlap + "|01234", empty + "|HEADEFO", "OutOfRange"});
  CHECK(records_of<tg::reader_options{.kind = tg::reader_kind::identity}>({"x", "y"}) ==
        list{"x|x", "y|y", "OutOfRange"});
}

TEST_CASE("several records at once are of one file, and readers count") {
  const tg::test::temporary_directory dir;
  const std::string a = written(dir, "a", "1\n2\n3\n"), b = written(dir, "b", "4\n5");
  constexpr tg::reader_of<"lines"> lines;
  const auto some = tg::read_up_to<2>(lines, files);
  const auto produced = tg::records_produced(lines);
  const auto completed = tg::files_completed(lines);
  const auto reset = tg::reset_reader(lines);
  const tg::container state;
  tg::session session(
      tg::compile([=] { return tg::outputs(std::get<0>(some), std::get<1>(some), produced, completed, reset); }),
      {.state = state});
  const file_names names(state, "files");
  names.enqueue(text(a)), names.enqueue(text(b)), names.enqueue(text(a));
  const auto& values = std::get<1>(some);
  CHECK(session.run(values) == tg::tensor<text>({2}, {"1", "2"}));
  CHECK(session.run(completed) == 0);
  CHECK(session.run(values) == tg::tensor<text>({1}, {"3"}));
  CHECK(session.run(values) == tg::tensor<text>({2}, {"4", "5"}));
  CHECK(session.run(produced) == 5);
  CHECK(session.run(completed) == 1);
  const auto [keys, rest] = session.run(tg::fetch(std::get<0>(some), values));
  CHECK(keys == tg::tensor<text>({2}, {a + ":1", a + ":2"}));
  CHECK(session.run(completed) == 2);
  CHECK(session.run(reset) == 0);
  names.enqueue(text(b));
  CHECK(session.run(values) == tg::tensor<text>({2}, {"4", "5"}));  // not "3"
  CHECK(session.run(produced) == 2);
}

TEST_CASE("a file that is missing or broken is an error of its own") {
  const tg::test::temporary_directory dir;
  const std::string good = written(dir, "good", "1\n"), missing = good + "_not";
  constexpr tg::reader_of<"lines"> lines;
  const auto read = tg::read(lines, files);
  const auto& value = std::get<1>(read);
  const tg::container state;
  tg::session session(tg::compile([=] { return tg::outputs(std::get<0>(read), std::get<1>(read)); }), {.state = state});
  const file_names names(state, "files");
  names.enqueue(text(missing)), names.enqueue(text(good));
  CHECK_THAT(text_of([&] { (void)session.run(value); }), Catch::StartsWith("NotFound: ") && Catch::Contains(missing));
  CHECK(session.run(value) == "1");

  constexpr tg::reader_of<"broken", tg::reader_options{.kind = tg::reader_kind::tf_record}> broken;
  const auto records = std::get<1>(tg::read_up_to<3>(broken, files));
  tg::session other(tg::compile([=] { return tg::outputs(records); }), {.state = state});
  names.enqueue(text(good));
  CHECK_THAT(text_of([&] { (void)other.run(records); }), Catch::StartsWith("DataLoss: ") && Catch::Contains(good));
  CHECK(code_of([&] { (void)other.run(records, tg::timeout(2ms)); }) == status_code::deadline_exceeded);
}

TEST_CASE("a read that is late or cancelled loses no record") {
  const tg::test::temporary_directory dir;
  std::string content;
  constexpr int count = 2000;
  for (int i = 0; i < count; ++i) content += std::to_string(i) + "\n";
  const std::string path = written(dir, "numbers", content);
  constexpr tg::reader_of<"lines"> lines;
  const auto values = std::get<1>(tg::read_up_to<7>(lines, files));
  const tg::container state;
  const auto program = tg::compile([=] { return tg::outputs(values); });
  tg::session session(program, {.state = state});
  const file_names names(state, "files");
  CHECK(code_of([&] { (void)session.run(values, tg::timeout(1ms)); }) == status_code::deadline_exceeded);
  names.enqueue(text(path)), names.close();
  std::vector<std::vector<int>> seen(3);
  std::vector<std::thread> readers;
  for (std::size_t t = 0; t < 3; ++t)
    readers.emplace_back([&, t] {
      tg::session own(program, {.state = state});
      for (;;) try {
          for (const text v : own.run(values)) seen[t].push_back(std::stoi(std::string(v)));
        } catch (const tg::error&) {
          return;
        }
    });
  for (std::thread& t : readers) t.join();
  std::vector<int> times(count);
  for (const auto& own : seen)
    for (std::size_t i = 0; i < own.size(); ++i) {
      ++times[static_cast<std::size_t>(own[i])];
      if (i > 0) CHECK(own[i] > own[i - 1]);
    }
  for (const int n : times) CHECK(n == 1);
}

TEST_CASE("what a slow disk has for a read that is late is for the next one, and so is its error") {
  const tg::test::temporary_directory dir;
  constexpr tg::extent header = 100'000'000;  // of zeros that are nowhere
  const std::string path = written(dir, "records", "");
  std::filesystem::resize_file(path, static_cast<std::uintmax_t>(header));
  std::ofstream(path, std::ios::app) << "abcd";
  constexpr tg::reader_of<
      "records", tg::reader_options{.kind = tg::reader_kind::fixed_length, .record_bytes = 2, .header_bytes = header}>
      records;
  const auto values = std::get<1>(tg::read_up_to<2>(records, files));
  const tg::container state;
  tg::session session(tg::compile([=] { return tg::outputs(values); }), {.state = state});
  const file_names names(state, "files");
  names.enqueue(text(path)), names.enqueue(text(dir / "nothing")), names.close();
  for (int i = 0; i < 3; ++i)
    CHECK(code_of([&] { (void)session.run(values, tg::timeout(100us)); }) == status_code::deadline_exceeded);
  CHECK(session.run(values) == tg::tensor<text>({2}, {"ab", "cd"}));
  std::string told = "DeadlineExceeded";
  while (!Catch::contains(told, "NotFound: ")) {  // a run that is late as its read fails says both
    REQUIRE_THAT(told, Catch::StartsWith("DeadlineExceeded"));
    told = text_of([&] { (void)session.run(values, tg::timeout(20us)); });
  }
  CHECK(code_of([&] { (void)session.run(values); }) == status_code::out_of_range);
}

TEST_CASE("what was read for runs that were late comes in order") {
  const tg::test::temporary_directory dir;
  std::string content;
  constexpr int count = 3000;
  for (int i = 0; i < count; ++i) content += std::to_string(i) + "\n";
  const std::string path = written(dir, "numbers", content);
  constexpr tg::reader_of<"lines"> lines;
  const auto values = std::get<1>(tg::read_up_to<5>(lines, files));
  const auto one = std::get<1>(tg::read_up_to<2>(lines, files));
  const tg::container state;
  tg::session session(tg::compile([=] { return tg::outputs(values, one); }), {.state = state});
  const file_names names(state, "files");
  names.enqueue(text(path)), names.close();
  int next = 0;
  for (int n = 0; next < count; ++n) {
    const auto limit = tg::timeout(std::chrono::microseconds(10 + n % 150));
    (void)code_of([&] {
      const tg::tensor<text> got = n % 2 == 0 ? session.run(values, limit) : session.run(one, limit);
      for (const text v : got.span()) CHECK(v == std::to_string(next++));
    });
  }
}

TEST_CASE("readers of one name are one reader, or the session is refused") {
  constexpr tg::reader_of<"r"> lines;
  constexpr tg::reader_of<"r", tg::reader_options{.skip_header_lines = 1}> others;
  constexpr tg::reader_of<"r", tg::reader_options{.kind = tg::reader_kind::whole_file}> whole;
  const tg::container state;
  const auto open = [&](const auto& reader) {
    const auto n = tg::records_produced(reader);
    tg::session session(tg::compile([=] { return tg::outputs(n); }), {.state = state});
  };
  open(lines);
  open(lines);
  CHECK(text_of([&] { open(others); }) ==
        "InvalidArgument: the container has text line reader 'r' with skip_header_lines 0, asked for is one with 1");
  CHECK(text_of([&] { open(whole); }) ==
        "InvalidArgument: the container has text line reader 'r', asked for is a whole file reader of this name");
}
