// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What the files of the suite share: memory of operands between guards, and inference of shapes.

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "conformance/devices.hpp"
#include "conformance/suite.hpp"

namespace tagma::conformance {

/// Memory around and inside operands before a kernel runs. Of the first, every float is a NaN.
inline constexpr unsigned char garbage[] = {0xff, 0x5a};

/// Memory of one operand between two guards.
class block {
 public:
  block(const tensor_spec& spec, bool aligned, unsigned char fill)
      : spec_(spec), size_(static_cast<std::size_t>(spec.dims.elements()) * size_of(spec.type)), fill_(fill) {
    bytes_.assign(size_ + 3 * guard, std::byte{fill});
    const auto address = reinterpret_cast<std::uintptr_t>(bytes_.data() + guard);
    begin_ = guard + (64 - address % 64) % 64 + (aligned ? 0 : size_of(spec.type));
  }
  void write(const array& a) {
    for (std::size_t i = 0; i < a.at.size(); ++i) write_element(data() + i * size_of(spec_.type), spec_.type, a.at[i]);
  }
  [[nodiscard]] array read() {
    array a(spec_.dims);
    for (std::size_t i = 0; i < a.at.size(); ++i) a.at[i] = read_element(data() + i * size_of(spec_.type), spec_.type);
    return a;
  }
  [[nodiscard]] std::byte* data() { return bytes_.data() + begin_; }
  [[nodiscard]] std::vector<std::byte> content() {
    return {bytes_.begin() + static_cast<std::ptrdiff_t>(begin_),
            bytes_.begin() + static_cast<std::ptrdiff_t>(begin_ + size_)};
  }
  [[nodiscard]] runtime::operand operand() { return {data(), spec_.type, spec_.dims}; }
  /// True if nothing was written beside the operand.
  [[nodiscard]] bool guards_hold() const {
    for (std::size_t i = 0; i < bytes_.size(); ++i)
      if ((i < begin_ || i >= begin_ + size_) && bytes_[i] != std::byte{fill_}) return false;
    return true;
  }

 private:
  static constexpr std::size_t guard = 256;
  tensor_spec spec_;
  std::size_t size_, begin_ = 0;
  unsigned char fill_;
  std::vector<std::byte> bytes_;
};

/// The shapes of operands as a compiler sees them that knows no extent but those of 1 that are stretched.
[[nodiscard]] inline std::vector<shape> unknown_extents(const kernel_problem& p) {
  std::vector<shape> all;
  for (const tensor_spec& s : p.in) {
    shape dims = s.dims;
    for (int a = 0; a < dims.rank; ++a) {
      const int own = a + p.out.dims.rank - dims.rank;
      const bool stretched = dims[a] == 1 && p.rules->info->unstretched >= 0 && (own < 0 || p.out.dims[own] != 1);
      if (!stretched) dims[a] = dyn;
    }
    all.push_back(dims);
  }
  return all;
}

/// Of an operation with several results, of result `output`.
[[nodiscard]] inline tensor_spec infer(const ir::op_rules& rules, const std::vector<tensor_spec>& in,
                                       const std::vector<ir::attribute>& attributes, int output = 0) {
  ir::infer_args args{in, attributes, {}, output};
  if (const char* problem = rules.info->infer(args)) FAIL(rules.info->name << ": " << problem);
  return args.out;
}
/// Of an operation with several results, all that there are; those that an attribute says are not there have no type.
[[nodiscard]] inline std::vector<tensor_spec> infer_all(const ir::op_rules& rules, const std::vector<tensor_spec>& in,
                                                        const std::vector<ir::attribute>& attributes) {
  std::vector<tensor_spec> all;
  for (int k = 0; k < rules.info->outputs; ++k)
    if (const tensor_spec one = infer(rules, in, attributes, k); one.type != dtype::none) all.push_back(one);
  return all;
}

[[nodiscard]] inline std::string first_difference(const std::vector<std::byte>& a, const std::vector<std::byte>& b,
                                                  dtype type) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i]) return "element " + std::to_string(i / size_of(type));
  return {};
}

/// The operands of a problem, for an element type.
struct drawn_operands {
  std::vector<tensor_spec> specs;
  std::vector<array> in;
  std::string text;  ///< "float32 [2, 3], int64 []"
};
[[nodiscard]] drawn_operands draw_operands(const problem& given, const signature& types, std::uint64_t seed);

/// Compares the gradients of those results in `wanted` with central differences of the reference.
/// @param known false: the gradient is derived for extents that vary
void check_gradient(const device& on, const kernel_problem& p, const std::vector<array>& in,
                    const reference_of_several& f, const check_options& options, bool known, unsigned wanted);

}  // namespace tagma::conformance
