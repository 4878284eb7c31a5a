#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Prints a program with a residual network of the given number of blocks, with gradients and updates."""
import sys

blocks = int(sys.argv[1]) if len(sys.argv) > 1 else 100
print('// SPDX-License-Identifier: BSL-1.0')
print('#include "tagma/tagma.hpp"\n\n#include <cstdio>\n\nnamespace tg = tagma;\n\nint main() {')
print('  constexpr auto x = tg::placeholder<"x", float, 32, 64>();')
print('  constexpr auto y = tg::placeholder<"y", std::uint8_t, 32>();')
print('  const auto h0 = x;')
for i in range(blocks):
    print(f'  const auto h{i + 1} = tg::relu(tg::matmul(h{i}, tg::variable<"w{i}", float, 64, 64>(tg::glorot_uniform)) +'
          f' tg::variable<"b{i}", float, 64>(tg::zeros)) + h{i};')
print(f'  const auto loss = tg::mean(tg::sparse_softmax_cross_entropy(h{blocks}, y));')
print('  const auto train = tg::minimize(loss, tg::sgd{.learning_rate = 0.01});')
print('  const auto program = tg::compile([=] { return tg::outputs(loss, train); });')
print('  using P = std::remove_const_t<decltype(program)>;')
print('  tg::session session(program, {.seed = 1});')
print('  const tg::tensor<float> images(tg::shape{32, 64});')
print('  const tg::tensor<std::uint8_t> labels(tg::shape{32});')
print('  session.run(train, x = images, y = labels);')
print('  std::printf("%zu nodes, loss %g\\n", P::node_count(), static_cast<double>(session.run(loss, x = images, y = labels)));')
print('}')
