// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// How much a network computes: the multiplications of its products and convolutions, which are nearly all.

#include <mutex>
#include <vector>

#include "tagma/tagma.hpp"

namespace peers {

/// Adds up the multiplications of the steps of a run. A step is told without its attributes: products, which look at
/// them, are counted by their shapes; convolutions do not.
class multiplications final : public tagma::runtime::trace_sink {
 public:
  void add(const tagma::runtime::traced_step& step) noexcept override {
    const tagma::ir::op_info& op = *step.node.op;
    double more = 0;
    if (&op == &tagma::ir::info<tagma::op::matmul>) {
      const tagma::shape& y = step.out.dims;  // each element of the first operand meets a row of the second
      more = static_cast<double>(step.in[0].elements()) * static_cast<double>(y[y.rank - 1]);
    } else if (op.work != nullptr) {
      std::vector<tagma::tensor_spec> in;
      for (const tagma::runtime::operand& o : step.in) in.push_back({o.type, o.dims});
      more = op.work({in, {}, {step.out.type, step.out.dims}});
    }
    const std::lock_guard lock(mutex_);
    total_ += more;
  }
  [[nodiscard]] double total() const { return total_; }

 private:
  std::mutex mutex_;
  double total_ = 0;
};

}  // namespace peers
