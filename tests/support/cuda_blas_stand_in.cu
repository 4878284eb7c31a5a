// SPDX-License-Identifier: BSL-1.0
// What of cuBLASLt needs a GPU, on the host.
#include <cublasLt.h>

#include "support/cuda_stand_ins.hpp"

struct cublasLtContext {
  int unused = 0;
};

namespace {

using tagma::dtype;
using tagma::test::stand_in_elements;
using tagma::test::stand_ins;

[[maybe_unused]] const bool linked = tagma::device::cuda::emulation::has_libraries() = true;

/// An attribute of a descriptor; left as it is where the library does not tell it.
template <class T, class Get, class Descriptor, class What>
[[nodiscard]] T attribute(const Get& get, Descriptor of, What what, T value = {}) {
  std::size_t written = 0;
  get(of, what, &value, sizeof value, &written);
  return value;
}

struct layout {
  explicit layout(cublasLtMatrixLayout_t l) {
    const auto get = [&](cublasLtMatrixLayoutAttribute_t what, auto value) {
      return attribute(cublasLtMatrixLayoutGetAttribute, l, what, value);
    };
    type = get(CUBLASLT_MATRIX_LAYOUT_TYPE, CUDA_R_8I);
    order = get(CUBLASLT_MATRIX_LAYOUT_ORDER, CUBLASLT_ORDER_ROW);
    rows = get(CUBLASLT_MATRIX_LAYOUT_ROWS, std::int64_t{});
    columns = get(CUBLASLT_MATRIX_LAYOUT_COLS, std::int64_t{});
    distance = get(CUBLASLT_MATRIX_LAYOUT_LD, std::int64_t{});
    batch = get(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, std::int32_t{});
    stride = get(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, std::int64_t{});
  }
  bool operator==(const layout&) const = default;

  cudaDataType_t type;
  cublasLtOrder_t order;
  std::int64_t rows, columns, distance;
  std::int32_t batch;
  std::int64_t stride;
};

[[nodiscard]] dtype type_of(cudaDataType_t type) {
  return type == CUDA_R_64F    ? dtype::float64
         : type == CUDA_R_32F  ? dtype::float32
         : type == CUDA_R_16F  ? dtype::float16
         : type == CUDA_R_16BF ? dtype::bfloat16
                               : dtype::none;
}

/// A product as its descriptors say it.
struct problem {
  problem(cublasLtMatmulDesc_t of, cublasLtMatrixLayout_t left, cublasLtMatrixLayout_t right,
          cublasLtMatrixLayout_t old, cublasLtMatrixLayout_t result)
      : a(left), b(right), c(old), d(result) {
    const auto get = [&](cublasLtMatmulDescAttributes_t what, auto value) {
      return attribute(cublasLtMatmulDescGetAttribute, of, what, value);
    };
    compute = get(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, CUBLAS_COMPUTE_32I);
    scale = get(CUBLASLT_MATMUL_DESC_SCALE_TYPE, CUDA_R_8I);
    mode = get(CUBLASLT_MATMUL_DESC_POINTER_MODE, CUBLASLT_POINTER_MODE_DEVICE);
    transpose_a = get(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_N);
    transpose_b = get(CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_N);
    after = get(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DEFAULT);
    bias = get(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const void*>(nullptr));
    bias_type = get(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, CUDA_R_8I);
  }

  [[nodiscard]] bool has_bias() const {
    return after == CUBLASLT_EPILOGUE_BIAS || after == CUBLASLT_EPILOGUE_RELU_BIAS;
  }
  [[nodiscard]] bool has_relu() const {
    return after == CUBLASLT_EPILOGUE_RELU || after == CUBLASLT_EPILOGUE_RELU_BIAS;
  }

