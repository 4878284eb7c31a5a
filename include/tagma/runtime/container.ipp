// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of container.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/expr/name.hpp"
#include "tagma/runtime/container.hpp"

namespace tagma::runtime {

TAGMA_COLD TAGMA_DECL void check_container_name(std::string_view name) {
  if (!is_name(name))
    fail(status_code::invalid_argument, {"\"", name, "\" is no name of a container, such as \"trial_1\""});
}

TAGMA_COLD TAGMA_DECL void check_variable_prefix(std::string_view prefix) {
  if (!prefix.empty() && (!is_name(prefix) || prefix.back() == '/'))
    fail(status_code::invalid_argument,
         {"variable_prefix \"", prefix, "\" is no name, such as \"replica_3\" or \"trial_1/left\""});
}

TAGMA_COLD TAGMA_DECL std::string name_in_container(std::string_view prefix, std::string_view name,
                                                    std::string_view suffix) {
  return sentence({prefix, prefix.empty() ? "" : "/", name, suffix});
}

TAGMA_COLD TAGMA_DECL state_container::state_container(access_function of_plans) : access_(of_plans) {}

TAGMA_COLD TAGMA_DECL counted<resource> state_container::find_or_make(std::string_view kind, std::string_view name,
                                                                      counted<resource> (*make)(const void*),
                                                                      const void* of) {
  const mutex_lock lock(mutex_);
  const std::uint64_t hash = hash_combine(hash_text(kind), hash_text(name));
  if (resource* const found = find(kind, name, hash)) return counted<resource>(found);
  counted<resource> made = make(of);
  if (made) add(made, hash);
  return made;
}

TAGMA_COLD TAGMA_DECL counted<resource> state_container::find(std::string_view kind, std::string_view name) {
  const mutex_lock lock(mutex_);
  return counted<resource>(find(kind, name, hash_combine(hash_text(kind), hash_text(name))));
}

TAGMA_COLD TAGMA_DECL void state_container::reset() {
  heap_array<counted<resource>> gone(16);
  {
    const mutex_lock lock(mutex_);
    for (container_user* u = users_; u != nullptr; u = u->next_) u->end_->begin(true);
    heap_array<counted<resource>> all = static_cast<heap_array<counted<resource>>&&>(buckets_);
    buckets_ = static_cast<heap_array<counted<resource>>&&>(gone);
    gone = static_cast<heap_array<counted<resource>>&&>(all);
    count_ = 0;
  }
  for (counted<resource>& bucket : gone)
    for (counted<resource> r = bucket; r;) {
      const counted<resource> next = r->next_;
      r->next_ = {};
      r->left_container();
      r = next;
    }
}

TAGMA_DECL counted<resource>& state_container::bucket_of(std::uint64_t hash) const {
  return buckets_[static_cast<std::size_t>(hash ^ (hash >> 32)) & (buckets_.size() - 1)];
}

TAGMA_COLD TAGMA_DECL resource* state_container::find(std::string_view kind, std::string_view name,
                                                      std::uint64_t hash) const {
  resource* r = bucket_of(hash).get();
  while (r != nullptr && !(r->hash_ == hash && r->kind_ == kind && r->name_ == name)) r = r->next_.get();
  return r;
}

TAGMA_COLD TAGMA_DECL void state_container::add(const counted<resource>& made, std::uint64_t hash) {
  if (++count_ > buckets_.size()) {
    const heap_array<counted<resource>> old = static_cast<heap_array<counted<resource>>&&>(buckets_);
    buckets_ = heap_array<counted<resource>>(4 * old.size());
    for (const counted<resource>& bucket : old)
      for (counted<resource> r = bucket; r;) {
        const counted<resource> next = r->next_;
        r->next_ = bucket_of(r->hash_);
        bucket_of(r->hash_) = r;
        r = next;
      }
  }
  made->hash_ = hash;
  made->next_ = bucket_of(hash);
  bucket_of(hash) = made;
}

TAGMA_COLD TAGMA_DECL void container_user::join(const counted<state_container>& container, closing& end) {
  container_ = container;
  end_ = &end;
  const mutex_lock lock(container_->mutex_);
  next_ = container_->users_;
  if (next_ != nullptr) next_->before_ = this;
  container_->users_ = this;
}

TAGMA_COLD TAGMA_DECL container_user::~container_user() {
  if (!container_) return;
  const mutex_lock lock(container_->mutex_);
  (before_ == nullptr ? container_->users_ : before_->next_) = next_;
  if (next_ != nullptr) next_->before_ = before_;
}

}  // namespace tagma::runtime

namespace tagma {

TAGMA_COLD TAGMA_DECL container::container() : state_(new runtime::state_container) {}

TAGMA_COLD TAGMA_DECL void container::reset() const { state_->reset(); }

}  // namespace tagma
