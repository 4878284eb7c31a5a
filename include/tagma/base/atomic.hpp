// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Values that threads share, over the builtins of the compilers. <atomic> does the same, and with it come mutexes,
/// errors of the system and strings: an eighth of what all of tagma.hpp costs a compiler.

namespace tagma {

/// What an access to a shared value orders around it, as in std::memory_order.
enum class memory_order : int {
  relaxed = __ATOMIC_RELAXED,
  acquire = __ATOMIC_ACQUIRE,
  release = __ATOMIC_RELEASE,
  acq_rel = __ATOMIC_ACQ_REL,
  seq_cst = __ATOMIC_SEQ_CST,
};

/// A number or a truth value that threads read and write at once. Like std::atomic, of which it has what is needed.
template <class T>
class atomic {
 public:
  constexpr atomic(T value = {}) : value_(value) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  [[nodiscard]] T load(memory_order order = memory_order::seq_cst) const {
    return __atomic_load_n(&value_, static_cast<int>(order));
  }
  void store(T value, memory_order order = memory_order::seq_cst) {
    __atomic_store_n(&value_, value, static_cast<int>(order));
  }
  T exchange(T value, memory_order order = memory_order::seq_cst) {
    return __atomic_exchange_n(&value_, value, static_cast<int>(order));
  }
  /// Puts `value` where `expected` is; false if something else is there.
  bool replace(T expected, T value) {
    return __atomic_compare_exchange_n(&value_, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  }
  /// These return the value before.
  T fetch_add(T value, memory_order order = memory_order::seq_cst) {
    return __atomic_fetch_add(&value_, value, static_cast<int>(order));
  }
  T fetch_sub(T value, memory_order order = memory_order::seq_cst) {
    return __atomic_fetch_sub(&value_, value, static_cast<int>(order));
  }

  /// Where the value is, for the system.
  [[nodiscard]] const T* address() const { return &value_; }

 private:
  T value_;
};

/// Adds to a plain object that several threads add to by this alone, as std::atomic_ref does; returns the value before.
template <class T>
T fetch_add_shared(T& value, T more) {
  return __atomic_fetch_add(&value, more, __ATOMIC_SEQ_CST);
}

}  // namespace tagma