  [[nodiscard]] cublasStatus_t check() const {
    const bool wide = compute == CUBLAS_COMPUTE_64F;
    const bool types =
        wide ? scale == CUDA_R_64F && a.type == CUDA_R_64F
             : scale == CUDA_R_32F &&
                   (compute == CUBLAS_COMPUTE_32F || (compute == CUBLAS_COMPUTE_32F_FAST_TF32 && a.type == CUDA_R_32F));
    if (!types || mode != CUBLASLT_POINTER_MODE_HOST || type_of(a.type) == dtype::none || b.type != a.type ||
        c.type != a.type || d.type != a.type || (!wide && a.type == CUDA_R_64F))
      return CUBLAS_STATUS_NOT_SUPPORTED;
    if (after != CUBLASLT_EPILOGUE_DEFAULT && !has_bias() && !has_relu()) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (has_bias() && bias_type != d.type && static_cast<int>(bias_type) != -1) return CUBLAS_STATUS_NOT_SUPPORTED;
    for (const layout* l : {&a, &b, &c, &d}) {
      if (l->order != CUBLASLT_ORDER_COL) return CUBLAS_STATUS_NOT_SUPPORTED;
      if (l->rows < 1 || l->columns < 1 || l->distance < l->rows || l->batch != d.batch || l->batch < 1)
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (d.batch > 1 && d.stride < d.distance * d.columns) return CUBLAS_STATUS_INVALID_VALUE;
    const bool ta = transpose_a == CUBLAS_OP_T, tb = transpose_b == CUBLAS_OP_T;
    const bool fits = (ta ? a.columns : a.rows) == d.rows && (tb ? b.rows : b.columns) == d.columns &&
                      (ta ? a.rows : a.columns) == (tb ? b.columns : b.rows) && c == d;
    return fits ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
  }

  layout a, b, c, d;
  cublasComputeType_t compute;
  cudaDataType_t scale;
  cublasLtPointerMode_t mode;
  cublasOperation_t transpose_a, transpose_b;
  cublasLtEpilogue_t after;
  const void* bias;
  cudaDataType_t bias_type;
};

/// What an algorithm demands of the calls that name it.
struct algorithm {
  std::uint32_t alignment[4];  ///< of A, B, C, D
  std::uint32_t bias_alignment;
  std::uint32_t workspace;
  bool is_wrong;
};
static_assert(sizeof(algorithm) <= sizeof(cublasLtMatmulAlgo_t));

[[nodiscard]] bool is_aligned(const void* data, std::size_t to) {
  return reinterpret_cast<std::uintptr_t>(data) % to == 0;
}

}  // namespace

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *handle = new cublasLtContext;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int requested,
                                              cublasLtMatmulHeuristicResult_t results[], int* found) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (requested < 1 || results == nullptr || found == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *found = 0;
  const problem p(operation, a, b, c, d);
  if (const cublasStatus_t status = p.check(); status != CUBLAS_STATUS_SUCCESS) return status;
  const auto get = [&](cublasLtMatmulPreferenceAttributes_t what, auto value) {
    return attribute(cublasLtMatmulPreferenceGetAttribute, preference, what, value);
  };
  const auto most = get(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{});
  const auto schemes = get(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, std::uint32_t{});
  algorithm best{{get(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, std::uint32_t{}),
                  get(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, std::uint32_t{}),
                  get(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, std::uint32_t{}),
                  get(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, std::uint32_t{})},
                 1,
                 static_cast<std::uint32_t>(stand_ins.workspace),
                 (schemes & ~std::uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE}) != 0};
  if (p.has_bias())
    while (best.bias_alignment < 16 && is_aligned(p.bias, 2 * best.bias_alignment)) best.bias_alignment *= 2;
  cublasLtMatmulHeuristicResult_t& result = results[0];
  result = {};
  if (best.workspace > most) {
    if (!stand_ins.has_small) return CUBLAS_STATUS_NOT_SUPPORTED;
    best.workspace = 0;
  }
  // Fields beside the state say nothing unless it is a success.
  *found = 1;
  result.state = stand_ins.offers_algorithms ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
  std::memcpy(result.algo.data, &best, sizeof best);
  result.workspaceSize = best.workspace;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                              const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* by, void* workspace,
                              std::size_t workspace_size, cudaStream_t) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const problem p(operation, a_layout, b_layout, c_layout, d_layout);
  if (const cublasStatus_t status = p.check(); status != CUBLAS_STATUS_SUCCESS) return status;
  if (alpha == nullptr || beta == nullptr || by == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  algorithm how;
  std::memcpy(&how, by->data, sizeof how);
  if (workspace_size < how.workspace || (how.workspace > 0 && (workspace == nullptr || !is_aligned(workspace, 256))))
    return CUBLAS_STATUS_INVALID_VALUE;
  const void* operands[] = {a, b, c, d};
  for (int i = 0; i < 4; ++i)
    if (operands[i] == nullptr || !is_aligned(operands[i], how.alignment[i])) return CUBLAS_STATUS_INVALID_VALUE;
  if (p.has_bias() && (p.bias == nullptr || !is_aligned(p.bias, how.bias_alignment)))
    return CUBLAS_STATUS_INVALID_VALUE;

  if (how.workspace > 0) std::memset(workspace, tagma::test::stand_in_garbage, how.workspace);
  const bool wide = p.scale == CUDA_R_64F;
  const double one = tagma::test::stand_in_factor(alpha, wide), other = tagma::test::stand_in_factor(beta, wide);
  const dtype type = type_of(p.a.type);
  const stand_in_elements from_a(type, a), from_b(type, b), to(type, d), bias(type, p.bias);
  const bool ta = p.transpose_a == CUBLAS_OP_T, tb = p.transpose_b == CUBLAS_OP_T;
  const std::int64_t k = ta ? p.a.rows : p.a.columns;
  const auto operand = [&](double x) {
    return p.compute == CUBLAS_COMPUTE_32F_FAST_TF32 ? tagma::test::stand_in_tf32(x) : x;
  };
  for (std::int64_t batch = 0; batch < p.d.batch; ++batch)
    for (std::int64_t column = 0; column < p.d.columns; ++column)
      for (std::int64_t row = 0; row < p.d.rows; ++row) {
        double total = 0;
        for (std::int64_t i = 0; i < k; ++i)
          total += operand(from_a[batch * p.a.stride + (ta ? i + row * p.a.distance : row + i * p.a.distance)]) *
                   operand(from_b[batch * p.b.stride + (tb ? column + i * p.b.distance : i + column * p.b.distance)]);
        const std::int64_t at = batch * p.d.stride + row + column * p.d.distance;
        total *= one;
        if (other != 0) total += other * stand_in_elements(type, c)[batch * p.c.stride + row + column * p.c.distance];
        if (p.has_bias()) total += bias[row];
        if (p.has_relu()) total = total > 0 ? total : 0;
        to.write(at, 1, how.is_wrong ? 1e3 : total, 0);
      }
  ++stand_ins.products;
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"
