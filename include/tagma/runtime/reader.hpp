// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Readers of records that containers hold: they take names of files from queues and give records to whoever asks, one
/// after the other. Files are read by a thread of the reader, which sleeps while nobody asks.

#include <deque>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "tagma/base/atomic.hpp"
#include "tagma/base/config.hpp"
#include "tagma/io/compression.hpp"
#include "tagma/io/fixed_length.hpp"
#include "tagma/io/open_records.hpp"
#include "tagma/io/text_lines.hpp"
#include "tagma/io/tf_record.hpp"
#include "tagma/ir/reader.hpp"
#include "tagma/runtime/event.hpp"
#include "tagma/runtime/queue.hpp"
#include "tagma/runtime/serving.hpp"
#include "tagma/runtime/wait_word.hpp"

namespace tagma::runtime {

/// Opens a file as a reader with these options does. Throws what the parts throw, NotFound for a missing file.
[[nodiscard]] io::open_records open_records(const reader_options& o, std::string path);

/// Somebody who asks for records.
class read_request : public served_request {
 public:
  /// What it was given.
  std::vector<io::record> records;

 protected:
  ~read_request() = default;

 private:
  friend class reader;
  queue* files_ = nullptr;
  std::size_t most_ = 0;
};

class reader final : public serving {
 public:
  /// Throws InvalidArgument for options that no reader can have.
  reader(std::string name, const reader_options& options);
  TAGMA_DECL ~reader() override;

  [[nodiscard]] const reader_options& options() const { return options_; }
  /// "text line reader 'lines'".
  [[nodiscard]] TAGMA_DECL std::string text() const override;
  /// Throws InvalidArgument that names both sides if this is not the reader that somebody else asks for.
  void check(const reader_options& other) const;

  [[nodiscard]] std::int64_t records_produced();
  [[nodiscard]] std::int64_t files_completed();
  /// The file that is being read is left, behind the requests that wait; counts begin at 0.
  void reset();

  /// Asks for up to `most` records of one file, at least one; `request` lives until it is told.
  /// @param files a queue of texts
  /// Throws ResourceExhausted if the system has no thread.
  void read(read_request& request, queue& files, std::size_t most);

 private:
  /// Waits for the name of a file.
  class awaited_file final : public queue_attempt {
   public:
    event done;
    std::exception_ptr error;

   private:
    TAGMA_DECL void ended(std::exception_ptr e) noexcept override;
  };

  TAGMA_DECL void begin(const served_request& asked) override;
  TAGMA_DECL void serve() override;
  TAGMA_DECL void give(served_request& asked) override;
  TAGMA_DECL void keep(std::exception_ptr error) override;
  TAGMA_DECL void interrupt() override;
  /// What was read before an error is given first, and the error to the next request.
  void fill(queue& files);
  [[nodiscard]] std::string next_file(queue& files);
  const reader_options options_;
  std::int64_t produced_ = 0, completed_ = 0;
  bool leaves_ = false;
  queue* waits_for_ = nullptr;
  // Of the thread alone.
  counted<queue> files_;  // which stays while a file is waited for, though nobody wants it any more
  std::size_t most_ = 0;
  std::vector<io::record> taken_;
  bool took_name_ = false;  // of a file, or of what failed before
  awaited_file file_;
  io::open_records current_;
  std::deque<io::record> back_;  // read for somebody who was cancelled
  std::exception_ptr failed_;
};

}  // namespace tagma::runtime

#ifndef TAGMA_COMPILED
#include "tagma/runtime/reader.ipp"
#endif
