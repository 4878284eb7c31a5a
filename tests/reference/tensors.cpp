// SPDX-License-Identifier: BSL-1.0
// Examples of docs/reference/tensors.md.
#include <catch2/catch.hpp>

#include <tagma/explain.hpp>
#include <tagma/tagma.hpp>

#include <iostream>

#include "support/errors.hpp"
#include "support/texts.hpp"

namespace tg = tagma;
using tagma::test::text;
using tagma::test::thrown;

TEST_CASE("reference: element types") {
  // example: size_of, is_floating, is_integer, is_numeric, dtype, dtype_of, element_of, element
  static_assert(tg::dtype_of<float> == tg::dtype::float32);
  static_assert(std::is_same_v<tg::element_of<tg::dtype::uint8>, std::uint8_t>);
  static_assert(tg::element<bool> && !tg::element<char*>);
  std::size_t bytes = tg::size_of(tg::dtype::int64);    // 8
  bool derived = tg::is_floating(tg::dtype::bfloat16);  // true: it has gradients
  bool whole = tg::is_integer(tg::dtype::boolean);      // false
  bool adds = tg::is_numeric(tg::dtype::boolean);       // false
  // end
  CHECK(bytes == 8);
  CHECK(derived);
  CHECK_FALSE(whole);
  CHECK_FALSE(adds);

  // example: with_number_type
  std::size_t alignment = 0;
  tg::with_number_type(tg::dtype::float64,
                       [&](auto zero) { alignment = alignof(decltype(zero)); });  // zero is a double
  // end
  CHECK(alignment == alignof(double));
}

TEST_CASE("reference: tensors as text") {
  // example: to_string, operator<<, print_options
  tg::tensor<float> t({2, 3}, {1, 2, 3, 4, 5, 6.5f});
  std::cout << t << '\n';  // [[1, 2, 3], [4, 5, 6.5]], a line for each row
  std::string shortened = tg::to_string(t, {.threshold = 2, .edge = 1});
  std::string dims = tg::to_string(t.dims());                            // "[2, 3]"
  std::string spec = tg::to_string(tg::spec<float, tg::dyn, 8>::value);  // "float32 [?, 8]"
  std::string type(tg::to_string(tg::dtype::float32));                   // "float32"
  // end
  CHECK(text(t) == "[[1, 2, 3], [4, 5, 6.5]]");
  CHECK(shortened.find("...") != std::string::npos);
  CHECK(dims == "[2, 3]");
  CHECK(spec == "float32 [?, 8]");
  CHECK(type == "float32");
}

TEST_CASE("reference: short floats") {
  // example: float16, bfloat16
  tg::float16 half(1.0f / 3);                                                      // 11 significant bits
  float third = static_cast<float>(half);                                          // 0.333252
  auto eighth = static_cast<float>(tg::bfloat16(1.0f / 3));                        // 0.333984: 8 significant bits
  tg::tensor<tg::float16> small({2}, {tg::float16(0.5f), tg::float16(70000.0f)});  // the second is infinite
  // end
  CHECK(third == Approx(0.333252).epsilon(1e-5));
  CHECK(eighth == Approx(0.333984).epsilon(1e-5));
  CHECK(std::isinf(static_cast<float>(small.data()[1])));

  // example: float_to_half_bits, half_bits_to_float, float_to_bfloat16_bits, bfloat16_bits_to_float,
  // double_to_odd_float
  std::uint16_t one = tg::float_to_half_bits(1.0f);        // 0x3c00
  float two = tg::half_bits_to_float(0x4000);              // 2
  std::uint16_t upper = tg::float_to_bfloat16_bits(1.0f);  // 0x3f80
  float half_again = tg::bfloat16_bits_to_float(0x3f00);   // 0.5
  // A double is rounded once, not twice, on its way to 16 bits:
  std::uint16_t once = tg::float_to_half_bits(tg::double_to_odd_float(1.0 / 3));  // 0x3555
  // end
  CHECK(one == 0x3c00);
  CHECK(two == 2.0f);
  CHECK(upper == 0x3f80);
  CHECK(half_again == 0.5f);
  CHECK(once == 0x3555);
}

TEST_CASE("reference: shapes") {
  // example: shape, dyn, extent, compatible
  tg::shape batch{tg::dyn, 8};
  tg::shape of_run = batch.with_dyn(32);                 // [32, 8]
  tg::extent elements = of_run.elements();               // 256
  bool fits = tg::compatible(batch, of_run);             // true: tg::dyn may be anything
  bool other = tg::compatible(batch, tg::shape{32, 9});  // false
  // end
  CHECK(tg::to_string(of_run) == "[32, 8]");
  CHECK(elements == 256);
  CHECK(fits);
  CHECK_FALSE(other);

  // example: broadcastable, broadcast
  tg::shape column{32, 1}, row{8};
  bool both = tg::broadcastable(column, row);            // true
  tg::shape table = tg::broadcast(column, row);          // [32, 8]
  tg::shape open = tg::broadcast({tg::dyn, 8}, {1, 8});  // [?, 8]
  // end
  CHECK(both);
  CHECK(tg::to_string(table) == "[32, 8]");
  CHECK(tg::to_string(open) == "[?, 8]");
}

