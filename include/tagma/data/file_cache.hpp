// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A stage that keeps what it gave in a file: `data.cache("train.cache")`.
///
/// The file has the records of a TFRecord file. The first says what this is, which version of it, the type of the
/// elements and the pipeline; then there is one for each element, a byte 'e' before its bytes; the last is a byte 'z'
/// and the number of elements. Numbers are as they lie in the memory of a machine whose lowest byte comes first.

#include <fcntl.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/base/replace_file.hpp"
#include "tagma/data/dataset.hpp"
#include "tagma/data/element_bytes.hpp"
#include "tagma/data/stage.hpp"
#include "tagma/io/buffered_reader.hpp"
#include "tagma/io/byte_source.hpp"
#include "tagma/io/tf_record.hpp"

namespace tagma::datasets::detail {

/// A file that takes the place of another one when it is whole, and is gone otherwise.
class whole_file {
 public:
  explicit whole_file(const std::string& path);

  void write(std::string_view bytes) { tagma::detail::write_all(file_->get(), bytes, path_); }
  void put_in_place();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_, target_, name_;
  tagma::detail::descriptor parent_;
  std::optional<tagma::detail::replacement> file_;
};

/// The bytes of a file that becomes whole.
class whole_file_sink {
 public:
  explicit whole_file_sink(whole_file& to) : to_(&to) {}
  void write(std::span<const std::byte> from) { to_->write({reinterpret_cast<const char*>(from.data()), from.size()}); }
  [[nodiscard]] std::string_view name() const { return to_->path(); }

 private:
  whole_file* to_;
};

/// Records of a cache, whatever the elements are.
/// @{
class cache_writer {
 public:
  cache_writer(const std::string& path, std::string_view head);
  /// The record of an element, into which its bytes are to be put.
  [[nodiscard]] std::string& begin_element();
  void end_element();
  void finish();

 private:
  whole_file file_;
  io::tf_record_writer to_;  // behind the file: it hands on what it holds when it ends
  std::string record_;
  std::uint64_t count_ = 0;
};

class cache_reader {
 public:
  /// Throws `failed_precondition` for the file of something else.
  cache_reader(const std::string& path, std::string_view head);
  /// The bytes of the next element; false behind the last one. Throws `data_loss`, and then there are no more.
  [[nodiscard]] bool next(std::string_view& bytes);
  /// The element is none.
  [[noreturn]] void wrong_element();

 private:
  std::string path_;
  io::tf_record_reader in_;
  std::uint64_t count_ = 0;
  bool ended_ = false;
};
/// @}

/// Reads the elements from a file, if there is one, and writes it else: by a pass that came to the end without an
/// error. All passes are the pass number 0.
template <class T>
class file_cached final : public stage_behind<T, T> {
  using bytes = element_bytes<T>;

  class pass final : public cursor<T> {
   public:
    pass(const file_cached& of, iteration& in) : of_(of), in_(in) {}
    got advance(T& to) override {
      if (ended_) return got::end;
      try {
        if (reader_ == nullptr && input_ == nullptr) open();
        for (; to_pass_ > 0; --to_pass_)
          if (const got g = one(to); g == got::end || g == got::interrupted) return g;
        return one(to);
      } catch (...) {
        in_.error = std::current_exception();
        return failed();
      }
    }
    void save(number_list& to) const override { to.push(given_ + to_pass_); }
    void restore(position_reader& from) override { to_pass_ = from.take(endless); }

   private:
    void open() {
      const std::string head = of_.head();
      try {
        reader_ = std::make_unique<cache_reader>(of_.path_, head);
      } catch (const error& e) {
        if (e.code() != status_code::not_found) throw;
        if (to_pass_ > 0 && of_.input_->in_any_order())
          fail(status_code::failed_precondition,
               {of_.path_, ": is gone, and a position in it means nothing for elements that come in any order"});
        input_ = datasets::start(*of_.input_, 0, in_);
        try {
          writer_ = std::make_unique<cache_writer>(of_.path_, head);
        } catch (...) {
          not_written_ = std::current_exception();
        }
      }
    }
    got one(T& to) { return reader_ != nullptr ? read(to) : pass_on(to); }
    got read(T& to) {
      std::string_view record;
      if (!reader_->next(record)) {
        ended_ = true;
        return got::end;
      }
      bytes_reader from(record);
      try {
        bytes::take(from, to);
        if (from.left() > 0) bytes_reader::wrong();
      } catch (const error&) {
        reader_->wrong_element();
      }
      ++given_;
      return got::element;
    }
    got pass_on(T& to) {
      const got g = input_->next(to);
      if (g == got::interrupted) return g;
      if (g == got::end) {
        ended_ = true;
        if (writer_ != nullptr) write([&] { writer_->finish(); });
        writer_ = nullptr;
        if (not_written_ == nullptr) return g;
        in_.give_error(not_written_);
        return failed();
      }
      ++given_;
      if (g == got::error)
        writer_ = nullptr;
      else if (writer_ != nullptr)
        write([&] {
          bytes::put(writer_->begin_element(), to);
          writer_->end_element();
        });
      return g;
    }
    /// The elements do not depend on whether they can be written.
    template <class F>
    void write(const F& f) {
      try {
        f();
      } catch (...) {
        not_written_ = std::current_exception();
        writer_ = nullptr;
      }
    }
    got failed() {
      ended_ = true;
      ++given_;
      return got::error;
    }

    const file_cached& of_;
    iteration& in_;
    std::unique_ptr<cache_reader> reader_;
    owned<cursor<T>> input_;
    std::unique_ptr<cache_writer> writer_;
    std::exception_ptr not_written_;
    extent given_ = 0, to_pass_ = 0;
    bool ended_ = false;
  };

 public:
  file_cached(stage_of<T> input, std::string path) : stage_behind<T, T>(std::move(input)), path_(std::move(path)) {}

  [[nodiscard]] owned<cursor<T>> start(std::uint64_t, iteration& in) const override {
    return owned<cursor<T>>(new pass(*this, in));
  }
  void describe(std::string& to) const override {
    this->input_->describe(to);
    to += ".cache";
  }

 private:
  [[nodiscard]] std::string head() const {
    std::string text = "tagma dataset cache 1\n";
    bytes::name(text);
    text += '\n';
    this->input_->describe(text);
    return text;
  }

  std::string path_;
};

}  // namespace tagma::datasets::detail

#ifndef TAGMA_COMPILED
#include "tagma/data/file_cache.ipp"
#endif
