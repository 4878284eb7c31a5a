// SPDX-License-Identifier: BSL-1.0
#include "tagma/data/file_cache.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "support/temporary_directory.hpp"
#include "tagma/base/file.hpp"
#include "tagma/datasets.hpp"

namespace {

namespace tg = tagma;
namespace ds = tagma::datasets;
using tg::status_code;
using tg::test::code_of, tg::test::text_of;
using number = std::int64_t;
using row = std::tuple<number, std::string, tg::tensor<float>, std::vector<std::pair<bool, std::string>>>;

template <class T>
std::vector<T> all(const tg::dataset<T>& data) {
  std::vector<T> read;
  for (T& x : data) read.push_back(std::move(x));
  return read;
}
/// Numbers, and how often they were computed.
struct counted {
  std::shared_ptr<int> calls = std::make_shared<int>(0);
  [[nodiscard]] tg::dataset<number> numbers(number n) const {
    return ds::range(n).map([count = calls](number x) {
      ++*count;
      return x * x;
    });
  }
};

TEST_CASE("elements that come in any order have positions when a file has their order") {
  const tg::test::temporary_directory directory;
  const std::string path = directory / "x.cache";
  const auto data = ds::range(60).map([](number x) { return x; }, {.threads = 3, .ordered = false}).cache(path);
  auto first = data.iterator();
  (void)first.next();
  CHECK(code_of([&] { (void)first.state(); }) == status_code::failed_precondition);
  const std::vector<number> order = all(data);
  auto second = data.iterator();
  for (std::size_t i = 0; i < 25; ++i) CHECK(second.next() == order[i]);
  const ds::position at = second.state();
  CHECK(data.resume(at).next() == order[25]);
  std::filesystem::remove(path);
  CHECK(text_of([&] { (void)data.resume(at).next(); }) ==
        "FailedPrecondition: " + path +
            ": is gone, and a position in it means nothing for elements that come in any order");
}

TEST_CASE("the first whole pass writes the file, and others read it") {
  const tg::test::temporary_directory directory;
  const std::string path = directory / "x.cache";
  const counted source;
  const auto data = source.numbers(10).cache(path);
  CHECK(data.size() == 10);
  {
    auto pass = data.iterator();
    CHECK(pass.next() == 0);
    CHECK(directory.files().size() == 1);
    CHECK_FALSE(directory.files().contains("x.cache"));
  }
  CHECK(directory.files().empty());  // it was given up
  const auto expected = all(source.numbers(10));
  *source.calls = 0;
  CHECK(all(data) == expected);
  CHECK(*source.calls == 10);
  CHECK(directory.files() == std::set<std::string>{"x.cache"});
  CHECK(all(data) == expected);
  CHECK(all(source.numbers(10).cache(path).repeat(2)).size() == 20);  // as in another process
  CHECK(*source.calls == 10);
  CHECK(all(ds::range(0).cache(directory / "none.cache")).empty());
  CHECK(all(ds::range(0).cache(directory / "none.cache")).empty());
}

TEST_CASE("elements of all kinds come back as they were") {
  const tg::test::temporary_directory directory;
  const auto data = ds::range(20).map([](number x) {
    row r{x, std::string(static_cast<std::size_t>(x), 'y'), tg::tensor<float>(tg::shape{x % 3, 2}), {}};
    for (std::size_t i = 0; i < std::get<2>(r).size(); ++i) std::get<2>(r)[i] = static_cast<float>(x) + 0.5f;
    for (number i = 0; i < x % 4; ++i) std::get<3>(r).emplace_back(i % 2 == 0, std::to_string(i));
    return r;
  });
  const auto cached = data.cache(directory / "rows");
  CHECK(all(cached) == all(data));
  CHECK(all(cached) == all(data));
  const auto scalars = ds::range(3).map([](number x) { return std::pair(x == 1, tg::tensor<double>(0.5)); });
  CHECK(all(scalars.cache(directory / "scalars")) == all(scalars));
  CHECK(all(scalars.cache(directory / "scalars")) == all(scalars));
  const auto many = ds::range(4).map([](number x) { return static_cast<unsigned long long>(x) << 62; });
  CHECK(all(many.cache(directory / "many")) == all(many));
  CHECK(all(many.cache(directory / "many")) == all(many));
}

TEST_CASE("positions are the same whether the file is there or not") {
  const tg::test::temporary_directory directory;
  const counted source;
  const auto data = source.numbers(30).cache(directory / "c").batch(4).repeat(2);
  std::vector<ds::position> written, read;
  for (auto* to : {&written, &read}) {
    auto pass = data.iterator();
    for (tg::tensor<number> x; pass.next(x);) to->push_back(pass.state());
  }
  CHECK(written == read);
  auto pass = data.resume(read[4]);
  CHECK(pass.state() == read[4]);
  CHECK(pass.next() == tg::tensor<number>({4}, {400, 441, 484, 529}));
  // A pass that was resumed writes the whole file, too.
  const auto other = source.numbers(30).cache(directory / "other").batch(4).repeat(2);
  auto resumed = other.resume(read[4]);
  for (tg::tensor<number> x; resumed.next(x);) {
  }
  CHECK(directory.files().contains("other"));
  CHECK(all(other) == all(data));
}

TEST_CASE("passes that run at once each write, and the last file stays") {
  const tg::test::temporary_directory directory;
  const auto data = ds::range(500).cache(directory / "c");
  std::vector<std::thread> threads;
  std::vector<std::vector<number>> read(4);
  for (auto& mine : read)
    threads.emplace_back([&] {
      for (const number x : data) mine.push_back(x);
    });
  for (std::thread& t : threads) t.join();
  for (const auto& mine : read) CHECK(mine.size() == 500);
  CHECK(directory.files() == std::set<std::string>{"c"});
  CHECK(all(data) == read[0]);
}

TEST_CASE("a pass with an error writes nothing") {
  const tg::test::temporary_directory directory;
  const auto data = ds::range(5).map([](number x) { return x == 2 ? throw 1 : x; }).cache(directory / "c");
  CHECK(all(data.ignore_errors()).size() == 4);
  CHECK(directory.files().empty());
}

TEST_CASE("the file of something else is refused by its name") {
  const tg::test::temporary_directory directory;
  const std::string path = directory / "c";
  CHECK(all(ds::range(5).cache(path)).size() == 5);
  const auto floats = ds::range(5).map([](number x) { return static_cast<float>(x); });
  CHECK(text_of([&] { (void)all(floats.cache(path)); }) ==
        "FailedPrecondition: " + path + ": has elements of type int64, and this dataset has float32");
  CHECK(text_of([&] { (void)all(ds::range(6).cache(path)); }) ==
        "FailedPrecondition: " + path +
            ": is the cache of another pipeline, 'range 0 1 5'; this one is 'range 0 1 6'; remove the file to make it "
            "anew");
  auto pass = ds::range(6).cache(path).iterator();
  CHECK(code_of([&] { (void)pass.next(); }) == status_code::failed_precondition);
  number x = 0;
  CHECK_FALSE(pass.next(x));
  directory.put("text", "no records at all, and more than twelve bytes");
  CHECK(code_of([&] { (void)all(ds::range(5).cache(directory / "text")); }) == status_code::data_loss);
  directory.put("empty", "");
  CHECK(text_of([&] { (void)all(ds::range(5).cache(directory / "empty")); }) ==
        "DataLoss: " + (directory / "empty") + ": is empty, and no cache of a dataset");
  {
    tg::io::tf_record_writer to{tg::io::file_sink(directory / "old")};
    to.write("tagma dataset cache 0\nint64\nrange 0 1 5");
  }
  CHECK(text_of([&] { (void)all(ds::range(5).cache(directory / "old")); }) ==
        "FailedPrecondition: " + (directory / "old") +
            ": begins with 'tagma dataset cache 0', not with 'tagma dataset cache 1'; remove it to make it anew");
}

TEST_CASE("a damaged file is one error that names it and the record") {
  const tg::test::temporary_directory directory;
  const std::string path = directory / "c";
  const auto data = ds::range(5).cache(path);
  CHECK(all(data).size() == 5);
  const std::string whole = tg::read_file(path);
  const auto read = [&](const std::string& bytes) {
    directory.put("c", bytes);
    auto pass = data.iterator();
    std::string text;
    number given = 0;
    try {
      for (number x = 0; pass.next(x); ++given) CHECK(x >= given);
    } catch (const tg::error& e) {
      CHECK(e.code() == status_code::data_loss);
      text = e.what();
      number x = 0;
      CHECK_FALSE(pass.next(x));
      CHECK(text.find(path) != text.npos);
    }
    return std::pair(given, text);
  };
  CHECK(read(whole) == std::pair(number{5}, std::string()));
  for (std::size_t n = 0; n < whole.size(); ++n) CHECK_FALSE(read(whole.substr(0, n)).second.empty());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string bytes = whole;
    bytes[i] = static_cast<char>(bytes[i] ^ 4);
    CHECK_FALSE(read(bytes).second.empty());
  }
  // 16 bytes around each record; elements have 9, as has the last one.
  const std::size_t head = whole.size() - 6 * 25;
  CHECK(read(whole.substr(0, whole.size() - 25)) ==
        std::pair(number{5}, "DataLoss: " + path + ": ends behind 5 elements, without the record that says so"));
  CHECK(read(whole + whole.substr(head, 25)).second.find("a record stands behind the end") != std::string::npos);
  CHECK(read(whole.substr(0, head) + whole.substr(head + 25)).second.find("the record behind 4 elements") !=
        std::string::npos);
  std::string bytes = whole;
  bytes[head + 25 + 12 + 3] ^= 1;
  CHECK(read(bytes) == std::pair(number{1}, "DataLoss: " + path + ": corrupted record at " + std::to_string(head + 25) +
                                                ": the checksum of its data is not that of the file"));
}

TEST_CASE("where no file can be written, elements come, and an error behind them") {
  const tg::test::temporary_directory directory;
  auto pass = ds::range(3).cache(directory / "no/c").iterator();
  for (number i = 0; i < 3; ++i) CHECK(pass.next() == i);
  CHECK(code_of([&] { (void)pass.next(); }) == status_code::not_found);
  number x = 0;
  CHECK_FALSE(pass.next(x));
}

TEST_CASE("a call that is late goes on where it was") {
  const tg::test::temporary_directory directory;
  const auto data = ds::range(100).cache(directory / "c");
  auto pass = data.resume(data.iterator().state());
  tg::cancellation cancel;
  CHECK(pass.next(tg::stop_with(cancel)) == 0);
  CHECK(pass.skip(98) == 98);
  CHECK(pass.next() == 99);
}

}  // namespace
