// SPDX-License-Identifier: BSL-1.0
#include "tagma/runtime/bound_plan.hpp"

#include <catch2/catch.hpp>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "tagma/tagma.hpp"
#include "tagma/with_macros.hpp"

namespace tg = tagma;

/// What programs define may infer less in a run than while it is compiled, or something else.
struct guesses_rows {
  static constexpr std::string_view name = "guesses_rows";
  static constexpr tg::ir::op_kind kind = tg::ir::op_kind::compute;
  static constexpr const char* infer(tg::ir::infer_args& a) {
    a.out = a.in[0];
    if (a.out.dims[0] == tg::dyn) a.out.dims[0] = 7;
    return nullptr;
  }
};
struct forgets_rows {
  static constexpr std::string_view name = "forgets_rows";
  static constexpr tg::ir::op_kind kind = tg::ir::op_kind::compute;
  static constexpr const char* infer(tg::ir::infer_args& a) {
    a.out = a.in[0];
    a.out.dims[0] = tg::dyn;
    return nullptr;
  }
};
namespace tagma::device {
struct copying_kernel {
  template <dtype Out, dtype...>
  static constexpr kernel_entry entry{[](const kernel_args& args, const run_context&) {
    std::memcpy(args.out.data, args.in[0].data, args.out.bytes());
  }};
};
template <>
struct kernel<on_cpu, ir::key<guesses_rows>> : copying_kernel {};
template <>
struct kernel<on_cpu, ir::key<forgets_rows>> : copying_kernel {};
}  // namespace tagma::device

