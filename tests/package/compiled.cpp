// SPDX-License-Identifier: BSL-1.0
// A program that trains, saves and restores with the compiled half, from two files: this one and compiled_other.cpp.
#include <tagma/tagma.hpp>
#include <tagma/train.hpp>

#include <cstdio>
#include <cstring>
#include <string>

#ifndef TAGMA_COMPILED
#error "the consumer was to be compiled for the compiled half"
#endif

namespace tg = tagma;

std::string sentence_of_another_file();

int main(int argc, char** argv) {
  if (argc != 2 || std::strcmp(TAGMA_VERSION, argv[1]) != 0) return 2;
  const auto x = tg::placeholder<"x", float, tg::dyn, 2>();
  const auto y = tg::placeholder<"y", float, tg::dyn, 1>();
  const auto out = tg::dense<"out", 1>(x);
  const auto loss = tg::mean(tg::square(out - y));
  const auto train = tg::minimize(loss, tg::sgd{.learning_rate = 0.1});
  const auto program = tg::compile([=] { return tg::outputs(loss, train); });
  tg::session session(program, {.seed = 1});
  tg::tensor<float> in(tg::shape{8, 2}), wanted(tg::shape{8, 1});
  for (int i = 0; i < 8; ++i) {
    in(i, 0) = static_cast<float>(i & 1), in(i, 1) = static_cast<float>(i >> 1 & 1);
    wanted(i, 0) = 2 * in(i, 0) - in(i, 1);
  }
  for (int step = 0; step < 500; ++step) session.run(train, x = in, y = wanted);
  const auto end = session.run(loss, x = in, y = wanted);
  std::printf("loss %g; %s\n", static_cast<double>(end), sentence_of_another_file().c_str());
  if (!(end < 1e-6F) || sentence_of_another_file() != "InvalidArgument: a shape has at most 6 axes, not 7") return 1;
  tg::save(session, "compiled.safetensors");
  tg::session again(program, {.seed = 2});
  tg::restore(again, "compiled.safetensors");
  const bool same = again.run(loss, x = in, y = wanted) == end;
  std::remove("compiled.safetensors");
  return same ? 0 : 1;
}
