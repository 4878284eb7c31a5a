// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Stand-ins for those functions of cuBLASLt and cuDNN that need a GPU: a program that is linked with them computes on
/// the host, in double, what NVIDIA's documentation says of each call. Descriptors are made, checked and read by the
/// real libraries, which need no GPU for that. What cannot be learned so is what the libraries really answer.

#include <cmath>
#include <vector>

#include "tagma/device/cuda/launch.hpp"

namespace tagma::test {

/// What the stand-ins did, and what they are asked to answer.
struct stand_in_state {
  int products = 0, convolutions = 0, pools = 0, softmaxes = 0;  ///< calls that computed something
  std::size_t workspace = 3000;   ///< bytes of working memory that the quickest algorithms want
  bool has_small = true;          ///< whether there are algorithms that want none
  bool offers_algorithms = true;  ///< whether there are any
  int dnn_status = 0;             ///< what calls of cuDNN that compute end with; 0: they compute
};
inline stand_in_state stand_ins;

/// True in a program that is linked with them.
inline bool has_stand_ins() { return device::cuda::emulation::has_libraries(); }

/// What an algorithm writes that should not have been chosen, and into working memory.
inline constexpr unsigned char stand_in_garbage = 0x7b;

/// Elements of memory as doubles.
class stand_in_elements {
 public:
  /// @param data is not written where only `operator[]` is called
  stand_in_elements(dtype type, const void* data) : type_(type), data_(const_cast<void*>(data)) {}

  [[nodiscard]] double operator[](std::int64_t i) const {
    switch (type_) {
      case dtype::float64:
        return as<double>()[i];
      case dtype::float16:
        return static_cast<double>(as<float16>()[i]);
      case dtype::bfloat16:
        return static_cast<double>(as<bfloat16>()[i]);
      default:
        return as<float>()[i];
    }
  }
  /// What alpha * value + beta * element is, where an element by beta 0 is not read.
  void write(std::int64_t i, double alpha, double value, double beta) const {
    value *= alpha;
    if (beta != 0) value += beta * (*this)[i];
    switch (type_) {
      case dtype::float64:
        as<double>()[i] = value;
        break;
      case dtype::float16:
        as<float16>()[i] = float16(static_cast<float>(value));
        break;
      case dtype::bfloat16:
        as<bfloat16>()[i] = bfloat16(static_cast<float>(value));
        break;
      default:
        as<float>()[i] = static_cast<float>(value);
    }
  }

 private:
  template <class T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(data_);
  }
  dtype type_;
  void* data_;
};

/// An operand of float where a kind of arithmetic may round it to the 19 bits of TF32.
[[nodiscard]] inline double stand_in_tf32(double x) {
  auto narrow = static_cast<float>(x);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &narrow, sizeof bits);
  bits &= ~std::uint32_t{0x1fff};
  std::memcpy(&narrow, &bits, sizeof narrow);
  return static_cast<double>(narrow);
}

/// A factor of a call: of double for elements of double, else of float.
[[nodiscard]] inline double stand_in_factor(const void* factor, bool wide) {
  return wide ? *static_cast<const double*>(factor) : static_cast<double>(*static_cast<const float*>(factor));
}

}  // namespace tagma::test
