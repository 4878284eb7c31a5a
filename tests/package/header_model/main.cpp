// SPDX-License-Identifier: BSL-1.0
#include <cstdio>

#include "model.hpp"

int main() {
  const shared::tg::tensor<float> row({1, 3}), labels({1, 2}, {0.375f, 0.375f});
  shared::session by_parts(shared::program, {.seed = 1}), by_main(shared::program, {.seed = 1});
#define RUN_PART(N) part##N(by_parts);
  TAGMA_EVERY_PART(RUN_PART)
  for (int i = 0; i < 8; ++i) by_main.run(shared::train, shared::x = row, shared::y = labels);
  const float parts = by_parts.run(shared::loss, shared::x = row, shared::y = labels);
  const float alone = by_main.run(shared::loss, shared::x = row, shared::y = labels);
  std::printf("%g %g\n", static_cast<double>(parts), static_cast<double>(alone));
  return parts == alone && parts < 6.75f ? 0 : 1;
}
