// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The directory where a server has checkpoints: files of variables, each written by one task, and for each checkpoint
/// an index that says which file has which variable.
///
/// A checkpoint "model-7" is there when "model-7.safetensors.index.json" is. Files are never written again: an index
/// may name files of earlier checkpoints, for variables that have not changed since. What no index names, and nobody is
/// about to name, goes.

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/file.hpp"
#include "tagma/cluster/cluster.hpp"
#include "tagma/cluster/service/checkpoint_messages.hpp"
#include "tagma/io/safetensors_index.hpp"
#include "tagma/runtime/container.hpp"
#include "tagma/runtime/stored_variable.hpp"
#include "tagma/transport/sha256.hpp"

namespace tagma::service {

/// Whether a checkpoint may be called so: letters, digits, '.', '_' and '-', the first a letter or a digit, at most
/// 100.
[[nodiscard]] bool is_checkpoint_name(std::string_view name);
/// What is said of one that may not.
[[nodiscard]] std::string no_checkpoint_name(std::string_view name);

/// "model" and 7 of "model-7"; -1 where there is no number.
struct numbered_name {
  std::string_view series;
  std::int64_t number = -1;
};
[[nodiscard]] numbered_name split_checkpoint_name(std::string_view name);

/// Versions of the variables of a container, which stay as they are.
class picture {
 public:
  picture() = default;
  /// @param all throws FailedPrecondition for a variable without a value, which is left out otherwise
  picture(runtime::state_container& of, bool all);

 private:
  friend class checkpoint_folder;
  struct variable {
    counted<runtime::stored_variable> of;
    runtime::pinned_version version;
  };
  std::vector<variable> variables_;
};

/// For several threads.
class checkpoint_folder {
 public:
  /// @param directory empty: there is none, and all functions throw FailedPrecondition
  /// @param chain an index names no file of a checkpoint that is so many older
  checkpoint_folder(std::string directory, task_id who, int chain);

  /// There will be a save, which `end` gives up from now on.
  /// @returns the number of this attempt: whoever hears nothing asks again, and an earlier one may be under way
  [[nodiscard]] std::uint32_t begin(std::uint64_t token);
  /// Writes what has changed since the last checkpoint of this series that was committed, or all. Throws Aborted if it
  /// was not begun, or is given up, or there is a later attempt.
  [[nodiscard]] saved_shard save(const save_shard& how, const picture& what, std::uint32_t attempt);
  /// Writes the index. Throws FailedPrecondition if a file is not there.
  void commit(const commit_save& how, const saved_shard& all);
  /// What was written for this save goes, unless an index names it, also if it is written yet; if it was committed, the
  /// next save begins with it, and other saves of the series that have not ended have.
  void end(std::uint64_t token, bool committed);
  /// An attempt has failed, and with it the save, if there is no later one.
  void give_up(std::uint64_t token, std::uint32_t attempt);

  /// Gives variables the values that they have in a checkpoint; all is checked first.
  /// @param how its name may be "model-*": the newest of them
  /// @returns texts of the index, and its name as "name"
  /// Throws NotFound for a checkpoint, a file or a variable that is not there, InvalidArgument for another type or
  /// shape, DataLoss for what is damaged.
  restored_shard restore(const restore_shard& how, const std::vector<std::string>& names, runtime::state_container& to);
  /// Makes the variables of the newest checkpoint of a series, where a container has none of that name; on the device
  /// that a text of the index names for one, if there is such a device, else on the host.
  /// @param others devices besides CPUs, if there are any
  /// @param elsewhere how many are on the host, for want of such a device or of room there
  /// @returns the texts as above; nothing if there is no such checkpoint
  restored_shard restore_all(const std::string& series, runtime::state_container& to,
                             const counted<runtime::accelerator>& others, std::size_t& count, std::size_t& elsewhere);
  /// Such texts, for the variables of a container that no host has; at most as many as there are digests.
  static void add_devices(runtime::state_container& of, std::vector<std::pair<std::string, std::string>>& to);

  /// The newest checkpoint of a series; empty if there is none.
  [[nodiscard]] std::string newest(std::string_view series) const;
  /// The texts of the index of a checkpoint.
  [[nodiscard]] safetensors::metadata texts_of(const std::string& name) const { return find(name).texts; }
  /// All checkpoints, in order.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  struct saved_variable {
    transport::digest digest{};
    std::string file;
    int age = 0;  ///< checkpoints since it was written
  };
  using variables = std::map<std::string, saved_variable>;
  struct open_save {
    std::uint32_t attempt = 0;  ///< the last one
    std::string series;
    std::string file;  ///< empty: nothing was to be written, or is yet
    variables now;
    std::vector<tagma::detail::descriptor> lock;  ///< the file, so that nobody removes it
  };

  void check(std::string_view name) const;
  [[nodiscard]] std::string path(std::string_view file) const { return directory_ + "/" + std::string(file); }
  [[nodiscard]] std::string index_path(std::string_view name) const;
  [[nodiscard]] bool has(const std::string& file) const;
  [[nodiscard]] std::vector<std::string> files() const;
  [[nodiscard]] variables last_of(const std::string& series);
  /// Gives up a save, if this is its last attempt, or any will do. Returns its file, if it has one.
  [[nodiscard]] std::vector<std::string> forget(std::uint64_t token, const std::uint32_t* attempt);
  /// Writes a file, if there is anything to write.
  void write(const picture& what, const variables& before, open_save& made, saved_shard& told) const;
  /// Those that an index names. Throws for an index that cannot be read.
  [[nodiscard]] std::set<std::string> named_files() const;
  /// Removes those of these files that no index names and nobody holds.
  void remove_unnamed(const std::vector<std::string>& files) const;
  /// @param coming how many checkpoints there will be that are not there yet
  void remove_old(std::string_view series, std::uint32_t keep, std::size_t coming = 0) const;
  [[nodiscard]] safetensors::index find(const std::string& name) const;

  std::string directory_;
  task_id who_;
  int chain_;
  std::mutex mutex_;
  std::map<std::string, variables> last_;  ///< by container and series
  std::map<std::uint64_t, open_save> saves_;
  std::uint32_t attempts_ = 0;
};

}  // namespace tagma::service

#ifndef TAGMA_COMPILED
#include "tagma/cluster/service/checkpoint_folder.ipp"
#endif
