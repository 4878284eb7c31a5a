// SPDX-License-Identifier: BSL-1.0
// The yardstick: what a user would compile anyway for two dense layers without a graph.
#include <Eigen/Core>
#include <cstdio>

int main() {
  using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const matrix x = matrix::Random(32, 784);
  const matrix w1 = matrix::Random(784, 300);
  const matrix w2 = matrix::Random(300, 10);
  const matrix hidden = (x * w1).cwiseMax(0.0f);
  const matrix logits = hidden * w2;
  std::printf("%g\n", static_cast<double>(logits.sum()));
}
