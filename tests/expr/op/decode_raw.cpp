// SPDX-License-Identifier: BSL-1.0
#include "tagma/expr/op/decode_raw.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "support/errors.hpp"
#include "tagma/readers.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using text = std::string_view;
using texts = tg::tensor<text>;
using tg::test::text_of;

constexpr auto in = tg::placeholder<"in", text, tg::dyn>();
constexpr auto one = tg::placeholder<"one", text>();

}  // namespace

TEST_CASE("bytes are elements, in either order") {
  const auto bytes = tg::decode_raw<std::uint8_t, 4>(in);
  const auto little = tg::decode_raw<std::int16_t, 2>(in);
  const auto big = tg::decode_raw<std::int16_t, 2, false>(in);
  const auto open = tg::decode_raw<std::int32_t>(in);
  const auto scalar = tg::decode_raw<float>(one);
  const auto total = tg::sum(tg::cast<float>(open));
  tg::session s(tg::compile([=] { return tg::outputs(bytes, little, big, open, scalar, total); }));
  const texts two({2}, {text("\1\2\3\4", 4), text("\0\0\xff\xff", 4)});
  CHECK(s.run(bytes, in = two) == tg::tensor<std::uint8_t>({2, 4}, {1, 2, 3, 4, 0, 0, 255, 255}));
  CHECK(s.run(little, in = two) == tg::tensor<std::int16_t>({2, 2}, {0x201, 0x403, 0, -1}));
  CHECK(s.run(big, in = two) == tg::tensor<std::int16_t>({2, 2}, {0x102, 0x304, 0, -1}));
  CHECK(s.run(open, in = two) == tg::tensor<std::int32_t>({2, 1}, {0x4030201, static_cast<std::int32_t>(0xffff0000)}));
  const float values[] = {1.5f, -2.0f, 3.25f};
  const std::string raw(reinterpret_cast<const char*>(values), sizeof values);
  CHECK(s.run(scalar, one = raw) == tg::tensor<float>({3}, {1.5f, -2.0f, 3.25f}));
  for (const int n : {0, 1, 5}) {
    const std::string row(static_cast<std::size_t>(4 * n), '\0');
    CHECK(s.run(open, in = texts({3}, {row, row, row})).dims() == tg::shape{3, n});
  }
  CHECK(s.run(open, in = texts({0}, {})).dims() == tg::shape{0, 0});
  CHECK(s.run(total, in = two) == 67305985.0f - 65536.0f);
  CHECK_THAT(text_of([&] {
               (void)s.run(bytes, in = texts({2}, {"1234", "123"}));
             }),
             Catch::StartsWith("InvalidArgument: decode_raw #") &&
                 Catch::Contains("text 1 has 3 bytes, expected 4 elements of 1 bytes"));
  CHECK_THAT(text_of([&] {
               (void)s.run(open, in = texts({2}, {"1234", "12345678"}));
             }),
             Catch::Contains("text 1 has 8 bytes, expected 1 elements of 4 bytes"));
}
