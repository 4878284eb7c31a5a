// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The kernel that takes messages of tf.train.Example apart.

#include <span>
#include <string>
#include <vector>

#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/cpu/kernel/records.hpp"
#include "tagma/expr/op/parse_example.hpp"
#include "tagma/io/example.hpp"

namespace tagma::device {
namespace cpu::detail {

class example_state final : public kernel_state {
 public:
  explicit example_state(ir::attribute_list a);
  static void run(const kernel_args& args, const run_context& context);

 private:
  struct wanted {
    ir::example_feature about;
    std::string name;
  };

  void parse(const kernel_args& args, const run_context& context);
  void write(const kernel_args& args, std::size_t i);
  template <class T>
  void write_as(const kernel_args& args, std::size_t i) {
    const wanted& w = wanted_[i];
    const shape& declared = w.about.spec.dims;
    const bool open = !declared.is_static();
    std::size_t elements = open ? longest(w.name) : static_cast<std::size_t>(declared.elements());
    auto* to = args.outs[i].as<T>();
    if (args.late != nullptr) {
      shape dims = args.in[0].dims;
      for (const extent e : declared.span()) dims.push_back(e == dyn ? static_cast<extent>(elements) : e);
      to = reinterpret_cast<T*>(args.late->allocate(static_cast<int>(i), dims));
    }
    if (to == nullptr) return;
    io::fixed_feature<T> fixed{w.name, declared, {}};
    if (w.about.given > 0)
      fixed.otherwise.emplace(elements, *args.in[static_cast<std::size_t>(w.about.given)].template as<const T>());
    for (std::size_t m = 0; m < count_; ++m, to += elements) {
      if (!open) {
        examples_[m].read(fixed, std::span<T>(to, elements));
        continue;
      }
      for (std::size_t e = 0; e < elements; ++e) to[e] = T{};
      if (const io::feature* const found = examples_[m].find(w.name)) examples_[m].copy(*found, to);
    }
  }
  [[nodiscard]] std::size_t longest(const std::string& name) const;

  std::vector<wanted> wanted_;
  std::vector<io::example> examples_;
  std::size_t count_ = 0;
  std::size_t operands_ = 1;  ///< up to the last that fills a missing feature
};

struct parse_example_kernel {
  template <dtype...>
  static constexpr kernel_entry entry{&example_state::run,
                                      [](const kernel_args& args, const run_context&) -> owned<kernel_state> {
                                        return make_owned<example_state>(args.attributes);
                                      }};
};

}  // namespace cpu::detail

template <>
struct kernel<on_cpu, ir::key<op::parse_example>> : cpu::detail::parse_example_kernel {};
template <>
struct kernel<on_cpu, ir::key<op::parse_example_open>> : cpu::detail::parse_example_kernel {};

}  // namespace tagma::device

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/kernel/parse_example.ipp"
#endif