TEST_CASE("reference: sizes") {
  // example: tensor_spec, bytes_of, is_addressable, size_text, max_bytes
  tg::tensor_spec image{tg::dtype::float32, {28, 28}};
  tg::extent bytes = tg::bytes_of(image);  // 3136
  tg::tensor_spec huge{tg::dtype::float32, {1 << 21, 1 << 21, 1 << 21}};
  bool possible = tg::is_addressable(huge);  // false: more than tg::max_bytes
  std::string said = tg::size_text(huge);    // "float32 [2097152, 2097152, 2097152] of about 2^65 bytes"
  // end
  CHECK(bytes == 3136);
  CHECK_FALSE(possible);
  CHECK(said == "float32 [2097152, 2097152, 2097152] of about 2^65 bytes");

  // example: check_size
  std::string message;
  try {
    tg::check_size({tg::dtype::float32, {-3, 8}}, "a.bin: ");
  } catch (const tg::error& e) {
    message = e.what();  // InvalidArgument: a.bin: ...
  }
  // end
  CHECK(message.starts_with("InvalidArgument: a.bin: "));
  CHECK(thrown([] {
          tg::check_size({tg::dtype::float32, {1 << 21, 1 << 21, 1 << 21}});
        }).code() == tg::status_code::resource_exhausted);

  // example: count_elements, bounded_sum, bounded_product, too_many
  tg::extent count = tg::count_elements({3, 4}, sizeof(float));                        // 12
  tg::extent overflow = tg::count_elements({tg::extent{1} << 62, 4});                  // -1
  tg::extent sum = tg::bounded_sum(tg::too_many, 1);                                   // tg::too_many, which stays
  tg::extent product = tg::bounded_product(tg::extent{1} << 40, tg::extent{1} << 40);  // tg::too_many
  // end
  CHECK(count == 12);
  CHECK(overflow == -1);
  CHECK(sum == tg::too_many);
  CHECK(product == tg::too_many);

  // example: literals::operator""_KiB, literals::operator""_MiB, literals::operator""_GiB
  using namespace tg::literals;
  tg::session_options options{.plan_cache_bytes = 512_MiB};  // 536870912; also 64_KiB, 2_GiB
  // end
  CHECK(options.plan_cache_bytes == 536870912);
  CHECK(64_KiB == 65536);
  CHECK(2_GiB == 2147483648);
}

TEST_CASE("reference: tensors and views") {
  // example: tensor, view, tensor_alignment
  tg::tensor<float> t({3, 2}, {1, 2, 3, 4, 5, 6});  // row by row
  tg::view<const float> last = t.rows(1, 3);        // [[3, 4], [5, 6]], without a copy
  t.data()[4] = 50;
  tg::tensor<float> copy(last);    // [[3, 4], [50, 6]]
  auto flat = last.reshaped({4});  // [3, 4, 50, 6]
  tg::tensor<float> two = 2.0f;    // a scalar, of rank 0
  // end
  CHECK(text(tg::tensor<float>({2, 2}, {3, 4, 5, 6})) == "[[3, 4], [5, 6]]");
  CHECK(text(copy) == "[[3, 4], [50, 6]]");
  CHECK(text(flat) == "[3, 4, 50, 6]");
  CHECK(two.dims().rank == 0);
  CHECK(reinterpret_cast<std::uintptr_t>(t.data()) % tg::tensor_alignment == 0);

  // example: erase, raw_view
  tg::tensor<std::int32_t> ids({2, 2}, {1, 2, 3, 4});
  tg::raw_view any = tg::erase(ids);                            // refers to ids; any.type is tg::dtype::int32
  std::size_t size = any.bytes();                               // 16
  tg::view<const std::int32_t> typed = any.as<std::int32_t>();  // any.as<float>() throws InvalidArgument
  // end
  CHECK(any.type == tg::dtype::int32);
  CHECK(size == 16);
  CHECK(text(typed) == "[[1, 2], [3, 4]]");
  CHECK(thrown([&] { (void)any.as<float>(); }).code() == tg::status_code::invalid_argument);
}

TEST_CASE("reference: specs") {
  // example: spec, spec_of
  static constexpr tg::tensor_spec value{tg::dtype::float32, {tg::dyn, 8}};
  static_assert(std::is_same_v<tg::spec_of<value>, tg::spec<float, tg::dyn, 8>>);
  // end
  CHECK(tg::to_string(tg::spec_of<value>::value) == "float32 [?, 8]");
}
