// SPDX-License-Identifier: BSL-1.0
#include "tagma/plan/program.hpp"

#include <catch2/catch.hpp>

#include "support/errors.hpp"
#include "tagma/expr/op/gradient.hpp"
#include "tagma/expr/op/matmul.hpp"
#include "tagma/expr/op/softmax.hpp"
#include "tagma/expr/op/state.hpp"
#include "tagma/expr/operators.hpp"

namespace {

using namespace tagma;
using test::thrown;

constexpr auto zeros = static_initializer<initializer_kind::zeros>{};
constexpr auto x = placeholder<"x", float, dyn, 4>();
constexpr auto y = placeholder<"y", std::uint8_t, dyn>();
constexpr auto w = variable<"w", float, 4, 3>(zeros);
constexpr auto loss = mean(sparse_softmax_cross_entropy(matmul(x, w), y));
constexpr auto train = assign_sub(w, gradient(loss, w));

constexpr auto closure = [] { return outputs(loss, train); };
using program_type = program<decltype(closure)>;

// The literal is the same for every compiler, standard library and run: that is what it is for.
static_assert(program_type::fingerprint() == 0x7CE01540718EF60A);
static_assert(program_type::node_count() == 15);

// Logits, over which their gradient is written, beside three blocks of up to 64 bytes.
static_assert(program_type::peak_bytes(16) == 16 * 3 * 4 + 3 * 64);
static_assert(program_type::peak_bytes(1) == 4 * 64);

TEST_CASE("a batch that leads beyond all memory has no peak") {
  CHECK(thrown([] { (void)program_type::peak_bytes(extent{1} << 55); }).code() == status_code::resource_exhausted);
  CHECK(thrown([] { (void)program_type::peak_bytes(INT64_MAX); }).code() == status_code::resource_exhausted);
  CHECK(thrown([] { (void)program_type::peak_bytes(-2); }).code() == status_code::invalid_argument);
  constexpr extent most = extent{1} << 51;
  CHECK(program_type::peak_bytes(most) == most * 3 * 4 + most * 4 + 2 * 64);
  CHECK(thrown([] { (void)program_type::peak_bytes(extent{1} << 52); }).code() == status_code::resource_exhausted);
}

// Names, shapes and edges all count.
template <class Closure>
constexpr std::uint64_t print_of(const Closure&) {
  return program<Closure>::fingerprint();
}
constexpr auto renamed = [] { return outputs(matmul(x, variable<"v", float, 4, 3>(zeros))); };
constexpr auto original = [] { return outputs(matmul(x, w)); };
constexpr auto again = [] { return outputs(matmul(x, w)); };
constexpr auto wider = [] { return outputs(matmul(x, variable<"w", float, 4, 5>(zeros))); };
static_assert(print_of(original) == print_of(again) && print_of(original) != print_of(renamed));
static_assert(print_of(original) != print_of(wider));
// So do outputs and their order.
constexpr auto both = [] { return outputs(x, w); };
constexpr auto swapped = [] { return outputs(w, x); };
static_assert(print_of(both) != print_of(swapped));
static_assert(print_of([] { return outputs(matmul(x, w), w); }) != print_of(original));

TEST_CASE("a program carries the numbers that were written into it") {
  const auto scaled = 2.0f * matmul(x, w);
  const auto p = compile([=] { return outputs(scaled); });
  CHECK(p.values().find(0)->number == 2);
  CHECK(decltype(p)::node_count() == 5);
}

}  // namespace
