// SPDX-License-Identifier: BSL-1.0
#include "tagma/tensor/tensor.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/errors.hpp"

using tagma::shape;
using tagma::tensor;
using tagma::view;
using tagma::test::code_of, tagma::test::text_of;

static_assert(std::is_convertible_v<float, tensor<float>>);
static_assert(std::is_convertible_v<int, tensor<float>>);
static_assert(!std::is_convertible_v<double, tensor<std::int32_t>>);
static_assert(!std::is_convertible_v<shape, tensor<float>>);
static_assert(std::is_convertible_v<tensor<float>&, view<float>>);
static_assert(std::is_convertible_v<tensor<float>&, view<const float>>);
static_assert(std::is_convertible_v<const tensor<float>&, view<const float>>);
static_assert(!std::is_convertible_v<const tensor<float>&, view<float>>);
static_assert(std::is_nothrow_move_constructible_v<tensor<float>>);
static_assert(std::is_nothrow_move_assignable_v<tensor<float>>);

namespace {

bool inside(const auto& object, const void* p) {
  const auto first = reinterpret_cast<std::uintptr_t>(&object), at = reinterpret_cast<std::uintptr_t>(p);
  return at >= first && at < first + sizeof(object);
}

}  // namespace

TEST_CASE("a tensor of a shape is zero and aligned") {
  tensor<float> t(shape{3, 5});
  CHECK(t.size() == 15);
  CHECK(t.dims() == shape{3, 5});
  CHECK(reinterpret_cast<std::uintptr_t>(t.data()) % tagma::tensor_alignment == 0);
  for (const float x : t) CHECK(x == 0.0f);
  t(2, 4) = 1.0f;
  CHECK(t[14] == 1.0f);
  CHECK(std::as_const(t)(2, 4) == 1.0f);
  CHECK(code_of([&] { (void)t(3, 0); }) == tagma::status_code::out_of_range);
}

TEST_CASE("tensors of many megabytes are as others") {
  for (const std::int64_t size :
       {(std::int64_t{1} << 22) - 1, std::int64_t{1} << 22, (std::int64_t{1} << 22) + 1, std::int64_t{5000011}}) {
    tensor<std::int8_t> t(shape{size});
    CHECK(std::all_of(t.begin(), t.end(), [](std::int8_t x) { return x == 0; }));
    CHECK(reinterpret_cast<std::uintptr_t>(t.data()) % tagma::tensor_alignment == 0);
    t[0] = 1, t[size - 1] = 2;
    const tensor<std::int8_t> copy = t;
    CHECK(copy == t);
    CHECK(copy[size - 1] == 2);
  }
}

TEST_CASE("a tensor takes as many values as its shape has elements") {
  const tensor<float> t({2, 2}, {1, 2, 3, 4});
  CHECK(t(1, 0) == 3.0f);
  const std::vector<float> values{1, 2, 3, 4};
  CHECK(t == tensor<float>({2, 2}, std::span<const float>(values)));
  CHECK(t == tensor<float>({2, 2}, values));
  CHECK_FALSE(t == tensor<float>({4}, {1, 2, 3, 4}));
  CHECK_FALSE(t == tensor<float>({2, 2}, {1, 2, 3, 5}));
  CHECK(code_of([] { tensor<float>({2, 2}, {1, 2, 3}); }) == tagma::status_code::invalid_argument);
  CHECK(code_of([] { tensor<float>({2, 2}, {1, 2, 3, 4, 5}); }) == tagma::status_code::invalid_argument);
}

TEST_CASE("a scalar lives inside the object, also after copies and moves") {
  tensor<double> t = 2.5;
  CHECK(t.dims().rank == 0);
  CHECK(t.size() == 1);
  CHECK(t() == 2.5);
  CHECK(inside(t, t.data()));

  tensor<double> copy = t;
  CHECK(inside(copy, copy.data()));
  copy() = 3;
  CHECK(t() == 2.5);
  tensor<double> moved = std::move(copy);
  CHECK(inside(moved, moved.data()));
  CHECK(moved() == 3.0);
  CHECK(copy.empty());

  tensor<double> target(shape{100});
  target = std::move(moved);
  CHECK(inside(target, target.data()));
  CHECK(target() == 3.0);

  std::vector<tensor<float>> many;
  for (int i = 0; i < 40; ++i) many.emplace_back(static_cast<float>(i));
  for (int i = 0; i < 40; ++i) CHECK(many[static_cast<std::size_t>(i)]() == static_cast<float>(i));
}

