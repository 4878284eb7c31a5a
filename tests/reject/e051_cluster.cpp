// expect: TAGMA-E051
// mentions: labels
// SPDX-License-Identifier: BSL-1.0
#include "tagma/programs.hpp"
#include "tagma/tagma.hpp"

#include "tagma/cluster/typed_session.hpp"

constexpr auto x = tagma::placeholder<"x", float, tagma::dyn, 3>();
constexpr auto labels = tagma::placeholder<"labels", int, tagma::dyn>();
constexpr auto loss = tagma::mean(tagma::sparse_softmax_cross_entropy(x, labels));
const auto program = tagma::compile([] { return tagma::outputs(loss); });

void train(tagma::typed_session<decltype(program)>& session) {
  const tagma::tensor<float> rows({2, 3});
  const tagma::tensor<int> classes({2});
#ifdef REJECT
  session.run(loss, x = rows);
#else
  session.run(loss, x = rows, labels = classes);
#endif
}
