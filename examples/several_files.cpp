// SPDX-License-Identifier: BSL-1.0
// Several files at once, their records mixed, in two ways: a dataset takes from the files in turn, in an order that no
// thread changes; three readers of a graph, each in a thread of its own, fill one queue. One record is broken: its
// error names the file, the line and the field, and all others arrive.
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tagma/file_datasets.hpp"
#include "tagma/input.hpp"
#include "tagma/readers.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

/// Writes records such as "b2,12"; the third of b.csv is broken. The sum of the others.
int write_file(const std::string& path, char letter, int records) {
  std::ofstream to(path);
  to << "name,amount\n";
  int sum = 0;
  for (int i = 1; i <= records; ++i) {
    const bool broken = letter == 'b' && i == 3;
    to << letter << i << ',' << (broken ? "many" : std::to_string(10 + i)) << '\n';
    sum += broken ? 0 : 10 + i;
  }
  return sum;
}

/// A dataset for each file. Two files are open at a time and give two records each in turn; the next one takes the
/// place of one that has ended. A thread for each reads ahead.
void take_in_turn(const std::vector<std::string>& files) {
  const auto records_of = [](const std::string& file) {
    return tg::datasets::csv({file}, {.skip_header_records = 1}, tg::io::csv_required<std::string>(),
                             tg::io::csv_required<int>());
  };
  const auto tell = [](const std::exception_ptr& broken) {
    try {
      std::rethrow_exception(broken);
    } catch (const tg::error& e) {
      std::printf(" [%s]", e.what());
    }
  };
  const tg::datasets::interleave_options in_turn{.cycle = 2, .block = 2, .ahead = 4};
  int sum = 0;
  std::printf("in turn:");
  for (const auto& [name, amount] : tg::datasets::from_slices(files).interleave(records_of, in_turn).on_error(tell))
    std::printf(" %s", name.c_str()), sum += amount;
  std::printf("; sum %d\n", sum);
}

}  // namespace

int main() {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("tagma_several_files_" + std::to_string(std::random_device{}()));
  std::filesystem::create_directories(folder);
  std::vector<std::string> files;
  int written = 0;
  for (const auto& [letter, records] : {std::pair('a', 5), std::pair('b', 7), std::pair('c', 2), std::pair('d', 4)}) {
    files.push_back((folder / (letter + std::string(".csv"))).string());
    written += write_file(files.back(), letter, records);
  }
  take_in_turn(files);

  // Whichever reader has come to the end of its file takes the next name.
  constexpr tg::queue_of<"files", tg::queue_options{.capacity = 4}, tg::spec<std::string_view>> names;
  constexpr tg::queue_of<"amounts", tg::queue_options{.capacity = 20}, tg::spec<int>> amounts;
  const auto put_from = [=](const auto& reader) {
    const auto record = tg::read(reader, names);  // its key, by which errors call it, and its text
    return tg::enqueue(amounts, tg::decode_csv<tg::csv_format{}, 1>(record, tg::required<int>));
  };
  constexpr tg::reader_options with_header{.skip_header_lines = 1};
  const auto put_1 = put_from(tg::reader_of<"first", with_header>{});
  const auto put_2 = put_from(tg::reader_of<"second", with_header>{});
  const auto put_3 = put_from(tg::reader_of<"third", with_header>{});
  const auto batch = tg::dequeue_up_to<8>(amounts);

  const tg::container state;
  tg::session loader(tg::compile([=] { return tg::outputs(put_1, put_2, put_3); }), {.state = state});
  tg::session taker(tg::compile([=] { return tg::outputs(batch); }), {.state = state});

  std::atomic<int> left_out = 0;
  const auto adding = [&](auto put) -> tg::queue_runner::function {  // what a thread does again and again
    return [&, put](const tg::run_limits& limits) {
      try {
        loader.run(put, limits);
      } catch (const tg::error& e) {
        if (e.code() != tg::status_code::invalid_argument) throw;  // OutOfRange: there are no more files
        if (left_out++ == 0) std::printf("by threads, but for: %s\n", e.what());
      }
    };
  };
  tg::coordinator coord;
  auto producer = tg::string_input_producer(
      files, {.num_epochs = 10, .seed = 1, .capacity = 4, .place = {.in = state, .name = "files"}});
  tg::queue_runner readers(tg::queue<tg::spec<int>>(state, "amounts", amounts.options),
                           {adding(put_1), adding(put_2), adding(put_3)});
  tg::start_queue_runners(coord, producer, readers);

  int sum = 0, count = 0;
  coord.stop_on_exception([&] {  // of which OutOfRange is the end of the data
    for (;;)
      for (const int amount : taker.run(batch)) sum += amount, ++count;
  });
  coord.join();
  std::filesystem::remove_all(folder);
  std::printf("%d records of all files ten times, %d broken ones; sum %d\n", count, left_out.load(), sum);
  return sum == 10 * written ? 0 : 1;
}
