// SPDX-License-Identifier: BSL-1.0
#include "tagma/train/program_file.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <string>

#include "support/errors.hpp"
#include "support/temporary_directory.hpp"
#include "tagma/control_flow.hpp"
#include "tagma/filter.hpp"
#include "tagma/tagma.hpp"

namespace {

namespace tg = tagma;
using tg::status_code;
using tg::test::code_of;
using tg::test::thrown;

constexpr auto x = tg::placeholder<"x", float, tg::dyn, 8>();
constexpr auto labels = tg::placeholder<"labels", int, tg::dyn>();

tg::any_program small() {
  const auto v = tg::variable<"v", float, 8>(tg::tensor<float>({8}, 0.5f));
  const auto y = tg::on<"/device:CPU:1">([](const auto& a, const auto& b) { return a * b + 2.0f; })(x, v);
  return tg::any_program(tg::compile([=] { return tg::outputs(y, tg::sum(y)); }), {"y", "sum"});
}

/// Writes a program, reads it back, and compares.
void check_written(const tg::any_program& program) {
  const std::string bytes = tg::write_program(program);
  const tg::any_program read = tg::read_program_bytes(bytes);
  CHECK(tg::write_program(read) == bytes);
  CHECK(read.fingerprint() == program.fingerprint());
  CHECK(read.outputs() == program.outputs());
  CHECK(read.soft() == program.soft());
  CHECK(read.peak_bytes(4) == program.peak_bytes(4));
  REQUIRE(read.values().parts().size() == program.values().parts().size());
  for (int i = 0; static_cast<std::size_t>(i) < program.values().parts().size(); ++i) {
    const auto *a = program.values().find(i), *b = read.values().find(i);
    REQUIRE((a == nullptr) == (b == nullptr));
    if (a != nullptr) CHECK(*a == *b);
  }
}

/// The same bytes with a checksum that fits.
std::string with_checksum(std::string bytes) {
  const std::uint32_t crc = tg::io::crc32c(std::string_view(bytes).substr(0, bytes.size() - 4));
  for (std::size_t i = 0; i < 4; ++i) bytes[bytes.size() - 4 + i] = static_cast<char>(crc >> 8 * i & 0xff);
  return bytes;
}

TEST_CASE("a program is what it was when it has been written and read") {
  check_written(small());
  const auto logits = tg::dense<"out", 4>(tg::dense<"hidden", 16>(x, tg::relu));
  const auto loss = tg::mean(tg::sparse_softmax_cross_entropy(logits, labels));
  const auto adam = tg::minimize(loss, tg::adam{.learning_rate = 0.1});
  check_written(tg::any_program(tg::compile([=] { return tg::outputs(loss, adam, logits); }), {"loss", "train", "y"}));
  constexpr auto images = tg::placeholder<"images", float, tg::dyn, 8, 8, 1>();
  const auto maps = tg::max_pool<2>(tg::conv2d<"conv", 4, 3>(images, tg::relu));
  const auto cost = tg::mean(tg::sparse_softmax_cross_entropy(tg::dense<"top", 4>(tg::flatten(maps)), labels));
  const auto learn = tg::minimize(cost, tg::momentum{.learning_rate = tg::exponential_decay{
                                                         .initial = 0.1, .decay_steps = 100, .decay_rate = 0.5}});
  check_written(tg::any_program(tg::compile([=] { return tg::outputs(cost, learn); })));
}

TEST_CASE("programs with loops, branches and what kernels find are written") {
  constexpr auto series = tg::placeholder<"series", float, tg::dyn, 5, 3>();
  constexpr auto keep = tg::placeholder<"keep", bool, tg::dyn>();
  const auto cells = tg::lstm<"cells", 6>(tg::boolean_mask(series, keep));
  const auto loss = tg::mean(tg::square(tg::dense<"last", 2>(cells) - 1.0f));
  const auto train = tg::minimize(loss, tg::rmsprop{.learning_rate = 0.05});
  check_written(tg::any_program(tg::compile([=] { return tg::outputs(loss, train); }), {"loss", "train"}));
  const auto chosen = tg::cond(
      tg::reduce_max(x) > 0.0f, [](const auto& a) { return tg::sum(tg::exp(a)); },
      [](const auto& a) { return tg::sum(a * 2.0f); }, x);
  check_written(tg::any_program(tg::compile([=] { return tg::outputs(chosen, tg::gradient(chosen, x)); })));
}

TEST_CASE("every byte of a program that is changed is noticed, or is verified") {
  const std::string bytes = tg::write_program(small());
  REQUIRE(bytes.size() < 2000);
  std::size_t read = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    for (const int flip : {0x01, 0x10, 0x80, 0xff}) {
      std::string other = bytes;
      other[i] = static_cast<char>(other[i] ^ flip);
      CHECK(code_of([&] { tg::read_program_bytes(other); }) != status_code::ok);
      // Whoever makes the checksum as well is not believed either.
      try {
        const tg::any_program p = tg::read_program_bytes(with_checksum(other));
        CHECK(p.graph().size() > 0);
        ++read;
      } catch (const tg::error& e) {
        const bool known = e.code() == status_code::data_loss || e.code() == status_code::invalid_argument ||
                           e.code() == status_code::unimplemented;
        CHECK(known);
      }
    }
  CHECK(read > 0);  // numbers, and characters of names of outputs
  for (std::size_t size = 0; size < bytes.size(); ++size)
    REQUIRE(code_of([&] { tg::read_program_bytes(std::string_view(bytes).substr(0, size)); }) ==
            status_code::data_loss);
  CHECK(code_of([&] { tg::read_program_bytes(bytes + '\0'); }) == status_code::data_loss);
}

TEST_CASE("a program in a file") {
  const tg::test::temporary_directory folder;
  const std::string file = folder / "program.tagma";
  const tg::any_program program = small();
  tg::write_program(program, file);
  CHECK(tg::write_program(tg::read_program(file)) == tg::write_program(program));
  CHECK(code_of([&] { tg::read_program(folder / "none"); }) == status_code::not_found);
  // Kept for the reader in Python, where a test asks for it.
  if (const char* const to = std::getenv("TAGMA_PROGRAM_FILE")) tg::write_program(program, to);
}

TEST_CASE("what a program is not read for is said") {
  const std::string bytes = tg::write_program(small());
  const auto text_of = [](const std::string& of) {
    return std::string(thrown([&] { tg::read_program_bytes(of); }).what());
  };
  std::string other = bytes;
  other[8] = 2;
  CHECK(text_of(other) == "Unimplemented: read_program: at byte 12: version 2, and this reads version 1");
  other = bytes;
  const std::size_t at = other.find("multiply");
  REQUIRE(at != other.npos);
  other[at] = 'M';
  CHECK(text_of(with_checksum(other)).find("operation 'Multiply' is not known") != std::string::npos);
  other = bytes;
  other[at - 6] = 9;
  CHECK(text_of(with_checksum(other)).find("operation 'multiply' has version 9, and is known with 1") !=
        std::string::npos);
}

}  // namespace
