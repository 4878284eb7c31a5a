// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Numbers below the smallest normal one count as zero while kernels run: the running means of optimizers decay into
/// that range, where processors are a hundred times slower. TensorFlow's threads do the same.
/// Of float16 they are kept everywhere: its numbers are computed as floats, and are normal ones then.

#include <cstdint>

namespace tagma::device::cpu {

inline void restore_denormals([[maybe_unused]] unsigned before) {
#if defined(__SSE2__)
  asm volatile("ldmxcsr %0" : : "m"(before) : "memory");
#elif defined(__aarch64__)
  asm volatile("msr fpcr, %0" : : "r"(std::uint64_t{before}) : "memory");
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
#elif defined(__aarch64__)
  std::uint64_t before = 0;
  asm volatile("mrs %0, fpcr" : "=r"(before));
  constexpr unsigned flush_to_zero = 0x0100'0000;  // of operands as well as results
  const auto mode = static_cast<unsigned>(before);
  if ((mode & flush_to_zero) == 0) restore_denormals(mode | flush_to_zero);
  return mode;
#else
  return 0;
#endif
}

}  // namespace tagma::device::cpu
