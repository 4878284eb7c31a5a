// SPDX-License-Identifier: BSL-1.0
#include "tagma/file_datasets.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "support/temporary_directory.hpp"
#include "tagma/file_cache.hpp"

namespace {

namespace tg = tagma;
namespace ds = tagma::datasets;
using tg::status_code;
using tg::test::code_of, tg::test::text_of;
using texts = std::vector<std::string>;

template <class T>
std::vector<T> all(const tg::dataset<T>& data) {
  std::vector<T> read;
  for (T& x : data) read.push_back(std::move(x));
  return read;
}
/// Elements read from any position on are those of the whole.
template <class T>
void check_positions(const tg::dataset<T>& data) {
  const std::vector<T> whole = all(data);
  auto pass = data.iterator();
  for (std::size_t at = 0; at <= whole.size(); ++at) {
    auto rest = data.resume(pass.state());
    for (std::size_t i = at; i < whole.size(); ++i) REQUIRE(rest.next() == whole[i]);
    T last{};
    CHECK_FALSE(rest.next(last));
    if (at < whole.size()) (void)pass.next();
  }
}

TEST_CASE("lines of several files come one file behind the other") {
  const tg::test::temporary_directory dir;
  dir.put("a", "head\none\r\ntwo\n");
  dir.put("b", "head\n");
  dir.put("c", "head\nthree");
  const auto lines = ds::text_lines({dir / "a", dir / "b", dir / "c"}, {.skip_header_lines = 1});
  CHECK(all(lines) == texts{"one", "two", "three"});
  check_positions(lines);
  check_positions(lines.shuffle(2, 1).repeat(2).prefetch(2));
  const auto interleaved =
      ds::from_slices(texts{dir / "a", dir / "c"})
          .interleave([](const std::string& file) { return ds::text_lines({file}); }, {.cycle = 2, .ahead = 1});
  CHECK(all(interleaved) == texts{"head", "head", "one", "three", "two"});
  check_positions(interleaved);
}

TEST_CASE("a file that is missing is an error in its place, and the next one follows") {
  const tg::test::temporary_directory dir;
  dir.put("a", "one\n");
  dir.put("c", "three\n");
  const auto lines = ds::text_lines({dir / "a", dir / "b", dir / "c"});
  auto pass = lines.iterator();
  CHECK(pass.next() == "one");
  CHECK(code_of([&] { (void)pass.next(); }) == status_code::not_found);
  const ds::position behind = pass.state();
  CHECK(pass.next() == "three");
  CHECK(code_of([&] { (void)pass.next(); }) == status_code::out_of_range);
  CHECK(lines.resume(behind).next() == "three");
  CHECK(all(lines.ignore_errors()) == texts{"one", "three"});
  // The same error in every pass.
  const auto none = ds::text_lines({dir / "b"});
  for (int i = 0; i < 2; ++i) CHECK(code_of([&] { (void)none.iterator().next(); }) == status_code::not_found);
}

TEST_CASE("records of a fixed length") {
  const tg::test::temporary_directory dir;
  dir.put("a", "Haabbccff");
  dir.put("b", "Hddeeff");
  const auto records =
      ds::fixed_length_records({dir / "a", dir / "b"}, {.record_bytes = 2, .header_bytes = 1, .footer_bytes = 2});
  CHECK(all(records) == texts{"aa", "bb", "cc", "dd", "ee"});
  check_positions(records);
}

TEST_CASE("a TFRecord file that is cut short is an error behind its whole records") {
  const tg::test::temporary_directory dir;
  for (const char* name : {"a", "b"}) {
    tg::io::tf_record_writer writer(tg::io::create(dir / name));
    writer.write(std::string("first of ") + name);
    writer.write("second");
  }
  const auto records = ds::tf_record({dir / "a", dir / "b"});
  CHECK(all(records) == texts{"first of a", "second", "first of b", "second"});
  check_positions(records);
  std::filesystem::resize_file(dir / "a", std::filesystem::file_size(dir / "a") - 1);
  auto pass = records.iterator();
  CHECK(pass.next() == "first of a");
  CHECK(code_of([&] { (void)pass.next(); }) == status_code::data_loss);
  CHECK(pass.next() == "first of b");
}

TEST_CASE("columns of CSV files have types") {
  const tg::test::temporary_directory dir;
  dir.put("a", "name;size;number\n\"x;y\";1.5;7\nz;;8\n");
  dir.put("b", "name;size;number\nw;2.5;none\nv;3.5;9\n");
  const auto rows =
      ds::csv({dir / "a", dir / "b"}, {.fields = {.delimiter = ';'}, .skip_header_records = 1},
              tg::io::csv_required<std::string>(), tg::io::csv_default(-1.0f), tg::io::csv_required<std::int64_t>());
  using row = std::tuple<std::string, float, std::int64_t>;
  auto pass = rows.iterator();
  CHECK(pass.next() == row("x;y", 1.5f, 7));
  CHECK(pass.next() == row("z", -1.0f, 8));
  CHECK(text_of([&] { (void)pass.next(); }) == "InvalidArgument: " + (dir / "b") + ":2: field 2 is no int64: 'none'");
  CHECK(pass.next() == row("v", 3.5f, 9));
  check_positions(rows.ignore_errors());
  const auto [names, sizes, numbers] = rows.ignore_errors().batch(3).iterator().next();
  CHECK(names == texts{"x;y", "z", "v"});
  CHECK(sizes == tg::tensor<float>({3}, {1.5f, -1.0f, 3.5f}));
  CHECK(numbers == tg::tensor<std::int64_t>({3}, {7, 8, 9}));
  const auto one = ds::csv({dir / "b"}, {.fields = {.delimiter = ';', .columns = {1}}, .skip_header_records = 1},
                           tg::io::csv_required<double>());
  CHECK(all(one) == std::vector<double>{2.5, 3.5});
}

TEST_CASE("a dataset of files that are read otherwise is another one, for positions and caches") {
  namespace io = tg::io;
  const tg::test::temporary_directory dir;
  dir.put("a", "1;2\n;4\n5;6\n7;8\n");
  dir.put("a b", "1;2\n");
  dir.put("b", "1;2\n");
  const std::string a = dir / "a";
  const texts files{a};
  const auto plain = [&](const ds::csv_file_options& options, const auto&... columns) {
    return ds::csv(files, options, columns...).ignore_errors().map([](const auto&...) { return std::int64_t{1}; });
  };
  const auto one = [](const tg::dataset<std::string>& of) {
    return of.map([](const std::string&) { return std::int64_t{1}; }).ignore_errors();
  };
  const auto dflt = io::csv_default(std::int64_t{7});
  const io::csv_options semicolon{.delimiter = ';'};
  const auto padded = [&](const ds::padding_options& how) {
    return ds::range(8)
        .map([](std::int64_t n) { return tg::tensor<float>({n % 2 + 1}); })
        .padded_batch(2, how)
        .map([](const tg::tensor<float>&) { return std::int64_t{1}; });
  };
  // Of two that stand one behind the other, each differs from the other by what it names.
  const std::vector<tg::dataset<std::int64_t>> all_kinds{
      one(ds::text_lines(files)),
      one(ds::text_lines(files, {.skip_header_lines = 1})),
      one(ds::text_lines(files, {}, io::compression::detect)),
      one(ds::text_lines({dir / "a b"})),
      one(ds::text_lines({a, "b"})),
      one(ds::text_lines({"2:a 2:b"})),
      one(ds::text_lines({"2:a", "b"})),
      one(ds::tf_record(files)),
      one(ds::tf_record(files, io::compression::detect)),
      one(ds::fixed_length_records(files, {.record_bytes = 2})),
      one(ds::fixed_length_records(files, {.record_bytes = 3})),
      one(ds::fixed_length_records(files, {.record_bytes = 2, .header_bytes = 1})),
      one(ds::fixed_length_records(files, {.record_bytes = 2, .footer_bytes = 1})),
      one(ds::fixed_length_records(files, {.record_bytes = 2, .hop_bytes = 1})),
      one(ds::fixed_length_records(files, {.record_bytes = 2}, io::compression::detect)),
      plain({.fields = semicolon}, dflt, dflt),
      plain({.fields = semicolon}, io::csv_default(std::int64_t{9}), dflt),
      plain({.fields = semicolon}, io::csv_required<std::int64_t>(), dflt),
      plain({.fields = semicolon}, io::csv_default(std::int32_t{7}), dflt),
      plain({.fields = semicolon}, io::csv_default(7.0f), dflt),
      plain({.fields = semicolon}, io::csv_default(7.5f), dflt),
      plain({.fields = semicolon}, io::csv_default(std::string("7")), dflt),
      plain({.fields = semicolon}, io::csv_default(std::string("8")), dflt),
      plain({}, dflt, dflt),
      plain({.fields = {.delimiter = ';', .quotes = false}}, dflt, dflt),
      plain({.fields = {.delimiter = ';', .na_value = "5"}}, dflt, dflt),
      plain({.fields = {.delimiter = ';', .columns = {0, 1}}}, dflt, dflt),
      plain({.fields = {.delimiter = ';', .columns = {0, 2}}}, dflt, dflt),
      plain({.fields = semicolon, .skip_header_records = 1}, dflt, dflt),
      plain({.fields = semicolon, .format = io::compression::detect}, dflt, dflt),
      padded({}),
      padded({.shapes = {{2}}}),
      padded({.shapes = {{3}}}),
      padded({.values = {1}})};
  for (std::size_t i = 0; i < all_kinds.size(); ++i) {
    const ds::position at = all_kinds[i].iterator().state();
    for (std::size_t k = 0; k < all_kinds.size(); ++k) {
      CAPTURE(i, k);
      CHECK((code_of([&] { (void)all_kinds[k].resume(at); }) == status_code::ok) == (i == k));
    }
  }
  // A cache of the one is refused by the other, instead of given.
  const auto cached = [&](std::int64_t otherwise) {
    return ds::csv(files, {.fields = semicolon}, io::csv_default(otherwise), dflt).cache(dir / "rows.cache");
  };
  using row = std::tuple<std::int64_t, std::int64_t>;
  CHECK(all(cached(7))[1] == row(7, 4));
  CHECK(all(cached(7))[1] == row(7, 4));
  CHECK(code_of([&] { (void)cached(9).iterator().next(); }) == status_code::failed_precondition);
}

TEST_CASE("options that make no sense are refused where a dataset is described") {
  CHECK(text_of([] { (void)ds::text_lines({"a"}, {.skip_header_lines = -1}); }) ==
        "InvalidArgument: skip_header_lines is -1, expected a number that is not negative");
  CHECK(text_of([] { (void)ds::fixed_length_records({"a"}, {}); }) ==
        "InvalidArgument: record_bytes is 0, expected 1 or more, below 2^54");
  CHECK(text_of([] { (void)ds::fixed_length_records({"a"}, {.record_bytes = 1, .hop_bytes = -2}); }) ==
        "InvalidArgument: hop_bytes is -2, expected 0 or more, below 2^54");
  CHECK(text_of([] { (void)ds::csv({"a"}, {.skip_header_records = -3}, tg::io::csv_required<float>()); }) ==
        "InvalidArgument: skip_header_records is -3, expected a number that is not negative");
  CHECK(code_of([] { (void)ds::csv({"a"}, {.fields = {.delimiter = '"'}}, tg::io::csv_required<float>()); }) ==
        status_code::invalid_argument);
}

TEST_CASE("a byte order mark at the beginning of each file is none of its text") {
  const tg::test::temporary_directory dir;
  const std::string mark = "\xEF\xBB\xBF";
  dir.put("a", mark + "1,2\n3,4\n");
  dir.put("b", mark + "\"5\",6\n");
  dir.put("c", mark);
  const auto rows = ds::csv({dir / "a", dir / "b", dir / "c", dir / "a"}, {}, tg::io::csv_required<std::int64_t>(),
                            tg::io::csv_required<std::int64_t>());
  using row = std::tuple<std::int64_t, std::int64_t>;
  CHECK(all(rows) == std::vector<row>{{1, 2}, {3, 4}, {5, 6}, {1, 2}, {3, 4}});
  check_positions(rows);
  const auto lines = ds::text_lines({dir / "a", dir / "c"});
  CHECK(all(lines) == texts{"1,2", "3,4"});
  check_positions(lines);
}

}  // namespace
