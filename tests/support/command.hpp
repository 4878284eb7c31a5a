// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Runs a command as a process of its own and keeps what it says.

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

extern char** environ;

namespace tagma::test {

struct command_result {
  int status = -1;  ///< as the shell is told; 128 and the signal for one that a signal ended
  std::string out, err;
};

[[nodiscard]] inline std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Waits until the command has ended.
/// @param words   the path of the command, and its arguments
/// @param scratch begins the paths of two files that are written
/// @param to,err  descriptors of files that take its output and its errors instead; -1: none
[[nodiscard]] inline command_result run_command(const std::vector<std::string>& words, const std::string& scratch,
                                                int to = -1, int err = -1) {
  const std::string out_path = scratch + ".out", err_path = scratch + ".err";
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  const int flags = O_WRONLY | O_CREAT | O_TRUNC;
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  if (to < 0)
    ::posix_spawn_file_actions_addopen(&actions, 1, out_path.c_str(), flags, 0600);
  else
    ::posix_spawn_file_actions_adddup2(&actions, to, 1);
  if (err < 0)
    ::posix_spawn_file_actions_addopen(&actions, 2, err_path.c_str(), flags, 0600);
  else
    ::posix_spawn_file_actions_adddup2(&actions, err, 2);
  pid_t child = 0;
  const int problem = ::posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) throw std::runtime_error("cannot run " + words[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw std::runtime_error("cannot wait for " + words[0]);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), to < 0 ? content_of(out_path) : "",
          err < 0 ? content_of(err_path) : ""};
}

}  // namespace tagma::test
