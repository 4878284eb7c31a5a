// SPDX-License-Identifier: BSL-1.0
#include "tagma/observe/progress.hpp"

#include <catch2/catch.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

using tagma::progress_bar;
using tagma::progress_line;

namespace {

/// A file that is no terminal.
class plain_file {
 public:
  plain_file() = default;
  plain_file(const plain_file&) = delete;
  plain_file& operator=(const plain_file&) = delete;
  ~plain_file() { std::fclose(file); }
  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> result(1);
    std::rewind(file);
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) {
      if (c == '\n')
        result.emplace_back();
      else
        result.back() += static_cast<char>(c);
    }
    REQUIRE(result.back().empty());
    result.pop_back();
    return result;
  }
  std::FILE* file = std::tmpfile();
};

/// A terminal of that many columns, and what has been drawn on it.
class terminal {
 public:
  explicit terminal(unsigned short columns) {
    REQUIRE(grantpt(master_) == 0);
    REQUIRE(unlockpt(master_) == 0);
    file = std::fopen(ptsname(master_), "w");
    REQUIRE(file != nullptr);
    const winsize size{24, columns, 0, 0};
    REQUIRE(ioctl(fileno(file), TIOCSWINSZ, &size) == 0);
  }
  terminal(const terminal&) = delete;
  terminal& operator=(const terminal&) = delete;
  ~terminal() {
    std::fclose(file);
    ::close(master_);
  }
  /// What has been drawn since the last call, up to `ending`; whatever there is if that does not come.
  [[nodiscard]] std::string drawn_until(std::string_view ending) const {
    std::string text;
    pollfd ready{master_, POLLIN, 0};
    while (!text.ends_with(ending) && ::poll(&ready, 1, 60'000) == 1) {
      char c = 0;
      if (::read(master_, &c, 1) != 1) break;
      text += c;
    }
    return text;
  }
  std::FILE* file = nullptr;

 private:
  int master_ = posix_openpt(O_RDWR | O_NOCTTY);
};

}  // namespace

TEST_CASE("a line says how far, how fast and how long") {
  CHECK(progress_line("epoch 3", "images", 24000, 60000, 2.0, "loss 0.41") ==
        "epoch 3  40% [########            ] 24000/60000, 12000 images/s, 3s left, loss 0.41");
  CHECK(progress_line("", "images", 0, 10, 5.0, "") == "  0% [                    ] 0/10");
  CHECK(progress_line("x", "", 5, 10, 5.0, "") == "x  50% [##########          ] 5/10, 5s left");
  CHECK(progress_line("x", "steps", 1, 100, 2.0, "") == "x   1% [                    ] 1/100, 0.50 steps/s, 3:18 left");
  CHECK(progress_line("x", "", 1, 10000, 1.0, "") == "x   0% [                    ] 1/10000, 2:46:39 left");
  CHECK(progress_line("x", "steps", 100, 100, 50.0, "") == "x 100% [####################] 100/100, 2.00 steps/s, 50s");
  CHECK(progress_line("x", "steps", 0, 0, 1.0, "") == "x 100% [####################] 0/0");
  CHECK(progress_line("x", "", 12, 10, 0.0, "") == "x 100% [####################] 12/10");
}

TEST_CASE("without a terminal a bar writes at most a line for each tenth") {
  const plain_file out;
  progress_bar bar("epoch", "images", out.file);
  for (int i = 0; i <= 1000; ++i) bar.update(i, 1000, "loss 1");
  const auto lines = out.lines();
  REQUIRE(lines.size() == 10);
  CHECK(lines[0].starts_with("epoch  10% [##                  ] 100/1000"));
  CHECK(lines[9].starts_with("epoch 100% [####################] 1000/1000"));
  for (const std::string& line : lines) {
    CHECK(line.ends_with(", loss 1"));
    CHECK(line.find_first_of("\r\x1b") == std::string::npos);
  }

  bar.update(2, 2);
  CHECK(out.lines().size() == 11);
}

TEST_CASE("a terminal shows one line that is drawn again") {
  const terminal out(200);
  {
    progress_bar bar("epoch", "images", out.file);
    bar.update(1, 4);
    bar.update(4, 4, "loss 1");
    const std::string text = out.drawn_until("\r\n");
    CHECK(text.starts_with("\repoch  25% [#####               ] 1/4"));
    CHECK(text.find("\x1b[K\repoch 100%") != std::string::npos);
    CHECK(text.ends_with(", loss 1\x1b[K\r\n"));
    bar.update(1, 4);
    CHECK(out.drawn_until("\x1b[K").ends_with("\x1b[K"));
  }
  CHECK(out.drawn_until("\r\n") == "\r\n");
}

TEST_CASE("a line that is wider than the terminal is cut between characters") {
  const terminal out(5);
  progress_bar bar("\xc3\xa4\xe2\x82\xac\xc3\xa4", "", out.file);
  bar.update(1, 2);
  CHECK(out.drawn_until("\x1b[K") == "\r\xc3\xa4\x1b[K");
}

TEST_CASE("a range counts and shows what is done") {
  const plain_file out;
  std::vector<int> seen;
  for (const int epoch : tagma::progress(3, "epoch", out.file)) seen.push_back(epoch);
  CHECK(seen == std::vector<int>{0, 1, 2});
  const auto lines = out.lines();
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].starts_with("epoch  33% [######              ] 1/3"));
  CHECK(lines[2].starts_with("epoch 100% [####################] 3/3"));
  for (const int epoch : tagma::progress(0, "nothing", out.file)) seen.push_back(epoch);
  for (const int epoch : tagma::progress(-1, "nothing", out.file)) seen.push_back(epoch);
  CHECK(seen.size() == 3);
  CHECK(out.lines().size() == 3);
}
