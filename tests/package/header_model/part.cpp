// SPDX-License-Identifier: BSL-1.0
// One of eight files that share the models of the header; PART tells which.
#include <cstdio>
#include <cstdlib>

#include "model.hpp"

#define NAME_OF_PART(N) part##N
#define PART_NAMED(N) NAME_OF_PART(N)

namespace {

void expect(float value, float expected, int line) {
  if (value == expected) return;
  std::printf("part %d, line %d: %g instead of %g\n", PART, line, static_cast<double>(value),
              static_cast<double>(expected));
  std::exit(1);
}

}  // namespace

void PART_NAMED(PART)(shared::session& s) {
  namespace tg = tagma;
  const tg::tensor<float> images({4, 3});
  const tg::tensor<float> labels({1, 2}, {0.375f, 0.375f});

  // Nothing but the numbers that the header has: 2 * 0 + 0.25, times 1.5, less 0.375; and 3 * (1.5^2 + 1.5^2) / 2.
  shared::session own(shared::program, {.seed = 1});
  const auto first_row = tg::tensor<float>({1, 3});
  expect(own.run(shared::loss, shared::x = first_row, shared::y = labels), 6.75f, __LINE__);
  expect(own.run(shared::guess, shared::x = images)[0], 0.25f, __LINE__);
#if PART % 2
  expect(shared::from_function(3), 7, __LINE__);
  tg::session of_class(shared::line::program);
  expect(of_class.run(shared::line::value, shared::line::v = 5.0f), 18, __LINE__);
#else
  expect(shared::from_template<PART>(2), 2 * PART + 0.5f, __LINE__);
  expect(shared::from_template<1>(2), 2.5f, __LINE__);
  tg::session of_template(shared::power<float>::make());
  expect(of_template.run(shared::power<float>::value, shared::power<float>::v = 5.0f), 75, __LINE__);
#endif
  s.run(shared::train, shared::x = first_row, shared::y = labels);
}
