// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of reader.hpp: in the compiled half, or else in each file that includes it.

#include <iterator>

#include "tagma/base/config.hpp"
#include "tagma/runtime/reader.hpp"

namespace tagma::runtime {

TAGMA_COLD TAGMA_DECL io::open_records open_records(const reader_options& o, std::string path) {
  if (o.kind == reader_kind::identity) return io::open_records(io::identity_reader(std::move(path)));
  constexpr io::compression formats[] = {io::compression::none, io::compression::gzip, io::compression::zlib,
                                         io::compression::detect};
  io::buffered_reader in(io::open(std::move(path), formats[static_cast<std::size_t>(o.compression)]));
  switch (o.kind) {
    case reader_kind::fixed_length:
      return io::open_records(
          io::fixed_length_record_reader(std::move(in), {o.record_bytes, o.header_bytes, o.footer_bytes, o.hop_bytes}));
    case reader_kind::tf_record:
      return io::open_records(io::tf_record_reader(std::move(in)));
    case reader_kind::whole_file:
      return io::open_records(io::whole_file_reader(std::move(in)));
    default:
      return io::open_records(io::text_line_reader(std::move(in), {o.skip_header_lines}));
  }
}

TAGMA_COLD TAGMA_DECL reader::reader(std::string name, const reader_options& options)
    : serving("reader", std::move(name)), options_(options) {
  for (const extent n : {options.skip_header_lines, options.header_bytes, options.footer_bytes, options.hop_bytes})
    if (n < 0) fail(status_code::invalid_argument, {text(), ": no option may be negative, and one is ", n});
  if ((options.kind == reader_kind::fixed_length) != (options.record_bytes > 0))
    fail(status_code::invalid_argument,
         {text(), ": record_bytes is ", options.record_bytes,
          options.record_bytes > 0 ? ", which is for records of fixed length" : ", expected 1 or more"});
}

TAGMA_DECL reader::~reader() { stop(); }

TAGMA_DECL std::string reader::text() const { return sentence({to_string(options_.kind), " '", name(), "'"}); }

TAGMA_COLD TAGMA_DECL void reader::check(const reader_options& other) const {
  if (options_.kind != other.kind)
    fail(status_code::invalid_argument,
         {"the container has ", text(), ", asked for is a ", to_string(other.kind), " of this name"});
  const auto refuse = [&](std::string_view what, extent own, extent asked) {
    if (own != asked)
      fail(status_code::invalid_argument,
           {"the container has ", text(), " with ", what, " ", own, ", asked for is one with ", asked});
  };
  refuse("compression", static_cast<extent>(options_.compression), static_cast<extent>(other.compression));
  refuse("skip_header_lines", options_.skip_header_lines, other.skip_header_lines);
  refuse("record_bytes", options_.record_bytes, other.record_bytes);
  refuse("header_bytes", options_.header_bytes, other.header_bytes);
  refuse("footer_bytes", options_.footer_bytes, other.footer_bytes);
  refuse("hop_bytes", options_.hop_bytes, other.hop_bytes);
}

TAGMA_DECL std::int64_t reader::records_produced() {
  const mutex_lock locked(lock());
  return produced_;
}

TAGMA_DECL std::int64_t reader::files_completed() {
  const mutex_lock locked(lock());
  return completed_;
}

TAGMA_COLD TAGMA_DECL void reader::reset() {
  const mutex_lock locked(lock());
  produced_ = completed_ = 0;
  leaves_ = true;
}

TAGMA_COLD TAGMA_DECL void reader::read(read_request& request, queue& files, std::size_t most) {
  request.records.clear();
  request.files_ = &files;
  request.most_ = most;
  ask(request);
}

TAGMA_DECL void reader::awaited_file::ended(std::exception_ptr e) noexcept {
  error = std::move(e);
  done.set();
}

TAGMA_DECL void reader::begin(const served_request& asked) {
  const auto& request = static_cast<const read_request&>(asked);
  files_ = counted<queue>(request.files_);
  most_ = request.most_;
}

TAGMA_DECL void reader::serve() {
  const counted<queue> files = std::move(files_);
  bool leaves = false;
  {
    const mutex_lock locked(lock());
    leaves = std::exchange(leaves_, false);
  }
  if (leaves) current_ = {}, back_.clear(), failed_ = nullptr;
  taken_.clear();
  took_name_ = false;
  fill(*files);
}

TAGMA_DECL void reader::interrupt() {
  // Whoever is told of this only marks something as done: nobody asks for the lock.
  if (waits_for_ != nullptr) waits_for_->cancel(file_);
}

TAGMA_DECL void reader::give(served_request& asked) {
  produced_ += static_cast<std::int64_t>(taken_.size());
  static_cast<read_request&>(asked).records.swap(taken_);
}

TAGMA_DECL void reader::keep(std::exception_ptr error) {
  if (error != nullptr && took_name_) failed_ = std::move(error);
  if (error == nullptr)
    back_.insert(back_.begin(), std::make_move_iterator(taken_.begin()), std::make_move_iterator(taken_.end()));
  taken_.clear();
}

TAGMA_DECL void reader::fill(queue& files) {
  while (taken_.size() < most_) {
    if (!back_.empty()) {
      taken_.push_back(std::move(back_.front()));
      back_.pop_front();
      continue;
    }
    if (failed_ != nullptr) {
      if (!taken_.empty()) return;
      took_name_ = true;
      std::rethrow_exception(std::exchange(failed_, nullptr));
    }
    if (!current_) {
      if (!taken_.empty()) return;
      current_ = open_records(options_, next_file(files));
    }
    try {
      std::string_view value;
      if (current_.next(value)) {
        taken_.push_back({current_.key(), std::string(value)});
      } else {
        current_ = {};
        const mutex_lock locked(lock());
        ++completed_;
      }
    } catch (...) {
      current_ = {};
      failed_ = std::current_exception();
    }
  }
}

TAGMA_DECL std::string reader::next_file(queue& files) {
  took_name_ = false;
  file_.done.clear();
  files.dequeue(file_, 1);
  {
    const mutex_lock locked(lock());
    waits_for_ = &files;
    if (!is_wanted()) files.cancel(file_);
  }
  file_.done.wait();
  {
    const mutex_lock locked(lock());
    waits_for_ = nullptr;
  }
  files.settle();
  if (file_.error != nullptr) std::rethrow_exception(std::exchange(file_.error, nullptr));
  took_name_ = true;
  const raw_view name = file_.elements.front().component(0);
  if (file_.elements.front().components() != 1 || name.type != dtype::string || name.dims.elements() != 1)
    fail(status_code::invalid_argument,
         {text(), ": ", files.text(), " has tuples that are not one text, the name of a file"});
  std::string path(*static_cast<const string_element*>(name.data));
  files.reuse(std::move(file_.elements));
  return path;
}

}  // namespace tagma::runtime
