// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Containers: variables and other resources by kind and name, for one session or several.

#include <string>
#include <string_view>

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

/// Throws InvalidArgument for what is no name of a container, by TensorFlow's grammar, with underscores.
void check_container_name(std::string_view name);
/// Throws InvalidArgument for a prefix that is no name, or ends with a slash.
void check_variable_prefix(std::string_view prefix);
/// A name of the program as the container knows it.
[[nodiscard]] std::string name_in_container(std::string_view prefix, std::string_view name,
                                            std::string_view suffix = {});

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
  explicit state_container(access_function of_plans);
  TAGMA_COLD ~state_container() override = default;

  [[nodiscard]] access_function access() const { return access_; }
  [[nodiscard]] gate& runs() { return gate_; }

  /// The resource of this kind and name, or what `make` gives, from then on, which may be nothing. One thread at a time
  /// makes one.
  template <class Make>
  [[nodiscard]] counted<resource> find_or_add(std::string_view kind, std::string_view name, const Make& make) {
    return find_or_make(
        kind, name, [](const void* of) { return (*static_cast<const Make*>(of))(); }, &make);
  }
  /// The resource of this kind and name, or nothing.
  [[nodiscard]] counted<resource> find(std::string_view kind, std::string_view name);
  /// Ends the sessions that use it, which throw Aborted from then on, and lets all resources go.
  void reset();
  /// Calls `f` with each resource, in no order; nothing is added meanwhile.
  template <class F>
  void each(const F& f) {
    const mutex_lock lock(mutex_);
    for (const counted<resource>& bucket : buckets_)
      for (resource* r = bucket.get(); r != nullptr; r = r->next_.get()) f(*r);
  }

 private:
  [[nodiscard]] counted<resource> find_or_make(std::string_view kind, std::string_view name,
                                               counted<resource> (*make)(const void*), const void* of);
  [[nodiscard]] counted<resource>& bucket_of(std::uint64_t hash) const;
  [[nodiscard]] resource* find(std::string_view kind, std::string_view name, std::uint64_t hash) const;
  void add(const counted<resource>& made, std::uint64_t hash);

  friend class container_user;
  access_function access_ = nullptr;
  container_user* users_ = nullptr;
  gate gate_;
  mutex mutex_;
  heap_array<counted<resource>> buckets_{16};
  std::size_t count_ = 0;
};

}  // namespace runtime

/// Variables and other resources, by kind and name, that sessions share and that outlive them. Copies are the same
/// container. Sessions that are given none have one each.
class container {
 public:
  /// One whose runs are kept apart as a whole, as those of a single session are.
  container();
  /// @tparam Bound left as it is: programs that have no such container do not compile what it needs
  template <class Bound = runtime::bound_plan>
  explicit container(isolation kept_apart);

  /// Empties the container and ends the sessions that use it: their runs throw Aborted, those under way too. Who waits
  /// at a queue of the container is cancelled. New sessions over the container begin anew.
  void reset() const;

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
  /// The variables and other resources.
  [[nodiscard]] const counted<runtime::state_container>& state() const { return state_; }

 private:
  counted<runtime::state_container> state_;
};

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/runtime/container.ipp"
#endif
