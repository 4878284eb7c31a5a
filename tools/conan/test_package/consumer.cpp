// SPDX-License-Identifier: BSL-1.0
#include <tagma/tagma.hpp>

#include <cstdio>

constexpr auto x = tagma::placeholder<"x", float, 2, 2>();

int main() {
  auto total = tagma::sum(tagma::matmul(x, x));
  tagma::session session(tagma::compile([=] { return tagma::outputs(total); }));
  const float result = session.run(total, x = tagma::tensor<float>({2, 2}, {1, 2, 3, 4}));
  std::printf("tagma %s: %g\n", TAGMA_VERSION, static_cast<double>(result));
  return result == 54.0F ? 0 : 1;  // 7 + 10 + 15 + 22
}
