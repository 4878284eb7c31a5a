// expect: TAGMA-E050
// SPDX-License-Identifier: BSL-1.0
#include "tagma/tagma.hpp"

#include "tagma/late.hpp"

constexpr auto x = tagma::placeholder<"x", float, tagma::dyn, 3>();
constexpr auto other = tagma::placeholder<"other", float, tagma::dyn, 3>();

int main() {
  const auto y = tagma::tanh(x);
  tagma::session session(tagma::compile([=] { return tagma::outputs(y); }, tagma::late));
  const tagma::tensor<float> rows({2, 3});
#ifdef REJECT
  session.run(other, x = rows);
#else
  session.run(y, x = rows);
#endif
}
