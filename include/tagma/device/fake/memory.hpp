// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The memory of a fake device, which knows what belongs where, who used it last, and whether the next use is ordered
/// behind that.

#include <cstring>
#include <map>
#include <new>
#include <string>
#include <vector>

#include "tagma/base/array_view.hpp"
#include "tagma/base/error.hpp"
#include "tagma/runtime/stream_driver.hpp"

namespace tagma::device::fake {

/// Bytes that an operation reads or writes.
struct access {
  const std::byte* data = nullptr;
  std::size_t bytes = 0;
  bool writes = false;
};

/// How far each stream has come: entry i counts the operations of lane i. What stands in no entry is 0.
class vector_clock {
 public:
  [[nodiscard]] std::int64_t operator[](std::size_t lane) const { return lane < at_.size() ? at_[lane] : 0; }
  void set(std::size_t lane, std::int64_t position) {
    if (lane >= at_.size()) at_.resize(lane + 1);
    at_[lane] = position;
  }
  void join(const vector_clock& other) {
    for (std::size_t i = 0; i < other.at_.size(); ++i)
      if (other.at_[i] > (*this)[i]) set(i, other.at_[i]);
  }

 private:
  std::vector<std::int64_t> at_;
};

/// An operation as the history of memory knows it.
struct user {
  std::string_view name;
  std::size_t lane = 0;
  std::int64_t position = 0;
  const vector_clock* clock = nullptr;  ///< what is done when it begins
};

/// All memory of the devices of one driver, and its pinned memory. Not for several threads at once.
class memory_table {
 public:
  static constexpr unsigned char poison = 0xff;  ///< of fresh memory: numbers that are none

  memory_table() = default;
  memory_table(const memory_table&) = delete;
  memory_table& operator=(const memory_table&) = delete;
  ~memory_table() {
    for (auto& [data, b] : blocks_)
      if (!b.borrowed) ::operator delete (data, std::align_val_t{alignment});
  }

  [[nodiscard]] std::byte* allocate(int device, std::size_t bytes) {
    auto* const data = static_cast<std::byte*>(::operator new (bytes == 0 ? 1 : bytes, std::align_val_t{alignment}));
    std::memset(data, poison, bytes);
    blocks_[data] = {bytes, device, false, {}};
    return data;
  }
  /// Memory of the host that somebody else has, until it is given back.
  void borrow(std::byte* data, std::size_t bytes) { blocks_[data] = {bytes, runtime::on_host, true, {}}; }
  void give_back(std::byte* data) noexcept {
    if (const auto b = blocks_.find(data); b != blocks_.end() && b->second.borrowed) blocks_.erase(b);
  }
  /// False if there is no such block.
  bool deallocate(int device, std::byte* data) {
    const auto b = blocks_.find(data);
    if (b == blocks_.end() || b->second.device != device || b->second.borrowed) return false;
    std::memset(data, poison, b->second.bytes);
    ::operator delete (data, std::align_val_t{alignment});
    blocks_.erase(b);
    return true;
  }

  /// Bytes in use on a device, or of pinned memory.
  [[nodiscard]] std::int64_t used(int device) const {
    std::int64_t sum = 0;
    for (const auto& [data, b] : blocks_)
      if (b.device == device && !b.borrowed) sum += static_cast<std::int64_t>(b.bytes);
    return sum;
  }
  [[nodiscard]] std::size_t blocks() const { return blocks_.size(); }

  [[nodiscard]] bool allocated(const access& a) const { return find(a) != nullptr; }
  /// What is wrong with a use of this memory as that of `device`, or nothing.
  [[nodiscard]] std::string complaint(int device, const access& a) const {
    const block* const b = find(a);
    if (b == nullptr) return "memory that is not, or no longer, allocated";
    if (b->device != device) return sentence({"memory of ", place(b->device), " as if it were of ", place(device)});
    return {};
  }

  /// Notes the uses of an operation. Throws Internal if one is not ordered behind an earlier use of the same bytes, one
  /// of the two being a write.
  void note(array_view<const access> accesses, const user& by) {
    for (const access& a : accesses) check(a, by);
    for (const access& a : accesses) {
      block* const b = find(a);
      if (b == nullptr) continue;
      // What this use covers is ordered before whatever will be ordered behind this one.
      std::size_t kept = 0;
      for (std::size_t i = 0; i < b->uses.size(); ++i) {
        const use& u = b->uses[i];
        if ((a.writes || (!u.writes && u.lane == by.lane)) && u.data >= a.data && u.data + u.bytes <= a.data + a.bytes)
          continue;
        if (kept != i) b->uses[kept] = b->uses[i];
        ++kept;
      }
      b->uses.resize(kept);
      b->uses.push_back({a.data, a.bytes, a.writes, by.lane, by.position, std::string(by.name)});
    }
  }
  /// Only the check of `note`.
  void check(const access& a, const user& by) const {
    const block* const b = find(a);
    if (b == nullptr) return;
    for (const use& u : b->uses)
      if ((a.writes || u.writes) && u.data < a.data + a.bytes && a.data < u.data + u.bytes &&
          (*by.clock)[u.lane] < u.position)
        fail(status_code::internal, {by.name, a.writes ? " writes" : " reads", " what ", u.name,
                                     u.writes ? " writes" : " reads", ", and does not wait for it"});
  }

 private:
  static constexpr std::size_t alignment = 256;

  struct use {
    const std::byte* data = nullptr;
    std::size_t bytes = 0;
    bool writes = false;
    std::size_t lane = 0;
    std::int64_t position = 0;
    std::string name;
  };
  struct block {
    std::size_t bytes = 0;
    int device = 0;
    bool borrowed = false;
    std::vector<use> uses;
  };

  [[nodiscard]] static std::string place(int device) {
    return device == runtime::on_host ? "the host" : sentence({"device ", device});
  }
  [[nodiscard]] const block* find(const access& a) const {
    auto b = blocks_.upper_bound(const_cast<std::byte*>(a.data));
    if (b == blocks_.begin()) return nullptr;
    --b;
    return a.data + a.bytes <= b->first + b->second.bytes ? &b->second : nullptr;
  }
  [[nodiscard]] block* find(const access& a) {
    return const_cast<block*>(static_cast<const memory_table&>(*this).find(a));
  }

  std::map<std::byte*, block> blocks_;
};

}  // namespace tagma::device::fake
