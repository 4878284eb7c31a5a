// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Products of matrices by cuBLASLt. What it needs is made once for given extents, the choice among its algorithms
/// included. Matrices are row-major here and column-major there, where a matrix is therefore its own transpose: the
/// product a * b is asked for as the transpose of b times the transpose of a.

#include <cublasLt.h>

#include "tagma/base/config.hpp"
#include "tagma/device/cuda/libraries.hpp"

namespace tagma::device::cuda {

/// What becomes of a product before it is stored. The library's relu makes zeros of NaNs.
enum class epilogue : std::uint8_t { none, relu, bias, bias_relu };

/// A product of matrices, or several of matrices that are equally far apart.
struct product_problem {
  dtype type = dtype::float32;
  std::int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;  ///< a is [k, m], b is [n, k]
  std::int64_t batch = 1;
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0;  ///< elements from a matrix to the next, 0: the same
  epilogue after = epilogue::none;                        ///< a bias has n elements
  std::uint32_t alignment = 16;                           ///< bytes that divide the addresses of every call
};

inline void check_blas(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    fail(status_code::internal, {"cuBLASLt refused ", what, ": ", cublasLtGetStatusString(status)});
}

namespace detail {

using blas_layout = library_object<cublasLtMatrixLayout_t, &cublasLtMatrixLayoutDestroy>;
using blas_operation = library_object<cublasLtMatmulDesc_t, &cublasLtMatmulDescDestroy>;
using blas_preference = library_object<cublasLtMatmulPreference_t, &cublasLtMatmulPreferenceDestroy>;

inline void make_blas(cublasLtHandle_t* handle) { check_blas(cublasLtCreate(handle), "a handle"); }
using blas_handle = shared_handle<cublasLtHandle_t, &make_blas>;

[[nodiscard]] constexpr cudaDataType_t blas_type(dtype type) {
  return type == dtype::float64    ? CUDA_R_64F
         : type == dtype::float16  ? CUDA_R_16F
         : type == dtype::bfloat16 ? CUDA_R_16BF
                                   : CUDA_R_32F;
}
[[nodiscard]] constexpr cublasComputeType_t blas_compute_type(dtype type) {
  if (type == dtype::float64) return CUBLAS_COMPUTE_64F;
  return type == dtype::float32 && TAGMA_CUDA_TF32 != 0 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}
[[nodiscard]] constexpr cublasLtEpilogue_t blas_epilogue(epilogue after) {
  return after == epilogue::relu        ? CUBLASLT_EPILOGUE_RELU
         : after == epilogue::bias      ? CUBLASLT_EPILOGUE_BIAS
         : after == epilogue::bias_relu ? CUBLASLT_EPILOGUE_RELU_BIAS
                                        : CUBLASLT_EPILOGUE_DEFAULT;
}

}  // namespace detail

/// A matrix as cuBLASLt sees it: its rows are our columns.
struct blas_matrix {
  std::uint64_t rows = 0, columns = 0;
  std::int64_t distance = 0;  ///< elements from a column to the next
  std::int64_t stride = 0;    ///< elements from a matrix to the next

  /// The matrices of a product: first its left operand there, which is b here.
  [[nodiscard]] static constexpr blas_matrix left(const product_problem& p) {
    return p.transpose_b ? of(p.n, p.k, p.stride_b) : of(p.k, p.n, p.stride_b);
  }
  [[nodiscard]] static constexpr blas_matrix right(const product_problem& p) {
    return p.transpose_a ? of(p.k, p.m, p.stride_a) : of(p.m, p.k, p.stride_a);
  }
  [[nodiscard]] static constexpr blas_matrix result(const product_problem& p) { return of(p.m, p.n, p.stride_c); }

 private:
  static constexpr blas_matrix of(std::int64_t rows, std::int64_t columns, std::int64_t stride) {
    return {static_cast<std::uint64_t>(columns), static_cast<std::uint64_t>(rows), columns, stride};
  }
};

/// A product of given extents with its algorithm.
class blas_product {
 public:
  /// A null pointer if cuBLASLt has no algorithm for the problem, or cannot count its matrices. Its working memory is
  /// reserved on the stream.
  /// @param bias where the bias of the runs is as a rule, whose alignment counts; nullptr if there is none
  [[nodiscard]] TAGMA_COLD static owned<blas_product> make(const product_problem& p, const run_context& context,
                                                           const void* bias = nullptr) {
    if (p.batch > 0x7fffffff) return nullptr;
    auto made = owned<blas_product>(new blas_product(p));
    made->set_bias(bias);
    return made->choose(resources_of(context)) ? std::move(made) : owned<blas_product>();
  }

