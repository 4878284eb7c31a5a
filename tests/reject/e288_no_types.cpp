// SPDX-License-Identifier: BSL-1.0
// expect: TAGMA-E288
// mentions: cubed
#include "tagma/own_operations.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

struct cubed : tg::op::elementwise {
  static constexpr const char* name = "mine.cubed";
  static constexpr void takes(auto& t) { t.floats(1); }
};
template <>
struct tagma::device::scalar_kernel<tagma::device::on_cpu, tagma::ir::key<cubed>> {
  template <class Out, class P>
  static Out apply(const P& x) {
    return x * x * x;
  }
};

int main() {
#ifdef REJECT
  tg::list_operation<cubed, float>();
#else
  tg::list_operation<cubed, float(float)>();
#endif
}
