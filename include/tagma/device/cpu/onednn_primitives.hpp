// SPDX-License-Identifier: BSL-1.0

/// @file
/// Whether primitives of oneDNN are used. A macro without a pragma: see base/config.hpp.

#ifndef TAGMA_ONEDNN_PRIMITIVES

#include "tagma/device/cpu/gemm.hpp"

/// 1 where primitives are used beside the plain products of oneDNN. Not where it was built for TBB or SYCL: there they
/// run on threads of its own, as many as the machine has, and with SYCL only if that finds a device for the processor.
#if defined(TAGMA_WITH_ONEDNN) && TAGMA_WITH_ONEDNN &&                               \
    (DNNL_CPU_RUNTIME == DNNL_RUNTIME_OMP || DNNL_CPU_RUNTIME == DNNL_RUNTIME_SEQ || \
     DNNL_CPU_RUNTIME == DNNL_RUNTIME_THREADPOOL)
#define TAGMA_ONEDNN_PRIMITIVES 1
#else
#define TAGMA_ONEDNN_PRIMITIVES 0
#endif

#endif
