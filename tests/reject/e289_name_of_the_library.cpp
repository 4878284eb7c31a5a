// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E289
// mentions: cubed
#include "tagma/own_operations.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

struct cubed : tg::op::elementwise {
#ifdef REJECT
  static constexpr const char* name = "square";
#else
  static constexpr const char* name = "mine.square";
#endif
  static constexpr void takes(auto& t) { t.floats(1); }
};
template <>
struct tagma::device::scalar_kernel<tagma::device::on_cpu, tagma::ir::key<cubed>> {
  template <class Out, class P>
  static Out apply(const P& x) {
    return x * x * x;
  }
};

int main() { tg::list_operation<cubed, float(float)>(); }
