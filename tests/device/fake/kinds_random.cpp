// SPDX-License-Identifier: BSL-1.0
// Random graphs over CPUs and two kinds of devices compute what they compute on a CPU.
#include <catch2/catch.hpp>
#include <cstring>
#include <tuple>
#include <vector>

#include "support/two_kinds.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
namespace fake = tg::device::fake;
using tg::test::npu_machine;

constexpr auto x = tg::placeholder<"random_kinds_x", float, tg::dyn, 4>();
constexpr auto y = tg::placeholder<"random_kinds_y", float, tg::dyn, 4>();

/// Number `i` of a seed, below `n`.
constexpr std::uint32_t draw(int seed, int i, std::uint32_t n) {
  return tg::random_block({static_cast<std::uint64_t>(seed), 1, 0}, static_cast<std::uint64_t>(i))[0] % n;
}

/// The scope of node `I`, around what it adds to its operands.
template <bool Spread, int Seed, int I>
constexpr auto somewhere(const auto& f) {
  constexpr std::uint32_t place = Spread ? draw(Seed, 4 * I, 5) : 0;
  if constexpr (place == 1)
    return tg::on<"/gpu:0">(f);
  else if constexpr (place == 2)
    return tg::on<"/device:NPU:0">(f);
  else if constexpr (place == 3)
    return tg::on<"/gpu:1">(f);
  else if constexpr (place == 4)
    return tg::on<"/device:NPU:1">(f);
  else
    return tg::on<"/cpu:0">(f);
}

template <int I>
inline constexpr char digit[2] = {static_cast<char>('a' + I), 0};

template <int Seed, int I>
constexpr auto operation = [](const auto& a, const auto& b) {
  constexpr std::uint32_t kind = draw(Seed, 4 * I + 1, 6);
  if constexpr (kind == 0)
    return a + 0.5f * b;
  else if constexpr (kind == 1)
    return tg::tanh(a) * b;
  else if constexpr (kind == 2)
    return tg::tanh(tg::matmul(a, tg::variable<tg::fixed_string(digit<I>), float, 4, 4>(tg::glorot_uniform))) - b;
  else if constexpr (kind == 3)
    return tg::relu(a - b) + 0.125f;
  else if constexpr (kind == 4)
    return a * tg::sum<0>(b) * 0.25f;
  else
    return tg::softmax(a) + tg::sigmoid(b);
};

/// Adds nodes `I` to `N` - 1, each of two that are there.
template <bool Spread, int Seed, int I, int N, class... E>
constexpr auto add_nodes(const std::tuple<E...>& there) {
  if constexpr (I == N) {
    return there;
  } else {
    constexpr std::size_t n = sizeof...(E);
    const auto& a = std::get<draw(Seed, 4 * I + 2, n)>(there);
    const auto& b = std::get<n - 1 - draw(Seed, 4 * I + 3, n < 3 ? n : 3)>(there);
    return add_nodes<Spread, Seed, I + 1, N>(
        std::tuple_cat(there, std::make_tuple(somewhere<Spread, Seed, I>(operation<Seed, I>)(a, b))));
  }
}

template <bool Spread, int Seed>
auto outputs_of() {
  constexpr int nodes = 9;
  const auto all = add_nodes<Spread, Seed, 0, nodes>(std::make_tuple(x, y));
  const auto last = std::get<nodes + 1>(all);
  const auto before = std::get<nodes>(all);
  const auto weight = somewhere<Spread, Seed, nodes>([](const auto& a) {
    return tg::matmul(a, tg::variable<"random_kinds_w", float, 4, 4>(tg::glorot_uniform));
  })(last);
  const auto loss = somewhere<Spread, Seed, nodes + 1>(
      [](const auto& a, const auto& b) { return tg::mean(tg::square(a - b)); })(weight, before);
  return std::make_tuple(last, before, std::get<nodes - 2>(all), loss,
                         tg::minimize(loss, tg::momentum{.learning_rate = 0.05}));
}

tg::tensor<float> numbers(tg::extent rows, std::uint64_t seed) {
  tg::tensor<float> t({rows, 4});
  for (std::size_t i = 0; i < t.size(); ++i)
    t.data()[i] = static_cast<float>(tg::random_block({seed, 1, 0}, i)[0] % 1024) / 512 - 1;
  return t;
}

/// The bytes of all results of some runs.
std::vector<float> results_of(const auto& outputs, const tg::session_options& options) {
  return std::apply(
      [&](const auto& a, const auto& b, const auto& c, const auto& loss, const auto& step) {
        tg::session session(tg::compile([=] { return tg::outputs(a, b, c, loss, step); }), options);
        std::vector<float> all;
        const auto add = [&](const tg::tensor<float>& t) { all.insert(all.end(), t.span().begin(), t.span().end()); };
        for (const tg::extent rows : {3, 3, 3, 5, 3}) {
          const auto got = session.run(tg::fetch(a, b, c, loss, step), x = numbers(rows, 1), y = numbers(rows, 2));
          add(std::get<0>(got));
          add(std::get<1>(got));
          add(std::get<2>(got));
          all.push_back(std::get<3>(got));
        }
        return all;
      },
      outputs);
}

template <int Seed>
void check_seed() {
  const auto options = [](int streams, bool graphs) {
    return tg::session_options{
        .seed = 3, .gpu = {.memory_fraction = 1, .allow_growth = true, .streams = streams, .graphs = graphs}};
  };
  const std::vector<float> expected = results_of(outputs_of<false, Seed>(), options(1, false));
  for (std::uint64_t order = 0; order < 6; ++order) {
    INFO("seed " << Seed << ", order " << order);
    fake::machine gpus({.devices = 2, .seed = order, .eager = order % 2 == 0 ? 0 : 64});
    npu_machine npus({.devices = 2, .seed = order + 5, .eager = order % 3 == 0 ? 0 : 64});
    const auto got = results_of(outputs_of<true, Seed>(), options(1 + static_cast<int>(order % 3), order % 2 == 0));
    REQUIRE(got.size() == expected.size());
    CHECK(std::memcmp(got.data(), expected.data(), got.size() * sizeof(float)) == 0);
  }
}

TEST_CASE("random graphs over two kinds of devices compute and learn the bytes of the CPU") {
  check_seed<1>();
  check_seed<2>();
  check_seed<3>();
}

}  // namespace
