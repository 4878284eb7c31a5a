// SPDX-License-Identifier: BSL-1.0
#include "tools/programs.hpp"

#include "tagma/program_files.hpp"
#include "tagma/programs.hpp"
#include "tagma/tagma.hpp"

namespace tagma::test {

namespace {

constexpr auto x = placeholder<"x", float, dyn, 8>();
constexpr auto labels = placeholder<"labels", int, dyn>();

auto make_network() {
  const auto logits = dense<"out", 4>(dense<"hidden", 16>(x, relu));
  const auto loss = mean(sparse_softmax_cross_entropy(logits, labels));
  const auto train = minimize(loss, adam{.learning_rate = 0.1});
  return std::tuple(loss, train, logits);
}

}  // namespace

void write_network(const std::string& path) {
  const auto [loss, train, logits] = make_network();
  write_program(
      any_program(compile([l = loss, t = train, y = logits] { return outputs(l, t, y); }), {"loss", "train", "logits"}),
      path);
}

network_says ask_network(const tensor<float>& in, const tensor<int>& of, std::uint64_t seed, int steps) {
  const auto [loss, train, logits] = make_network();
  session s(compile([l = loss, t = train, y = logits] { return outputs(l, t, y); }), {.seed = seed});
  for (int i = 0; i < steps; ++i) (void)s.run(train, x = in, labels = of);
  auto [l, y] = s.run(fetch(loss, logits), x = in, labels = of);
  return {l, std::move(y)};
}

void write_mixture(const std::string& path) {
  constexpr auto d = placeholder<"d", double, dyn, dyn>();
  constexpr auto h = placeholder<"h", float16, 3>();
  constexpr auto i = placeholder<"i", std::int64_t, dyn>();
  constexpr auto u = placeholder<"u", std::uint8_t, dyn>();
  constexpr auto b = placeholder<"b", bool, 2, 2>();
  constexpr auto t = placeholder<"t", string_element, dyn>();
  constexpr auto rate = placeholder<"rate", float>();
  const auto v = variable<"v", float>(ones);
  const auto sum = assign_add(v, rate);
  const auto far = on<"/device:CPU:2">([](const auto& r) { return r * 2.0f; })(rate);
  write_program(any_program(compile([=] {
                              return outputs(d * 2.0, h + h, i + i, cast<int>(u), logical_not(b), reshape<1, dyn>(t),
                                             sum, far);
                            }),
                            {"d_out", "h_out", "i_out", "u_out", "b_out", "t_out", "sum", "far"}),
                path);
}

void write_named(const std::string& path, const std::string& name) {
  const auto v = variable<"v", float, 3>(ones);
  write_program(any_program(compile([=] { return outputs(v); }), {name}), path);
}

}  // namespace tagma::test
