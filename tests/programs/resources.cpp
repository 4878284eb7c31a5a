// SPDX-License-Identifier: BSL-1.0
// Queues and iterators in programs as data.
#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <thread>

#include "support/errors.hpp"
#include "tagma/io/crc32c.hpp"
#include "tagma/iterators.hpp"
#include "tagma/own_operations.hpp"
#include "tagma/program_files.hpp"
#include "tagma/programs.hpp"
#include "tagma/queue_lists.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using namespace std::chrono_literals;
using tg::feed_to;
using tg::status_code;
using tg::test::code_of;
using tg::test::text_of;

bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }
/// A program as it is read from the bytes that it is written to.
tg::any_program reread(const tg::any_program& program) {
  const std::string bytes = tg::write_program(program);
  const tg::any_program read = tg::read_program_bytes(bytes);
  CHECK(tg::write_program(read) == bytes);
  CHECK(read.fingerprint() == program.fingerprint());
  return read;
}
/// The same bytes with a checksum that fits.
std::string with_checksum(std::string bytes) {
  const std::uint32_t crc = tg::io::crc32c(std::string_view(bytes).substr(0, bytes.size() - 4));
  for (std::size_t i = 0; i < 4; ++i) bytes[bytes.size() - 4 + i] = static_cast<char>(crc >> 8 * i & 0xff);
  return bytes;
}
template <class T>
std::vector<T> elements(const tg::any_tensor& t) {
  const auto all = t.as<T>();
  return {all.data(), all.data() + t.dims().elements()};
}

constexpr auto x = tg::placeholder<"x", float, 2>();
constexpr auto n = tg::placeholder<"n", std::int64_t>();
constexpr auto rows = tg::placeholder<"rows", float, tg::dyn, 2>();
constexpr auto numbers = tg::placeholder<"numbers", std::int64_t, tg::dyn>();

template <tg::queue_kind Kind>
void check_queue() {
  constexpr tg::queue_of<"q", tg::queue_options{.kind = Kind, .capacity = 50, .seed = 5}, tg::spec<float, 2>,
                         tg::spec<std::int64_t>>
      q;
  const auto puts = [&] {
    if constexpr (Kind == tg::queue_kind::priority)
      return std::tuple(tg::enqueue(q, n, x, n * 10), tg::enqueue_many(q, numbers, rows, numbers * 10));
    else
      return std::tuple(tg::enqueue(q, x, n), tg::enqueue_many(q, rows, numbers));
  }();
  const auto put = std::get<0>(puts);
  const auto put_all = std::get<1>(puts);
  const auto one_and_number = tg::dequeue(q);
  const auto one = std::get<0>(one_and_number);
  const auto number = std::get<1>(one_and_number);
  const auto some_and_some_numbers = tg::dequeue_many<3>(q);
  const auto some = std::get<0>(some_and_some_numbers);
  const auto some_numbers = std::get<1>(some_and_some_numbers);
  const auto rest_and_rest_numbers = tg::dequeue_up_to<4>(q);
  const auto rest = std::get<0>(rest_and_rest_numbers);
  const auto rest_numbers = std::get<1>(rest_and_rest_numbers);
  const auto size = tg::size_of_queue(q);
  const auto close = tg::close_queue(q);
  const auto now = tg::close_queue_now(q);
  const auto program = tg::compile(
      [=] { return tg::outputs(put, put_all, one, number, some, some_numbers, rest, rest_numbers, size, close, now); });
  const tg::any_program data =
      reread(tg::any_program(program, {"put", "put_all", "one", "number", "some", "some_numbers", "rest",
                                       "rest_numbers", "size", "close", "now"}));
  tg::session compiled(program, {.seed = 3});
  tg::session read(data, {.seed = 3});
  const tg::tensor<float> a({2}, {1, 2}), many({9, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0});
  const tg::tensor<std::int64_t> of({9}, {9, 2, 7, 4, 5, 6, 3, 8, 1});
  CHECK(compiled.run(put, x = a, n = std::int64_t{7}) == 1);
  CHECK(read.run("put", feed_to("x", a), feed_to("n", std::int64_t{7})).template value<std::int64_t>() == 1);
  CHECK(compiled.run(put_all, rows = many, numbers = of) == 9);
  CHECK(read.run("put_all", feed_to("rows", many), feed_to("numbers", of)).template value<std::int64_t>() == 9);
  CHECK(read.run("size").template value<std::int64_t>() == 10);
  const auto same = [](const auto& wanted, const tg::any_tensor& got) {
    using element = std::remove_cvref_t<decltype(wanted[0])>;
    CHECK(wanted.dims() == got.dims());
    CHECK(std::vector<element>(wanted.data(), wanted.data() + wanted.size()) == elements<element>(got));
  };
  const auto [w, v] = compiled.run(tg::fetch(one, number));
  const auto first = read.run({"one", "number"});
  same(w, first[0]);
  CHECK(v == first[1].template value<std::int64_t>());
  const auto [ws, vs] = compiled.run(tg::fetch(some, some_numbers));
  const auto three = read.run({"some", "some_numbers"});
  same(ws, three[0]);
  same(vs, three[1]);
  compiled.run(close);
  CHECK(read.run("close").template value<std::int64_t>() == 6);
  for (int i = 0; i < 2; ++i) {
    const auto [wr, vr] = compiled.run(tg::fetch(rest, rest_numbers));
    const auto left = read.run({"rest", "rest_numbers"});
    CHECK(left[0].dims()[0] == (i == 0 ? 4 : 2));
    same(wr, left[0]);
    same(vr, left[1]);
  }
  CHECK(code_of([&] { read.run("rest"); }) == status_code::out_of_range);
  CHECK(code_of([&] { read.run("put", feed_to("x", a), feed_to("n", std::int64_t{7})); }) == status_code::cancelled);
}

