// SPDX-License-Identifier: BSL-1.0
#include "tagma/device/update_rules.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <initializer_list>
#include <string_view>

#include "tagma/device/cpu/math.hpp"

namespace {

using namespace tagma::device;
namespace op = tagma::op;

/// Three steps of a rule over single elements and over a pack of them.
template <class Update>
void check_rule(std::initializer_list<double> numbers) {
  INFO(std::string_view(Update::name));
  using P = cpu::pack<double, 2>;  // what every processor has
  constexpr std::size_t slots = Update::slots.size();
  update_numbers<double> h;
  h.rate = 0.1;
  std::size_t count = 0;
  for (const double n : numbers) h.number[count++] = n;
  double v[8], g[8], s[slots + 1][8]{};
  for (int i = 0; i < 8; ++i) {
    v[i] = 0.3 * i - 1;
    g[i] = i == 5 ? 0 : 0.05 * i * i - 1;
    for (std::size_t k = 0; k < slots; ++k) s[k][i] = 1.5 / static_cast<double>(1 + 8 * k);
  }
  P pv[4], ps[4][slots + 1]{};
  for (int p = 0; p < 4; ++p) {
    pv[p] = cpu::load<2>(v + 2 * p);
    for (std::size_t k = 0; k < slots; ++k) ps[p][k] = cpu::load<2>(s[k] + 2 * p);
  }
  for (int step = 0; step < 3; ++step) {
    for (int p = 0; p < 4; ++p) update_rule<Update>::apply(pv[p], ps[p], cpu::load<2>(g + 2 * p), h);
    for (int i = 0; i < 8; ++i) {
      double one[slots + 1]{};
      for (std::size_t k = 0; k < slots; ++k) one[k] = s[k][i];
      update_rule<Update>::apply(v[i], one, g[i], h);
      for (std::size_t k = 0; k < slots; ++k) s[k][i] = one[k];
    }
  }
  for (int i = 0; i < 8; ++i) {
    CHECK(cpu::lane(pv[i / 2], i % 2) == Approx(v[i]).epsilon(1e-12));
    CHECK((g[i] == 0 || v[i] != 0.3 * i - 1));
    for (std::size_t k = 0; k < slots; ++k) CHECK(cpu::lane(ps[i / 2][k], i % 2) == Approx(s[k][i]).epsilon(1e-12));
  }
}

}  // namespace

TEST_CASE("a rule is the same over elements and over packs") {
  check_rule<op::apply_sgd>({});
  check_rule<op::apply_momentum>({0.9, 0});
  check_rule<op::apply_momentum>({0.9, 1});
  check_rule<op::apply_adagrad>({});
  check_rule<op::apply_adadelta>({0.9, 1e-3});
  check_rule<op::apply_rmsprop>({0.9, 0.5, 1e-3});
  check_rule<op::apply_centered_rmsprop>({0.1, 0.5, 4});
  check_rule<op::apply_adam>({0.1, 0.01, 1e-6});
  check_rule<op::apply_adamw>({0.1, 0.01, 1e-6, 0, 0.97});
  check_rule<op::apply_ftrl>({-0.5, 0, 0.01, 0.02, 0.03});
}

TEST_CASE("ftrl keeps an element at zero while its slot is below l1") {
  update_numbers<double> h;
  h.rate = 0.1;
  h.number[0] = -0.5;
  h.number[2] = 2;
  for (const double sign : {1.0, -1.0}) {
    double v = 0, s[] = {1, 0};
    update_rule<op::apply_ftrl>::apply(v, s, 1.5 * sign, h);
    CHECK(v == 0);
    CHECK(s[1] == 1.5 * sign);
    update_rule<op::apply_ftrl>::apply(v, s, 1.5 * sign, h);
    CHECK(v * sign < 0);
  }
}

TEST_CASE("the numbers of an update stand behind its gradient; Adam's rate is corrected for the step") {
  double numbers[] = {0.1, 0.9, 0.99, 1e-6, 0.25};
  std::int64_t step = 1;
  tagma::runtime::operand in[10];
  const auto put = [&](std::size_t i, auto& x) { in[i].data = reinterpret_cast<std::byte*>(&x); };
  put(4, numbers[0]);
  put(5, step);
  for (std::size_t i = 1; i < 5; ++i) put(5 + i, numbers[i]);
  tagma::runtime::kernel_args args;
  args.in = in;
  const double corrected = 0.1 * std::sqrt(1 - 0.99 * 0.99) / (1 - 0.9 * 0.9);
  const auto w = read_numbers<op::apply_adamw, float>({args, 2, 10});
  CHECK(w.rate == Approx(corrected));
  CHECK(w.number[0] == static_cast<float>(1 - 0.9));  // no difference of floats
  CHECK(w.number[1] == static_cast<float>(1 - 0.99));
  CHECK(w.number[2] == 1e-6f);
  CHECK(w.number[4] == Approx(1 - 0.1 * 0.25));
  const auto a = read_numbers<op::apply_adam, double>({args, 2, 9});
  CHECK(a.rate == Approx(corrected));
  CHECK(a.number[3] == 0);
  CHECK(read_numbers<op::apply_adadelta, double>({args, 2, 8}).rate == 0.1);
}
