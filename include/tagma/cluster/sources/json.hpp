// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A cluster as JSON: an object of jobs, each a list of addresses or an object of addresses by index.
///
///     {"ps": ["10.0.0.1:2222"], "worker": {"0": "10.0.0.2:2222", "7": "10.0.0.9:2222"}}

#include <string>
#include <string_view>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/base/json.hpp"
#include "tagma/cluster/cluster.hpp"

namespace tagma {

/// Reads a cluster. Throws `invalid_argument`, which names `where` and the place in the text: `worker[1]` for an
/// element and the byte for text that is no JSON.
[[nodiscard]] cluster cluster_from_json(std::string_view text, std::string_view where = "cluster");

/// Reads a file of at most `cluster_limits::text` bytes. Throws as `cluster_from_json`, and what opening a file throws.
[[nodiscard]] cluster cluster_from_file(const std::string& path);

/// What an option or a variable has: JSON if it begins with '{', else the path of a file. Throws as `cluster_from_json`
/// and `cluster_from_file`; `where` is named before the file.
[[nodiscard]] cluster cluster_from_text_or_file(std::string_view text, std::string_view where);

}  // namespace tagma

namespace tagma::sources {

/// Reads the parts of a JSON text that describe a cluster, and knows where it is.
class json_reader {
 public:
  json_reader(std::string_view text, std::string_view where);

  [[nodiscard]] json::reader& reader() { return reader_; }

  /// An object of jobs.
  [[nodiscard]] cluster jobs();
  /// A string or a number of digits alone; what stands there must be a whole number that is an index of a task.
  [[nodiscard]] int index();
  [[nodiscard]] std::string string();
  /// Nothing behind the value.
  void end();
  /// Reads a part: `read()` at the path that is continued by `part`. Returns true, to go on.
  template <class Read>
  bool at(std::string_view part, const Read& read) {
    const std::size_t length = path_.size();
    path_ += part;
    read();
    path_.resize(length);
    return true;
  }
  /// Where reading stopped. Throws `invalid_argument`.
  [[noreturn]] void stop();
  [[noreturn]] void refuse(std::string_view reason) const;
  /// ".worker", or `["wor ker"]` for a name that is no word.
  [[nodiscard]] static std::string member(std::string_view name);

 private:
  void tasks(cluster_builder& builder, std::string_view job);
  void task(cluster_builder& builder, std::string_view job, std::int64_t index);
  [[nodiscard]] std::string place() const;

  std::string_view where_;
  std::string path_;
  json::reader reader_;
};

}  // namespace tagma::sources

#ifndef TAGMA_COMPILED
#include "tagma/cluster/sources/json.ipp"
#endif
