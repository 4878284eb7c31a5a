// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Numbers below the smallest normal one count as zero while kernels run: the running means of optimizers decay into
/// that range, where processors are a hundred times slower. TensorFlow's threads do the same.

namespace tagma::device::cpu {

inline void restore_denormals([[maybe_unused]] unsigned before) {
#if defined(__SSE2__)
  asm volatile("ldmxcsr %0" : : "m"(before) : "memory");
#endif
}

/// Flushes denormal numbers on this thread; returns what `restore_denormals` takes to undo it.
inline unsigned flush_denormals() {
#if defined(__SSE2__)
  unsigned before = 0;
  asm volatile("stmxcsr %0" : "=m"(before));
  constexpr unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x0040;
  if ((before & (flush_to_zero | denormals_are_zero)) != (flush_to_zero | denormals_are_zero))
    restore_denormals(before | flush_to_zero | denormals_are_zero);
  return before;
#else
  return 0;
#endif
}

}  // namespace tagma::device::cpu
