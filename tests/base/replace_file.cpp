// SPDX-License-Identifier: BSL-1.0
#include "tagma/base/replace_file.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <csignal>
#include <cstdarg>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/errors.hpp"
#include "support/temporary_directory.hpp"

using tagma::status_code;
using tagma::test::temporary_directory, tagma::test::thrown;

namespace fs = std::filesystem;

namespace {

/// What the calls below were asked, and what a test wants of them. They stand in for those of the C library, in this
/// whole program, and pass on what they are asked.
struct watched_calls {
  std::vector<std::string> log;                    // "write 12 5", with the file's number and the bytes
  std::function<bool(const std::string&)> refuse;  // true: the call of this entry of the log fails with EIO
  int left = -1;                                   // calls until the process kills itself
  bool on = false;
};
thread_local watched_calls watched;

std::string number_of(int file) {
  struct stat status {};
  return ::fstat(file, &status) == 0 ? std::to_string(status.st_ino) : "none";
}

bool allows(const char* name, const std::string& what) {
  if (!watched.on) return true;
  if (watched.left == 0) ::kill(::getpid(), SIGKILL);
  if (watched.left > 0) --watched.left;
  watched.log.push_back(std::string(name) + " " + what);
  if (!watched.refuse || !watched.refuse(watched.log.back())) return true;
  errno = EIO;
  return false;
}

}  // namespace

extern "C" {
ssize_t write(int file, const void* bytes, size_t size) {
  if (watched.on && watched.left == 0 && size > 1) ::syscall(SYS_write, file, bytes, size / 2);
  return allows("write", number_of(file) + " " + std::to_string(size)) ? ::syscall(SYS_write, file, bytes, size) : -1;
}
int fsync(int file) { return allows("fsync", number_of(file)) ? static_cast<int>(::syscall(SYS_fsync, file)) : -1; }
int openat(int directory, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return allows("openat", path) ? static_cast<int>(::syscall(SYS_openat, directory, path, flags, mode)) : -1;
}
int flock(int file, int how) noexcept {
  return allows("flock", number_of(file)) ? static_cast<int>(::syscall(SYS_flock, file, how)) : -1;
}
int fchmod(int file, mode_t mode) noexcept {
  return allows("fchmod", number_of(file)) ? static_cast<int>(::syscall(SYS_fchmod, file, mode)) : -1;
}
int renameat(int from_directory, const char* from, int to_directory, const char* to) noexcept {
  return allows("renameat", to) ? static_cast<int>(::syscall(SYS_renameat2, from_directory, from, to_directory, to, 0))
                                : -1;
}
int unlinkat(int directory, const char* name, int flags) noexcept {
  return allows("unlinkat", name) ? static_cast<int>(::syscall(SYS_unlinkat, directory, name, flags)) : -1;
}
}

