// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What processes of a cluster say to one another about checkpoints. Long lists are bulk.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/cluster/service/messages.hpp"
#include "tagma/cluster/service/run_gate.hpp"

namespace tagma::service {

namespace detail {
using text_list = std::vector<std::pair<std::string, std::string>>;
void write_texts(word_writer& to, const text_list& texts);
[[nodiscard]] text_list read_texts(word_reader& from);
}  // namespace detail

/// Runs in one list; others are listed when these are over.
inline constexpr std::size_t most_listed = 3000;

/// Keeps runs of a container out that have not begun. It is asked for again until no run is open.
struct hold_runs {
  std::string container;
  std::uint64_t token = 0;           ///< random, not 0; of who holds
  std::vector<run_number> admitted;  ///< that have begun somewhere

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static hold_runs read(std::string_view body);
};
/// The answer: runs that are open here.
struct open_runs {
  std::vector<run_number> runs;

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static open_runs read(std::string_view body);
};

/// Writes the variables of a container into a file of the directory of the server.
struct save_shard {
  std::string container;
  std::string name;         ///< of the checkpoint
  std::uint64_t token = 0;  ///< names the save, and who holds the runs
  bool held = false;        ///< refused if nobody holds the runs any more
  bool full = false;        ///< also what has not changed since the last one

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static save_shard read(std::string_view body);
};
/// The answer, and what `commit_save` has as its bulk: which file has which variable.
struct saved_shard {
  struct variable {
    std::string name;
    std::string file;
    std::uint64_t bytes = 0;
    bool written = false;  ///< by this save
  };
  std::vector<variable> variables;

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static saved_shard read(std::string_view body);
};

/// Writes the index, with which there is a checkpoint.
struct commit_save {
  std::string name;
  std::uint64_t token = 0;
  std::uint32_t keep = 0;                                  ///< of the checkpoints "name-1", "name-2", ...; 0: all
  std::vector<std::pair<std::string, std::string>> texts;  ///< of the index

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static commit_save read(std::string_view body);
};

/// The runs may go on; a save is over.
struct end_hold {
  std::string container;
  std::uint64_t token = 0;
  bool committed = false;

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static end_hold read(std::string_view body);
};

/// Gives variables the values that a checkpoint has; its bulk is a list of their names.
struct restore_shard {
  std::string container;
  std::string name;
  std::uint64_t token = 0;
  bool checks_only = false;  ///< changes nothing

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static restore_shard read(std::string_view body);
};
struct name_list {
  std::vector<std::string> names;

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static name_list read(std::string_view body);
};
/// The answer: texts of the index.
struct restored_shard {
  std::vector<std::pair<std::string, std::string>> texts;

  [[nodiscard]] std::string body() const;
  [[nodiscard]] static restored_shard read(std::string_view body);
};

}  // namespace tagma::service

#ifndef TAGMA_COMPILED
#include "tagma/cluster/service/checkpoint_messages.ipp"
#endif