namespace {

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 8>();
constexpr auto k = tg::placeholder<"k", float, 8, 4>();
constexpr auto y = tg::softmax(tg::matmul(x, k));
constexpr auto program = [] { return tg::outputs(y); };

TEST_CASE("the arena of a run is what the compiler said it would be") {
  using type = tg::program<decltype(program)>;
  for (const tg::extent batch : {0, 1, 5, 64}) {
    tg::session session(tg::compile(program));
    session.run(y, x = tg::tensor<float>(tg::shape{batch, 8}), k = tg::tensor<float>(tg::shape{8, 4}));
    CHECK(session.core().arena_bytes() == static_cast<std::size_t>(type::peak_bytes(batch)));
  }
}

TEST_CASE("a session remembers a few batch sizes and forgets the oldest") {
  tg::session session(tg::compile(program));
  const tg::tensor<float> kernel(tg::shape{8, 4});
  std::size_t largest = 0;
  for (tg::extent batch = 1; batch <= 200; ++batch) {
    const auto r = session.run(y, x = tg::tensor<float>(tg::shape{batch, 8}), k = kernel);
    CHECK(r.dims() == tg::shape{batch, 4});
    CHECK(r[0] == 0.25f);
    largest = std::max(largest, session.core().arena_bytes());
  }
  CHECK(largest <= 64 * static_cast<std::size_t>(tg::program<decltype(program)>::peak_bytes(200)));
  CHECK(session.run(y, x = tg::tensor<float>(tg::shape{1, 8}), k = kernel)[3] == 0.25f);
}

TEST_CASE("a plan serves runs whose feeds have the same extents each, not some of them") {
  const auto z = tg::placeholder<"z", float, tg::dyn>();
  const auto first = tg::sum<1>(x);
  const auto second = tg::exp(z);
  tg::session session(tg::compile([=] { return tg::outputs(first, second); }));
  for (const auto& [rows, count] : {std::pair{2, 3}, {2, 5}, {4, 5}, {2, 3}, {1, 5}, {2, 5}}) {
    tg::tensor<float> ones(tg::shape{rows, 8});
    for (float& v : ones.span()) v = 1;
    const auto [a, b] = session.run(tg::fetch(first, second), x = ones, z = tg::tensor<float>(tg::shape{count}));
    CHECK(a == tg::tensor<float>(tg::shape{rows}, std::vector<float>(static_cast<std::size_t>(rows), 8)));
    CHECK(b == tg::tensor<float>(tg::shape{count}, std::vector<float>(static_cast<std::size_t>(count), 1)));
  }
}

TEST_CASE("a tensor that dies is no room for a wider one, nor for a narrower one") {
  // Long enough that a loop over elements of another size would meet what it has still to read, and that threads share.
  constexpr tg::extent rows = 5000;
  const auto precise = tg::placeholder<"precise", double, tg::dyn, 8>();
  const auto identity = tg::placeholder<"identity", float, 8, 8>();
  const auto wide = tg::cast<double>(tg::matmul(x, identity));
  const auto narrow = tg::cast<float>(tg::matmul(precise, tg::cast<double>(identity)));
  const auto beside = tg::matmul(identity, identity);  // what would be overwritten, or overwrite
  const auto behind = tg::matmul(x, tg::transpose(identity));
  tg::session session(tg::compile([=] { return tg::outputs(wide, narrow, beside, behind); }));
  tg::tensor<float> in(tg::shape{rows, 8}), one(tg::shape{8, 8});
  tg::tensor<double> same(tg::shape{rows, 8});
  for (tg::extent i = 0; i < 8; ++i) one[9 * i] = 1;
  for (tg::extent i = 0; i < rows * 8; ++i) same[i] = static_cast<double>(in[i] = static_cast<float>(i));
  const auto [as_double, small, large] = session.run(tg::fetch(wide, beside, behind), x = in, identity = one);
  const auto as_float = session.run(narrow, precise = same, identity = one);
  tg::extent wrong = 0;
  for (tg::extent i = 0; i < rows * 8; ++i)
    wrong += as_double[i] != same[i] || as_float[i] != in[i] || large[i] != in[i];
  CHECK(wrong == 0);
  CHECK(small == one);
}

template <class Op, tg::expression E, class Place = TAGMA_FRESH_TYPE(E)>
constexpr auto of(const E& e) {
  return tg::make_operation<Op, tg::ir::attributes<0>{}, Place>(e);
}

TEST_CASE("what an operation infers in a run must be known, and fit what it inferred for the compiler") {
  const auto guess = of<guesses_rows>(x);
  const auto unknown = of<forgets_rows>(x);
  tg::session session(tg::compile([=] { return tg::outputs(guess, unknown); }));
  const tg::tensor<float> seven(tg::shape{7, 8}), six(tg::shape{6, 8});
  CHECK(session.run(guess, x = seven).dims() == tg::shape{7, 8});
  const tg::error other = tg::test::thrown([&] { static_cast<void>(session.run(guess, x = six)); });
  CHECK(other.code() == tg::status_code::invalid_argument);
  CHECK_THAT(other.what(), Catch::Contains("guesses_rows #1: the result does not fit float32 [7, 8]; its inputs are "
                                           "float32 [6, 8]"));
  const tg::error none = tg::test::thrown([&] { static_cast<void>(session.run(unknown, x = six)); });
  CHECK(none.code() == tg::status_code::invalid_argument);
  CHECK_THAT(none.what(), Catch::Contains("forgets_rows #2: the result does not fit float32 [?, 8]; its inputs are "
                                          "float32 [6, 8]"));
}

TEST_CASE("scalars keep their value in every element type") {
  std::byte bytes[16]{};
  const auto stored = [&bytes](auto type, double number) {
    using T = decltype(type);
    tg::runtime::detail::store_scalar(bytes, tg::dtype_of<T>, number, static_cast<std::int64_t>(number));
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return static_cast<double>(value);
  };
  CHECK(stored(double{}, 0.1) == 0.1);
  CHECK(stored(float{}, 0.5) == 0.5);
  CHECK(stored(std::int64_t{}, -7) == -7);
  CHECK(stored(std::int32_t{}, -7) == -7);
  CHECK(stored(std::int16_t{}, 300) == 300);
  CHECK(stored(std::int8_t{}, -5) == -5);
  CHECK(stored(std::uint8_t{}, 200) == 200);
  CHECK(stored(bool{}, 2) == 1);
  tg::runtime::detail::store_scalar(bytes, tg::dtype::bfloat16, 1.5, 1);
  tg::bfloat16 b;
  std::memcpy(&b, bytes, 2);
  CHECK(static_cast<float>(b) == 1.5f);
  tg::runtime::detail::store_scalar(bytes, tg::dtype::bfloat16, 1 + 0x1p-8 + 0x1p-40, 1);  // not by way of a float
  std::memcpy(&b, bytes, 2);
  CHECK(static_cast<float>(b) == 1 + 0x1p-7f);
}

}  // namespace
