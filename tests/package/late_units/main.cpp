// SPDX-License-Identifier: BSL-1.0
#include <cstdio>

#include "part.hpp"

namespace {

int wrong = 0;

void expect(const char* part, const answers& found, const answers& expected) {
  if (found.at_scope == expected.at_scope && found.in_function == expected.in_function &&
      found.trained == expected.trained)
    return;
  ++wrong;
  std::printf("%s: %g, %g, %g instead of %g, %g, %g\n", part, static_cast<double>(found.at_scope),
              static_cast<double>(found.in_function), static_cast<double>(found.trained),
              static_cast<double>(expected.at_scope), static_cast<double>(expected.in_function),
              static_cast<double>(expected.trained));
}

}  // namespace

int main() {
  // x is 1 and 4: 5 + 11, 50 - 1, 1 - 2 * 4 / 4; 16 + 1, 13 / 2 * 4 / 2, 1 - 6 * 4 / 4; -6 - 9, 100 + 15, 1 + 5 / 4.
  expect("part 0", part0(), {16, 49, -1});
  expect("part 1", part1(), {17, 13, -5});
  expect("part 2", part2(), {-15, 115, 2.25f});
  return wrong;
}
