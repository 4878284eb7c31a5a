// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Operations of a program's own, as the process knows them: by name, beside those of the library. Files that list them
/// may be initialised in any order, and by any thread.

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"
#include "tagma/device/operation_faces.hpp"
#include "tagma/runtime/mutex.hpp"
#include "tagma/runtime/resource.hpp"

namespace tagma::device {

struct registered_kernel;

namespace operations {

/// One of them.
struct own_operation {
  const ir::operation_face* face = nullptr;
  array_view<const registered_kernel> kernels{};          ///< of the CPU
  const runtime::resource_functions* resource = nullptr;  ///< of an operation that stands for a thing of a container

  [[nodiscard]] std::string_view name() const { return face->info().name; }
};

/// What errors say behind the name of an operation that nobody knows.
inline constexpr std::string_view how_to_list =
    "; an operation of one's own is listed in one file of the program, by tagma::listed_operation "
    "(<tagma/own_operations.hpp>)";

/// All of a process. Nothing leaves the list.
class own_operation_list {
 public:
  [[nodiscard]] static own_operation_list& of_process() {
    static own_operation_list list;
    return list;
  }

  /// Adds one. Listing the same once more is no harm.
  /// Throws AlreadyExists for a name that another operation has, and for a second listing with other kernels.
  TAGMA_COLD void add(const own_operation& added) {
    const mutex_lock lock(mutex_);
    const std::string problem = refuse(added);
    if (!problem.empty()) fail(status_code::already_exists, problem);
    if (find_name(added.name()) == nullptr) list_.push_back(added);
  }
  /// The same before `main` begins, where nobody could catch an error: `find` throws it, for this name.
  TAGMA_COLD void add_early(const own_operation& added) {
    const mutex_lock lock(mutex_);
    std::string problem = refuse(added);
    if (!problem.empty()) conflicts_.push_back({added.name(), static_cast<std::string&&>(problem)});
    if (find_name(added.name()) == nullptr) list_.push_back(added);
  }

  /// The operation of a name, or nullptr. Throws AlreadyExists if several were listed with it.
  [[nodiscard]] TAGMA_COLD const own_operation* find(std::string_view name) const {
    const mutex_lock lock(mutex_);
    for (const conflict& c : conflicts_)
      if (c.name == name) fail(status_code::already_exists, c.text);
    return find_name(name);
  }
  /// The same by `ir::key`.
  [[nodiscard]] TAGMA_COLD const own_operation* find_key(const char* key) const {
    const mutex_lock lock(mutex_);
    for (const own_operation& o : list_)
      if (o.face->info().key == key) return &o;
    return nullptr;
  }
  TAGMA_COLD void append_faces(std::vector<const ir::operation_face*>& to) const {
    const mutex_lock lock(mutex_);
    for (const own_operation& o : list_) to.push_back(o.face);
  }

 private:
  struct conflict {
    std::string_view name;
    std::string text;
  };

  [[nodiscard]] TAGMA_COLD const own_operation* find_name(std::string_view name) const {
    for (const own_operation& o : list_)
      if (o.name() == name) return &o;
    return nullptr;
  }
  /// Why one cannot be added, or nothing.
  [[nodiscard]] TAGMA_COLD std::string refuse(const own_operation& added) const {
    const own_operation* const known = find_name(added.name());
    if (known == nullptr) return {};
    const std::string who = sentence({"operation '", added.name(), "' "});
    if (known->face->version != added.face->version)
      return sentence(
          {who, "is listed with version ", known->face->version, " and with version ", added.face->version});
    if (known->face->rules != added.face->rules) return sentence({who, "is listed twice, by two tags of this name"});
    if (known->kernels.data() != added.kernels.data())
      return sentence({who, "is listed twice, with other element types"});
    return {};
  }

  mutable mutex mutex_;
  std::deque<own_operation> list_;  // what is found stays where it is
  std::vector<conflict> conflicts_;
};

/// The operation of a name, of the library or listed, or nullptr. Throws as `own_operation_list::find`.
[[nodiscard]] TAGMA_COLD inline const ir::operation_face* find_operation(std::string_view name) {
  if (const ir::operation_face* const known = find_operation_face(name)) return known;
  const own_operation* const own = own_operation_list::of_process().find(name);
  return own == nullptr ? nullptr : own->face;
}
/// All operations that a finished graph may have, of the library and listed.
[[nodiscard]] TAGMA_COLD inline std::vector<const ir::operation_face*> all_operations() {
  std::vector<const ir::operation_face*> all;
  for (const ir::operation_face* const f : operation_faces()) all.push_back(f);
  own_operation_list::of_process().append_faces(all);
  return all;
}

}  // namespace operations
}  // namespace tagma::device
