// SPDX-License-Identifier: BSL-1.0
// Examples of docs/reference/data.md.
#include <catch2/catch.hpp>

#include <tagma/autotune.hpp>
#include <tagma/data.hpp>
#include <tagma/datasets.hpp>
#include <tagma/file_datasets.hpp>
#include <tagma/iterators.hpp>
#include <tagma/tagma.hpp>

#include <cstdlib>

#include "support/errors.hpp"
#include "support/temporary_directory.hpp"
#include "support/texts.hpp"

namespace tg = tagma;
using tagma::test::code_of;
using tagma::test::text;

TEST_CASE("reference: sources of datasets") {
  std::vector<std::int64_t> seen;
  // example: dataset, datasets::range, dataset_iterator, datasets::loop_iterator
  tg::dataset<std::int64_t> squares = tg::datasets::range(1, 6).map([](std::int64_t i) { return i * i; });
  for (std::int64_t s : squares.filter([](std::int64_t i) { return i > 4; })) seen.push_back(s);  // [9, 16, 25]
  tg::dataset_iterator pass = squares.iterator();
  pass.skip(3);
  std::int64_t fourth = pass.next();  // 16; behind the last element, next() throws OutOfRange
  // end
  CHECK(text(seen) == "[9, 16, 25]");
  CHECK(fourth == 16);
  CHECK(pass.next() == 25);
  CHECK(code_of([&] { (void)pass.next(); }) == tg::status_code::out_of_range);

  // example: datasets::from_slices, datasets::from_tensors, datasets::bytes_of
  tg::tensor<float> images({3, 2}, {1, 2, 3, 4, 5, 6});
  tg::tensor<std::int32_t> labels({3}, {0, 1, 0});
  auto rows = tg::datasets::from_slices(images, labels);        // three tuples: a tensor [2] and a number
  auto whole = tg::datasets::from_tensors(images, labels);      // one tuple: [3, 2] and [3]
  auto [some, their_labels] = rows.batch(2).iterator().next();  // [[1, 2], [3, 4]] and [0, 1]
  std::int64_t bytes = tg::datasets::bytes_of(images);          // 24
  // end
  CHECK(rows.size() == 3);
  CHECK(whole.size() == 1);
  CHECK(tg::to_string(tg::shape{2}) == "[2]");
  CHECK(tg::to_string(images.dims()) == "[3, 2]");
  CHECK(tg::to_string(labels.dims()) == "[3]");
  CHECK(text(some) == "[[1, 2], [3, 4]]");
  CHECK(text(their_labels) == "[0, 1]");
  CHECK(bytes == 24);

  // example: datasets::generator, datasets::zip
  auto powers = tg::datasets::generator([n = std::int64_t{1}]() mutable -> std::optional<std::int64_t> {
    n *= 2;
    if (n > 8) return std::nullopt;  // the end; each pass begins with a copy of the function
    return n;
  });                                                                   // 2, 4, 8
  auto numbered = tg::datasets::zip(tg::datasets::range(100), powers);  // (0, 2), (1, 4), (2, 8): up to the shortest
  // end
  std::vector<std::int64_t> first, second;
  for (const auto& [i, p] : numbered) {
    first.push_back(i);
    second.push_back(p);
  }
  CHECK(text(first) == "[0, 1, 2]");
  CHECK(text(second) == "[2, 4, 8]");
}

TEST_CASE("reference: files as datasets") {
  const tagma::test::working_directory folder;
  const auto write = [](const std::string& path, std::string_view content) {
    tg::output_file(path).write(content.data(), content.size());
  };
  write("people.csv", "name,age\nAda,36\nGrace,\n");
  write("data.bin", "HHabcdef");
  write("a.txt", "one\n\nthree\n");
  // example: datasets::csv, datasets::csv_file_options
  auto rows = tg::datasets::csv({"people.csv"}, {.skip_header_records = 1}, tg::io::csv_required<std::string>(),
                                tg::io::csv_default(-1.0f));
  auto [names, ages] = rows.batch(2).iterator().next();  // Ada and Grace; [36, -1]
  // end
  CHECK(text(names) == "['Ada', 'Grace']");
  CHECK(text(ages) == "[36, -1]");

  // example: datasets::fixed_length_records
  auto words =
      tg::datasets::fixed_length_records({"data.bin"}, {.record_bytes = 3, .header_bytes = 2});  // "abc", "def"
  // end
  CHECK(text(words.batch(2).iterator().next()) == "['abc', 'def']");

  // example: datasets::text_lines
  auto filled = tg::datasets::text_lines({"a.txt"}).filter(
      [](const std::string& line) { return !line.empty(); });  // "one", "three"
  // end
  CHECK(text(filled.batch(9).iterator().next()) == "['one', 'three']");

  {
    tg::io::tf_record_writer writer(tg::io::create("a.tfrecord"));
    writer.write("first");
    writer.close();
  }
  // example: datasets::tf_record
  std::string record =
      tg::datasets::tf_record({"a.tfrecord"}).iterator().next();  // mostly a message for tg::io::example
  // end
  CHECK(record == "first");
}

