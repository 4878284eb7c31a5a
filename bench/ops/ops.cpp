// SPDX-License-Identifier: BSL-1.0
// Runs single operations. ops.py drives it: for each line "time <operation> <extents> <extents> ... <calls>" it prints
// the seconds of that many calls, by the clock and of the processor; for "keep <operation> <extents> ... <file>" it
// writes the elements of the results to a file.
#include <ctime>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

#include "operation.hpp"

namespace tg = tagma;

namespace {

/// "3x4"; "-" has no extents.
tg::shape read_shape(const std::string& text) {
  tg::shape dims;
  if (text == "-") return dims;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, 'x');) dims.push_back(std::stoll(part));
  return dims;
}

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1) ops::threads() = std::atoi(arguments[1]);
  ops::add_elementwise(), ops::add_mixed(), ops::add_reductions(), ops::add_layout(), ops::add_order();
  ops::add_products(), ops::add_windows(), ops::add_rows();
  std::cout << "ready" << std::endl;
  std::string fed;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    if (words.size() < 3) continue;
    const auto found = ops::operations().find(words[1]);
    if (found == ops::operations().end()) {
      std::cout << "unknown" << std::endl;
      continue;
    }
    std::vector<tg::shape> dims;
    std::string now = words[1];
    for (std::size_t i = 2; i + 1 < words.size(); ++i) dims.push_back(read_shape(words[i])), now += " " + words[i];
    const ops::operation& o = found->second;
    if (now != fed) o.feed(dims), o.run(), fed = now;
    if (words[0] == "keep") {
      std::ofstream file(words.back(), std::ios::binary);
      o.keep(file);
      file.close();
      std::cout << "kept" << std::endl;
      continue;
    }
    const int calls = std::stoi(words.back());
    const double processor = processor_seconds();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) o.run();
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%.9f %.9f\n", wall, processor_seconds() - processor);
    std::fflush(stdout);
  }
}