TEST_CASE("queues of all kinds do what they do in compiled programs") {
  check_queue<tg::queue_kind::fifo>();
  check_queue<tg::queue_kind::shuffle>();
  check_queue<tg::queue_kind::priority>();
}

TEST_CASE("padding queues, and elements of open extents") {
  constexpr auto line = tg::placeholder<"line", float, tg::dyn>();
  constexpr tg::queue_of<"lines", tg::queue_options{.kind = tg::queue_kind::padding}, tg::spec<float, tg::dyn>> q;
  const auto put = tg::enqueue(q, line);
  const auto one = tg::dequeue(q) * 2.0f;
  const auto two = tg::dequeue_many<2>(q);
  const auto close = tg::close_queue(q);
  const auto rest = tg::dequeue_up_to<4>(q);
  tg::session session(reread(tg::any_program(tg::compile([=] { return tg::outputs(put, one, two, close, rest); }),
                                             {"put", "one", "two", "close", "rest"})));
  for (tg::extent i = 1; i < 5; ++i) {
    tg::tensor<float> of({i});
    for (tg::extent k = 0; k < i; ++k) of[k] = static_cast<float>(i);
    session.run("put", feed_to("line", of));
  }
  CHECK(elements<float>(session.run("one")) == std::vector<float>{2});
  const auto both = session.run("two");
  CHECK(both.dims() == tg::shape{2, 3});
  CHECK(elements<float>(both) == std::vector<float>{2, 2, 0, 3, 3, 3});
  session.run("close");
  CHECK(elements<float>(session.run("rest")) == std::vector<float>{4, 4, 4, 4});
}

TEST_CASE("a queue out of a list") {
  constexpr tg::queue_of<"left", tg::queue_options{}, tg::spec<std::int64_t>> left;
  constexpr tg::queue_of<"right", tg::queue_options{.capacity = 7}, tg::spec<std::int64_t>> right;
  constexpr auto which = tg::placeholder<"which", int>();
  const auto q = tg::queue_from_list(which, left, right);
  const auto put = tg::enqueue(q, n);
  const auto got = tg::dequeue(q);
  const auto size = tg::size_of_queue(right);
  tg::session session(
      reread(tg::any_program(tg::compile([=] { return tg::outputs(put, got, size); }), {"put", "got", "size"})));
  session.run("put", feed_to("which", 1), feed_to("n", std::int64_t{5}));
  CHECK(session.run("size").value<std::int64_t>() == 1);
  CHECK(session.run("got", feed_to("which", 1)).value<std::int64_t>() == 5);
  CHECK(code_of([&] { session.run("got", feed_to("which", 2)); }) == status_code::invalid_argument);
}

