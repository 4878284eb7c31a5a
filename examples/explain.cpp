// SPDX-License-Identifier: BSL-1.0
// What the compiler made of a program: each node with its step, loop and place in memory. With --dot, the graph for
// Graphviz: ./explain --dot | dot -Tsvg > graph.svg
#include <tagma/plan/print.hpp>
#include <tagma/tagma.hpp>

#include <cstdio>
#include <string_view>

namespace tg = tagma;
constexpr auto x = tg::placeholder<"x", float, tg::dyn, 3>();
constexpr auto y = tg::placeholder<"y", float, tg::dyn, 2>();

int main(int argc, char** argv) {
  auto guess = tg::dense<"layer", 2>(x, tg::tanh);
  auto loss = tg::mean(tg::square(guess - y));
  auto train = tg::minimize(loss, tg::sgd{.learning_rate = 0.1});
  auto program = tg::compile([=] { return tg::outputs(loss, train); });
#if !defined(TAGMA_LATE)  // a program that is compiled late has a function in its place
  using type = decltype(program);
  static_assert(type::peak_bytes(/*batch*/ 1000) <= 32'000);
#endif

  if (argc > 1 && std::string_view(argv[1]) == "--dot") return std::fputs(tg::to_dot(program).c_str(), stdout) < 0;
  std::fputs(tg::explain(program, 1000).c_str(), stdout);
}
