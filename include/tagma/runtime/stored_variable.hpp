// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A variable as a container holds it: its current bytes, which are written where they are while nobody else reads
/// them, and older ones that somebody still reads.

#include "tagma/base/config.hpp"
#include "tagma/base/owned.hpp"
#include "tagma/runtime/accelerator.hpp"
#include "tagma/runtime/aligned_bytes.hpp"
#include "tagma/runtime/mutex.hpp"
#include "tagma/runtime/resource.hpp"
#include "tagma/tensor/view.hpp"

namespace tagma::runtime {

/// The bytes of a variable between two updates.
class variable_version {
 public:
  [[nodiscard]] std::byte* data() const { return data_; }

 private:
  friend class stored_variable;
  std::byte* data_ = nullptr;
  atomic<std::int32_t> readers_{0};  // beside whoever updates the variable
  aligned_bytes host_;
  owned<memory_block> block_;
  variable_version* next_ = nullptr;  // of the variable
};

class stored_variable final : public resource {
 public:
  /// A variable without a value. Throws `no_memory`, or what the accelerator throws that has no memory left.
  /// @param from gives its memory; nothing where the program knows of CPUs alone
  stored_variable(std::string name, const tensor_spec& spec, int device, counted<accelerator> from);
  /// A variable of the host that has these elements.
  stored_variable(std::string name, const tensor_spec& spec, owned<memory_block>&& elements);
  TAGMA_DECL ~stored_variable() override;

  [[nodiscard]] const tensor_spec& spec() const { return spec_; }
  /// Of the accelerator where it is, or `on_host`.
  [[nodiscard]] int device() const { return device_; }
  /// "GPU"; "CPU" where the host has it.
  [[nodiscard]] std::string_view device_type() const;
  /// True if it is on a device of that type, the `number`th of them.
  [[nodiscard]] bool is_on(std::string_view type, int number) const;
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(bytes_of(spec_)); }
  /// False until it was given a value.
  [[nodiscard]] bool initialized() const { return initialized_.load(memory_order::acquire); }
  void set_initialized() { initialized_.store(true, memory_order::release); }
  /// Where the current version is; it stays there while no update begins, which is the caller's to know.
  [[nodiscard]] std::byte* data() const { return current_.load(memory_order::acquire)->data_; }

  /// The current version, which stays as it is until `unpin`. Waits for an update that is being computed.
  [[nodiscard]] variable_version& pin();
  static void unpin(variable_version& v) noexcept { v.readers_.fetch_sub(1, memory_order::release); }

  /// Begins an update: nobody else begins one, or pins, until it ends. Returns where the new value goes, which is where
  /// the current one is unless somebody reads that. The thread that begins an update ends it.
  /// @param keep the new value begins as a copy of the current one
  [[nodiscard]] std::byte* begin_update(bool keep);
  /// The new value is written.
  void end_update();
  /// The same, and pins it.
  [[nodiscard]] variable_version& end_update_pinned();
  /// The new value was not written, or in part.
  void abandon_update() noexcept {
    note_write();
    mutex_.unlock();
  }

  /// True if somebody holds the current version.
  [[nodiscard]] bool is_read() const;
  /// Moves away from those who read the current version: updates may write over it. Only while nobody else pins it.
  void own_alone();

  /// The current version, where nobody updates it meanwhile; perhaps on a device that the host does not read.
  [[nodiscard]] raw_view view() const { return {data(), spec_.type, spec_.dims}; }

  /// Changes whenever a variable of the process is somewhere else than before.
  [[nodiscard]] static std::uint64_t moves() { return moves_.load(memory_order::acquire); }

  /// Writes are counted from now on. Called before a run whose results hold until the next write: a write that does not
  /// see the call is over before that run reads the variable.
  static void count_writes() { writes_counted_.store(true); }
  /// Changes whenever a variable of the process has another value than before, if writes are counted.
  [[nodiscard]] static std::uint64_t writes() { return writes_.load(memory_order::acquire); }
  /// Somebody has written one, before anybody reads it again.
  static void note_write();

  /// Bytes of all versions.
  [[nodiscard]] std::size_t held_bytes();

  /// "variable 'w' float32 [2, 3]".
  [[nodiscard]] std::string text() const;

  /// The elements of a version where the host reads them.
  /// @param copy keeps them if they are elsewhere
  [[nodiscard]] const std::byte* read(const variable_version& v, aligned_bytes& copy) const;
  /// The same of the current version, where nobody updates it meanwhile.
  [[nodiscard]] raw_view read(aligned_bytes& copy) const;
  /// Writes elements that the host has, where `begin_update` said.
  void write(std::byte* to, const void* elements) const;
  /// The same as an update of its own.
  void assign(const void* elements);
  /// The same, where the host has the variable: it owns their memory from then on, and gives up that of versions that
  /// nobody reads.
  void adopt(owned<memory_block>&& elements);
  /// An update of which `f(to)` writes all elements.
  template <class F>
  void overwrite(const F& f) {
    std::byte* const to = begin_update(false);
    try {
      f(to);
    } catch (...) {
      abandon_update();
      throw;
    }
    end_update();
  }
  /// Throws the error of who reads it before it has a value.
  [[noreturn]] void refuse_to_read() const;
  /// Memory of the host for as many elements. Throws `no_memory`.
  /// @param what it is, as errors tell it: the variable itself, or "a copy of " it
  [[nodiscard]] aligned_bytes host_room(std::string_view what) const;

 private:
  /// The update goes to a version that nobody reads. Holds the lock; opens it if that fails.
  void move(bool keep);
  void copy(variable_version& to, const variable_version& from) const;
  variable_version* add_version(std::string_view what);
  void drop_versions();
  /// But for those that are read, and the target of the update.
  void drop_unread();

  /// A version that has such elements; it is the current one if there is none.
  variable_version* take(owned<memory_block>&& elements);

  static void add_write();

  static inline constinit atomic<std::uint64_t> moves_{0};
  static inline constinit atomic<std::uint64_t> writes_{0};
  static inline constinit atomic<bool> writes_counted_{false};

  counted<accelerator> from_;
  tensor_spec spec_;
  int device_;
  atomic<bool> initialized_{false};
  mutex mutex_;
  atomic<variable_version*> current_{nullptr};
  variable_version* target_ = nullptr;  // of the update that goes on
  variable_version* first_ = nullptr;
};

/// Holds a version of a variable, or none.
class pinned_version {
 public:
  pinned_version() = default;
  explicit pinned_version(stored_variable& v) : version_(&v.pin()) {}
  pinned_version(pinned_version&& other) noexcept : version_(other.version_) { other.version_ = nullptr; }
  pinned_version& operator=(pinned_version&& other) noexcept;
  TAGMA_DECL ~pinned_version();
  [[nodiscard]] const variable_version& operator*() const { return *version_; }

 private:
  variable_version* version_ = nullptr;
};

}  // namespace tagma::runtime

#ifndef TAGMA_COMPILED
#include "tagma/runtime/stored_variable.ipp"
#endif
