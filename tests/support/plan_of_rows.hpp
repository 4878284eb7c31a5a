// SPDX-License-Identifier: BSL-1.0
#pragma once

// A plan whose steps can be done one by one or in blocks, and numbers for it that are drawn from a seed.
#include <random>
#include <string>
#include <vector>

#include "tagma/graph_builder.hpp"
#include "tagma/programs.hpp"
#include "tagma/runtime/row_blocks.hpp"
#include "tagma/tagma.hpp"

namespace tagma::test {

/// Numbers below some bound.
struct draws {
  explicit draws(unsigned seed) : bits(seed) {}
  int operator()(int bound) { return static_cast<int>(bits() % static_cast<unsigned>(bound)); }
  std::mt19937 bits;
};

template <class T>
tensor<T> numbers(const shape& dims, unsigned seed) {
  tensor<T> t(dims);
  draws draw(seed);
  for (T& v : t.span()) v = static_cast<T>(draw(2001) / 1000.0 - 1);
  return t;
}

template <class T>
raw_view bytes_of(const tensor<T>& t) {
  return {t.data(), dtype_of<T>, t.dims()};
}

/// A plan whose steps can be done one by one or in blocks.
class plan_of_rows {
 public:
  plan_of_rows(const any_program& program, int outputs, const std::vector<named_feed>& feeds, int threads)
      : values_(program.values()),
        made_(program, {}, nullptr, all(outputs), {}),
        devices_({}, 1, threads, 1, false, nullptr),
        context_{&devices_.threads()},
        feeds_(sorted(made_, feeds)),
        bound_(made_.view, made_.kernels, feeds_, {}, values_, context_, devices_, nullptr) {
    bound_.patch(feeds_);
  }
  /// The bytes of all outputs.
  std::vector<std::string> run(bool blocks) {
    const runtime::kernel_scope scope(devices_.threads());
    in_blocks = 0;
    for (std::size_t s = 0; s < bound_.step_count(); ++s) {
      const bool done = blocks && bound_.rows() != nullptr && bound_.rows()->run(s, context_);
      in_blocks += done;
      if (!done) bound_.kernel(s).run(bound_.call(s), context_);
    }
    std::vector<std::string> found;
    for (std::size_t f = 0; f < made_.wanted.size(); ++f) {
      const raw_view v = bound_.fetched(f);
      found.emplace_back(static_cast<const char*>(v.data),
                         static_cast<std::size_t>(v.dims.elements()) * size_of(v.type));
    }
    return found;
  }

  std::size_t in_blocks = 0;  ///< steps of the last run

 private:
  static std::vector<int> all(int count) {
    std::vector<int> list;
    for (int i = 0; i < count; ++i) list.push_back(i);
    return list;
  }
  static std::vector<raw_view> sorted(const runtime::named_plan& plan, const std::vector<named_feed>& feeds) {
    std::vector<raw_view> list(plan.placeholders.size());
    for (std::size_t i = 0; i < list.size(); ++i)
      for (const named_feed& f : feeds)
        if (plan.graph.view()[plan.placeholders[i]].name == f.name) list[i] = f.value;
    return list;
  }

  carried values_;
  runtime::named_plan made_;
  runtime::device_table devices_;
  runtime::run_context context_;
  std::vector<raw_view> feeds_;
  runtime::bound_plan bound_;
};

}  // namespace tagma::test
