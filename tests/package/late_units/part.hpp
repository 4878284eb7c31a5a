// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tagma/tagma.hpp>

#include <tagma/late.hpp>

struct answers {
  float at_scope, in_function, trained, early, late;
};
answers part0();
answers part1();
answers part2();

/// One name for the linker if the files' handles have one type, whatever they stand for.
template <class E, class X, class... When>
float sum_of(const E& value, const X& x, const tagma::tensor<float>& in, When... when) {
  tagma::session session(tagma::compile([=] { return tagma::outputs(tagma::sum(value)); }, when...));
  return session.run(tagma::sum(value), x = in);
}