TEST_CASE("sessions share the queues of a container with C++ and with compiled programs") {
  constexpr tg::queue_of<"numbers", tg::queue_options{.capacity = 4}, tg::spec<std::int64_t>> q;
  const auto put = tg::enqueue(q, n);
  const auto got = tg::dequeue(q);
  const auto program = tg::compile([=] { return tg::outputs(put, got); });
  const tg::any_program data = reread(tg::any_program(program, {"put", "got"}));
  const tg::container shared;
  tg::session one(program, {.state = shared});
  tg::session two(data, {.state = shared});
  one.run(put, n = std::int64_t{11});
  CHECK(two.run("got").value<std::int64_t>() == 11);
  const tg::queue<tg::spec<std::int64_t>> own(shared, "numbers", {.capacity = 4});
  std::thread later([&] { own.enqueue(std::int64_t{12}); });
  CHECK(two.run("got", tg::timeout(60s)).value<std::int64_t>() == 12);
  later.join();
  CHECK(code_of([&] { two.run("got", tg::timeout(10ms)); }) == status_code::deadline_exceeded);
  // A prefix is one of queues as well.
  tg::session other(data, {.state = shared, .variable_prefix = "other"});
  other.run("put", feed_to("n", std::int64_t{1}));
  CHECK(own.size() == 0);

  const tg::container another;
  const tg::queue<tg::spec<float>> in_the_way(another, "numbers", {.capacity = 4});
  const std::string text = text_of([&] { tg::session(data, {.state = another}); });
  CHECK(has(text,
            "the container has FIFO queue 'numbers' with component 0 float32 [], asked for is one with component "
            "0 int64 []"));
}

constexpr tg::iterator_of<"batches", tg::spec<float, 2>, tg::spec<std::int64_t>> batches;
const auto image_and_label = tg::get_next(batches);
const auto image = std::get<0>(image_and_label);
const auto label = std::get<1>(image_and_label);

TEST_CASE("an iterator is what the process has put there") {
  const auto program = tg::compile([=] { return tg::outputs(image, label); });
  const tg::any_program data = reread(tg::any_program(program, {"image", "label"}));
  const tg::container shared;
  tg::session session(data, {.state = shared});
  const std::string missing = text_of([&] { session.run("label"); });
  CHECK(has(missing, "FailedPrecondition"));
  CHECK(has(missing,
            "iterator 'batches' has not been initialized: tagma::set_iterator gives it a dataset of float32 "
            "[2], int64 []"));
  tg::set_iterator(shared, batches, tg::datasets::range(3).map([](std::int64_t i) {
    return std::tuple(tg::tensor<float>({2}, {static_cast<float>(i), 1}), i * 10);
  }));
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto both = session.run({"image", "label"});
    CHECK(elements<float>(both[0]) == std::vector<float>{static_cast<float>(i), 1});
    CHECK(both[1].value<std::int64_t>() == i * 10);
  }
  CHECK(code_of([&] { session.run("label"); }) == status_code::out_of_range);

  constexpr tg::iterator_of<"batches", tg::spec<float, 3>, tg::spec<std::int64_t>> others;
  const tg::container another;
  tg::set_iterator(another, others, tg::datasets::range(3).map([](std::int64_t i) {
    return std::tuple(tg::tensor<float>({3}, {1, 2, 3}), i);
  }));
  CHECK(has(text_of([&] { tg::session(data, {.state = another}); }),
            "the container has iterator 'batches' with component 0 float32 [3], asked for is one with float32 [2]"));
}

struct counter : tg::op::resource {
  static constexpr const char* name = "mine.counter";
  static constexpr void takes(auto& t) { t.inputs(0), t.attribute("step", 1, 100); }
};
struct count_up {
  static constexpr const char* name = "mine.count_up";
  static constexpr tg::ir::op_kind kind = tg::ir::op_kind::compute;
  static constexpr bool stateful = true;
  static constexpr bool stops_gradient = true;
  static constexpr void takes(auto& t) { t.inputs(1), (void)t.resource(0, "mine.counter"); }
  static constexpr const char* infer(tg::ir::infer_args& a) {
    a.out = {tg::dtype::int64, {}};
    return nullptr;
  }
};
struct counted_thing final : tg::runtime::resource {
  counted_thing(std::string called, std::int64_t by) : resource("mine.counter", std::move(called)), step(by) {}
  const std::int64_t step;
  std::atomic<std::int64_t> value{0};
};

}  // namespace