namespace {

using names = std::set<std::string>;

void replace(const std::string& path, const std::vector<std::string_view>& pieces) {
  tagma::replace_file(path, pieces);
}

/// Watches the calls of `action`.
template <class Action>
std::vector<std::string> watch(const Action& action) {
  watched.log.clear();
  watched.on = true;
  action();
  watched.on = false;
  return watched.log;
}

std::string inode_of(const std::string& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return std::to_string(status.st_ino);
}
mode_t mode_of(const std::string& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

}  // namespace

TEST_CASE("a file is replaced by its pieces and read back") {
  const temporary_directory dir;
  const std::string path = dir / "a";
  replace(path, {"one ", "", "two"});
  CHECK(tagma::read_file(path) == "one two");
  replace(path, {});
  CHECK(tagma::read_file(path).empty());
  CHECK(dir.files() == names{"a"});

  const fs::path before = fs::current_path();
  fs::current_path(dir.path);
  replace("a", {"relative"});
  fs::current_path(before);
  CHECK(tagma::read_file(path) == "relative");
  const std::string long_name = dir / std::string(255, 'x').c_str();
  replace(long_name, {"long"});
  CHECK(tagma::read_file(long_name) == "long");
}

TEST_CASE("all bytes are on the disk before the name, and the name before the call returns") {
  const temporary_directory dir;
  const std::string path = dir / "a";
  for (const char* content : {"first", "second"}) {
    const auto log = watch([&] { replace(path, {content, "more"}); });
    const std::string file = inode_of(path), directory = inode_of(dir.path.string());
    std::string order;  // of what is done to this file
    for (const std::string& call : log) {
      if (call.starts_with("write " + file + " ")) order += "write ";
      if (call == "fsync " + file) order += "flush-file ";
      if (call == "renameat a") order += "rename ";
      if (call == "fsync " + directory) order += "flush-directory ";
      if (call == "fchmod " + file) order += "access ";
    }
    CHECK(order == (content == std::string_view("first") ? "write write flush-file rename flush-directory "
                                                         : "write write access flush-file rename flush-directory "));
  }
}

TEST_CASE("each call that fails is reported with the path") {
  const temporary_directory dir;
  const std::string path = dir / "a";
  replace(path, {"old"});
  const auto refused = [&](std::string_view call, int nth = 1) {
    int count = 0;
    watched.refuse = [&](const std::string& entry) { return entry.starts_with(call) && ++count == nth; };
    tagma::error e(status_code::ok, "");
    watch([&] { e = thrown([&] { replace(path, {"new"}); }); });
    watched.refuse = nullptr;
    CHECK(dir.files() == names{"a"});
    return std::string(e.what());
  };
  const std::string begin = "DataLoss: " + path;
  CHECK(refused("openat", 2) == begin + ": cannot be created: Input/output error");
  CHECK(refused("write") == begin + ": cannot be written: Input/output error");
  CHECK(refused("fsync") == begin + ": cannot be flushed to the disk: Input/output error");
  CHECK(refused("renameat") == begin + ": cannot be replaced: Input/output error");
  CHECK(tagma::read_file(path) == "old");
  CHECK(refused("fsync", 2) ==
        "DataLoss: " + dir.path.string() + "/: cannot be flushed to the disk: Input/output error");
  CHECK(refused("flock") == "OK: nothing was thrown");
  CHECK(refused("fchmod") == "OK: nothing was thrown");
  CHECK(tagma::read_file(path) == "new");
}

TEST_CASE("a process that dies at any call leaves the old file or the new, and litter that does not last") {
  const temporary_directory dir;
  const std::string path = dir / "a";
  const std::string old(1000, 'o'), first(700, 'n'), second(900, 'm');
  bool killed = true, littered = false, replaced_at_once = true;
  for (int calls = 0; killed && calls < 100; ++calls) {
    replace(path, {old});
    REQUIRE(dir.files() == names{"a"});
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      watched.left = calls;
      watched.on = true;
      tagma::replace_file(path, std::vector<std::string_view>{first, second});
      ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    killed = WIFSIGNALED(status);
    const std::string content = tagma::read_file(path);
    CHECK((content == old || content == first + second));
    if (killed) replaced_at_once = content != old;
    littered = littered || dir.files().size() > 1;
    if (!killed) CHECK(content == first + second);
  }
  CHECK_FALSE(killed);
  CHECK(littered);          // it was killed while there was a temporary file,
  CHECK(replaced_at_once);  // and also behind the renaming
  CHECK(dir.files() == names{"a"});
}

TEST_CASE("litter of other files and files of others are left alone") {
  const temporary_directory dir;
  const names others = {"a.tagma-12-x.tmp",  "a.tagma-12.tmp",     "a.tagma--3.tmp",   "a.tagma-12-.tmp",  "a.tmp",
                        "a.tagma-1-2-3.tmp", "a.b.tagma-12-3.tmp", "b.tagma-12-3.tmp", "a.tagma-12-3.tmpx"};
  for (const std::string& name : others) std::ofstream(dir.path / name) << "x";
  fs::create_directory(dir.path / "a.tagma-5-5.tmp");
  fs::create_symlink("b.tagma-12-3.tmp", dir.path / "a.tagma-6-6.tmp");
  std::ofstream(dir.path / "a.tagma-7-7.tmp") << "x";
  std::ofstream(dir.path / "a.tagma-8-88.tmp") << "x";
  ::chmod((dir / "a.tagma-8-88.tmp").c_str(), 0444);
  replace(dir / "a", {"x"});
  names expected = others;
  expected.insert({"a", "a.tagma-5-5.tmp", "a.tagma-6-6.tmp"});
  CHECK(dir.files() == expected);
}

TEST_CASE("who replaces a file while another does leaves the other's file alone") {
  const temporary_directory dir;
  const std::string path = dir / "a";
  int inner = 0;
  watched.refuse = [&](const std::string& entry) {
    if (entry.starts_with("fsync ") && inner++ == 0) {
      watched.on = false;
      replace(path, {"inner"});
      CHECK(tagma::read_file(path) == "inner");
      CHECK(dir.files().size() == 2);
      watched.on = true;
    }
    return false;
  };
  watch([&] { replace(path, {"outer"}); });
  watched.refuse = nullptr;
  CHECK(inner == 2);
  CHECK(tagma::read_file(path) == "outer");
  CHECK(dir.files() == names{"a"});
}

TEST_CASE("a file that is not yet locked may be taken for litter, and litter may be gone when it is locked") {
  const temporary_directory dir;
  const std::string path = dir / "a";
  int locks = 0;
  watched.refuse = [&](const std::string& entry) {
    if (entry.starts_with("flock ") && locks++ == 0) {
      watched.on = false;
      for (const std::string& name : dir.files()) fs::remove(dir.path / name);
      watched.on = true;
    }
    return false;
  };
  watch([&] { replace(path, {"x"}); });
  CHECK(locks == 2);
  CHECK(dir.files() == names{"a"});

  // The name of the litter goes to a file of another process, of the same number in another container.
  const std::string litter = dir / "a.tagma-1-1.tmp";
  std::ofstream(litter) << "litter";
  watched.refuse = [&](const std::string& entry) {
    if (entry == "flock " + inode_of(litter) && tagma::read_file(litter) == "litter") {
      fs::rename(litter, dir.path / "moved");
      std::ofstream(litter) << "in use";
    }
    return false;
  };
  watch([&] { replace(path, {"x"}); });
  watched.refuse = nullptr;
  CHECK(dir.files() == names{"a", "a.tagma-1-1.tmp", "moved"});
}

TEST_CASE("several threads replace one file") {
  const temporary_directory dir;
  const std::string path = dir / "a";
  std::vector<std::thread> threads;
  std::vector<std::string> contents;
  for (int t = 0; t < 4; ++t) contents.emplace_back(3000, static_cast<char>('a' + t));
  for (const std::string& content : contents)
    threads.emplace_back([&path, &content] {
      for (int i = 0; i < 25; ++i) replace(path, {content});
    });
  for (std::thread& t : threads) t.join();
  const std::string last = tagma::read_file(path);
  CHECK(std::count(contents.begin(), contents.end(), last) == 1);
  CHECK(dir.files() == names{"a"});
}

TEST_CASE("a missing directory is named, and what is no file is not replaced") {
  const temporary_directory dir;
  const auto missing = thrown([&] { replace(dir / "none/a", {"x"}); });
  CHECK(missing.code() == status_code::not_found);
  CHECK(std::string(missing.what()) == "NotFound: " + (dir / "none/a") + ": cannot be created: directory " +
                                           (dir / "none/") + ": No such file or directory");
  std::ofstream(dir.path / "file") << "x";
  CHECK(std::string(thrown([&] { replace(dir / "file/a", {"x"}); }).what()) ==
        "NotFound: " + (dir / "file/a") + ": cannot be created: directory " + (dir / "file/") + ": Not a directory");
  CHECK(thrown([&] { replace("", {"x"}); }).code() == status_code::invalid_argument);

  fs::create_directories(dir.path / "full" / "inner");
  CHECK(std::string(thrown([&] { replace(dir / "full", {"x"}); }).what()) ==
        "InvalidArgument: " + (dir / "full") + ": is not a regular file");
  REQUIRE(::mkfifo((dir / "pipe").c_str(), 0600) == 0);
  CHECK(thrown([&] { replace(dir / "pipe", {"x"}); }).code() == status_code::invalid_argument);
  CHECK(thrown([&] { replace("/dev/null", {"x"}); }).code() == status_code::invalid_argument);
  CHECK(fs::is_character_file("/dev/null"));
  CHECK(dir.files() == names{"file", "full", "pipe"});
}

TEST_CASE("a disk that is full leaves the old file and nothing else") {
  const temporary_directory dir;
  const std::string path = dir / "a";
  replace(path, {"old"});
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 1000;
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string large(5000, 'x');
  const auto too_large = thrown([&] { replace(path, {large}); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  CHECK(too_large.code() == status_code::resource_exhausted);
  CHECK(std::string(too_large.what()).find(path + ": cannot be written: File too large") != std::string::npos);
  CHECK(tagma::read_file(path) == "old");
  CHECK(dir.files() == names{"a"});
}

TEST_CASE("a reader that holds the old file keeps it") {
  const temporary_directory dir;
  const std::string path = dir / "a";
  replace(path, {"old content"});
  tagma::input_file old(path);
  replace(path, {"new"});
  std::string content(11, ' ');
  old.read(content.data(), content.size());
  CHECK(content == "old content");
  CHECK(tagma::read_file(path) == "new");
}

TEST_CASE("a link stays a link to the file that is replaced") {
  const temporary_directory dir;
  fs::create_directories(dir.path / "far" / "away");
  replace(dir / "far/away/file", {"old"});
  fs::create_symlink("far/away/second", dir.path / "first");
  fs::create_symlink("file", dir.path / "far" / "away" / "second");
  fs::create_symlink(dir.path / "far" / "away" / "new", dir.path / "dangling");
  replace(dir / "first", {"new"});
  CHECK(fs::is_symlink(dir.path / "first"));
  CHECK(fs::is_symlink(dir.path / "far" / "away" / "second"));
  CHECK(tagma::read_file(dir / "far/away/file") == "new");
  replace(dir / "dangling", {"made"});
  CHECK(fs::is_symlink(dir.path / "dangling"));
  CHECK(tagma::read_file(dir / "far/away/new") == "made");
  CHECK(dir.files() == names{"far", "first", "dangling"});

  fs::create_symlink("round", dir.path / "round");
  const auto endless = thrown([&] { replace(dir / "round", {"x"}); });
  CHECK(std::string(endless.what()) ==
        "InvalidArgument: " + (dir / "round") + ": cannot be replaced: Too many levels of symbolic links");
  fs::create_symlink("gone/file", dir.path / "lost");
  CHECK(std::string(thrown([&] { replace(dir / "lost", {"x"}); }).what()) ==
        "NotFound: " + (dir / "lost") + ": cannot be created: directory " + (dir / "gone/") +
            ": No such file or directory");
}

TEST_CASE("a file keeps its mode, and a new one has the one that the process gives") {
  const temporary_directory dir;
  const std::string path = dir / "a";
  const mode_t before = ::umask(027);
  replace(path, {"new"});
  CHECK(mode_of(path) == 0640);
  for (const mode_t mode : {0600u, 0444u, 0666u, 0755u}) {
    REQUIRE(::chmod(path.c_str(), mode) == 0);
    replace(path, {"again"});
    CHECK(mode_of(path) == mode);
  }
  ::umask(before);
}

TEST_CASE("a file keeps its owner and group where the process may give them") {
  if (::geteuid() != 0) return;  // only then
  const temporary_directory dir;
  const std::string path = dir / "a";
  replace(path, {"old"});
  REQUIRE(::chmod(path.c_str(), 0664) == 0);
  REQUIRE(::chown(path.c_str(), 12345, 23456) == 0);
  replace(path, {"new"});
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK(status.st_uid == 12345);
  CHECK(status.st_gid == 23456);
  CHECK((status.st_mode & 07777) == 0664);

  // Who may not give it away keeps it, and lets nobody in whom the old group did not.
  REQUIRE(::chown(path.c_str(), 0, 23456) == 0);
  REQUIRE(::chmod(dir.path.c_str(), 0777) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setgid(34567) != 0 || ::setuid(34567) != 0) ::_exit(1);
    replace(path, {"third"});
    ::_exit(0);
  }
  int result = 0;
  REQUIRE(::waitpid(child, &result, 0) == child);
  CHECK(result == 0);
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK(status.st_uid == 34567);
  CHECK((status.st_mode & 07777) == 0644);
  CHECK(tagma::read_file(path) == "third");
}
