// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Where bytes go to: files, strings, and whatever a program adds to these.

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "tagma/base/file.hpp"
#include "tagma/base/owned.hpp"

namespace tagma::io {

/// Takes bytes one after the other. `write` takes all of them or throws; `name()` is what errors call it. A sink that
/// has something to do behind the last byte does it in `finish()`, which is called once.
template <class S>
concept byte_sink = requires(S& sink, const S& same, std::span<const std::byte> from) {
  sink.write(from);
  { same.name() } -> std::convertible_to<std::string_view>;
}
&&std::movable<S>;

/// A file, written from its beginning. What was there is gone.
class file_sink {
 public:
  /// Throws as `output_file` does.
  explicit file_sink(std::string path) : file_(std::move(path)) {}

  /// Writes all of these bytes. Throws what the file reports.
  void write(std::span<const std::byte> from) { file_.write(from.data(), from.size()); }
  /// What messages call it.
  [[nodiscard]] std::string_view name() const { return file_.path(); }

 private:
  output_file file_;
};

/// Appends to a string, which outlives the sink.
class string_sink {
 public:
  explicit string_sink(std::string& to) : to_(&to) {}

  /// Writes all of these bytes. Throws what the file reports.
  void write(std::span<const std::byte> from) { to_->append(reinterpret_cast<const char*>(from.data()), from.size()); }
  /// What messages call it.
  [[nodiscard]] std::string_view name() const { return "memory"; }

 private:
  std::string* to_;
};

/// Any sink, whose type is forgotten.
class any_sink {
 public:
  template <class S>
    requires(!std::is_same_v<S, any_sink> && byte_sink<S>)
  any_sink(S sink) : model_(make_owned<model<S>>(std::move(sink))) {}

  /// Writes all of these bytes. Throws what the file reports.
  void write(std::span<const std::byte> from) { model_->write(from); }
  /// What messages call it.
  [[nodiscard]] std::string_view name() const { return model_->name(); }
  /// Does what the sink does behind the last byte.
  void finish() { model_->finish(); }

 private:
  struct base {
    base() = default;
    base(const base&) = delete;
    base& operator=(const base&) = delete;
    virtual ~base() = default;
    virtual void write(std::span<const std::byte> from) = 0;
    [[nodiscard]] virtual std::string_view name() const = 0;
    virtual void finish() = 0;
  };
  template <class S>
  struct model final : base {
    explicit model(S own) : sink(std::move(own)) {}
    void write(std::span<const std::byte> from) override { sink.write(from); }
    [[nodiscard]] std::string_view name() const override { return sink.name(); }
    void finish() override {
      if constexpr (requires { sink.finish(); }) sink.finish();
    }
    S sink;
  };
  owned<base> model_;
};

}  // namespace tagma::io