TEST_CASE("copies are deep and moves keep the block") {
  tensor<std::int32_t> a({3}, {1, 2, 3});
  tensor<std::int32_t> b = a;
  b[0] = 9;
  CHECK(a[0] == 1);
  const auto* block = a.data();
  tensor<std::int32_t> c = std::move(a);
  CHECK(c.data() == block);
  CHECK(a.empty());
  CHECK(a.dims() == shape{0});
  a = c;
  CHECK(a == c);
  CHECK(a.data() != c.data());
  tensor<std::int32_t>& alias = a;
  a = alias;
  CHECK(a == c);
  a = std::move(alias);
  CHECK(a == c);
  a = 7;
  CHECK(a() == 7);
}

TEST_CASE("impossible shapes are errors") {
  CHECK(code_of([] { tensor<float>(shape{2, tagma::dyn}); }) == tagma::status_code::invalid_argument);
  CHECK(code_of([] { tensor<float>(shape{INT64_MAX, 2}); }) == tagma::status_code::resource_exhausted);
  CHECK(code_of([] { tensor<float>(shape{INT64_MAX / 2}); }) == tagma::status_code::resource_exhausted);
  const tensor<float> none(shape{4, 0});
  CHECK(none.empty());
  CHECK(none.begin() == none.end());
  CHECK(tensor<float>().empty());
}

TEST_CASE("a tensor that finds no memory says what it is and how much it asked for") {
  CHECK(text_of([] {
          tensor<float>(shape{1 << 20, 1 << 30});
        }) ==
        "ResourceExhausted: the host has no room for 4.0 PiB (4503599627370496 bytes), which a tensor of float32 "
        "[1048576, 1073741824] asks for");
  CHECK(text_of([] {
          tensor<float>(shape{3, -1});
        }) == "InvalidArgument: a tensor cannot have shape [3, ?]: every extent is a number that is not negative");
  CHECK(text_of([] {
          tensor<float>(shape{3, -2});
        }) == "InvalidArgument: a tensor cannot have shape [3, -2]: every extent is a number that is not negative");
  CHECK(code_of([] { tensor<float>(shape{INT64_MAX, 0, 2}); }) == tagma::status_code::resource_exhausted);
}

TEST_CASE("a shape of one extent in braces is no scalar") {
  const tensor<float> row({3});
  CHECK(row.dims() == shape{3});
  CHECK(row.size() == 3);
  const int n = 4;
  CHECK(tensor<std::uint8_t>({n}).dims() == shape{4});
  CHECK(tensor<int>({2, 3}).dims() == shape{2, 3});
  CHECK(tensor<int>({0}).empty());
  CHECK(tensor<int>(3).dims() == shape{});
  CHECK(text_of([] { tensor<int>({1, 1, 1, 1, 1, 1, 1}); }) == "InvalidArgument: a shape has at most 6 axes, not 7");
}

TEST_CASE("views refer to the tensor and can be copied out of it") {
  tensor<float> t({3, 2}, {1, 2, 3, 4, 5, 6});
  view all(t);
  static_assert(std::is_same_v<decltype(all), view<float>>);
  view constant(std::as_const(t));
  static_assert(std::is_same_v<decltype(constant), view<const float>>);
  t.rows(1, 2)(0, 1) = 40;
  CHECK(all(1, 1) == 40.0f);
  CHECK(tensor<float>(std::as_const(t).rows(1, 2)) == tensor<float>({1, 2}, {3, 40}));
  CHECK(tagma::erase(t).as<float>() == constant);
  CHECK(tagma::erase(t).data == t.data());
}

TEST_CASE("a tensor of strings owns its characters where it is told to") {
  tensor<tagma::string_element> kept;
  {
    const std::string words[] = {"first of all, a long one", "", "second"};
    tensor<tagma::string_element> t({3}, {words[0], words[1], words[2]});
    CHECK(t[0].data() == words[0].data());
    t.own_characters();
    CHECK(t[0].data() != words[0].data());
    kept = t;
    CHECK(kept[0].data() == t[0].data());
    t[2] = words[0];
    t.own_characters();  // of what it has and of what it was given
    CHECK(t == tensor<tagma::string_element>({3}, {words[0], words[1], words[0]}));
  }
  const tensor<tagma::string_element> moved = std::move(kept);
  CHECK(moved == tensor<tagma::string_element>({3}, {"first of all, a long one", "", "second"}));
  tensor<tagma::string_element> one("a scalar's text"), none({0}, {});
  one.own_characters(), none.own_characters();
  const auto copy = one;
  CHECK(copy() == "a scalar's text");
  CHECK(none.empty());
}

TEST_CASE("every element type has a tensor") {
  CHECK(tensor<bool>({2}, {true, false})[0]);
  CHECK(tensor<tagma::string_element>({2}, {"a", "bc"})[1] == "bc");
  CHECK(tensor<tagma::string_element>(shape{2})[1].empty());
  CHECK(float(tensor<tagma::float16>(tagma::float16(1.5f))()) == 1.5f);
  CHECK(tensor<tagma::bfloat16>(shape{3})[2].bits == 0);
}
