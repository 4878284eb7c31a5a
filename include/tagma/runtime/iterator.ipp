// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of iterator.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/runtime/iterator.hpp"

namespace tagma::runtime {

TAGMA_COLD TAGMA_DECL iterator::iterator(std::string name, array_view<const tensor_spec> components)
    : serving("iterator", std::move(name)), components_(components.begin(), components.end()) {}

TAGMA_DECL iterator::~iterator() { stop(); }

TAGMA_DECL std::string iterator::text() const { return sentence({"iterator '", name(), "'"}); }

TAGMA_COLD TAGMA_DECL void iterator::check(array_view<const tensor_spec> others) const {
  if (others.size() != components_.size())
    fail(status_code::invalid_argument, {"the container has ", text(), " with ", components_.size(),
                                         " components, asked for is one with ", others.size()});
  for (std::size_t i = 0; i < others.size(); ++i)
    if (!(others[i] == components_[i]))
      fail(status_code::invalid_argument,
           {"the container has ", text(), " with component ", i, " ", to_string(components_[i]),
            ", asked for is one with ", to_string(others[i])});
}

TAGMA_COLD TAGMA_DECL void iterator::set(owned<element_source> pass) {
  const mutex_lock locked(lock());
  fresh_ = std::move(pass);
}

TAGMA_DECL void iterator::next(element_request& request) {
  request.asks_position = false;
  ask(request);
}

TAGMA_COLD TAGMA_DECL void iterator::find_position(element_request& request) {
  request.asks_position = true;
  ask(request);
}

TAGMA_DECL void iterator::serve(served_request& asked) {
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

TAGMA_DECL void iterator::take_fresh(const element_request& request) {
  owned<element_source> gone;  // without the lock: its threads end
  const mutex_lock locked(lock());
  stop_.reset();
  if (is_cancelled(request)) stop_.cancel();
  if (fresh_ == nullptr) return;
  gone = std::move(source_);
  source_ = std::move(fresh_);
  ++pass_;
}

}  // namespace tagma::runtime
