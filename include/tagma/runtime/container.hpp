// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Containers: variables and other resources by kind and name, for one session or several.

#include "tagma/base/config.hpp"
#include "tagma/base/hash.hpp"
#include "tagma/base/heap_array.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/runtime/closing.hpp"
#include "tagma/runtime/gate.hpp"
#include "tagma/runtime/resource.hpp"

namespace tagma {

/// What a run is kept apart from while others change the same variables.
enum class isolation : unsigned char {
  runs,      ///< a run sees one state of all variables; runs that update go one after the other
  variables  ///< a run sees one whole version of each variable; updates of one variable go one after the other
};

namespace runtime {

class bound_plan;
class variable_access;
class stored_variable;

/// Makes what the runs of a plan do about variables that others may change meanwhile.
using access_function = owned<variable_access> (*)(bound_plan& plan,
                                                   array_view<const counted<stored_variable>> variables);

class state_container;

/// A session in a container that others know as well; it ends when that is reset.
class container_user {
 public:
  container_user() = default;
  container_user(const container_user&) = delete;
  container_user& operator=(const container_user&) = delete;
  ~container_user();
  /// @param end of the session
  void join(const counted<state_container>& container, closing& end);

 private:
  friend class state_container;
  counted<state_container> container_;
  closing* end_ = nullptr;
  container_user* before_ = nullptr;
  container_user* next_ = nullptr;
};

/// What stands behind a container.
class state_container final : public counted_object {
 public:
  state_container() = default;
  /// @param of_plans whose runs are not kept apart as a whole; nullptr: all are
  TAGMA_COLD explicit state_container(access_function of_plans) : access_(of_plans) {}
  TAGMA_COLD ~state_container() override = default;

  [[nodiscard]] access_function access() const { return access_; }
  [[nodiscard]] gate& runs() { return gate_; }

  /// The resource of this kind and name, or what `make` gives, from then on. One thread at a time makes one.
  template <class Make>
  [[nodiscard]] TAGMA_COLD counted<resource> find_or_add(std::string_view kind, std::string_view name,
                                                         const Make& make) {
    const mutex_lock lock(mutex_);
    const std::uint64_t hash = hash_combine(hash_text(kind), hash_text(name));
    if (resource* const found = find(kind, name, hash)) return counted<resource>(found);
    counted<resource> made = make();
    add(made, hash);
    return made;
  }
  /// The resource of this kind and name, or nothing.
  [[nodiscard]] TAGMA_COLD counted<resource> find(std::string_view kind, std::string_view name) {
    const mutex_lock lock(mutex_);
    return counted<resource>(find(kind, name, hash_combine(hash_text(kind), hash_text(name))));
  }
  /// Ends the sessions that use it, which throw Aborted from then on, and lets all resources go.
  TAGMA_COLD void reset() {
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
  /// Calls `f` with each resource, in no order; nothing is added meanwhile.
  template <class F>
  void each(const F& f) {
    const mutex_lock lock(mutex_);
    for (const counted<resource>& bucket : buckets_)
      for (resource* r = bucket.get(); r != nullptr; r = r->next_.get()) f(*r);
  }

 private:
  [[nodiscard]] counted<resource>& bucket_of(std::uint64_t hash) const {
    return buckets_[static_cast<std::size_t>(hash ^ (hash >> 32)) & (buckets_.size() - 1)];
  }
  [[nodiscard]] TAGMA_COLD resource* find(std::string_view kind, std::string_view name, std::uint64_t hash) const {
    resource* r = bucket_of(hash).get();
    while (r != nullptr && !(r->hash_ == hash && r->kind_ == kind && r->name_ == name)) r = r->next_.get();
    return r;
  }
  TAGMA_COLD void add(const counted<resource>& made, std::uint64_t hash) {
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

  friend class container_user;
  access_function access_ = nullptr;
  container_user* users_ = nullptr;
  gate gate_;
  mutex mutex_;
  heap_array<counted<resource>> buckets_{16};
  std::size_t count_ = 0;
};

TAGMA_COLD inline void container_user::join(const counted<state_container>& container, closing& end) {
  container_ = container;
  end_ = &end;
  const mutex_lock lock(container_->mutex_);
  next_ = container_->users_;
  if (next_ != nullptr) next_->before_ = this;
  container_->users_ = this;
}
TAGMA_COLD inline container_user::~container_user() {
  if (!container_) return;
  const mutex_lock lock(container_->mutex_);
  (before_ == nullptr ? container_->users_ : before_->next_) = next_;
  if (next_ != nullptr) next_->before_ = before_;
}

}  // namespace runtime

/// Variables and other resources, by kind and name, that sessions share and that outlive them. Copies are the same
/// container. Sessions that are given none have one each.
class container {
 public:
  /// One whose runs are kept apart as a whole, as those of a single session are.
  TAGMA_COLD container() : state_(new runtime::state_container) {}
  /// @tparam Bound left as it is: programs that have no such container do not compile what it needs
  template <class Bound = runtime::bound_plan>
  explicit container(isolation kept_apart);

  /// Empties the container and ends the sessions that use it: their runs throw Aborted, those under way too. Who waits
  /// at a queue of the container is cancelled. New sessions over the container begin anew.
  TAGMA_COLD void reset() const { state_->reset(); }

  /// Bytes of its variables, and of the copies that were made since somebody read one while another updated it.
  [[nodiscard]] std::size_t bytes() const;

 private:
  friend class container_option;
  counted<runtime::state_container> state_;
};

/// A container, or none.
class container_option {
 public:
  container_option() = default;
  container_option(const container& given) : state_(given.state_) {}
  [[nodiscard]] const counted<runtime::state_container>& state() const { return state_; }

 private:
  counted<runtime::state_container> state_;
};

}  // namespace tagma
