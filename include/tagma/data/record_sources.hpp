// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Stages that begin a pipeline from the records of files.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/data/stage.hpp"
#include "tagma/io/buffered_reader.hpp"
#include "tagma/io/csv.hpp"
#include "tagma/io/record.hpp"

namespace tagma::datasets::detail {

/// The records of files, one file behind the other. A file that cannot be opened, or read to its end, is an error at
/// that place, and the next file follows.
/// @tparam Format has `open(path)`, which returns a reader of records, `decode(reader, record, to)`, and `text`: its
/// kind and all that its records depend on
template <class T, class Format>
class record_source final : public stage<T> {
  using reader = decltype(std::declval<const Format&>().open(std::string()));

  class pass final : public cursor<T> {
   public:
    pass(const record_source& of, iteration& in) : of_(of), in_(in), format_(of.format_) {}
    got advance(T& to) override {
      std::string_view record;
      while (file_ < of_.files_.size()) {
        try {
          if (!reader_.has_value()) reader_.emplace(format_.open(of_.files_[file_]));
          if (!reader_->next(record)) {
            next_file();
            continue;
          }
        } catch (...) {
          in_.error = std::current_exception();
          next_file();
          return got::error;
        }
        ++record_;
        try {
          format_.decode(*reader_, record, to);
          return got::element;
        } catch (...) {
          in_.error = std::current_exception();
          return got::error;
        }
      }
      return got::end;
    }
    TAGMA_COLD void save(number_list& to) const override {
      to.push(static_cast<std::int64_t>(file_));
      to.push(record_);
    }
    TAGMA_COLD void restore(position_reader& from) override {
      file_ = static_cast<std::size_t>(from.take(static_cast<std::int64_t>(of_.files_.size())));
      record_ = from.take(endless);
      std::string_view passed;
      if (record_ > 0 && file_ == of_.files_.size()) position_reader::wrong();
      if (record_ > 0) reader_.emplace(format_.open(of_.files_[file_]));
      for (extent i = 0; i < record_; ++i)
        if (!reader_->next(passed)) position_reader::wrong();
    }

   private:
    void next_file() {
      reader_.reset();
      ++file_;
      record_ = 0;
    }

    const record_source& of_;
    iteration& in_;
    Format format_;
    std::optional<reader> reader_;
    std::size_t file_ = 0;
    extent record_ = 0;
  };

 public:
  record_source(std::vector<std::string> files, Format format) : files_(std::move(files)), format_(std::move(format)) {}

  [[nodiscard]] owned<cursor<T>> start(std::uint64_t, iteration& in) const override {
    return owned<cursor<T>>(new pass(*this, in));
  }
  TAGMA_COLD void describe(std::string& to) const override {
    append_parts(to, {format_.text, " of ", files_.size(), " files"});
    for (const std::string& file : files_) append_parts(to, {" ", file.size(), ":", file});
  }

 private:
  std::vector<std::string> files_;
  Format format_;
};

/// Records as texts.
template <class Open>
struct text_format {
  Open make;
  std::string text;
  [[nodiscard]] auto open(const std::string& path) const { return make(path); }
  template <class Reader>
  void decode(const Reader&, std::string_view record, std::string& to) const {
    to.assign(record);
  }
};

/// Records as columns.
template <class Open, class... T>
struct csv_format {
  Open make;
  std::string text;
  io::csv_decoder decoder;
  [[nodiscard]] auto open(const std::string& path) const { return make(path); }
  template <class Reader, class Row>
  void decode(const Reader& reader, std::string_view record, Row& to) {
    std::tuple<std::conditional_t<std::is_same_v<T, std::string>, std::string_view, T>...> fields;
    const auto in_order = [&]<std::size_t... I>(std::index_sequence<I...>) {
      void* const targets[] = {static_cast<void*>(&std::get<I>(fields))...};
      try {
        decoder.decode(record, {targets, sizeof...(T)});
      } catch (const error&) {  // only what is wrong needs its name
        decoder.decode(record, {targets, sizeof...(T)}, {reader.key(), 0});
        throw;
      }
      if constexpr (sizeof...(T) == 1)
        to = std::get<0>(fields);
      else
        ((std::get<I>(to) = std::get<I>(fields)), ...);
    };
    in_order(std::index_sequence_for<T...>{});
  }
};

}  // namespace tagma::datasets::detail
