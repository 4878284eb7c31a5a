// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of stored_variable.hpp: in the compiled half, or else in each file that includes it.

#include <cstring>
#include <new>

#include "tagma/base/config.hpp"
#include "tagma/runtime/stored_variable.hpp"

namespace tagma::runtime {

TAGMA_COLD TAGMA_DECL stored_variable::stored_variable(std::string name, const tensor_spec& spec, int device,
                                                       counted<accelerator> from)
    : resource("variable", std::move(name)), from_(std::move(from)), spec_(spec), device_(device) {
  current_.store(add_version(""), memory_order::relaxed);
}

TAGMA_COLD TAGMA_DECL stored_variable::stored_variable(std::string name, const tensor_spec& spec,
                                                       owned<memory_block>&& elements)
    : resource("variable", std::move(name)), spec_(spec), device_(on_host) {
  take(static_cast<owned<memory_block>&&>(elements));
  set_initialized();
}

TAGMA_DECL stored_variable::~stored_variable() { drop_versions(); }

TAGMA_COLD TAGMA_DECL void stored_variable::drop_versions() {
  while (first_ != nullptr) {
    variable_version* const gone = first_;
    first_ = gone->next_;
    delete gone;
  }
}

TAGMA_COLD TAGMA_DECL void stored_variable::drop_unread() {
  for (variable_version** at = &first_; *at != nullptr;) {
    variable_version* const v = *at;
    if (v == target_ || v->readers_.load(memory_order::acquire) != 0) {
      at = &v->next_;
      continue;
    }
    *at = v->next_;
    delete v;
  }
}

TAGMA_COLD TAGMA_DECL std::string_view stored_variable::device_type() const {
  return device_ < 0 ? std::string_view("CPU") : from_->type();
}

TAGMA_COLD TAGMA_DECL bool stored_variable::is_on(std::string_view type, int number) const {
  return device_ >= 0 && device_ == number && from_->type() == type;
}

TAGMA_DECL variable_version& stored_variable::pin() {
  const mutex_lock lock(mutex_);
  variable_version& v = *current_.load(memory_order::relaxed);
  v.readers_.fetch_add(1, memory_order::relaxed);
  return v;
}

TAGMA_DECL std::byte* stored_variable::begin_update(bool keep) {
  mutex_.lock();
  target_ = current_.load(memory_order::relaxed);
  if (target_->readers_.load(memory_order::acquire) != 0) move(keep);
  return target_->data_;
}

TAGMA_DECL void stored_variable::end_update() {
  if (target_ != current_.load(memory_order::relaxed)) {
    current_.store(target_, memory_order::release);
    moves_.fetch_add(1, memory_order::acq_rel);
  }
  set_initialized();
  note_write();
  mutex_.unlock();
}

TAGMA_DECL variable_version& stored_variable::end_update_pinned() {
  target_->readers_.fetch_add(1, memory_order::relaxed);
  variable_version& made = *target_;
  end_update();
  return made;
}

TAGMA_DECL bool stored_variable::is_read() const {
  return current_.load(memory_order::relaxed)->readers_.load(memory_order::acquire) != 0;
}

TAGMA_COLD TAGMA_DECL void stored_variable::own_alone() {
  const bool had_value = initialized();
  static_cast<void>(begin_update(true));
  end_update();
  initialized_.store(had_value, memory_order::release);
}

TAGMA_DECL void stored_variable::note_write() {
  if (writes_counted_.load(memory_order::acquire)) add_write();
}

TAGMA_COLD TAGMA_DECL std::size_t stored_variable::held_bytes() {
  const mutex_lock lock(mutex_);
  std::size_t count = 0;
  for (const variable_version* v = first_; v != nullptr; v = v->next_) ++count;
  return count * bytes();
}

TAGMA_COLD TAGMA_DECL std::string stored_variable::text() const {
  return sentence({"variable '", name(), "' ", to_string(spec_)});
}

TAGMA_COLD TAGMA_DECL const std::byte* stored_variable::read(const variable_version& v, aligned_bytes& copy) const {
  if (device_ < 0) return v.data_;
  copy = host_room("a copy of ");
  from_->copy({copy.data(), on_host}, {v.data_, device_}, bytes());
  return copy.data();
}

TAGMA_COLD TAGMA_DECL raw_view stored_variable::read(aligned_bytes& copy) const {
  return {read(*current_.load(memory_order::acquire), copy), spec_.type, spec_.dims};
}

TAGMA_COLD TAGMA_DECL void stored_variable::write(std::byte* to, const void* elements) const {
  if (bytes() == 0) return;
  if (device_ < 0)
    std::memcpy(to, elements, bytes());
  else
    from_->copy({to, device_}, {const_cast<std::byte*>(static_cast<const std::byte*>(elements)), on_host}, bytes());
}

TAGMA_COLD TAGMA_DECL void stored_variable::assign(const void* elements) {
  overwrite([&](std::byte* to) { write(to, elements); });
}

TAGMA_COLD TAGMA_DECL void stored_variable::adopt(owned<memory_block>&& elements) {
  mutex_.lock();
  try {
    target_ = take(static_cast<owned<memory_block>&&>(elements));
  } catch (...) {
    abandon_update();
    throw;
  }
  current_.store(target_, memory_order::release);
  moves_.fetch_add(1, memory_order::acq_rel);
  drop_unread();
  end_update();
}

TAGMA_COLD TAGMA_DECL void stored_variable::refuse_to_read() const {
  fail(status_code::failed_precondition, {"attempting to use uninitialized variable '", name(), "'"});
}

TAGMA_COLD TAGMA_DECL aligned_bytes stored_variable::host_room(std::string_view what) const {
  aligned_bytes room(bytes(), std::nothrow);
  if (room.failed()) throw no_memory(static_cast<std::int64_t>(bytes()), sentence({what, text()}));
  return room;
}

TAGMA_COLD TAGMA_DECL void stored_variable::move(bool keep) {
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

TAGMA_COLD TAGMA_DECL void stored_variable::copy(variable_version& to, const variable_version& from) const {
  if (bytes() == 0) return;
  if (device_ < 0) {
    std::memcpy(to.data_, from.data_, bytes());
  } else {
    aligned_bytes between;
    write(to.data_, read(from, between));
  }
}

TAGMA_COLD TAGMA_DECL variable_version* stored_variable::add_version(std::string_view what) {
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

TAGMA_COLD TAGMA_DECL variable_version* stored_variable::take(owned<memory_block>&& elements) {
  owned<variable_version> made = make_owned<variable_version>();
  made->block_ = static_cast<owned<memory_block>&&>(elements);
  made->data_ = made->block_->data;
  made->next_ = first_;
  first_ = made.release();
  if (current_.load(memory_order::relaxed) == nullptr) current_.store(first_, memory_order::relaxed);
  return first_;
}

TAGMA_COLD TAGMA_DECL void stored_variable::add_write() { writes_.fetch_add(1, memory_order::acq_rel); }

TAGMA_DECL pinned_version& pinned_version::operator=(pinned_version&& other) noexcept {
  variable_version* const mine = version_;
  version_ = other.version_;
  other.version_ = mine;
  return *this;
}

TAGMA_DECL pinned_version::~pinned_version() {
  if (version_ != nullptr) stored_variable::unpin(*version_);
}

}  // namespace tagma::runtime