  /// c = a * b, and what follows it.
  /// @param bias n elements, or nullptr where the epilogue needs none
  void run(const void* a, const void* b, void* c, const void* bias, const run_context& context) const {
    stream_resources& r = resources_of(context);
    set_bias(bias);
    const library_factors by(type_);
    check_blas(cublasLtMatmul(detail::blas_handle::use(handle_).get(), operation_.get(), by.one(), b, left_.get(), a,
                              right_.get(), by.zero(), c, result_.get(), c, result_.get(), &algorithm_, r.workspace(),
                              workspace_, stream_of(context)),
               "a matrix product");
  }

 private:
  /// Bytes of working memory that an algorithm may ask for. Where the device has no room, what is reserved must do.
  static constexpr std::size_t most_workspace = std::size_t{32} << 20;

  explicit blas_product(const product_problem& p)
      : type_(p.type),
        alignment_(p.alignment),
        has_bias_(p.after == epilogue::bias || p.after == epilogue::bias_relu),
        is_small_(p.k <= 64) {
    check_blas(cublasLtMatmulDescCreate(operation_.place(), detail::blas_compute_type(p.type),
                                        p.type == dtype::float64 ? CUDA_R_64F : CUDA_R_32F),
               "the description of a matrix product");
    set(CUBLASLT_MATMUL_DESC_TRANSA, p.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_TRANSB, p.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, detail::blas_epilogue(p.after));
    if (has_bias_) set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, detail::blas_type(p.type));
    describe(left_, blas_matrix::left(p), p.batch);
    describe(right_, blas_matrix::right(p), p.batch);
    describe(result_, blas_matrix::result(p), p.batch);
  }

  template <class T>
  void set(cublasLtMatmulDescAttributes_t what, const T& value) const {
    check_blas(cublasLtMatmulDescSetAttribute(operation_.get(), what, &value, sizeof value),
               "an attribute of a matrix product");
  }
  /// cuBLASLt refuses a bias where the epilogue has none.
  void set_bias(const void* bias) const {
    if (has_bias_ && bias != nullptr) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  }
  void describe(detail::blas_layout& layout, const blas_matrix& m, std::int64_t batch) const {
    check_blas(cublasLtMatrixLayoutCreate(layout.place(), detail::blas_type(type_), m.rows, m.columns, m.distance),
               "a layout");
    const auto count = static_cast<std::int32_t>(batch);
    check_blas(cublasLtMatrixLayoutSetAttribute(layout.get(), CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
               "a batch");
    check_blas(cublasLtMatrixLayoutSetAttribute(layout.get(), CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &m.stride,
                                                sizeof m.stride),
               "a batch");
  }

  [[nodiscard]] bool choose(stream_resources& r) {
    detail::blas_preference preference;
    check_blas(cublasLtMatmulPreferenceCreate(preference.place()), "a preference");
    const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t what, const auto& value) {
      check_blas(cublasLtMatmulPreferenceSetAttribute(preference.get(), what, &value, sizeof value), "a preference");
    };
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_);
    // Partial sums are added as they were computed: in float, where elements have 16 bits.
    prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, std::uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
    const auto ask = [&](std::size_t most) {
      prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, most);
      cublasLtMatmulHeuristicResult_t best{};
      int found = 0;
      const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
          detail::blas_handle::use(handle_).get(), operation_.get(), left_.get(), right_.get(), result_.get(),
          result_.get(), preference.get(), 1, &best, &found);
      if (status == CUBLAS_STATUS_NOT_SUPPORTED || found == 0) return false;
      check_blas(status, "a choice of algorithms");
      algorithm_ = best.algo;
      workspace_ = best.workspaceSize;
      return best.state == CUBLAS_STATUS_SUCCESS;
    };
    if (is_small_ && ask(0)) return true;
    if (!ask(most_workspace)) return false;
    return r.try_reserve(workspace_) || ask(r.workspace_size());
  }

  detail::blas_handle& handle_ = detail::blas_handle::of_current_gpu();
  dtype type_;
  std::uint32_t alignment_;
  bool has_bias_;
  bool is_small_;  ///< to add up in parts would take longer, and needs working memory
  detail::blas_operation operation_;
  detail::blas_layout left_, right_, result_;
  cublasLtMatmulAlgo_t algorithm_{};
  std::size_t workspace_ = 0;
};

}  // namespace tagma::device::cuda
