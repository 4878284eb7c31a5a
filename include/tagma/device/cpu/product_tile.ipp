// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of product_tile.hpp: in the compiled half, or else in each file that includes it.

#include <cstddef>

#include "tagma/base/config.hpp"
#include "tagma/device/cpu/product_tile.hpp"

#if defined(__x86_64__)

namespace tagma::device::cpu::detail {

// A term takes two loads, six broadcasts and twelve operations, which are what bounds it. Terms of a run are counted up
// to zero, from its end.
TAGMA_DECL void product_tile::compute() const {
  static_assert(offsetof(product_tile, panel) == 32 && offsetof(product_tile, most) == 68);
  __asm__ volatile(
      "movq 0(%0), %%rbx\n\t"
      "movq 8(%0), %%rdi\n\t"
      "movq 16(%0), %%rcx\n\t"
      "movq 24(%0), %%rdx\n\t"
      "movq 32(%0), %%rsi\n\t"
      "movq 40(%0), %%rax\n\t"
      "vmovups (%%rax), %%ymm0\n\t"
      "vmovups 32(%%rax), %%ymm1\n\t"
      "vmovaps %%ymm0, %%ymm2\n\t"
      "vmovaps %%ymm1, %%ymm3\n\t"
      "vmovaps %%ymm0, %%ymm4\n\t"
      "vmovaps %%ymm1, %%ymm5\n\t"
      "vmovaps %%ymm0, %%ymm6\n\t"
      "vmovaps %%ymm1, %%ymm7\n\t"
      "vmovaps %%ymm0, %%ymm8\n\t"
      "vmovaps %%ymm1, %%ymm9\n\t"
      "vmovaps %%ymm0, %%ymm10\n\t"
      "vmovaps %%ymm1, %%ymm11\n"
      "1:\n\t"
      "movq 0(%%rbx), %%r8\n\t"
      "movq 8(%%rbx), %%r9\n\t"
      "movq 16(%%rbx), %%r10\n\t"
      "movq 24(%%rbx), %%r11\n\t"
      "movq 32(%%rbx), %%r12\n\t"
      "movq 40(%%rbx), %%r13\n\t"
      "leaq (%%rbx,%%rdi,8), %%rbx\n\t"
      "leaq (%%r8,%%rcx,4), %%r8\n\t"
      "leaq (%%r9,%%rcx,4), %%r9\n\t"
      "leaq (%%r10,%%rcx,4), %%r10\n\t"
      "leaq (%%r11,%%rcx,4), %%r11\n\t"
      "leaq (%%r12,%%rcx,4), %%r12\n\t"
      "leaq (%%r13,%%rcx,4), %%r13\n\t"
      "movq %%rcx, %%rax\n\t"
      "negq %%rax\n\t"
      ".p2align 4\n"
      "2:\n\t"
      "vmovups (%%rsi), %%ymm12\n\t"
      "vmovups 32(%%rsi), %%ymm13\n\t"
      "vbroadcastss (%%r8,%%rax,4), %%ymm14\n\t"
      "vbroadcastss (%%r9,%%rax,4), %%ymm15\n\t"
      "vfmadd231ps %%ymm12, %%ymm14, %%ymm0\n\t"
      "vfmadd231ps %%ymm13, %%ymm14, %%ymm1\n\t"
      "vfmadd231ps %%ymm12, %%ymm15, %%ymm2\n\t"
      "vfmadd231ps %%ymm13, %%ymm15, %%ymm3\n\t"
      "vbroadcastss (%%r10,%%rax,4), %%ymm14\n\t"
      "vbroadcastss (%%r11,%%rax,4), %%ymm15\n\t"
      "vfmadd231ps %%ymm12, %%ymm14, %%ymm4\n\t"
      "vfmadd231ps %%ymm13, %%ymm14, %%ymm5\n\t"
      "vfmadd231ps %%ymm12, %%ymm15, %%ymm6\n\t"
      "vfmadd231ps %%ymm13, %%ymm15, %%ymm7\n\t"
      "vbroadcastss (%%r12,%%rax,4), %%ymm14\n\t"
      "vbroadcastss (%%r13,%%rax,4), %%ymm15\n\t"
      "vfmadd231ps %%ymm12, %%ymm14, %%ymm8\n\t"
      "vfmadd231ps %%ymm13, %%ymm14, %%ymm9\n\t"
      "vfmadd231ps %%ymm12, %%ymm15, %%ymm10\n\t"
      "vfmadd231ps %%ymm13, %%ymm15, %%ymm11\n\t"
      "addq $64, %%rsi\n\t"
      "incq %%rax\n\t"
      "jnz 2b\n\t"
      "decq %%rdx\n\t"
      "jnz 1b\n\t"
      "vbroadcastss 64(%0), %%ymm12\n\t"
      "vbroadcastss 68(%0), %%ymm13\n\t"
      "movq 48(%0), %%rax\n\t"
      "movq 56(%0), %%rcx\n\t"
      // The second operand of a maximum or minimum is the result where there is a NaN.
      "vmaxps %%ymm0, %%ymm12, %%ymm0\n\t"
      "vmaxps %%ymm1, %%ymm12, %%ymm1\n\t"
      "vmaxps %%ymm2, %%ymm12, %%ymm2\n\t"
      "vmaxps %%ymm3, %%ymm12, %%ymm3\n\t"
      "vmaxps %%ymm4, %%ymm12, %%ymm4\n\t"
      "vmaxps %%ymm5, %%ymm12, %%ymm5\n\t"
      "vmaxps %%ymm6, %%ymm12, %%ymm6\n\t"
      "vmaxps %%ymm7, %%ymm12, %%ymm7\n\t"
      "vmaxps %%ymm8, %%ymm12, %%ymm8\n\t"
      "vmaxps %%ymm9, %%ymm12, %%ymm9\n\t"
      "vmaxps %%ymm10, %%ymm12, %%ymm10\n\t"
      "vmaxps %%ymm11, %%ymm12, %%ymm11\n\t"
      "vminps %%ymm0, %%ymm13, %%ymm0\n\t"
      "vminps %%ymm1, %%ymm13, %%ymm1\n\t"
      "vminps %%ymm2, %%ymm13, %%ymm2\n\t"
      "vminps %%ymm3, %%ymm13, %%ymm3\n\t"
      "vminps %%ymm4, %%ymm13, %%ymm4\n\t"
      "vminps %%ymm5, %%ymm13, %%ymm5\n\t"
      "vminps %%ymm6, %%ymm13, %%ymm6\n\t"
      "vminps %%ymm7, %%ymm13, %%ymm7\n\t"
      "vminps %%ymm8, %%ymm13, %%ymm8\n\t"
      "vminps %%ymm9, %%ymm13, %%ymm9\n\t"
      "vminps %%ymm10, %%ymm13, %%ymm10\n\t"
      "vminps %%ymm11, %%ymm13, %%ymm11\n\t"
      "vmovups %%ymm0, (%%rax)\n\t"
      "vmovups %%ymm1, 32(%%rax)\n\t"
      "leaq (%%rax,%%rcx,4), %%rax\n\t"
      "vmovups %%ymm2, (%%rax)\n\t"
      "vmovups %%ymm3, 32(%%rax)\n\t"
      "leaq (%%rax,%%rcx,4), %%rax\n\t"
      "vmovups %%ymm4, (%%rax)\n\t"
      "vmovups %%ymm5, 32(%%rax)\n\t"
      "leaq (%%rax,%%rcx,4), %%rax\n\t"
      "vmovups %%ymm6, (%%rax)\n\t"
      "vmovups %%ymm7, 32(%%rax)\n\t"
      "leaq (%%rax,%%rcx,4), %%rax\n\t"
      "vmovups %%ymm8, (%%rax)\n\t"
      "vmovups %%ymm9, 32(%%rax)\n\t"
      "leaq (%%rax,%%rcx,4), %%rax\n\t"
      "vmovups %%ymm10, (%%rax)\n\t"
      "vmovups %%ymm11, 32(%%rax)\n\t"
      "vzeroupper"
      :
      : "r"(this)
      : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "xmm0", "xmm1", "xmm2",
        "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
        "cc", "memory");
}

}  // namespace tagma::device::cpu::detail

#endif
