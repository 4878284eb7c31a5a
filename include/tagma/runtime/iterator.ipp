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

TAGMA_DECL void iterator::begin(const served_request& asked) {
  stop_.reset();
  asks_position_ = static_cast<const element_request&>(asked).asks_position;
  asked_source_ = false;
}

TAGMA_DECL void iterator::serve() {
  take_fresh();
  if (source_ == nullptr) {
    std::string declared;
    for (const tensor_spec& c : components_) append_parts(declared, {declared.empty() ? "" : ", ", to_string(c)});
    fail(status_code::failed_precondition,
         {text(), " has not been initialized: tagma::set_iterator gives it a dataset of ", declared});
  }
  if (asks_position_) {
    position_ = source_->position(is_made_ || failed_ != nullptr);
    return;
  }
  asked_source_ = failed_ != nullptr;
  if (asked_source_) std::rethrow_exception(std::exchange(failed_, nullptr));
  if (is_made_) return;
  if (made_by_ != pass_) made_ = source_->make_element();
  made_by_ = pass_;
  asked_source_ = true;
  if (!source_->next(*made_, stop_with(stop_))) fail(status_code::out_of_range, {text(), ": end of sequence"});
  is_made_ = true;
}

TAGMA_DECL void iterator::give(served_request& asked) {
  auto& request = static_cast<element_request&>(asked);
  if (asks_position_) {
    request.position.swap(position_);
    return;
  }
  std::swap(request.element, made_);
  std::swap(request.made_by_, made_by_);
  is_made_ = false;
}

TAGMA_DECL void iterator::keep(std::exception_ptr error) {
  if (error == nullptr || !asked_source_) return;  // the next request meets what was wrong before that by itself
  try {
    std::rethrow_exception(error);
  } catch (const tagma::error& e) {
    if (e.code() == status_code::cancelled) return;  // it was interrupted, and took no element
  } catch (...) {
  }
  failed_ = std::move(error);
}

TAGMA_DECL void iterator::take_fresh() {
  owned<element_source> gone;  // without the lock: its threads end
  const mutex_lock locked(lock());
  if (fresh_ == nullptr) return;
  gone = std::move(source_);
  source_ = std::move(fresh_);
  ++pass_;
  is_made_ = false;
  failed_ = nullptr;
}

}  // namespace tagma::runtime
