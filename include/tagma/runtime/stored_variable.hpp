// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A variable as a container holds it: its current bytes, which are written where they are while nobody else reads
/// them, and older ones that somebody still reads.

#include <cstring>
#include <new>

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
  TAGMA_COLD stored_variable(std::string name, const tensor_spec& spec, int device, counted<accelerator> from)
      : resource("variable", std::move(name)), from_(std::move(from)), spec_(spec), device_(device) {
    current_.store(add_version(""), memory_order::relaxed);
  }
  /// A variable of the host that has these elements.
  TAGMA_COLD stored_variable(std::string name, const tensor_spec& spec, owned<memory_block>&& elements)
      : resource("variable", std::move(name)), spec_(spec), device_(on_host) {
    take(static_cast<owned<memory_block>&&>(elements));
    set_initialized();
  }
  TAGMA_COLD ~stored_variable() override {
    while (first_ != nullptr) {
      variable_version* const gone = first_;
      first_ = gone->next_;
      delete gone;
    }
  }

  [[nodiscard]] const tensor_spec& spec() const { return spec_; }
  /// Of the accelerator where it is, or `on_host`.
  [[nodiscard]] int device() const { return device_; }
  /// True if it is on a device of that type, the `number`th of them.
  [[nodiscard]] TAGMA_COLD bool is_on(std::string_view type, int number) const {
    return device_ >= 0 && device_ == number && from_->type() == type;
  }
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(bytes_of(spec_)); }
  /// False until it was given a value.
  [[nodiscard]] bool initialized() const { return initialized_.load(memory_order::acquire); }
  void set_initialized() { initialized_.store(true, memory_order::release); }
  /// Where the current version is; it stays there while no update begins, which is the caller's to know.
  [[nodiscard]] std::byte* data() const { return current_.load(memory_order::acquire)->data_; }

  /// The current version, which stays as it is until `unpin`. Waits for an update that is being computed.
  [[nodiscard]] variable_version& pin() {
    const mutex_lock lock(mutex_);
    variable_version& v = *current_.load(memory_order::relaxed);
    v.readers_.fetch_add(1, memory_order::relaxed);
    return v;
  }
  static void unpin(variable_version& v) noexcept { v.readers_.fetch_sub(1, memory_order::release); }

  /// Begins an update: nobody else begins one, or pins, until it ends. Returns where the new value goes, which is where
  /// the current one is unless somebody reads that. The thread that begins an update ends it.
  /// @param keep the new value begins as a copy of the current one
  [[nodiscard]] std::byte* begin_update(bool keep) {
    mutex_.lock();
    target_ = current_.load(memory_order::relaxed);
    if (target_->readers_.load(memory_order::acquire) != 0) move(keep);
    return target_->data_;
  }
  /// The new value is written.
  void end_update() {
    if (target_ != current_.load(memory_order::relaxed)) {
      current_.store(target_, memory_order::release);
      moves_.fetch_add(1, memory_order::acq_rel);
    }
    set_initialized();
    note_write();
    mutex_.unlock();
  }
  /// The same, and pins it.
  [[nodiscard]] variable_version& end_update_pinned() {
    target_->readers_.fetch_add(1, memory_order::relaxed);
    variable_version& made = *target_;
    end_update();
    return made;
  }
  /// The new value was not written, or in part.
  void abandon_update() noexcept { mutex_.unlock(); }

  /// True if somebody holds the current version.
  [[nodiscard]] bool is_read() const {
    return current_.load(memory_order::relaxed)->readers_.load(memory_order::acquire) != 0;
  }
  /// Moves away from those who read the current version: updates may write over it. Only while nobody else pins it.
  TAGMA_COLD void own_alone() {
    const bool had_value = initialized();
    static_cast<void>(begin_update(true));
    end_update();
    initialized_.store(had_value, memory_order::release);
  }

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
  static void note_write() {
    if (writes_counted_.load(memory_order::acquire)) add_write();
  }

  /// Bytes of all versions.
  [[nodiscard]] TAGMA_COLD std::size_t held_bytes() {
    const mutex_lock lock(mutex_);
    std::size_t count = 0;
    for (const variable_version* v = first_; v != nullptr; v = v->next_) ++count;
    return count * bytes();
  }

  /// "variable 'w' float32 [2, 3]".
  [[nodiscard]] TAGMA_COLD std::string text() const { return sentence({"variable '", name(), "' ", to_string(spec_)}); }

  /// The elements of a version where the host reads them.
  /// @param copy keeps them if they are elsewhere
  [[nodiscard]] TAGMA_COLD const std::byte* read(const variable_version& v, aligned_bytes& copy) const {
    if (device_ < 0) return v.data_;
    copy = host_room("a copy of ");
    from_->copy({copy.data(), on_host}, {v.data_, device_}, bytes());
    return copy.data();
  }
  /// The same of the current version, where nobody updates it meanwhile.
  [[nodiscard]] TAGMA_COLD raw_view read(aligned_bytes& copy) const {
    return {read(*current_.load(memory_order::acquire), copy), spec_.type, spec_.dims};
  }
  /// Writes elements that the host has, where `begin_update` said.
  TAGMA_COLD void write(std::byte* to, const void* elements) const {
    if (bytes() == 0) return;
    if (device_ < 0)
      std::memcpy(to, elements, bytes());
    else
      from_->copy({to, device_}, {const_cast<std::byte*>(static_cast<const std::byte*>(elements)), on_host}, bytes());
  }
  /// The same as an update of its own.
  TAGMA_COLD void assign(const void* elements) {
    overwrite([&](std::byte* to) { write(to, elements); });
  }
  /// The same, where the host has the variable: it owns their memory from then on.
  TAGMA_COLD void adopt(owned<memory_block>&& elements) {
    static_cast<void>(begin_update(false));
    try {
      target_ = take(static_cast<owned<memory_block>&&>(elements));
    } catch (...) {
      abandon_update();
      throw;
    }
    end_update();
  }
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
  [[noreturn]] TAGMA_COLD void refuse_to_read() const {
    fail(status_code::failed_precondition, {"attempting to use uninitialized variable '", name(), "'"});
  }
  /// Memory of the host for as many elements. Throws `no_memory`.
  /// @param what it is, as errors tell it: the variable itself, or "a copy of " it
  [[nodiscard]] TAGMA_COLD aligned_bytes host_room(std::string_view what) const {
    aligned_bytes room(bytes(), std::nothrow);
    if (room.failed()) throw no_memory(static_cast<std::int64_t>(bytes()), sentence({what, text()}));
    return room;
  }

 private:
  /// The update goes to a version that nobody reads. Holds the lock; opens it if that fails.
  TAGMA_COLD void move(bool keep) {
    variable_version* const from = target_;
    try {
      target_ = first_;
      while (target_ != nullptr && (target_ == from || target_->readers_.load(memory_order::acquire) != 0))
        target_ = target_->next_;
      if (target_ == nullptr) target_ = add_version("another version of ");
      if (keep) copy(*target_, *from);
    } catch (...) {
      mutex_.unlock();
      throw;
    }
  }
  TAGMA_COLD void copy(variable_version& to, const variable_version& from) const {
    if (bytes() == 0) return;
    if (device_ < 0) {
      std::memcpy(to.data_, from.data_, bytes());
    } else {
      aligned_bytes between;
      write(to.data_, read(from, between));
    }
  }
  TAGMA_COLD variable_version* add_version(std::string_view what) {
    owned<variable_version> made = make_owned<variable_version>();
    if (from_) {
      made->block_ = from_->allocate(device_, static_cast<std::int64_t>(bytes()), {what, "variable '", name(), "'"});
      made->data_ = made->block_->data;
    } else {
      made->host_ = host_room(what);
      made->data_ = made->host_.data();
    }
    made->next_ = first_;
    return first_ = made.release();
  }

  /// A version that has such elements; it is the current one if there is none.
  TAGMA_COLD variable_version* take(owned<memory_block>&& elements) {
    owned<variable_version> made = make_owned<variable_version>();
    made->block_ = static_cast<owned<memory_block>&&>(elements);
    made->data_ = made->block_->data;
    made->next_ = first_;
    first_ = made.release();
    if (current_.load(memory_order::relaxed) == nullptr) current_.store(first_, memory_order::relaxed);
    return first_;
  }

  TAGMA_COLD static void add_write() { writes_.fetch_add(1, memory_order::acq_rel); }

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
  pinned_version& operator=(pinned_version&& other) noexcept {
    variable_version* const mine = version_;
    version_ = other.version_;
    other.version_ = mine;
    return *this;
  }
  ~pinned_version() {
    if (version_ != nullptr) stored_variable::unpin(*version_);
  }
  [[nodiscard]] const variable_version& operator*() const { return *version_; }

 private:
  variable_version* version_ = nullptr;
};

}  // namespace tagma::runtime
