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

}  // namespace
