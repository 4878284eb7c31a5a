// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Any reader of records, whose type is forgotten.

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "tagma/io/record.hpp"

namespace tagma::io {

/// A file that is being read.
class open_records {
 public:
  open_records() = default;
  template <record_reader R>
  explicit open_records(R reader) : model_(std::make_unique<model<R>>(std::move(reader))) {}

  [[nodiscard]] explicit operator bool() const { return model_ != nullptr; }
  /// As of a `record_reader`.
  [[nodiscard]] bool next(std::string_view& value) { return model_->next(value); }
  /// The key of the record that `next` gave.
  [[nodiscard]] std::string key() const { return model_->key(); }

 private:
  struct base {
    base() = default;
    base(const base&) = delete;
    base& operator=(const base&) = delete;
    virtual ~base() = default;
    [[nodiscard]] virtual bool next(std::string_view& value) = 0;
    [[nodiscard]] virtual std::string key() const = 0;
  };
  template <class R>
  struct model final : base {
    explicit model(R own) : reader(std::move(own)) {}
    [[nodiscard]] bool next(std::string_view& value) override { return reader.next(value); }
    [[nodiscard]] std::string key() const override { return reader.key(); }
    R reader;
  };
  std::unique_ptr<base> model_;
};

}  // namespace tagma::io
