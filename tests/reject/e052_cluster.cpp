// expect: TAGMA-E052
// SPDX-License-Identifier: BSL-1.0
#include "tagma/programs.hpp"
#include "tagma/tagma.hpp"

#include "tagma/late.hpp"

#include "tagma/cluster/typed_session.hpp"

constexpr auto x = tagma::placeholder<"x", float, tagma::dyn, 3>();
constexpr auto y = tagma::tanh(x);
const auto program = tagma::compile([] { return tagma::outputs(y); }, tagma::late);

void run(tagma::typed_session<decltype(program)>& session) {
#ifdef REJECT
  session.run(y, x = tagma::tensor<double>({2, 3}));
#else
  session.run(y, x = tagma::tensor<float>({2, 3}));
#endif
}
