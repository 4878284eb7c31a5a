// SPDX-License-Identifier: BSL-1.0
// Things of containers by name, and the operations on them.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/built/built.hpp"
#include "support/errors.hpp"
#include "support/temporary_directory.hpp"
#include "tagma/iterators.hpp"
#include "tagma/queues.hpp"
#include "tagma/readers.hpp"

namespace tagma::conformance {

namespace {

using words = std::vector<attribute_value>;

words operator+(words a, const words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
/// The words of a component.
words component(dtype type, const shape& dims) {
  words all{type, dims.rank};
  for (int i = 0; i < max_rank; ++i) all.emplace_back(i < dims.rank ? dims[i] : extent{0});
  return all;
}
words options(queue_kind kind) { return {static_cast<int>(kind), 20, 0, 0}; }

const words pair = component(dtype::float32, {2}) + component(dtype::int64, {});
const words numbers = component(dtype::int64, shape{dyn});

TEST_CASE("a queue by name is the one that others have") {
  graph_builder b;
  const graph_node q = b.resource("queue", "pairs", options(queue_kind::fifo) + pair);
  const graph_node put =
      b.add("enqueue", {q, b.placeholder("x", dtype::float32, {2}), b.placeholder("n", dtype::int64)}, {false, false});
  const graph_node all = b.add("dequeue", {q}, words{2} + pair + words{false});
  const graph_node rest = b.add("dequeue_up_to", {q}, words{9} + pair + words{true});
  const any_program program = b.build({{"put", put},
                                       {"both", b.result(all, 1)},
                                       {"rest", b.result(rest, 0)},
                                       {"size", b.add("queue_size", {q})},
                                       {"close", b.add("queue_close", {q}, {false})}});
  note_operations(program);
  const container state;
  session<any_program> run(program, {.state = state});
  const tagma::queue<spec<float, 2>, spec<std::int64_t>> same(state, "pairs", {.capacity = 20});
  for (std::int64_t i = 0; i < 3; ++i) run.run("put", feed_to("x", tensor<float>({2})), feed_to("n", i));
  CHECK(run.run("both").as<std::int64_t>()[1] == 1);
  same.enqueue(tensor<float>({2}, {3, 4}), 5);
  CHECK(run.run("size").value<std::int64_t>() == 2);
  CHECK(run.run("close").value<std::int64_t>() == 2);
  const any_tensor left = run.run("rest");
  CHECK(left.dims() == shape{2, 2});
  CHECK(left.as<float>().data()[3] == 4);
}

TEST_CASE("a queue of open extents, and one of a list") {
  graph_builder b;
  const graph_node first = b.resource("queue", "first", options(queue_kind::padding) + numbers);
  const graph_node second = b.resource("queue", "second", options(queue_kind::padding) + numbers);
  const graph_node which = b.placeholder("which", dtype::int32);
  const graph_node put = b.add("chosen_enqueue", {which, first, second, b.placeholder("row", dtype::int64, shape{dyn})},
                               {2, false, false});
  const any_program program = b.build(
      {{"put", put},
       {"two", b.result(b.add("dequeue_open", {first}, words{2} + numbers + words{false}), 0)},
       {"one",
        b.result(b.add("chosen_dequeue_open", {which, first, second}, words{2, -1} + numbers + words{false}), 0)},
       {"size", b.add("chosen_queue_size", {which, first, second}, {2})},
       {"close", b.add("chosen_queue_close", {which, first, second}, {2, true})}});
  note_operations(program);
  session<any_program> run(program);
  for (const std::int32_t i : {0, 1, 0})
    run.run("put", feed_to("which", i), feed_to("row", tensor<std::int64_t>({i + 1})));
  CHECK(run.run("one", feed_to("which", 1)).dims() == shape{2});
  CHECK(run.run("two").dims() == shape{2, 1});
  CHECK(run.run("size", feed_to("which", 0)).value<std::int64_t>() == 0);
  run.run("close", feed_to("which", 0));
  CHECK(test::text_of([&] { run.run("one", feed_to("which", 0)); }).starts_with("OutOfRange: "));

  graph_builder c;
  const words number = component(dtype::int32, {});
  const graph_node a = c.resource("queue", "a", options(queue_kind::fifo) + number);
  const graph_node index = c.placeholder("which", dtype::int32);
  const any_program one_of =
      c.build({{"put", c.add("enqueue", {a, c.placeholder("rows", dtype::int32, shape{dyn})}, {true, false})},
               {"one", c.result(c.add("chosen_dequeue", {index, a}, words{1, -1} + number + words{false}), 0)},
               {"all", c.result(c.add("chosen_dequeue_up_to", {index, a}, words{1, 2} + number + words{true}), 0)}});
  note_operations(one_of);
  session<any_program> run_one(one_of);
  run_one.run("put", feed_to("rows", tensor<std::int32_t>({3}, {4, 5, 6})));
  CHECK(run_one.run("one", feed_to("which", 0)).value<std::int32_t>() == 4);
  CHECK(run_one.run("all", feed_to("which", 0)).as<std::int32_t>()[1] == 6);
}

TEST_CASE("readers and iterators by name") {
  const test::temporary_directory folder;
  folder.put("lines", "one\ntwo\nthree\n");
  const std::string path = folder / "lines";
  graph_builder b;
  const graph_node files = b.resource("queue", "files", options(queue_kind::fifo) + component(dtype::string, {}));
  const graph_node lines = b.resource("reader", "lines", {0, 0, 0, 0, 0, 0, 0});
  const words batch = words{-1} + numbers + words{0}, single = words{-1} + component(dtype::int64, {}) + words{0};
  const graph_node rows = b.resource("iterator", "rows", batch), counts = b.resource("iterator", "counts", single);
  const any_program program =
      b.build({{"put", b.add("enqueue", {files, b.placeholder("name", dtype::string)}, {false, false})},
               {"line", b.result(b.add("read", {lines, files}, {-1}), 1)},
               {"lines", b.result(b.add("read_up_to", {lines, files}, {5}), 1)},
               {"records", b.add("reader_count", {lines}, {0})},
               {"row", b.result(b.add("get_next_open", {rows}, batch), 0)},
               {"number", b.result(b.add("get_next", {counts}, single), 0)}});
  note_operations(program);
  const container state;
  session<any_program> run(program, {.state = state});
  const tensor<std::string_view> name({}, {path});
  run.run("put", feed_to("name", name));
  CHECK(run.run("line").as<std::string_view>()[0] == "one");
  const any_tensor rest = run.run("lines");
  REQUIRE(rest.dims() == shape{2});
  CHECK(rest.as<std::string_view>()[1] == "three");
  CHECK(run.run("records").value<std::int64_t>() == 3);
  constexpr iterator_of<"counts", spec<std::int64_t>> counted;
  set_iterator(state, counted, datasets::range(4, 6));
  CHECK(run.run("number").value<std::int64_t>() == 4);
  constexpr iterator_of<"rows", spec<std::int64_t, dyn>> of_rows;
  set_iterator(state, of_rows, datasets::range(5).batch(3));
  CHECK(run.run("row").dims() == shape{3});
  CHECK(run.run("row").dims() == shape{2});
}

TEST_CASE("a queue that is built has components, and each of them its number of axes", "[scenario 97]") {
  for (const queue_kind kind : {queue_kind::padding, queue_kind::fifo}) {
    const auto refused = [&](const words& components) {
      graph_builder b;
      return test::text_of([&] { b.resource("queue", "q", options(kind) + components); });
    };
    const auto with_rank = [](int rank) {
      words all = component(dtype::float32, {});
      all[1] = rank;
      return all;
    };
    CHECK(refused(component(dtype::float32, {})).empty());
    CHECK(refused(component(dtype::float32, shape{dyn, dyn})).empty());
    for (const words& few : {words{}, words{dtype::float32}})
      CHECK_THAT(refused(few),
                 Catch::StartsWith("InvalidArgument: TAGMA-E220 queue: there are one to eight components"));
    CHECK_THAT(refused(with_rank(-1)),
               Catch::StartsWith("InvalidArgument: TAGMA-E220 queue: attribute rank is -1, not 0 to 6"));
    CHECK_THAT(refused(with_rank(7)),
               Catch::StartsWith("InvalidArgument: TAGMA-E220 queue: attribute rank is 7, not 0 to 6"));
    words scalar_with_an_extent = component(dtype::float32, {});
    scalar_with_an_extent[2] = dyn;
    CHECK_THAT(refused(scalar_with_an_extent),
               Catch::StartsWith("InvalidArgument: TAGMA-E220 queue: attribute extent is -1, not 0"));
  }
}

TEST_CASE("things of containers that a builder refuses", "[scenario 70]") {
  graph_builder b;
  const words number = component(dtype::int32, {});
  const auto text = [&](auto f) { return test::text_of(f); };
  b.resource("queue", "q", options(queue_kind::fifo) + number);
  CHECK(text([&] { b.resource("queue", "q", options(queue_kind::fifo) + number); }).find("TAGMA-E060") !=
        std::string::npos);
  CHECK(text([&] { b.resource("queue", "no name", options(queue_kind::fifo) + number); }).find("TAGMA-E160") !=
        std::string::npos);
  for (const char* const name : {"", "_foo", "-cat", "12$%"})
    CHECK(text([&] { b.resource("queue", name, options(queue_kind::fifo) + number); }) ==
          "InvalidArgument: TAGMA-E160 queue: '" + std::string(name) + "' is no name");
  for (const char* const name : {"cat", "cat.0-dog", ".cat"})
    CHECK(text([&] { b.resource("queue", name, options(queue_kind::fifo) + number); }).empty());
  CHECK(text([&] { b.resource("group", "g", words{}); }).find("no thing of a container") != std::string::npos);
  CHECK(text([&] { b.resource("queue", "r", words{}); }).find("queue: ") != std::string::npos);
  CHECK(text([&] { b.resource("stack", "s", words{}); }).starts_with("NotFound: "));
  const graph_node nameless = b.add("queue", {}, options(queue_kind::fifo) + number);
  CHECK(text([&] {
          (void)b.build({{"size", b.add("queue_size", {nameless})}});
        }).find("is no name") != std::string::npos);
  CHECK(text([&] { b.add("queue_size", {b.placeholder("x", dtype::float32)}); }).find("queue of a container") !=
        std::string::npos);
}

}  // namespace

}  // namespace tagma::conformance
