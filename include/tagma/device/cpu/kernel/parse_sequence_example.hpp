// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// The kernel that takes lists of messages of tf.train.SequenceExample apart.

#include <algorithm>
#include <string>
#include <vector>

#include "tagma/device/cpu/kernel/kernel.hpp"
#include "tagma/expr/op/parse_sequence_example.hpp"
#include "tagma/io/sequence_example.hpp"

namespace tagma::device {
namespace cpu::detail {

class feature_lists_state final : public kernel_state {
 public:
  explicit feature_lists_state(ir::attribute_list a) {
    for (int i = 0; i < ir::most_outputs; ++i) {
      const ir::example_feature f = ir::example_feature_of(a, i);
      if (f.spec.type == dtype::none) break;
      wanted_.push_back({f.spec, static_cast<ir::list_use>(f.given), {}});
      f.append_name(wanted_.back().name);
    }
  }
  static void run(const kernel_args& args, const run_context& context) {
    auto& own = static_cast<feature_lists_state&>(*args.state);
    own.parse(args, context);
    for (std::size_t i = 0; i < own.wanted_.size(); ++i) own.write(args, i);
  }

 private:
  struct wanted {
    tensor_spec spec;
    ir::list_use use;
    std::string name;
  };

  void parse(const kernel_args& args, const run_context& context) {
    const auto* const messages = args.in[0].as<const string_element>();
    count_ = static_cast<std::size_t>(args.in[0].elements());
    if (examples_.size() < count_) examples_.resize(count_);
    for (std::size_t i = 0; i < count_ && !context.cancelled(); ++i)
      examples_[i].parse_lists(messages[i], "message " + std::to_string(i));
  }
  void write(const kernel_args& args, std::size_t i) {
    if (wanted_[i].use == ir::list_use::length) return write_lengths(args, i);
    switch (wanted_[i].spec.type) {
      case dtype::float32:
        return write_as<float>(args, i);
      case dtype::int64:
        return write_as<std::int64_t>(args, i);
      default:
        return write_as<string_element>(args, i);
    }
  }
  void write_lengths(const kernel_args& args, std::size_t i) {
    auto* const to = reinterpret_cast<std::int64_t*>(args.late->allocate(static_cast<int>(i), args.in[0].dims));
    for (std::size_t m = 0; to != nullptr && m < count_; ++m) {
      const io::feature_list* const found = examples_[m].find(wanted_[i].name);
      to[m] = found == nullptr ? 0 : static_cast<std::int64_t>(found->steps);
    }
  }
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
