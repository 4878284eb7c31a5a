// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The kernel that takes lists of messages of tf.train.SequenceExample apart.

#include <algorithm>
#include <string>
#include <vector>

#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/device/cpu/kernel/records.hpp"
#include "tagma/expr/op/parse_sequence_example.hpp"
#include "tagma/io/sequence_example.hpp"

namespace tagma::device {
namespace cpu::detail {

class feature_lists_state final : public kernel_state {
 public:
  explicit feature_lists_state(ir::attribute_list a);
  static void run(const kernel_args& args, const run_context& context);

 private:
  struct wanted {
    tensor_spec spec;
    ir::list_use use;
    std::string name;
  };

  void parse(const kernel_args& args, const run_context& context);
  void write(const kernel_args& args, std::size_t i);
  void write_lengths(const kernel_args& args, std::size_t i);
  template <class T>
  void write_as(const kernel_args& args, std::size_t i) {
    const wanted& w = wanted_[i];
    const bool open = !w.spec.dims.is_static();
    std::size_t most_steps = 0, most_values = 0;
    for (std::size_t m = 0; m < count_; ++m) {
      const io::feature_list* const found = examples_[m].find(w.name);
      if (found == nullptr) continue;
      most_steps = std::max(most_steps, found->steps);
      for (const io::feature& step : examples_[m].steps(*found)) most_values = std::max(most_values, step.count);
    }
    shape dims = args.in[0].dims;
    dims.push_back(static_cast<extent>(most_steps));
    for (const extent e : w.spec.dims.span()) dims.push_back(e == dyn ? static_cast<extent>(most_values) : e);
    const std::size_t step = open ? most_values : static_cast<std::size_t>(w.spec.dims.elements());
    auto* to = reinterpret_cast<T*>(args.late->allocate(static_cast<int>(i), dims));
    if (to == nullptr) return;
    std::fill_n(to, count_ * most_steps * step, T{});
    const io::fixed_feature_list<T> fixed{w.name, open ? shape{} : w.spec.dims, w.use == ir::list_use::may_be_missing};
    for (std::size_t m = 0; m < count_; ++m, to += most_steps * step) {
      if (open && examples_[m].find(w.name) != nullptr)
        write_open(examples_[m], *examples_[m].find(w.name), to, step);
      else
        (void)examples_[m].read(fixed, [&](std::size_t) { return to; });
    }
  }
  template <class T>
  static void write_open(const io::sequence_example& from, const io::feature_list& list, T* to, std::size_t step) {
    constexpr io::feature_kind kind = std::is_same_v<T, float>          ? io::feature_kind::floats
                                      : std::is_same_v<T, std::int64_t> ? io::feature_kind::integers
                                                                        : io::feature_kind::bytes;
    for (std::size_t i = 0; i < list.steps; ++i, to += step) {
      const io::feature& f = from.steps(list)[i];
      if (f.kind == io::feature_kind::none) continue;
      from.check_step(list, i, kind);
      from.copy(f, to);
    }
  }

  std::vector<wanted> wanted_;
  std::vector<io::sequence_example> examples_;
  std::size_t count_ = 0;
};

}  // namespace cpu::detail

template <>
struct kernel<on_cpu, ir::key<op::parse_feature_lists>> {
  template <dtype...>
  static constexpr kernel_entry entry{&cpu::detail::feature_lists_state::run,
                                      [](const kernel_args& args, const run_context&) -> owned<kernel_state> {
                                        return make_owned<cpu::detail::feature_lists_state>(args.attributes);
                                      }};
};

}  // namespace tagma::device

#ifndef TAGMA_COMPILED
#include "tagma/device/cpu/kernel/parse_sequence_example.ipp"
#endif