TEST_CASE("reference: stages of datasets") {
  // example: datasets::parallel, datasets::interleave_options, datasets::shuffle_options, datasets::padding_options
  auto numbers = tg::datasets::range(1, 4);
  auto squares = numbers.map([](std::int64_t i) { return i * i; }, {.threads = 2});  // in order: 1, 4, 9
  auto mixed = numbers.interleave([](std::int64_t i) { return tg::datasets::range(10 * i, 10 * i + 2); }, {.cycle = 2});
  auto always = numbers.shuffle(/*buffer*/ 3, /*seed*/ 42, {.reshuffle = false}).repeat(2);  // twice in one order
  auto ramps = numbers.map([](std::int64_t n) { return tg::tensor<float>({n}); });
  tg::tensor<float> padded =
      ramps.padded_batch(3, {.values = {-1}}).iterator().next();  // [[0, -1, -1], [0, 0, -1], [0, 0, 0]]
  // end
  const auto all = [](const auto& data) {
    std::vector<std::int64_t> to;
    for (const std::int64_t i : data) to.push_back(i);
    return to;
  };
  CHECK(text(all(squares)) == "[1, 4, 9]");
  CHECK(text(all(mixed)) == "[10, 20, 11, 21, 30, 31]");
  const auto twice = all(always);
  CHECK(std::vector(twice.begin(), twice.begin() + 3) == std::vector(twice.begin() + 3, twice.end()));
  CHECK(text(padded) == "[[0, -1, -1], [0, 0, -1], [0, 0, 0]]");

  // example: datasets::split, datasets::fold, datasets::parts
  auto [train, validation] = tg::datasets::split(tg::datasets::range(10), 8);  // 0 to 7, and 8, 9
  auto fold = tg::datasets::fold(tg::datasets::range(10), /*of*/ 5,
                                 /*number*/ 0);  // fold.validation: 0, 5; fold.train: the others
  // end
  CHECK(train.size() == 8);
  CHECK(text(all(validation)) == "[8, 9]");
  CHECK(text(all(fold.validation)) == "[0, 5]");
  CHECK(fold.train.size() == 8);

  // example: shuffled_order, datasets::permutation, datasets::shuffle_draws
  std::vector<tg::extent> order =
      tg::shuffled_order(/*rows*/ 5, /*buffer*/ 5, /*seed*/ 42, /*epoch*/ 0);  // 0 to 4, each once
  // end
  std::sort(order.begin(), order.end());
  CHECK(text(order) == "[0, 1, 2, 3, 4]");

  // example: datasets::iterate, datasets::pass_options, datasets::autotune, datasets::autotune_t, datasets::pass_watch
  auto tuned = tg::datasets::range(1000).map([](std::int64_t i) { return i * i; }, tg::datasets::autotune).batch(10);
  auto pass = tg::datasets::iterate(tuned, {.measure = true, .threads = 2, .bytes = 64 << 20});  // budgets of the pass
  tg::tensor<std::int64_t> ten = pass.next();
  std::string where_time_goes = tg::explain(pass);  // a row for each stage, and the bottleneck
  // end
  CHECK(ten.size() == 10);
  CHECK(where_time_goes.find("map") != std::string::npos);
}

TEST_CASE("reference: data in memory") {
  std::vector<std::string> shapes;
  // example: labelled, labelled_batch, batches
  tg::labelled<float, std::uint8_t> data{tg::tensor<float>({5, 2}), tg::tensor<std::uint8_t>({5})};
  for (auto& [images, labels] : data.shuffle(5, /*seed*/ 42).epoch(0).batch(2).prefetch(1))
    shapes.push_back(tg::to_string(images.dims()));  // [2, 2], [2, 2], [1, 2]
  // end
  CHECK(shapes == std::vector<std::string>{"[2, 2]", "[2, 2]", "[1, 2]"});

  // example: datasets::slices
  auto rows = tg::datasets::slices(data).map([](tg::tensor<float> image, tg::tensor<std::uint8_t>) { return image; });
  // end
  CHECK(rows.size() == 5);

  // example: fashion_mnist, fashion_mnist_directory, fashion_mnist_data, fashion_mnist_classes
  std::string where = tg::fashion_mnist_directory();  // empty if the data set is not there
  if (!where.empty()) {
    tg::fashion_mnist_data both = tg::fashion_mnist(where);  // both.train: 60000 images 28 x 28 x 1; both.test: 10000
    std::printf("%s\n", std::string(tg::fashion_mnist_classes[both.test.labels.data()[0]]).c_str());
  }
  // end
}

TEST_CASE("reference: iterators of graphs") {
  // example: iterator_of, get_next, set_iterator, iterator_position
  constexpr tg::iterator_of<"pairs", tg::spec<float, tg::dyn>, tg::spec<std::int64_t, tg::dyn>> pairs;
  auto [numbers, classes] = tg::get_next(pairs);  // [?] each: an element in a run, however many read it
  auto total = tg::sum(numbers);
  tg::container state;
  auto data = tg::datasets::range(1, 5).map([](std::int64_t i) { return std::pair(float(i), i % 2); }).batch(2);
  tg::set_iterator(state, pairs, data);
  tg::session session(tg::compile([=] { return tg::outputs(total); }), {.state = state});
  float first = session.run(total);                  // 3: 1 + 2
  auto where = tg::iterator_position(state, pairs);  // a few numbers, for a file
  tg::set_iterator(state, pairs, data, where);       // goes on there, in any process
  float second = session.run(total);                 // 7; behind the last element a run throws OutOfRange
  // end
  CHECK(text(numbers) == "[?]");
  CHECK(text(classes) == "[?]");
  CHECK(first == 3.0f);
  CHECK(second == 7.0f);
  CHECK(code_of([&] { session.run(total); }) == tg::status_code::out_of_range);
}
