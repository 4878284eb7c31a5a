// SPDX-License-Identifier: BSL-1.0
// A program that is data, and the registry of kernels as the package has it.
#include <tagma/programs.hpp>
#include <tagma/tagma.hpp>

#include <cstdio>

int main() {
  constexpr auto x = tagma::placeholder<"x", float, tagma::dyn>();
  const auto twice = tagma::sum(x) * 2.0f;
  tagma::session session(tagma::any_program(tagma::compile([=] { return tagma::outputs(twice); }), {"twice"}));
  const float result = session.run("twice", tagma::feed_to("x", tagma::tensor<float>({3}, {1, 2, 3}))).value<float>();
  std::printf("twice: %g\n", static_cast<double>(result));
  return result == 12 ? 0 : 1;
}
