// SPDX-License-Identifier: BSL-1.0
// Examples of docs/reference/queues.md: queues, for C++ and as nodes of graphs, and readers.
#include <catch2/catch.hpp>

#include <tagma/queue_lists.hpp>
#include <tagma/queues.hpp>
#include <tagma/readers.hpp>
#include <tagma/tagma.hpp>

#include <chrono>

#include "support/errors.hpp"
#include "support/temporary_directory.hpp"
#include "support/texts.hpp"

namespace tg = tagma;
using namespace std::chrono_literals;
using tagma::test::code_of;
using tagma::test::text;

TEST_CASE("reference: queues of C++") {
  // example: queue, queue_options, queue_kind, dequeued, dequeued_batch, to_string
  tg::queue<tg::spec<float, 2>, tg::spec<std::int64_t>> q({.capacity = 100});
  q.enqueue(tg::tensor<float>({2}, {1, 2}), 7);  // a tuple; waits for room, at most as long as tg::timeout(1s) says
  q.enqueue_many(tg::tensor<float>({2, 2}, {3, 4, 5, 6}), tg::tensor<std::int64_t>({2}, {8, 9}));  // two tuples
  auto [row, label] = q.dequeue();          // views: row is [1, 2], label[0] is 7
  auto [rows, labels] = q.dequeue_many(2);  // [[3, 4], [5, 6]] and [8, 9]
  q.close();                                // from here on, dequeue throws OutOfRange where it is empty
  std::string_view kind = tg::to_string(tg::queue_kind::fifo);  // as messages call it
  // end
  CHECK(text(row) == "[1, 2]");
  CHECK(label[0] == 7);
  CHECK(text(rows) == "[[3, 4], [5, 6]]");
  CHECK(text(labels) == "[8, 9]");
  CHECK(code_of([&] { (void)q.dequeue(); }) == tg::status_code::out_of_range);
  CHECK_FALSE(kind.empty());
}

TEST_CASE("reference: queues of graphs") {
  // example: queue_of, enqueue, enqueue_many, dequeue, dequeue_many
  constexpr tg::queue_of<"rows", tg::queue_options{.capacity = 100}, tg::spec<float, 2>> rows;
  constexpr auto x = tg::placeholder<"x", float, tg::dyn, 2>();
  auto put = tg::enqueue_many(rows, x);  // a tuple for each row; tg::enqueue(rows, r) adds one
  auto one = tg::dequeue(rows);          // [2]
  auto two = tg::dequeue_many<2>(rows);  // [2, 2]
  // end
  // example: dequeue_up_to, size_of_queue, close_queue, close_queue_now
  auto rest = tg::dequeue_up_to<10>(rows);   // [?, 2]: what is left of a queue that was closed
  auto size = tg::size_of_queue(rows);       // int64
  auto no_more = tg::close_queue(rows);      // behind those who wait to enqueue
  auto at_once = tg::close_queue_now(rows);  // they are cancelled
  // end
  tg::session session(tg::compile([=] { return tg::outputs(put, one, two, rest, size, no_more, at_once); }));
  CHECK(text(one) == "[2]");
  CHECK(text(two) == "[2, 2]");
  CHECK(text(rest) == "[?, 2]");
  session.run(put, x = tg::tensor<float>({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}));
  CHECK(text(session.run(one)) == "[1, 2]");
  CHECK(text(session.run(two)) == "[[3, 4], [5, 6]]");
  CHECK(session.run(size) == 1);
  CHECK(session.run(no_more) == 1);
  CHECK(text(session.run(rest)) == "[[7, 8]]");
  CHECK(code_of([&] { session.run(one); }) == tg::status_code::out_of_range);

  // example: queue_from_list
  constexpr tg::queue_of<"left", tg::queue_options{}, tg::spec<float>> left;
  constexpr tg::queue_of<"right", tg::queue_options{}, tg::spec<float>> right;
  constexpr auto which = tg::placeholder<"which", std::int32_t>();
  constexpr auto value = tg::placeholder<"value", float>();
  auto put_there = tg::enqueue(tg::queue_from_list(which, left, right), value);  // each run chooses: 0 is left, 1 right
  // end
  auto in_left = tg::size_of_queue(left);
  auto in_right = tg::size_of_queue(right);
  tg::session lists(tg::compile([=] { return tg::outputs(put_there, in_left, in_right); }));
  lists.run(put_there, which = 1, value = 2.0f);
  CHECK(lists.run(in_left) == 0);
  CHECK(lists.run(in_right) == 1);
}

TEST_CASE("reference: readers") {
  const tagma::test::working_directory folder;
  tg::output_file("people.csv").write("name\nAda\nGrace\n", 15);
  // example: reader_of, reader_options, read, read_up_to, reader_kind, file_compression
  constexpr tg::queue_of<"files", tg::queue_options{}, tg::spec<std::string_view>> files;
  constexpr tg::reader_of<"lines", tg::reader_options{.skip_header_lines = 1}> lines;
  auto [key, line] = tg::read(lines, files);                // "people.csv:2" and "Ada", both scalars of text
  auto [keys, several] = tg::read_up_to<16>(lines, files);  // [?] each: records of one file, one at least
  // end
  // example: records_produced, files_completed, reset_reader, to_string
  auto count = tg::records_produced(lines);                           // int64
  auto ended = tg::files_completed(lines);                            // a file counts when a read has found its end
  auto anew = tg::reset_reader(lines);                                // leaves its file; the queue stays what it is
  std::string_view kind = tg::to_string(tg::reader_kind::tf_record);  // as messages call it
  // end
  tg::container state;
  tg::queue<tg::spec<std::string_view>> names(state, "files");
  names.enqueue(std::string_view("people.csv"));
  names.close();
  const auto all_outputs = tg::outputs(key, line, several, count, ended, anew);
  tg::session session(tg::compile([=] { return all_outputs; }), {.state = state});
  CHECK(text(keys) == "[?]");
  const auto [its_key, its_line] = session.run(tg::fetch(key, line));
  CHECK(its_key == "people.csv:2");
  CHECK(its_line == "Ada");
  CHECK(text(session.run(several)) == "['Grace']");
  CHECK(session.run(count) == 2);
  const auto next_line = line;
  CHECK(code_of([&] { session.run(next_line); }) == tg::status_code::out_of_range);
  CHECK(session.run(ended) == 1);
  session.run(anew);
  CHECK(session.run(count) == 0);
  CHECK_FALSE(kind.empty());
}
