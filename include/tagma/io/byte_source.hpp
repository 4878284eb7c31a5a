// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Where bytes come from: files, memory, and whatever a program adds to these.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "tagma/base/file.hpp"
#include "tagma/base/owned.hpp"

namespace tagma::io {

/// Gives bytes from the first to the last. `read` fills the beginning of `to`, which is not empty, and returns how many
/// bytes it gave; 0 stands for the end. `name()` is what errors call it. A source that knows how many bytes can follow
/// at most says so by `at_most()`, and sizes that files declare are held against that before memory is asked for.
template <class S>
concept byte_source = requires(S& source, const S& same, std::span<std::byte> to) {
  { source.read(to) } -> std::convertible_to<std::size_t>;
  { same.name() } -> std::convertible_to<std::string_view>;
}
&&std::movable<S>;

/// What `at_most` says where nobody knows.
inline constexpr std::uint64_t unknown_length = UINT64_MAX;

/// The bytes of a regular file.
class file_source {
 public:
  /// Throws as `input_file` does.
  explicit file_source(std::string path) : file_(std::move(path)) {}

  /// Reads at most as many bytes as there is room for; 0 at the end.
  std::size_t read(std::span<std::byte> to);
  /// What messages call it.
  [[nodiscard]] std::string_view name() const { return file_.path(); }
  /// What was left of the file when it was opened.
  [[nodiscard]] std::uint64_t at_most() const { return file_.size() > taken_ ? file_.size() - taken_ : 0; }

 private:
  input_file file_;
  std::uint64_t taken_ = 0;
};

/// Bytes that lie in memory; they outlive the source.
class memory_source {
 public:
  explicit memory_source(std::string_view bytes, std::string name = "memory") : left_(bytes), name_(std::move(name)) {}

  /// Reads at most as many bytes as there is room for; 0 at the end.
  std::size_t read(std::span<std::byte> to);
  /// What messages call it.
  [[nodiscard]] std::string_view name() const { return name_; }
  /// How many bytes are left.
  [[nodiscard]] std::uint64_t at_most() const { return left_.size(); }

 private:
  std::string_view left_;
  std::string name_;
};

/// Any source, whose type is forgotten: it is asked for blocks, so that a call through a table costs nothing, and
/// readers are no templates.
class any_source {
 public:
  template <class S>
    requires(!std::is_same_v<S, any_source> && byte_source<S>)
  any_source(S source) : model_(make_owned<model<S>>(std::move(source))) {}

  /// Reads at most as many bytes as there is room for; 0 at the end.
  std::size_t read(std::span<std::byte> to) { return model_->read(to); }
  /// What messages call it.
  [[nodiscard]] std::string_view name() const { return model_->name(); }
  /// No more bytes than this can follow, or `unknown_length`.
  [[nodiscard]] std::uint64_t at_most() const { return model_->at_most(); }

 private:
  struct base {
    base() = default;
    base(const base&) = delete;
    base& operator=(const base&) = delete;
    virtual ~base() = default;
    virtual std::size_t read(std::span<std::byte> to) = 0;
    [[nodiscard]] virtual std::string_view name() const = 0;
    [[nodiscard]] virtual std::uint64_t at_most() const = 0;
  };
  template <class S>
  struct model final : base {
    explicit model(S own) : source(std::move(own)) {}
    std::size_t read(std::span<std::byte> to) override { return source.read(to); }
    [[nodiscard]] std::string_view name() const override { return source.name(); }
    [[nodiscard]] std::uint64_t at_most() const override {
      if constexpr (requires { source.at_most(); })
        return source.at_most();
      else
        return unknown_length;
    }
    S source;
  };
  owned<base> model_;
};

}  // namespace tagma::io

#ifndef TAGMA_COMPILED
#include "tagma/io/byte_source.ipp"
#endif
