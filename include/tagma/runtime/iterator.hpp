// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Iterators that containers hold. Elements are made by a thread of the iterator, when somebody asks for one.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/ir/queue.hpp"
#include "tagma/runtime/run_limits.hpp"
#include "tagma/runtime/serving.hpp"
#include "tagma/tensor/size.hpp"
#include "tagma/tensor/view.hpp"

namespace tagma::runtime {

/// An element of a dataset whose type is forgotten.
class held_element {
 public:
  held_element() = default;
  held_element(const held_element&) = delete;
  held_element& operator=(const held_element&) = delete;
  virtual ~held_element() = default;
  /// Its components, valid until it is assigned another element.
  virtual void show(raw_view* components) = 0;
};

/// A pass through a dataset whose type is forgotten. One thread uses it at a time.
class element_source {
 public:
  element_source() = default;
  element_source(const element_source&) = delete;
  element_source& operator=(const element_source&) = delete;
  virtual ~element_source() = default;
  [[nodiscard]] virtual owned<held_element> make_element() const = 0;
  /// False at the end. `to` is one that this has made.
  [[nodiscard]] virtual bool next(held_element& to, const run_limits& limits) = 0;
  /// @param before of the element that `next` gave last, or else behind it
  [[nodiscard]] virtual std::vector<std::int64_t> position(bool before) const = 0;
};

/// Somebody who asks for an element, or for the position of the iterator.
class element_request : public served_request {
 public:
  /// What was given; kept until the next one.
  owned<held_element> element;
  std::vector<std::int64_t> position;
  bool asks_position = false;

 protected:
  ~element_request() = default;

 private:
  friend class iterator;
  std::uint64_t made_by_ = 0;  // the pass of that element
};

class iterator final : public serving {
 public:
  iterator(std::string name, array_view<const tensor_spec> components);
  TAGMA_DECL ~iterator() override;

  [[nodiscard]] const std::vector<tensor_spec>& components() const { return components_; }
  [[nodiscard]] TAGMA_DECL std::string text() const override;
  /// Throws InvalidArgument that names both sides if this is not the iterator that somebody else asks for.
  void check(array_view<const tensor_spec> others) const;

  /// From the next request on, elements are those of this pass.
  void set(owned<element_source> pass);
  /// Asks for the next element; `request` lives until it is told.
  void next(element_request& request);
  /// Asks where the iterator is, behind what was asked for before.
  void find_position(element_request& request);

 private:
  TAGMA_DECL void begin(const served_request& asked) override;
  TAGMA_DECL void serve() override;
  TAGMA_DECL void give(served_request& asked) override;
  TAGMA_DECL void keep(std::exception_ptr error) override;
  void interrupt() override { stop_.cancel(); }
  void take_fresh();

  const std::vector<tensor_spec> components_;
  owned<element_source> fresh_;
  cancellation stop_;
  // Of the thread alone.
  owned<element_source> source_;
  std::uint64_t pass_ = 0;  // elements were made by this pass, or by an earlier one
  bool asks_position_ = false, asked_source_ = false;
  std::vector<std::int64_t> position_;
  owned<held_element> made_;
  std::uint64_t made_by_ = 0;
  bool is_made_ = false;       // it has an element that nobody has
  std::exception_ptr failed_;  // that element's error
};

}  // namespace tagma::runtime

#ifndef TAGMA_COMPILED
#include "tagma/runtime/iterator.ipp"
#endif
