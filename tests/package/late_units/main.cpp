// SPDX-License-Identifier: BSL-1.0
#include <cstdio>

#include "part.hpp"

namespace {

int wrong = 0;

void expect(const char* part, const answers& found, const answers& expected) {
  const auto compare = [part](const char* what, float value, float wanted) {
    if (value == wanted) return;
    ++wrong;
    std::printf("%s, %s: %g instead of %g\n", part, what, static_cast<double>(value), static_cast<double>(wanted));
  };
  compare("at scope", found.at_scope, expected.at_scope);
  compare("in a function", found.in_function, expected.in_function);
  compare("trained", found.trained, expected.trained);
  compare("in a template", found.early, expected.early);
  compare("in a template, late", found.late, expected.late);
}

}  // namespace

int main() {
  // x is 1 and 4: 5 + 11, 50 - 1, 1 - 2 * 4 / 4; 16 + 1, 13 / 2 * 4 / 2, 1 - 6 * 4 / 4; -6 - 9, 100 + 15, 1 + 5 / 4.
  // In the template: 3 * 5, 2 * 5, -4 * 5.
  expect("part 0", part0(), {16, 49, -1, 15, 15});
  expect("part 1", part1(), {17, 13, -5, 10, 10});
  expect("part 2", part2(), {-15, 115, 2.25f, -20, -20});
  return wrong;
}
