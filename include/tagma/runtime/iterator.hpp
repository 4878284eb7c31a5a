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
  [[nodiscard]] virtual std::vector<std::int64_t> position() const = 0;
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
  std::uint64_t pass_ = 0;
};

class iterator final : public serving {
 public:
  TAGMA_COLD iterator(std::string name, array_view<const tensor_spec> components)
      : serving("iterator", std::move(name)), components_(components.begin(), components.end()) {}
  TAGMA_COLD ~iterator() override { stop(); }

  [[nodiscard]] const std::vector<tensor_spec>& components() const { return components_; }
  [[nodiscard]] TAGMA_COLD std::string text() const override { return sentence({"iterator '", name(), "'"}); }
  /// Throws InvalidArgument that names both sides if this is not the iterator that somebody else asks for.
  TAGMA_COLD void check(array_view<const tensor_spec> others) const {
    if (others.size() != components_.size())
      fail(status_code::invalid_argument, {"the container has ", text(), " with ", components_.size(),
                                           " components, asked for is one with ", others.size()});
    for (std::size_t i = 0; i < others.size(); ++i)
      if (!(others[i] == components_[i]))
        fail(status_code::invalid_argument,
             {"the container has ", text(), " with component ", i, " ", to_string(components_[i]),
              ", asked for is one with ", to_string(others[i])});
  }

  /// From the next request on, elements are those of this pass.
  TAGMA_COLD void set(owned<element_source> pass) {
    const mutex_lock locked(lock());
    fresh_ = std::move(pass);
  }
  /// Asks for the next element; `request` lives until it is told.
  void next(element_request& request) {
    request.asks_position = false;
    ask(request);
  }
  /// Asks where the iterator is, behind what was asked for before.
  TAGMA_COLD void find_position(element_request& request) {
    request.asks_position = true;
    ask(request);
  }

 private:
  void serve(served_request& asked) override {
    auto& request = static_cast<element_request&>(asked);
    take_fresh(request);
    if (source_ == nullptr) {
      std::string declared;
      for (const tensor_spec& c : components_) append_parts(declared, {declared.empty() ? "" : ", ", to_string(c)});
      fail(status_code::failed_precondition,
           {text(), " has not been initialized: tagma::set_iterator gives it a dataset of ", declared});
    }
    if (request.asks_position) {
      request.position = source_->position();
      return;
    }
    if (request.pass_ != pass_) request.element = source_->make_element();
    request.pass_ = pass_;
    if (!source_->next(*request.element, stop_with(stop_)))
      fail(status_code::out_of_range, {text(), ": end of sequence"});
  }
  void take_fresh(const element_request& request) {
    owned<element_source> gone;  // without the lock: its threads end
    const mutex_lock locked(lock());
    stop_.reset();
    if (is_cancelled(request)) stop_.cancel();
    if (fresh_ == nullptr) return;
    gone = std::move(source_);
    source_ = std::move(fresh_);
    ++pass_;
  }
  void interrupt(served_request&) override { stop_.cancel(); }

  const std::vector<tensor_spec> components_;
  owned<element_source> fresh_;
  // Of the thread alone.
  owned<element_source> source_;
  std::uint64_t pass_ = 0;  // requests have an element that was made by this pass, or by an earlier one
  cancellation stop_;
};

}  // namespace tagma::runtime