template <>
struct tagma::runtime::resource_of<tagma::ir::key<counter>> {
  static counted<resource> make(const resource_request& r) {
    return counted<resource>(new counted_thing(std::string(r.name), r.attributes[0]));
  }
  static void check(const resource& found, const resource_request& r) {
    if (static_cast<const counted_thing&>(found).step != r.attributes[0])
      fail(status_code::invalid_argument, "another step");
  }
};
template <>
struct tagma::device::kernel<tagma::device::on_cpu, tagma::ir::key<count_up>> {
  template <dtype...>
  static constexpr kernel_entry entry{[](const kernel_args& args, const run_context&) {
    auto& thing = args.in[0].resource<counted_thing>();
    *args.out.as<std::int64_t>() = thing.value += thing.step;
  }};
};

namespace {

const auto ids = tg::make_resource<counter, "ids", tg::ir::pack_attributes(5)>();

TEST_CASE("things of one's own") {
  const auto up = tg::make_operation<count_up>(ids);
  const tg::any_program data(tg::compile([=] { return up; }), {"up"});
  CHECK(has(text_of([&] { tg::session{data}; }), "nothing makes the mine.counter 'ids'; "));
  tg::list_operation<counter>();
  tg::list_operation<count_up, std::int64_t()>();
  tg::session session(reread(data));
  CHECK(session.run("up").value<std::int64_t>() == 5);
  CHECK(session.run("up").value<std::int64_t>() == 10);
}

/// What is wrong with a graph, where byte `at` of its file is another one.
std::string refused(std::string bytes, std::size_t at, int value) {
  bytes[at] = static_cast<char>(value);
  return text_of([&] { (void)tg::read_program_bytes(with_checksum(bytes)); });
}

TEST_CASE("what is read of a queue is verified") {
  constexpr tg::queue_of<"examples",
                         tg::queue_options{.kind = tg::queue_kind::shuffle, .capacity = 9, .min_after_dequeue = 3},
                         tg::spec<float, 2>>
      q;
  const auto put = tg::enqueue(q, x);
  const auto got = tg::dequeue(q);
  const std::string bytes =
      tg::write_program(tg::any_program(tg::compile([=] { return tg::outputs(put, got); }), {"put", "got"}));
  // The words of the queue stand in front of its value, its request and its name.
  const std::size_t words = bytes.find("examples") - 2 - 6 - 12 * 8;
  REQUIRE(bytes[words] == 1);
  REQUIRE(bytes[words + 8] == 9);
  CHECK(has(refused(bytes, words, 4), "queue: attribute kind is 4, not 0 to 3"));
  CHECK(has(refused(bytes, words + 8, 3), "TAGMA-E222 queue: min_after_dequeue is of a shuffled queue"));
  CHECK(has(refused(bytes, words + 4 * 8, 12), "TAGMA-E220 queue: attribute element type is 12, not 1 to 11"));
  CHECK(has(refused(bytes, words + 5 * 8, 7), "queue: attribute rank is 7, not 0 to 6"));
  CHECK(has(refused(bytes, words + 6 * 8, 3), "TAGMA-E223 enqueue: the operands need the types and shapes"));
  CHECK(has(refused(bytes, bytes.find("examples"), ' '), "' xamples' is no name"));
  // Every byte, with a checksum that fits: read, or refused by a sentence.
  std::size_t read = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    for (const int flip : {0x01, 0x02, 0x10, 0x80, 0xff}) {
      std::string other = bytes;
      other[i] = static_cast<char>(other[i] ^ flip);
      try {
        (void)tg::read_program_bytes(with_checksum(other));
        ++read;
      } catch (const tg::error& e) {
        const bool known = e.code() == status_code::data_loss || e.code() == status_code::invalid_argument ||
                           e.code() == status_code::unimplemented;
        CHECK(known);
      }
    }
  CHECK(read > 0);
}

}  // namespace
