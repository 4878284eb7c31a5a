// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A disk for checkpoints: a directory whose files may not be as long as they should for a while, and what was saved
/// there: the last checkpoint that is complete is found again, whole, whatever went wrong with others.

#include <sys/resource.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>

#include <unistd.h>

namespace tagma::test {

/// One for all lives of a process, so that two lives of a world see the same paths.
class disk {
 public:
  disk() {
    const std::filesystem::path memory("/dev/shm");  // where nobody waits for a disk
    std::error_code unknown;
    const bool there = std::filesystem::is_directory(memory, unknown);
    path_ = (there ? memory : std::filesystem::temp_directory_path()) / ("tagma-town-" + std::to_string(::getpid()));
    std::filesystem::remove_all(path_);
    std::filesystem::create_directory(path_);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    static const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
    (void)ignored;
  }
  disk(const disk&) = delete;
  disk& operator=(const disk&) = delete;
  ~disk() {
    mend();
    std::error_code unknown;
    std::filesystem::remove_all(path_, unknown);
  }

  [[nodiscard]] std::string path() const { return path_.string(); }
  /// Writes beyond so many bytes of a file fail.
  void limit(std::uint64_t bytes) {
    rlimit now = before_;
    now.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &now);
  }
  void mend() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  std::filesystem::path path_;
  rlimit before_{};
};

/// Checkpoints "model-1", "model-2", ..., one after the other, each of variables that all had one mark.
class saved_marks {
 public:
  /// A save begins. The number of its checkpoint.
  [[nodiscard]] int begin(int mark) {
    marks_[++last_] = mark;
    return last_;
  }
  void end(int number) { complete_ = number; }
  /// Whoever set this mark does not know when that was done.
  void doubt(int mark) { doubtful_.insert(mark); }
  [[nodiscard]] bool any() const { return last_ > 0; }

  /// @param name the newest checkpoint; empty: there is none
  /// @param found a mark that it has
  void judge(const std::string& name, int found, const std::function<void(const std::string&)>& wrong) const {
    const int number = name.empty() ? 0 : std::stoi(name.substr(name.rfind('-') + 1));
    if (number < complete_) wrong("checkpoint " + std::to_string(complete_) + " was made, and '" + name + "' is found");
    if (number == 0) return;
    const auto at = marks_.find(number);
    if (at == marks_.end()) return wrong("nobody has made '" + name + "'");
    if (found != at->second && doubtful_.count(found) == 0)
      wrong("'" + name + "' has mark " + std::to_string(found) + ", not " + std::to_string(at->second));
  }

 private:
  int last_ = 0, complete_ = 0;
  std::map<int, int> marks_;
  std::set<int> doubtful_;
};

}  // namespace tagma::test
