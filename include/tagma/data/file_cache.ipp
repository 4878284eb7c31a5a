// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of file_cache.hpp: in the compiled half, or else in each file that includes it.

#include <algorithm>
#include <cerrno>

#include "tagma/base/config.hpp"
#include "tagma/data/file_cache.hpp"

namespace tagma::datasets::detail {

TAGMA_DECL whole_file::whole_file(const std::string& path)
    : path_(path),
      target_(tagma::detail::follow_links(path)),
      name_(target_.substr(target_.rfind('/') + 1)),
      parent_(::open(tagma::detail::directory_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (parent_.get() < 0) fail_errno(errno, path_, "created: directory " + tagma::detail::directory_of(target_));
  if (name_.empty()) fail(status_code::invalid_argument, {"'", path_, "' is not the name of a file"});
  file_.emplace(parent_.get(), name_, 0666, path_);
}

TAGMA_DECL void whole_file::put_in_place() {
  if (!tagma::detail::flush(file_->get())) fail_errno(errno, path_, "flushed to the disk");
  if (!file_->rename(name_)) fail_errno(errno, path_, "replaced");
  if (!tagma::detail::flush(parent_.get()) && errno != EINVAL) fail_errno(errno, path_, "flushed to the disk");
}

TAGMA_DECL cache_writer::cache_writer(const std::string& path, std::string_view head)
    : file_(path), to_(whole_file_sink(file_)) {
  to_.write(head);
}

TAGMA_DECL std::string& cache_writer::begin_element() {
  record_ = 'e';
  return record_;
}

TAGMA_DECL void cache_writer::end_element() {
  to_.write(record_);
  ++count_;
}

TAGMA_DECL void cache_writer::finish() {
  record_ = 'z';
  detail::put_length(record_, count_);
  to_.write(record_);
  to_.close();
  file_.put_in_place();
}

TAGMA_DECL cache_reader::cache_reader(const std::string& path, std::string_view head)
    : path_(path), in_(io::buffered_reader(io::file_source(path))) {
  std::string_view found;
  if (!in_.next(found)) fail(status_code::data_loss, {path_, ": is empty, and no cache of a dataset"});
  if (found == head) return;
  const auto line = [](std::string_view& text) {
    const std::size_t n = std::min(text.find('\n'), text.size());
    const std::string_view first = text.substr(0, n);
    text.remove_prefix(std::min(n + 1, text.size()));
    return first;
  };
  const std::string_view version = line(found), its_version = line(head);
  if (version != its_version)
    fail(status_code::failed_precondition, {path_, ": begins with '", version.substr(0, 40), "', not with '",
                                            its_version, "'; remove it to make it anew"});
  const std::string_view type = line(found), its_type = line(head);
  if (type != its_type)
    fail(status_code::failed_precondition,
         {path_, ": has elements of type ", type, ", and this dataset has ", its_type});
  fail(status_code::failed_precondition, {path_, ": is the cache of another pipeline, '", found, "'; this one is '",
                                          head, "'; remove the file to make it anew"});
}

TAGMA_DECL bool cache_reader::next(std::string_view& bytes) {
  if (ended_) return false;
  ended_ = true;  // also if this throws
  std::string_view record;
  if (!in_.next(record))
    fail(status_code::data_loss, {path_, ": ends behind ", count_, " elements, without the record that says so"});
  if (record.starts_with('e')) {
    ended_ = false;
    ++count_;
    bytes = record.substr(1);
    return true;
  }
  bytes_reader last(record);
  if (record.size() != 9 || last.take(1) != "z" || last.length() != count_)
    fail(status_code::data_loss, {in_.key(), ": the record behind ", count_, " elements is none of a cache"});
  if (in_.next(record)) fail(status_code::data_loss, {in_.key(), ": a record stands behind the end of the cache"});
  return false;
}

TAGMA_COLD TAGMA_DECL void cache_reader::wrong_element() {
  ended_ = true;
  fail(status_code::data_loss, {in_.key(), ": record ", count_, " is no element of this dataset"});
}

}  // namespace tagma::datasets::detail
